"""Published rows that someone of whom some columns are known could be behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context, silent
from anon_core.data.frequency import dense_rank
from anon_core.methods.matching.fitting_rows import rows_fitting
from anon_core.methods.reidentification.register import Register
from anon_core.release.release import BlockTable, View

_CHUNK = 128  # people compared with permuted groups at a time
_PAIRS = 1 << 24  # people and lines compared at a time
Chosen = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What is known of some people.

    Attributes
    ----------
    codes : int32 array of shape (people, quasi)
        Leaf numbers as the attacker has them, which may be wrong.
    true : int32 array of shape (people, quasi)
        As they are.
    group : int64 array of shape (people,), or None
        Where the person's row is, as the view numbers groups; -1 where it is not published.
        None where all that is known is right, so that the own row fits wherever it is.
    tolerance : float
        How far off the attacker takes numbers to be at most.
    own : tuple of int64 arrays of shape (entries,), or None
        Where one person has several rows: place of the person among these, class and number of
        their rows in it. Else None.
    """

    codes: I32
    true: I32
    group: I64 | None = None
    tolerance: float = 0.0
    own: tuple[I64, I64, I64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Rows that people could be behind, by set of known columns.

    Attributes
    ----------
    rows : int64 array of shape (sets, people)
    held : float64 array of shape (sets, people)
        Chance that the person's own row is among them; where one has several, how many are.
    """

    rows: I64
    held: F64


def candidates(
    view: View, register: Register, known: Known, sets: Sequence[Chosen], context: Context
) -> Candidates:
    """Return the rows that fit what is known, for every set of known columns.

    Where all quasi-identifiers are in one link block, they are the rows whose cells cover what is
    known. Where they are permuted separately, a row represents no person; then they are the rows of
    the groups that can hold the person: in every block some line of the group covers what is known.

    Parameters
    ----------
    sets : sequence of tuple of int
        Places of columns among the quasi-identifiers.
    """
    blocks = [b for b in view.blocks if any(n in view.quasi for n in b.columns)]
    tables = [_Cells(view, register, block, known.tolerance) for block in blocks]
    if len(blocks) == 1:
        return _of_whole_rows(tables[0], known, sets, context)
    return _of_groups(view, tables, known, sets, context)


class _Cells:
    """The lines of a block as ranges of leaves, widened by what numbers may be off by."""

    def __init__(self, view: View, register: Register, block: BlockTable, tolerance: float) -> None:
        names = [n for n in block.columns if n in view.quasi]
        place = [block.columns.index(n) for n in names]
        parts = [block.group.astype(np.int32), *(block.codes[:, p] for p in place)]
        rank, first = dense_rank(parts, [int(p.max(initial=0)) + 1 for p in parts])
        self.columns = tuple(register.columns.index(n) for n in names)
        self.group = block.group[first]
        self.rows = np.bincount(rank, block.count, len(first)).astype(np.int64)
        covers = {n: register.widened(view.vocabularies[n], tolerance) for n in names}
        shown: Mapping[str, I32] = {
            n: block.codes[first, p] for n, p in zip(names, place, strict=True)
        }
        self.exact_low = self._ends(
            shown, {n: register.cover(view.vocabularies[n]) for n in names}, 0
        )
        self.exact_high = self._ends(
            shown, {n: register.cover(view.vocabularies[n]) for n in names}, 1
        )
        self.low, self.high = self._ends(shown, covers, 0), self._ends(shown, covers, 1)

    def _ends(
        self, shown: Mapping[str, I32], covers: Mapping[str, tuple[I32, I32]], end: int
    ) -> I32:
        return np.stack([covers[n][end][codes] for n, codes in shown.items()], axis=1)

    def among(self, chosen: Chosen) -> list[int]:
        """Return the places of the known columns in this block."""
        return [i for i, d in enumerate(self.columns) if d in chosen]


def _of_whole_rows(
    cells: _Cells, known: Known, sets: Sequence[Chosen], context: Context
) -> Candidates:
    rows = np.zeros((len(sets), len(known.codes)), dtype=np.int64)
    held = np.ones(rows.shape)
    own = None if known.group is None else _lines_of_groups(cells, known.group)
    quiet = Context(cancel=context.cancel, progress=silent, generator=context.generator)
    for number, chosen in enumerate(sets):
        context.report(number / len(sets), "Joining the register")
        here = cells.among(chosen)
        low, high = cells.low[:, here], cells.high[:, here]
        rank, first = dense_rank(
            [*low.T, *high.T], [int(c.max(initial=0)) + 1 for c in (*low.T, *high.T)]
        )
        sizes = np.bincount(rank, cells.rows, len(first)).astype(np.int64)
        codes = known.codes[:, [cells.columns[i] for i in here]]
        # What no cell can cover is beyond the last leaf of any.
        codes = np.where(codes < 0, high.max(initial=0) + np.int32(1), codes).astype(np.int32)
        _, one, back = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        people = np.ascontiguousarray(codes[one])
        fit = rows_fitting(people, low[first], high[first], sizes, quiet)
        if fit is None:  # nobody, nothing, or too much: as few as can be, so none looks safer
            fit = np.ones(len(people), dtype=np.int64)
        rows[number] = fit[back.ravel()]
        if known.own is not None:
            held[number] = _own_rows(cells, known, chosen, known.own)
        elif own is not None:
            held[number] = _held(cells, known, chosen, own)
    return Candidates(rows=rows, held=held)


def _lines_of_groups(cells: _Cells, group: I64) -> tuple[I64, I64]:
    """Return the pairs of a person and a line of their group."""
    start = np.searchsorted(cells.group, group)
    number = np.searchsorted(cells.group, group, side="right") - start
    person = np.repeat(np.arange(len(group)), number)
    step = np.arange(len(person)) - np.repeat(np.cumsum(number) - number, number)
    return person, start[person] + step


def _held(cells: _Cells, known: Known, chosen: Chosen, own: tuple[I64, I64]) -> F64:
    """Return how likely the own row is among those that fit: of its group's, it fits the truth."""
    person, line = own
    every, here = list(range(len(cells.columns))), cells.among(chosen)
    true = known.true[:, list(cells.columns)][person]
    codes = known.codes[:, list(cells.columns)][person]
    could = _inside(cells.exact_low[line], cells.exact_high[line], true, every)
    fits = could & _inside(cells.low[line], cells.high[line], codes, here)
    people = len(known.codes)
    all_rows = np.bincount(person[could], cells.rows[line[could]], people)
    fit_rows = np.bincount(person[fits], cells.rows[line[fits]], people)
    return fit_rows / np.maximum(all_rows, 1)


def _own_rows(cells: _Cells, known: Known, chosen: Chosen, own: tuple[I64, I64, I64]) -> F64:
    """Return how many rows of the person themself fit what is known, shape (people,)."""
    person, line, rows = own
    codes = known.codes[:, list(cells.columns)][person]
    fits = _inside(cells.low[line], cells.high[line], codes, cells.among(chosen))
    return np.bincount(person[fits], rows[fits], len(known.codes)).astype(np.float64)


def _inside(low: I32, high: I32, value: I32, places: Sequence[int]) -> B1:
    found = np.ones(len(value), dtype=np.bool_)
    for d in places:
        found &= (low[:, d] <= value[:, d]) & (value[:, d] <= high[:, d])
    return found


def _of_groups(
    view: View,
    tables: Sequence[_Cells],
    known: Known,
    sets: Sequence[Chosen],
    context: Context,
) -> Candidates:
    people, sizes = len(known.codes), view.group_size
    rows = np.zeros((len(sets), people), dtype=np.int64)
    held = np.ones(rows.shape)
    widest = max((len(t.group) for t in tables), default=1)
    step = max(1, min(_CHUNK, _PAIRS // max(widest, 1)))
    for begin in range(0, people, step):
        some = slice(begin, begin + step)
        codes = known.codes[some]
        kept: dict[tuple[int, Chosen], B1] = {}
        for number, chosen in enumerate(sets):
            context.report((begin + number / len(sets) * step) / people, "Joining the register")
            can = np.ones((len(codes), len(sizes)), dtype=np.bool_)
            for which, cells in enumerate(tables):
                here = tuple(cells.among(chosen))
                if not here:
                    continue
                if (which, here) not in kept:
                    context.check()
                    kept[which, here] = _groups_of(cells, codes, here, len(sizes))
                can &= kept[which, here]
            rows[number, some] = can @ sizes
            if known.group is not None:
                group = known.group[some]
                there = (group >= 0) & (group < len(sizes))
                held[number, some] = there & can[np.arange(len(codes)), np.where(there, group, 0)]
    return Candidates(rows=rows, held=held)


def _groups_of(cells: _Cells, codes: I32, here: Sequence[int], groups: int) -> B1:
    """Return which groups have a line that covers what is known, shape (people, groups)."""
    fits = np.ones((len(codes), len(cells.group)), dtype=np.bool_)
    for i in here:
        value = codes[:, cells.columns[i], None]
        fits &= (cells.low[None, :, i] <= value) & (value <= cells.high[None, :, i])
    start = np.searchsorted(cells.group, np.arange(groups))
    found = np.zeros((len(codes), groups), dtype=np.bool_)
    filled = np.flatnonzero(np.diff(np.append(start, len(cells.group))) > 0)
    if len(filled):
        found[:, filled] = np.logical_or.reduceat(fits, start[filled], axis=1)
    return found
