"""Slicing's own groups: cuts that keep everyone l-diverse over all groups together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import NotFound
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Grouping, Partitioner, buckets_of_rows
from anon_core.data.frequency import dense_rank
from anon_core.data.values.kinds import KINDS
from anon_core.kernels.cuts import Limits
from anon_core.kernels.tuple_partition import (
    Axes,
    Meetings,
    People,
    Progress,
    Runs,
    tuple_partition,
)
from anon_core.methods.partition.leading_share import mended
from anon_core.methods.partition.mondrian_cuts import (
    limits,
    normalized_positions,
    refuse_unlimited,
    refuse_whole,
    rows_of_keys,
    sensitive_codes,
)
from anon_core.release.problem import Problem
from anon_core.release.release import Block

# Slicing's tuple partition: what its kernel works on, made from the table and the column sets.


_WORK = 5_000_000  # row visits between two looks at the cancel button


def diverse_buckets(
    problem: Problem, models: Sequence[GroupModel], blocks: Sequence[Block], context: Context
) -> Buckets:
    """Cut the table into buckets over which everyone is l-diverse (Li et al. 2012).

    Buckets are cut in two in the order they were made, at the median of the widest attribute as in
    Mondrian, relaxed where the attribute has an order. A cut is accepted where every model that
    looks at groups holds in both halves, and where p(t, s) ≤ 1/l still holds for everyone over all
    buckets together (Toth 2015, algorithms 3 and 4; p = 1/l is accepted, E-12).

    Parameters
    ----------
    blocks : sequence of tuples of str
        The column sets; empty where they are not given, so that l-diversity over all buckets is
        held to what is enough in each of them.

    Raises
    ------
    Infeasible
        If the whole table as one bucket does not keep the privacy models.
    """
    over_all: dict[str, int] = {}
    by_group: list[GroupModel] = []
    for model in models:
        share = model.sliced_share(problem) if blocks else {}
        for name, least in share.items():
            over_all[name] = max(least, over_all.get(name, 0))
        if not share:
            by_group.append(model)
    if over_all:
        refuse_unlimited(by_group, "The partition of tuples")
    refuse_whole(problem, by_group)
    limited = [model for model in by_group if model.logic.by_limits]
    frequency = problem.frequency
    key = context.generator.permutation(rows_of_keys(problem))
    people = _people(problem, blocks, over_all, key)
    if over_all:
        _refuse_one_bucket(people, list(over_all))
    watched, distinct, share = limits(problem, limited)
    extra = [frequency.columns.index(name) for name in watched]
    hierarchies = problem.quasi_hierarchies
    leaves = np.array([len(h.leaves) for h in hierarchies], dtype=np.int64)
    rows, tuples = len(key), len(people.value)
    axes = Axes(
        codes=np.ascontiguousarray(frequency.codes[key, : len(problem.quasi)]),
        position=np.concatenate([normalized_positions(h) for h in hierarchies]),
        place_of=(np.cumsum(leaves) - leaves).astype(np.int64),
        missing=np.array(
            [len(h.leaves) - 1 if h.has_missing else -1 for h in hierarchies], np.int64
        ),
        relaxed=np.array(
            [KINDS[problem.dataset.column(h.column).kind].ordered for h in hierarchies], np.bool_
        ),
    )
    each = Limits(
        least=max((m.least_size() for m in by_group), default=1),
        sensitive=sensitive_codes(problem, watched, frequency.codes[key][:, extra]),
        distinct=distinct,
        share=share,
    )
    order = np.arange(rows, dtype=np.int64)
    runs = np.empty((2 * rows, 2), dtype=np.int64)
    runs[0] = 0, rows
    final = np.zeros(2 * rows, dtype=np.bool_)
    meetings = _all_in_one(people, rows)
    progress = Progress(next_=0, made=1, used=tuples)
    work = 1 if context.listening else _WORK  # one bucket at a time for a listener
    if context.listening:
        context.event("tuples", keys=key)
    while progress.next_ < progress.made:
        share_done = int(final[: progress.next_].sum()) / progress.made
        context.report(share_done, "Cutting buckets")
        looked_at = progress.next_
        progress, room = tuple_partition(
            axes, Runs(order, runs, final), each, people, meetings, progress, work
        )
        if context.listening and progress.next_ > looked_at:
            _tell(context, order, runs, looked_at, progress.made, whole=bool(final[looked_at]))
        if not room:
            meetings = meetings._replace(
                node=np.concatenate([meetings.node, np.empty_like(meetings.node)]),
                node_rows=np.concatenate([meetings.node_rows, np.empty_like(meetings.node_rows)]),
            )
    done = runs[np.flatnonzero(final[: progress.made])]
    done = done[np.argsort(done[:, 0])]
    group = np.empty(rows, dtype=np.int64)
    group[order] = np.repeat(np.arange(len(done)), done[:, 1] - done[:, 0])
    # Where no limits describe a privacy model, groups that break it are merged.
    return mended(problem, by_group, buckets_of_rows(key, group), context)


def _tell(context: Context, order: I64, runs: I64, bucket: int, made: int, *, whole: bool) -> None:
    """Tell of a bucket that was looked at, and of the halves where it was cut."""
    start, stop = runs[bucket].tolist()
    context.event("part", tuples=order[start:stop].copy())
    if not whole:
        halves = [order[start:stop].copy() for start, stop in runs[made - 2 : made].tolist()]
        context.event("cut", pieces=halves)


def _people(
    problem: Problem, blocks: Sequence[Block], over_all: dict[str, int], key: I64
) -> People:
    frequency = problem.frequency
    rows = len(key)
    columns: list[npt.NDArray[np.int32]] = []
    star: list[int] = []
    value: list[I64] = []
    values = 0
    for block in blocks:
        mine = [name for name in over_all if name in block]
        quasi = [problem.quasi.index(name) for name in block if name in problem.quasi]
        if not over_all or not (mine or quasi):
            continue
        star += [len(value)] * len(mine)
        parts = [np.zeros(rows, np.int32), *(frequency.codes[key, d] for d in quasi)]
        sizes = [1, *(len(problem.quasi_hierarchies[d].leaves) for d in quasi)]
        rank, found = dense_rank(parts, sizes)
        columns.append(rank.astype(np.int32))
        value.append(rank + values)
        values += len(found)
    watched = [name for block in blocks for name in over_all if name in block]
    codes = frequency.codes[key][:, [frequency.columns.index(n) for n in watched]]
    pair = np.empty((rows, len(watched)), dtype=np.int64)
    pairs = 0
    for j in range(len(watched)):
        shown = columns[star[j]]
        rank, found = dense_rank(
            [shown, codes[:, j]], [int(shown.max()) + 1, int(codes[:, j].max()) + 1]
        )
        absent = codes[:, j] == problem.hierarchies[watched[j]].missing_leaf
        pair[:, j] = np.where(absent, -1, rank + pairs)
        codes[absent, j] = -1
        pairs += len(found)
    sizes = [int(c.max()) + 1 for c in columns]
    tuple_of, one = dense_rank(columns, sizes) if columns else (np.zeros(rows, np.int64), key[:0])
    every = np.stack(value, axis=1)[one] if value else np.empty((0, 0), np.int64)
    return People(
        tuple_of=tuple_of,
        value=np.ascontiguousarray(every),
        pair=pair,
        sensitive=np.ascontiguousarray(codes.astype(np.int32)),
        star=np.array(star, dtype=np.int64),
        least=np.array([over_all[n] for n in watched], dtype=np.int64),
        values=max(values, 1),
        pairs=max(pairs, 1),
    )


def _refuse_one_bucket(people: People, names: Sequence[str]) -> None:
    """Refuse what the whole table as one bucket does not keep: cutting starts from there."""
    for j in range(len(people.star)):
        shown = people.value[people.tuple_of, people.star[j]]
        here = np.bincount(shown, minlength=people.values) > 0
        known = people.pair[:, j] >= 0
        shown, pair = shown[known], people.pair[known, j]
        size = np.bincount(shown, minlength=people.values)
        count = np.bincount(pair, minlength=people.pairs)
        owner = np.zeros(people.pairs, dtype=np.int64)
        owner[pair] = shown
        top = np.ones(people.values, dtype=np.int64)
        np.maximum.at(top, owner, count)
        if np.any((top * people.least[j] > size)[here]):
            largest = int((size[here] // top[here]).min())
            raise NotFound(
                f"Not found: the whole table as one bucket, where cuts begin, is not "
                f"{people.least[j]}-diverse for everyone on "
                f"{' or '.join(repr(n) for n in names)}: some quasi-identifiers linked to it have "
                "rows with one value too often.",
                remedy=f"Choose l of at most {largest}."
                if largest > 1
                else "Link the sensitive column with fewer or coarser columns, or with none.",
                best=float(largest),
                best_of="largest l",
            )


def _all_in_one(people: People, rows: int) -> Meetings:
    """Return the meetings of everyone with the one bucket that holds all rows."""
    tuples = len(people.value)
    head = np.full(2 * rows, -1, dtype=np.int64)
    head[0] = 0 if tuples else -1
    node = np.full((2 * tuples + 16, 5), -1, dtype=np.int64)
    node_rows = np.zeros((len(node), people.value.shape[1]), dtype=np.int64)
    node[:tuples, 0] = np.arange(tuples)
    node[:tuples, 1] = 0
    node[:tuples, 2] = np.arange(1, tuples + 1)
    node[:tuples, 4] = 0
    if tuples:
        node[tuples - 1, 2] = -1
        shown = np.zeros(people.values, dtype=np.int64)
        for b in range(people.value.shape[1]):
            shown += np.bincount(people.value[people.tuple_of, b], minlength=people.values)
        node_rows[:tuples] = shown[people.value]
    return Meetings(
        head=head,
        first=np.arange(tuples, dtype=np.int64),
        node=node,
        node_rows=node_rows,
        bad=np.zeros(tuples, dtype=np.int64),
    )


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class TuplePartition(Partitioner):
    """Binary relaxed cuts with the diversity check over all buckets (Li et al. 2012)."""

    name: ClassVar[str] = "tuple-partition"
    title: ClassVar[str] = "Slicing's tuple partition"
    summary: ClassVar[str] = (
        "Halves groups like Mondrian, while no person's sensitive value becomes likelier than 1 "
        "in l over all groups the person may be in. Sensitive columns may stay linked."
    )
    formula: ClassVar[str] = (
        "a cut is accepted if max p(t, s) ≤ 1/l over all t and s; p(t, s) = Σ_B p(t, B)·p(s | t, B)"
    )
    source: ClassVar[str] = (
        "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236; Toth 2015, algorithms 3 and 4"
    )
    from_counts: ClassVar[bool] = True
    way: ClassVar[Grouping] = Grouping(sees_links=True)

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        return diverse_buckets(problem, models, (), context)

    def split_linked(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        blocks: Sequence[tuple[str, ...]],
        context: Context,
    ) -> Buckets:
        """Form the groups; see `Partitioner.split_linked`."""
        return diverse_buckets(problem, models, blocks, context)
