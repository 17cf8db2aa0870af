"""k-map, recomputed."""

from __future__ import annotations

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes


@recomputes("k-map", forms=("whole",), needs_public=True)
def k_map(evidence: Evidence) -> list[Check]:
    """Every published class fits at least k people of the public table."""
    k = evidence.integer("k")
    people = evidence.people_inside()
    return [
        class_check(
            evidence,
            f"k = {k}",
            people < k,
            people,
            bound=float(k),
            measured="fewest people of the public table",
        )
    ]
