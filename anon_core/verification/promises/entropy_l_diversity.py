"""Entropy l-diversity, recomputed."""

from __future__ import annotations

import math
from fractions import Fraction

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("entropy-l-diversity", forms=("whole", "averaged", "permuted"))
def entropy_l_diversity(evidence: Evidence) -> list[Check]:
    """Σ p·ln p of every class is at most −ln l, in whole numbers: N^N ≥ l^N · Π c^c."""
    least = evidence.number("l", least=1)
    checks: list[Check] = []
    for column in evidence.columns:
        broken, reached = evidence.histogram(column).known.each(lambda shown: _spread(shown, least))
        what = f"entropy l = {float(least):g} for '{column}'"
        checks.append(
            class_check(
                evidence,
                what,
                broken,
                reached,
                bound=float(least),
                measured="least effective number of values",
                column=column,
            )
        )
    return checks


def _spread(shown: Counts, least: Fraction) -> tuple[bool, float]:
    """Say whether a class is spread enough, and over how many values in equal numbers it is."""
    counts = list(shown.values())
    rows = sum(counts)
    if not rows:  # a missing value is none
        return False, 1.0
    nats = -sum(n / rows * math.log(n / rows) for n in counts)
    # Far apart, logarithms decide; near each other, whole numbers.
    if abs(nats - math.log(least)) > 1e-6:
        return nats > math.log(least), math.exp(nats)
    right = least.numerator**rows * math.prod(n**n for n in counts)
    return (rows * least.denominator) ** rows >= right, math.exp(nats)
