"""(k, 1)-anonymity, recomputed."""

from __future__ import annotations

from anon_core.verification.consistency import check_matches
from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes


@recomputes("k-one-anonymity", forms=("whole", "averaged"))
def k_one(evidence: Evidence) -> list[Check]:
    """Every published row fits at least k people of the table."""
    what = "every published row fits at least {0} people of the table"
    return check_matches(evidence, what, sides=("of_rows",))
