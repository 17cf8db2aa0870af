"""Reconstruction errors of random groupings against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.methods.bucketized.reconstruction import (
    anatomy_reconstruction,
    permutation_reconstruction,
)
from anon_core.techniques.metrics.reconstruction_error import ReconstructionError
from tests.making import Case, by_hand
from tests.often import often
from tests.strategies import Blocks, cases, groups_of, with_column


def rce_naive(
    case: Case, group: Sequence[int], blocks: Blocks | None, *, capped: bool = False
) -> Fraction:
    """Σ over persons of Σ over points of (rebuilt − true)²; without blocks δ is 1/N.

    Capped, what is rebuilt of a person adds up to 1 at most.
    """
    total = Fraction(0)
    for person, g in enumerate(group):
        if g < 0:
            continue
        rows = [r for r, other in enumerate(group) if other == g]
        delta = Fraction(1, len(rows)) if blocks is None else Fraction(1)
        for block in blocks or ():
            same = [
                r for r in rows if all(case.column(n)[r] == case.column(n)[person] for n in block)
            ]
            delta *= Fraction(len(same), len(rows))
        if capped:
            delta = min(delta, Fraction(1, len(rows)))
        for value in {case.column("s0")[r] for r in rows}:
            rebuilt = delta * sum(case.column("s0")[r] == value for r in rows)
            total += (rebuilt - (value == case.column("s0")[person])) ** 2
    return total


@often(80)
@given(case=cases(), data=st.data())
def test_reconstruction_equals_the_definition(case: Case, data: st.DataObject) -> None:
    group = data.draw(groups_of(len(case.rows), removed=True))
    case = with_column(case, "s0", case.columns["s0"], alone=True)
    apart = tuple((name,) for name in case.quasi)
    for blocks in (apart, (case.quasi,)):
        release = by_hand(case.problem(), group, (*blocks, ("s0",)))
        found = permutation_reconstruction(release, "s0", 2)
        assert found.error == pytest.approx(float(rce_naive(case, group, blocks)), abs=1e-9)
        scaled = float(rce_naive(case, group, blocks, capped=True))
        assert found.scaled == pytest.approx(scaled, abs=1e-9)
        assert found.per_group.sum() == pytest.approx(found.scaled)
        assert -1e-9 <= found.scaled <= 2 * release.view.rows + 1e-9
        if found.bound_holds:
            assert found.error >= found.bound - 1e-9
    found = anatomy_reconstruction(release, "s0", 2)
    assert found.error == pytest.approx(float(rce_naive(case, group, None)), abs=1e-9)
    assert found.scaled == pytest.approx(found.error)
    assert found.scaled <= release.view.rows + 1e-9  # a mean of 1 − Σ p² is never above 1


@pytest.mark.parametrize("values", [["p", "q", "r", "t"], ["p", "p", "p", "p"]])
def test_rows_that_are_alike_are_rebuilt_no_worse_than_by_anatomy(values: list[str]) -> None:
    """Of four equal rows δ is 1: as published the error is 3 or 9 a person, on a scale of 1."""
    case = Case(
        columns={"a": ["x"] * 4, "b": ["y"] * 4, "s": values},
        quasi=("a", "b"),
        sensitive=("s",),
        kinds={"a": "text", "b": "text", "s": "text"},
    )
    problem = case.problem()
    release = by_hand(problem, [0] * 4, (("a",), ("b",), ("s",)))
    measured = ReconstructionError().measure(problem, release, Context())
    assert measured.value == pytest.approx(0.75 if len(set(values)) > 1 else 0.0)
    assert 0 <= measured.share <= 1
    assert measured.also["RCE"] == pytest.approx(12 if len(set(values)) > 1 else 36)
