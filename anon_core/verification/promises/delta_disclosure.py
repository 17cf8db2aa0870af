"""δ-disclosure privacy, recomputed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from decimal import Decimal, localcontext

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("delta-disclosure", forms=("whole", "averaged", "permuted"))
def delta_disclosure(evidence: Evidence) -> list[Check]:
    """In every class |ln(q/p)| < δ for every value of the private table, the absent ones too."""
    most = evidence.number("delta", above=0)
    checks: list[Check] = []
    for column in evidence.columns:
        table = evidence.original(column)
        every = sum(table.values())

        def told(
            shown: Counts, table: Mapping[Hashable, int] = table, every: int = every
        ) -> tuple[bool, float]:
            found = _disclosed(shown, table, every)
            with localcontext() as exact:
                exact.prec = 50
                less = found is not None and found * most.denominator < most.numerator
            return less, math.inf if found is None else float(found)

        checks.append(
            class_check(
                evidence,
                f"δ = {float(most):g} for '{column}'",
                *evidence.histogram(column).each(told),
                bound=float(most),
                measured="largest |ln| of a ratio",
                worst="most",
                column=column,
            )
        )
    return checks


def _disclosed(shown: Counts, table: Mapping[Hashable, int], every: int) -> Decimal | None:
    """Return the largest |ln(q/p)| to 50 digits, None where a value is absent."""
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    if len(shown) < len(table):
        return None
    rows = sum(shown.values())
    pairs = {(shown[v], n) for v, n in table.items()}
    with localcontext() as exact:
        exact.prec = 50
        return max(abs(Decimal(own * every).ln() - Decimal(rows * n).ln()) for own, n in pairs)
