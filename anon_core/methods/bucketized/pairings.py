"""What permuted groups could hold: every pairing of what their link blocks show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.methods.bucketized.slice_chances import exact_cells
from anon_core.release.release import BlockTable, View


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
    blocks : tuple of BlockTable
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
