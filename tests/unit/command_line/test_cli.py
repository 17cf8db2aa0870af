"""The command line: exit statuses, what is on which stream, and that nothing is half done."""

from __future__ import annotations

import csv
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
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import anon_core
from anon_core import __main__ as command_line
from anon_core.__main__ import main
from anon_core.base.errors import AnonError
from anon_core.base.params import Kind
from anon_core.base.plain_values import finite
from anon_core.cli import run as run_command
from anon_core.pipeline.publish import release_folder
from anon_core.pipeline.publish.file_formats import FORMATS

CHECKOUT = Path(__file__).resolve().parents[3]

#: The recipe as the documentation shows it.
RECIPE = """\
[data]
separator = ";"
missing = "keep"            # or "drop"
[types]                     # optional; a ZIP code or a diagnosis code stays text, zeros kept
zip = "text"                # text, ordered, number, date
[roles]
identifier = []
quasi = ["sex", "age"]
sensitive = ["occupation"]
insensitive = ["zip"]         # published as it is; what no role names is left out
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
    "seed",
    "status",
    "verified",
    "rows",
    "suppressed",
    "published_as_they_are",
    "left_out",
    "notes",
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


#: The files of the release of `RECIPE`.
_RELEASED: dict[str, bytes] = {}


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

    def have_released(self) -> None:
        """Leave what a run of the recipe leaves; it is run for the first test that asks."""
        if not _RELEASED:
            assert self.run() == 0
            _RELEASED.update(self.release())
        self.out.mkdir(exist_ok=True)
        for name, content in _RELEASED.items():
            (self.out / name).write_bytes(content)

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
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "k = 5 holds" in printed.out
    assert f"rows written to {desk.out}" in printed.out
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
    ("pay", "declared", "published"),
    [
        (["12,500", "950"], 'pay = "number"', {"12,500", "950"}),
        (["12,500", "12.5"], "", {"12500", "12.5", "950"}),  # 12.5 tells what a comma marks
        (["12,500", "12.5"], 'pay = "number"', {"12500", "12.5", "950"}),
        (["12,50", "12.5"], "", {"12.5", "950"}),  # one number in two spellings
    ],
)
def test_both_computations_agree_on_what_commas_mark(desk, pay, declared, published):
    desk.data.write_text(
        "sex;pay;job\n" + "".join(f"{s};{p};x\n" for s in "FM" for p in [*pay * 3, "950"])
    )
    desk.recipe.write_text(
        '[data]\nseparator = ";"\n[roles]\nquasi = ["sex"]\nsensitive = ["job"]\n'
        'insensitive = ["pay"]\n'
        f'[types]\n{declared}\n[algorithm]\nname = "optimal"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    assert desk.run() == 0
    lines = csv.DictReader(io.StringIO(desk.release()["release.csv"].decode()))
    assert {line["pay"] for line in lines} == published
    assert desk.verify() == 0


def test_an_output_that_is_full_is_told_without_a_traceback(capsys, monkeypatch):
    class Full(io.StringIO):
        def write(self, _text: str, /) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["list", "--json"]) == 1
    printed = capsys.readouterr().err
    assert "Standard output or a file cannot be used: No space left on device" in printed
    assert "space left" in printed


def test_json_is_one_object_with_the_promised_keys(desk, capsys):
    assert desk.run("--json") == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert printed.out.count("\n") == 1
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


def test_what_was_renewed_in_an_older_recipe_is_told(desk, capsys):
    desk.change_recipe('insensitive = ["zip"]', "# nothing is insensitive")
    for act, before in (
        (desk.run, "Left out, as no role of the recipe names them: 'zip'."),
        (desk.verify, ""),
    ):
        assert act("--json") == 0
        printed = capsys.readouterr()
        (note,) = json.loads(printed.out)["notes"]
        assert note.startswith("[roles] insensitive: ")
        assert printed.err == f"Older recipe: {note}\n"
        assert act() == 0
        assert before in capsys.readouterr().out
    desk.recipe.write_text("version = 3\n" + desk.recipe.read_text())
    for act in (desk.run, desk.verify):
        assert act("--json") == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["notes"] == []
        assert printed.err == ""


def test_a_recipe_of_a_newer_version_is_1_with_the_remedy(desk, capsys):
    desk.recipe.write_text("version = 99\n" + RECIPE)
    for act in (desk.run, desk.verify):
        assert act() == 1
        assert "version 99" in (printed := capsys.readouterr().err)
        assert "a newer one" in printed
    assert desk.release() == {}


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


# ---- the secret ------------------------------------------------------------------------------

PERMUTED = ('name = "optimal"            # or "mondrian"', 'name = "bucketization"')


def permuted(desk: Desk, *, seed: str = "", sample: str = "") -> None:
    """Let the recipe permute, with a promise that says something about permuted rows."""
    text = RECIPE.replace(*PERMUTED)
    text = text.replace('metric = "loss"', "#").replace("max_suppression = 0.02", "#")
    text = text.replace('"k-anonymity"', '"bucket-size"').replace("[data]", f"[data]\n{sample}")
    desk.recipe.write_text(f"{seed}\n{text}")


def test_the_completed_recipe_makes_the_very_release_again(desk, tmp_path, capsys):
    permuted(desk)
    kept = tmp_path / "kept"
    kept.mkdir()
    assert desk.run("--recipe-out", str(kept / "whole.toml"), "--json") == 0
    seed = json.loads(capsys.readouterr().out)["seed"]
    assert re.fullmatch("[0-9a-f]{64}", seed)
    assert tomllib.loads((kept / "whole.toml").read_text())["seed"] == seed
    assert (kept / "whole.toml").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in kept.iterdir()] == ["whole.toml"]
    first = desk.release()
    assert desk.run() == 0
    assert desk.release() != first  # a recipe without a seed draws a new secret each time
    given, desk.recipe = desk.recipe, kept / "whole.toml"
    assert desk.run() == 0
    assert desk.release() == first
    assert desk.verify() == 0
    desk.recipe = given
    assert desk.verify() == 0  # nothing was sampled: the recipe as it was given is enough


@pytest.mark.parametrize("sample", ["", "sample = 0.5"])
def test_a_release_holds_nothing_of_the_secret(desk, sample, tmp_path, capsys):
    permuted(desk, sample=sample)
    assert desk.run("--recipe-out", str(tmp_path / "whole.toml")) == 0
    seed = tomllib.loads((tmp_path / "whole.toml").read_text())["seed"]
    printed = capsys.readouterr()
    assert sorted(desk.release()) == ["release.csv", "release.parquet"]
    for content in (*desk.release().values(), printed.out.encode(), printed.err.encode()):
        assert seed.encode() not in content.lower()
        assert bytes.fromhex(seed) not in content


def test_a_sample_is_verified_by_the_completed_recipe(desk, tmp_path, capsys):
    permuted(desk, sample="sample = 0.5")
    assert desk.run("--recipe-out", str(tmp_path / "whole.toml")) == 0
    capsys.readouterr()
    assert desk.verify() == 5
    out = capsys.readouterr().out
    assert "BROKEN" not in out.replace("NOT CHECKED", "")
    assert "--recipe-out" in out
    desk.recipe = tmp_path / "whole.toml"
    assert desk.verify() == 0


def test_a_secret_that_is_not_kept_is_told(desk, tmp_path, capsys):
    permuted(desk)
    assert desk.run() == 0
    assert "--recipe-out FILE keeps it" in capsys.readouterr().err
    assert desk.run("--recipe-out", str(tmp_path / "whole.toml")) == 0
    assert capsys.readouterr().err == ""
    desk.recipe = tmp_path / "whole.toml"
    assert desk.run() == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("sample", ["", "sample = 0.5"])
def test_a_seed_that_can_be_found_is_refused(desk, sample, capsys):
    permuted(desk, seed="seed = 7", sample=sample)
    assert desk.run() == 1
    printed = capsys.readouterr().err
    assert "found by trying" in printed
    assert "Leave the seed out" in printed
    assert not desk.out.exists()


def test_a_release_of_a_seed_that_can_be_found_does_not_hold(desk, capsys):
    permuted(desk)
    assert desk.run() == 0
    permuted(desk, seed="seed = 31337")
    assert desk.verify() == 1
    assert "found by trying" in capsys.readouterr().err


def test_what_draws_nothing_runs_with_an_old_seed(desk):
    desk.recipe.write_text(f"seed = 7\n{RECIPE}")
    assert desk.run() == 0
    assert desk.verify() == 0


def test_the_secret_is_not_put_where_it_is_published(desk, tmp_path, capsys):
    (tmp_path / "link").symlink_to(desk.out)
    desk.out.mkdir()
    for place in (
        desk.out / "whole.toml",
        desk.out / "inner" / "whole.toml",
        tmp_path / "link" / "whole.toml",
        desk.out / ".." / "out" / "whole.toml",
        desk.out,
    ):
        assert desk.run("--recipe-out", str(place)) == 1
        assert "secret that undoes the release" in capsys.readouterr().err
    assert desk.release() == {}
    for place, words in (
        (desk.recipe, "would overwrite"),
        (desk.data, "would overwrite"),
        (desk.levels, "would overwrite"),
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "whole.toml", "There is no folder for"),
    ):
        assert desk.run("--recipe-out", str(place)) == 1
        assert words in capsys.readouterr().err
    assert desk.release() == {}
    assert desk.recipe.read_text() == RECIPE


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_device_or_pipe_is_not_replaced_by_the_recipe(desk, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        assert desk.run("--recipe-out", str(tmp_path / name)) == 1
        assert "not a file" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()
    assert desk.release() == {}


def test_a_release_is_never_written_without_its_secret(desk, tmp_path, monkeypatch, capsys):
    def full(_place: Path, _text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path))

    monkeypatch.setattr(run_command, "_write_secret", full)
    assert desk.run("--recipe-out", str(tmp_path / "whole.toml")) == 1
    assert "No space left" in capsys.readouterr().err
    assert desk.release() == {}


@pytest.mark.parametrize("failing", ["_write_secret", "publish"])
def test_a_release_that_stays_keeps_its_recipe(desk, tmp_path, monkeypatch, failing):
    permuted(desk)
    place = tmp_path / "kept" / "whole.toml"
    place.parent.mkdir()
    assert desk.run("--recipe-out", str(place)) == 0
    recipe, release = place.read_bytes(), desk.release()

    def full(*_given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path))

    with monkeypatch.context() as patch:
        patch.setattr(
            run_command if failing == "_write_secret" else release_folder.Staged, failing, full
        )
        assert desk.run("--recipe-out", str(place)) == 1
        assert desk.run("--recipe-out", str(tmp_path / "kept" / "other.toml")) == 1
    assert desk.release() == release
    assert [file.name for file in place.parent.iterdir()] == ["whole.toml"]
    assert place.read_bytes() == recipe
    assert desk.run("--recipe-out", str(place)) == 0
    assert place.read_bytes() != recipe
    assert [file.name for file in place.parent.iterdir()] == ["whole.toml"]


def test_progress_names_stages_on_standard_error(desk, capsys):
    assert desk.run("--json", "--progress") == 0
    printed = capsys.readouterr()
    json.loads(printed.out)
    assert "Searching" in printed.err


def test_what_json_cannot_say_becomes_null():
    given = {"a": math.inf, "b": [math.nan, {"c": -math.inf}], "d": (1.5, None), "e": "x"}
    assert finite(given) == {
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
    """Run with an older release in place; check that it stays, and return what was shown."""
    desk.out.mkdir()
    old = {"release.csv": b"old", "release.parquet": b"older"}
    for name, content in old.items():
        (desk.out / name).write_bytes(content)
    status = desk.run("--json", *more)
    assert desk.release() == old
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 1
    found = json.loads(printed.out)
    assert found["error"] == printed.err.strip()
    assert found["schema"] == 1
    assert found["verified"] is False
    assert "Traceback" not in printed.err
    return status, printed.err, found


def test_infeasible_is_2_with_the_best_value_reached(desk, capsys):
    desk.change_recipe("k = 5\n", "k = 201\n")
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"], found["best"]) == (2, "infeasible", 200.0)
    assert "With k = 200, all rows would be alike" in printed


def test_more_values_than_there_are_is_2(desk, capsys):
    desk.change_recipe("k = 5\n", 'k = 5\n[[models]]\nname = "l-diversity"\nl = 4\n')
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"], found["best"]) == (2, "infeasible", 3.0)
    assert "'occupation'" in printed
    assert "l of at most 3" in printed


def test_a_column_gone_is_4(desk, capsys):
    desk.data.write_text(desk.data.read_text().replace("occupation", "job", 1))
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"]) == (4, "input changed")
    assert "'occupation'" in printed
    assert "Restore the column or change the recipe." in printed


def test_a_typed_column_gone_is_4(desk, capsys):
    desk.data.write_text(desk.data.read_text().replace("zip", "zipcode", 1))
    status, printed, _ = failed(desk, capsys)
    assert status == 4
    assert "no column 'zip'" in printed
    assert "Did you mean 'zipcode'?" in printed


def test_values_the_hierarchy_lacks_are_4_with_counts_place_and_remedy(desk, capsys):
    desk.levels.write_text(desk.levels.read_text().replace("33;30-39;*\n", ""))
    rows = [i for i, row in enumerate(desk.rows, start=1) if row.split(";")[1] == "33"]
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"]) == (4, "input changed")
    assert "lacks 1 of the column's" in printed
    assert re.search(rf"\b{len(rows)}\b", printed)
    assert f"row {rows[0]}" in printed
    assert "'age'" in printed
    assert "Add the values to the hierarchy" in printed
    assert "'33'" not in printed


def test_values_that_left_their_type_are_4(desk, capsys):
    desk.change_recipe('zip = "text"', 'zip = "number"')
    desk.rows[4] = f"M;30;{SECRET};clerk"
    desk.write()
    status, printed, _ = failed(desk, capsys)
    assert status == 4
    assert "Column 'zip'" in printed
    assert "first in row 5" in printed
    assert SECRET not in printed


def test_cell_values_are_shown_only_when_asked_for(desk, capsys):
    desk.rows[2] = f"M;{SECRET};00001;clerk"
    desk.write()
    status, printed, found = failed(desk, capsys)
    assert status == 4
    assert SECRET not in printed + json.dumps(found)
    assert "row 3" in printed
    assert desk.run("--json", "--show-values") == 4
    shown = capsys.readouterr()
    assert SECRET in shown.err
    assert SECRET in json.loads(shown.out)["error"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[data]\n", "seed = = 7\n[data]\n", "line 1"),
        ("k = 5\n", "k = 1\n", "'k' is 1; allowed is a whole number of at least 2"),
        ("k = 5\n", "kk = 5\n", "unknown parameter 'kk'"),
        ('"k-anonymity"', '"k-anonimity"', "Did you mean 'k-anonymity'?"),
        ('"optimal"', '"optimum"', "Unknown algorithm 'optimum'"),
        ('"loss"', '"los"', "'loss'"),
        ("[roles]", "[rolls]", "unknown key 'rolls'"),
        ('quasi = ["sex", "age"]', "quasi = []", "No column is marked as quasi-identifier"),
        ('quasi = ["sex", "age"]', 'quasi = "sex"', "[roles] quasi is not a list"),
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
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"]) == (1, "error")
    assert says in printed


def test_an_empty_list_of_models_is_1(desk, capsys):
    desk.recipe.write_text("models = []\n" + RECIPE[: RECIPE.index("[[models]]")])
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert "names no privacy model, so it protects no one" in printed


@pytest.mark.parametrize("name", ["recipe", "data"])
def test_a_missing_file_is_1(desk, capsys, name):
    getattr(desk, name).unlink()
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert getattr(desk, name).name in printed
    assert "Check the path" in printed


def test_an_empty_folder_as_table_is_1(desk, capsys):
    desk.data.unlink()
    desk.data.mkdir()
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert "holds no file" in printed


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
    assert "which the run reads" in capsys.readouterr().err
    assert desk.data.read_bytes() == before


def test_a_file_that_cannot_be_replaced_leaves_the_earlier_release(desk, capsys, monkeypatch):
    desk.have_released()
    before = desk.release()
    desk.change_recipe("k = 5\n", "k = 9\n")
    genuine = release_folder._move

    def locked(source: Path, target: Path) -> None:
        if source == desk.out / "release.parquet":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(source))
        genuine(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(release_folder, "exchanged", lambda _one, _other: False)
        patch.setattr(release_folder, "_move", locked)
        assert desk.run() == 1
    printed = capsys.readouterr().err
    assert "release.parquet cannot be used: Permission denied" in printed
    assert desk.release() == before
    assert not [f.name for f in desk.out.parent.iterdir() if f.name.startswith(".")]
    (desk.out / "release.parquet").unlink()
    (desk.out / "release.parquet").mkdir()
    assert desk.run() == 1
    assert "'release.parquet'" in capsys.readouterr().err
    assert (desk.out / "release.csv").read_bytes() == before["release.csv"]


def test_two_recipes_do_not_release_into_one_folder(desk, capsys):
    """Anatomy's two tables next to the one of bucketization would be linked to each other."""
    desk.recipe.write_text(_permuting("anatomy"))
    assert desk.run() == 0
    before = desk.release()
    desk.recipe.write_text(_permuting("bucketization"))
    capsys.readouterr()
    assert desk.run() == 1
    printed = capsys.readouterr().err
    assert "'quasi.csv', 'quasi.parquet', 'sensitive.csv', 'sensitive.parquet'" in printed
    assert "Name another folder, or remove these files." in printed
    assert desk.release() == before
    # The same recipe's earlier release is replaced.
    desk.recipe.write_text(_permuting("anatomy"))
    assert desk.run() == 0


def _permuting(name: str) -> str:
    roles = RECIPE[RECIPE.index("[data]") : RECIPE.index("[hierarchies]")]
    promise = '[[models]]\nname = "frequency-l-diversity"\nl = 2\n'
    return f'{roles}[algorithm]\nname = "{name}"\n{promise}'


@pytest.mark.parametrize("name", ["notes.txt", ".release.csv.17.part", "quasi.csv"])
def test_verify_is_3_where_the_folder_holds_another_file(desk, capsys, name):
    desk.have_released()
    (desk.out / name).write_text("other")
    capsys.readouterr()
    assert desk.verify() == 3
    assert f"BROKEN  files: The folder holds '{name}'" in capsys.readouterr().out


def test_a_replacement_that_was_stopped_is_named_and_put_right(desk, capsys, monkeypatch):
    desk.have_released()
    before = desk.release()
    genuine = release_folder._move

    def stuck(source: Path, target: Path) -> None:
        if target.name == "release.parquet" or target.parent == desk.out:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        genuine(source, target)

    with monkeypatch.context() as patch:  # what was moved away cannot be put back either
        patch.setattr(release_folder, "exchanged", lambda _one, _other: False)
        patch.setattr(release_folder, "_move", stuck)
        patch.setattr(release_folder, "_reaches", lambda *given: True)
        assert desk.run() == 1
    capsys.readouterr()
    assert desk.verify() == 1
    assert "A run was stopped while it replaced the release" in capsys.readouterr().err
    assert desk.run() == 0
    assert "that release was put back first" in capsys.readouterr().err
    assert desk.release() == before
    assert desk.verify() == 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["run", "recipe.toml"], ["run", "r", "--data", "d", "--outt", "o"]],
)
def test_wrong_arguments_are_1_not_infeasible(arguments, capsys):
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "--help" in printed.err


def test_an_error_of_our_own_shows_no_traceback(desk, capsys, monkeypatch):
    def broken(*given: object, **named: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("anon_core.pipeline.runner.run", broken)
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert "KeyError in test_cli.py, line" in printed
    assert SECRET not in printed
    assert "Traceback" not in printed


def test_an_error_of_our_own_shows_its_traceback_where_values_may_be_shown(
    desk, capsys, monkeypatch
):
    def broken(*given: object, **named: object) -> None:
        raise KeyError(f"{SECRET}\x1b[2J")

    monkeypatch.setattr("anon_core.pipeline.runner.run", broken)
    assert desk.run("--show-values") == 1
    printed = capsys.readouterr().err
    lines = printed.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert any("in broken" in line for line in lines)
    assert SECRET in lines[-2]
    assert "KeyError in test_cli.py, line" in lines[-1]
    assert "\x1b" not in printed


def test_too_little_memory_is_1(desk, capsys, monkeypatch):
    def broken(*given: object, **named: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anon_core.pipeline.runner.run", broken)
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert "not enough memory" in printed


def test_nothing_is_written_that_does_not_verify(desk, capsys, monkeypatch):
    # The very bytes that would be written are verified.
    csv = FORMATS["csv"]
    wrong = replace(csv, write=lambda table: csv.write(table).replace(b"M,", b"F,", 1), into=None)
    monkeypatch.setitem(FORMATS, "csv", wrong)
    status, printed, _ = failed(desk, capsys)
    assert status == 1
    assert "independent check disagrees" in printed


def test_a_run_is_verified_once_from_the_written_files(desk, monkeypatch):
    """The stronger of the two verifications is enough: it reads the files as `verify` will."""
    from anon_core.pipeline import runner
    from anon_core.verification import checks

    def never(*given: object, **named: object) -> None:
        raise AssertionError

    seen: list[Path] = []
    genuine = checks.verify_files

    def from_files(recipe: Path, data: Path, folder: Path, **named: Any) -> object:
        seen.append(data)
        assert (folder / "release.csv").exists()
        assert (folder / "release.parquet").exists()
        return genuine(recipe, data, folder, **named)

    monkeypatch.setattr(runner, "verify", never)
    monkeypatch.setattr(checks, "verify_files", from_files)
    assert desk.run() == 0
    assert len(seen) == 1
    assert sorted(desk.release()) == ["release.csv", "release.parquet"]


def test_ctrl_c_leaves_with_130(desk, capsys, monkeypatch):
    def stopped(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anon_core.pipeline.runner.run", stopped)
    status, printed, found = failed(desk, capsys)
    assert (status, found["status"]) == (130, "stopped")
    assert "nothing was released" in printed


# ---- verify ----------------------------------------------------------------------------------


def test_a_tampered_release_is_3_with_rows_and_promise(desk, capsys):
    desk.have_released()
    capsys.readouterr()
    file = desk.out / "release.csv"
    lines = file.read_text().splitlines(keepends=True)
    lines[1] = "M,20,00001,clerk\n"
    file.write_text("".join(lines))
    assert desk.verify() == 3
    printed = capsys.readouterr().out
    assert "BROKEN  k-anonymity: k = 5 is broken" in printed
    assert "(row 1)" in printed
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


def test_a_column_that_no_role_names_is_left_out_and_told(desk, capsys):
    desk.change_recipe('insensitive = ["zip"]', "insensitive = []")
    assert desk.run() == 0
    printed = capsys.readouterr().out
    assert "Left out, as no role of the recipe names them: 'zip'.\n" in printed
    assert "Published as they are" not in printed
    assert desk.release()["release.csv"].startswith(b"sex,age,occupation\n")
    assert desk.run("--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["left_out"], found["published_as_they_are"]) == (["zip"], [])
    assert desk.verify() == 0
    assert "Column 'zip' is named by no role, and not published." in capsys.readouterr().out


def test_an_attack_that_was_asked_for_and_does_not_apply_is_told_with_the_reason(desk, capsys):
    desk.change_recipe("[algorithm]", '[[attacks]]\nname = "composition"\n\n[algorithm]')
    assert desk.run() == 0
    printed = capsys.readouterr().out
    assert "composition: not tested. It needs an earlier release of the same people" in printed
    assert "definetti: not tested" not in printed  # nobody asked for it


def test_what_is_published_as_it_is_is_told(desk, capsys):
    assert desk.run() == 0
    printed = capsys.readouterr().out
    assert "Published as they are: 'zip'.\n" in printed
    assert "Left out" not in printed


def test_a_published_column_that_no_role_names_breaks_verification(desk, capsys):
    assert desk.run() == 0
    desk.change_recipe('insensitive = ["zip"]', "insensitive = []")
    assert desk.verify() == 3
    printed = capsys.readouterr().out
    assert "BROKEN  left-out: Column 'zip' is published, though no role" in printed
    assert (
        "BROKEN  columns: The published columns are not the recipe's: 1 column too many." in printed
    )


def test_a_release_is_not_verified_against_a_stricter_recipe(desk):
    desk.have_released()
    desk.change_recipe("k = 5\n", "k = 150\n")
    assert desk.verify() == 3


@pytest.mark.parametrize("gone", ["recipe", "data", "levels", "out"])
def test_verify_without_its_files_is_1(desk, capsys, gone):
    desk.have_released()
    capsys.readouterr()
    place = getattr(desk, gone)
    if gone == "out":
        place = place / "release.csv"
    place.unlink()
    assert desk.verify("--json") == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["status"] == "error"
    assert "Traceback" not in printed.err


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
        ("k = 5\n", "k = 999\n", 2),
        # As the function returns them: looked at in this file, without a program.
        pytest.param("k = 5\n", "k = -5\n", 1, marks=pytest.mark.long),
        pytest.param('["occupation"]', '["trade"]', 4, marks=pytest.mark.long),
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
         f"sys.exit(main(['identifiers', '--data', {str(desk.data)!r}]))"],
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
    levels = "".join(
        f"{v + 100};Group {v // 2};Group {v // 4}.1;Group {v // 8}.2;Group {v // 16}.3;*\n"
        for v in range(32)
    )
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


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal to send")
def test_a_run_that_is_killed_while_it_verifies_leaves_nothing_behind_for_long(desk, tmp_path):
    desk.have_released()
    before = desk.release()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    stage = desk.out.with_name(f".{desk.out.name}{release_folder.STAGE}")
    program = subprocess.Popen(
        [sys.executable, "-c",
         "import sys, time\n"
         "from anon_core.verification import checks\n"
         "checks.verify_files = lambda *given, **named: time.sleep(60)\n"
         "from anon_core.__main__ import main\n"
         f"sys.exit(main(['run', {str(desk.recipe)!r}, '--data', {str(desk.data)!r},"
         f" '--out', {str(desk.out)!r}]))"],
        cwd=CHECKOUT, env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    try:
        while not (stage / "new" / "release.parquet").exists():
            assert program.poll() is None
            time.sleep(0.02)
        assert desk.run() == 1  # one at a time
    finally:
        program.kill()
        program.wait(60)
    assert list(scratch.iterdir()) == []
    assert desk.release() == before
    assert desk.verify() == 0
    assert stage.exists()
    assert desk.run() == 0
    assert not stage.exists()


def test_every_error_of_the_core_has_an_exit_status():
    def below(kind: type[AnonError]) -> set[type[AnonError]]:
        return {kind}.union(*(below(k) for k in kind.__subclasses__()))

    assert {command_line._status(kind("x")) for kind in below(AnonError)} == {1, 2, 4, 5}
