"""Bucket size, recomputed."""

from __future__ import annotations

from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check
from anon_core.verification.limits import at_least
from anon_core.verification.registry import recomputes


@recomputes("bucket-size", forms=("whole", "averaged", "permuted"))
def bucket_size(evidence: Evidence) -> list[Check]:
    """Every published group, or class of whole rows, has at least k rows."""
    k = evidence.integer("k")
    what = f"bucket size k = {k}" if evidence.form == "permuted" else f"k = {k}"
    return [at_least(evidence, what, evidence.sizes, k, unit="rows")]
