"""One column as the core sees it: integer codes into its distinct texts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadCells, BadInput
from anon_core.data.values.kinds import (
    KINDS,
    ColumnKind,
    a_kind,
    detect_kind,
    marks_thousands,
    other_kind,
    whole_kind,
)
from anon_core.data.values.thousands import (
    MARK_NAMES,
    UNDECIDED,
    thousands_mark,
    whole_numbers,
    without_thousands,
)

_MERGED = "were merged (1.0 and 1 are one)."
_COMMAS = "Decimal commas were read as decimal points."
_DOUBTFUL = (
    "If they mark thousands, take them out of the file or read the column as text: 12,500 counts "
    "as 12.5 here."
)
_MARKED = "were read as marks between thousands and are not published: 12{0}500 is 12500."

Spelled = tuple[npt.NDArray[np.int32], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """One column, dictionary encoded.

    Attributes
    ----------
    kind : str
        One of `kinds.KINDS`.
    codes : int32 array of shape (rows,)
        Index into `values`; -1 where missing.
    values : tuple of str
        Distinct texts: by measure where there is one, else alphabetical.
    measure : float64 array of shape (values,), or None
        What each value measures, such as a number or a day; None for text.
    notes : tuple of str
        What a person should know about how the column was read.
    origin : int64 array of shape (rows,), or None
        Place of each row in the table that was read, where rows were dropped since.
    spelled : (int32 array of shape (rows,), tuple of str), or None
        Codes and texts as they were read, where spellings of equal numbers or dates were merged, or
        marks between thousands taken out; declared as text, they are the values again.
    thousands : str
        Mark between thousands of the whole column that was read, should it be a number; see
        `thousands.thousands_mark`. Rows that are left may not tell it any more.
    undecided : {'dates', 'decimals', ''}
        What someone has to say of how the column is written before it is released.
    tokens : (int32 array of shape (rows,), tuple of str), or None
        Texts that were taken for a missing value, and which of them each row has, -1 where it has
        none; None where no cell but an empty one was.
    """

    name: str
    kind: ColumnKind
    codes: npt.NDArray[np.int32]
    values: tuple[str, ...]
    measure: npt.NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    origin: npt.NDArray[np.int64] | None = None
    spelled: Spelled | None = None
    thousands: str = ""
    undecided: str = ""
    tokens: Spelled | None = None

    @cached_property
    def replaced(self) -> dict[str, int]:
        """Rows by the text that was taken for a missing value, empty cells left out."""
        if self.tokens is None:
            return {}
        codes, texts = self.tokens
        count = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
        return {text: rows for text, rows in zip(texts, count, strict=True) if rows}

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows per value, shape (values,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values)).astype(np.int64)

    @cached_property
    def missing(self) -> int:
        """Number of rows without a value."""
        return int(np.count_nonzero(self.codes < 0))

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the column as the texts that were read, shape (rows,), None where missing."""
        codes, values = self.as_read
        pool = np.empty(len(values) + 1, dtype=object)
        pool[:-1] = values
        pool[-1] = None
        return cast(npt.NDArray[np.object_], pool[codes])

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The distinct texts as they were read, in no order; see `as_read`."""
        return self.values if self.spelled is None else self.spelled[1]

    @property
    def as_read(self) -> Spelled:
        """Codes and texts as they were read; spellings of equal numbers differ."""
        return self.spelled or (self.codes, self.values)

    def head(self, rows: int) -> Column:
        """Return the column's first rows; its values stay."""
        codes, values = self.spelled or (None, ())
        spelled = None if codes is None else (codes[:rows], values)
        tokens = None if self.tokens is None else (self.tokens[0][:rows], self.tokens[1])
        return replace(self, codes=self.codes[:rows], spelled=spelled, tokens=tokens)

    def take(self, rows: npt.NDArray[np.bool_]) -> Column:
        """Return the column with only the rows marked in `rows`; values no row has are dropped."""
        codes, values = self.as_read
        notes = tuple(note for note in self.notes if not note.endswith(_MERGED))
        kept = encode(
            self.name,
            codes[rows],
            values,
            kind=self.kind,
            notes=notes,
            thousands=self.thousands,
        )
        origin = np.flatnonzero(rows) if self.origin is None else self.origin[rows]
        tokens = None if self.tokens is None else (self.tokens[0][rows], self.tokens[1])
        return replace(kept, origin=origin.astype(np.int64), tokens=tokens)

    def with_notes(self, *notes: str) -> Column:
        """Return the column with more notes."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def row_number(self, place: int) -> int:
        """Return the number, from 1, that row `place` has in the table that was read."""
        return place + 1 if self.origin is None else int(self.origin[place]) + 1

    def first_row(self, values: Sequence[int]) -> str:
        """Say in which row the first of some values is, for a message; rows count from 1."""
        place = int(np.flatnonzero(np.isin(self.codes, values))[0])
        return f" (first in row {self.row_number(place)})"


def encode(
    name: str,
    codes: npt.NDArray[np.int32],
    values: Sequence[str],
    *,
    kind: ColumnKind | None = None,
    notes: tuple[str, ...] = (),
    thousands: str | None = None,
) -> Column:
    """Build a column from codes into any pool of texts (-1 missing), merging and ordering the pool.

    Texts that write the same number (``1.0`` and ``1``) become one value, the shortest text. Of
    numbers, marks between `thousands` are taken out; where it is None, the texts tell which.

    Raises
    ------
    BadInput
        If `kind` has a measure and a value is not of it, or may be several numbers; names the
        first row.
    """
    used = np.bincount(codes + np.int32(1), minlength=len(values) + 1)[1:] > 0
    present = list(values) if used.all() else [v for v, u in zip(values, used, strict=True) if u]
    numbers = None if thousands else whole_numbers(present)
    if numbers is not None:
        found = whole_kind(present) if kind is None else kind
        column = _of_whole_numbers(name, found, codes, present, numbers, used)
        if column is not None:
            return column.with_notes(*notes)
    mark = thousands_mark(present) if thousands is None else thousands
    kind = detect_kind(present, mark) if kind is None else kind
    plain: dict[str, str] = {}
    measure_of: dict[str, float] = {}
    rules = KINDS[kind]
    if rules.marks and mark == UNDECIDED:
        raise BadInput(
            f"Column '{name}' is declared as number, but some of its values use a dot or comma for "
            "decimals and others for thousands.",
            remedy="Take the marks between thousands out of the file, or declare the column as "
            "text.",
        )
    if rules.read is not None:
        if rules.marks:
            plain = {v: without_thousands(v, mark) for v in present} if mark else {}
        else:
            plain = {v: rules.plain(v) for v in present}
        measure_of = {v: rules.read(plain.get(v, v)) for v in present}
        bad = [v for v in present if math.isnan(measure_of[v])]
        if bad:
            wrong = set(bad)
            odd = np.array([v in wrong for v in values])
            raise BadCells(
                f"Column '{name}' is declared as {kind}, but {len(bad)} distinct "
                f"{'value is' if len(bad) == 1 else 'values are'} not {a_kind(kind)} "
                "(first in row {}).",
                rows=np.flatnonzero((codes >= 0) & odd[codes]).tolist(),
                remedy=f"Correct the values{rules.forms}, mark them as "
                f"missing, or declare '{name}' as {other_kind(present, mark)}.",
                values=bad[:5],
            )
        if alike := rules.confused([plain.get(v, v) for v in present]):
            raise BadInput(
                f"Column '{name}' is declared as {kind}, but {len(alike)} distinct "
                f"{'value has' if len(alike) == 1 else 'values have'} {rules.why_confused}.",
                remedy=f"Declare '{name}' as text.",
                values=alike[:5],
            )
    target: dict[str, str] = {}
    spelled: Spelled | None = None
    measure: npt.NDArray[np.float64] | None = None
    if measure_of:
        by_measure: dict[float, str] = {}
        written = [(plain.get(v, v), v) for v in present]
        for text, value in sorted(written, key=lambda pair: (len(pair[0]), pair[0])):
            target[value] = by_measure.setdefault(measure_of[value], text)
        ordered = [by_measure[m] for m in sorted(by_measure)]
        measure = np.array(sorted(by_measure), dtype=np.float64)
        merged = len(present) - len(ordered)
        marked = any(text != value for text, value in written)
        if merged or marked:
            dense = np.cumsum(used, dtype=np.int32) - np.int32(1)
            spelled = (np.append(dense, np.int32(-1))[codes].astype(np.int32), tuple(present))
        if merged:
            notes = (
                *notes,
                f"{merged} spellings of equal {rules.several} {_MERGED}",
            )
        reason = rules.said_nothing or f"{MARK_NAMES.get(mark, '')} {_MARKED.format(mark)}"
        if marked and reason not in notes:
            notes = (*notes, reason)
        if rules.marks and any("," in v for v in ordered) and _COMMAS not in notes:
            notes = (*notes, _COMMAS)
            if not mark and marks_thousands(ordered):
                notes = (*notes, _DOUBTFUL)
    else:
        ordered = sorted(set(present))
    place = {v: i for i, v in enumerate(ordered)}
    new_code = np.full(len(values) + 1, -1, dtype=np.int32)
    for i, value in enumerate(values):
        if used[i]:
            new_code[i] = place[target.get(value, value)]
    return Column(
        name=name,
        kind=kind,
        codes=new_code[codes],
        values=tuple(ordered),
        measure=measure,
        notes=notes,
        spelled=spelled,
        thousands=mark,
    )


def as_kind(column: Column, kind: ColumnKind) -> Column:
    """Return a column read as another kind; the same where it is of that kind already.

    Raises
    ------
    BadInput
        As `encode` does.
    """
    if kind == column.kind:
        return column
    read = encode(column.name, *column.as_read, kind=kind, thousands=column.thousands)
    return replace(read, tokens=column.tokens)


def with_values(
    column: Column, kept: Collection[str], gaps: npt.NDArray[np.bool_] | None = None
) -> Column:
    """Return a column of texts with some of what was missing in it as values.

    Parameters
    ----------
    kept : collection of str
        Of its `tokens`, those that are values.
    gaps : bool array of shape (rows,), optional
        Rows whose missing value is the value that is written as an empty text.
    """
    read, texts = column.as_read
    codes, values = read.copy(), [*texts]
    tokens = column.tokens
    if tokens is not None and kept:
        which, texts = tokens
        target = np.full(len(texts) + 1, -1, dtype=np.int32)
        for place, text in enumerate(texts):
            if text in kept:
                target[place] = len(values)
                values.append(text)
        codes = np.where(target[which] >= 0, target[which], codes).astype(np.int32)
        left = np.where(target[which] >= 0, np.int32(-1), which).astype(np.int32)
        tokens = (left, texts) if np.any(left >= 0) else None
    if gaps is not None and np.any(gaps & (codes < 0)):
        codes[gaps & (codes < 0)] = len(values)
        values.append("")
    made = encode(column.name, codes, values, kind=column.kind, thousands="")
    return replace(made, notes=column.notes, origin=column.origin, tokens=tokens)


def _of_whole_numbers(
    name: str,
    kind: ColumnKind,
    codes: npt.NDArray[np.int32],
    present: Sequence[str],
    numbers: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
) -> Column | None:
    """Return what `encode` does of texts that are the one way to write their numbers, at once."""
    order = np.argsort(numbers)
    measure = numbers[order]
    if not KINDS[kind].whole or np.any(measure[1:] == measure[:-1]):  # one is there twice
        return None
    new_code = np.full(len(used) + 1, -1, dtype=np.int32)
    new_code[np.flatnonzero(used)[order]] = np.arange(len(order), dtype=np.int32)
    return Column(
        name=name,
        kind=kind,
        codes=new_code[codes],
        values=tuple(map(present.__getitem__, order.tolist())),
        measure=measure.astype(np.float64),
    )


def tokens_of(
    codes: npt.NDArray[np.int32], texts: Sequence[str], absent: Collection[str]
) -> Spelled | None:
    """Return which texts of `absent` rows have, without empty ones; see `Column.tokens`.

    Takes what `trimmed` takes.
    """
    if set(map(str.strip, texts)).isdisjoint({*absent} - {""}):
        return None  # nearly all columns end here, quickly
    places: dict[str, int] = {}
    target = np.full(len(texts) + 1, -1, dtype=np.int32)
    for i, value in enumerate(texts):
        text = value.strip()
        if text and text in absent:
            target[i] = places.setdefault(text, len(places))
    found = target[codes]
    return (found, tuple(places)) if np.any(found >= 0) else None


def trimmed(
    codes: npt.NDArray[np.int32], texts: Sequence[str], absent: Collection[str]
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return codes into texts without blanks around them; -1 where they are in `absent`."""
    distinct = set(texts)
    bare = "".join(texts).isalnum() and not distinct & {"", *absent}
    if bare and len(distinct) == len(texts):  # there is nothing to take away
        return codes.astype(np.int32, copy=False), list(texts)
    places: dict[str, int] = {}
    target = np.full(len(texts) + 1, -1, dtype=np.int32)
    for i, value in enumerate(texts):
        text = value.strip()
        target[i] = -1 if text in absent else places.setdefault(text, len(places))
    return target[codes], list(places)
