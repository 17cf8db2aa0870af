"""Every node of a full-domain lattice priced the obvious way, for several k and metrics at once.

The enumeration shares nothing with the workbench: texts and level tables come in, every node's
keys are made from the distinct tuples and sorted, and no node is derived from another or left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.size_sweep import size_sweep
from anon_core.pipeline.prepare import prepare
from benchmarks.bench import Bench, read
from benchmarks.optimal import BUDGETS
from benchmarks.tables import Source
from benchmarks.timing import Row, table

Levels = Mapping[str, Sequence[Sequence[str]]]
Node = tuple[int, ...]
KS = (2, 5, 10, 50)
METRICS = ("loss", "discernibility", "average-class-size")


@dataclass(frozen=True, kw_only=True, eq=False)
class EveryNode:
    """What every node removes and costs.

    Attributes
    ----------
    nodes : list of tuple of int
        In lexicographic order.
    rows : int
    removed : mapping of int to int64 array of shape (nodes,)
        By k: rows in classes of fewer than k.
    cost : mapping of (int, str) to float64 array of shape (nodes,)
        By k and metric; infinite where every row is suppressed.
    seconds : float
        Wall time of the enumeration.
    """

    nodes: list[Node]
    rows: int
    removed: Mapping[int, npt.NDArray[np.int64]]
    cost: Mapping[tuple[int, str], npt.NDArray[np.float64]]
    seconds: float

    def within(self, k: int, budget: float) -> npt.NDArray[np.bool_]:
        """Return which nodes remove no larger share of rows, and not all of them."""
        removed = self.removed[k]
        return (removed <= budget * self.rows + 1e-9) & (removed < self.rows)

    def best(self, k: int, metric: str, budget: float) -> float:
        """Return the least cost of a node within a budget, infinite where there is none."""
        allowed = self.within(k, budget)
        return float(self.cost[k, metric][allowed].min(initial=np.inf))


def every_node(frame: pd.DataFrame, levels: Levels, ks: Sequence[int]) -> EveryNode:
    """Look at every node of the lattice.

    Parameters
    ----------
    frame : pandas.DataFrame
        The quasi-identifiers as texts, nothing missing.
    levels : mapping of str to level table
        For every column: one line per value, the value first, then its label on each level.
    ks : sequence of int
    """
    began = time.perf_counter()
    counted = frame.value_counts(sort=False)
    count = counted.to_numpy(dtype=np.int64)
    tuples = counted.index.to_frame(index=False)
    total = int(count.sum())
    cells: list[list[npt.NDArray[np.int64]]] = []
    prices: list[list[npt.NDArray[np.float64]]] = []
    for name in frame.columns:
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
    removed = {k: np.zeros(len(nodes), dtype=np.int64) for k in ks}
    cost = {(k, m): np.full(len(nodes), np.inf) for k in ks for m in METRICS}
    for place, node in enumerate(nodes):
        key = np.zeros(len(count), dtype=np.int64)
        for own, level in zip(cells, node, strict=True):
            key = key * (int(own[level].max()) + 1) + own[level]
        order = np.argsort(key)
        arranged = key[order]
        first = np.flatnonzero(np.diff(arranged, prepend=arranged[0] - 1))
        size = np.add.reduceat(count[order], first)
        member = order[first]  # a tuple of each class: all of them publish the same
        price = np.zeros(len(first))
        for own, level in zip(prices, node, strict=True):
            price += own[level][member]
        for k in ks:
            kept = size >= k
            gone = total - int(size[kept].sum())
            removed[k][place] = gone
            if gone < total:
                paid = float(price[kept] @ size[kept]) + gone * len(node)
                cost[k, "loss"][place] = paid / (total * len(node))
                cost[k, "discernibility"][place] = float(size[kept] @ size[kept]) + total * gone
                cost[k, "average-class-size"][place] = total / int(np.count_nonzero(kept))
    seconds = time.perf_counter() - began
    return EveryNode(nodes=nodes, rows=total, removed=removed, cost=cost, seconds=seconds)


def every_optimum(bench: Bench, source: Source, quasi: Sequence[str]) -> None:
    """Check the optimal search against every node, for each k, metric and budget."""
    recipe = source.recipe(f"every-{len(quasi)}", "optimal", quasi=tuple(quasi))
    plan, dataset, levels = read(source, recipe)
    # The same rows for both, whatever else is missing in the table.
    dataset = dataset.without_missing((*source.quasi, *source.sensitive))
    problem = prepare(plan, dataset, levels)
    every = every_node(dataset.frame()[list(quasi)], levels, KS)
    place = {node: i for i, node in enumerate(every.nodes)}
    seconds: list[float] = []
    checks: list[tuple[bool, str]] = []
    for k in KS:
        model = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": k}))
        for metric in METRICS:
            for budget in BUDGETS:
                given = {"metric": metric, "max_suppression": budget}
                search = cast(Algorithm, find("algorithm", "optimal").from_mapping(given))
                began = time.perf_counter()
                outcome = search.run(problem, [model], Context())
                seconds.append(time.perf_counter() - began)
                best = every.best(k, metric, budget)
                found, node = outcome.account.cost, outcome.account.node or {}
                at = place[tuple(node[name] for name in quasi)]
                # Sums of thousands of floats in another order differ in their last bits.
                close = 1e-12 * max(best, 1.0)
                holds = (
                    found is not None
                    and abs(found - best) <= close
                    and abs(every.cost[k, metric][at] - best) <= close
                    and bool(every.within(k, budget)[at])
                    and int(every.removed[k][at]) == outcome.release.suppressed
                )
                gone = outcome.release.suppressed
                checks.append(
                    (holds, f"k = {k}, {metric}, {budget:.0%}: {best:.9g}, {gone} rows suppressed")
                )
    began = time.perf_counter()
    swept = size_sweep(problem, KS, Context())
    rows = [
        Row(what="plain enumeration", seconds=(every.seconds,), note="all k and metrics at once"),
        Row(
            what="one pass over the lattice",
            seconds=(time.perf_counter() - began,),
            note="the same figures",
        ),
        Row(what="searches, one each", seconds=tuple(seconds)),
    ]
    for column, k in enumerate(swept.limits):
        equal = bool(np.all(swept.removed[:, column] == every.removed[k]))
        checks.append((equal, f"k = {k}: the pass removes as many rows at every node"))
        for metric in METRICS:
            found = swept.cost(cast(Metric, find("metric", metric)()))[:, column]
            cost = every.cost[k, metric]
            some = np.isfinite(cost)  # nodes that keep a row at all
            gap = np.abs(found[some] - cost[some]) / np.maximum(cost[some], 1.0)
            holds = float(gap.max(initial=0.0)) <= 1e-12
            checks.append((holds, f"k = {k}, {metric}: the pass prices every node alike"))
    print(table(f"Every node: {source.title}; {len(quasi)} of them, {len(place):,} nodes", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)
