"""The second computation's own reader of recipes."""

from __future__ import annotations

import tomllib
from typing import Any

from anon_core.base.errors import BadPlan

_MOST_DOTS = 1000  # in a line; the parser takes longer for keys of more parts than anybody waits


def read_recipe(content: bytes, name: str) -> dict[str, Any]:
    """Return the tables of a recipe.

    Raises
    ------
    BadPlan
        If it is no TOML in UTF-8, or nothing that could be read with an end.
    """
    try:
        text = content.decode("utf-8-sig")
        if max(line.count(".") for line in text.split("\n")) > _MOST_DOTS:
            raise RecursionError
        tables = tomllib.loads(text)
        repr(tables)  # numbers of thousands of digits cannot be written, nor what nests too deep
    except (ValueError, RecursionError) as error:  # TOML's and UTF-8's errors are ValueErrors
        raise BadPlan(
            f"The recipe {name} is no valid TOML file.", remedy="Correct the file."
        ) from error
    return tables
