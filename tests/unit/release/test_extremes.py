"""Ranges that end at somebody's own value are said to, wherever the release is shown of."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from anon_core.explain.report.files import as_html, edition_of
from anon_core.explain.text import checklist
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.making import Case

AGES = [1, 2, 2, 3, 3, 3, 7, 8, 9, 9, 9, 9]
NUMBERS = Case(
    columns={"age": [str(a) for a in AGES], "s": list("abcabcabcabc")},
    quasi=("age",),
    sensitive=("s",),
    kinds={"age": "number", "s": "text"},
)


def ran(case: Case, k: int = 3, **algorithm: Any) -> Result:
    plan = case.plan(algorithm=algorithm, models=[{"name": "k-anonymity", "k": k}])
    return run(plan, case.dataset, case.levels)


def by_hand(content: bytes, k: int) -> tuple[int, int]:
    """Count the ends of ranges in the file that fewer than k rows of the table have, and those."""
    rows = Counter(AGES)
    cells = [line.split('"')[1] for line in content.decode().splitlines() if "[" in line]
    ends = {int(end) for cell in cells for end in cell.strip("[]").split(", ")}
    rare = [rows[end] for end in ends if rows[end] < k]
    return len(rare), sum(rare)


@pytest.mark.parametrize("technique", ["mondrian", "k-member", "spatial-order", "rtree"])
def test_ranges_that_end_at_rare_values_are_cautioned(technique: str) -> None:
    found = ran(NUMBERS, name=technique)
    count, people = by_hand(found.csv, 3)
    assert count > 0
    (cautions,) = found.cautions
    values = "value" if count == 1 else "values"
    assert f"Ranges of 'age' end at {count} {values} that fewer than 3 people have" in cautions
    whose = f"{people} {'person' if people == 1 else 'people'}"
    assert f"the release shows the real value of {whose}" in cautions
    assert "hierarchy with round cuts" in cautions
    assert figures_of(found)["cautions"] == [cautions]
    assert cautions.replace("'", "&#39;") in as_html(edition_of(found))


def test_ends_that_enough_people_share_are_nobodys() -> None:
    shared = Case(
        columns={"age": ["1", "1", "2", "2", "8", "8", "9", "9"]},
        quasi=("age",),
        kinds={"age": "number"},
    )
    found = ran(shared, k=4, name="mondrian")
    assert "[1, 2]" in found.csv.decode()
    assert found.cautions != ()  # two people a value, of four that were asked for
    assert ran(shared, k=2, name="mondrian").cautions == ()


def test_groups_of_a_hierarchy_with_round_cuts_say_nobodys_value() -> None:
    levels = [(str(a), "1-5" if a <= 5 else "6-10", "*") for a in sorted(set(AGES))]
    rounded = Case(
        columns=NUMBERS.columns,
        quasi=("age",),
        sensitive=("s",),
        kinds=NUMBERS.kinds,
        levels={"age": levels},
    )
    assert ran(rounded, name="mondrian", output="node").cautions == ()
    assert ran(rounded, name="optimal").cautions == ()


def test_limits_of_coded_tails_count() -> None:
    found = ran(NUMBERS, name="top-bottom-coding", max_suppression=1.0)
    texts = set(found.csv.decode().replace('"', "").splitlines()[1:])
    assert any(t.startswith(("≤", "≥")) for t in texts)
    rows = Counter(AGES)
    limits = {int(t[1:].split(",")[0]) for t in texts if t[0] in "≤≥"}
    rare = sum(rows[x] < 3 for x in limits)
    assert bool(found.cautions) == bool(rare)


def _families(many: int) -> Case:
    names = [f"n{i % many:02d}" for i in range(6 * many)]
    return Case(
        columns={"family": names, "s": list("abc") * (2 * many)},
        quasi=("family",),
        sensitive=("s",),
        kinds={"family": "text", "s": "text"},
    )


def listed_by_hand(content: bytes) -> tuple[set[str], int]:
    """Return the values that sets of the file list, and the most in one of them."""
    sets = [
        line.split("{")[1].split("}")[0].split(", ")
        for line in content.decode().splitlines()
        if "{" in line
    ]
    return {value for one in sets for value in one}, max(map(len, sets))


@pytest.mark.parametrize("technique", ["mondrian", "k-member"])
def test_sets_that_list_values_of_few_are_cautioned_and_columns_of_many_checked(
    technique: str,
) -> None:
    found = ran(_families(26), k=12, name=technique)
    values, most = listed_by_hand(found.csv)
    assert len(values) == 26
    cautions = next(one for one in found.cautions if one.startswith("Sets of 'family'"))
    assert "list 26 exact values that fewer than 12 people have" in cautions
    assert "the release shows the real value of 156 people" in cautions
    (item,) = [one for one in checklist.published(found) if one.about == "sets:family"]
    assert item.mark == "warning"
    assert "26 of its 26 values are printed" in item.sentence
    assert f"up to {most} in one cell" in item.sentence


def test_few_values_that_many_share_are_noted_only() -> None:
    found = ran(_families(4), k=12, name="mondrian")
    assert "{" in found.csv.decode()
    (item,) = [one for one in checklist.published(found) if one.about == "sets:family"]
    assert item.mark == "note"


def test_groups_of_a_hierarchy_list_no_values() -> None:
    case = _families(26)
    rows = [[f"n{i:02d}", f"group {i // 9}", "*"] for i in range(26)]
    plan = case.plan(
        algorithm={"name": "mondrian", "output": "node"},
        models=[{"name": "k-anonymity", "k": 12}],
        hierarchies={"family": "family.csv"},
    )
    found = run(plan, case.dataset, {"family": rows})
    assert not [one for one in found.cautions if "Sets of" in one]
    assert not [one for one in checklist.published(found) if one.about.startswith("sets:")]
