"""l-diversity, recomputed."""

from __future__ import annotations

from ..evidence import Evidence
from ..findings import Check
from ..least import at_least
from ..registry import recomputes


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
