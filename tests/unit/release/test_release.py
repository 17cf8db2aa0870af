"""Releases by hand, and what an attacker sees of the table as it is."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.errors import AnonError
from anon_core.release.grouping import group_runs
from anon_core.release.release import one_block, raw_view
from anon_core.release.vocabulary import of_level
from tests.making import PATIENTS, by_hand


def test_one_block_publishes_everything_but_identifiers() -> None:
    problem = PATIENTS.problem()
    age = problem.hierarchies["age"]
    release = one_block(
        problem,
        group_runs(problem.frequency, np.array([0, 0, 1, 1]), 2),
        {n: of_level(problem.hierarchies[n], 2) for n in problem.quasi},
        {n: np.zeros(2, dtype=np.int32) for n in problem.quasi},
    )
    assert release.blocks == (("age", "zip", "illness", "note"),)
    assert set(release.vocabularies) == {"age", "zip", "illness", "note"}
    assert release.vocabularies["age"].texts == age.labels[2] == ("*",)
    assert release.vocabularies["illness"].texts == ("angina", "cold", "flu")
    assert release.suppressed == 0
    assert release.view is release.view
    # Both classes say the same, so to an attacker they are one.
    assert release.view.group_size.tolist() == [6]


def test_the_raw_view_shows_every_tuple() -> None:
    problem = PATIENTS.problem()
    view = raw_view(problem)
    assert view.rows == 6
    assert view.group_size.tolist() == [2, 1, 1, 2]
    assert (view.quasi, view.sensitive) == (("age", "zip"), ("illness",))
    assert not view.published
    block = view.whole_quasi()
    assert block is view.blocks[0]
    assert block.columns == ("age", "zip", "illness")
    assert block.count.sum() == 6
    persons = view.persons(block)
    assert persons.columns == ("age", "zip")
    assert persons.sizes.tolist() == [2, 1, 1, 2]


def test_blocks_of_split_quasi_identifiers_hold_no_person_as_a_whole() -> None:
    release = by_hand(PATIENTS.problem(), [0] * 6, (("age", "illness"), ("zip",)))
    assert release.view.whole_quasi() is None
    assert release.view.block_of("illness").columns == ("age", "illness")
    assert release.view.block_of("zip").columns == ("zip",)
    with pytest.raises(AnonError, match="Column 'note' is not published"):
        release.view.block_of("note")


def test_a_block_of_columns_nobody_measures_is_still_counted() -> None:
    release = by_hand(
        PATIENTS.problem(), [0, 0, 0, 1, 1, 1], (("age", "zip", "illness"), ("note",))
    )
    rest = release.view.blocks[1]
    assert rest.columns == ()
    assert rest.codes.shape == (2, 0)
    assert rest.count.tolist() == [3, 3]
