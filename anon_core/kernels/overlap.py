"""Which classes' cells cover a person: one bit a class, kept per leaf of every column.

The bits of a person's leaves are joined, so that 64 classes are decided at a time; a word of one
bit per word says first where anything can be left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.kernels.compilation import compiled


@compiled
def covered(
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
) -> None:
    """Add to `found` how many people each class's cells cover.

    Parameters
    ----------
    lo, hi : int32 arrays of shape (classes, attributes)
        First and last leaf of every cell.
    codes : int32 array of shape (tuples, attributes)
        Leaf numbers, -1 for values no cell can cover.
    count : int64 array of shape (tuples,)
    found : int64 array of shape (classes,)
    """
    for g in range(lo.shape[0]):
        total = 0
        for t in range(codes.shape[0]):
            inside = True
            for d in range(codes.shape[1]):
                c = codes[t, d]
                if c < lo[g, d] or c > hi[g, d]:
                    inside = False
                    break
            if inside:
                total += count[t]
        found[g] += total


@compiled
def several(
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    found: npt.NDArray[np.bool_],
) -> None:
    """Mark in `found` the classes that some tuple fits next to another.

    Parameters
    ----------
    found : bool array of shape (classes,)
    """
    for t in range(codes.shape[0]):
        first = -1
        for g in range(lo.shape[0]):
            inside = True
            for d in range(codes.shape[1]):
                c = codes[t, d]
                if c < lo[g, d] or c > hi[g, d]:
                    inside = False
                    break
            if inside:
                if first < 0:
                    first = g
                else:
                    found[first] = True
                    found[g] = True


Bits = npt.NDArray[np.uint64]

WORD = 64  # bits of a word
WORDS = 64  # words of classes in one table; the word after them says which of them hold a bit
_ONE = np.uint64(1)
_NONE = np.uint64(0)


@compiled
def mark(low: I32, high: I32, first: I64, table: Bits) -> None:
    """Set the bit of every class at the leaves that its cells cover.

    Parameters
    ----------
    low, high : int32 arrays of shape (classes, columns)
        First and last leaf of each cell; at most `WORD` · `WORDS` classes.
    first : int64 array of shape (columns + 1,)
        Where the lines of each column begin in the table: one per leaf, and one more.
    table : uint64 array of shape (lines, WORDS + 1), filled
    """
    table[:] = _NONE
    for c in range(low.shape[0]):
        word, bit = c // WORD, _ONE << np.uint64(c % WORD)
        for d in range(low.shape[1]):
            table[first[d] + low[c, d], word] ^= bit
            table[first[d] + high[c, d] + 1, word] ^= bit
    for d in range(low.shape[1]):
        for line in range(first[d], first[d + 1]):
            for word in range(WORDS):
                # What began at an earlier leaf lasts until its own end takes it away.
                if line > first[d]:
                    table[line, word] ^= table[line - 1, word]
                if table[line, word] != _NONE:
                    table[line, WORDS] |= _ONE << np.uint64(word)


@compiled
def lowest(word: np.uint64) -> int:
    """Return the place of the lowest bit of a word that is not zero."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word & ((_ONE << np.uint64(step)) - _ONE) == _NONE:
            word = word >> np.uint64(step)
            place += step
    return place


@compiled
def fitting(table: Bits, line: I32, found: I64) -> int:
    """List the classes whose cells cover a person; return how many.

    Parameters
    ----------
    table : uint64 array, from `mark`
    line : int32 array of shape (columns,)
        Lines of the person's leaves.
    found : int64 array of shape (WORD · WORDS,), filled
    """
    size = 0
    words = table[line[0], WORDS]
    for d in range(1, line.shape[0]):
        words &= table[line[d], WORDS]
    while words != _NONE:
        word = lowest(words)
        words &= words - _ONE
        bits = table[line[0], word]
        for d in range(1, line.shape[0]):
            bits &= table[line[d], word]
            if bits == _NONE:
                break
        while bits != _NONE:
            found[size] = word * WORD + lowest(bits)
            size += 1
            bits &= bits - _ONE
    return size


@compiled
def tally(
    table: Bits, lines: I32, people: I64, rows: I64, of_person: I64, of_class: I64, found: I64
) -> int:
    """Add up who fits whom; return the number of pairs.

    Parameters
    ----------
    table : uint64 array, from `mark`
    lines : int32 array of shape (tuples, columns)
    people : int64 array of shape (tuples,)
        Original rows of each tuple.
    rows : int64 array of shape (classes,)
        Published rows of each class.
    of_person : int64 array of shape (tuples,), added to
        Published rows consistent with a person of each tuple.
    of_class : int64 array of shape (classes,), added to
        People consistent with a row of each class.
    found : int64 array of shape (WORD · WORDS,)
        Room to work in.
    """
    pairs = 0
    for t in range(lines.shape[0]):
        size = fitting(table, lines[t], found)
        pairs += size
        for i in range(size):
            of_person[t] += rows[found[i]]
            of_class[found[i]] += people[t]
    return pairs


@compiled
def least(table: Bits, lines: I32, of_person: I64, of_class: I64, found: I64) -> None:
    """Lower each class's number to that of everyone who fits it.

    Parameters
    ----------
    table, lines, found
        As of `tally`.
    of_person : int64 array of shape (tuples,)
    of_class : int64 array of shape (classes,), lowered
    """
    for t in range(lines.shape[0]):
        for i in range(fitting(table, lines[t], found)):
            of_class[found[i]] = min(of_class[found[i]], of_person[t])
