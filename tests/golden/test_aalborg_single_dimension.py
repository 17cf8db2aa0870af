"""Aalborg (2022), chapter 4: top-down partitioning of one dimension at a time, corrected."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.release.release import Release
from anon_core.techniques.algorithms.single_dimension import (
    SingleDimension,
    categorical_width,
    numeric_candidates,
    numeric_width,
)
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import Case


def shown(release: Release) -> dict[tuple[str, ...], int]:
    names = release.problem.quasi
    return {
        tuple(release.vocabularies[n].texts[release.cells[n][c]] for n in names): int(size)
        for c, size in enumerate(release.grouping.sizes)
    }


@pytest.mark.parametrize(
    ("part", "domain", "width"),
    [((1000, 1010), (0, 1010), 1 / 101), ((0, 0), (0, 99999), 0), ((-10, 0), (-10, 10), 1 / 2)],
)
def test_a_15_numeric_width(
    part: tuple[float, float], domain: tuple[float, float], width: float
) -> None:
    """E-30: by the column's range; the printed division by the maximum fails at 0."""
    assert numeric_width(part, domain) == pytest.approx(width)


@pytest.mark.parametrize(("values", "domain", "width"), [(2, 2, 1), (2, 41, 2 / 41)])
def test_a_15_categorical_width(values: int, domain: int, width: float) -> None:
    """E-30: by the size of the domain."""
    assert categorical_width(values, domain) == pytest.approx(width)


def test_a_16_a_dimension_is_cut_for_all_rows() -> None:
    """A is split; B could be split in one of its halves only, so it stays whole."""
    case = Case(
        columns={"A": ["1", "1", "1", "2", "2", "2"], "B": ["5", "5", "6", "6", "6", "6"]},
        quasi=("A", "B"),
        kinds={"A": "number", "B": "number"},
    )
    release = SingleDimension().run(case.problem(), [KAnonymity(k=2)], Context()).release
    assert shown(release) == {("1", "[5, 6]"): 3, ("2", "[5, 6]"): 3}


def test_a_21_the_median_goes_left() -> None:
    """E-33: with the printed < the left side would be empty."""
    values, rows = np.array([0, 5, 9]), np.array([5, 1, 1])
    assert numeric_candidates(values, rows)[0] == 0
    case = Case(
        columns={"gain": ["0", "0", "0", "0", "0", "5", "9"]},
        quasi=("gain",),
        kinds={"gain": "number"},
    )
    release = SingleDimension().run(case.problem(), [KAnonymity(k=2)], Context()).release
    assert shown(release) == {("0",): 5, ("[5, 9]",): 2}


def test_e_34_a_category_is_split_into_all_children_or_not() -> None:
    levels = [("a1", "A", "*"), ("a2", "A", "*"), ("b1", "B", "*"), ("b2", "B", "*")]
    for values, expected in (
        (["a1", "a1", "a2", "a2", "b1", "b2"], {("a1",): 2, ("a2",): 2, ("B",): 2}),
        (["a1", "a1", "a1", "a2", "b1", "b1"], {("A",): 4, ("b1",): 2}),
        (["a1", "a1", "a1", "a2", "a2", "b1"], {("*",): 6}),
    ):
        case = Case(
            columns={"q": list(values)}, quasi=("q",), kinds={"q": "text"}, levels={"q": levels}
        )
        release = SingleDimension().run(case.problem(), [KAnonymity(k=2)], Context()).release
        assert shown(release) == expected
