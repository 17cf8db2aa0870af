"""Coarser cells and merged groups never leave anyone fewer rows to stand behind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.methods.reidentification.candidates import Known, candidates
from anon_core.methods.reidentification.equivalence_counts import known_sets
from anon_core.methods.reidentification.register import register_of
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release
from anon_core.techniques.attacks.prosecutor import Prosecutor
from tests.contract.test_attacks import at_node
from tests.making import Case, by_hand
from tests.often import often
from tests.strategies import Boxed, boxed, by_boxes, cases, groups_of, layouts, nodes_of


def rows_for_each(release: Release) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return, for sets of known columns and people of the table, how many rows fit them."""
    problem = release.problem
    people = register_of(audience_of(problem), truth_of(problem, release))
    known = Known(codes=people.codes, true=people.codes)
    sets = known_sets(list(range(len(problem.quasi))), np.random.default_rng(3))
    return candidates(release.view, people, known, sets, Context()).rows


def merged(groups: Sequence[int], one: int, other: int) -> list[int]:
    """Return groups of which two became one, numbered without a gap."""
    joined = [min(one, other) if g == max(one, other) else g for g in groups]
    number = {g: i for i, g in enumerate(sorted({*joined} - {-1}))}
    return [number.get(g, -1) for g in joined]


def prosecuted(release: Release) -> tuple[float, float]:
    known = audience_of(release.problem), truth_of(release.problem, release)
    (found,) = Prosecutor().run(release.view, *known, Context())
    return found.rate, found.worst


@often(40)
@given(drawn=boxed(), data=st.data())
def test_merging_ranges(drawn: Boxed, data: st.DataObject) -> None:
    """Ranges of different groups may overlap, before and after."""
    most = max(drawn.groups)
    pair = [data.draw(st.integers(0, most)) for _ in range(2)]
    joined = by_boxes(drawn.release.problem, merged(drawn.groups, pair[0], pair[1]))
    assert np.all(rows_for_each(joined) >= rows_for_each(drawn.release))
    for after, before in zip(prosecuted(joined), prosecuted(drawn.release), strict=True):
        assert after <= before + 1e-12


@often(40)
@given(case=cases(rows=(5, 30)), data=st.data())
def test_going_up_in_hierarchies(case: Case, data: st.DataObject) -> None:
    low, other = data.draw(nodes_of(case)), data.draw(nodes_of(case))
    high = [max(a, b) for a, b in zip(low, other, strict=True)]
    problem = case.problem()
    before, after = at_node(problem, low), at_node(problem, high)
    assert np.all(rows_for_each(after) >= rows_for_each(before))


@pytest.mark.parametrize("which", list(layouts(Case(columns={}, quasi=()))))
@often(20)
@given(case=cases(rows=(5, 20), quasi=(2, 2)), data=st.data())
def test_merging_groups(which: str, case: Case, data: st.DataObject) -> None:
    """Where columns are permuted apart, the rows are those of groups that can hold a person."""
    group = data.draw(groups_of(len(case.rows)))
    pair = [data.draw(st.integers(0, max(group))) for _ in range(2)]
    problem, blocks = case.problem(), layouts(case)[which]
    before = by_hand(problem, group, blocks)
    after = by_hand(problem, merged(group, pair[0], pair[1]), blocks)
    assert np.all(rows_for_each(after) >= rows_for_each(before))
