"""The bound against background knowledge, recomputed."""

from __future__ import annotations

import math
from fractions import Fraction

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("background-bound", forms=("whole", "averaged", "permuted"))
def background_bound(evidence: Evidence) -> list[Check]:
    """Whichever value of a class is ruled out, none is more than factor times the others left."""
    most = evidence.number("factor", above=0)
    return [
        class_check(
            evidence,
            f"factor = {float(most):g} for '{column}'",
            *evidence.histogram(column).known.each(lambda shown: _surest(shown, most)),
            bound=float(most),
            measured="largest ratio of a value to the others left",
            worst="most",
            column=column,
        )
        for column in evidence.columns
    ]


def _surest(shown: Counts, most: Fraction) -> tuple[bool, float]:
    counts = sorted(shown.values(), reverse=True)
    found = Fraction(0) if counts else None  # a missing value is none
    # Of all that are not the most frequent, the second leaves the fewest others.
    for out in range(min(len(counts), 2)):
        left = counts[:out] + counts[out + 1 :]
        others = sum(left) - left[0] if left else 0
        found = None if found is None or not others else max(found, Fraction(left[0], others))
    if found is None:
        return False, math.inf
    return found <= most, float(found)
