"""The mean risk over all published rows, recomputed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check, named
from anon_core.verification.look_alikes import who_look_alike
from anon_core.verification.registry import recomputes


@recomputes("average-risk", forms=("whole", "averaged"), called="average risk", needs_public=True)
def average_risk(evidence: Evidence) -> list[Check]:
    """The mean of 1/N over the rows is at most r; without a public table, classes / rows."""
    risk = evidence.number("risk", above=0, most=1)
    alike = np.maximum(who_look_alike(evidence), 1)  # nobody of the public: a risk of 1
    rows: Counter[int] = Counter()
    for size, among in zip(evidence.sizes.tolist(), alike.tolist(), strict=True):
        rows[among] += size
    found = sum((Fraction(n, among) for among, n in rows.items()), Fraction(0))
    share = found / max(sum(rows.values()), 1)
    holds = share <= risk
    # No class breaks a mean by itself: those are named that raise it above what is allowed.
    above = np.array([Fraction(1, among) > risk for among in alike.tolist()], dtype=np.bool_)
    raising = evidence.grouped.table.rows_of(above[evidence.grouped.group])
    what = f"a mean risk of at most {float(risk):g}"
    return [
        Check(
            name=evidence.name,
            holds=holds,
            bound=float(risk),
            reached=float(share),
            rows=() if holds else raising.first,
            sentence=f"Recomputed from the published file: {what} holds ({float(share):.4g})."
            if holds
            else f"{what} is broken: it is {float(share):.4g}, raised by rows at more risk "
            f"{named(raising)}.",
        )
    ]
