"""A run that is killed, asked to end or raced leaves one release whole, and nothing private."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core import __main__ as program
from anon_core.base.errors import BadInput
from benchmarks.killed import Job, killed

CHECKOUT = Path(__file__).resolve().parents[3]
RECIPE = """
version = 3
[roles]
quasi = ["age", "zip", "job"]
sensitive = ["illness"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 5
[export]
csv = {csv}
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals to send")


def _table(path: Path, rows: int, seed: int) -> Path:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "zip": draw.integers(0, 300, rows).astype(str),
            "job": draw.choice([f"job {i}" for i in range(40)], rows),
            "illness": draw.choice([f"illness {i}" for i in range(20)], rows),
        }
    )
    frame.to_csv(path, index=False)
    return path


class _Desk:
    """A folder with a recipe, two tables, what they are released as, and what a run leaves."""

    def __init__(self, place: Path, rows: int, engine: str, csv: bool) -> None:
        self.place, self.engine = place, engine
        self.temporary, self.desk = place / "temporary", place / "desk"
        self.temporary.mkdir()
        self.out = self.desk / "out"
        (place / "recipe.toml").write_text(RECIPE.format(csv=str(csv).lower()))
        self.table = _table(place / "new.csv", rows, 1)
        self.old_table = _table(place / "old.csv", rows // 4, 2)

    def start(self, table: Path, out: Path, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "anon_core", "run", str(self.place / "recipe.toml")),
                *("--data", str(table), "--out", str(out), "--engine", self.engine, "--progress"),
                *more,
            ],
            cwd=CHECKOUT,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def left(self) -> list[Path]:
        """Return whatever lies there next to a release."""
        found = [*self.temporary.rglob("*"), *self.desk.rglob("*")]
        return [path for path in found if path != self.out and path.parent != self.out]


def _held(folder: Path) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in folder.iterdir()} if folder.exists() else {}


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_run_that_is_told_to_end_clears_away_and_says_so(tmp_path: Path, number: int) -> None:
    desk = _Desk(tmp_path, 200, "duckdb", csv=False)
    process = desk.start(desk.table, desk.out)
    assert process.stderr is not None
    assert "Engine" in process.stderr.readline()
    process.send_signal(number)
    _, rest = process.communicate()
    assert process.returncode == 128 + number
    assert rest.endswith("Stopped; nothing was released.\n")
    assert not desk.left()
    assert not desk.out.exists()


@pytest.mark.long
@pytest.mark.parametrize(("engine", "csv"), [("memory", True), ("duckdb", True), ("duckdb", False)])
def test_whenever_a_run_is_stopped_one_release_stands_whole(
    tmp_path: Path, engine: str, csv: bool
) -> None:
    desk = _Desk(tmp_path, 60_000, engine, csv)
    job = Job(
        recipe=tmp_path / "recipe.toml", data=desk.table, engine=engine, place=tmp_path / "job"
    )
    assert not killed(job, desk.old_table, 34)


_RACER = """
import sys, time
from pathlib import Path
from anon_core.base.errors import BadPlan
from anon_core.pipeline.publish.release_folder import writing

out, mine, until = Path(sys.argv[1]), sys.argv[2].encode(), time.monotonic() + 4
while time.monotonic() < until:
    try:
        with writing(out, ["a", "b"]) as staged:
            staged.write({"a": mine, "b": mine})
            staged.publish()
    except BadPlan as error:
        if "Another run" not in str(error):
            raise
"""


@pytest.mark.long
def test_runs_that_race_for_one_folder_leave_one_release(tmp_path: Path) -> None:
    out = tmp_path / "desk" / "out"
    out.parent.mkdir()
    racers = [
        subprocess.Popen([sys.executable, "-c", _RACER, str(out), str(n)], cwd=CHECKOUT)
        for n in range(4)
    ]
    assert [racer.wait() for racer in racers] == [0] * 4
    found = _held(out)
    assert set(found) == {"a", "b"}
    assert found["a"] == found["b"]
    assert [f.name for f in out.parent.iterdir()] == ["out"]


@pytest.mark.long
def test_of_two_runs_into_one_folder_one_is_refused(tmp_path: Path) -> None:
    desk = _Desk(tmp_path, 60_000, "duckdb", csv=True)
    desk.desk.mkdir()
    both = [desk.start(desk.table, desk.out) for _ in range(2)]
    output = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert sum("Another run is writing its release" in words for words in output) == 1
    assert len(_held(desk.out)) == 2
    assert not desk.left()


def test_a_reader_that_was_interrupted_does_not_blame_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_options: object) -> int:
        raise BadInput("The table is broken.")

    monkeypatch.setattr("anon_core.cli.list_techniques.list_techniques", broken)
    assert program.main(["list"]) == 1
    assert "broken" in capsys.readouterr().err
    monkeypatch.setattr(program, "_SIGNALS", [signal.SIGTERM])
    assert program.main(["list"]) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "Stopped; nothing was released.\n"
