"""Measure speed, and check on the way that the answers are right.

The exit status is 1 where an answer is wrong, and never because something was slow.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from anon_core import Dataset, read_table, run
from anon_core import __main__ as command_line
from anon_core.classify import Classification
from anon_core.context import Context
from anon_core.kinds import Algorithm, GroupModel, Metric
from anon_core.nodes import rows_allowed
from anon_core.plan import Plan
from anon_core.registry import find
from anon_core.runner import prepare

from . import baseline, tables
from .tables import K, Source
from .timing import Row, repeated, shown, table

CHECKOUT = Path(__file__).resolve().parent.parent
BUDGETS = (0.0, 0.02, 1.0)
_PEAK = """
import sys
from anon_core.__main__ import main
status = main(sys.argv[1:])
try:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
except ImportError:  # Windows
    print("nan")
sys.exit(status)
"""
_IMPORT = """
import sys, time
began = time.perf_counter()
{line}
print(time.perf_counter() - began)
"""
_TECHNIQUES = (
    "from anon_core import runner, registry; [registry.family(f) for f in registry.FAMILIES]"
)
_APP = (
    "import importlib, pkgutil, ui; "
    "[importlib.import_module(f'ui.{m.name}') for m in pkgutil.iter_modules(ui.__path__)]"
)

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


@dataclass
class Bench:
    """What a run measures with, and what it found wrong."""

    times: int
    quick: bool
    wrong: list[str] = field(default_factory=list)

    def check(self, holds: bool, sentence: str) -> None:
        """Keep a sentence that does not hold."""
        print(f"  {'right' if holds else 'WRONG'}: {sentence}")
        if not holds:
            self.wrong.append(sentence)

    def time(
        self,
        what: str,
        work: Callable[[], Any],
        note: str = "",
        *,
        warm: int = 1,
        once: bool = False,
    ) -> tuple[Row, Any]:
        """Measure one line of a table."""
        seconds, found = repeated(work, times=1 if once else self.times, warm=0 if once else warm)
        return Row(what=what, seconds=seconds, note=note), found


def main() -> int:
    """Run every measurement; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with adult/ and census/")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, small tables only")
    options = parser.parse_args()
    bench = Bench(times=3 if options.quick else 5, quick=options.quick)
    began = time.perf_counter()
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"{bench.times} repeats after warming up; every figure is wall time."
    )
    with tempfile.TemporaryDirectory(prefix="anonymity-workbench-") as scratch:
        folder = Path(scratch)
        adult = tables.adult(options.data, folder)
        if isinstance(adult, str):
            print(f"\nAdult is not measured. {adult}")
        else:
            _optimal(bench, adult)
            _searches(bench, adult)
            _mondrian(bench, adult)
            _quality(bench, adult)
            _whole(bench, adult, "optimal", "adult")
        census = tables.census(options.data, folder)
        if isinstance(census, str) or options.quick:
            print(
                f"\n{census}" if isinstance(census, str) else "\nLarge tables: left out by --quick."
            )
        else:
            _large(bench, census)
    _start(bench)
    print(f"\nTook {shown(time.perf_counter() - began)}.")
    for sentence in bench.wrong:
        print(f"WRONG: {sentence}", file=sys.stderr)
    return 1 if bench.wrong else 0


def _read(source: Source, recipe: Path) -> tuple[Any, Dataset, dict[str, list[list[str]]]]:
    plan, levels = source.load(recipe)
    return plan, read_table(source.data, plan.data), levels


def _optimal(bench: Bench, source: Source) -> None:
    """Measure the optimal search alone and end to end, beside brute force."""
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    size = 0
    for budget in BUDGETS:
        recipe = source.recipe(f"optimal-{budget:g}", "optimal", budget)
        plan, dataset, levels = _read(source, recipe)
        problem = prepare(plan, dataset, levels)
        row, outcome = bench.time(
            f"search, {budget:.0%} suppression",
            lambda plan=plan, problem=problem: plan.algorithm.run(problem, plan.models, Context()),
        )
        account = outcome.account
        size = account.nodes
        rows.append(row)

        def whole(recipe: Path = recipe) -> Any:
            plan, dataset, levels = _read(source, recipe)
            return run(plan, dataset, levels)

        row, result = bench.time("  file read → verified release", whole)
        rows.append(row)
        found = result.measures["loss"].value
        removed_rows, count = result.release.suppressed, len(result.class_sizes)
        note = f"loss {found:.9f}, {removed_rows} rows removed, {count} classes"
        rows[-2] = Row(what=rows[-2].what, seconds=rows[-2].seconds, note=note)
        if budget in source.known:
            loss, removed, classes = source.known[budget]
            holds = abs(found - loss) <= 1e-8 and removed_rows == removed and count == classes
            checks.append(
                (holds, f"{budget:.0%}: loss {loss}…, {removed} removed, {classes} classes")
            )
        checks.append((result.verification.holds, f"{budget:.0%}: the release verifies"))
    plan, dataset, levels = _read(source, source.recipe("any", "optimal"))
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


def _searches(bench: Bench, source: Source) -> None:
    """Measure every other search on the same table, and that none beats what is proven best."""
    plan, dataset, levels = _read(source, source.recipe("searches", "optimal", 0.02))
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
        told = f"; none below {bound:.6g} by its own measure" if bound is not None else ""
        note = f"loss {found:.6f}, {outcome.release.suppressed} rows removed{told}"
        rows.append(Row(what=row.what, seconds=row.seconds, note=note))
        if outcome.account.node is not None:
            checks.append((found >= best - 1e-12, f"{search.title} is no better than the optimum"))
    print(table(f"Other searches: {source.title}, k = {K}, 2% suppression", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)
    _four_k(bench, source)


def _four_k(bench: Bench, source: Source) -> None:
    """Measure deciding the whole lattice for four values of k, as the frontier needs it."""
    plan, dataset, levels = _read(source, source.recipe("four", "optimal", 0.02))
    problem = prepare(plan, dataset, levels)
    budget = rows_allowed(problem, 0.02)

    def decide() -> int:
        known = 0
        for k in (2, 5, 10, 50):
            model = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": k}))
            nodes = Classification(problem, [model], budget, Context())
            nodes.decide()
            known += int(np.count_nonzero(nodes.status))
        return known

    row, known = bench.time("every node decided for k = 2, 5, 10, 50", decide)
    print(table(f"Whole lattice: {source.title}, 2% suppression", [row]))
    bench.check(known > 0 and known % 4 == 0, f"{known:,} verdicts, one a node and k")


def _small_lattice(bench: Bench, source: Source, frame: pd.DataFrame) -> None:
    rows: list[Row] = []
    costs: dict[float, float] = {}
    levels: dict[str, list[list[str]]] = {}
    for budget in BUDGETS:
        recipe = source.recipe(f"small-{budget:g}", "optimal", budget, quasi=source.small)
        plan, dataset, levels = _read(source, recipe)
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


def _mondrian(bench: Bench, source: Source) -> None:
    """Measure Mondrian beside the recursive baseline on the same ordered columns."""
    rows: list[Row] = []
    plan, dataset, levels = _read(source, source.recipe("tree", "mondrian"))
    problem = prepare(plan, dataset, levels)
    row, _ = bench.time(
        "partition, categories by hierarchy",
        lambda: plan.algorithm.run(problem, plan.models, Context()),
    )
    rows.append(row)
    bare = source.recipe("order", "mondrian", with_hierarchies=False)
    flat, dataset, _ = _read(source, bare)
    ordered = prepare(flat, dataset)
    row, outcome = bench.time(
        "partition, categories by order",
        lambda: flat.algorithm.run(ordered, flat.models, Context()),
    )
    rows.append(row)
    numbers = pd.DataFrame({name: _places(ordered.dataset, name) for name in source.quasi})
    row, parts = bench.time(
        "plain recursion over data frames",
        lambda: baseline.mondrian(numbers, K),
        "not warmed up: it compiles and keeps nothing",
        warm=0,
    )
    rows.append(row)
    print(table(f"Mondrian: {source.title}, k = {K}", rows))
    sizes = np.sort([len(part) for part in parts])
    bench.check(
        np.array_equal(sizes, np.sort(outcome.release.grouping.sizes)),
        f"both make the same {len(parts):,} parts, the smallest of {sizes[0]} rows",
    )


#: What each way to recode locally is asked for; the order is that of the table.
_LOCAL: tuple[dict[str, Any], ...] = (
    {"name": "mondrian"},
    {"name": "mondrian", "cut_at": "quartiles"},
    {"name": "mondrian", "cut_at": "best-gain"},
    {"name": "mondrian", "cut_at": "best-gain", "output": "node", "metric": "loss"},
    {"name": "local-recoding"},
    {"name": "k-member"},
    {"name": "utility-halving"},
    {"name": "spatial-order"},
    {"name": "single-dimension"},
)


def _quality(bench: Bench, source: Source) -> None:
    """Measure what local recodings lose, beside strict Mondrian at the median."""
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    plan, dataset, levels = _read(source, source.recipe("quality", "mondrian"))
    problem = prepare(plan, dataset, levels)
    median = math.inf
    for given in _LOCAL:
        what = ", ".join(str(value) for value in given.values())
        chosen = replace(
            plan, algorithm=Plan.from_mapping(plan.as_mapping() | {"algorithm": given}).algorithm
        )
        row, outcome = bench.time(
            what, lambda chosen=chosen: chosen.algorithm.run(problem, chosen.models, Context())
        )
        lost = {
            name: find("metric", name)().measure(problem, outcome.release, Context()).value  # type: ignore[attr-defined]
            for name in ("ncp", "loss")
        }
        sizes = outcome.release.grouping.sizes
        note = f"NCP {lost['ncp']:.2%}, loss {lost['loss']:.4f}, {len(sizes):,} classes"
        rows.append(Row(what=row.what, seconds=row.seconds, note=note))
        checks.append((int(sizes.min()) >= K, f"{what}: every class has {K} rows"))
        median = min(median, lost["ncp"]) if given == _LOCAL[0] else median
        if given.get("cut_at") and given.get("output") is None:
            checks.append((lost["ncp"] < median, f"{what}: loses less than the median"))
    print(table(f"Local recoding: {source.title}, k = {K}", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)


def _places(dataset: Dataset, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column as numbers: its own where it is one, else the place in the order."""
    column = dataset.column(name)
    pool = (
        column.measure if column.measure is not None else np.arange(len(column.values), dtype=float)
    )
    return pool[column.codes]


def _whole(bench: Bench, source: Source, algorithm: str, name: str, *, once: bool = False) -> None:
    """Measure reading, verification and the command line (this `once` where it takes long)."""
    recipe = source.recipe(f"whole-{name}", algorithm, 0.02)
    plan, dataset, levels = _read(source, recipe)
    rows: list[Row] = []
    row, _ = bench.time("read the table", lambda: read_table(source.data, plan.data))
    rows.append(row)
    stages: list[dict[str, float]] = []

    def whole() -> Any:
        result = run(plan, dataset, levels)
        stages.append(dict(result.seconds))
        return result

    row, result = bench.time("run: table → verified release", whole)
    rows.append(row)
    for stage in result.seconds:
        found = tuple(s[stage] for s in stages[-bench.times :])
        rows.append(Row(what=f"  {stage}", seconds=found))
    out = source.folder / f"out-{name}"
    arguments = ["run", str(recipe), "--data", str(source.data), "--out", str(out)]
    peaks: list[float] = []

    def program() -> None:
        done = _python("-c", _PEAK, *arguments)
        peaks.append(float(done.split()[-1]) / 1024)

    row, _ = bench.time("command line, a process of its own", program, once=once)
    rows.append(Row(what=row.what, seconds=row.seconds, note=f"peak memory {max(peaks):,.0f} MiB"))
    check = ["verify", str(recipe), "--data", str(source.data), "--release", str(out)]
    statuses: list[int] = []
    row, _ = bench.time(
        "verify from the files", lambda: statuses.append(_silently(check)), once=once
    )
    rows.append(row)
    print(table(f"Whole job: {source.title}, {algorithm}, k = {K}", rows))
    bench.check(set(statuses) == {0}, "the written release verifies")


def _large(bench: Bench, source: Source) -> None:
    plan, dataset, levels = _read(source, source.recipe("large", "mondrian"))
    problem = prepare(plan, dataset, levels)
    row, _ = bench.time("partition", lambda: plan.algorithm.run(problem, plan.models, Context()))
    print(table(f"Mondrian: {source.title}, k = {K}", [row]))
    _whole(bench, source, "mondrian", "census", once=True)


def _start(bench: Bench) -> None:
    """Measure how long imports take, each in a new process."""
    rows: list[Row] = []
    for what, line in (
        ("import anon_core", "import anon_core"),
        ("  and every technique", _TECHNIQUES),
        ("import streamlit", "import streamlit"),
        ("  and everything the pages use", f"import streamlit; {_APP}"),
    ):
        seconds: list[float] = []
        try:
            for _ in range(bench.times + 1):
                seconds.append(float(_python("-c", _IMPORT.format(line=line)).split()[-1]))
        except subprocess.CalledProcessError:
            rows.append(Row(what=what, seconds=(), note="could not be imported"))
            continue
        rows.append(Row(what=what, seconds=tuple(seconds[1:])))
    print(table("Start: imports in a new process", rows))


def _python(*arguments: str) -> str:
    """Run Python in the checkout and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return done.stdout


def _silently(arguments: list[str]) -> int:
    """Run a command of the command line without its output."""
    before = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout = nowhere
        try:
            return command_line.main(arguments)
        finally:
            sys.stdout = before


if __name__ == "__main__":
    sys.exit(main())
