"""β-likeness, recomputed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


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
        every = sum(table.values())

        def likely(
            shown: Counts, table: Mapping[Hashable, int] = table, every: int = every
        ) -> tuple[bool, float]:
            gains = _gains(shown, table, every)
            gain = max(gains.values(), default=Fraction(0))
            if enhanced and any(
                not _unsurprising(own, Fraction(rows, every)) for (_, rows), own in gains.items()
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


def _gains(
    shown: Counts, table: Mapping[Hashable, int], every: int
) -> dict[tuple[int, int], Fraction]:
    """Return the gains of values that a class makes likelier, by their rows in it and in all."""
    rows = sum(shown.values())
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    pairs = {(n, table[v]) for v, n in shown.items()}
    gains = {(n, own): Fraction(n * every, rows * own) - 1 for n, own in pairs}
    return {pair: gain for pair, gain in gains.items() if gain > 0}


def _unsurprising(gain: Fraction, share: Fraction) -> bool:
    """Say whether a gain is at most −ln of a share; the two are never equal."""
    with localcontext() as exact:
        exact.prec = 50
        limit = Decimal(share.denominator).ln() - Decimal(share.numerator).ln()
        return Decimal(gain.numerator) / Decimal(gain.denominator) <= limit
