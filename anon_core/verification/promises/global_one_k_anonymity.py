"""Global (1, k)-anonymity, recomputed."""

from __future__ import annotations

from anon_core.verification.consistency import check_matches
from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes


@recomputes("global-one-k-anonymity", forms=("whole", "averaged"))
def global_one_k(evidence: Evidence) -> list[Check]:
    """Only matches that leave everyone else a row count."""
    what = (
        "each of at least {0} published rows is a person's in some matching of all people with "
        "all rows, for every person"
    )
    return check_matches(evidence, what, sides=("of_people",), perfect=True)
