"""Models of how many rows or people a class has: k-anonymity, k-map, bucket sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import listing
from anon_core.verification.evidence import (
    CannotTell,
    Evidence,
    at_least,
    class_check,
    person_check,
    persons,
)
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import tally
from anon_core.verification.rows.tables import joined
from anon_core.verification.text.texts import Codes

Marks = npt.NDArray[np.bool_]


# k-anonymity, recomputed: of all quasi-identifiers, or of sets of columns.


@recomputes("k-anonymity", forms=("whole", "averaged"), counts_people=True, looks_at="quasi")
def k_anonymity(evidence: Evidence) -> list[Check]:
    """Every class has at least k rows; of sets of columns, every combination on each of them.

    Where a column tells persons apart, every class has rows of at least k of them.
    """
    k = evidence.integer("k")
    columns, subsets = _columns(evidence), evidence.model.get("subsets", 0)
    if isinstance(subsets, bool) or not isinstance(subsets, int) or subsets < 0:
        raise CannotTell("subsets is not a whole number from 0 up")
    if evidence.terms.person:
        if columns or subsets:
            raise CannotTell("it is counted in people of all quasi-identifiers only")
        return [_of_people(evidence, k)]
    if not columns and not subsets:
        return [at_least(evidence, f"k = {k}", evidence.sizes, k, unit="rows")]
    chosen = columns or evidence.terms.quasi
    if subsets > len(chosen):
        raise CannotTell(f"subsets is {subsets}, and there are {len(chosen)} columns")
    reached = np.full(len(evidence.sizes), np.iinfo(np.int64).max)
    sets = list(combinations(chosen, subsets or len(chosen)))
    alike = [_alike(evidence, names) for names in sets]
    for own in alike:
        np.minimum.at(
            reached, evidence.grouped.group, tally(own, evidence.grouped.table.count)[own]
        )
    evidence.settled.append(partial(_rare_left, evidence, alike, k))
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
    """Return the quasi-identifiers that the model names; none stands for all."""
    given = evidence.model.get("columns", [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise CannotTell("columns is not a list of names")
    if any(name not in evidence.terms.quasi for name in given):
        raise CannotTell("columns names a column that is not a quasi-identifier")
    return tuple(given)


def _alike(evidence: Evidence, names: Sequence[str]) -> Codes:
    """Return the number of what each line shows in these columns, shape (lines,)."""
    table = evidence.grouped.table
    return joined([table.codes_of(name) for name in names], len(evidence.grouped.group))[0]


def _rare_left(
    evidence: Evidence, alike: Sequence[Codes], k: int, may: Marks, stay: Marks
) -> Marks:
    """Return the classes that stay though they show what is rare, or go though they do not.

    What is rare goes until nothing is; no choice of classes without rare combinations is larger.
    """
    group, count = evidence.grouped.group, evidence.grouped.table.count
    left = may.copy()
    while True:
        rare = np.zeros_like(left)
        for own in alike:
            rows = tally(own, np.where(left[group], count, 0))[own]
            rare[group[rows < k]] = True
        if not np.any(left & rare):
            return left != stay
        left &= ~rare


# k-map, recomputed.


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


# k-map by size, recomputed.


@recomputes("bucket-size", forms=("whole", "averaged", "permuted"))
def bucket_size(evidence: Evidence) -> list[Check]:
    """Every published group, or class of whole rows, has at least k rows."""
    k = evidence.integer("k")
    what = f"bucket size k = {k}" if evidence.form == "permuted" else f"k = {k}"
    return [at_least(evidence, what, evidence.sizes, k, unit="rows")]


# The largest risk, recomputed.
