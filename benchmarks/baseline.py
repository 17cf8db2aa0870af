"""Plain twins to measure against: brute force over the lattice, and a recursive Mondrian.

They share no code with the workbench and take the obvious way: regroup every row at every node,
and cut data frames in two by recursion.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

Levels = Mapping[str, Sequence[Sequence[str]]]
Node = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Best:
    """The best node under each suppression budget.

    Attributes
    ----------
    loss : mapping of float to float
        Budget → smallest loss of a node that removes no larger share of rows.
    node : mapping of float to tuple of int
    seconds : tuple of float
        Time per node that was looked at.
    nodes : int
        Size of the lattice.
    """

    loss: dict[float, float] = field(default_factory=dict[float, float])
    node: dict[float, Node] = field(default_factory=dict[float, Node])
    seconds: tuple[float, ...] = ()
    nodes: int = 0


def brute_force(
    frame: pd.DataFrame,
    levels: Levels,
    k: int,
    budgets: Sequence[float],
    *,
    most: int | None = None,
) -> Best:
    """Look at every node of the full-domain lattice and keep the best by loss.

    Parameters
    ----------
    frame : pandas.DataFrame
        The quasi-identifiers as texts, nothing missing.
    levels : mapping of str to level table
        For every column: one line per value, the value first, then its label on each level.
    k : int
    budgets : sequence of float
        Shares of rows that may be suppressed.
    most : int, optional
        Look only at this many nodes, drawn evenly (to time a lattice too large for the rest).
    """
    cells: list[list[npt.NDArray[np.int64]]] = []
    prices: list[list[npt.NDArray[np.float64]]] = []
    for name in frame.columns:
        rows = levels[name]
        leaf = pd.Index([row[0] for row in rows]).get_indexer(pd.Index(frame[name]))
        by_level, price_by_level = [], []
        for level in range(len(rows[0])):
            code, labels = pd.factorize(np.array([row[level] for row in rows], dtype=object))
            size = np.bincount(code, minlength=len(labels))
            by_level.append(code[leaf].astype(np.int64))
            price_by_level.append(((size - 1) / max(len(rows) - 1, 1))[code[leaf]])
        cells.append(by_level)
        prices.append(price_by_level)
    heights = [range(len(by_level)) for by_level in cells]
    nodes = list(itertools.product(*heights))
    looked_at = nodes
    if most is not None and most < len(nodes):
        drawn = np.random.default_rng(0).choice(len(nodes), size=most, replace=False)
        looked_at = [nodes[i] for i in sorted(drawn.tolist())]
    best = Best(nodes=len(nodes))
    seconds: list[float] = []
    total = len(frame)
    for node in looked_at:
        began = time.perf_counter()
        key = np.zeros(total, dtype=np.int64)
        for by_level, level in zip(cells, node, strict=True):
            column = by_level[level]
            key = key * (int(column.max()) + 1) + column
        _, group, size = np.unique(key, return_inverse=True, return_counts=True)
        kept = size[group] >= k
        removed = total - int(np.count_nonzero(kept))
        if removed < total:
            paid = sum(
                float(price[level][kept].sum()) for price, level in zip(prices, node, strict=True)
            )
            loss = (paid + removed * len(node)) / (total * len(node))
            for budget in budgets:
                if removed <= budget * total + 1e-9 and loss < best.loss.get(budget, np.inf):
                    best.loss[budget] = loss
                    best.node[budget] = node
        seconds.append(time.perf_counter() - began)
    return Best(loss=best.loss, node=best.node, seconds=tuple(seconds), nodes=len(nodes))


def mondrian(frame: pd.DataFrame, k: int) -> list[pd.DataFrame]:
    """Cut a frame of numbers in two at the median of the widest column, again and again.

    Parameters
    ----------
    frame : pandas.DataFrame
        Numbers only; categories as their place in an order.
    k : int

    Returns
    -------
    list of pandas.DataFrame
        The parts, each with at least k rows.
    """
    whole = (frame.max() - frame.min()).replace(0, 1)

    def cut(part: pd.DataFrame) -> list[pd.DataFrame]:
        # Rounded, because 1/3 of a range may differ from 2/6 in its last bit.
        width = ((part.max() - part.min()) / whole).round(12)
        for name in width.sort_values(ascending=False, kind="stable").index:
            if width[name] == 0:
                break
            column = part[name]
            median = column.sort_values().iloc[(len(column) - 1) // 2]
            for below in (column <= median, column < median):
                low, high = part[below], part[~below]
                if len(low) >= k and len(high) >= k:
                    return cut(low) + cut(high)
        return [part]

    return cut(frame)
