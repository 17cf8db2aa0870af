"""What columns publish: one text has one cover, and one cover one text."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core import run
from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy import Hierarchy, from_rows
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.release.vocabulary import (
    Vocabulary,
    of_boxes,
    of_cells,
    of_level,
    quoted,
    range_texts,
)
from tests.making import Case

LETTERS = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"), ("d", "def", "*")]
LETTERS += [("e", "def", "*"), ("f", "def", "*")]
NUMBERS = [(str(n), f"{n // 10}x", "all") for n in (1, 5, 12, 15, 27)]


def hierarchy(levels: list[tuple[str, ...]], kind: ColumnKind, *, missing: bool) -> Hierarchy:
    column: list[str | None] = [line[0] for line in levels]
    case = Case(columns={"q": column + [None] * missing}, quasi=("q",), kinds={"q": kind})
    return from_rows(case.dataset.column("q"), levels)


def boxes(
    h: Hierarchy, kind: ColumnKind, cells: list[tuple[int, int]], *, as_nodes: bool
) -> tuple[Vocabulary, list[str]]:
    lo, hi = (np.array(ends, dtype=np.int32) for ends in zip(*cells, strict=True))
    vocabulary, code = of_boxes(h, kind, lo, hi, as_nodes=as_nodes)
    assert len(set(vocabulary.texts)) == len(vocabulary.texts)
    covers = list(zip(vocabulary.lo.tolist(), vocabulary.hi.tolist(), strict=True))
    assert covers == sorted(set(covers))
    return vocabulary, [vocabulary.texts[c] for c in code]


def test_a_level_publishes_its_labels() -> None:
    h = hierarchy(LETTERS, "text", missing=True)
    middle = of_level(h, 1)
    assert middle.texts == ("ab", "c", "def", "")
    assert middle.lo.tolist() == [0, 2, 3, 6]
    assert middle.hi.tolist() == [1, 2, 5, 6]
    assert middle.level.tolist() == [1] * 4
    top = of_level(h, 2)
    assert (top.texts, top.lo.tolist(), top.hi.tolist()) == (("*",), [0], [6])


def test_boxes_of_categories_become_the_nodes_that_cover_them() -> None:
    h = hierarchy(LETTERS, "text", missing=False)
    cells = [(0, 0), (0, 1), (3, 4), (2, 2), (1, 2), (3, 5), (0, 5)]
    vocabulary, texts = boxes(h, "text", cells, as_nodes=True)
    assert texts == ["a", "ab", "def", "c", "*", "def", "*"]
    labels = dict(zip(vocabulary.texts, vocabulary.level.tolist(), strict=True))
    assert labels == {"a": 0, "ab": 1, "*": 2, "c": 0, "def": 1}


def test_boxes_of_ordered_values_become_sets() -> None:
    h = hierarchy(LETTERS, "ordered", missing=False)
    vocabulary, texts = boxes(
        h, "ordered", [(0, 0), (0, 1), (3, 4), (1, 2), (0, 5)], as_nodes=False
    )
    assert texts == ["a", "{a, b}", "{d, e}", "{b, c}", "*"]
    labels = dict(zip(vocabulary.texts, vocabulary.level.tolist(), strict=True))
    assert labels == {"a": 0, "{a, b}": 1, "*": 2, "{b, c}": -1, "{d, e}": -1}


def test_boxes_of_numbers_become_ranges() -> None:
    h = hierarchy(NUMBERS, "number", missing=False)
    vocabulary, texts = boxes(h, "number", [(0, 1), (1, 1), (0, 4), (1, 3)], as_nodes=False)
    assert texts == ["[1, 5]", "5", "[1, 27]", "[5, 15]"]
    labels = dict(zip(vocabulary.texts, vocabulary.level.tolist(), strict=True))
    assert labels == {"[1, 5]": 1, "[1, 27]": 2, "5": 0, "[5, 15]": -1}


@pytest.mark.parametrize("as_nodes", [True, False])
def test_missing_mixed_with_others_is_the_whole_column(as_nodes: bool) -> None:
    h = hierarchy(NUMBERS, "number", missing=True)
    vocabulary, texts = boxes(h, "number", [(5, 5), (3, 5), (4, 4)], as_nodes=as_nodes)
    assert texts == ["", "all", "27"]
    assert vocabulary.lo.tolist() == [0, 4, 5]
    assert vocabulary.hi.tolist() == [5, 4, 5]
    h = hierarchy(LETTERS, "ordered", missing=True)
    assert boxes(h, "ordered", [(5, 6), (0, 5)], as_nodes=False)[1] == ["*", "{a, b, c, d, e, f}"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("F", "F"),
        ("", '""'),
        (" x", '" x"'),
        ("a, b", '"a, b"'),
        ("{x}", '"{x}"'),
        ('say "a"', '"say ""a"""'),
        ("a b", "a b"),
    ],
)
def test_members_of_sets_are_quoted_where_they_would_be_read_wrongly(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_the_text_of_a_range_is_the_top_label_for_the_whole_of_a_text_column() -> None:
    h = hierarchy([(v, "anything") for v in "ab"], "ordered", missing=False)
    assert range_texts(h, "ordered")(0, 1) == "anything"
    assert range_texts(hierarchy(NUMBERS, "number", missing=False), "number")(0, 4) == "[1, 27]"


@pytest.mark.parametrize(
    ("levels", "cells"),
    [
        # A group on one level has the text of another group on the next.
        ([("a", "X", "Z", "*"), ("b", "X", "Z", "*"), ("c", "Y", "X", "*")], [(0, 1)]),
        # A value is written like the top.
        ([("*", "*"), ("a", "*")], [(0, 0)]),
    ],
)
def test_one_text_for_different_values_is_refused(
    levels: list[tuple[str, ...]], cells: list[tuple[int, int]]
) -> None:
    h = hierarchy(levels, "text", missing=False)
    with pytest.raises(BadHierarchy, match="one text means different values") as refused:
        boxes(h, "text", cells, as_nodes=True)
    assert refused.value.values
    assert "Hierarchy of 'q'" in refused.value.message


def test_a_value_that_is_written_like_a_set_is_refused_beside_that_set() -> None:
    h = hierarchy([(v, "*") for v in ("a", "b", "c", "{a, b}")], "text", missing=False)
    assert boxes(h, "text", [(0, 0), (3, 3)], as_nodes=False)[1] == ["a", "{a, b}"]
    with pytest.raises(BadHierarchy):
        boxes(h, "text", [(0, 1), (3, 3)], as_nodes=False)


def test_a_label_may_stand_on_several_levels_for_the_same_values() -> None:
    levels = [("a", "AB", "AB", "*"), ("b", "AB", "AB", "*"), ("c", "c", "C", "*")]
    h = hierarchy(levels, "text", missing=False)
    assert boxes(h, "text", [(0, 1), (2, 2)], as_nodes=True)[1] == ["AB", "c"]


def test_mondrian_refuses_it_and_the_optimal_search_needs_not() -> None:
    levels = [
        ("a", "X", "Z", "*"),
        ("b", "X", "Z", "*"),
        ("c", "Y", "X", "*"),
        ("d", "V", "X", "*"),
    ]
    case = Case(
        columns={"q": ["a", "b", "c", "d", "c", "d"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": levels},
    )
    dataset: Dataset = case.dataset
    with pytest.raises(BadHierarchy, match="keeps every column at one level"):
        run(case.plan(algorithm={"name": "mondrian"}), dataset, case.levels, assess=False)
    assert run(case.plan(), dataset, case.levels, assess=False).verification.holds


def test_a_node_of_one_leaf_is_written_by_its_label() -> None:
    # The label covers values under it that only a public table has; the leaf's text does not.
    h = hierarchy([("a", "ab", "*")], "text", missing=False)
    zero = np.zeros(4, dtype=np.int32)
    vocabulary, code = of_cells(h, "text", zero, zero, np.array([0, 1, 2, -1], dtype=np.int32))
    assert [vocabulary.texts[c] for c in code] == ["a", "ab", "*", "a"]
    assert vocabulary.level[code[:3]].tolist() == [0, 1, 2]
