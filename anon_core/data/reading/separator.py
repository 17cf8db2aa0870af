"""Finding out which character stands between cells, and how many columns that makes."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping

from anon_core.base.errors import BadInput

SEPARATORS: Mapping[str, str] = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_HEAD = 1 << 20
_SAMPLED_ROWS = 50


def find_separator(data: bytes, given: str, name: str) -> tuple[str, int]:
    """Return the separator and the number of columns of the header."""
    head = data[:_HEAD].decode("utf-8", errors="ignore")
    whole = len(data) <= _HEAD
    found: dict[str, tuple[float, int]] = {}
    for candidate in SEPARATORS:
        widths = _sample(head, candidate, whole)
        if widths and widths[0] > 1:
            fitting = sum(w == widths[0] for w in widths) / len(widths)
            found[candidate] = (fitting, widths[0])
    best = max(found, key=lambda c: found[c], default="")
    if not given:
        return (best, found[best][1]) if best else (",", 1)
    width = (_sample(head, given, whole) or [1])[0]
    if width == 1 and best and best != given and found[best][0] >= 0.9:
        shown = SEPARATORS.get(given, "the given separator")
        raise BadInput(
            f"{name}: the separator is set to {shown}, but the header holds none; the file looks "
            f"separated by {SEPARATORS[best]}, with {found[best][1]} columns.",
            remedy=f"Set the separator to {SEPARATORS[best]}, or leave it empty to have it found "
            f"out.",
        )
    return given, width


def _sample(head: str, separator: str, whole: bool) -> list[int]:
    """Return the number of cells of the header and the first rows, split at `separator`."""
    rows: list[int] = []
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
    try:
        for row in itertools.islice((r for r in lines if r), _SAMPLED_ROWS + 1):
            rows.append(len(row))
    except csv.Error:  # a cell longer than the csv module takes; what was read is enough
        pass
    # A cut head ends within a row.
    return rows if whole or len(rows) > _SAMPLED_ROWS or len(rows) < 2 else rows[:-1]
