"""A large table is read for verification while the release is made: nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.cli import run as run_command
from anon_core.verification import checks
from anon_core.verification.text.cells import TextTable
from tests.unit.command_line.test_engines import _recipe, _table


def _run(folder: Path, out: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    asked = ["--data", str(folder / "t.csv"), "--out", str(folder / out)]
    status = main(["run", str(folder / "recipe.toml"), *asked, "--engine", "memory"])
    told = capsys.readouterr()
    return status, (told.out + told.err).replace(str(folder / out), "out")


def test_the_release_and_what_is_told_of_it_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "optimal", "max_suppression": 0.1}, "drop")
    _table(3).to_csv(tmp_path / "t.csv", index=False)
    used: list[bool] = []
    verified = checks.verify_files

    def noted(*given: object, private: TextTable | None = None, **named: object) -> object:
        used.append(private is not None)
        return verified(*given, private=private, **named)  # pyright: ignore

    monkeypatch.setattr(checks, "verify_files", noted)
    told = _run(tmp_path, "plain", capsys)
    monkeypatch.setattr(run_command, "_AHEAD_FROM", 0)
    assert _run(tmp_path, "ahead", capsys) == told
    assert told[0] == 0
    assert used == [False, True]
    for file in (tmp_path / "plain").iterdir():
        assert (tmp_path / "ahead" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("text", ["age,job\n1,2\n", "a,b\n1,2,3\n1\n", ""])
def test_a_table_that_does_not_fit_is_refused_in_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "drop")
    (tmp_path / "t.csv").write_text(text)
    told = _run(tmp_path, "out", capsys)
    monkeypatch.setattr(run_command, "_AHEAD_FROM", 0)
    assert _run(tmp_path, "out", capsys) == told
    assert told[0] != 0
    assert not (tmp_path / "out").exists()


def test_a_table_that_changes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(3).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(run_command, "_AHEAD_FROM", 0)
    verified = checks.verify_files

    def changing(*given: object, **named: object) -> object:
        with (tmp_path / "t.csv").open("a") as file:
            file.write("x,20,a b,999,011,flu\n")
        return verified(*given, **named)  # pyright: ignore

    monkeypatch.setattr(checks, "verify_files", changing)
    status, told = _run(tmp_path, "out", capsys)
    assert status != 0
    assert "changed" in told
    assert not (tmp_path / "out").exists()
