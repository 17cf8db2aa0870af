"""Repeats, and how their figures are shown."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table: what was done and how long each repeat took.

    Attributes
    ----------
    what : str
    seconds : tuple of float
        One per repeat; empty where nothing was measured.
    note : str
    """

    what: str
    seconds: tuple[float, ...]
    note: str = ""


def repeated(work: Callable[[], T], *, times: int, warm: int = 1) -> tuple[tuple[float, ...], T]:
    """Return the wall time of each of several repeats after warming up, and the last result."""
    for _ in range(warm):
        work()
    seconds: list[float] = []
    gc.collect()
    gc.disable()  # what one repeat leaves behind shall not be cleaned up in the next one's time
    try:
        while True:
            began = time.perf_counter()
            found = work()
            seconds.append(time.perf_counter() - began)
            if len(seconds) == times:
                return tuple(seconds), found
    finally:
        gc.enable()


def shown(seconds: float) -> str:
    """Return a duration with three significant digits, in the unit that suits it.

    Examples
    --------
    >>> shown(0.01234), shown(1.5), shown(254.0)
    ('12.3 ms', '1.50 s', '254 s')
    """
    if seconds < 1:
        size, unit = seconds * 1000, "ms"
    else:
        size, unit = seconds, "s"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{size:.{digits}f} {unit}"


def table(title: str, rows: Sequence[Row]) -> str:
    """Return the rows as a table for people: fastest, median and slowest repeat."""
    heads = ["", "min", "median", "max", "repeats", ""]
    cells = [
        [
            row.what,
            *(
                shown(pick(row.seconds)) if row.seconds else "–"
                for pick in (min, statistics.median, max)
            ),
            str(len(row.seconds)),
            row.note,
        ]
        for row in rows
    ]
    wide = [max(len(line[i]) for line in [heads, *cells]) for i in range(len(heads))]
    lines = ["", title]
    for line in [heads, *cells]:
        padded = [
            cell.ljust(width) if i in (0, 5) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, wide, strict=True))
        ]
        lines.append("  " + "  ".join(padded).rstrip())
    return "\n".join(lines)
