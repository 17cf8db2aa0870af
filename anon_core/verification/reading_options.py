"""How the recipe says that a table is read, as the second computation understands it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..base.errors import BadPlan


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a data file is read; empty and 0 where it is to be found out.

    Attributes
    ----------
    separator, encoding : str
    sheet : str
        Of a workbook.
    header_row : int
        Row of a sheet that holds the names, from 1.
    labels : bool
        Whether values that all have labels are read as these.
    """

    separator: str = ""
    encoding: str = ""
    sheet: str = ""
    header_row: int = 0
    labels: bool = True


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
    )
