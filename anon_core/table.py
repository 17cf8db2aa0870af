"""The table as the core sees it: every column is integer codes into its distinct texts."""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from .errors import BadInput, listing, nearest
from .frames import ArrowFrame, columns_of

if TYPE_CHECKING:
    import pandas as pd

ColumnKind = Literal["text", "ordered", "number", "date"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
MISSING_TOKENS: tuple[str, ...] = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")
#: How a missing value is written in a release and matched in a hierarchy.
MISSING = ""

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\Z")
_CODE_LIKE = re.compile(r"0\d+\Z")
_MERGED = "were merged (1.0 and 1 are one)."
_COMMAS = "Decimal commas were read as decimal points."
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}\Z")
_DOUBTFUL = (
    "If they mark thousands, take them out of the file or read the column as text: 12,500 counts "
    "as 12.5 here."
)
_FORMS = " (dates are read as 2026-12-31, 2026/12/31 or 31.12.2026)"
_DATE_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")


def as_number(text: str) -> float:
    """Return the number a text writes, with ``.`` or ``,`` as decimal mark; NaN if it is none."""
    text = text.strip()
    if not _NUMBER.match(text):
        return math.nan
    value = float(text.replace(",", "."))
    return value if math.isfinite(value) else math.nan


def as_day(text: str) -> float:
    """Return a date as days since 0001-01-01; NaN if the text is no date in a known form."""
    for form in _DATE_FORMS:
        try:
            return float(datetime.datetime.strptime(text.strip(), form).toordinal())
        except ValueError:
            continue
    return math.nan


def confused(values: Sequence[str]) -> list[str]:
    """Return the texts of numbers that are different, but equal or infinite as 64-bit floats."""
    measures = [as_number(value) for value in values]
    if len(set(measures)) == len(values) and not any(map(math.isnan, measures)):
        return []
    first: dict[float, Decimal] = {}
    found: list[str] = []
    for value, measure in zip(values, measures, strict=True):
        exact = Decimal(value.strip().replace(",", "."))
        if math.isnan(measure) or first.setdefault(measure, exact) != exact:
            found.append(value)
    return found


def marks_thousands(values: Sequence[str]) -> bool:
    """Say whether the commas in texts of numbers may mark thousands, as far as these tell.

    Examples
    --------
    >>> marks_thousands(["12,500", "950"]), marks_thousands(["12,500", "4,1"])
    (True, False)
    """
    marked = [v for v in values if "," in v]
    return bool(marked) and all(_THOUSAND.match(v.strip()) for v in marked)


def detect_kind(values: Sequence[str]) -> ColumnKind:
    """Guess a column's kind from its distinct, non-missing texts.

    A leading zero (``01234``) keeps a column text: it is a code, and the zeros must survive. So do
    numbers with more digits than can be told apart, such as account numbers, and commas that may
    mark decimals or thousands.
    """
    if not values:
        return "text"
    if not any(_CODE_LIKE.match(v) for v in values) and all(
        _NUMBER.match(v.strip()) for v in values
    ):
        return "text" if confused(values) or marks_thousands(values) else "number"
    if all(len(v) <= 10 and not math.isnan(as_day(v)) for v in values):
        return "date"
    return "text"


Spelled = tuple[npt.NDArray[np.int32], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """One column, dictionary encoded.

    Attributes
    ----------
    name : str
    kind : {'text', 'ordered', 'number', 'date'}
    codes : int32 array of shape (rows,)
        Index into `values`; -1 where missing.
    values : tuple of str
        Distinct texts: by measure for numbers and dates, else alphabetical.
    measure : float64 array of shape (values,), or None
        Number or day of each value; None for text.
    notes : tuple of str
        What a person should know about how the column was read.
    origin : int64 array of shape (rows,), or None
        Place of each row in the table that was read, where rows were dropped since.
    spelled : (int32 array of shape (rows,), tuple of str), or None
        Codes and texts as they were read, where spellings of equal numbers or dates were merged;
        declared as text, they are different values again.
    """

    name: str
    kind: ColumnKind
    codes: npt.NDArray[np.int32]
    values: tuple[str, ...]
    measure: npt.NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    origin: npt.NDArray[np.int64] | None = None
    spelled: Spelled | None = None

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

    @property
    def as_read(self) -> Spelled:
        """Codes and texts as they were read, spellings of equal numbers apart."""
        return self.spelled or (self.codes, self.values)

    def head(self, rows: int) -> Column:
        """Return the column's first rows; its values stay."""
        if self.spelled is None:
            return replace(self, codes=self.codes[:rows])
        codes, values = self.spelled
        return replace(self, codes=self.codes[:rows], spelled=(codes[:rows], values))

    def take(self, rows: npt.NDArray[np.bool_]) -> Column:
        """Return the column with only the rows marked in `rows`; values no row has are dropped."""
        codes, values = self.as_read
        notes = tuple(note for note in self.notes if not note.endswith(_MERGED))
        kept = encode(self.name, codes[rows], values, kind=self.kind, notes=notes)
        origin = np.flatnonzero(rows) if self.origin is None else self.origin[rows]
        return replace(kept, origin=origin.astype(np.int64))

    def row_number(self, place: int) -> int:
        """Return the number, from 1, that row `place` has in the table that was read."""
        return place + 1 if self.origin is None else int(self.origin[place]) + 1


def encode(
    name: str,
    codes: npt.NDArray[np.int32],
    values: Sequence[str],
    *,
    kind: ColumnKind | None = None,
    notes: tuple[str, ...] = (),
) -> Column:
    """Build a column from codes into any pool of texts (-1 missing), merging and ordering the pool.

    Texts that write the same number (``1.0`` and ``1``) become one value, the shortest text.

    Raises
    ------
    BadInput
        If `kind` is number or date and a value is neither; names the first row.
    """
    used = np.bincount(codes + np.int32(1), minlength=len(values) + 1)[1:] > 0
    present = [v for v, u in zip(values, used, strict=True) if u]
    kind = detect_kind(present) if kind is None else kind
    measure_of: dict[str, float] = {}
    if kind in ("number", "date"):
        read = as_number if kind == "number" else as_day
        measure_of = {v: read(v) for v in present}
        bad = [v for v in present if math.isnan(measure_of[v])]
        if bad:
            wrong = set(bad)
            odd = np.array([v in wrong for v in values])
            first = int(np.flatnonzero((codes >= 0) & odd[codes])[0])
            raise BadInput(
                f"Column '{name}' is declared as {kind}, but {len(bad)} distinct "
                f"{'value is' if len(bad) == 1 else 'values are'} not a {kind} "
                f"(first in row {first + 1}).",
                remedy=f"Correct the values{_FORMS if kind == 'date' else ''}, mark them as "
                f"missing, or declare '{name}' as text.",
                values=bad[:5],
            )
        if kind == "number" and (alike := confused(present)):
            raise BadInput(
                f"Column '{name}' is declared as number, but {len(alike)} distinct values have "
                "more digits than numbers can be told apart by.",
                remedy=f"Declare '{name}' as text.",
                values=alike[:5],
            )
    target: dict[str, str] = {}
    spelled: Spelled | None = None
    if measure_of:
        by_measure: dict[float, str] = {}
        for value in sorted(present, key=lambda v: (len(v), v)):
            target[value] = by_measure.setdefault(measure_of[value], value)
        ordered = sorted(by_measure.values(), key=lambda v: measure_of[v])
        merged = len(present) - len(ordered)
        if merged:
            dense = np.cumsum(used, dtype=np.int32) - np.int32(1)
            spelled = (np.append(dense, np.int32(-1))[codes].astype(np.int32), tuple(present))
            notes = (
                *notes,
                f"{merged} spellings of equal {kind}s {_MERGED}",
            )
        if kind == "number" and any("," in v for v in ordered) and _COMMAS not in notes:
            notes = (*notes, _COMMAS)
            if marks_thousands(ordered):
                notes = (*notes, _DOUBTFUL)
    else:
        ordered = sorted(set(present))
    place = {v: i for i, v in enumerate(ordered)}
    new_code = np.full(len(values) + 1, -1, dtype=np.int32)
    for i, value in enumerate(values):
        if used[i]:
            new_code[i] = place[target.get(value, value)]
    measure = np.array([measure_of[v] for v in ordered], dtype=np.float64) if measure_of else None
    return Column(
        name=name,
        kind=kind,
        codes=new_code[codes],
        values=tuple(ordered),
        measure=measure,
        notes=notes,
        spelled=spelled,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A table that was read: columns of equal length, in the file's order.

    Attributes
    ----------
    columns : tuple of Column
    rows : int
    source : str
        File or sample name, for headings.
    notes : tuple of str
        What a person should know about how the table was read.
    dropped : int
        Rows removed because a value was missing.
    undrawn : int
        Rows left out because a sample did not draw them.
    """

    columns: tuple[Column, ...]
    rows: int
    source: str = ""
    notes: tuple[str, ...] = ()
    dropped: int = 0
    undrawn: int = 0
    _by_name: Mapping[str, Column] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the columns by name."""
        object.__setattr__(self, "_by_name", {c.name: c for c in self.columns})

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self._by_name)

    def column(self, name: str) -> Column:
        """Return one column.

        Raises
        ------
        BadInput
            If there is none of that name; lists the columns and the nearest name.
        """
        if name not in self._by_name:
            raise BadInput(
                f"There is no column '{name}'; the table has {listing(self._by_name)}.",
                remedy=f"Use one of the table's column names.{nearest(name, self._by_name)}",
            )
        return self._by_name[name]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the full content: names, kinds, values and every row's codes."""
        digest = hashlib.sha256()
        for column in self.columns:
            for part in (column.name, column.kind, *column.values):
                digest.update(part.encode("utf-8", "surrogatepass") + b"\x00")
            digest.update(np.ascontiguousarray(column.codes).data)
            if column.spelled is not None:
                codes, texts = column.spelled
                digest.update("\x00".join(texts).encode("utf-8", "surrogatepass"))
                digest.update(np.ascontiguousarray(codes).data)
        return digest.hexdigest()

    def without_missing(self, names: Sequence[str]) -> Dataset:
        """Return the table without the rows that miss a value in any of `names`; counts them."""
        keep = np.ones(self.rows, dtype=np.bool_)
        for name in names:
            keep &= self.column(name).codes >= 0
        gone = self.rows - int(np.count_nonzero(keep))
        if gone == 0:
            return self
        return replace(
            self,
            columns=tuple(c.take(keep) for c in self.columns),
            rows=self.rows - gone,
            dropped=self.dropped + gone,
        )

    def with_kinds(self, kinds: Mapping[str, ColumnKind]) -> Dataset:
        """Return the table with some columns read as another kind.

        Raises
        ------
        BadInput
            If a column is unknown or has values that are not of the kind.
        """
        check_kinds(kinds, self.names)
        columns = tuple(
            encode(c.name, *c.as_read, kind=kinds[c.name])
            if c.name in kinds and kinds[c.name] != c.kind
            else c
            for c in self.columns
        )
        return replace(self, columns=columns)

    def frame(self, first: int | None = None, *, coded: bool = False) -> pd.DataFrame:
        """Return the table, or its first rows, as a pandas frame of texts (None where missing).

        Where `coded`, columns are categories: whoever reads them sees every text once.
        """
        import pandas as pd
        import pyarrow as pa

        stop = self.rows if first is None else min(first, self.rows)
        data: dict[str, Any] = {}
        for column in self.columns:
            codes, values = column.head(stop).as_read
            if coded:
                texts = pd.Index(values, dtype="str")
                data[column.name] = pd.Categorical.from_codes(codes, categories=texts)
                continue
            # The stub package knows neither a mask of an array nor pandas' own texts.
            places = cast(Any, pa.array(codes, mask=codes < 0))
            cells = pa.DictionaryArray.from_arrays(places, pa.array(values, type=pa.large_string()))
            texts = cast(Any, cells.cast(pa.large_string()))
            data[column.name] = pd.Series(pd.array(texts, dtype="str"))
        return pd.DataFrame(data)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame | ArrowFrame,
        *,
        kinds: Mapping[str, ColumnKind] | None = None,
        missing: Sequence[str] = MISSING_TOKENS,
        source: str = "",
    ) -> Dataset:
        """Build a dataset from a frame of pandas, polars, pyarrow; labels of an index play no part.

        Cells are read as a file's are: blanks around them are no part of them, and what is then
        empty is missing.

        Raises
        ------
        BadInput
            On duplicate column names, an empty frame, or values that are not of a declared kind.
        """
        names, coded, rows = columns_of(frame)
        check_names(names)
        kinds = kinds or {}
        check_kinds(kinds, names)
        if rows == 0:
            raise BadInput("The table has no rows.", remedy="Load a table with at least one row.")
        absent = {MISSING, *(token.strip() for token in missing)}
        columns = [
            encode(name, *trimmed(codes, texts, absent), kind=kinds.get(name))
            for name, (codes, texts) in zip(names, coded, strict=True)
        ]
        return cls(columns=tuple(columns), rows=rows, source=source)


def trimmed(
    codes: npt.NDArray[np.int32], texts: Sequence[str], absent: Collection[str]
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return codes into texts without blanks around them; -1 where they are in `absent`."""
    places: dict[str, int] = {}
    target = np.full(len(texts) + 1, -1, dtype=np.int32)
    for i, value in enumerate(texts):
        text = value.strip()
        target[i] = -1 if text in absent else places.setdefault(text, len(places))
    return target[codes], list(places)


def check_kinds(kinds: Mapping[str, ColumnKind], names: Sequence[str]) -> None:
    """Refuse declared kinds of unknown columns, and unknown kinds.

    Raises
    ------
    BadInput
        Naming the column and the nearest name.
    """
    for name, kind in kinds.items():
        if name not in names:
            raise BadInput(
                f"A type is declared for '{name}', but the table has {listing(names)}.",
                remedy=f"Use one of the table's column names.{nearest(name, names)}",
            )
        if kind not in COLUMN_KINDS:
            raise BadInput(
                f"Column '{name}' has the unknown type '{kind}'; allowed are "
                f"{listing(COLUMN_KINDS)}.",
                remedy="Use one of these types.",
            )


def check_names(names: Sequence[str]) -> None:
    """Refuse empty and duplicate column names.

    Raises
    ------
    BadInput
        Naming the positions (1-based) of the columns concerned.
    """
    empty = [str(i + 1) for i, name in enumerate(names) if not name.strip()]
    if empty:
        raise BadInput(
            f"Column {', '.join(empty)} has no name in the header line.",
            remedy="Give every column a name in the first line of the file. Where every line ends "
            "with a separator, the last column is empty: delete it.",
        )
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise BadInput(
                f"Two columns are called '{name}' (columns {seen[name] + 1} and {position + 1}).",
                remedy="Rename one of them; every column needs its own name.",
            )
        seen[name] = position
