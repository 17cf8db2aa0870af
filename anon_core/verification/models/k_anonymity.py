"""Models of how many rows, people or matches a class has: k-anonymity, k-map, bucket sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
    people_at_least,
)
from anon_core.verification.findings import Check, Rows, judged, named
from anon_core.verification.recipe import is_whole
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import tally
from anon_core.verification.rows.matching import covering
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
    if not is_whole(subsets):
        raise CannotTell("subsets is not a whole number from 0 up")
    if evidence.terms.person:
        if columns or subsets:
            raise CannotTell("it is counted in people of all quasi-identifiers only")
        what = f"k = {k:,} people"
        return [people_at_least(evidence, what, k, measured="fewest people in a class")]
    if not columns and not subsets:
        return [at_least(evidence, f"k = {k:,}", evidence.sizes, k, unit="rows")]
    chosen = columns or evidence.terms.quasi
    if subsets > len(chosen):
        raise CannotTell(f"subsets is {subsets}, and there are {len(chosen)} columns")
    reached = np.full(len(evidence.sizes), np.iinfo(np.int64).max)
    table, group = evidence.grouped.table, evidence.grouped.group
    sets = combinations(chosen, subsets or len(chosen))
    # The number of what each line shows in these columns.
    alike = [joined([table.codes_of(name) for name in own], len(group))[0] for own in sets]
    for own in alike:
        np.minimum.at(reached, group, tally(own, table.count)[own])
    evidence.settled.append(partial(_rare_left, evidence, alike, k))
    of = f"every {subsets} of {listing(chosen)}" if subsets else listing(chosen)
    return [at_least(evidence, f"k = {k:,} for {of}", reached, k, unit="rows")]


def _columns(evidence: Evidence) -> tuple[str, ...]:
    """Return the quasi-identifiers that the model names; none means all."""
    given = evidence.model.get("columns", [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise CannotTell("columns is not a list of names")
    if any(name not in evidence.terms.quasi for name in given):
        raise CannotTell("columns names a column that is not a quasi-identifier")
    return tuple(given)


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
            rare[group[tally(own, np.where(left[group], count, 0))[own] < k]] = True
        if not np.any(left & rare):
            return left != stay
        left &= ~rare


# k-map, recomputed.


@recomputes("k-map", forms=("whole",), needs_public=True)
def k_map(evidence: Evidence) -> list[Check]:
    """Every published class fits at least k people of the public table."""
    k, people = evidence.integer("k"), evidence.people_inside()
    what = "fewest people of the public table"
    return [class_check(evidence, f"k = {k:,}", people < k, people, bound=float(k), measured=what)]


# Bucket size, recomputed.


@recomputes("bucket-size", forms=("whole", "averaged", "permuted"))
def bucket_size(evidence: Evidence) -> list[Check]:
    """Every published group, or class of whole rows, has at least k rows."""
    k = evidence.integer("k")
    what = f"bucket size k = {k:,}" if evidence.form == "permuted" else f"k = {k:,}"
    return [at_least(evidence, what, evidence.sizes, k, unit="rows")]


# Matches between the table's rows and the published ones, recomputed from the texts.


def check_matches(
    evidence: Evidence, what: str, *, sides: tuple[str, ...], perfect: bool = False
) -> list[Check]:
    """Recompute one of the models about matches.

    Rows of one class match each other, so classes of k rows decide by themselves; only where a
    class is smaller are matches counted.

    Parameters
    ----------
    what : str
        What must have k matches, with ``{0}`` for k.
    sides : tuple of str
        Of `Matches`: what must reach k.
    perfect : bool
        Whether only matches count that leave everyone else a row.
    """
    k = evidence.integer("k")
    # Where whole classes are suppressed it is those that are smaller.
    evidence.failing.append(evidence.lines_of(evidence.sizes < k))
    rows = Rows()
    reached = int(evidence.sizes.min()) if len(evidence.sizes) else k
    if reached < k:
        if evidence.form == "averaged":
            raise CannotTell("an average matches no person for sure")
        matches = _fewest(evidence, k, perfect=perfect)
        reached = min(matches[side][0] for side in sides)
        rows = evidence.rows_of(np.logical_or.reduce([matches[side][1] for side in sides]))
    what = what.format(k)
    where = f" {named(rows)}" if rows else ""
    wrong = f"Broken is that {what}: the fewest are {reached}{where}."
    kept = f"Recomputed from the published file: {what} (fewest {reached})."
    found = judged(evidence.name, reached < k, wrong, kept, bound=k, reached=reached)
    return [found if found.holds else replace(found, rows=rows.first)]


def _fewest(evidence: Evidence, k: int, *, perfect: bool) -> dict[str, tuple[int, Marks]]:
    """Return the matches of who has the fewest, and the classes concerned, of people and rows."""
    terms, table, sizes = evidence.terms, evidence.private, evidence.sizes
    release = evidence.grouped.table
    runs = [table.cover(n, release.texts_of(n)).runs for n in terms.quasi]
    member, first, (point, box) = covering(
        terms.quasi, runs, table, evidence.grouped.boxes(terms.quasi)
    )
    people = tally(member, table.count, len(first))
    if perfect:
        kept = _exchangeable(people, sizes, point, box)
        point, box = point[kept], box[kept]
    per_point = np.bincount(point, weights=sizes[box], minlength=len(people))
    per_box = np.bincount(box, weights=people[point], minlength=len(sizes))
    few = (per_point > 0) & (per_point < k)
    by_few = np.bincount(box, weights=few[point], minlength=len(sizes)) > 0
    # A person whose row is suppressed and who fits no published row is nobody's to find.
    least = int(per_point[per_point > 0].min(initial=table.rows)) if len(point) else 0
    return {
        "people": (least, by_few if len(point) else np.ones(len(sizes), dtype=np.bool_)),
        "rows": (int(per_box.min(initial=table.rows)), per_box < k),
    }


def _exchangeable(people: Codes, sizes: Codes, point: Codes, box: Codes) -> Codes:
    """Return which pairs some assignment of all published rows to different people uses.

    One assignment is found as a flow. A pair that it does not use can be used by another if its box
    leads back to its point along exchanges: given-up pairs backwards, possible pairs forwards.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow

    points, boxes = len(people), len(sizes)
    start, end = points + boxes, points + boxes + 1
    tail = np.concatenate([np.full(points, start), point, points + np.arange(boxes)])
    head = np.concatenate([np.arange(points), points + box, np.full(boxes, end)])
    room = np.concatenate([people, np.minimum(people[point], sizes[box]), sizes])
    graph = csr_array((room.astype(np.int32), (tail, head)), shape=(end + 1, end + 1))
    found = maximum_flow(graph, start, end)
    if found.flow_value < sizes.sum():
        return np.empty(0, dtype=np.int64)
    flow = found.flow.tocoo()
    used = (flow.data > 0) & (flow.row < points) & (flow.col < start)
    given = np.bincount(flow.row[used], weights=flow.data[used], minlength=points)
    # People whose rows are suppressed, in whole or part, may change places through the start.
    spare, taken = np.flatnonzero(given < people), np.flatnonzero(given > 0)
    one = np.concatenate([point, flow.col[used], taken, np.full(len(spare), start)])
    other = np.concatenate([points + box, flow.row[used], np.full(len(taken), start), spare])
    links = csr_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(end + 1, end + 1))
    part = connected_components(links, directed=True, connection="strong")[1]
    return np.flatnonzero(part[point] == part[points + box])


# (k, 1)-anonymity, recomputed.


@recomputes("k-one-anonymity", forms=("whole", "averaged"))
def k_one(evidence: Evidence) -> list[Check]:
    """Every published row fits at least k people of the table."""
    what = "every published row fits at least {0} people of the table"
    return check_matches(evidence, what, sides=("rows",))


# (1, k)-anonymity, recomputed.


@recomputes("one-k-anonymity", forms=("whole", "averaged"))
def one_k(evidence: Evidence) -> list[Check]:
    """Every person of the table fits at least k published rows."""
    what = "every person of the table fits at least {0} published rows"
    return check_matches(evidence, what, sides=("people",))


# (k, k)-anonymity, recomputed.


@recomputes("k-k-anonymity", forms=("whole", "averaged"))
def k_k(evidence: Evidence) -> list[Check]:
    """Both at once."""
    what = "every person fits at least {0} published rows, and every published row {0} people"
    return check_matches(evidence, what, sides=("people", "rows"))


# Global (1, k)-anonymity, recomputed.


@recomputes("global-one-k-anonymity", forms=("whole", "averaged"))
def global_one_k(evidence: Evidence) -> list[Check]:
    """Only matches that leave everyone else a row count."""
    what = (
        "each of at least {0} published rows is a person's in some matching of all people with "
        "all rows, for every person"
    )
    return check_matches(evidence, what, sides=("people",), perfect=True)
