"""The command line: exit statuses, what stands on which stream, and that nothing is half done."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import anon_core
from anon_core import __main__ as command_line
from anon_core.__main__ import main
from anon_core.errors import AnonError
from anon_core.params import Kind

CHECKOUT = Path(__file__).resolve().parents[2]

#: The recipe as the documentation shows it.
RECIPE = """\
seed = 7
[data]
separator = ";"
missing = "keep"            # or "drop"
[types]                     # optional; a ZIP code or a diagnosis code stays text, zeros kept
zip = "text"                # text, ordered, number, date
[roles]
identifier = []
quasi = ["sex", "age"]
sensitive = ["occupation"]
[hierarchies]
age = "hierarchies/adult/age.csv"   # level CSV (; or ,), value first; relative to the recipe
[algorithm]
name = "optimal"            # or "mondrian"
metric = "loss"             # loss, discernibility, average-class-size, ncp
max_suppression = 0.02
[[models]]
name = "k-anonymity"
k = 5
"""
KEYS = {
    "schema",
    "version",
    "input_sha256",
    "output_sha256",
    "status",
    "verified",
    "rows",
    "suppressed",
    "classes",
    "smallest_class",
    "node",
    "partition",
    "metrics",
    "models",
    "attacks",
    "seconds",
}
SECRET = "Zanzibari"


class Desk:
    """A folder with a recipe, a table and a hierarchy, as a data engineer would have it."""

    def __init__(self, folder: Path) -> None:
        self.recipe = folder / "recipe.toml"
        self.data = folder / "table.csv"
        self.out = folder / "out"
        self.levels = folder / "hierarchies" / "adult" / "age.csv"
        self.levels.parent.mkdir(parents=True)
        drawn = random.Random(1)
        self.rows = [
            f"{drawn.choice('MF')};{drawn.randint(20, 59)};{drawn.randint(1, 9):05d};"
            f"{drawn.choice(['clerk', 'nurse', 'smith'])}"
            for _ in range(200)
        ]
        self.levels.write_text(
            "".join(f"{a};{a // 10 * 10}-{a // 10 * 10 + 9};*\n" for a in range(20, 60))
        )
        self.recipe.write_text(RECIPE)
        self.write()

    def write(self) -> None:
        self.data.write_text("\n".join(["sex;age;zip;occupation", *self.rows]) + "\n")

    def change_recipe(self, old: str, new: str) -> None:
        assert old in RECIPE
        self.recipe.write_text(RECIPE.replace(old, new))

    def run(self, *more: str) -> int:
        return main(
            ["run", str(self.recipe), "--data", str(self.data), "--out", str(self.out), *more]
        )

    def verify(self, *more: str) -> int:
        return main(
            [
                "verify",
                str(self.recipe),
                "--data",
                str(self.data),
                "--release",
                str(self.out),
                *more,
            ]
        )

    def release(self) -> dict[str, bytes]:
        if not self.out.exists():
            return {}
        return {file.name: file.read_bytes() for file in self.out.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ---- what a run tells ------------------------------------------------------------------------


def test_a_run_writes_a_release_that_verifies(desk, capsys):
    assert desk.run() == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "k = 5 holds" in told.out
    assert f"rows written to {desk.out}" in told.out
    assert sorted(desk.release()) == ["release.csv", "release.parquet"]
    assert desk.verify() == 0
    checks = capsys.readouterr().out.splitlines()
    assert all(line.startswith("holds ") for line in checks)
    assert any("k-anonymity" in line for line in checks)


def test_declared_text_keeps_its_zeros(desk):
    assert desk.run() == 0
    published = desk.release()["release.csv"].decode()
    assert published.startswith("sex,age,zip,occupation\n")
    assert ",00001," in published


def test_declared_text_is_never_merged_as_a_number(desk):
    desk.rows = [f"{row.rsplit(';', 2)[0]};{zip_code};clerk" for row in desk.rows
                 for zip_code in ("1", "1.0")]  # fmt: skip
    desk.write()
    assert desk.run() == 0
    published = desk.release()["release.csv"].decode()
    assert published.count(",1.0,") == published.count(",1,") == 200
    assert desk.verify() == 0


@pytest.mark.parametrize(
    ("first", "declared", "kept"),
    [("12,500", "", True), ("12,500", 'pay = "number"', False), ("12,50", "", False)],
)
def test_both_computations_agree_on_what_commas_mark(desk, first, declared, kept):
    pay = [first, "12.5"]  # one number in two spellings, unless the column is text
    desk.data.write_text(
        "sex;pay;job\n" + "".join(f"{s};{p};x\n" for s in "FM" for p in [*pay * 3, "950"])
    )
    desk.recipe.write_text(
        '[data]\nseparator = ";"\n[roles]\nquasi = ["sex"]\nsensitive = ["job"]\n'
        f'[types]\n{declared}\n[algorithm]\nname = "optimal"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    assert desk.run() == 0
    assert (f'"{first}"' in desk.release()["release.csv"].decode()) == kept
    assert desk.verify() == 0


def test_an_output_that_is_full_is_told_without_a_traceback(capsys, monkeypatch):
    class Full(io.StringIO):
        def write(self, _text: str, /) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["list", "--json"]) == 1
    told = capsys.readouterr().err
    assert "Standard output or a file cannot be used: No space left on device" in told
    assert "space left" in told


def test_json_is_one_object_with_the_promised_keys(desk, capsys):
    assert desk.run("--json") == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert told.out.count("\n") == 1
    assert set(found) >= KEYS
    assert (found["status"], found["verified"], found["schema"]) == ("released", True, 1)
    assert found["version"] == anon_core.VERSION
    assert found["input_sha256"] == hashlib.sha256(desk.data.read_bytes()).hexdigest()
    assert found["output_sha256"] == hashlib.sha256(desk.release()["release.csv"]).hexdigest()
    assert (found["rows"], found["partition"]) == (200, None)
    assert set(found["node"]) == {"sex", "age"}
    assert set(found["metrics"]) >= {"loss", "discernibility", "average-class-size", "ncp"}
    assert found["smallest_class"] >= 5
    (model,) = found["models"]
    assert (model["name"], model["k"], model["bound"], model["holds"]) == (
        "k-anonymity",
        5,
        5,
        True,
    )
    assert model["value"] == found["smallest_class"]
    attacks = {a["name"] for a in found["attacks"]}
    assert attacks >= {"prosecutor", "marketer", "homogeneity"}
    assert "journalist" not in attacks  # nothing is known of the population
    assert set(found["seconds"]) >= {"search", "verify"}


def test_mondrian_tells_of_its_partition(desk, capsys):
    desk.change_recipe('name = "optimal"            # or "mondrian"', 'name = "mondrian"')
    desk.recipe.write_text(
        "".join(
            line
            for line in desk.recipe.read_text().splitlines(keepends=True)
            if not line.startswith(("metric", "max_suppression"))
        )
    )
    assert desk.run("--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["node"] is None
    assert found["partition"]["parts"] == found["classes"]
    assert desk.verify() == 0


@pytest.mark.parametrize("metric", ["discernibility", "average-class-size", "ncp"])
def test_every_metric_of_the_recipe_steers(desk, metric):
    desk.change_recipe('metric = "loss"', f'metric = "{metric}"')
    assert desk.run("--json") == 0


def test_the_same_recipe_gives_the_same_bytes(desk):
    assert desk.run() == 0
    before = desk.release()
    assert desk.run() == 0
    assert desk.release() == before


def test_progress_names_stages_on_standard_error(desk, capsys):
    assert desk.run("--json", "--progress") == 0
    told = capsys.readouterr()
    json.loads(told.out)
    assert "Searching" in told.err


def test_what_json_cannot_say_becomes_null():
    given = {"a": math.inf, "b": [math.nan, {"c": -math.inf}], "d": (1.5, None), "e": "x"}
    assert command_line._finite(given) == {
        "a": None,
        "b": [None, {"c": None}],
        "d": [1.5, None],
        "e": "x",
    }


def test_list_tells_every_technique_with_its_parameters(capsys):
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = {
        key: {t["name"] for t in found[key]}
        for key in ("algorithms", "partitioners", "models", "metrics", "attacks")
    }
    assert names["algorithms"] >= {"optimal", "mondrian"}
    assert names["partitioners"] >= {"anatomize", "balanced", "bisection", "mondrian"}
    assert names["models"] >= {"k-anonymity", "l-diversity"}
    assert names["metrics"] >= {"loss", "discernibility", "average-class-size", "ncp"}
    assert names["attacks"] >= {"prosecutor", "journalist", "marketer", "homogeneity"}
    for key in names:
        for technique in found[key]:
            assert technique["source"]
            for parameter in technique["parameters"]:
                assert parameter["type"] in get_args(Kind)
                assert {"range", "options", "default", "help"} <= set(parameter)
                assert parameter["help"]


def test_list_without_json_is_for_people(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "  optimal: " in out
    assert "max_suppression (default 0.0)" in out


# ---- exit statuses ---------------------------------------------------------------------------


def failed(desk: Desk, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, dict]:
    """Run with an older release in place; check that it stays, and return what was told."""
    desk.out.mkdir()
    old = {"release.csv": b"old", "release.parquet": b"older", "notes.txt": b"mine"}
    for name, content in old.items():
        (desk.out / name).write_bytes(content)
    status = desk.run("--json", *more)
    assert desk.release() == old
    told = capsys.readouterr()
    assert told.out.count("\n") == 1
    found = json.loads(told.out)
    assert found["error"] == told.err.strip()
    assert found["schema"] == 1
    assert found["verified"] is False
    assert "Traceback" not in told.err
    return status, told.err, found


def test_infeasible_is_2_with_the_best_value_reached(desk, capsys):
    desk.change_recipe("k = 5\n", "k = 201\n")
    status, told, found = failed(desk, capsys)
    assert (status, found["status"], found["best"]) == (2, "infeasible", 200.0)
    assert "at most 200" in told


def test_more_values_than_there_are_is_2(desk, capsys):
    desk.change_recipe("k = 5\n", 'k = 5\n[[models]]\nname = "l-diversity"\nl = 4\n')
    status, told, found = failed(desk, capsys)
    assert (status, found["status"], found["best"]) == (2, "infeasible", 3.0)
    assert "'occupation'" in told
    assert "l of at most 3" in told


def test_a_column_gone_is_4(desk, capsys):
    desk.data.write_text(desk.data.read_text().replace("occupation", "job", 1))
    status, told, found = failed(desk, capsys)
    assert (status, found["status"]) == (4, "input changed")
    assert "'occupation'" in told
    assert "Restore the column or change the recipe." in told


def test_a_typed_column_gone_is_4(desk, capsys):
    desk.data.write_text(desk.data.read_text().replace("zip", "zipcode", 1))
    status, told, _ = failed(desk, capsys)
    assert status == 4
    assert "no column 'zip'" in told
    assert "Did you mean 'zipcode'?" in told


def test_values_the_hierarchy_lacks_are_4_with_counts_place_and_remedy(desk, capsys):
    desk.levels.write_text(desk.levels.read_text().replace("33;30-39;*\n", ""))
    rows = [i for i, row in enumerate(desk.rows, start=1) if row.split(";")[1] == "33"]
    status, told, found = failed(desk, capsys)
    assert (status, found["status"]) == (4, "input changed")
    assert "does not know 1 of the column's" in told
    assert re.search(rf"\b{len(rows)}\b", told)
    assert f"row {rows[0]}" in told
    assert "'age'" in told
    assert "Add the values to the hierarchy" in told
    assert "'33'" not in told


def test_values_that_left_their_type_are_4(desk, capsys):
    desk.change_recipe('zip = "text"', 'zip = "number"')
    desk.rows[4] = f"M;30;{SECRET};clerk"
    desk.write()
    status, told, _ = failed(desk, capsys)
    assert status == 4
    assert "Column 'zip'" in told
    assert "first in row 5" in told
    assert SECRET not in told


def test_cell_values_are_shown_only_when_asked_for(desk, capsys):
    desk.rows[2] = f"M;{SECRET};00001;clerk"
    desk.write()
    status, told, found = failed(desk, capsys)
    assert status == 4
    assert SECRET not in told + json.dumps(found)
    assert "row 3" in told
    assert desk.run("--json", "--show-values") == 4
    shown = capsys.readouterr()
    assert SECRET in shown.err
    assert SECRET in json.loads(shown.out)["error"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seed = 7", "seed = = 7", "line 1"),
        ("k = 5\n", "k = 1\n", "'k' is 1; allowed is a whole number of at least 2"),
        ("k = 5\n", "kk = 5\n", "unknown parameter 'kk'"),
        ('"k-anonymity"', '"k-anonimity"', "Did you mean 'k-anonymity'?"),
        ('"optimal"', '"optimum"', "Unknown algorithm 'optimum'"),
        ('"loss"', '"los"', "'loss'"),
        ("[roles]", "[rolls]", "unknown key 'rolls'"),
        ('quasi = ["sex", "age"]', "quasi = []", "No column is marked as quasi-identifier"),
        ('quasi = ["sex", "age"]', 'quasi = "sex"', "[roles] quasi is no list"),
        ("identifier = []", 'identifier = ["sex"]', "'sex' is an identifier and also"),
        ('missing = "keep"', 'missing = "kep"', "Did you mean 'keep'?"),
        ('zip = "text"', 'zip = "string"', "[types] 'zip' is 'string'"),
        ("max_suppression = 0.02", "max_suppression = 2", "from 0 to 1"),
        ("hierarchies/adult/age.csv", "hierarchies/adult/agee.csv", "agee.csv"),
        ('separator = ";"', 'separator = ";;"', "[data] separator"),
        (RECIPE[RECIPE.index("[[models]]") :], "", "has no [models]"),
    ],
)
def test_a_broken_recipe_is_1_and_names_the_place(desk, capsys, old, new, says):
    desk.change_recipe(old, new)
    status, told, found = failed(desk, capsys)
    assert (status, found["status"]) == (1, "error")
    assert says in told


def test_an_empty_list_of_models_is_1(desk, capsys):
    desk.recipe.write_text("models = []\n" + RECIPE[: RECIPE.index("[[models]]")])
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert "promise nothing" in told


@pytest.mark.parametrize("name", ["recipe", "data"])
def test_a_missing_file_is_1(desk, capsys, name):
    getattr(desk, name).unlink()
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert getattr(desk, name).name in told
    assert "Check the path" in told


def test_a_folder_as_table_is_1(desk, capsys):
    desk.data.unlink()
    desk.data.mkdir()
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert "is a folder" in told


def test_out_may_not_be_a_file(desk, capsys):
    desk.out.write_text("mine")
    assert desk.run() == 1
    assert "is a file, not a folder" in capsys.readouterr().err
    assert desk.out.read_text() == "mine"


def test_the_table_is_never_overwritten(desk, capsys):
    desk.out.mkdir()
    desk.data = desk.data.rename(desk.out / "release.csv")
    before = desk.data.read_bytes()
    assert desk.run() == 1
    assert "would overwrite the table" in capsys.readouterr().err
    assert desk.data.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_1(desk, capsys):
    desk.out.mkdir()
    (desk.out / "release.parquet").mkdir()
    (desk.out / "release.parquet" / "mine").write_text("mine")
    assert desk.run() == 1
    told = capsys.readouterr().err
    assert "release.parquet" in told
    assert "cannot be used" in told
    assert [f.name for f in desk.out.iterdir() if f.name.startswith(".")] == []


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["run", "recipe.toml"], ["run", "r", "--data", "d", "--outt", "o"]],
)
def test_wrong_arguments_are_1_not_infeasible(arguments, capsys):
    assert main(arguments) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "--help" in told.err


def test_an_error_of_our_own_shows_no_traceback(desk, capsys, monkeypatch):
    def broken(*given: object, **named: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("anon_core.runner.run", broken)
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert "KeyError in test_cli.py, line" in told
    assert SECRET not in told


def test_too_little_memory_is_1(desk, capsys, monkeypatch):
    def broken(*given: object, **named: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anon_core.runner.run", broken)
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert "not enough memory" in told


def test_nothing_is_written_that_does_not_verify(desk, capsys, monkeypatch):
    # The very bytes that would be written are verified.
    from anon_core import runner

    genuine = runner.as_csv
    monkeypatch.setattr(runner, "as_csv", lambda table: genuine(table).replace(b"M,", b"F,", 1))
    status, told, _ = failed(desk, capsys)
    assert status == 1
    assert "did not confirm" in told


def test_a_run_is_verified_once_from_the_written_files(desk, monkeypatch):
    """The stronger of the two verifications is enough: it reads the files as `verify` will."""
    from anon_core import runner
    from anon_core.verification import checks

    def never(*given: object, **named: object) -> None:
        raise AssertionError

    seen: list[Path] = []
    genuine = checks.verify_files

    def from_files(recipe: Path, data: Path, folder: Path) -> object:
        seen.append(data)
        assert (folder / "release.csv").exists()
        assert (folder / "release.parquet").exists()
        return genuine(recipe, data, folder)

    monkeypatch.setattr(runner, "verify", never)
    monkeypatch.setattr(checks, "verify_files", from_files)
    assert desk.run() == 0
    assert len(seen) == 1
    assert sorted(desk.release()) == ["release.csv", "release.parquet"]


def test_ctrl_c_leaves_with_130(desk, capsys, monkeypatch):
    def stopped(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anon_core.runner.run", stopped)
    status, told, found = failed(desk, capsys)
    assert (status, found["status"]) == (130, "stopped")
    assert "nothing was released" in told


# ---- verify ----------------------------------------------------------------------------------


def test_a_tampered_release_is_3_with_rows_and_promise(desk, capsys):
    assert desk.run() == 0
    capsys.readouterr()
    file = desk.out / "release.csv"
    lines = file.read_text().splitlines(keepends=True)
    lines[1] = "M,20,00001,clerk\n"
    file.write_text("".join(lines))
    assert desk.verify() == 3
    told = capsys.readouterr().out
    assert "BROKEN  k-anonymity: k = 5 is broken" in told
    assert "(row 1)" in told
    assert desk.verify("--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["status"]) == (False, "broken")
    (broken,) = [c for c in found["checks"] if c["name"] == "k-anonymity"]
    assert (broken["holds"], broken["bound"], broken["reached"], broken["rows"]) == (
        False,
        5,
        1,
        [1],
    )


def test_a_release_is_not_verified_against_a_stricter_recipe(desk):
    assert desk.run() == 0
    desk.change_recipe("k = 5\n", "k = 150\n")
    assert desk.verify() == 3


@pytest.mark.parametrize("gone", ["recipe", "data", "levels", "out"])
def test_verify_without_its_files_is_1(desk, capsys, gone):
    assert desk.run() == 0
    capsys.readouterr()
    place = getattr(desk, gone)
    if gone == "out":
        place = place / "release.csv"
    place.unlink()
    assert desk.verify("--json") == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["status"] == "error"
    assert "Traceback" not in told.err


# ---- as a program of its own -----------------------------------------------------------------


def start(desk: Desk, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "anon_core", "run", str(desk.recipe)]
    command += ["--data", str(desk.data), "--out", str(desk.out), *more]
    # A shell starts its background jobs deaf to interrupts, and they pass that on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("k = 5\n", "k = 5\n", 0),
        ("k = 5\n", "k = -5\n", 1),
        ("k = 5\n", "k = 999\n", 2),
        ('["occupation"]', '["trade"]', 4),
    ],
)
def test_the_program_leaves_with_the_status(desk, old, new, status):
    desk.change_recipe(old, new)
    program = start(desk, "--json")
    out, err = program.communicate(timeout=120)
    assert program.returncode == status
    assert ("error" in json.loads(out)) == (status != 0)
    assert bool(err) == (status != 0)
    assert bool(desk.release()) == (status == 0)


@pytest.mark.slow
def test_a_reader_that_leaves_early_sees_no_traceback(desk):
    program = subprocess.run(
        [sys.executable, "-c",
         "import os, sys\n"
         "end, start = os.pipe()\n"
         "os.close(end)\n"
         "os.dup2(start, 1)\n"
         "from anon_core.__main__ import main\n"
         "sys.exit(main(['list']))"],
        cwd=CHECKOUT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert program.returncode == 1
    assert program.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal to send")
def test_ctrl_c_in_the_middle_writes_nothing(desk, tmp_path):
    # A wide lattice without a cheap answer, so that the search lasts for seconds.
    drawn = np.random.default_rng(3)
    quasi = [f"q{i}" for i in range(8)]
    cells = drawn.integers(0, 32, size=(40_000, len(quasi)))
    rows = [",".join(str(int(v) + 100) for v in row) for row in cells]
    desk.data.write_text(
        "\n".join([",".join([*quasi, "s"]), *(f"{r},{i % 7}" for i, r in enumerate(rows))])
    )
    levels = "".join(f"{v + 100};{v // 2};{v // 4};{v // 8};{v // 16};*\n" for v in range(32))
    (tmp_path / "q.csv").write_text(levels)
    desk.recipe.write_text(
        f"[roles]\nquasi = {quasi!r}\nsensitive = ['s']\n[hierarchies]\n"
        + "".join(f"{q} = 'q.csv'\n" for q in quasi)
        + "[algorithm]\nname = 'optimal'\nmax_suppression = 0.3\nlist_minimal = true\n"
        + "[[models]]\nname = 'k-anonymity'\nk = 50\n"
        + "[[models]]\nname = 'l-diversity'\nl = 6\n"
    )
    program = start(desk, "--progress")
    assert program.stderr is not None
    while "Searching" not in program.stderr.readline():
        assert program.poll() is None
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert time.monotonic() - sent < 10
    assert "Traceback" not in err
    assert "nothing was released" in err
    assert desk.release() == {}


def test_every_error_of_the_core_has_an_exit_status():
    def below(kind: type[AnonError]) -> set[type[AnonError]]:
        return {kind}.union(*(below(k) for k in kind.__subclasses__()))

    assert {command_line._status(kind("x")) for kind in below(AnonError)} == {1, 2, 4}
