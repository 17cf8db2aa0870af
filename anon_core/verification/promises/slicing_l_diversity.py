"""Slicing's l-diversity, recomputed."""

from __future__ import annotations

import numpy as np

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.findings import Check
from anon_core.verification.limits import at_most_shares
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Block, Grouped, blocks, coded, sets_are_formed
from anon_core.verification.rows.sliced import Shown, check_posteriors


@recomputes("slicing-l-diversity", forms=("whole", "averaged", "permuted"))
def slicing_l_diversity(evidence: Evidence) -> list[Check]:
    """No sensitive value is likelier than 1/l over all groups a person may be in."""
    least = evidence.integer("l")
    if evidence.others_known:
        raise CannotTell("it is not defined against who knows other sensitive values")
    if evidence.form == "permuted":
        return [_check(evidence, least, column) for column in evidence.columns]
    # Of whole rows this is what is enough: a mean over classes stays below.
    return [
        at_most_shares(evidence, evidence.histogram(column), least, column)
        for column in evidence.columns
    ]


def _check(evidence: Evidence, least: int, column: str) -> Check:
    evidence.refuse_not_sensitive(column)
    promise, table = evidence.promise, evidence.private
    if any(part.table.rows != table.rows for part in evidence.parts.values()):
        raise CannotTell("not every row is published")
    source = evidence.part_of(column)
    if sets_are_formed(promise) or promise.coarsened:
        # Which quasi-identifiers stay linked is not told, or cells are coarse: each group has to
        # keep it by itself.
        return at_most_shares(evidence, source.histogram(column), least, column)
    values, keys = source.table.keyed(column)
    known = np.array([key is not None for key in keys], dtype=np.bool_)[values]
    own = next((b for b in blocks(promise) if column in b), ())
    star = _shown(evidence, tuple(n for n in own if n in promise.quasi), source)
    others = [
        _shown(evidence, tuple(n for n in block if n in promise.quasi), source)
        for block in blocks(promise)
        if block != own and any(n in promise.quasi for n in block)
    ]
    found = check_posteriors(least, star, np.where(known, values, -1), others, source.sizes)
    return Check(
        name=evidence.name,
        holds=not found.broken,
        bound=float(least),
        reached=1.0 / found.worst if found.worst else float(least),
        column=column,
        sentence=f"l = {least} for '{column}' is broken: over all groups a person may be in, a "
        f"value has a chance of {found.worst:.3g}, above 1/{least}."
        if found.broken
        else f"Recomputed from the published file: over all groups a person may be in, no value of "
        f"'{column}' is likelier than 1/{least} ({found.worst:.3g} at most).",
    )


def _shown(evidence: Evidence, quasi: Block, source: Grouped) -> Shown:
    if not quasi:
        return Shown(
            own=np.zeros(len(evidence.private), np.int64),
            shown=np.zeros(len(source.table), np.int64),
            group=source.group,
            count=source.table.count,
        )
    own, shown, found = coded(quasi, evidence.parts, evidence.private)
    return Shown(own=own, shown=shown, group=found.group, count=found.table.count)
