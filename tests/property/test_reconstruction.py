"""Reconstruction errors of random groupings against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.permuted.reconstruction import anatomy_reconstruction, permutation_reconstruction
from tests.making import Case, by_hand
from tests.often import often
from tests.strategies import Blocks, cases, groups_of, with_column


def rce_naive(case: Case, group: Sequence[int], blocks: Blocks | None) -> Fraction:
    """Σ over persons of Σ over points of (rebuilt − true)²; without blocks δ is 1/N."""
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
        assert found.per_group.sum() == pytest.approx(found.error)
        if found.bound_holds:
            assert found.error >= found.bound - 1e-9
    found = anatomy_reconstruction(release, "s0", 2)
    assert found.error == pytest.approx(float(rce_naive(case, group, None)), abs=1e-9)
