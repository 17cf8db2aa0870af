"""What one column publishes: each entry is a text with the leaves it represents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import TOP, Hierarchy
from anon_core.data.table import MISSING
from anon_core.data.values.kinds import KINDS, ColumnKind

#: What the text of a lower and of an upper tail begins with, before its limit.
TAILS = ("≤", "≥")
#: Characters of the longest value set that is written. A longer one is published as the whole
#: column: no one reads it, and as many sets as there are classes fill any disk.
LONGEST_SET = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """The published texts of one column; cells are codes into it.

    One text has one cover, and one cover one text, so that equal cells mean equal knowledge.

    Attributes
    ----------
    texts : tuple of str
        Distinct, in the order of their covers.
    lo, hi : int32 arrays of shape (entries,)
        First and last leaf of each entry's cover.
    level : int32 array of shape (entries,)
        Level of the hierarchy the entry is a node of, -1 if it is none.
    shown : float64 array of shape (entries,), or None
        Of a column whose values are replaced, the number each entry shows, NaN for a cover; then
        several numbers may share a cover, which is as much as an attacker could learn of the
        values behind them, and is not published.
    shortened : bool
        Whether an entry represents the whole column since a value set was too long to be written.
    """

    column: str
    texts: tuple[str, ...]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    shown: npt.NDArray[np.float64] | None = None
    shortened: bool = False

    def among(self, entries: npt.NDArray[np.int64]) -> Vocabulary:
        """Return some of its entries, by their places, ascending."""
        return replace(
            self,
            texts=tuple(map(self.texts.__getitem__, entries.tolist())),
            lo=self.lo[entries],
            hi=self.hi[entries],
            level=self.level[entries],
            shown=None if self.shown is None else self.shown[entries],
        )


def of_level(hierarchy: Hierarchy, level: int) -> Vocabulary:
    """Return the vocabulary of a whole column at one level; codes are the level's node numbers."""
    lo, hi = hierarchy.bounds(level)
    return Vocabulary(
        column=hierarchy.column,
        texts=hierarchy.labels[level],
        lo=lo,
        hi=hi,
        level=np.full(len(lo), level, dtype=np.int32),
    )


def of_boxes(
    hierarchy: Hierarchy,
    kind: ColumnKind,
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    *,
    as_nodes: bool,
) -> tuple[Vocabulary, npt.NDArray[np.int32]]:
    """Return the vocabulary of leaf intervals, and each interval's code in it.

    Parameters
    ----------
    kind : str
        Kind of the column: numbers and dates are written as ranges, the rest as value sets.
    lo, hi : int32 arrays of shape (cells,)
    as_nodes : bool
        Widen every interval to the smallest node that covers it, and publish the node's label.

    Raises
    ------
    BadHierarchy
        If one text would represent different values.

    Notes
    -----
    An interval that mixes the missing value with others has no honest text but the top's, since
    the missing value hangs directly under the root; it is widened to the whole column. So is an
    interval whose value set would be longer than `LONGEST_SET`.
    """
    size = len(hierarchy.leaves)
    code, entry_lo, entry_hi = _distinct(lo, hi, size)
    if hierarchy.has_missing:
        entry_lo[(entry_hi == size - 1) & (entry_lo < size - 1)] = 0
    level = hierarchy.smallest_node(entry_lo, entry_hi)
    if as_nodes:
        entry_hi = hierarchy.last_leaf[level, entry_lo]
        entry_lo = hierarchy.first_leaf[level, entry_lo]
    long = np.zeros(len(entry_lo), dtype=np.bool_)
    if not as_nodes:
        long = too_long(hierarchy, kind, entry_lo, entry_hi)
        entry_lo[long], entry_hi[long] = 0, size - 1
    again, entry_lo, entry_hi = _distinct(entry_lo, entry_hi, size)
    code = again[code]
    level = hierarchy.smallest_node(entry_lo, entry_hi)
    is_node = (hierarchy.first_leaf[level, entry_lo] == entry_lo) & (
        hierarchy.last_leaf[level, entry_lo] == entry_hi
    )
    named = as_nodes | (hierarchy.has_missing & (entry_hi == size - 1))
    ranges = range_texts(hierarchy, kind)
    entries = (entry_lo, entry_hi, level, hierarchy.nodes[level, entry_lo], named)
    texts = [
        hierarchy.leaves[a] if a == b else hierarchy.labels[at][node] if name else ranges(a, b)
        for a, b, at, node, name in zip(*(e.tolist() for e in entries), strict=True)
    ]
    vocabulary = Vocabulary(
        column=hierarchy.column,
        texts=tuple(texts),
        lo=entry_lo,
        hi=entry_hi,
        level=np.where(is_node, level, -1).astype(np.int32),
        shortened=bool(long.any()),
    )
    refuse_ambiguous(vocabulary, hierarchy)
    return vocabulary, code.astype(np.int32)


def _distinct(
    lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the place of each interval among the distinct ones, and the ends of these."""
    place, first = dense_rank([lo, hi], [size, size])
    return place, lo[first], hi[first]


def of_cells(
    hierarchy: Hierarchy,
    kind: ColumnKind,
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    level: npt.NDArray[np.int32],
) -> tuple[Vocabulary, npt.NDArray[np.int32]]:
    """Return the vocabulary of cells whose level is chosen one by one, and each cell's code in it.

    Parameters
    ----------
    kind : str
        Kind of the column: numbers and dates are written as ranges, the rest as value sets.
    lo, hi : int32 arrays of shape (cells,)
        First and last leaf.
    level : int32 array of shape (cells,)
        Level of the node that the cell is and whose label is written; -1 for a range or set, which
        is widened to the whole column where it would be longer than `LONGEST_SET`.

    Raises
    ------
    BadHierarchy
        If one text would represent different values.
    """
    triples = np.stack([lo, hi, level], axis=1).astype(np.int64)
    long = too_long(hierarchy, kind, lo, hi) & (level <= 0)
    triples[long] = 0, len(hierarchy.leaves) - 1, -1
    found, code = np.unique(triples, axis=0, return_inverse=True)
    ranges = range_texts(hierarchy, kind)
    texts = [
        hierarchy.labels[at][int(hierarchy.node(at)[a])]
        if at > 0  # also of one leaf: the label covers public values under it, the leaf does not
        else hierarchy.leaves[a]
        if a == b
        else ranges(a, b)
        for a, b, at in found.tolist()
    ]
    # One label on several levels is one text.
    first = {(text, a, b): i for i, (text, (a, b, _)) in enumerate(zip(texts, found, strict=True))}
    kept = sorted(first.values())
    place = {i: k for k, i in enumerate(kept)}
    own = np.array(
        [place[first[text, a, b]] for text, (a, b, _) in zip(texts, found, strict=True)],
        dtype=np.int32,
    )
    vocabulary = Vocabulary(
        column=hierarchy.column,
        texts=tuple(texts[i] for i in kept),
        lo=found[kept, 0].astype(np.int32),
        hi=found[kept, 1].astype(np.int32),
        level=found[kept, 2].astype(np.int32),
        shortened=bool(long.any()),
    )
    refuse_ambiguous(vocabulary, hierarchy)
    return vocabulary, own[code.ravel()]


def of_numbers(
    hierarchy: Hierarchy,
    shown: Sequence[str],
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
) -> tuple[Vocabulary, npt.NDArray[np.int32]]:
    """Return the vocabulary of numbers that replace values, and each cell's code in it.

    Parameters
    ----------
    hierarchy : Hierarchy
        Of a column of numbers.
    shown : sequence of str
        What each cell shows instead of the values it represents, as `as_published` writes it.
    lo, hi : int32 arrays of shape (cells,)
        First and last leaf of the values each cell represents. One text has one cover: that of all
        cells that show it.

    Notes
    -----
    Where values are missing there is no number to show: such a cell is missing itself, or is
    for the whole column where it mixes missing values with others.
    """
    last = np.int32(len(hierarchy.leaves) - 1)
    mixed = np.zeros(lo.shape, dtype=np.bool_)
    if hierarchy.has_missing:
        mixed = (hi == last) & (lo < last)
    cover = np.where(mixed, np.int32(0), lo).astype(np.int32)
    texts = [TOP if mixed[i] else text for i, text in enumerate(shown)]
    place = {text: i for i, text in enumerate(sorted(set(texts), key=_by_size))}
    code = np.array([place[t] for t in texts], dtype=np.int32)
    own_lo = np.full(len(place), last, dtype=np.int32)
    own_hi = np.zeros(len(place), dtype=np.int32)
    np.minimum.at(own_lo, code, cover)
    np.maximum.at(own_hi, code, hi)
    return Vocabulary(
        column=hierarchy.column,
        texts=tuple(place),
        lo=own_lo,
        hi=own_hi,
        level=np.full(len(place), -1, dtype=np.int32),
        shown=np.array(
            [np.nan if t in (MISSING, TOP) else float(t) for t in place], dtype=np.float64
        ),
    ), code


def _by_size(text: str) -> tuple[int, Decimal]:
    """Return a published number's place: by size, then what represents the column, then gaps."""
    if text in (TOP, MISSING):
        return 1 + (text == MISSING), Decimal(0)
    return 0, Decimal(text)


def as_published(number: float | Fraction, decimals: int) -> str:
    """Return a number as it is published; NaN for missing.

    Examples
    --------
    >>> as_published(-0.04, 1), as_published(Fraction(2**54 + 1, 2), 1), as_published(2.0, 0)
    ('0.0', '9007199254740992.5', '2')
    """
    if isinstance(number, float):
        if np.isnan(number):
            return MISSING
        text = f"{number:.{decimals}f}"
    else:
        units = round(number * 10**decimals)
        digits = f"{abs(units):0{decimals + 1}d}"
        cut = len(digits) - decimals
        text = "-" * (units < 0) + digits[:cut] + "." * (decimals > 0) + digits[cut:]
    return text.removeprefix("-") if float(text) == 0 else text


def refuse_ambiguous(vocabulary: Vocabulary, hierarchy: Hierarchy) -> None:
    """Refuse a text that the hierarchy also gives to other values: cells are at all levels.

    Raises
    ------
    BadHierarchy
    """
    own = list(zip(vocabulary.lo.tolist(), vocabulary.hi.tolist(), strict=True))
    cover = dict(zip(vocabulary.texts, own, strict=True))
    twice = [t for t, ends in zip(vocabulary.texts, own, strict=True) if cover[t] != ends]
    for text, ends in cover.items():
        leaf = hierarchy.code.get(text)
        if leaf is not None and ends != (leaf, leaf):
            twice.append(text)
    for level in range(1, hierarchy.height + 1):
        lo, hi = hierarchy.bounds(level)
        nodes = zip(hierarchy.labels[level], lo.tolist(), hi.tolist(), strict=True)
        twice += [text for text, a, b in nodes if cover.get(text, (a, b)) != (a, b)]
    if twice:
        raise BadHierarchy(
            f"Hierarchy of '{hierarchy.column}': one text means different values on different "
            "levels, so cells of the release would be ambiguous.",
            remedy="Rename it on one of the levels, or use an algorithm that keeps every column at "
            "one level.",
            values=twice[:5],
        )


def too_long(
    hierarchy: Hierarchy, kind: ColumnKind, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Return which leaf intervals have a value set longer than `LONGEST_SET`; none is written."""
    if KINDS[kind].measured:
        return np.zeros(len(lo), dtype=np.bool_)
    members = [len(quoted(leaf)) + 2 for leaf in hierarchy.leaves]  # a comma and a blank, or braces
    until = np.concatenate([[0], np.cumsum(members)])
    return (until[hi.astype(np.int64) + 1] - until[lo] > LONGEST_SET) & (lo < hi)


def range_texts(hierarchy: Hierarchy, kind: ColumnKind) -> Callable[[int, int], str]:
    """Return what writes the leaves lo..hi: ``[20, 29]`` for measures, else ``{F, M}``."""
    leaves = hierarchy.leaves
    if KINDS[kind].measured:
        return lambda lo, hi: f"[{leaves[lo]}, {leaves[hi]}]"
    top = TOP if len(hierarchy.labels[-1]) != 1 else hierarchy.labels[-1][0]
    members = [quoted(leaf) for leaf in leaves]
    return lambda lo, hi: (
        top if lo == 0 and hi == len(leaves) - 1 else "{" + ", ".join(members[lo : hi + 1]) + "}"
    )


def quoted(text: str) -> str:
    """Return a member of a value set, quoted where it would be ambiguous.

    Examples
    --------
    >>> quoted("F"), quoted("a, b")
    ('F', '"a, b"')
    """
    if text == MISSING or text != text.strip() or any(c in text for c in ',{}"'):
        return '"' + text.replace('"', '""') + '"'
    return text
