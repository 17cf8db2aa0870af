"""Edits of cuts, where the hierarchy has leaves beyond the rows: labels are true of every leaf."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy.edit import cutting
from anon_core.data.hierarchy.intervals import Cuts, cut, intervals
from anon_core.data.hierarchy.label_truth import false_labels
from tests.often import often


@st.composite
def cases(draw: st.DrawFn) -> tuple[Column, list[str], Cuts]:
    """Draw a column, leaves that reach beyond its rows, and nested cuts of them."""
    scale = draw(st.sampled_from((1, 1, 0.5)))
    leaves = sorted(draw(st.sets(st.integers(-4, 40), min_size=6, max_size=25)))
    texts = [f"{leaf * scale:g}" for leaf in leaves]
    own = draw(st.sets(st.sampled_from(texts), min_size=2))
    values = [text for text in texts if text in own]
    column = encode("n", np.arange(len(values), dtype=np.int32), values)
    fine = draw(st.sets(st.sampled_from(leaves[1:]), min_size=2, max_size=6))
    coarse = draw(st.sets(st.sampled_from(sorted(fine)), min_size=1, max_size=2))
    levels = tuple(tuple(p * scale for p in sorted(points)) for points in (fine, coarse))
    style = draw(st.sampled_from(("range", "bracket")))
    return column, texts, Cuts(levels=levels, style=style)


def groups_of(rows: list[list[str]]) -> dict[frozenset[str], set[str]]:
    found: dict[frozenset[str], set[str]] = {}
    for level in range(1, len(rows[0])):
        by: dict[str, set[str]] = {}
        for row in rows:
            by.setdefault(row[level], set()).add(row[0])
        for label, inside in by.items():
            found.setdefault(frozenset(inside), set()).add(label)
    return found


@often(200)
@given(case=cases(), data=st.data())
def test_an_edited_cut_leaves_true_labels_and_the_names_of_groups_that_stay(
    case: tuple[Column, list[str], Cuts], data: st.DataObject
) -> None:
    column, leaves, cuts = case
    if column.kind != "number":
        return
    rows = [list(row) for row in cut(column, cuts, also=leaves)]
    assert false_labels(rows, column.kind) == []
    if len(rows[0]) > 2 and data.draw(st.booleans()):  # a name of somebody's own
        label = data.draw(st.sampled_from(sorted({row[1] for row in rows} - set(leaves)) or [""]))
        rows = [[f"named {c}" if c == label else c for c in row] for row in rows]
    begun = cutting.cuts_of(column, rows)
    every = sorted({point for points in begun.levels for point in points})
    if not every:
        return
    old = data.draw(st.sampled_from(every))
    new = old + data.draw(st.sampled_from((-2, -1, -0.5, 0.5, 1, 2)))
    try:
        moved = cutting.move_cut(column, begun, old, new, also=leaves)
        made = cut(column, moved, also=leaves)
    except BadHierarchy:
        return
    kept = cutting.with_names_kept(made, rows)
    assert false_labels(kept, column.kind) == []
    assert [row[0] for row in kept] == [row[0] for row in rows]
    before, after = groups_of(rows), groups_of(kept)
    for inside, labels in after.items():
        if inside in before:
            assert labels <= before[inside]
    for level in intervals(column, moved, also=leaves):
        assert sum(one.rows for one in level) == column.counts.sum()
