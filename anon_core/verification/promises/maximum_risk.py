"""The largest risk, recomputed."""

from __future__ import annotations

import numpy as np

from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.look_alikes import who_look_alike
from anon_core.verification.registry import recomputes


@recomputes("maximum-risk", forms=("whole", "averaged"), called="maximum risk", needs_public=True)
def maximum_risk(evidence: Evidence) -> list[Check]:
    """Every class has 1/r people, of the public table where there is one, or else rows."""
    risk = evidence.number("risk", above=0, most=1)
    alike = who_look_alike(evidence)
    # 1/N ≤ p/q exactly where N·p ≥ q.
    return [
        class_check(
            evidence,
            f"a risk of at most {float(risk):g}",
            alike * risk.numerator < risk.denominator,
            1 / np.maximum(alike, 1),
            bound=float(risk),
            measured="largest risk",
            worst="most",
        )
    ]
