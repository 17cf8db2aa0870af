"""Tables of a million rows and more, made of a small one, and recipes to measure them with."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_core import read_table
from anon_core.data.hierarchy import propose_all
from anon_core.data.reading import DataOptions
from anon_core.recipe.plan import Plan
from benchmarks.tables import Source
from benchmarks.whole import python

K = 10
MILLION = 1_000_000
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


def repeat_rows(source: Source, rows: int, path: Path) -> None:
    """Write a table of a source's rows, repeated.

    In every column that is published as it is, the longest column of numbers differs from
    repetition to repetition, so that hardly two rows are equal.
    """
    python("-c", _MAKE, str(source.data), source.separator, str(rows), str(path))


def names_of(source: Source) -> list[str]:
    import gzip

    opened = gzip.open if source.data.suffix == ".gz" else open
    with opened(source.data, "rt", encoding="utf-8") as file:
        return next(csv.reader(file, delimiter=source.separator))


def levels_of(source: Source) -> dict[str, str]:
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


def plan_of(
    source: Source, names: list[str], levels: Mapping[str, str], technique: str, *, csv: bool
) -> Plan:
    permuted = technique in ("anatomy", "permutation")
    sensitive = list(source.sensitive) or [n for n in names if n not in source.quasi][:1]
    others = [n for n in names if n not in source.quasi and n not in sensitive]
    recipe: dict[str, Any] = {
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
        recipe["algorithm"]["max_suppression"] = 0.02
        recipe["hierarchies"] = dict(levels)
    if permuted:
        recipe["models"] = [{"name": "frequency-l-diversity", "l": 4}]
        recipe["seed"] = "5e2d9c6b1f7a4038b6c1d0e9f8a7b6c5d4e3f2a190817263544f5e6d7c8b9a01"
    return Plan.from_mapping(recipe)
