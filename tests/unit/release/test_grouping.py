"""Which rows stand together."""

from __future__ import annotations

import numpy as np

from anon_core.release.grouping import REMOVED, Grouping, group_runs
from tests.making import PATIENTS, Case

FREQUENCY = PATIENTS.problem().frequency


def test_classes_of_quasi_tuples() -> None:
    # In order: (20, 101) with cold and flu, (20, 102), (40, 201), (40, 202) with angina and cold.
    assert FREQUENCY.run_count.tolist() == [2, 1, 1, 2]
    grouping = group_runs(FREQUENCY, np.array([0, 1, REMOVED, 1]), 2)
    assert grouping.classes == 2
    assert grouping.sizes.tolist() == [2, 3]
    assert grouping.removed == 1
    assert grouping.group.tolist() == [0, 1]
    assert not grouping.published
    placed = grouping.of_rows(FREQUENCY, np.random.default_rng(0))
    # Ada, Bea, Cai, Dan, Eva, Fay
    assert placed.tolist() == [0, 1, 0, -1, 1, 1]


def test_all_rows_removed() -> None:
    grouping = group_runs(FREQUENCY, np.full(4, REMOVED), 0)
    assert (grouping.classes, grouping.removed, grouping.sizes.tolist()) == (0, 6, [])
    assert set(grouping.of_rows(FREQUENCY, np.random.default_rng(0)).tolist()) == {-1}


def test_which_of_equal_rows_parts_is_drawn() -> None:
    case = Case(columns={"q": list("aaaaaaaab")}, quasi=("q",), kinds={"q": "text"})
    frequency = case.problem().frequency
    grouping = Grouping(
        key=np.array([0, 0, 1]),
        member=np.array([0, 1, 0]),
        count=np.array([4, 4, 1]),
        group=np.array([0, 1]),
    )
    drafts = {
        tuple(grouping.of_rows(frequency, np.random.default_rng(seed)).tolist())
        for seed in range(20)
    }
    assert len(drafts) > 10
    assert all(draft[8] == 0 and sorted(draft[:8]) == [0] * 4 + [1] * 4 for draft in drafts)
    assert grouping.sizes.tolist() == [5, 4]
