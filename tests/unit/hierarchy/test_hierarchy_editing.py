"""Editing a hierarchy: what each operation does, what is refused, and what the examples say."""

from __future__ import annotations

import doctest
import importlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import (
    Draft,
    History,
    InsertLevel,
    MakeGroup,
    Move,
    Operation,
    Place,
    RemoveLevel,
    Rename,
    Reorder,
    Ungroup,
    apply,
    draft_of,
    draft_of_dict,
    draft_of_rows,
    draft_of_values,
    from_rows,
    history_of_dict,
    operation_of,
    to_rows,
    unplaced,
)
from anon_core.data.hierarchy.edit.draft import check
from anon_core.data.hierarchy.edit.editing import STEPS
from anon_core.data.hierarchy.edit.operations import MOST_LETTERS, MOST_LEVELS
from anon_core.data.values.kinds import ColumnKind

MARITAL = ["Divorced", "Married", "Partner", "Single", "Widowed"]


def column(values: Sequence[str], kind: ColumnKind = "text", *, missing: bool = False) -> Column:
    codes = list(range(len(values))) + [-1] * missing
    return encode("x", np.array(codes, dtype=np.int32), list(values), kind=kind)


def flat_draft(values: Sequence[str] = MARITAL, kind: ColumnKind = "text") -> Draft:
    return draft_of_values(column(values, kind))


def numbers() -> Draft:
    rows = [[str(i), "1-3" if i < 4 else "4-6", "*"] for i in range(1, 7)]
    return draft_of(from_rows(column([str(i) for i in range(1, 7)], "number"), rows))


def groups(draft: Draft, level: int) -> dict[str, list[str]]:
    """Return the values under each label of a level."""
    found: dict[str, list[str]] = {}
    for row in to_rows(draft):
        found.setdefault(row[level], []).append(row[0])
    return found


def number(draft: Draft, label: str, level: int = 1) -> int:
    return next(g.id for g in draft.levels[level - 1] if g.label == label)


def leaf(draft: Draft, *texts: str) -> tuple[int, ...]:
    return tuple(draft.leaves.index(text) for text in texts)


def grouped(draft: Draft, label: str, *texts: str) -> Draft:
    return apply(draft, MakeGroup(level=0, nodes=leaf(draft, *texts), label=label))


def refused(draft: Draft, operation: Operation, *words: str) -> BadHierarchy:
    before = json.dumps(draft.as_dict())
    with pytest.raises(BadHierarchy) as caught:
        apply(draft, operation)
    for word in words:
        assert word in caught.value.message
    assert caught.value.remedy
    assert json.dumps(draft.as_dict()) == before
    return caught.value


def test_a_draft_is_its_hierarchy_again() -> None:
    of = column(["1", "2", "5"], "number", missing=True)
    hierarchy = from_rows(of, [["5", ">2", "*"], ["1", "1-2", "*"], ["2", "1-2", "*"]])
    draft = draft_of(hierarchy)
    assert draft.kind == "number"
    assert draft.fixed_order
    assert from_rows(of, to_rows(draft)).rows() == hierarchy.rows()
    assert draft_of_dict(json.loads(json.dumps(draft.as_dict()))) == draft


def test_dates_and_ordered_texts_keep_their_order() -> None:
    days = draft_of_values(column(["2020-01-31", "2020-01-01"], "date"))
    assert (days.kind, days.leaves) == ("date", ("2020-01-01", "2020-01-31"))
    ordered = draft_of_values(column(["low", "mid", "top"], "ordered"))
    assert (ordered.kind, ordered.ordered, ordered.fixed_order) == ("text", True, True)


def test_a_column_without_values_is_refused() -> None:
    empty = encode("x", np.array([-1, -1], dtype=np.int32), [])
    with pytest.raises(BadHierarchy, match="no values"):
        draft_of_values(empty)


def test_the_first_group_makes_a_level() -> None:
    draft = flat_draft()
    made = grouped(draft, "Former", "Widowed", "Divorced")
    assert made.height == 2
    assert groups(made, 1) == {
        "Former": ["Divorced", "Widowed"],
        "Married": ["Married"],
        "Partner": ["Partner"],
        "Single": ["Single"],
    }
    assert groups(made, 2) == {"*": ["Divorced", "Widowed", "Married", "Partner", "Single"]}


def test_a_group_stays_under_the_common_group() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Any", *MARITAL[:4])
    draft = apply(draft, InsertLevel(at=1))
    draft = grouped(draft, "Two", "Married", "Partner")
    assert groups(draft, 1)["Two"] == ["Married", "Partner"]
    assert groups(draft, 2) == {"Any": MARITAL[:1] + MARITAL[1:4], "Widowed": ["Widowed"]}
    apart = grouped(draft, "One", "Single", "Widowed")
    assert groups(apart, 1)["One"] == ["Single", "Widowed"]
    assert groups(apart, 2)["One"] == ["Single", "Widowed"]
    assert groups(apart, 2)["Any"] == ["Divorced", "Married", "Partner"]


def test_groups_of_groups() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Former", "Divorced", "Widowed")
    single = number(draft, "Single")
    draft = apply(draft, MakeGroup(level=1, nodes=(number(draft, "Former"), single), label="Alone"))
    assert groups(draft, 2)["Alone"] == ["Divorced", "Widowed", "Single"]
    skipping = apply(
        draft, MakeGroup(level=0, nodes=leaf(draft, "Married", "Partner"), at=2, label="Couple")
    )
    assert groups(skipping, 1)["Married"] == ["Married"]
    assert groups(skipping, 2)["Couple"] == ["Married", "Partner"]


def test_an_emptied_group_goes_and_a_suggested_label_follows() -> None:
    draft = flat_draft()
    draft = apply(draft, MakeGroup(level=0, nodes=leaf(draft, "Married", "Partner")))
    assert "Married or Partner" in groups(draft, 1)
    two = number(draft, "Married or Partner")
    draft = apply(draft, Move(level=0, nodes=leaf(draft, "Single"), onto=1, to=two))
    assert groups(draft, 1)["Married, Partner or Single"] == ["Married", "Partner", "Single"]
    top = draft.levels[-1][0].id
    draft = apply(draft, Move(level=0, nodes=leaf(draft, "Single", "Partner"), onto=2, to=top))
    assert all(label == values[0] for label, values in groups(draft, 1).items())
    assert len(draft.levels[0]) == 5


def test_a_value_that_stands_for_itself_becomes_a_group_of_both() -> None:
    draft = apply(flat_draft(), InsertLevel())
    draft = apply(
        draft, Move(level=0, nodes=leaf(draft, "Widowed"), onto=1, to=number(draft, "Divorced"))
    )
    assert groups(draft, 1)["Divorced or Widowed"] == ["Divorced", "Widowed"]


def test_a_name_that_was_given_stays() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Two", "Married", "Partner")
    top = draft.levels[-1][0].id
    draft = apply(draft, Move(level=0, nodes=leaf(draft, "Partner"), onto=2, to=top))
    assert groups(draft, 1)["Two"] == ["Married"]


def test_many_members_get_a_numbered_name() -> None:
    draft = flat_draft([f"a rather long value number {i}" for i in range(9)])
    draft = apply(draft, MakeGroup(level=0, nodes=tuple(range(5))))
    draft = apply(draft, MakeGroup(level=0, nodes=(6, 7, 8)))
    assert {"Group 1", "Group 2"} <= set(groups(draft, 1))


def test_renaming_passes_up_where_the_group_stands_for_itself() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Two", "Married", "Partner")
    draft = apply(draft, InsertLevel())
    assert draft.height == 3
    draft = apply(draft, Rename(level=1, node=number(draft, "Two"), label="  A   pair\n"))
    assert groups(draft, 1)["A pair"] == groups(draft, 2)["A pair"] == ["Married", "Partner"]
    draft = apply(draft, Rename(level=3, node=draft.levels[-1][0].id, label="Any"))
    assert list(groups(draft, 3)) == ["Any"]


def test_a_name_means_one_thing_on_every_level() -> None:
    draft = grouped(flat_draft(), "Two", "Married", "Partner")
    draft = apply(draft, InsertLevel())
    two, single = number(draft, "Two", 2), number(draft, "Single", 2)
    draft = apply(draft, MakeGroup(level=2, nodes=(two, single)))
    group = draft.levels[2][0].id
    refused(draft, Rename(level=3, node=group, label="Two"), "level 1 already, for other values")
    refused(draft, Rename(level=1, node=number(draft, "Two"), label="*"), "level 4 already")
    refused(draft, MakeGroup(level=3, nodes=(group,), label="Two"), "for other values")
    assert apply(draft, Rename(level=2, node=two, label="Two")) == draft


def test_ungrouping_keeps_the_levels_above() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Some", *MARITAL[:3])
    draft = grouped(draft, "Few", *MARITAL[:2])
    draft = apply(draft, MakeGroup(level=1, nodes=(number(draft, "Few"), number(draft, "Some"))))
    before = groups(draft, 2)
    draft = apply(draft, Ungroup(level=1, nodes=(number(draft, "Few"),)))
    assert groups(draft, 1)["Divorced"] == ["Divorced"]
    assert list(groups(draft, 2).values()) == list(before.values())


def test_levels_come_and_go() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Some", *MARITAL[:3])
    rows = to_rows(draft)
    taller = apply(draft, InsertLevel(at=1))
    assert [(r[0], r[2], r[3]) for r in to_rows(taller)] == rows
    assert to_rows(apply(taller, RemoveLevel(level=1))) == rows
    assert to_rows(apply(taller, RemoveLevel(level=2))) == [(r[0], r[0], "*") for r in rows]


def test_groups_are_reordered_under_their_parent() -> None:
    draft = flat_draft()
    draft = apply(draft, Reorder(level=0, nodes=leaf(draft, "Widowed"), beside=0))
    assert [row[0] for row in to_rows(draft)][:2] == ["Widowed", "Divorced"]
    draft = grouped(draft, "Two", "Married", "Partner")
    draft = apply(
        draft,
        Reorder(level=1, nodes=(number(draft, "Two"),), beside=number(draft, "Single"), after=True),
    )
    assert [row[0] for row in to_rows(draft)][-2:] == ["Married", "Partner"]
    # A value next to a group is, on the level above, next to that group.
    moved = apply(
        draft,
        Reorder(level=0, nodes=leaf(draft, "Single"), beside=leaf(draft, "Partner")[0], after=True),
    )
    assert to_rows(moved)[-1][0] == "Single"
    refused(
        draft,
        Reorder(level=0, nodes=leaf(draft, "Married"), beside=leaf(draft, "Single")[0]),
        "together",
    )
    same = apply(
        draft, Reorder(level=0, nodes=leaf(draft, "Single"), beside=leaf(draft, "Single")[0])
    )
    assert to_rows(same) == to_rows(draft)


def test_ordered_values_are_reordered_but_grouped_with_neighbours_only() -> None:
    draft = flat_draft(["high", "low", "mid"], "ordered")
    refused(draft, MakeGroup(level=0, nodes=leaf(draft, "high", "mid")), "leaves out values")
    draft = apply(draft, Reorder(level=0, nodes=leaf(draft, "high"), beside=2, after=True))
    assert draft.order == leaf(draft, "low", "mid", "high")
    draft = grouped(draft, "ok", "high", "mid")
    assert groups(draft, 1) == {"low": ["low"], "ok": ["mid", "high"]}


def test_numbers_are_grouped_as_intervals_only() -> None:
    draft = numbers()
    made = apply(draft, MakeGroup(level=0, nodes=leaf(draft, "4", "3")))
    assert groups(made, 1) == {"1-2": ["1", "2"], "3-4": ["3", "4"], "5-6": ["5", "6"]}
    moved = apply(draft, Move(level=0, nodes=leaf(draft, "4"), onto=1, to=number(draft, "1-3")))
    assert groups(moved, 1) == {"1-4": ["1", "2", "3", "4"], "5-6": ["5", "6"]}
    refused(
        draft,
        Move(level=0, nodes=leaf(draft, "5"), onto=1, to=number(draft, "1-3")),
        "leaves out numbers",
    )
    refused(draft, MakeGroup(level=0, nodes=leaf(draft, "2")), "leaves out numbers")
    refused(draft, Reorder(level=0, nodes=(0,), beside=1), "order")


def test_a_suggested_range_with_negative_numbers_can_be_read() -> None:
    draft = flat_draft(["-3", "-1", "2"], "number")
    assert "-3 to -1" in groups(apply(draft, MakeGroup(level=0, nodes=(0, 1))), 1)


def test_values_without_a_place_are_placed() -> None:
    rows = [["1", "low", "*"], ["4", "high", "*"]]
    of = column(["1", "2", "4"], "number", missing=True)
    draft = draft_of_rows(of, rows)
    left = unplaced(draft, of)
    assert left == ("2",)
    placed = apply(draft, Place(values=left, onto=1, to=number(draft, "low")))
    assert groups(placed, 1) == {"low": ["1", "2"], "high": ["4"]}
    assert not unplaced(placed, of)
    assert unplaced(draft_of_rows(column(MARITAL), [["Single", "*"]]), column(MARITAL)) == (
        "Divorced",
        "Married",
        "Partner",
        "Widowed",
    )
    alone = apply(draft, Place(values=left))
    assert groups(alone, 1) == {"low": ["1"], "2": ["2"], "high": ["4"]}
    refused(draft, Place(values=("1",)), "already")
    refused(draft, Place(values=("1.0",)), "another spelling")
    refused(draft, Place(values=("many",)), "values are not")
    refused(draft, Place(values=()), "no value")


def test_a_table_of_another_column_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="none of the column's 5 values"):
        draft_of_rows(column(MARITAL), [["Bonn", "*"], ["Graz", "*"]])
    with pytest.raises(BadHierarchy, match="is empty"):
        draft_of_rows(column(MARITAL), [])


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (MakeGroup(level=0, nodes=()), "empty group"),
        (MakeGroup(level=0, nodes=(77,)), "no such value"),
        (MakeGroup(level=5, nodes=(0,)), "no such value"),
        (MakeGroup(level=0, nodes=(0,), at=4), "level 4"),
        (MakeGroup(level=1, nodes=(0,), at=1), "level 1"),
        (MakeGroup(level=0, nodes=(2, 3), label="Two"), "twice on level 1"),
        (MakeGroup(level=0, nodes=(2, 3), label="Divorced"), "twice on level 1"),
        (MakeGroup(level=0, nodes=(0, 2, 3), label="Married"), "value outside of its group"),
        (Move(level=1, nodes=(0,), onto=1, to=0), "cycle"),
        (Move(level=0, nodes=(0,), onto=1, to=999), "no such group"),
        (Move(level=0, nodes=(0,), onto=9, to=0), "no such group"),
        (Rename(level=0, node=0, label="x"), "own values"),
        (Rename(level=1, node=999, label="x"), "no such group"),
        (Ungroup(level=0, nodes=(0,)), "only groups between"),
        (Ungroup(level=2, nodes=(0,)), "only groups between"),
        (RemoveLevel(level=0), "its top"),
        (RemoveLevel(level=2), "its top"),
        (InsertLevel(at=7), "level 7"),
        (Place(values=("Single",)), "already"),
    ],
)
def test_what_is_no_hierarchy_is_refused(operation: Operation, words: str) -> None:
    draft = flat_draft()
    draft = grouped(draft, "Two", "Married", "Partner")
    refused(draft, operation, words)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("NA", "missing"),
        ("x" * (MOST_LETTERS + 1), "letters; at most"),
        ("x" * 2**20, "1,048,576 letters"),
        ("a\x00b", "invisible characters"),
        ("safe\u202egnp", "invisible characters"),
    ],
)
def test_labels_that_are_refused(label: str, words: str) -> None:
    draft = apply(flat_draft(), MakeGroup(level=0, nodes=(0, 1), label="Two"))
    refused(draft, Rename(level=1, node=number(draft, "Two"), label=label), words)


def test_a_script_is_only_text() -> None:
    text = "<script>alert(1)</script>"
    draft = apply(flat_draft(), MakeGroup(level=0, nodes=(0, 1), label=text))
    assert text in groups(draft, 1)


def test_standing_for_itself_is_no_group_to_dissolve() -> None:
    draft = apply(flat_draft(), InsertLevel())
    refused(draft, Ungroup(level=1, nodes=(number(draft, "Single"),)), "is its own group")


def test_there_is_a_most_of_levels() -> None:
    draft = flat_draft()
    for _ in range(MOST_LEVELS - 1):
        draft = apply(draft, InsertLevel())
    refused(draft, InsertLevel(), "which is the most")


def test_moving_where_it_is_changes_nothing() -> None:
    draft = flat_draft()
    draft = grouped(draft, "Two", "Married", "Partner")
    two = number(draft, "Two")
    assert apply(draft, Move(level=0, nodes=leaf(draft, "Partner"), onto=1, to=two)) == draft
    top = draft.levels[-1][0].id
    assert apply(draft, Move(level=0, nodes=leaf(draft, "Single"), onto=2, to=top)) == draft


@pytest.mark.parametrize(
    "change",
    [
        {"levels": []},
        {"levels": [[[0, "a", [0, 1]], [1, "b", [2]]]]},
        {"levels": [[[0, "*", [0, 1]]]]},
        {"levels": [[[0, "*", [0, 1, 2, 2]]]]},
        {"levels": [[[0, "a", [0, 1, 2]], [1, "b", []]], [[2, "*", [0, 1]]]], "next_id": 3},
        {"levels": [[[0, "a", [0, 1]], [1, "a", [2]]], [[2, "*", [0, 1]]]], "next_id": 3},
        {"levels": [[[0, "a", [0, 1]], [1, "b", [2]]], [[1, "*", [0, 1]]]], "next_id": 3},
        {"levels": [[[0, "3", [0, 1]], [1, "b", [2]]], [[2, "*", [0, 1]]]], "next_id": 3},
        {"levels": [[[0, "a", [0, 2]], [1, "b", [1]]], [[2, "*", [0, 1]]]], "next_id": 3},
        {"leaves": ["1", "1", "3"]},
        {"leaves": ["1", "2", "x"]},
        {"levels": 7},
        {"next_id": 0},
    ],
)
def test_what_is_no_draft_is_refused(change: dict[str, Any]) -> None:
    plain = draft_of_values(column(["1", "2", "3"], "number")).as_dict()
    assert draft_of_dict(plain)
    with pytest.raises(BadHierarchy):
        draft_of_dict({**plain, **change})
    with pytest.raises(BadHierarchy):
        draft_of_dict({})


def test_check_accepts_what_hierarchies_are() -> None:
    check(numbers())


def test_operations_are_read_from_plain_values() -> None:
    made = operation_of({"do": "group", "level": 0, "nodes": [1, 2], "label": "x"})
    assert made == MakeGroup(level=0, nodes=(1, 2), label="x")
    assert operation_of({"do": "insert_level"}) == InsertLevel()
    assert operation_of({"do": "place", "values": ["a"]}) == Place(values=("a",))
    assert operation_of({"do": "reorder", "level": 0, "nodes": [1], "beside": 2, "after": True})


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"do": "explode"},
        {"do": "group", "level": 0},
        {"do": "group", "level": 0, "nodes": [0], "colour": "red"},
        {"do": "group", "level": "0", "nodes": [0]},
        {"do": "group", "level": True, "nodes": [0]},
        {"do": "group", "level": 0, "nodes": ["0"]},
        {"do": "group", "level": 0, "nodes": 0},
        {"do": "place", "values": [1]},
        {"do": "rename", "level": 1, "node": 0, "label": 3},
        {"do": "reorder", "level": 0, "nodes": [0], "beside": 1, "after": "yes"},
    ],
)
def test_what_is_no_operation_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(BadHierarchy) as caught:
        operation_of(plain)
    assert caught.value.remedy


def test_history_goes_back_and_forth_and_forgets() -> None:
    drafts = [flat_draft()]
    for _ in range(3):
        drafts.append(apply(drafts[-1], InsertLevel()))
    history = History.begin(drafts[0])
    for draft in drafts[1:]:
        history = history.then(draft)
    assert history.then(drafts[-1]) is history
    assert history.undone().undone().draft == drafts[1]
    assert history.undone().undone().redone().redone() == history
    assert history.redone() is history
    assert History.begin(drafts[0]).undone().draft == drafts[0]
    assert not history.undone().then(drafts[0]).future
    assert history_of_dict(json.loads(json.dumps(history.undone().as_dict()))) == history.undone()
    for turn in range(STEPS + 10):
        history = history.then(drafts[turn % 2])
    assert len(history.past) == STEPS


def test_a_long_history_of_a_large_column_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = flat_draft()
    history = History.begin(draft)
    monkeypatch.setattr(
        "anon_core.data.hierarchy.edit.editing.MOST_LETTERS", 3 * len(history.present)
    )
    for turn in range(6):
        draft = apply(draft, Rename(level=1, node=0, label="ab"[turn % 2]))
        history = history.then(draft)
    assert len(history.past) == 3
    assert history.undone().draft.levels[-1][0].label == "a"


@pytest.mark.parametrize(
    "plain", [{}, {"present": 3}, {"present": "{"}, {"present": "[]"}, {"present": "{}"}]
)
def test_what_is_no_history_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(BadHierarchy):
        history_of_dict(plain)


@pytest.mark.parametrize("module", ["edit.draft", "edit.editing", "construction"])
def test_the_examples_are_true(module: str) -> None:
    found = doctest.testmod(
        importlib.import_module(f"anon_core.data.hierarchy.{module}"), optionflags=doctest.ELLIPSIS
    )
    assert found.attempted
    assert not found.failed
