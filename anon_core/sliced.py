"""What a sliced table tells of a sensitive value: matching buckets of people, and p(t, s)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .context import Context
from .frequency import dense_rank
from .kernels.sliced import posteriors
from .release import BlockTable, View

I64 = npt.NDArray[np.int64]
_PEOPLE = 5_000  # between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class Sliced:
    """A sliced table from the people's side: which buckets publish what each of them shows.

    Attributes
    ----------
    value : int64 array of shape (people, blocks)
        Number of what a person shows in each block, over all blocks; -1 where no bucket has it.
    star : int
        Block of the sensitive column; without quasi-identifiers it has one value that all show.
    value_start : int64 array of shape (values + 1,)
    group, rows : int64 arrays of shape (pairs,)
        Buckets that publish each value, ascending, and in how many rows.
    size : int64 array of shape (buckets,)
    entry_start : int64 array of shape (pairs + 1,)
    sensitive : int32 array of shape (entries,), count : int64 array of shape (entries,)
        Sensitive values beside a value in a bucket, and their rows.
    """

    value: I64
    star: int
    value_start: I64
    group: I64
    rows: I64
    size: I64
    entry_start: I64
    sensitive: npt.NDArray[np.int32]
    count: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Posteriors:
    """What a sliced table tells of people.

    Attributes
    ----------
    highest : float64 array of shape (people,)
        max p(t, s) over sensitive values s; 0 where no bucket matches.
    state : int8 array of shape (people,)
        1 where p(t, s) ≤ 1/l for all s, -1 where one is above, 0 where it was not decided. Found
        in whole numbers wherever a quotient comes near to 1/l.
    worst : float64 array of shape (buckets,)
        Highest `highest` of anyone who matches the bucket.
    """

    highest: npt.NDArray[np.float64]
    state: npt.NDArray[np.int8]
    worst: npt.NDArray[np.float64]


def exact_cells(view: View) -> bool:
    """Say whether every quasi-identifier is published as it is."""
    return all(np.array_equal(view.vocabularies[n].lo, view.vocabularies[n].hi) for n in view.quasi)


def matching(view: View, people: npt.NDArray[np.int32], column: str) -> Sliced:
    """Index a view of exact cells by what people show.

    Parameters
    ----------
    view : View
    people : int32 array of shape (people, quasi)
        Leaf numbers of the quasi-identifiers.
    column : str
        The sensitive column; not a quasi-identifier.
    """
    groups = len(view.group_size)
    own = view.block_of(column)
    value: list[I64] = []
    star, pairs, values = 0, 0, 0
    starts: list[I64] = []
    lists: list[tuple[I64, I64]] = []
    entries: tuple[I64, npt.NDArray[np.int32], I64] | None = None
    for block in view.blocks:
        quasi = [n for n in block.columns if n in view.quasi]
        if not quasi and block is not own:
            continue
        theirs, shown, size = _numbered(view, block, quasi, people)
        pair, first = dense_rank([shown, block.group.astype(np.int32)], [size, groups])
        rows = np.bincount(pair, block.count, len(first)).astype(np.int64)
        begin = np.searchsorted(shown[first], np.arange(size + 1)).astype(np.int64)
        published = np.diff(begin) > 0
        value.append(np.where(published[theirs], theirs + values, -1))
        if block is own:
            star = len(lists)
            entries = _beside(view, block, column, pair + pairs)
        starts.append(begin[:-1] + pairs)
        lists.append((block.group[first], rows))
        pairs, values = pairs + len(first), values + size
    assert entries is not None
    at, sensitive, count = entries
    return Sliced(
        value=np.ascontiguousarray(np.stack(value, axis=1)),
        star=star,
        value_start=np.concatenate([*starts, [pairs]]).astype(np.int64),
        group=np.concatenate([g for g, _ in lists]),
        rows=np.concatenate([r for _, r in lists]),
        size=view.group_size,
        entry_start=np.searchsorted(at, np.arange(pairs + 1)).astype(np.int64),
        sensitive=sensitive,
        count=count,
    )


def _numbered(
    view: View, block: BlockTable, quasi: Sequence[str], people: npt.NDArray[np.int32]
) -> tuple[I64, npt.NDArray[np.int32], int]:
    """Number what people show in a block and what it publishes alike, from 0."""
    columns: list[npt.NDArray[np.int32]] = [np.zeros(len(people) + len(block.group), np.int32)]
    sizes = [1]
    for name in quasi:
        vocabulary = view.vocabularies[name]
        shown = vocabulary.lo[block.codes[:, block.columns.index(name)]]
        columns.append(np.concatenate([people[:, view.quasi.index(name)], shown]))
        sizes.append(int(columns[-1].max(initial=0)) + 1)
    rank, first = dense_rank(columns, sizes)
    return rank[: len(people)], rank[len(people) :].astype(np.int32), len(first)


def _beside(
    view: View, block: BlockTable, column: str, pair: I64
) -> tuple[I64, npt.NDArray[np.int32], I64]:
    """Count sensitive values beside each pair of a value and a bucket; pairs are ascending."""
    values = len(view.vocabularies[column].texts)
    both, entry = np.unique(
        pair * values + block.codes[:, block.columns.index(column)], return_inverse=True
    )
    count = np.bincount(entry, block.count, len(both)).astype(np.int64)
    return both // values, (both % values).astype(np.int32), count


def sliced_posteriors(buckets: Sliced, values: int, least: int, context: Context) -> Posteriors:
    """Return max p(t, s) of everyone, and whether it is at most 1/l (Li et al. 2012).

    p(t, s) = Σ_B p(t, B)·p(s | t, B), where p(t, B) = f(t, B)/f(t), f(t, B) is the product over
    blocks of the share of B's rows that show what t shows, and p(s | t, B) the share of s among
    those of the sensitive column's block.

    Parameters
    ----------
    buckets : Sliced
    values : int
        Number of sensitive values.
    least : int
        l.
    context : Context
    """
    people = len(buckets.value)
    most = np.zeros(len(buckets.group), dtype=np.int64)
    beside = np.repeat(np.arange(len(most)), np.diff(buckets.entry_start))
    np.maximum.at(most, beside, buckets.count)
    highest = np.zeros(people)
    state = np.ones(people, dtype=np.int8)
    worst = np.zeros(len(buckets.size))
    for first in range(0, people, _PEOPLE):
        context.check()
        posteriors(
            buckets.value,
            first,
            min(first + _PEOPLE, people),
            buckets.star,
            buckets.value_start,
            buckets.group,
            buckets.rows,
            buckets.size,
            buckets.entry_start,
            buckets.sensitive,
            buckets.count,
            most,
            values,
            least,
            highest,
            state,
            worst,
        )
    return Posteriors(highest=highest, state=state, worst=worst)
