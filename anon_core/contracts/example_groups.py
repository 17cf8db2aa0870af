"""Made-up groups that a model keeps and breaks, found by asking the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.errors import Infeasible
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.model import GroupModel
from anon_core.release.private_reference import Reference, ValueCounts, reference_of
from anon_core.release.problem import Problem

#: Rows of a group, in the order in which they are tried; so many can be counted in a picture.
_SIZES = (8, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000, 2, 3, 4, 5, 6, 7)
_MOST_VALUES = 8
#: By how many rows the groups of a made-up release are larger than its smallest.
_LARGER = (0, 1, 3, 6)


@dataclass(frozen=True, kw_only=True)
class Example:
    """Groups made up for a picture, with what the privacy model says of them.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each group.
    each : tuple of bool
        Which of them keep the privacy model by themselves.
    why : str
        What the worst of them comes to next to what is asked.
    values : tuple of (str, int)
        Rows by sensitive value, in the order of the column; of one group only.
    people : tuple of int
        People of the public table in each group, where the privacy model is about them.
    """

    holds: bool
    sizes: tuple[int, ...]
    each: tuple[bool, ...]
    why: str
    values: tuple[tuple[str, int], ...] = ()
    people: tuple[int, ...] = ()


def examples(model: GroupModel, problem: Problem) -> tuple[Example | None, Example | None]:
    """Return groups that keep a model, and such that break it, differing as little as is found.

    Sensitive values are the table's, and so is what the privacy model is defined against; the
    groups are none of the table's. None where none of what is tried keeps it, or breaks it.

    Raises
    ------
    BadPlan
        Where the privacy model does not fit the table.
    """
    if model.scope.mechanism or model.private_columns():  # no group shows what they ask
        return None, None
    with suppress(Infeasible):  # what no release of the table keeps, made-up groups can
        model.check(problem)
    reference = reference_of(problem)
    model = model.by_itself()
    concerned = model.protects(problem)
    if concerned:
        return _of_values(model, reference, concerned[0])
    if model.scope.public:
        return _of_people(model, reference)
    return _of_sizes(model, reference, problem.quasi)


def _of_values(
    model: GroupModel, reference: Reference, column: str
) -> tuple[Example | None, Example | None]:
    """Return a group of sensitive values, and it with one row more of its commonest value."""
    table = reference.counts(column)
    tried = _spreads(table, model.least_size())
    good = np.flatnonzero(model.per_group(_stats(tried, column, table), reference))
    if not len(good):
        return None, _shown(model, reference, column, table, tried[:1])
    for kept in tried[good]:
        worse = _crowded(kept)
        bad = np.flatnonzero(~model.per_group(_stats(worse, column, table), reference))
        if not len(bad):  # such as one value alone
            continue
        first = int(bad[0])  # the one before it is the last that keeps the model
        return (
            _shown(model, reference, column, table, worse[first - 1 : first]),
            _shown(model, reference, column, table, worse[first : first + 1]),
        )
    return _shown(model, reference, column, table, tried[good[:1]]), None


def _spreads(table: ValueCounts, least: int) -> I64:
    """Return groups to be asked about, rows per leaf, shape (groups, leaves).

    As in the whole table, over few values alike, and the whole table itself, which keeps whatever
    compares with it.
    """
    leaves = np.flatnonzero(table.known)
    common = leaves[np.argsort(-table.known[leaves], kind="stable")][:_MOST_VALUES]
    apart = leaves[np.unique(np.linspace(0, len(leaves) - 1, _MOST_VALUES).astype(np.int64))]
    found: list[I64] = []
    for n in dict.fromkeys((*(s for s in _SIZES if s >= least), least, least + 1)):
        found.append(_as_in(table.known, n))
        for values in (common, apart) if table.number is not None else (common,):
            found += [_alike(values[:m], n, len(table.rows)) for m in range(1, len(values) + 1)]
    return np.stack([*(f for f in found if f.any()), table.rows])


def _as_in(rows: I64, n: int) -> I64:
    """Return n rows in the proportions of others; what is left goes to the largest remainders."""
    total = max(int(rows.sum()), 1)
    whole, left = np.divmod(rows * n, total)
    order = np.argsort(-left, kind="stable")[: n - int(whole.sum())]
    whole[order] += rows[order] > 0
    return whole.astype(np.int64)


def _alike(values: I64, n: int, leaves: int) -> I64:
    found = np.zeros(leaves, dtype=np.int64)
    found[values] = n // len(values)
    found[values[: n % len(values)]] += 1
    return found


def _crowded(rows: I64) -> I64:
    """Return a group as it is with more and more rows moved from its rarest value to the commonest.

    Shape (steps, leaves), the group as it is first; the last step has one value only.
    """
    now, steps = rows.copy(), [rows]
    most = int(np.argmax(now))
    moved = max(int(now.sum()) // 200, 1)
    while np.count_nonzero(now) > 1:
        others = np.flatnonzero((now > 0) & (np.arange(len(now)) != most))
        rarest = others[int(np.argmin(now[others]))]
        step = min(moved, int(now[rarest]))
        now[rarest] -= step
        now[most] += step
        steps.append(now.copy())
    return np.stack(steps)


def _stats(groups: I64, column: str, table: ValueCounts) -> GroupStats:
    group, value = np.nonzero(groups)
    counted = Histogram(
        group=group.astype(np.int64),
        value=value.astype(np.int32),
        count=groups[group, value],
        groups=len(groups),
        missing=table.missing_leaf,
    )
    return GroupStats(sizes=groups.sum(axis=1), histograms={column: counted})


def _shown(
    model: GroupModel, reference: Reference, column: str, table: ValueCounts, group: I64
) -> Example:
    stats = _stats(group, column, table)
    holds = bool(model.per_group(stats, reference)[0])
    return Example(
        holds=holds,
        sizes=(int(stats.sizes[0]),),
        each=(holds,),
        why=model.comes_to(stats, reference),
        values=tuple(
            (table.leaves[leaf], int(group[0, leaf])) for leaf in np.flatnonzero(group[0])
        ),
    )


def _of_sizes(
    model: GroupModel, reference: Reference, quasi: Sequence[str]
) -> tuple[Example | None, Example | None]:
    """Return the smallest release of a few groups that keeps the model, and one row less each."""
    least = model.least_size()
    for smallest in sorted({*range(1, 13), *range(max(least - 2, 1), least + 3)}):
        kept = _release(model, reference, quasi, smallest)
        if kept.holds:
            before = _release(model, reference, quasi, smallest - 1) if smallest > 1 else None
            return kept, before
    return None, None


def _release(
    model: GroupModel, reference: Reference, quasi: Sequence[str], smallest: int
) -> Example:
    sizes = smallest + np.array(_LARGER, dtype=np.int64)
    # No two of the groups publish the same of any column.
    cells = dict.fromkeys(quasi, np.arange(len(sizes), dtype=np.int64))
    stats = GroupStats(sizes=sizes, histograms={}, cells=cells)
    each = np.broadcast_to(model.per_group(stats, reference), sizes.shape)
    every = np.ones(len(sizes), dtype=np.bool_)
    holds = model.settle(stats, every, reference).all() if model.of_release() else each.all()
    return Example(
        holds=bool(holds),
        sizes=tuple(sizes.tolist()),
        # What is asked of all groups together no group breaks by itself.
        each=tuple((each | model.of_release()).tolist()),
        why=model.comes_to(stats, reference),
    )


def _of_people(model: GroupModel, reference: Reference) -> tuple[Example | None, Example | None]:
    """Return a group of rows and public people, and one that differs by one of either."""
    most = max(24, model.least_size() + 4)
    pairs = [(r, p) for p in range(1, most + 1) for r in range(1, min(p, 40) + 1)]
    sizes, people = (np.array(part, dtype=np.int64) for part in zip(*pairs, strict=True))
    stats = GroupStats(sizes=sizes, histograms={}, population=people)
    holds = dict(zip(pairs, model.per_group(stats, reference).tolist(), strict=True))
    for rows, among in sorted(pairs, key=lambda pair: (abs(pair[1] - 8), pair[0])):
        if not holds[rows, among]:
            continue
        for other in ((rows + 1, among), (rows, among - 1)):
            if not holds.get(other, True):
                return _counted(model, reference, rows, among), _counted(model, reference, *other)
    good = next((pair for pair in pairs if holds[pair]), None)
    bad = next((pair for pair in pairs if not holds[pair]), None)
    return (
        None if good is None else _counted(model, reference, *good),
        None if bad is None else _counted(model, reference, *bad),
    )


def _counted(model: GroupModel, reference: Reference, rows: int, people: int) -> Example:
    stats = GroupStats(
        sizes=np.array([rows]), histograms={}, population=np.array([people], dtype=np.int64)
    )
    holds = bool(model.per_group(stats, reference)[0])
    return Example(
        holds=holds,
        sizes=(rows,),
        each=(holds,),
        why=model.comes_to(stats, reference),
        people=(people,),
    )
