"""Build a column's hierarchy from nothing or from a level table, and refuse what is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy, InputChanged, UnknownValues, listing
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import MOST_LETTERS, TOP, Hierarchy
from anon_core.data.table import MISSING, MISSING_TOKENS
from anon_core.data.values.kinds import KINDS


def flat(column: Column) -> Hierarchy:
    """Return the hierarchy a column has when none is given: the values, and ``*`` above them.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> sex = encode("sex", np.array([0, 1, 0], dtype=np.int32), ["M", "F"])
    >>> flat(sex).rows()
    [('F', '*'), ('M', '*')]
    """
    if not column.values:
        return _build(column, [])
    # A column's values are in leaf order already, and there is nothing that could not nest.
    leaves = (*column.values, MISSING) if column.missing else column.values
    measure = column.measure
    if measure is not None and column.missing:
        measure = np.append(measure, np.nan)
    return Hierarchy(
        column=column.name,
        leaves=leaves,
        measure=measure,
        starts=(np.arange(len(leaves), dtype=np.int32), np.zeros(1, dtype=np.int32)),
        labels=(leaves, (TOP,)),
        counted=np.ones(len(leaves), dtype=np.bool_),
        has_missing=column.missing > 0,
    )


class LevelRows(list[list[str]]):
    """A level table as a file holds it, with the line at which each row begins."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def from_rows(column: Column, rows: Sequence[Sequence[str]]) -> Hierarchy:
    """Build a column's hierarchy from a level table (value first, then one label a level).

    Values in the table but not in the data stay; values only in the data are an error, except the
    missing value, which hangs directly under the root.

    Raises
    ------
    BadHierarchy
        Rows of unequal length, a value listed twice, two tops, levels that do not nest, a group of
        numbers that is not an interval, or values of the data that are not covered.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> zip_code = encode("zip", np.array([0, 1], dtype=np.int32), ["94138", "94142"])
    >>> h = from_rows(zip_code, [["94138", "9413*", "941**"], ["94142", "9414*", "941**"]])
    >>> h.height, h.labels[1]
    (2, ('9413*', '9414*'))
    """
    width = len(rows[0]) if rows else 0
    if width == 0:
        raise BadHierarchy(
            f"The hierarchy of '{column.name}' is empty.",
            remedy="It needs one line per value: the value, then its label on each level.",
        )
    lines = rows.lines if isinstance(rows, LevelRows) else list(range(1, len(rows) + 1))
    for number, row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}', line {number}: {len(row)} cells where line "
                f"{lines[0]} has {width}.",
                remedy="Every line needs the value and one label for every level.",
            )
    cleaned = [tuple(map(str.strip, row)) for row in rows]
    known = set(column.values)
    # A missing value that is none of the column's values has its own place under the root.
    numbered = [
        (number, row)
        for number, row in zip(lines, cleaned, strict=True)
        if row[0] not in MISSING_TOKENS or row[0] in known
    ]
    if KINDS[column.kind].measured and column.missing:
        empty = [number for number, row in zip(lines, cleaned, strict=True) if row[0] == MISSING]
        if empty:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}', line {empty[0]}: a row for the missing value has "
                f"no place among {KINDS[column.kind].several}.",
                remedy="Remove the row: a missing value stays empty up to the top. Or declare "
                f"'{column.name}' as text.",
            )
    own = [row for _, row in numbered]
    seen: dict[str, int] = {}
    for number, row in numbered:
        if MISSING in row[1:]:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}', line {number}: the label on level "
                f"{row.index(MISSING, 1)} is empty, which is how a missing value is written.",
                remedy="Give every level a label; a line must not end with a separator.",
            )
        long = 0
        if max(map(len, row)) > MOST_LETTERS:
            long = next((i for i, t in enumerate(row) if len(t) > MOST_LETTERS and t != row[0]), 0)
        if long:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}', line {number}: the label on level {long} has "
                f"{len(row[long]):,} characters; at most {MOST_LETTERS:,} are allowed.",
                remedy="Use a short name for the group.",
            )
        if row[0] in seen:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}': a value occurs in line {seen[row[0]]} and again "
                f"in line {number}.",
                remedy="List every value once; a value has one path to the top.",
                values=[row[0]],
            )
        seen[row[0]] = number
    tops = list(dict.fromkeys(row[-1] for row in own))
    if width == 1:
        own = [(row[0], TOP) for row in own]
    elif len(tops) > 1:
        raise BadHierarchy(
            f"Hierarchy of '{column.name}' has {len(tops)} tops{_named(tops, known)}.",
            remedy="Add a last level that is the same for every value, for example '*'.",
            values=[t for t in tops[:5] if t in known],
        )
    path = {row[0]: row for row in own}
    for level in range(1, width - 1):
        parent: dict[str, tuple[str, int]] = {}
        for number, row in numbered:
            before = parent.setdefault(row[level], (row[level + 1], number))
            if before[0] != row[level + 1]:
                under = [row[level], before[0], row[level + 1]]
                raise BadHierarchy(
                    f"Hierarchy of '{column.name}': a label on level {level} has one label above "
                    f"it in line {before[1]} and another in line {number}{_named(under, known)}.",
                    remedy="Levels must nest: values that share a label share all labels above.",
                    values=[t for t in under if t in known],
                )
            meant = seen.get(row[level])
            if meant is not None and path[row[level]][level] != row[level]:
                raise BadHierarchy(
                    f"Hierarchy of '{column.name}', line {number}: the label on level {level} is "
                    f"also a value, in line {meant}, which does not belong to that group.",
                    remedy="Give the group a label that no value outside of it has.",
                    values=[row[level]],
                )
    return _build(column, own)


def _named(labels: Sequence[str], values: set[str]) -> str:
    """Return labels for a message, unless one of them is a value of the data."""
    return "" if any(label in values for label in labels) else f": {listing(labels, 4)}"


def _build(column: Column, rows: Sequence[tuple[str, ...]]) -> Hierarchy:
    read = KINDS[column.kind].read
    by_text = {row[0]: row for row in rows}
    alias: dict[str, tuple[str, ...]] = {}
    measures: dict[str, float] = {}
    if read is not None:
        measures = {row[0]: read(row[0]) for row in rows}
        bad = [text for text, m in measures.items() if math.isnan(m)]
        if bad:
            marks = " (write them without marks between thousands)" if column.thousands else ""
            raise BadHierarchy(
                f"Hierarchy of '{column.name}': {len(bad)} values are not a {column.kind}, but the "
                f"column is.",
                remedy=f"Correct them{marks}, or declare '{column.name}' as text.",
                values=bad[:5],
            )
        if len(set(measures.values())) < len(measures):
            times = Counter(measures.values())
            raise BadHierarchy(
                f"Hierarchy of '{column.name}': {len(measures) - len(times)} values occur "
                f"again in another spelling (1.0 and 1 are one {column.kind}).",
                remedy="List every value once; a value has one path to the top.",
                values=[text for text, m in measures.items() if times[m] > 1][:5],
            )
        same = _same(column, measures)
        alias = {v: by_text[t] for t, v in same.items()}
        # The data's own spelling (39 or 39.0) is the one that is published.
        rows = [
            (same.get(row[0], row[0]), *row[1:])
            for row in sorted(rows, key=lambda row: measures[row[0]])
        ]
    uncovered = [i for i, v in enumerate(column.values) if v not in by_text and v not in alias]
    if uncovered and len(uncovered) == len(column.values):
        raise InputChanged(
            f"The hierarchy of '{column.name}' has none of the column's {len(uncovered)} values: "
            "it seems to belong to another column.",
            remedy="Choose the hierarchy of this column.",
            values=[column.values[i] for i in uncovered[:5]],
        )
    if uncovered:
        rows_with = int(column.counts[uncovered].sum())
        raise UnknownValues(
            f"The hierarchy of '{column.name}' lacks {len(uncovered)} of the column's "
            f"{len(column.values)} values; they are in {rows_with} "
            f"{'row' if rows_with == 1 else 'rows'}{column.first_row(uncovered)}.",
            remedy="Add the values to the hierarchy, or mark them as missing in the data.",
            values=[column.values[i] for i in uncovered[:5]],
        )
    if read is None and rows:
        rows = _depth_first(rows)
    has_missing = column.missing > 0
    levels = len(rows[0]) if rows else 2  # an all-missing column is its missing value under a top
    starts: list[npt.NDArray[np.int32]] = []
    labels: list[tuple[str, ...]] = []
    for level in range(levels):
        texts = [row[level] for row in rows] or [TOP]
        begin = [0]
        begin += [i for i, (one, next_) in enumerate(pairwise(texts), 1) if one != next_]
        names = [texts[i] for i in begin]
        repeated = [n for n, times in Counter(names).items() if times > 1]
        if repeated:
            raise BadHierarchy(
                f"Hierarchy of '{column.name}': {len(repeated)} groups on level {level} are not "
                f"intervals of the column's order{_named(repeated, set(column.values))}.",
                remedy="Groups of numbers and dates must be intervals that do not overlap.",
            )
        if has_missing and level < levels - 1:
            begin = [*begin, len(rows)] if rows else [0]
            names = [*names, MISSING] if rows else [MISSING]
        starts.append(np.array(begin, dtype=np.int32))
        labels.append(tuple(names))
    leaves = tuple(row[0] for row in rows) + ((MISSING,) if has_missing else ())
    measure = None
    if read is not None:
        measure = np.array(
            [measures[t] if t in measures else read(t) for t in leaves], dtype=np.float64
        )
    return Hierarchy(
        column=column.name,
        leaves=leaves,
        measure=measure,
        starts=tuple(starts),
        labels=tuple(labels),
        counted=np.ones(len(leaves), dtype=np.bool_),
        has_missing=has_missing,
    )


def _same(column: Column, measures: Mapping[str, float]) -> dict[str, str]:
    """Return, by text, the value of the data that measures the same, where there is one."""
    if column.measure is None or not column.values:
        return {}
    asked = np.array(list(measures.values()), dtype=np.float64)
    place = np.minimum(np.searchsorted(column.measure, asked), len(column.values) - 1)
    found = column.measure[place] == asked
    pairs = zip(measures, place.tolist(), found.tolist(), strict=True)
    return {text: column.values[at] for text, at, there in pairs if there}


def _depth_first(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Order rows so that every group is a run, keeping the file's order of first appearance.

    The missing value, where it is one of the values, comes last, and so do the groups it is in.
    """
    place: list[dict[str, int]] = [{} for _ in rows[0]]
    last = dict(enumerate(next((row for row in rows if row[0] == MISSING), ())))
    for row in rows:
        for level, label in enumerate(row):
            if last.get(level) != label:
                place[level].setdefault(label, len(place[level]))
    for level, label in last.items():
        place[level][label] = len(place[level])
    return sorted(
        rows, key=lambda row: tuple(place[i][row[i]] for i in range(len(row) - 1, -1, -1))
    )
