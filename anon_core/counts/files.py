"""Counts with noise as files: a CSV for each table, and what is guaranteed of all of them."""

from __future__ import annotations

import csv
import io
import json

from anon_core.counts.counting import Counts
from anon_core.data.values.formulas import neutralised


def files_of(found: Counts) -> dict[str, bytes]:
    """Return what may be published, by file name: ``counts-1.csv`` and so on, ``guarantee.json``.

    Cells that a spreadsheet would execute are neutralised.
    """
    files: dict[str, bytes] = {}
    for number, table in enumerate(found.tables, 1):
        text = io.StringIO(newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*(neutralised(name) for name in table.by), "count"])
        for cell, count in table.cells.items():
            lines.writerow([*(neutralised(label) for label in cell), count])
        files[f"counts-{number}.csv"] = text.getvalue().encode()
    told = json.dumps(found.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    files["guarantee.json"] = f"{told}\n".encode()
    return files
