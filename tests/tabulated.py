"""Tables for tests: rows by column, and two-way tables from their inner cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from anon_core.data.reading import DataOptions, read_table
from anon_core.data.table import Dataset
from anon_core.tables.axis import Axis
from anon_core.tables.system import Number, System
from anon_core.tables.table import relations_of


def dataset_of(columns: Mapping[str, Sequence[object]]) -> Dataset:
    """Return a table as reading a CSV file makes it."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(columns)
    out.writerows(zip(*columns.values(), strict=True))
    return read_table(text.getvalue().encode(), DataOptions())


def grid(rows: Sequence[str], columns: Sequence[str], inner: Sequence[Sequence[Number]]) -> System:
    """Return a two-way table with its margins, cells named ``row|column`` and T for a total."""
    axes = [Axis.from_tree("row", {"T": rows}), Axis.from_tree("column", {"T": columns})]
    across = [[sum(row), *row] for row in inner]
    table = [[sum(row[at] for row in across) for at in range(len(columns) + 1)], *across]
    return System(
        names=tuple(f"{r}|{c}" for r in axes[0].labels for c in axes[1].labels),
        values=tuple(value for row in table for value in row),
        relations=relations_of(axes),
    )


#: Twenty children of one county (Samarati 2008): education and race of the head of the household.
CHILDREN: Mapping[str, Sequence[object]] = {
    "education": ["very high", *["high"] * 3, "medium", *["low"] * 15],
    "salary": [
        201, 103, 77, 61, 72, 103, 91, 84, 75, 62, 58, 56, 54, 52, 55, 48, 48, 41, 44, 37,
    ],
    "race": [
        "black", "white", "black", "white", "white", "white", "black", "white", "white", "black",
        "white", "black", "black", "white", "black", "white", "white", "black", "black", "white",
    ],
}  # fmt: skip
