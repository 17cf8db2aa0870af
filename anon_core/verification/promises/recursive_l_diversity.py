"""Recursive (c, l)-diversity, recomputed."""

from __future__ import annotations

import math
from fractions import Fraction

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("recursive-l-diversity", forms=("whole", "averaged", "permuted"))
def recursive_l_diversity(evidence: Evidence) -> list[Check]:
    """In every class the commonest value has fewer rows than c times those from the l-th on."""
    factor, first = evidence.number("c", above=0), evidence.integer("l")
    return [
        class_check(
            evidence,
            f"recursive c = {float(factor):g}, l = {first} for '{column}'",
            *evidence.histogram(column).known.each(lambda shown: _compared(shown, factor, first)),
            bound=float(factor),
            measured="largest ratio of the commonest to the rare values",
            worst="most",
            column=column,
        )
        for column in evidence.columns
    ]


def _compared(shown: Counts, factor: Fraction, first: int) -> tuple[bool, float]:
    counts = sorted(shown.values(), reverse=True)
    if not counts:  # a missing value is none
        return False, math.inf
    rare = sum(counts[first - 1 :])
    return counts[0] < factor * rare, counts[0] / rare if rare else math.inf
