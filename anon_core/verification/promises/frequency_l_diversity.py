"""Frequency l-diversity, recomputed."""

from __future__ import annotations

import numpy as np

from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.limits import at_most_shares
from anon_core.verification.persons import person_check, person_shares
from anon_core.verification.registry import recomputes


@recomputes("frequency-l-diversity", forms=("whole", "averaged", "permuted"), counts_people=True)
def frequency_l_diversity(evidence: Evidence) -> list[Check]:
    """No value fills more than 1/l of a class's rows that have one, or of the persons of these."""
    least = evidence.integer("l")
    if evidence.promise.person:
        return [_of_people(evidence, least, column) for column in evidence.columns]
    return [
        at_most_shares(evidence, evidence.histogram(column), least, column)
        for column in evidence.columns
    ]


def _of_people(evidence: Evidence, least: int, column: str) -> Check:
    found = person_shares(evidence, column)
    most = np.maximum(found.most, 1)
    return person_check(
        evidence,
        f"l = {least} of people for '{column}'",
        most * least <= found.least,  # whole numbers: no quotient decides
        found.sure,
        found.least / most,
        bound=float(least),
        measured="people for one who has the most common value",
        column=column,
    )
