"""Lines of whole rows, and which of them are alike, against going row by row."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.methods.matching import fitting_rows
from anon_core.methods.reidentification.distinct_rows import alone_over_all, lines_of, whole_lines
from anon_core.methods.reidentification.equivalence_counts import RowsAlike
from anon_core.release.ground_truth import Truth, truth_of
from anon_core.release.release import Release, View, raw_view
from tests.often import often
from tests.strategies import Boxed, boxed

Line = tuple[int, ...]


def rows_of(release: Release) -> list[tuple[int, Line]]:
    """Return the group and the codes of every published row, in the columns of its one block."""
    problem, (block,) = release.problem, release.blocks
    leaves = {name: problem.leaf_codes(name).tolist() for name in block}
    cells = {name: codes.tolist() for name, codes in release.cells.items()}
    group = release.seen_group.tolist()
    member = release.grouping.of_rows(problem.frequency, np.random.default_rng(0)).tolist()
    return [
        (group[m], tuple(cells[n][m] if n in cells else leaves[n][row] for n in block))
        for row, m in enumerate(member)
        if m >= 0
    ]


def told_lines(view: View) -> list[tuple[int, Line, int]]:
    linked = view.linked()
    assert linked is not None
    (block,) = linked
    values = zip(block.group, block.codes, block.count, strict=True)
    return [(int(group), tuple(codes.tolist()), int(count)) for group, codes, count in values]


def compared(view: View, truth: Truth) -> RowsAlike:
    own, everyone = lines_of(view, view.quasi), lines_of(truth.raw, view.quasi)
    assert own is not None
    assert everyone is not None
    return whole_lines(view, truth, own, everyone)


@often(48)
@given(drawn=boxed(removed=True))
def test_distinct_lines_are_those_of_the_rows_in_their_order(drawn: Boxed) -> None:
    release = drawn.release
    counted = Counter(rows_of(release))
    assert told_lines(release.view) == [(*line, counted[line]) for line in sorted(counted)]
    problem, (block,) = release.problem, release.blocks
    key = problem.frequency.run[problem.frequency.row_key].tolist()
    leaves = zip(*(problem.leaf_codes(name).tolist() for name in block), strict=True)
    raw = Counter(zip(key, leaves, strict=True))
    assert told_lines(raw_view(problem)) == [(*line, raw[line]) for line in sorted(raw)]


@pytest.mark.parametrize("many", [0, 1 << 12])
@often(48)
@given(drawn=boxed(removed=True), data=st.data())
def test_rows_that_fit_somebody_are_alike(drawn: Boxed, data: st.DataObject, many: int) -> None:
    release = drawn.release
    lines = compared(release.view, truth_of(release.problem, release))
    width = range(len(lines.columns))
    sets = [c for size in (1, 2, len(width)) for c in itertools.combinations(width, size)]
    chosen = data.draw(st.sampled_from(sets))
    pools = [lines.vocabularies[name] for name in lines.columns]
    covers = [
        [(int(pool.lo[c]), int(pool.hi[c])) for pool, c in zip(pools, codes, strict=True)]
        for codes in lines.codes.tolist()
    ]
    people = lines.people.tolist()

    def fits(person: list[int], cover: list[tuple[int, int]]) -> bool:
        return all(cover[d][0] <= person[d] <= cover[d][1] for d in chosen)

    rows = [
        sum(int(n) for n, c in zip(lines.count, covers, strict=True) if fits(person, c))
        for person in people
    ]
    values = [
        min(n for n, person in zip(rows, people, strict=True) if fits(person, cover))
        for cover in covers
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting_rows, "_LEAVES", many - 4 * len(covers))
        assert lines.alike(chosen, Context()).tolist() == values


@often(96)
@given(drawn=boxed(removed=True))
def test_who_is_alone_by_own_values_need_not_be_compared(drawn: Boxed) -> None:
    release = drawn.release
    truth = truth_of(release.problem, release)
    everything = []
    for view in (release.view, truth.raw):
        lines = compared(view, truth)
        alike = lines.alike(range(len(lines.columns)), Context()) if view.published else lines.own
        everything.append(lines.singled_out(alike == 1))
    assert alone_over_all(release.view, truth, Context()) == tuple(everything)
    if not release.view.published:
        texts = {n: pool.texts for n, pool in release.vocabularies.items()}
        (block,) = release.blocks
        said = Counter(
            tuple(texts[n][c] if n in texts else c for n, c in zip(block, codes, strict=True))
            for _, codes in rows_of(release)
        )
        assert everything[0] == sum(many == 1 for many in said.values())


def test_who_is_within_reach_has_values_that_some_class_covers() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        codes = rng.integers(0, 9, (30, 3), dtype=np.int32)
        low = rng.integers(0, 9, (2, 3), dtype=np.int32)
        high = low + rng.integers(0, 4, (2, 3), dtype=np.int32)
        found = fitting_rows.within_reach(codes, low, high)
        assert found.tolist() == [
            i
            for i, person in enumerate(codes)
            if all(np.any((low[:, d] <= person[d]) & (person[d] <= high[:, d])) for d in range(3))
        ]
