"""How the reader's spreadsheet expects CSV: the marks of a second file of the release.

The CSV file that verification reads stays as it is; the second one holds the same cells in the same
order, and verification writes it again by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from anon_core.base.errors import BadPlan, brief, listing, nearest

if TYPE_CHECKING:
    import pyarrow as pa

Separator = Literal[",", ";", "\t", "|"]
Decimal = Literal["", ",", "."]
LineEnd = Literal["lf", "crlf"]
Quotes = Literal["needed", "all"]
#: What follows a table's name in that of the file.
ENDING = "spreadsheet.csv"
_ENDS = {"lf": "\n", "crlf": "\r\n"}
_NUMBER = re.compile(r"([+-]?[0-9]+)[.,]([0-9]+)")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The marks of a CSV file in UTF-8.

    Attributes
    ----------
    separator : {',', ';', 'tab', '|'}
    decimal : {'', ',', '.'}
        What is before decimals in cells that are a number and nothing else; empty leaves them.
    bom : bool
        Whether the file begins with the mark by which Excel knows UTF-8.
    line_end : {'lf', 'crlf'}
    quotes : {'needed', 'all'}
        Which cells are in quotes.

    Raises
    ------
    BadPlan
        Naming the key, what is allowed and what was found.
    """

    separator: Separator = ","
    decimal: Decimal = ""
    bom: bool = False
    line_end: LineEnd = "lf"
    quotes: Quotes = "needed"

    def __post_init__(self) -> None:
        """Refuse marks that are not among those allowed."""
        for key, allowed in (
            ("separator", get_args(Separator)),
            ("decimal", get_args(Decimal)),
            ("line_end", get_args(LineEnd)),
            ("quotes", get_args(Quotes)),
        ):
            found = getattr(self, key)
            if found not in allowed:
                raise BadPlan(
                    f"[export.dialect] {key} is {brief(found)}; allowed are {listing(allowed)}.",
                    remedy="Use one of these.",
                )
        if not isinstance(cast(object, self.bom), bool):
            raise BadPlan(
                f"[export.dialect] bom is {brief(self.bom)}; allowed are true and false.",
                remedy="Write true or false.",
            )
        if self.separator == self.decimal:
            raise BadPlan(
                "[export.dialect] has one mark for separator and decimals.",
                remedy="Use a semicolon or a tab between cells if a comma separates decimals.",
            )

    @classmethod
    def from_mapping(cls, given: object) -> Dialect:
        """Build a dialect from a recipe's or a form's values.

        Raises
        ------
        BadPlan
        """
        known = [one.name for one in fields(cls)]
        if not isinstance(given, Mapping):
            raise BadPlan(
                "[export] dialect is not a table.", remedy="Write it as [export.dialect]."
            )
        for key in cast(Mapping[str, object], given):
            if key not in known:
                raise BadPlan(
                    f"[export.dialect] has the unknown key '{key}'; allowed are {listing(known)}.",
                    remedy=f"Remove or rename it.{nearest(key, known)}",
                )
        return cls(**cast(dict[str, Any], dict(cast(Mapping[str, object], given))))

    def as_mapping(self) -> dict[str, object]:
        """Return the marks as plain values by key."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def cell(self, text: str, *, alone: bool) -> str:
        """Return how a cell is written; in a table of one column an empty one is quoted."""
        if self.decimal:
            text = _with_mark(text, self.decimal)
        quoted = self.quotes == "all" or (alone and not text)
        if quoted or any(sign in text for sign in (self.separator, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text

    def write(self, table: pa.Table) -> bytes:
        """Return a published table as CSV with these marks."""
        alone = table.num_columns == 1
        end = _ENDS[self.line_end]
        header = self.separator.join(self.cell(n, alone=alone) for n in table.column_names)
        columns: list[list[str]] = []
        for column in table.columns:
            coded = cast(Any, column.combine_chunks())
            texts = [self.cell(str(t), alone=alone) for t in coded.dictionary.to_pylist()]
            columns.append([texts[code] for code in coded.indices.to_pylist()])
        rows = [header, *map(self.separator.join, zip(*columns, strict=True)), ""]
        return ("\ufeff" * self.bom + end.join(rows)).encode()


def _with_mark(text: str, mark: str) -> str:
    found = _NUMBER.fullmatch(text)
    return text if found is None else f"{found[1]}{mark}{found[2]}"


def spreadsheet_files(dialect: Dialect | None, tables: Mapping[str, pa.Table]) -> dict[str, bytes]:
    """Return published tables as files by name in a dialect; none where there is none."""
    if dialect is None:
        return {}
    return {f"{name}.{ENDING}": dialect.write(table) for name, table in tables.items()}
