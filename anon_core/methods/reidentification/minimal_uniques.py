"""Minimal sample uniques: the smallest sets of columns that single a row out, and their scores.

Where one person has several rows, a set singles a line out where all rows that are alike in it are
one person's.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.reidentification.equivalence_counts import RowsAlike
from anon_core.release.vocabulary import Vocabulary

Chosen = tuple[int, ...]
#: How a file's risk is shared out among its rows; see `dis_suda`.
Variant = Literal["sdcmicro", "proportional"]
_Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class MinimalUniques:
    """Sets of columns that make rows unique, of which no smaller part does (Elliot et al. 1998).

    Attributes
    ----------
    size : int
        Columns of the largest set, M.
    marks : mapping of tuple of int to uint8 array
        Set, as places of columns → lines for which it is minimal, one bit each.
    score : int64 array of shape (lines,)
        Σ over a line's sets of Π_{i=|set|}^{M} (columns − i).
    """

    lines: RowsAlike
    size: int
    marks: dict[Chosen, _Bits]
    score: I64

    def minimal(self, chosen: Chosen) -> B1:
        """Return the lines for which a set is minimal, shape (lines,)."""
        return _read(self.marks[chosen], len(self.score))

    def number(self, lines: B1) -> int:
        """Return how many rows, or people, are behind special lines, shape (lines,)."""
        return self.lines.singled_out(lines)

    def covered(self, lines: B1) -> int:
        """Return how many rows, or people, are special by some of these lines and by no other."""
        special = self.special
        return self.number(special) - self.number(special & ~lines)

    @property
    def special(self) -> B1:
        """Lines that some set of at most M columns singles out, shape (lines,)."""
        found = np.zeros(len(self.score), dtype=np.bool_)
        for mark in self.marks.values():
            found |= _read(mark, len(found))
        return found

    def weight(self, chosen: Chosen) -> int:
        """Return what a set adds to the score of a line."""
        return set_weight(len(chosen), self.size, len(self.lines.columns))

    def sets_of(self, line: int) -> list[Chosen]:
        """Return the minimal sets of one line, smaller ones first."""
        byte, bit = divmod(line, 8)
        return [c for c, mark in self.marks.items() if mark[byte] >> (7 - bit) & 1]


def set_weight(own: int, size: int, columns: int) -> int:
    """Return Π_{i=own}^{size} (columns − i): in so many larger sets a minimal one lies, weighed.

    Examples
    --------
    >>> [set_weight(own, 3, 4) for own in (1, 2, 3)]
    [6, 2, 1]
    """
    return prod(columns - i for i in range(own, min(size, columns - 1) + 1))


def _read(mark: _Bits, lines: int) -> B1:
    return np.unpackbits(mark, count=lines).astype(np.bool_)


def minimal_uniques(lines: RowsAlike, size: int, context: Context) -> MinimalUniques:
    """Find the minimal sets of at most `size` columns of every line.

    Sets are taken in the order of their sizes. A line has a set as minimal if it is unique in it
    and in no part of it; whether it is unique in some part is known from the parts with one column
    fewer. A bit is kept per line and set, so that memory is sets · lines / 8 bytes.

    Parameters
    ----------
    context : Context
        Asked before every set whether to go on.
    """
    columns = len(lines.columns)
    size = min(size, columns)
    sets = [c for of in range(1, size + 1) for c in itertools.combinations(range(columns), of)]
    known: dict[Chosen, _Bits] = {}  # unique in the set or in a part of it
    marks: dict[Chosen, _Bits] = {}
    score = np.zeros(len(lines.count), dtype=np.int64)
    if not (lines.own == 1).any():  # two that say the same are unique in nothing
        sets = []
    for number, chosen in enumerate(sets):
        context.report(number / len(sets), "Looking for special uniques")
        unique = np.packbits(lines.alike(chosen, context) == 1)
        parts = np.zeros_like(unique)
        for part in itertools.combinations(chosen, len(chosen) - 1):
            if part:
                parts |= known[part]
        mark = unique & ~parts
        if mark.any():
            marks[chosen] = mark
            score += _read(mark, len(score)) * set_weight(len(chosen), size, columns)
        known[chosen] = unique | parts
    return MinimalUniques(lines=lines, size=size, marks=marks, score=score)


def file_risk(uniques: int, pairs: int, share: float) -> float:
    """Return DIS: the chance that a match of a unique row is right, U f / (U f + 2 P (1 − f)).

    Skinner and Elliot 2002, doi 10.1111/1467-9868.00365.

    Parameters
    ----------
    uniques : int
        Rows unique in all key columns, U; where one person has several rows, combinations that one
        person has.
    pairs : int
        Pairs of rows that are alike in all of them and unlike every other, P; or combinations that
        two people have.
    share : float
        Sampling share f.

    Examples
    --------
    >>> round(file_risk(4, 3, 0.01), 8)
    0.00668896
    """
    above = uniques * share
    return above / (above + 2 * pairs * (1 - share)) if uniques else 0.0


def dis_suda(score: I64, risk: float, uniques: int, columns: int, variant: Variant) -> F64:
    """Share a file's risk out among its rows by their scores.

    Parameters
    ----------
    score : int64 array of shape (rows,)
    risk : float
        DIS, of the file.
    uniques : int
        U.
    columns : int
        Key columns, ATT.
    variant : {'sdcmicro', 'proportional'}
        1 / (1 + (U/DIS − U) / (s^Q Σ 1/s^Q)) with Q = 1 + (8 − ATT)/20, as the R package sdcMicro
        computes it; or DIS · s / Σ s.

    Returns
    -------
    float64 array of shape (rows,)
        0 where the score is.

    Examples
    --------
    >>> scores = np.array([6, 12, 6, 10])
    >>> dis_suda(scores, file_risk(4, 3, 0.01), 4, 4, "sdcmicro").round(6).tolist()
    [0.004987, 0.011383, 0.004987, 0.009167]
    """
    found = np.zeros(len(score))
    some = score > 0
    if not some.any() or risk <= 0:
        return found
    own = score[some].astype(np.float64)
    if variant == "proportional":
        found[some] = risk * own / own.sum()
        return found
    power = own ** (1 + (8 - columns) / 20)
    found[some] = 1 / (1 + (uniques / risk - uniques) / (power * (1 / power).sum()))
    return found


# What would take them their uniqueness: a column one level up, or suppressed.


@dataclass(frozen=True, kw_only=True, eq=False)
class Change:
    """A change of a whole column, and the lines that are not unique any more after it.

    Attributes
    ----------
    suppressed : bool
        Whether the column is left out; else it goes one level up.
    cost : float
        Share of the column's height that it goes up.
    covered : bool array of shape (lines,)
    """

    column: str
    suppressed: bool
    cost: float
    covered: B1

    @property
    def words(self) -> str:
        """The change in words."""
        return f"{self.column} suppressed" if self.suppressed else f"{self.column} one level up"


def covering_changes(
    found: MinimalUniques, hierarchies: Mapping[str, Hierarchy], context: Context
) -> list[Change]:
    """Return the changes of single columns, cheapest first.

    Without a column only the sets without it are left, so that suppressing it covers the lines of
    which it is in every minimal set. One level up is tried out on every set with the column; where
    texts overlap it is not, since who fits whom is then not said by one text alone.
    """
    lines = found.lines
    special = found.special
    changes: list[Change] = []
    for place, name in enumerate(lines.columns):
        context.report(place / len(lines.columns), "Trying out what covers them")
        without = np.zeros(len(special), dtype=np.bool_)
        for chosen in found.marks:
            if place not in chosen:
                without |= found.minimal(chosen)
        covered = special & ~without
        if not covered.any():
            continue
        hierarchy, vocabulary = hierarchies.get(name), lines.vocabularies[name]
        height = max(hierarchy.height, 1) if hierarchy is not None else 1
        used = vocabulary.level[np.unique(lines.codes[:, place])]
        lowest = max(int(used.min(initial=height)), 0)
        changes.append(
            Change(column=name, suppressed=True, cost=(height - lowest) / height, covered=covered)
        )
        up = None if hierarchy is None else _one_up(vocabulary, hierarchy)
        if up is None or lines.overlapping or height - lowest <= 1:
            continue
        still = np.zeros_like(covered)
        others = [d for d in range(len(lines.columns)) if d != place]
        for size in range(found.size):
            for rest in itertools.combinations(others, size):
                context.check()
                chosen = tuple(sorted((place, *rest)))
                still |= lines.with_texts(place, up[lines.codes[:, place]], chosen) == 1
        if (covered & ~still).any():
            changes.append(
                Change(column=name, suppressed=False, cost=1 / height, covered=covered & ~still)
            )
    return sorted(changes, key=lambda c: (c.cost, -int(c.covered.sum())))


def _one_up(vocabulary: Vocabulary, hierarchy: Hierarchy) -> I32 | None:
    """Return what each text becomes one level up, as numbers; None where one is no node."""
    if vocabulary.shown is not None or np.any(vocabulary.level < 0):
        return None
    level = np.minimum(vocabulary.level + 1, hierarchy.height)
    node = np.zeros(len(level), dtype=np.int64)
    for at in np.unique(level).tolist():
        here = level == at
        node[here] = hierarchy.node(at)[vocabulary.lo[here]]
    both = node * (hierarchy.height + 1) + level
    return np.unique(both, return_inverse=True)[1].astype(np.int32)
