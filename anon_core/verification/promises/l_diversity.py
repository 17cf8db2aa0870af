"""l-diversity, recomputed."""

from __future__ import annotations

from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.limits import at_least
from anon_core.verification.registry import recomputes


# Distinct values are the same ones whether rows or people are counted.
@recomputes("l-diversity", forms=("whole", "averaged", "permuted"), counts_people=True)
def l_diversity(evidence: Evidence) -> list[Check]:
    """Every class shows at least l values of the sensitive column; a missing one is none."""
    least = evidence.integer("l")
    return [
        at_least(
            evidence,
            f"l = {least} for '{column}'",
            evidence.histogram(column).known.distinct,
            least,
            unit="values",
            column=column,
        )
        for column in evidence.columns
    ]
