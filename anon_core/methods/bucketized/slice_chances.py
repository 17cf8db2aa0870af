"""What permuted groups show: matching buckets, p(t, s), and every pairing they could hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.table import MISSING
from anon_core.kernels.sliced import Posteriors, Sliced, posteriors
from anon_core.release.release import BlockTable, View

_PEOPLE = 5_000  # between two looks at the cancel button


def exact_cells(view: View) -> bool:
    """Say whether every quasi-identifier is published as it is."""
    return all(np.array_equal(view.vocabularies[n].lo, view.vocabularies[n].hi) for n in view.quasi)


def matching(view: View, people: npt.NDArray[np.int32], column: str) -> Sliced:
    """Index a view of exact cells by what people show.

    Parameters
    ----------
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
            known = _known(view, block, column)
            rows = np.bincount(pair[known], block.count[known], len(first)).astype(np.int64)
            entries = _together(view, block, column, pair + pairs, known)
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
        together=count,
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


def _known(view: View, block: BlockTable, column: str) -> npt.NDArray[np.bool_]:
    """Say which entries of a block have a sensitive value."""
    present = np.array([text != MISSING for text in view.vocabularies[column].texts])
    return present[block.codes[:, block.columns.index(column)]]


def _together(
    view: View, block: BlockTable, column: str, pair: I64, known: npt.NDArray[np.bool_]
) -> tuple[I64, npt.NDArray[np.int32], I64]:
    """Count sensitive values next to each pair of a value and a bucket; pairs are ascending."""
    values = len(view.vocabularies[column].texts)
    both, entry = np.unique(
        pair[known] * values + block.codes[known, block.columns.index(column)], return_inverse=True
    )
    count = np.bincount(entry, block.count[known], len(both)).astype(np.int64)
    return both // values, (both % values).astype(np.int32), count


def sliced_posteriors(buckets: Sliced, values: int, least: int, context: Context) -> Posteriors:
    """Return max p(t, s) of everyone, and whether it is at most 1/l (Li et al. 2012).

    p(t, s) = Σ_B p(t, B)·p(s | t, B), where p(t, B) = f(t, B)/f(t), f(t, B) is the product over
    blocks of the share of B's rows that show what t shows, and p(s | t, B) the share of s among
    those of the sensitive column's block. Rows whose sensitive value is missing are left out of
    both sums.

    Parameters
    ----------
    values : int
        Number of sensitive values.
    least : int
        l.
    """
    people = len(buckets.value)
    most = np.zeros(len(buckets.group), dtype=np.int64)
    pair = np.repeat(np.arange(len(most)), np.diff(buckets.entry_start))
    np.maximum.at(most, pair, buckets.together)
    found = Posteriors(
        highest=np.zeros(people),
        state=np.ones(people, dtype=np.int8),
        worst=np.zeros(len(buckets.size)),
    )
    for first in range(0, people, _PEOPLE):
        context.check()
        last = min(first + _PEOPLE, people)
        posteriors(buckets, most, first, last, values, least, found)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """Tuples with a matching group (S-90).

    Attributes
    ----------
    original, fake : int64 arrays of shape (tuples,)
        Matching groups of each tuple that is in the table, and of each that is not.
    per_group : float64 array of shape (groups,)
        Share of a group's pairings that are in the table.
    lemma : float
        Li's lemma value Π n_i / N^d at its highest over pairings that are in the table, where n_i
        of N rows show the values of block i: the chance of one fixed row (S-85), and no bound on
        presence.
    expected : float
        Mean of Π n_i / N^(d−1) over the same: rows that show the values by chance (E-03).
    """

    original: I64
    fake: I64
    per_group: npt.NDArray[np.float64]
    lemma: float
    expected: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairings:
    """The link blocks of a permuted view; distinct lines of a group pair freely.

    Attributes
    ----------
    lines : int64 array of shape (blocks, groups)
        Distinct lines of each block in each group.
    """

    blocks: tuple[BlockTable, ...]
    lines: I64

    @property
    def total(self) -> float:
        """Pairings over all groups; as a float, since they may be astronomically many."""
        return float(np.prod(self.lines.astype(np.float64), axis=0).sum())

    def listed(self, view: View, people: FrequencySet, context: Context | None = None) -> Listed:
        """List every pairing, and tell those of the table, `people`, from the fake ones."""
        context = context or Context()
        each = self.lines.prod(axis=0)
        group = np.repeat(np.arange(len(each)), each)
        place = np.arange(len(group)) - np.repeat(np.cumsum(each) - each, each)
        columns: list[npt.NDArray[np.int32]] = []
        sizes: list[int] = []
        share = np.ones(len(group))
        for b, block in enumerate(self.blocks):
            order = np.argsort(block.group, kind="stable")
            start = np.cumsum(self.lines[b]) - self.lines[b]
            line = order[start[group] + place % self.lines[b][group]]
            place = place // self.lines[b][group]
            if any(name in view.quasi for name in block.columns):
                share *= _like(view, block)[line] / view.group_size[group]
            for c, name in enumerate(block.columns):
                context.check()
                vocabulary = view.vocabularies[name]
                shown = vocabulary.lo[block.codes[line, c]]
                true = people.codes[:, people.columns.index(name)]
                columns.append(np.concatenate([true, shown]).astype(np.int32))
                sizes.append(int(columns[-1].max(initial=0)) + 1)
        context.check()
        rank, first = dense_rank(columns, sizes)
        context.check()
        own = len(people.count)
        real = np.zeros(len(first), dtype=np.bool_)
        real[rank[:own]] = True
        # A pairing of a group is listed once: the lines of a block are distinct.
        matching = np.bincount(rank[own:], minlength=len(first)).astype(np.int64)
        true_ones = real[rank[own:]]
        here = np.bincount(group, true_ones, len(each))
        times = (share * view.group_size[group])[true_ones]
        return Listed(
            original=matching[real & (matching > 0)],
            fake=matching[~real & (matching > 0)],
            per_group=here / np.maximum(each, 1),
            lemma=float(share[true_ones].max(initial=0.0)),
            expected=float(times.mean()) if len(times) else 0.0,
        )


def pairings(view: View) -> Pairings | None:
    """Return the pairings of a view of exact cells; None where no column is permuted by itself."""
    blocks = tuple(b for b in view.blocks if b.columns)
    if len(blocks) < 2 or not exact_cells(view):
        return None
    groups = len(view.group_size)
    lines = np.stack([np.bincount(b.group, minlength=groups) for b in blocks])
    return Pairings(blocks=blocks, lines=lines.astype(np.int64))


def _like(view: View, block: BlockTable) -> I64:
    """Return, per line of a block, the rows of its group with the same quasi-identifiers."""
    places = [block.columns.index(n) for n in block.columns if n in view.quasi]
    parts = [block.group.astype(np.int32), *(block.codes[:, p] for p in places)]
    sizes = [int(p.max(initial=0)) + 1 for p in parts]
    rank, first = dense_rank(parts, sizes)
    return np.bincount(rank, block.count, len(first)).astype(np.int64)[rank]
