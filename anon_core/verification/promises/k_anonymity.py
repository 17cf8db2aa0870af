"""k-anonymity, recomputed: of all quasi-identifiers, or of sets of columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from anon_core.base.errors import listing
from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.findings import Check
from anon_core.verification.limits import at_least
from anon_core.verification.persons import person_check, persons
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import tally
from anon_core.verification.rows.tables import joined
from anon_core.verification.text.texts import Codes


@recomputes("k-anonymity", forms=("whole", "averaged"), counts_people=True, looks_at="quasi")
def k_anonymity(evidence: Evidence) -> list[Check]:
    """Every class has at least k rows; of sets of columns, every combination on each of them.

    Where a column tells persons apart, every class has rows of at least k of them.
    """
    k = evidence.integer("k")
    columns, subsets = _columns(evidence), evidence.model.get("subsets", 0)
    if isinstance(subsets, bool) or not isinstance(subsets, int) or subsets < 0:
        raise CannotTell("subsets is no whole number from 0 up")
    if evidence.promise.person:
        if columns or subsets:
            raise CannotTell("it is counted in people of all quasi-identifiers only")
        return [_of_people(evidence, k)]
    if not columns and not subsets:
        return [at_least(evidence, f"k = {k}", evidence.sizes, k, unit="rows")]
    chosen = columns or evidence.promise.quasi
    if subsets > len(chosen):
        raise CannotTell(f"subsets is {subsets}, and there are {len(chosen)} columns")
    reached = np.full(len(evidence.sizes), np.iinfo(np.int64).max)
    for names in combinations(chosen, subsets or len(chosen)):
        np.minimum.at(reached, evidence.grouped.group, _rows_alike(evidence, names))
    of = f"every {subsets} of {listing(chosen)}" if subsets else listing(chosen)
    return [at_least(evidence, f"k = {k} for {of}", reached, k, unit="rows")]


def _of_people(evidence: Evidence, k: int) -> Check:
    found = persons(evidence)
    return person_check(
        evidence,
        f"k = {k} people",
        found.least >= k,
        found.sure,
        found.least.astype(float),
        bound=float(k),
        measured="fewest people in a class",
    )


def _columns(evidence: Evidence) -> tuple[str, ...]:
    """Return the quasi-identifiers that the promise names; none stands for all."""
    given = evidence.model.get("columns", [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise CannotTell("columns is no list of names")
    if any(name not in evidence.promise.quasi for name in given):
        raise CannotTell("columns names what is no quasi-identifier")
    return tuple(given)


def _rows_alike(evidence: Evidence, names: Sequence[str]) -> Codes:
    """Return, of every line, how many rows show what it shows in these columns."""
    table = evidence.grouped.table
    alike, _ = joined([table.codes_of(name) for name in names], len(evidence.grouped.group))
    return tally(alike, table.count)[alike]
