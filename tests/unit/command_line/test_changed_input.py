"""A table that changes between the release and its verification."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.verification import checks
from tests.unit.command_line.test_engines import _recipe, _table


def _run(folder: Path, out: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    asked = ["--data", str(folder / "t.csv"), "--out", str(folder / out)]
    status = main(["run", str(folder / "recipe.toml"), *asked, "--engine", "memory"])
    printed = capsys.readouterr()
    return status, (printed.out + printed.err).replace(str(folder / out), "out")


def test_a_table_that_changes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(3).to_csv(tmp_path / "t.csv", index=False)
    verified = checks.verify_files

    def changing(*given: object, **named: object) -> object:
        with (tmp_path / "t.csv").open("a") as file:
            file.write("x,20,a b,999,011,flu\n")
        return verified(*given, **named)  # pyright: ignore

    monkeypatch.setattr(checks, "verify_files", changing)
    status, printed = _run(tmp_path, "out", capsys)
    assert status != 0
    assert "changed" in printed
    assert not (tmp_path / "out").exists()
