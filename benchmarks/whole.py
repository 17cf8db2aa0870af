"""Whole jobs: from a file to a verified release, large tables, the command line, start-up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from anon_core import __main__ as command_line
from anon_core import read_table, run
from anon_core.base.context import Context
from anon_core.pipeline.prepare import prepare
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

CHECKOUT = Path(__file__).resolve().parent.parent
#: The command line as people start it, and then what memory it took at its largest, in KiB.
PROGRAM = """
import sys
from anon_core import __main__ as program
leave = program.leave
def leave_with(status):
    try:
        import resource
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    except ImportError:  # Windows
        print("nan")
    leave(status)
program.leave = leave_with
program.finish(sys.argv[1:])
"""
_IMPORT = """
import sys, time
began = time.perf_counter()
{line}
print(time.perf_counter() - began)
"""
_TECHNIQUES = (
    "from anon_core.base import registry; from anon_core.pipeline import runner; "
    "[registry.family(f) for f in registry.FAMILIES]"
)
_APP = (
    "import importlib, pkgutil, ui; "
    "[importlib.import_module(m.name) for m in pkgutil.walk_packages(ui.__path__, 'ui.')]"
)


def whole(bench: Bench, source: Source, algorithm: str, name: str, *, once: bool = False) -> None:
    """Measure reading, verification and the command line (this `once` where it takes long)."""
    recipe = source.recipe(f"whole-{name}", algorithm, 0.02)
    plan, dataset, levels = read(source, recipe)
    rows: list[Row] = []
    row, _ = bench.time("read the table", lambda: read_table(source.data, plan.data))
    rows.append(row)
    stages: list[dict[str, float]] = []

    def job() -> Any:
        result = run(plan, dataset, levels)
        stages.append(dict(result.seconds))
        return result

    row, result = bench.time("run: table → verified release", job)
    rows.append(row)
    for stage in result.seconds:
        found = tuple(s[stage] for s in stages[-bench.times :])
        rows.append(Row(what=f"  {stage}", seconds=found))
    out = source.folder / f"out-{name}"
    arguments = ["run", str(recipe), "--data", str(source.data), "--out", str(out)]
    peaks: list[float] = []

    def program() -> None:
        done = python("-c", PROGRAM, *arguments)
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


def large(bench: Bench, source: Source) -> None:
    plan, dataset, levels = read(source, source.recipe("large", "mondrian"))
    problem = prepare(plan, dataset, levels)
    row, _ = bench.time("partition", lambda: plan.algorithm.run(problem, plan.models, Context()))
    print(table(f"Mondrian: {source.title}, k = {K}", [row]))
    whole(bench, source, "mondrian", "census", once=True)


def start(bench: Bench) -> None:
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
                seconds.append(float(python("-c", _IMPORT.format(line=line)).split()[-1]))
        except subprocess.CalledProcessError:
            rows.append(Row(what=what, seconds=(), note="could not be imported"))
            continue
        rows.append(Row(what=what, seconds=tuple(seconds[1:])))
    print(table("Start: imports in a new process", rows))


def python(*arguments: str) -> str:
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
