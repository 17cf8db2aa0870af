"""(1, k)-anonymity, recomputed."""

from __future__ import annotations

from ..consistency import check_matches
from ..evidence import Evidence
from ..findings import Check
from ..registry import recomputes


@recomputes("one-k-anonymity", forms=("whole", "averaged"))
def one_k(evidence: Evidence) -> list[Check]:
    """Every person of the table fits at least k published rows."""
    what = "every person of the table fits at least {0} published rows"
    return check_matches(evidence, what, sides=("of_people",))
