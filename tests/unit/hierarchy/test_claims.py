"""A label that claims what its values are not is found, refused in a run, and not verified."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from anon_core import anonymize
from anon_core.base.errors import BadHierarchy, NotVerified
from anon_core.data.hierarchy import parse_levels, read_levels
from anon_core.data.hierarchy.label_truth import false_labels, refuse_false_labels
from anon_core.data.samples import SAMPLES, hierarchy_folder
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline import prepare
from anon_core.recipe.plan import Plan
from anon_core.verification.text.labels import untrue
from anon_core.verification.text.texts import Spelling

#: Label, its values, and those that are not what it says.
FALSE: list[tuple[ColumnKind, str, list[str], list[str]]] = [
    ("text", "0109*", ["01090", "01091", "02625"], ["02625"]),
    ("text", "010**", ["01090", "01190"], ["01190"]),
    ("text", "***34", ["12334", "12335"], ["12335"]),
    ("text", "20-29", ["20", "29", "30"], ["30"]),
    ("text", "20-29", ["20", "29", "unknown"], ["unknown"]),
    ("text", "08:00-08:59", ["8:05 a.m.", "8:50 a.m.", "9:10 p.m."], ["9:10 p.m."]),
    ("text", "I20-I29", ["I21.0", "I25.1", "E11.65"], ["E11.65"]),
    ("text", "A00-B99 infections", ["A01", "B20.1", "C50"], ["C50"]),
    ("text", "E11", ["E11.0", "E11.65", "I10"], ["I10"]),
    ("text", "63/03", ["63/03/13", "63/03/18", "64/04/12"], ["64/04/12"]),
    ("text", "dog / emu", ["dog", "emu", "yak"], ["yak"]),
    ("text", "dog, emu or yak", ["dog", "emu", "yak", "cat"], ["cat"]),
    ("text", "dog and 1 more", ["dog", "emu", "yak"], ["dog", "emu", "yak"]),
    ("text", "mild to strong", ["mild", "some", "strong", "none"], ["none"]),
    ("text", "0109* or 02625", ["01090", "02625", "02626"], ["02626"]),
    ("ordered", "low to mid", ["low", "mid", "high"], ["high"]),
    ("number", "20-29", ["20", "29", "30"], ["30"]),
    ("number", "20-29", ["20", "29.5"], ["29.5"]),
    ("number", "< 5", ["1", "5"], ["5"]),
    ("number", "≥80", ["79", "80"], ["79"]),
    ("number", "[1, 5)", ["1", "5"], ["5"]),
    ("number", "[1, 5]", ["1", "5", "6"], ["6"]),
    ("number", "943*", ["9430", "9440"], ["9440"]),
    ("date", "2024-02", ["2024-02-29", "2024-03-01"], ["2024-03-01"]),
    ("date", "2024-Q1", ["2024-03-31", "2024-04-01"], ["2024-04-01"]),
    ("date", "2025", ["2024-12-30", "2025-01-01"], ["2024-12-30"]),
    ("date", "2020s", ["2019-12-31", "2020-01-01"], ["2019-12-31"]),
    ("date", "2025-W01", ["2024-12-30", "2025-01-06"], ["2025-01-06"]),
    ("date", "2025-W01 to W13", ["2024-12-30", "2025-06-01"], ["2025-06-01"]),
    ("date", "2024-01-01 to 2024-01-31", ["2024-01-31", "2024-02-01"], ["2024-02-01"]),
]
#: Forms of German tools, and of shells, that verification reads as well.
WRITTEN: list[tuple[ColumnKind, str, list[str], list[str]]] = [
    ("number", "20er", ["20", "29.5", "30"], ["30"]),
    ("number", "90er Jahre", ["90", "99", "89.9"], ["89.9"]),
    ("number", "1990er", ["1990", "1999", "2000"], ["2000"]),
    ("number", "30s", ["30", "39", "40"], ["40"]),
    ("number", "{20..29}", ["20", "29", "30"], ["30"]),
    ("date", "1990er", ["1990-01-01", "1999-12-31", "2000-01-01"], ["2000-01-01"]),
    ("date", "KW 1 2020", ["2019-12-30", "2020-01-05", "2020-01-06"], ["2020-01-06"]),
    ("date", "KW01/2020", ["2019-12-30", "2020-01-06"], ["2020-01-06"]),
    ("date", "2020-KW53", ["2021-01-03", "2021-01-04"], ["2021-01-04"]),
    ("date", "2025-W01", ["2024-12-30", "2025-01-06"], ["2025-01-06"]),
]
#: Of hundreds or of thousands as well as of ten: nothing can be held against them.
OPEN: list[tuple[ColumnKind, str]] = [
    ("number", "100er"), ("number", "2000er"), ("number", "25er"), ("number", "{20, 30}"),
    ("date", "KW 54 2020"), ("date", "KW 2020"), ("date", "KW 1 2 2020"),
]  # fmt: skip
#: Labels that are true of their values, or claim nothing that can be read.
TRUE: list[tuple[ColumnKind, str, list[str]]] = [
    ("text", "young", ["20", "29"]),
    ("text", "Group 3", ["a", "b"]),
    ("text", "0109*", ["01090", "01099"]),
    ("text", "Other*", ["mustard", "pepper"]),
    ("text", "1-2", ["Grade 1", "Grade 2"]),
    ("text", "cat", ["cat", "kitten"]),
    ("text", "dog / emu / yak", ["dog", "emu"]),
    ("text", "a / b / c", ["a / b", "c"]),
    ("text", "dog and 2 more", ["dog", "emu", "yak"]),
    ("text", "I00-I99 circulatory system", ["I10", "I21.4"]),
    ("text", "M", ["Mr", "Mrs"]),
    ("number", "adults", ["20", "90"]),
    ("number", "20-29", ["20", "25"]),
    ("number", "-5--1", ["-5", "-1"]),
    ("number", "[20, 30)", ["20", "29.99"]),
    ("number", "about 20", ["19", "21"]),
    ("number", "20-29 or 35", ["20", "35"]),
    ("date", "2020-W01 to 2029-W52", ["2019-12-30", "2029-12-30"]),
    ("date", "winter", ["2024-01-01", "2024-12-31"]),
    ("date", "2024", ["2024-01-01", "2024-12-31"]),
]


def table(label: str, values: list[str]) -> list[tuple[str, ...]]:
    return [(value, label, "*") for value in values]


@pytest.mark.parametrize(("kind", "label", "values", "outside"), FALSE)
def test_a_false_label_is_found_and_mended(
    kind: ColumnKind, label: str, values: list[str], outside: list[str]
) -> None:
    (one,) = false_labels(table(label, values), kind)
    assert (one.level, one.label, list(one.outside)) == (1, label, outside)
    assert one.line == values.index(outside[0]) + 1
    assert false_labels(table(one.instead, values), kind) == []
    with pytest.raises(BadHierarchy, match="level 1") as refused:
        refuse_false_labels("x", table(label, values), kind)
    assert not any(value in refused.value.message for value in outside if len(value) > 3)
    assert set(outside[:5]) == set(refused.value.values)


@pytest.mark.parametrize(("kind", "label", "values", "outside"), WRITTEN)
def test_both_readers_read_decades_weeks_and_sequences(
    kind: ColumnKind, label: str, values: list[str], outside: list[str]
) -> None:
    (one,) = false_labels(table(label, values), kind)
    assert list(one.outside) == outside
    spelling = Spelling(kind=kind, neutralised=False)
    assert untrue(table(label, values), spelling, [label]) == {label}
    inside = [value for value in values if value not in outside]
    assert false_labels(table(label, inside), kind) == []
    assert untrue(table(label, inside), spelling, [label]) == set()


@pytest.mark.parametrize(("kind", "label"), OPEN)
def test_what_may_mean_several_things_is_read_by_neither(kind: ColumnKind, label: str) -> None:
    values = ["1", "5000"] if kind == "number" else ["1990-01-01", "2020-06-01"]
    assert false_labels(table(label, values), kind) == []
    assert untrue(table(label, values), Spelling(kind=kind, neutralised=False), [label]) == set()


@pytest.mark.parametrize(("kind", "label", "values"), TRUE)
def test_a_true_label_passes(kind: ColumnKind, label: str, values: list[str]) -> None:
    assert false_labels(table(label, values), kind) == []
    assert untrue(table(label, values), Spelling(kind=kind, neutralised=False), [label]) == set()


@pytest.mark.parametrize(
    ("kind", "label", "values"),
    [
        (kind, label, values)
        for kind, label, values, _ in FALSE
        if (
            kind in ("number", "date")
            and "W" not in label
            and "s" not in label
            and "*" not in label
        )
        or label in ("0109*", "20-29")
    ],
)
def test_verification_reads_plain_claims_by_itself(
    kind: ColumnKind, label: str, values: list[str]
) -> None:
    spelling = Spelling(kind=kind, neutralised=False)
    assert untrue(table(label, values), spelling, [label, "*"]) == {label}
    assert untrue(table(label, values), spelling, ["*"]) == set()


def test_a_line_of_the_file_is_named() -> None:
    rows = parse_levels("01090;0109*;*\n\n01091;0109*;*\n02625;0109*;*\n", "zip")
    with pytest.raises(BadHierarchy, match=r"'0109\*' is not true of 1 of its 3 .* in line 4,"):
        refuse_false_labels("zip", rows, "text")


@pytest.mark.parametrize("one", [one for one in SAMPLES if one.available()], ids=lambda s: s.name)
def test_every_shipped_hierarchy_says_what_is_true(one: Any) -> None:
    data = Dataset.from_frame(one.frame(), kinds=dict(one.types))
    for column, path in one.hierarchies.items():
        assert (
            false_labels(read_levels(hierarchy_folder() / path, column), data.column(column).kind)
            == []
        )


ZIPS = "01090;0109*;*\n01091;0109*;*\n02625;0109*;*\n02626;0262*;*\n"


def released(levels: str) -> pd.DataFrame:
    frame = pd.DataFrame({"zip": ["01090", "01091", "02625", "02626"] * 3, "s": list("abcd") * 3})
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["zip"], "sensitive": ["s"]},
            "hierarchies": {"zip": "zip.csv"},
            "models": [{"name": "k-anonymity", "k": 3}],
            "algorithm": {"name": "fixed-levels", "levels": "zip = 1"},
        }
    )
    return anonymize(frame, plan, {"zip": parse_levels(levels, "zip")})


def test_a_run_refuses_a_false_label() -> None:
    with pytest.raises(BadHierarchy, match=r"'0109\*' is not true of 1 of its 3 values"):
        released(ZIPS)
    assert len(released(ZIPS.replace("0109*", "0109* or 02625"))) == 12


def test_verification_refuses_it_whoever_made_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "refuse_untrue", lambda *_: None)
    with pytest.raises(NotVerified, match="labels that claim a range or beginning"):
        released(ZIPS)
