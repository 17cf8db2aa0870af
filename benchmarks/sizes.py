"""Whole jobs on tables of a million rows and more, next to a plain copy of the same table."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.large_tables import MILLION, levels_of, names_of, plan_of, repeat_rows
from benchmarks.tables import Source
from benchmarks.timing import Row, table
from benchmarks.whole import PROGRAM, python

#: Reads the table and writes it again, and does nothing else: what a job is measured by.
_COPY = """
import resource, sys
import duckdb
read, *written = sys.argv[1:]
with duckdb.connect(config={"threads": 2, "preserve_insertion_order": False}) as copy:
    copy.execute(f"CREATE TEMP TABLE t AS SELECT * FROM {read}")
    for path in written:
        copy.execute(f"COPY t TO '{path}'")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@dataclass(frozen=True, kw_only=True)
class _Size:
    """A table of some size, and what is asked of it.

    Attributes
    ----------
    rows : int
    ending : str
        What it is read from, ``csv`` or ``parquet``.
    written : tuple of str
        The endings of what is written.
    techniques : tuple of str
    memory : str
        What a run is allowed to take; empty for what it takes by itself.
    """

    rows: int
    ending: str
    written: tuple[str, ...]
    techniques: tuple[str, ...]
    memory: str = ""


_SIZES = (
    _Size(
        rows=MILLION,
        ending="csv",
        written=("csv", "parquet"),
        techniques=("mondrian", "optimal", "anatomy", "permutation"),
    ),
    _Size(
        rows=10 * MILLION,
        ending="parquet",
        written=("parquet",),
        techniques=("mondrian", "optimal"),
    ),
)
_LARGEST = _Size(
    rows=100 * MILLION,
    ending="parquet",
    written=("parquet",),
    techniques=("mondrian", "optimal"),
    memory="6GB",
)


def sizes(bench: Bench, source: Source, *, large: bool) -> None:
    """Measure jobs, each in a process of its own, with what they take of memory."""
    folder = source.folder
    names = names_of(source)
    levels = levels_of(source)
    for size in (*_SIZES, *((_LARGEST,) if large else ())):
        data = folder / f"rows-{size.rows}.{size.ending}"
        repeat_rows(source, size.rows, data)
        reads = f"read_csv('{data}', all_varchar = true)" if size.ending == "csv" else f"'{data}'"
        copies = [str(folder / f"copy.{ending}") for ending in size.written]
        rows: list[Row] = []
        copy = _measured(bench, rows, "plain copy in DuckDB", _COPY, reads, *copies)
        for technique in size.techniques:
            recipe = folder / f"rows-{technique}.toml"
            recipe.write_text(
                plan_of(source, names, levels, technique, csv="csv" in size.written).as_toml(),
                encoding="utf-8",
            )
            out = folder / f"out-{size.rows}-{technique}"
            given = ["run", str(recipe), "--data", str(data), "--out", str(out)]
            given += ["--memory", size.memory] if size.memory else []
            _measured(bench, rows, f"{technique}, verified", PROGRAM, *given, plain=copy)
            bench.check(out.is_dir(), f"{technique} of {size.rows:,} rows was verified and written")
            shutil.rmtree(out)
        title = f"{size.rows:,} rows × {len(names)} columns, {size.ending} → "
        print(table(f"{title}{' and '.join(size.written)}, 2 cores", rows))
        for path in (data, *map(Path, copies)):
            path.unlink()
    if not large:
        print("\n100M rows: left out without --large.")


def _measured(
    bench: Bench, rows: list[Row], what: str, code: str, *arguments: str, plain: float = 0.0
) -> float:
    """Measure a process once, add its line, and return its seconds."""
    printed: list[str] = []
    if hasattr(os, "sync"):
        os.sync()  # what the one before has written is not this one's to wait for
    row, _ = bench.time(what, lambda: printed.append(python("-c", code, *arguments)), once=True)
    seconds = row.seconds[-1]
    peak = float(printed[-1].split()[-1]) / 2**20
    times = f", {seconds / plain:.1f} × the copy" if plain else ""
    rows.append(Row(what=what, seconds=row.seconds, note=f"at most {peak:.2f} GiB{times}"))
    return seconds
