"""(k, 1)-anonymity, recomputed."""

from __future__ import annotations

from ..consistency import check_matches
from ..evidence import Evidence
from ..findings import Check
from ..registry import recomputes


@recomputes("k-one-anonymity", forms=("whole", "averaged"))
def k_one(evidence: Evidence) -> list[Check]:
    """Every published row fits at least k people of the table."""
    what = "every published row fits at least {0} people of the table"
    return check_matches(evidence, what, sides=("of_rows",))
