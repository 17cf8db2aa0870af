"""`verify --previous` and `verify --release-only`: two releases together, and no private table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.pipeline.verify.earlier_release import check_previous, previous_files
from anon_core.pipeline.verify.verify_release import verify_release
from anon_core.recipe.plan import Plan
from anon_core.verification.findings import Check
from tests.making import Case

LEVELS = {"age": [(str(n), f"{n // 10 * 10}-{n // 10 * 10 + 9}", "*") for n in range(20, 60)]}


def case() -> Case:
    """Return 60 people with nine illnesses."""
    ages = [20 + (7 * n) % 40 for n in range(60)]
    ill = [f"illness {(n * n + n // 7) % 9}" for n in range(60)]
    return Case(
        columns={
            "age": [str(a) for a in ages],
            "sex": ["f" if n % 3 else "m" for n in range(60)],
            "ill": ill,
        },
        quasi=("age", "sex"),
        sensitive=("ill",),
        kinds={"age": "number", "sex": "text", "ill": "text"},
        levels=LEVELS,
    )


def laid(
    folder: Path, own: Case, plan: Plan, files: Mapping[str, bytes], earlier: Mapping[str, bytes]
) -> Check:
    """Write two releases, and return what comes of laying them together."""
    places = folder / "now", folder / "then"
    for place, content in zip(places, (files, earlier), strict=True):
        place.mkdir(exist_ok=True)
        for name, held in content.items():
            (place / name).write_bytes(held)
    own.frame.to_csv(folder / "table.csv", index=False)
    for name, lines in own.levels.items():
        (folder / f"{name}.csv").write_text("\n".join(";".join(line) for line in lines), "utf-8")
    answer = replace(plan, hierarchies={name: f"{name}.csv" for name in own.levels})
    (check,) = check_previous(
        answer, folder, folder / "table.csv", places[0], previous_files(places[1])
    )
    return check


@pytest.mark.parametrize("boxes_first", [True, False])
def test_the_files_tell_what_the_attack_does(tmp_path: Path, boxes_first: bool) -> None:
    """Whichever of boxes and levels was published first."""
    own = case()
    boxes = {"name": "mondrian"}
    levels = {"name": "fixed-levels", "levels": {"age": 1, "sex": 0}, "max_suppression": 0.2}
    first, then = (boxes, levels) if boxes_first else (levels, boxes)
    small = [{"name": "k-anonymity", "k": 2}]
    content = run(own.plan(algorithm=first, models=small), own.dataset, LEVELS).files["release.csv"]
    plan = own.plan(algorithm=then, models=small, earlier={"file": "earlier.csv", "people": "all"})
    shown = Dataset.from_frame(pd.read_csv(io.BytesIO(content), dtype=str))
    result = run(plan, own.dataset, LEVELS, earlier=shown)
    (attack,) = (a for a in result.attacks if a.attack == "composition")
    check = laid(tmp_path, own, plan, result.files, {"release.csv": content})
    assert check.reached == attack.details[0].rows[3]["people certain"]
    assert check.reached
    assert not check.holds
    assert f"certain for {int(attack.succeeded):,} of" in check.sentence


def by_hand(own: Case, releases: list[dict[str, bytes]], linked: str) -> int:
    """Count whose value is left alone by both releases together, person by person."""
    numbers: list[dict[str, tuple[set[tuple[str, ...]], set[str]]]] = []
    for files in releases:
        groups: dict[str, tuple[set[tuple[str, ...]], set[str]]] = {}
        for line in files["quasi.csv"].decode().splitlines()[1:]:
            groups.setdefault(line.split(",")[0], (set(), set()))[0].add(tuple(line.split(",")[1:]))
        for line in files["sensitive.csv"].decode().splitlines()[1:]:
            groups[line.split(",")[0]][1].add(line.split(",")[1])
        numbers.append(groups)
    found = 0
    for person in zip(*own.columns.values(), strict=True):
        left: list[set[str]] = []
        for groups in numbers:
            left.append(set())
            for people, values in groups.values():
                apart = all(
                    cell in cells
                    for cell, cells in zip(person[:2], zip(*people, strict=True), strict=True)
                )
                if person[:2] in people if linked == "roles" else apart:
                    left[-1] |= values
        found += left[0] & left[1] == {person[2]} and min(map(len, left)) > 1
    return found


@pytest.mark.parametrize(("name", "linked"), [("anatomy", "roles"), ("permutation", "nothing")])
def test_permuted_releases_in_parquet_alone(tmp_path: Path, name: str, linked: str) -> None:
    own = replace(case(), levels={})
    both: list[dict[str, bytes]] = []
    for seed in (1, 2):
        plan = own.plan(
            algorithm={"name": name}, models=[{"name": "l-diversity", "l": 2}], seed=seed
        )
        result = run(plan, own.dataset, {})
        both.append({name: bytes(content) for name, content in result.files.items()})
    earlier: dict[str, bytes] = {}
    for file, content in both[0].items():
        packed = io.BytesIO()
        pd.read_csv(io.BytesIO(content), dtype=str).to_parquet(packed, index=False)
        earlier[file.replace(".csv", ".parquet")] = packed.getvalue()
    check = laid(tmp_path, own, plan, both[1], earlier)
    assert check.reached == by_hand(own, both, linked)
    # Next to a release of whole rows, both ways in which columns may be linked count.
    boxes = own.plan(algorithm={"name": "mondrian"})
    whole = run(boxes, own.dataset, {})
    (tmp_path / "whole").mkdir()
    check = laid(tmp_path / "whole", own, boxes, whole.files, both[0])
    assert "the worse of both counts" in check.sentence


def test_linked_sets_are_looked_at_as_they_are_linked(tmp_path: Path) -> None:
    """Slicing with a named set, one with the sensitive column: every combination by hand."""
    own = replace(case(), levels={})
    settings = {"name": "slicing", "sets": [["sex", "ill"]], "partition": "balanced"}
    plan = own.plan(algorithm=settings, models=[{"name": "bucket-size", "k": 4}])
    result = run(plan, own.dataset, {}, assess=False)
    rows = list(csv.DictReader(io.StringIO(result.csv.decode())))
    check = laid(tmp_path, own, plan, result.files, {"release.csv": OLD})
    old = list(csv.DictReader(io.StringIO(OLD.decode())))
    certain = 0
    for age, sex, ill in zip(*own.columns.values(), strict=True):
        fits = {r["group"] for r in rows if r["age"] == age}
        here = {r["ill"] for r in rows if r["group"] in fits and r["sex"] == sex}
        there = {r["ill"] for r in old if r["sex"] == sex}
        certain += here & there == {ill} and len(here) > 1 and len(there) > 1
    assert check.reached == certain > 0


#: An earlier release that tells of each sex a few illnesses.
OLD = ("sex,ill\n" + "f,illness 0\nf,illness 1\nm,illness 2\nm,illness 4\n" * 15).encode()


def test_what_cannot_be_laid_together_is_undecided(tmp_path: Path) -> None:
    own = case()
    plan = own.plan(algorithm={"name": "mondrian"})
    result = run(plan, own.dataset, LEVELS)
    for content in (
        b"age,sex,ill\nmiddle,f,flu\n",
        b"age,sex\n21,f\n",
        b'a,"b\n',
        b"age,sex,ill\n99,f,flu\n",
        b"age,sex,ill\n23.3,f,flu\n",  # an average
        b"age,sex,ill\n20-29,f,flu\n" + b"99,f,flu\n" * 59,  # hardly anybody fits
    ):
        check = laid(tmp_path, own, plan, result.files, {"release.csv": content})
        assert check.outcome == "undecided", content
        assert check.sentence.endswith("Treated as broken.")


ILL = {"ill": [(f"illness {n}", f"Group {n // 3}", "*") for n in range(9)]}


@pytest.mark.parametrize("written", ["labels", "values", "otherwise"])
@pytest.mark.parametrize("level", [0, 1])
def test_a_label_is_read_as_its_values(tmp_path: Path, written: str, level: int) -> None:
    """Whichever of both releases shows labels: a label leaves its values, and they are its own."""
    own = replace(case(), levels={**LEVELS, **ILL})
    expected = {"sensitive_levels": {"ill": 1}} if level else {}
    settings = {"name": "fixed-levels", "levels": {"age": 1, "sex": 0}, "max_suppression": 0.0}
    plan = own.plan(algorithm=settings, models=[{"name": "k-anonymity", "k": 2}], **expected)
    result = run(plan, own.dataset, own.levels, assess=False)
    kind = {line[0]: line[1] for line in ILL["ill"]}
    write = {"labels": kind.__getitem__, "values": str, "otherwise": str.upper}[written]
    ages, sexes, ills = own.columns.values()
    whole = list(zip(map(int, ages), sexes, ills, strict=True))  # type: ignore[arg-type]
    lines = [f'"[{a // 4 * 4}, {a // 4 * 4 + 3}]",*,{write(ill)}' for a, _, ill in whole]
    earlier = "\n".join(["age,sex,ill", *sorted(lines), ""]).encode()
    check = laid(tmp_path, own, plan, result.files, {"release.csv": earlier})
    if written == "otherwise":
        assert check.outcome == "undecided"
        return
    certain = 0
    for age, sex, ill in whole:
        shown = kind.__getitem__ if level else str
        here = {shown(i) for a, s, i in whole if a // 10 == age // 10 and s == sex}
        then = {i for a, _, i in whole if a // 4 == age // 4}
        if written == "labels":
            then = {i for i, k in kind.items() if k in {kind[t] for t in then}}
        there = {shown(i) for i in then}
        certain += here & there == {shown(ill)} and len(here) > 1 and len(there) > 1
    assert check.reached == certain


def write(folder: Path, own: Case, recipe: str) -> None:
    own.frame.to_csv(folder / "table.csv", index=False)
    (folder / "recipe.toml").write_text(recipe, encoding="utf-8")


RECIPE = """version = 3
[types]
age = "number"
[roles]
quasi = ["age", "sex"]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 6
[[models]]
name = "t-closeness"
t = 0.9
"""


def test_without_the_private_table_nothing_is_green(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, case(), RECIPE)
    recipe, out = tmp_path / "recipe.toml", tmp_path / "out"
    assert main(["run", str(recipe), "--data", str(tmp_path / "table.csv"), "--out", str(out)]) == 0
    capsys.readouterr()
    alone = ["verify", str(recipe), "--release-only", "--release", str(out), "--json"]
    assert main(alone) == 5
    printed = json.loads(capsys.readouterr().out)
    assert printed["status"] == "not checked in full"
    assert not printed["holds"]
    assert all(check["holds"] for check in printed["checks"])
    assert "k-anonymity" in {check["name"] for check in printed["checks"]}
    assert {"t-closeness", "coverage", "rows"} <= {check["name"] for check in printed["unchecked"]}
    with pytest.raises(BadPlan, match="private table"):
        verify_release(recipe, None, out, previous=out)

    # A row less: the class is too small, and that shows without the table.
    content = (out / "release.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    smallest = min(set(content[1:]), key=lambda line: sum(c[:8] == line[:8] for c in content))
    content.remove(smallest)
    (out / "release.csv").write_text("".join(content), encoding="utf-8")
    (out / "release.parquet").unlink()
    assert main(alone) in (3, 5)
    found = verify_release(recipe, None, out)
    sizes = {c.name: c for c in found.checks}["k-anonymity"]
    assert sizes.holds == ((sizes.reached or 0) >= 6)


def test_ranges_of_numbers_that_only_the_hierarchy_lists_are_no_odd_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = case()
    write(
        tmp_path, own, RECIPE.replace('[types]\nage = "number"', '[hierarchies]\nage = "age.csv"')
    )
    ages = sorted({str(age) for age in own.frame["age"]})
    (tmp_path / "age.csv").write_text("\n".join(f"{a};*" for a in [*ages, "NA"]), "utf-8")
    recipe, out = tmp_path / "recipe.toml", tmp_path / "out"
    assert main(["run", str(recipe), "--data", str(tmp_path / "table.csv"), "--out", str(out)]) == 0
    assert "[" in (out / "release.csv").read_text(encoding="utf-8")
    assert main(["verify", str(recipe), "--release-only", "--release", str(out)]) == 5
    assert "holds   labels" in capsys.readouterr().out
