"""How a table is read: the ``[data]`` table of a recipe."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, cast, get_args

from anon_core.base.errors import BadPlan, brief, listing, nearest
from anon_core.data.reading.notation import DATE_ORDERS, DECIMAL_MARKS
from anon_core.data.reading.row_filter import columns_of
from anon_core.data.table import MISSING_TOKENS

Missing = Literal["keep", "drop"]
ValueLabels = Literal["labels", "codes"]
Rest = Literal["outside", "population"]
_MARKS = " \t!#$%&()*+,-/:;<=>?@[\\]^_`{|}~"
_ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "iso8859-15")
#: What files are, by kind (`loading.FileKind`).
_IS = {
    "text": "a text file",
    "parquet": "a Parquet file",
    "spreadsheet": "a workbook",
    "statistics": "a file of SPSS, Stata or SAS",
}
#: By option: the kinds of files that it speaks of, and the value that says nothing.
_SPEAKS_OF: Mapping[str, tuple[tuple[str, ...], object]] = {
    "separator": (("text",), ""),
    "encoding": (("text", "statistics"), ""),
    "sheet": (("spreadsheet",), ""),
    "header_row": (("spreadsheet",), 0),
    "value_labels": (("statistics",), "labels"),
}


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """How a table is read: the ``[data]`` table of a recipe.

    Attributes
    ----------
    separator : str
        The character between cells; empty to find it out among comma, semicolon, tab and bar.
    missing : {'keep', 'drop'}
        Whether a run keeps rows that miss a value in a column with a role, or drops them. Reading
        itself never drops a row.
    missing_values : tuple of str
        Texts that represent a missing value; the empty text always does.
    missing_in : mapping of str to tuple of str
        By column, the texts that represent a missing value there, whatever represents one in
        others; none of them where only an empty cell does.
    kinds_found : tuple of str
        Columns of texts whose kind a run has found out and written under ``[types]``: there no one
        said that every text is a value.
    encoding : str
        The file's encoding; empty to find it out.
    sample : float
        Share of the rows that a run draws at random and publishes; 1 is all. Reading itself draws
        nothing.
    sheet : str
        The sheet of a workbook; empty where only one holds cells.
    header_row : int
        The row of a sheet that holds the names, from 1; 0 for the first with two cells or more.
    value_labels : {'labels', 'codes'}
        What the table holds of SPSS, Stata and SAS columns all of whose values have labels.
    dates, decimals : mapping of str to str
        By column, in which order it writes day and month, and which mark is before decimals:
        of `notation.DATE_ORDERS` and `DECIMAL_MARKS`. Others are found out, or stay undecided.

    where : str
        A condition (see `row_filter`): a run publishes only rows of which it is true. Reading
        itself leaves none out.
    rest : {'outside', 'population'}
        What the other rows are: of no concern, or, with the chosen ones, the people among whom
        someone is looked for.
    benchmark : int
        Rows of the private table in the design that experiments of the literature use; 0 is no
        such design. Rows with missing values are dropped, all that are left are the public table,
        and so many of them are drawn.

    Raises
    ------
    BadPlan
        Naming the key, what is allowed and what was found.
    """

    separator: str = ""
    missing: Missing = "keep"
    missing_values: tuple[str, ...] = MISSING_TOKENS
    encoding: str = ""
    sample: float = 1.0
    sheet: str = ""
    header_row: int = 0
    value_labels: ValueLabels = "labels"
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    decimals: Mapping[str, str] = field(default_factory=dict[str, str])
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kinds_found: tuple[str, ...] = ()
    where: str = ""
    rest: Rest = "outside"
    benchmark: int = 0

    def refuse_idle(self, kind: str, name: str) -> None:
        """Refuse what says nothing of a file of this kind, as a header's row of Parquet.

        Parameters
        ----------
        kind : str
            One of `loading.FileKind`.
        name : str
            What the file is called in the message.

        Raises
        ------
        BadPlan
        """
        for key, (kinds, nothing) in _SPEAKS_OF.items():
            value = getattr(self, key)
            if value not in (nothing, 1 if kind == "text" else nothing) and kind not in kinds:
                raise BadPlan(
                    f"[data] {key} is {brief(value)}, and {name} is {_IS[kind]}, of which it says "
                    f"nothing; it is read from {listing(_IS[one] for one in kinds)}.",
                    remedy=f"Remove {key}, or name the file that it is about.",
                )

    @property
    def is_utf8(self) -> bool:
        """Whether text is in UTF-8, or its encoding is found out."""
        return not self.encoding or codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")

    @property
    def draws(self) -> bool:
        """Whether rows are drawn from the table, and so not all of them published."""
        return self.sample < 1 or self.benchmark > 0

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that represent a missing value in a column, next to the empty one."""
        return self.missing_in.get(column, self.missing_values)

    def __post_init__(self) -> None:
        """Refuse options that no file can be read with."""
        mark = cast(object, self.separator)
        if mark != "" and not (isinstance(mark, str) and mark in _MARKS and len(mark) == 1):
            raise BadPlan(
                f"[data] separator is {brief(mark)}; allowed is one character such as ',', ';', a "
                "tab or '|', or an empty text.",
                remedy="Leave it empty to have the separator found out.",
            )
        if self.missing not in get_args(Missing):
            raise BadPlan(
                f"[data] missing is {brief(self.missing)}; allowed are "
                f"{listing(get_args(Missing))}.",
                remedy="Keep rows with missing values, or drop them."
                f"{nearest(str(self.missing), get_args(Missing))}",
            )
        if not isinstance(cast(object, self.sheet), str):
            raise BadPlan(
                f"[data] sheet is {brief(self.sheet)}; allowed is the name of a sheet.",
                remedy='Write it in quotes, for example sheet = "Data".',
            )
        row = cast(object, self.header_row)
        if isinstance(row, bool) or not isinstance(row, int) or row < 0:
            raise BadPlan(
                f"[data] header_row is {brief(row)}; allowed are whole numbers from 1, or 0.",
                remedy="Count the sheet's rows from 1, or write 0 to have the header found out.",
            )
        if self.value_labels not in get_args(ValueLabels):
            raise BadPlan(
                f"[data] value_labels is {brief(self.value_labels)}; allowed are "
                f"{listing(get_args(ValueLabels))}.",
                remedy="Choose what the table holds of values with labels."
                f"{nearest(str(self.value_labels), get_args(ValueLabels))}",
            )
        if not isinstance(cast(object, self.where), str):
            raise BadPlan(
                f"[data] where is {brief(self.where)}; allowed is a condition in quotes.",
                remedy="Write it in quotes, for example where = \"sex = 'F' and age > 30\".",
            )
        columns_of(self.where)
        if self.rest not in get_args(Rest):
            raise BadPlan(
                f"[data] rest is {brief(self.rest)}; allowed are {listing(get_args(Rest))}.",
                remedy="Say what the rows are that the condition leaves out."
                f"{nearest(str(self.rest), get_args(Rest))}",
            )
        if self.rest == "population" and not self.where.strip():
            raise BadPlan(
                "[data] rest is 'population', and no condition leaves rows out.",
                remedy="Write one under where, or leave rest out.",
            )
        for key, allowed in (("dates", DATE_ORDERS), ("decimals", DECIMAL_MARKS)):
            _refuse_other(key, getattr(self, key), allowed)
        share = cast(object, self.sample)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise BadPlan(
                f"[data] sample is {brief(share)}; allowed is a number above 0 and at most 1.",
                remedy="Write the share of rows to draw, for example 0.1, or 1 for all.",
            )
        object.__setattr__(self, "sample", float(share))
        number = cast(object, self.benchmark)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0 or number == 1:
            raise BadPlan(
                f"[data] benchmark is {brief(number)}; allowed are whole numbers from 2, or 0.",
                remedy="Write the rows of the private table, for example 2000.",
            )
        if number and share < 1:
            raise BadPlan(
                f"[data] has sample = {share:g} and benchmark = {number}, and each draws rows.",
                remedy="Leave one of them out.",
            )
        if number and self.rest == "population":
            raise BadPlan(
                "[data] rest is 'population', and a benchmark makes the complete rows public.",
                remedy="Leave one of them out.",
            )
        if number:
            object.__setattr__(self, "missing", "drop")
        object.__setattr__(self, "missing_values", _texts("missing_values", self.missing_values))
        object.__setattr__(self, "kinds_found", _texts("kinds_found", self.kinds_found))
        by_column = cast(object, self.missing_in)
        if not isinstance(by_column, Mapping):
            raise BadPlan(
                f"[data] missing_in is {brief(by_column)}; allowed is a table by column.",
                remedy='Write it by column, for example missing_in = { age = ["-9"], code = [] }.',
            )
        tokens = {
            str(column): _texts(f"missing_in of '{column}'", texts)
            for column, texts in cast(Mapping[object, object], by_column).items()
        }
        object.__setattr__(self, "missing_in", tokens)
        name = cast(object, self.encoding)
        try:
            if not isinstance(name, str):
                raise LookupError
            if name:
                "a".encode(name)
        except (LookupError, ValueError):
            raise BadPlan(
                f"[data] encoding is {brief(name)}, which is not known; allowed are names such as "
                f"{listing(_ENCODINGS)}, or an empty text.",
                remedy=f"Leave it empty to have it found out.{nearest(str(name), _ENCODINGS)}",
            ) from None

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> DataOptions:
        """Build the options from a recipe's or a form's values.

        Raises
        ------
        BadPlan
            On an unknown key, with the nearest name, or a value that is not allowed.
        """
        known = [one.name for one in fields(cls)]
        for key in given:
            if key not in known:
                raise BadPlan(
                    f"[data] has the unknown key '{key}'; allowed are {listing(known)}.",
                    remedy=f"Remove or rename it.{nearest(key, known)}",
                )
        if given.get("benchmark") and given.get("missing") == "keep":
            raise BadPlan(
                "[data] missing is 'keep', and a benchmark is drawn from complete rows.",
                remedy="Leave missing or benchmark out.",
            )
        return cls(**cast(dict[str, Any], dict(given)))

    def as_mapping(self) -> dict[str, object]:
        """Return the options as plain values by key."""
        given: dict[str, object] = {
            "separator": self.separator,
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "encoding": self.encoding,
            "sample": self.sample,
        }
        for one in fields(self):  # what few files need is named where it is used
            value = getattr(self, one.name)
            if one.name not in given and value != _default(one):
                given[one.name] = _plain(value)
        return given


def _default(one: Field[Any]) -> object:
    return one.default if one.default is not MISSING else {}


def _plain(value: Any) -> object:
    if isinstance(value, tuple):
        return list(cast(tuple[object, ...], value))
    if not isinstance(value, Mapping):
        return value
    own = cast(Mapping[str, object], value)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in own.items()}


def _texts(key: str, given: object) -> tuple[str, ...]:
    """Return texts that represent a missing value."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadPlan(
            f"[data] {key} is not a list; allowed is a list of texts.",
            remedy='Write it as a list, for example ["", "?", "NA"].',
        )
    texts = tuple(cast(Sequence[object], given))
    if not all(isinstance(text, str) for text in texts):
        raise BadPlan(
            f"[data] {key} holds something that is not a text; allowed are texts.",
            remedy='Write numbers in quotes too, for example "-9".',
        )
    return cast(tuple[str, ...], texts)


def _refuse_other(key: str, given: object, allowed: Collection[str]) -> None:
    if not isinstance(given, Mapping):
        raise BadPlan(
            f"[data] {key} is {brief(given)}; allowed is a table by column.",
            remedy=f'Write it by column, for example {key} = {{ born = "{next(iter(allowed))}" }}.',
        )
    for column, value in cast(Mapping[str, object], given).items():
        if value not in tuple(allowed):
            raise BadPlan(
                f"[data] {key} of '{column}' is {brief(value)}; allowed are {listing(allowed)}.",
                remedy=f"Use one of these.{nearest(str(value), tuple(allowed))}",
            )
