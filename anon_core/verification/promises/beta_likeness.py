"""β-likeness, recomputed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction

from ..evidence import CannotTell, Evidence, class_check
from ..findings import Check
from ..histogram import Counts
from ..registry import recomputes


@recomputes("beta-likeness", forms=("whole", "averaged", "permuted"))
def beta_likeness(evidence: Evidence) -> list[Check]:
    """No value's share grows from the private table to a class by more than β of itself.

    Enhanced, nor by more than −ln of its share in the private table.
    """
    most, enhanced = evidence.number("beta", above=0), evidence.model.get("enhanced", True)
    if not isinstance(enhanced, bool):
        raise CannotTell("enhanced is neither true nor false")
    checks: list[Check] = []
    for column in evidence.columns:
        table = evidence.original(column)

        def likely(shown: Counts, table: Mapping[Hashable, int] = table) -> tuple[bool, float]:
            gains = _gains(shown, table)
            gain = max(gains.values(), default=Fraction(0))
            every = sum(table.values())
            if enhanced and any(
                not _unsurprising(g, Fraction(table[v], every)) for v, g in gains.items()
            ):
                return False, math.inf
            return gain <= most, float(gain)

        checks.append(
            class_check(
                evidence,
                f"β = {float(most):g} for '{column}'",
                *evidence.histogram(column).each(likely),
                bound=float(most),
                measured="largest gain",
                worst="most",
                column=column,
            )
        )
    return checks


def _gains(shown: Counts, table: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    """Return the gain of every value that a class makes likelier."""
    rows, every = sum(shown.values()), sum(table.values())
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    gains = {v: Fraction(n * every, rows * table[v]) - 1 for v, n in shown.items()}
    return {v: gain for v, gain in gains.items() if gain > 0}


def _unsurprising(gain: Fraction, share: Fraction) -> bool:
    """Say whether a gain is at most −ln of a share; the two are never equal."""
    with localcontext() as exact:
        exact.prec = 50
        limit = Decimal(share.denominator).ln() - Decimal(share.numerator).ln()
        return Decimal(gain.numerator) / Decimal(gain.denominator) <= limit
