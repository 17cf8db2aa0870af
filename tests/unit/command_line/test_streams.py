"""Where output leads nowhere, and where figures of an earlier run are none: a clean end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core.__main__ import main

CHECKOUT = Path(__file__).resolve().parents[3]
RECIPE = """version = 3
[roles]
quasi = ["age"]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""


#: What prints more than a pipe holds, and what prints a line and begins quickly.
LONG, SHORT = "list --json", "identifiers --data t.csv"


@pytest.mark.parametrize(
    ("streams", "status", "asked"),
    [
        (">&-", 0, SHORT),
        ("2>&-", 0, SHORT),
        ("<&- >&- 2>&-", 0, SHORT),
        ("| head -c 10 > /dev/null; exit ${PIPESTATUS[0]}", 1, LONG),
        ("> /dev/full", 1, LONG),
        ("> /dev/full", 1, SHORT),
        ("2> /dev/full", 0, SHORT),
        ("> /dev/full 2> /dev/full", 1, SHORT),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_output_that_is_closed_or_full_ends_cleanly(
    streams: str, status: int, asked: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n" + "20,a\n30,b\n" * 4, encoding="utf-8")
    command = f'"{sys.executable}" -m anon_core {asked} {streams}'
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == status
    assert "Traceback" not in ended.stderr
    assert "workbench itself" not in ended.stderr


def test_a_release_is_whole_though_nobody_hears_of_it(tmp_path: Path) -> None:
    """What is opened next does not take the place of the output that was closed."""
    (tmp_path / "t.csv").write_text("age,ill\n" + "20,a\n30,b\n" * 4, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    asked = f'run "{tmp_path}/r.toml" --data "{tmp_path}/t.csv" --out "{tmp_path}/out"'
    command = f'"{sys.executable}" -m anon_core {asked} <&- >&- 2>&-'
    assert subprocess.run(["bash", "-c", command], check=False, timeout=120).returncode == 0
    given = [str(tmp_path / "r.toml"), "--data", str(tmp_path / "t.csv")]
    assert main(["verify", *given, "--release", str(tmp_path / "out")]) == 0


FIGURES = '{"status": "released", "rows": 8, "suppressed": 0, "classes": 2, "smallest_class": 4'


@pytest.mark.parametrize(
    "content",
    [
        "null",
        "[]",
        "7",
        '"released"',
        "[" * 100_000,
        '{"status":' * 50_000,
        '{"status": "released"}',
        FIGURES + ', "published_texts": null, "metrics": {}, "attacks": []}',
        FIGURES + ', "published_texts": {"age": {"20": 1e999}}, "metrics": {}, "attacks": []}',
        FIGURES + ', "published_texts": {}, "metrics": {"x": 1' + "0" * 400 + '}, "attacks": []}',
        "",
        "\udcff",
    ],
    ids=range(12),
)
def test_figures_that_are_none_are_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n" + "20,a\n30,b\n" * 4, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    then = tmp_path / "then.json"
    then.write_bytes(content.encode("utf-8", "surrogateescape"))
    asked = ["run", str(tmp_path / "r.toml"), "--data", str(tmp_path / "t.csv")]
    assert main([*asked, "--out", str(tmp_path / "out"), "--then", str(then)]) == 1
    said = capsys.readouterr().err
    assert "figures" in said
    assert "run --json" in said
    assert not (tmp_path / "out").exists()
