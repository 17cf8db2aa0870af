"""Whole jobs on tables of a million rows and more, beside a plain copy of the same table."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_core import read_table
from anon_core.data.reading import DataOptions
from anon_core.hierarchy import propose_all
from anon_core.job.plan import Plan
from benchmarks.bench import Bench
from benchmarks.tables import Source
from benchmarks.timing import Row, table
from benchmarks.whole import python

K = 10
MILLION = 1_000_000
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
_RUN = """
import resource, sys
from anon_core.__main__ import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(status)
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
    """

    rows: int
    ending: str
    written: tuple[str, ...]
    techniques: tuple[str, ...]


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
    rows=100 * MILLION, ending="parquet", written=("parquet",), techniques=("mondrian", "optimal")
)


def sizes(bench: Bench, source: Source, *, large: bool) -> None:
    """Measure jobs, each in a process of its own, with what they take of memory.

    Rows of the source are repeated; in every column that is published as it is, the longest column
    of numbers differs from repetition to repetition, so that hardly two rows are equal.
    """
    folder = source.folder
    names = _names(source)
    levels = _levels(source)
    for size in (*_SIZES, *((_LARGEST,) if large else ())):
        data = folder / f"rows-{size.rows}.{size.ending}"
        python("-c", _MAKE, str(source.data), source.separator, str(size.rows), str(data))
        reads = f"read_csv('{data}', all_varchar = true)" if size.ending == "csv" else f"'{data}'"
        copies = [str(folder / f"copy.{ending}") for ending in size.written]
        rows: list[Row] = []
        copy = _measured(bench, rows, "plain copy in DuckDB", _COPY, reads, *copies)
        for technique in size.techniques:
            recipe = folder / f"rows-{technique}.toml"
            recipe.write_text(
                _plan(source, names, levels, technique, csv="csv" in size.written).as_toml(),
                encoding="utf-8",
            )
            out = folder / f"out-{size.rows}-{technique}"
            given = ("run", str(recipe), "--data", str(data), "--out", str(out))
            _measured(bench, rows, f"{technique}, verified", _RUN, *given, beside=copy)
            bench.check(out.is_dir(), f"{technique} of {size.rows:,} rows was verified and written")
            shutil.rmtree(out)
        title = f"{size.rows:,} rows × {len(names)} columns, {size.ending} → "
        print(table(f"{title}{' and '.join(size.written)}, 2 cores", rows))
        for path in (data, *map(Path, copies)):
            path.unlink()
    if not large:
        print("\n100M rows: left out without --large.")


_MAKE = """
import sys
import duckdb
source, separator, rows, path = sys.argv[1:]
read = f"read_csv('{source}', all_varchar = true, delim = '{separator}')"
given = {"threads": 2, "memory_limit": "3GB", "preserve_insertion_order": False}
with duckdb.connect(config=given) as made:
    made.execute(f"CREATE TABLE t AS SELECT *, row_number() OVER () AS nth FROM {read}")
    own = int(made.execute("SELECT count(*) FROM t").fetchone()[0])
    names = [row[0] for row in made.execute("DESCRIBE t").fetchall() if row[0] != "nth"]
    wide = [n for n in names if made.execute(
        f'SELECT count(DISTINCT "{n}") > 500 AND count(TRY_CAST("{n}" AS BIGINT)) = count("{n}") '
        "FROM t").fetchone()[0]]
    moved = "".join(
        f', CAST(CAST("{n}" AS BIGINT) + hash(r, nth) % 997 AS VARCHAR) AS "{n}"' for n in wide)
    kept = ", ".join(f'"{n}"' for n in names if n not in wide)
    times = -(-int(rows) // own)
    made.execute(f"COPY (SELECT {kept}{moved} FROM t, range({times}) AS many(r) "
                 f"WHERE r * {own} + nth <= {rows}) TO '{path}'")
"""


def _names(source: Source) -> list[str]:
    import gzip

    opened = gzip.open if source.data.suffix == ".gz" else open
    with opened(source.data, "rt", encoding="utf-8") as file:
        return next(csv.reader(file, delimiter=source.separator))


def _levels(source: Source) -> dict[str, str]:
    """Write a hierarchy of every quasi-identifier, where none is there; return their files."""
    found = {name: str(path) for name, path in source.hierarchies.items()}
    if set(source.quasi) <= set(found):
        return found
    dataset = read_table(source.data, DataOptions(separator=source.separator))
    for name, proposal in propose_all(dataset, source.quasi).items():
        path = source.folder / f"proposed-{len(found)}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(proposal.rows)
        found[name] = str(path)
    return found


def _plan(
    source: Source, names: list[str], levels: Mapping[str, str], technique: str, *, csv: bool
) -> Plan:
    permuted = technique in ("anatomy", "permutation")
    sensitive = list(source.sensitive) or [n for n in names if n not in source.quasi][:1]
    others = [n for n in names if n not in source.quasi and n not in sensitive]
    told: dict[str, Any] = {
        "data": {"missing": "drop"},
        "roles": {
            "quasi": list(source.quasi),
            "sensitive": sensitive,
            "insensitive": [] if permuted else others,
        },
        "algorithm": {"name": technique},
        "models": [{"name": "k-anonymity", "k": K}],
        "export": {"csv": csv},
    }
    if technique == "optimal":
        told["algorithm"]["max_suppression"] = 0.02
        told["hierarchies"] = dict(levels)
    if permuted:
        told["models"] = [{"name": "frequency-l-diversity", "l": 4}]
        told["seed"] = "5e2d9c6b1f7a4038b6c1d0e9f8a7b6c5d4e3f2a190817263544f5e6d7c8b9a01"
    return Plan.from_mapping(told)


def _measured(
    bench: Bench, rows: list[Row], what: str, code: str, *arguments: str, beside: float = 0.0
) -> float:
    """Measure a process once, add its line, and return its seconds."""
    printed: list[str] = []
    row, _ = bench.time(what, lambda: printed.append(python("-c", code, *arguments)), once=True)
    seconds = row.seconds[-1]
    peak = float(printed[-1].split()[-1]) / 2**20
    times = f", {seconds / beside:.1f} × the copy" if beside else ""
    rows.append(Row(what=what, seconds=row.seconds, note=f"at most {peak:.2f} GiB{times}"))
    return seconds
