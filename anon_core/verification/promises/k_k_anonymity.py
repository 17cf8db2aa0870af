"""(k, k)-anonymity, recomputed."""

from __future__ import annotations

from anon_core.verification.consistency import check_matches
from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes


@recomputes("k-k-anonymity", forms=("whole", "averaged"))
def k_k(evidence: Evidence) -> list[Check]:
    """Both at once."""
    what = "every person fits at least {0} published rows, and every published row {0} people"
    return check_matches(evidence, what, sides=("of_people", "of_rows"))
