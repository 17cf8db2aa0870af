"""Every node of a full-domain lattice judged by the values in its classes, the obvious way.

Shares nothing with the workbench: texts and level tables come in, every node's classes are counted
again, and privacy models are decided in whole numbers from their definitions.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import pandas as pd

Levels = Mapping[str, Sequence[Sequence[str]]]
Node = tuple[int, ...]
Counts = npt.NDArray[np.int64]
#: The rows of every value in each class, shape (classes, values), and in the whole table → which
#: classes keep a privacy model.
Keeps = Callable[[Counts, Counts], npt.NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The node that costs least among those that remove few enough rows."""

    loss: float
    node: Node
    removed: int


def distinct(least: int) -> Keeps:
    """At least so many values."""
    return lambda shown, table: np.count_nonzero(shown, axis=1) >= least


def entropy(least: int) -> Keeps:
    """N^N ≥ l^N · Π c^c: floats decide what is no tie, whole numbers what may be one."""

    def keeps(shown: Counts, table: Counts) -> npt.NDArray[np.bool_]:
        rows = shown.sum(axis=1)
        own = (shown * np.log(np.maximum(shown, 1))).sum(axis=1)
        above = np.log(rows) - own / rows - np.log(least)
        found = above > 0
        for i in np.flatnonzero(np.abs(above) < 1e-9).tolist():
            counts, n = [int(c) for c in shown[i] if c], int(rows[i])
            found[i] = n**n >= least**n * prod(c**c for c in counts)
        return found

    return keeps


def recursive(factor: int, first: int) -> Keeps:
    """The commonest value has fewer rows than c times those from the l-th on."""

    def keeps(shown: Counts, table: Counts) -> npt.NDArray[np.bool_]:
        ranked = -np.sort(-shown, axis=1)
        return ranked[:, 0] < factor * ranked[:, first - 1 :].sum(axis=1)

    return keeps


def near(hundredths: int, *, ordered: bool) -> Keeps:
    """The earth mover's distance from the table is at most t, given in hundredths."""

    def keeps(shown: Counts, table: Counts) -> npt.NDArray[np.bool_]:
        rows, every = shown.sum(axis=1), int(table.sum())
        more = shown * every - np.outer(rows, table)  # q − p, times both numbers of rows
        if ordered:
            moved, by = np.abs(np.cumsum(more, axis=1)).sum(axis=1), len(table) - 1
        else:
            moved, by = np.abs(more).sum(axis=1), 2
        return moved * 100 <= hundredths * by * rows * every

    return keeps


def optima(
    frame: pd.DataFrame,
    levels: Levels,
    sensitive: str,
    models: Mapping[str, Keeps],
    budget: float,
) -> tuple[dict[str, Optimum], int, float]:
    """Look at every node of the lattice.

    Parameters
    ----------
    frame : pandas.DataFrame
        The quasi-identifiers and the sensitive column as texts, nothing missing; its values are in
        order as they are first seen, so sort the frame where the order matters.
    levels : mapping of str to level table
        For every quasi-identifier: one line per value, the value first, then its labels.
    sensitive : str
    models : mapping of str to Keeps
    budget : float
        Largest share of rows that may be suppressed.

    Returns
    -------
    optima : dict of str to Optimum
        Of each privacy model that a node keeps.
    nodes : int
    seconds : float
    """
    began = time.perf_counter()
    quasi = [name for name in frame.columns if name != sensitive]
    place, _ = pd.factorize(frame[sensitive])
    counted = frame.assign(**{sensitive: place}).value_counts(sort=False)
    count = counted.to_numpy(dtype=np.int64)
    tuples = counted.index.to_frame(index=False)
    value = tuples[sensitive].to_numpy(dtype=np.int64)
    table = np.bincount(value, weights=count).astype(np.int64)
    total = int(count.sum())
    cells: list[list[Counts]] = []
    prices: list[list[npt.NDArray[np.float64]]] = []
    for name in quasi:
        lines = levels[name]
        leaf = pd.Index([line[0] for line in lines]).get_indexer(pd.Index(tuples[name]))
        cells.append([])
        prices.append([])
        for level in range(len(lines[0])):
            code, labels = pd.factorize(np.array([line[level] for line in lines], dtype=object))
            size = np.bincount(code, minlength=len(labels))
            cells[-1].append(code[leaf].astype(np.int64))
            prices[-1].append(((size - 1) / max(len(lines) - 1, 1))[code[leaf]])
    nodes = list(itertools.product(*(range(len(own)) for own in cells)))
    best: dict[str, Optimum] = {}
    for node in nodes:
        key = np.zeros(len(count), dtype=np.int64)
        price = np.zeros(len(count))
        for own, lost, level in zip(cells, prices, node, strict=True):
            key = key * (int(own[level].max()) + 1) + own[level]
            price += lost[level]
        _, group = np.unique(key, return_inverse=True)
        classes, values = int(group.max()) + 1, len(table)
        flat = np.bincount(group * values + value, weights=count, minlength=classes * values)
        shown = flat.astype(np.int64).reshape(classes, values)
        for name, keeps in models.items():
            stays = keeps(shown, table)[group]
            gone = total - int(count[stays].sum())
            if gone > budget * total or gone == total:
                continue
            loss = (float(price[stays] @ count[stays]) + gone * len(node)) / (total * len(node))
            if name not in best or loss < best[name].loss:
                best[name] = Optimum(loss=loss, node=node, removed=gone)
    return best, len(nodes), time.perf_counter() - began
