"""(α, k)-anonymity, recomputed."""

from __future__ import annotations

from fractions import Fraction

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("alpha-k-anonymity", forms=("whole", "averaged", "permuted"))
def alpha_k_anonymity(evidence: Evidence) -> list[Check]:
    """Every class has k rows, and no value more than α of them."""
    share, least = evidence.number("alpha", above=0, most=1), evidence.integer("k")
    return [
        class_check(
            evidence,
            f"α = {float(share):g}, k = {least} for '{column}'",
            *evidence.histogram(column).each(lambda shown: _filled(shown, share, least)),
            bound=float(share),
            measured="largest share of a value",
            worst="most",
            column=column,
        )
        for column in evidence.columns
    ]


def _filled(shown: Counts, share: Fraction, least: int) -> tuple[bool, float]:
    rows = sum(shown.values())
    counts = [count for value, count in shown.items() if value is not None]
    if not counts:  # nobody's value is known
        return False, 1.0
    most, known = max(counts), sum(counts)
    return rows >= least and most <= share * known, most / known
