"""Fellegi and Sunter's weights for cells that cover several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.methods.reidentification.register import Register
from anon_core.release.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """How the cells of one column compare with the values of a register.

    A value is contained in a cell, equal to it where the cell represents a single value; near it,
    where numbers lie just outside; or disjoint. A published cell contains the true value with
    chance 1 − ε; what is left falls on near and disjoint values alike, or on disjoint ones where
    none is near. By chance a value is contained with the share of the register that the cell
    covers. A cell that covers everyone shows nothing.

    Attributes
    ----------
    low, high : int32 arrays of shape (texts,)
        Leaves contained in each text.
    near_low, near_high : int32 arrays of shape (texts,)
        Leaves contained or near.
    chance : float64 array of shape (texts, 3)
        u: share of the register that is contained, near, disjoint.
    match : float64 array of shape (texts, 3)
        m: the same of a cell and the person behind it.
    """

    low: I32
    high: I32
    near_low: I32
    near_high: I32
    chance: F64
    match: F64

    def bits_of(self, text: int) -> F64:
        """Return log₂(m/u) of a text by level, shape (3,); 0 where neither can happen."""
        match, chance = self.match[text], self.chance[text]
        both = (match > 0) & (chance > 0)
        return np.log2(np.where(both, match, 1.0) / np.where(both, chance, 1.0))

    def level(self, text: int, values: I32) -> I64:
        """Return how values compare with a text: 0 contained, 1 near, 2 disjoint."""
        inside = (self.low[text] <= values) & (values <= self.high[text])
        near = (self.near_low[text] <= values) & (values <= self.near_high[text])
        return np.where(inside, 0, np.where(near, 1, 2))


def agreement(
    register: Register, name: str, vocabulary: Vocabulary, epsilon: float, near: float
) -> Agreement:
    """Return how a column's texts compare with a register.

    Parameters
    ----------
    epsilon : float
        Chance that a cell does not contain the value behind it.
    near : float
        How far outside a cell a number is near it; 0 for never.
    """
    d = register.columns.index(name)
    low, high = register.cover(vocabulary)
    near_low, near_high = register.widened(vocabulary, near)
    codes, size = register.codes[:, d], max(register.size, 1)
    leaves = int(max(codes.max(initial=0), near_high.max(initial=0), high.max(initial=0))) + 2
    # Values that no cell can cover are at the end, beyond every cell.
    own = np.where(codes < 0, leaves - 1, codes)
    until = np.concatenate([[0], np.cumsum(np.bincount(own, register.count, leaves))])
    inside = (until[high + 1] - until[low]) / size
    around = (until[near_high + 1] - until[near_low]) / size
    chance = np.stack([inside, around - inside, 1 - around], axis=1)
    match = np.empty_like(chance)
    match[:, 0] = 1 - epsilon
    possible = chance[:, 1:] > 1e-12
    match[:, 1:] = np.where(possible, epsilon / np.maximum(possible.sum(1), 1)[:, None], 0.0)
    everyone = ~possible.any(axis=1)
    match[everyone] = [1.0, 0.0, 0.0]
    chance[everyone] = [1.0, 0.0, 0.0]
    return Agreement(
        low=low, high=high, near_low=near_low, near_high=near_high, chance=chance, match=match
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """How some cells compare with people.

    Attributes
    ----------
    bits : float64 array of shape (tuples,)
        Weights.
    likelihood : float64 array of shape (tuples,)
        Chance of what is seen if the person is behind the cells.
    inside : bool array of shape (tuples,)
        Whether every cell contains the person's value.
    """

    bits: F64
    likelihood: F64
    inside: B1


def compared(columns: Sequence[Agreement], cells: I32, codes: I32) -> Compared:
    """Compare cells with people.

    Parameters
    ----------
    cells : int32 array of shape (columns,)
    codes : int32 array of shape (tuples, columns)
        Leaf numbers; -1 for a value that no cell covers.
    """
    bits, likelihood = np.zeros(len(codes)), np.ones(len(codes))
    inside = np.ones(len(codes), dtype=np.bool_)
    for d, column in enumerate(columns):
        text, values = int(cells[d]), codes[:, d]
        leaves = np.arange(int(values.max(initial=-1)) + 2, dtype=np.int32)
        leaves[-1] = np.iinfo(np.int32).max  # -1 is looked up at the end
        level = column.level(text, leaves)
        bits += column.bits_of(text)[level][values]
        likelihood *= column.match[text][level][values]
        inside &= (level == 0)[values]
    return Compared(bits=bits, likelihood=likelihood, inside=inside)


def posterior(likelihood: F64, count: I64) -> F64:
    """Return the chance of one person of each tuple, among everyone of the register.

    Odds of single pairs do not sum to 1 over the register, and are not used.
    """
    whole = float((likelihood * count).sum())
    return likelihood / whole if whole > 0 else np.zeros_like(likelihood)
