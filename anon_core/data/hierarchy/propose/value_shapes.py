"""What values look like: codes of one length, parts, telephone numbers, numbered names."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import decimal

from anon_core.data.column import Column
from anon_core.data.hierarchy.propose.dates_and_times import minute_of_day
from anon_core.data.values.kinds import KINDS

_CODE = re.compile(r"[0-9A-Za-z]{3,12}")
_PHONE = re.compile(r"\+?[\d ()/-]{6,20}\d")
_CODE_WORDS = frozenset({"zip", "zipcode", "postcode", "postal", "plz", "code"})
_DIGITS = re.compile(r"(\d+)")


def code_like(column: Column) -> bool:
    """Return whether the values are codes of one length, such as ZIP codes."""
    lengths = {len(value) for value in column.values}
    if len(lengths) != 1 or min(lengths) < 3:
        return False
    if KINDS[column.kind].amount:  # equal lengths alone say little of a number
        words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column.name).lower())
        return bool(_CODE_WORDS & set(words)) and all(v.isdigit() for v in column.values)
    return all(_CODE.fullmatch(v) and any(map(str.isdigit, v)) for v in column.values)


def separator(column: Column) -> str:
    """Return what separates the parts of codes that all have equally many; empty where none."""
    for separator in (".", "/", "-", ":"):
        parts = {len(value.split(separator)) for value in column.values}
        if len(parts) == 1 and min(parts) > 1 and all(_compact(v) for v in column.values):
            return separator
    return ""


def _compact(value: str) -> bool:
    return " " not in value and any(map(str.isdigit, value))


def is_time(text: str) -> bool:
    """Say whether a text begins with a time of day."""
    return minute_of_day(text) is not None


def is_phone(text: str) -> bool:
    """Say whether a text looks like a telephone number."""
    return _PHONE.fullmatch(text) is not None


def share(column: Column, test: Callable[[str], bool]) -> float:
    """Return the share of a column's values that pass a test."""
    return sum(map(test, column.values)) / len(column.values)


def numbered(column: Column) -> bool:
    """Return whether all values differ in one number only, such as 'Grade 1' and 'Grade 10'."""
    return len({_DIGITS.sub("#", value) for value in column.values}) == 1


def natural(value: str) -> list[tuple[int, int, str]]:
    """Order texts by the numbers in them, of any length."""
    found: list[tuple[int, int, str]] = []
    for place, part in enumerate(_DIGITS.split(value)):
        if place % 2:
            digits = "".join(str(decimal(letter)) for letter in part).lstrip("0")
            found.append((0, len(digits), digits))
        else:
            found.append((1, 0, part))
    return found
