"""The optimal search next to brute force, and every other search over the lattice."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from anon_core import run
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.methods.lattice.nodes import Nodes, rows_allowed
from anon_core.methods.lattice.size_sweep import SizeSweep, size_sweep
from anon_core.pipeline.prepare import prepare
from anon_core.release.problem import Problem
from benchmarks import baseline
from benchmarks.bench import Bench, read
from benchmarks.frames import from_frame
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

BUDGETS = (0.0, 0.02, 1.0)

#: Least class sizes of the pass over the whole lattice, and nodes that are looked at again.
_KS = (2, 5, 10, 50)
_SAMPLED = 50

#: Searches with the settings they are measured with.
_SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("samarati", {"max_suppression": 0.02}),
    ("incognito", {"max_suppression": 0.02}),
    ("datafly", {"max_suppression": 0.02}),
    ("anytime", {"recoding": "full-domain", "max_suppression": 0.02}),
    ("anytime", {"recoding": "local"}),
    ("annealing", {"max_suppression": 0.02}),
    ("genetic", {"max_suppression": 0.02}),
    ("top-down", {"seconds": 10.0}),
    ("k-optimize", {"seconds": 10.0}),
)


def optimal(bench: Bench, source: Source) -> None:
    """Measure the optimal search alone and end to end, next to brute force."""
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    size = 0
    for budget in BUDGETS:
        recipe = source.recipe(f"optimal-{budget:g}", "optimal", budget)
        plan, dataset, levels = read(source, recipe)
        problem = prepare(plan, dataset, levels)
        row, outcome = bench.time(
            f"search, {budget:.0%} suppression",
            lambda plan=plan, problem=problem: plan.algorithm.run(problem, plan.models, Context()),
        )
        account = outcome.account
        size = account.nodes
        rows.append(row)

        def whole(recipe: Path = recipe) -> Any:
            plan, dataset, levels = read(source, recipe)
            return run(plan, dataset, levels)

        row, result = bench.time("  file read → verified release", whole)
        rows.append(row)
        found = result.measures["loss"].value
        removed_rows, count = result.release.suppressed, len(result.class_sizes)
        note = f"loss {found:.9f}, {removed_rows} rows suppressed, {count} classes"
        rows[-2] = Row(what=rows[-2].what, seconds=rows[-2].seconds, note=note)
        framed, agree = from_frame(bench, plan, dataset, levels, result)
        rows += framed
        checks.append((agree, f"{budget:.0%}: every way from frame to frame gives the same rows"))
        if budget in source.known:
            loss, removed, classes = source.known[budget]
            holds = abs(found - loss) <= 1e-8 and removed_rows == removed and count == classes
            checks.append(
                (holds, f"{budget:.0%}: loss {loss}…, {removed} removed, {classes} classes")
            )
        checks.append((result.verification.holds, f"{budget:.0%}: the release verifies"))
    plan, dataset, levels = read(source, source.recipe("any", "optimal"))
    frame = dataset.without_missing((*source.quasi, *source.sensitive)).frame()
    nodes = 60 if bench.quick else 300
    sampled = baseline.brute_force(frame[list(source.quasi)], levels, K, BUDGETS, most=nodes)
    typical = statistics.mean(sampled.seconds)
    rows.append(Row(what="plain brute force, one node", seconds=sampled.seconds))
    rows.append(
        Row(
            what="plain brute force, all nodes",
            seconds=(typical * sampled.nodes,),
            note=f"EXTRAPOLATED from {nodes} of {sampled.nodes:,} nodes, all budgets at once",
        )
    )
    print(table(f"Optimal search: {source.title}, k = {K}, {size:,} nodes", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)
    _small_lattice(bench, source, frame)


def searches(bench: Bench, source: Source) -> None:
    """Measure every other search on the same table, and that none beats what is proven best."""
    plan, dataset, levels = read(source, source.recipe("searches", "optimal", 0.02))
    problem = prepare(plan, dataset, levels)
    loss = cast(Metric, find("metric", "loss")())
    best = plan.algorithm.run(problem, plan.models, Context()).account.cost
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    for name, settings in _SEARCHES:
        search = cast(Algorithm, find("algorithm", name).from_mapping(settings))
        row, outcome = bench.time(
            f"{search.title}{', part by part' if settings.get('recoding') == 'local' else ''}",
            lambda search=search: search.run(problem, plan.models, Context()),
        )
        found = loss.measure(problem, outcome.release, Context()).value
        bound = outcome.account.bound
        bound_text = f"; none below {bound:.6g} by its own measure" if bound is not None else ""
        note = f"loss {found:.6f}, {outcome.release.suppressed} rows suppressed{bound_text}"
        rows.append(Row(what=row.what, seconds=row.seconds, note=note))
        if outcome.account.node is not None:
            checks.append((found >= best - 1e-12, f"{search.title} is no better than the optimum"))
    print(table(f"Other searches: {source.title}, k = {K}, 2% suppression", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)
    _whole_lattice(bench, source)


def _whole_lattice(bench: Bench, source: Source) -> None:
    """Measure deciding and pricing every node for four values of k, as the frontier needs it."""
    plan, dataset, levels = read(source, source.recipe("whole-lattice", "optimal", BUDGETS[1]))
    problem = prepare(plan, dataset, levels)
    budget = rows_allowed(problem, BUDGETS[1])
    costs = [cast(Metric, find("metric", name)()) for name in ("loss", "discernibility")]
    verdicts = 0

    def priced(threads: int) -> SizeSweep:
        nonlocal verdicts
        swept = size_sweep(problem, _KS, Context(), threads=threads)
        decided = [swept.satisfied(k, budget) for k in _KS]
        verdicts = sum(len(own) for own in decided)
        for cost in costs:
            swept.cost(cost)
        return swept

    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    for threads in (1, 2):
        row, swept = bench.time(
            f"one pass, {threads} thread{'s' if threads > 1 else ''}",
            lambda threads=threads: priced(threads),
            "every node decided, and priced by loss and discernibility",
        )
        rows.append(row)
        right = _like_single_looks(problem, swept, costs)
        checks.append((right, f"{row.what}: {_SAMPLED} nodes are priced as one by one"))
    what = ", ".join(map(str, _KS))
    print(table(f"Whole lattice: {source.title}, k = {what}, {BUDGETS[1]:.0%} suppression", rows))
    for holds, sentence in checks:
        bench.check(holds, f"{sentence}; {verdicts:,} verdicts")


def _like_single_looks(problem: Problem, swept: SizeSweep, costs: Sequence[Metric]) -> bool:
    """Say whether a sample of nodes removes and costs what it does when looked at by itself."""
    drawn = np.random.default_rng(0).integers(0, len(swept.removed), _SAMPLED)
    right = True
    for column, k in enumerate(swept.limits):
        model = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": k}))
        nodes = Nodes(problem, [model], 0, Context())
        for place in drawn.tolist():
            node = tuple(int(n) for n in np.unravel_index(place, swept.shape))
            classes, keep = nodes.keep_mask(node)
            fields = [nodes.lattice.field(classes, d) for d in range(len(node))]
            removed = problem.rows - int(classes.count[keep].sum())
            right &= removed == int(swept.removed[place, column])
            for cost in costs:
                alone = NodeCost(problem, cost).of(node, classes, keep, fields)
                found = float(swept.cost(cost)[place, column])
                right &= abs(alone - found) <= 1e-12 * max(alone, 1.0)
    return right


def _small_lattice(bench: Bench, source: Source, frame: pd.DataFrame) -> None:
    rows: list[Row] = []
    costs: dict[float, float] = {}
    levels: dict[str, list[list[str]]] = {}
    for budget in BUDGETS:
        recipe = source.recipe(f"small-{budget:g}", "optimal", budget, quasi=source.small)
        plan, dataset, levels = read(source, recipe)
        # The same rows for both, whatever else is missing in the table.
        dataset = dataset.without_missing((*source.quasi, *source.sensitive))
        problem = prepare(plan, dataset, levels)
        row, outcome = bench.time(
            f"search, {budget:.0%} suppression",
            lambda plan=plan, problem=problem: plan.algorithm.run(problem, plan.models, Context()),
        )
        rows.append(row)
        costs[budget] = outcome.account.cost
    row, best = bench.time(
        "plain brute force, every node",
        lambda: baseline.brute_force(frame[list(source.small)], levels, K, BUDGETS),
        "all budgets at once",
    )
    rows.append(row)
    print(table(f"Small lattice: {len(source.small)} quasi-identifiers, {best.nodes} nodes", rows))
    for budget in BUDGETS:
        bench.check(
            abs(costs[budget] - best.loss[budget]) <= 1e-12,
            f"{budget:.0%}: the search finds what brute force finds, loss {best.loss[budget]:.9f}",
        )
