"""A recipe's text as TOML's tables; whatever it is, the refusal says what is wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any, cast

from anon_core.base.errors import BadPlan

MOST_LEVELS = 20
_MOST_BITS = 63  # as TOML asks of its readers
#: A key of more parts than this takes the parser longer than anybody waits.
_MOST_DOTS = 1000


def read_tables(text: str, what: str = "recipe") -> dict[str, Any]:
    """Return the tables of a recipe, or of another file of that kind.

    Raises
    ------
    BadPlan
        If the text is no TOML, nests too deeply, or holds a number that is too long; names the
        place.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise BadPlan(
                f"The {what}'s line {number} has more than {_MOST_DOTS:,} dots.",
                remedy="Write keys of a few parts, and lists over several lines.",
            )
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPlan(
            f"The {what} is no valid TOML: {error}.", remedy="Correct the text at that place."
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise _too_long() from error
    _check(found)
    return found


def _check(tables: dict[str, Any]) -> None:
    level: list[object] = [tables]
    for _ in range(MOST_LEVELS):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += cast(dict[str, object], value).values()
            elif isinstance(value, list):
                inner += cast(list[object], value)
            elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise _too_long()
        level = inner
    if level:
        raise _too_deep()


def _too_deep() -> BadPlan:
    return BadPlan(
        f"The recipe nests more than {MOST_LEVELS} tables or lists into each other.",
        remedy="Write every table under a heading of its own.",
    )


def _too_long() -> BadPlan:
    return BadPlan(
        f"The recipe holds a whole number of more than {_MOST_BITS} bits.",
        remedy="Write a smaller number, or the digits in quotes if they are no number.",
    )
