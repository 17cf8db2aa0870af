"""How the recipe says that a table is read, as the second computation understands it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from anon_core.base.errors import BadPlan
from anon_core.verification.text.texts import MISSING_TOKENS


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a data file is read; empty and 0 where it is to be found out.

    Attributes
    ----------
    sheet : str
        Of a workbook.
    header_row : int
        Row of a sheet that holds the names, from 1.
    labels : bool
        Whether values that all have labels are read as these.
    dates, decimals : mapping of str to str
        By column, the order of day and month, and the mark before decimals.
    missing : tuple of str
        Texts that stand for a missing value.
    missing_in : mapping of str to tuple of str
        The same by column, where the recipe says other ones for it.
    """

    separator: str = ""
    encoding: str = ""
    sheet: str = ""
    header_row: int = 0
    labels: bool = True
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    decimals: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: tuple[str, ...] = MISSING_TOKENS
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that stand for a missing value in a column."""
        return self.missing_in.get(column, self.missing)


def read_options(data: Mapping[str, Any]) -> Reading:
    """Return how a recipe's ``[data]`` has a table read.

    Raises
    ------
    BadPlan
        If something in it cannot be understood.
    """
    separator, encoding = data.get("separator", ""), data.get("encoding", "")
    if not isinstance(separator, str) or len(separator) > 1 or separator in ('"', "\r", "\n"):
        raise BadPlan("The recipe's separator is not one character.", remedy="Correct [data].")
    if not isinstance(encoding, str) or "\0" in encoding:
        raise BadPlan("The recipe's encoding is no name.", remedy="Correct [data].")
    sheet, row = data.get("sheet", ""), cast(object, data.get("header_row", 0))
    if not isinstance(sheet, str):
        raise BadPlan("The recipe's sheet is no name.", remedy="Correct [data].")
    if isinstance(row, bool) or not isinstance(row, int) or row < 0:
        raise BadPlan("The recipe's header_row is no row.", remedy="Correct [data].")
    shown = data.get("value_labels", "labels")
    if shown not in ("labels", "codes"):
        raise BadPlan(
            "The recipe's value_labels is neither 'labels' nor 'codes'.", remedy="Correct [data]."
        )
    return Reading(
        separator=separator,
        encoding=encoding,
        sheet=sheet,
        header_row=row,
        labels=shown == "labels",
        dates=_by_column(data, "dates", ("dmy", "mdy", "excel", "text")),
        decimals=_by_column(data, "decimals", (",", ".", "text")),
        missing=_texts(data.get("missing_values", MISSING_TOKENS)),
        missing_in={name: _texts(own) for name, own in _table(data.get("missing_in")).items()},
    )


def _by_column(data: Mapping[str, Any], key: str, known: tuple[str, ...]) -> Mapping[str, str]:
    given = cast(object, data.get(key, {}))
    if not isinstance(given, Mapping) or any(
        value not in known for value in cast(Mapping[str, object], given).values()
    ):
        raise BadPlan(f"The recipe's {key} are not said by column.", remedy="Correct [data].")
    return cast(Mapping[str, str], given)


def _table(given: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], given) if isinstance(given, Mapping) else {}


def _texts(given: object) -> tuple[str, ...]:
    """Return texts, and none where they are no list: who reads the promise refuses that."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return ()
    return tuple(one for one in cast(Sequence[object], given) if isinstance(one, str))
