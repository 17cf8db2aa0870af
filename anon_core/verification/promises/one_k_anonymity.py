"""(1, k)-anonymity, recomputed."""

from __future__ import annotations

from anon_core.verification.consistency import check_matches
from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes


@recomputes("one-k-anonymity", forms=("whole", "averaged"))
def one_k(evidence: Evidence) -> list[Check]:
    """Every person of the table fits at least k published rows."""
    what = "every person of the table fits at least {0} published rows"
    return check_matches(evidence, what, sides=("of_people",))
