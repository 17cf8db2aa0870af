"""Matches between the table's rows and the published ones, recomputed from the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .findings import Check, undecided
from .match import TooLarge, covering_pairs, text_runs
from .tables import PrivateTable, Promise, PublishedTable, joined
from .texts import Codes, read_cover

#: Promises about matches, by name: what must have k of them.
CONSISTENCY = {
    "one-k-anonymity": "every person of the table fits at least {} published rows",
    "k-one-anonymity": "every published row fits at least {} people of the table",
    "k-k-anonymity": (
        "every person fits at least {0} published rows, and every published row {0} people"
    ),
    "global-one-k-anonymity": (
        "each of at least {} published rows is a person's in some matching of all people with "
        "all rows, for every person"
    ),
}


def check_consistency(
    model: Mapping[str, Any],
    promise: Promise,
    release: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> Check:
    """Recompute one of the promises about matches.

    Rows of one class match each other, so classes of k rows decide by themselves; only where a
    class is smaller are matches counted.
    """
    name, k = str(model["name"]), model.get("k")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        return undecided(name, f"{name} cannot be recomputed: k is no number from 1 up.")
    classes = release.classes
    if classes is None or not release.has(promise.quasi):
        return undecided(name, f"{name} cannot be recomputed: quasi-identifiers are missing.")
    sizes = np.bincount(classes)
    reached = int(sizes.min()) if len(sizes) else k
    if reached < k and promise.averaged:
        return undecided(name, f"{name} is not decided: nobody's values fit an average for sure.")
    if reached < k:
        try:
            reached = _fewest(name, promise, release, table, levels, classes, sizes)
        except TooLarge as error:
            return undecided(name, f"{name} is not decided. {error.message}")
    what = CONSISTENCY[name].format(k)
    return Check(
        name=name,
        holds=reached >= k,
        bound=float(k),
        reached=float(reached),
        sentence=f"Recomputed from the published file: {what} (fewest {reached})."
        if reached >= k
        else f"Broken is that {what}: the fewest are {reached}.",
    )


def _fewest(
    name: str,
    promise: Promise,
    release: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    classes: Codes,
    sizes: Codes,
) -> int:
    covers = [
        read_cover(n, table.columns[n], levels.get(n), release.texts_of(n)) for n in promise.quasi
    ]
    columns = [
        text_runs(cover.runs, table.columns[n].missing + 1)
        for n, cover in zip(promise.quasi, covers, strict=True)
    ]
    first = np.unique(classes, return_index=True)[1]
    boxes = np.stack([release.codes_of(n)[first] for n in promise.quasi], axis=1)
    quasi = [table.codes(n) for n in promise.quasi]
    member, first = joined(quasi, table.rows)
    points = np.stack([codes[first] for codes in quasi], axis=1)
    point, box = covering_pairs(points, boxes, columns)
    people = np.bincount(member)
    if name == "global-one-k-anonymity":
        kept = _exchangeable(people, sizes, point, box)
        point, box = point[kept], box[kept]
    per_point = np.bincount(point, weights=sizes[box], minlength=len(people))
    per_box = np.bincount(box, weights=people[point], minlength=len(sizes))
    # A person whose row is hidden and who fits no published row is nobody's to find.
    of_people = int(per_point[per_point > 0].min(initial=table.rows)) if len(point) else 0
    of_rows = int(per_box.min(initial=table.rows))
    if name == "k-one-anonymity":
        return of_rows
    return min(of_people, of_rows) if name == "k-k-anonymity" else of_people


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
    # People whose rows are hidden, in whole or part, may change places through the start.
    spare, taken = np.flatnonzero(given < people), np.flatnonzero(given > 0)
    one = np.concatenate([point, flow.col[used], taken, np.full(len(spare), start)])
    other = np.concatenate([points + box, flow.row[used], np.full(len(taken), start), spare])
    links = csr_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(end + 1, end + 1))
    part = connected_components(links, directed=True, connection="strong")[1]
    return np.flatnonzero(part[point] == part[points + box])
