"""What may group a column's values: builders by the kind of column, the best one first.

Another builder is an entry in the list of its kind. A kind without a list of its own gets groups of
about equal rows where it has a measure, else what is tried on texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unicodedata import decimal

import numpy as np

from anon_core.base.errors import AnonError
from anon_core.data.column import Column
from anon_core.data.hierarchy.intervals import Cuts, intervals
from anon_core.data.hierarchy.model import TOP, Rows
from anon_core.data.hierarchy.propose import categories, codes, library, starts
from anon_core.data.hierarchy.propose import dates_and_times as dates
from anon_core.data.hierarchy.propose.dates_and_times import minute_of_day
from anon_core.data.values.kinds import KINDS, ColumnKind

# What values look like: codes of one length, parts, telephone numbers, numbered names.


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


#: Share of values that must have a structure for it to be used.
_MOSTLY = 0.95
#: A number most of whose rows would be in one round interval is cut by rows instead.
_SKEWED = 0.35


@dataclass(frozen=True, kw_only=True)
class Builder:
    """One way to group a column's values.

    Attributes
    ----------
    name : str
        For example ``round numbers``.
    reason : str
        Why it fits, in plain words, without values of the data.
    make : callable
        Returns the level table, or cut points; the work is not done before it is asked for.
    parameters : mapping of str to plain values
        What it is given. Those of cut points follow from them.
    unplaced : tuple of str
        Values that it has no place for.
    by_parts : bool
        Whether groups are named by a part of their values, which may read as something else.
    """

    name: str
    reason: str
    make: Callable[[], Rows | Cuts]
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unplaced: tuple[str, ...] = ()
    by_parts: bool = False


def builders(column: Column) -> list[Builder]:
    """Return what may group a column's values, the best one first; none where they are two."""
    if len(column.values) <= 2:
        return []
    others = _measured if KINDS[column.kind].measured else _texts
    return _OWN.get(column.kind, others)(column)


def flat(column: Column) -> Builder:
    """Return the builder of no groups, which fits every column."""
    few = len(column.values) <= 2
    return Builder(
        name="flat",
        reason=(
            "It has at most two values: nothing lies between keeping and hiding them."
            if few
            else "No levels between: a value is kept or suppressed."
        ),
        make=lambda: tuple((value, TOP) for value in column.values),
    )


def _dates(column: Column) -> list[Builder]:
    return [
        Builder(
            name="calendar",
            reason="Its values are dates: day, month, quarter, year, decade.",
            make=lambda: dates.calendar(column),
        ),
        Builder(
            name="weeks",
            reason="Its values are dates: day, ISO week, 13 weeks, year; keeps weeks whole.",
            make=lambda: dates.weeks(column),
        ),
        *_measured(column),
    ]


def _moments(column: Column) -> list[Builder]:
    zone = " of UTC" if column.kind == "instant" else ""
    return [
        Builder(
            name="calendar",
            reason="Its values are dates with a time: hour, day, month, quarter, year, "
            f"decade{zone}.",
            make=lambda: dates.moments(column),
        ),
        *_measured(column),
    ]


def _numbers(column: Column) -> list[Builder]:
    found = [_mask(column)] if code_like(column) else []
    by_rows = _measured(column)
    try:
        cuts = starts.round_numbers(column, top_code=True)
    except AnonError as error:
        # Named again when it is the turn of this one.
        raising = partial(_raised, error)
        return [*found, *by_rows, Builder(name="round numbers", reason="", make=raising)]
    ends = " The few extreme rows are in open ends." if cuts.open_top else ""
    rounded = Builder(
        name="round numbers",
        reason=f"Its numbers spread evenly enough for round intervals, doubled each level.{ends}",
        make=lambda: cuts,
    )
    return [*found, *([*by_rows, rounded] if _skewed(column, cuts) else [rounded, *by_rows])]


def _raised(error: AnonError) -> Rows:
    raise error


def _measured(column: Column) -> list[Builder]:
    return [
        Builder(
            name="quantiles",
            reason=f"Its {KINDS[column.kind].several} are cut where each group is parted into "
            "halves of about equal rows, at round values where one is near.",
            make=lambda: starts.quantiles(column, levels=_depth(column), rounded=True),
        )
    ]


def _depth(column: Column) -> int:
    """Return how often to halve: about 16 groups, and fewer than two thirds of the values."""
    return max(1, min(4, int(np.log2(max(2, len(column.values) * 2 / 3)))))


def _skewed(column: Column, cuts: Cuts) -> bool:
    """Return whether one interval of the finest level has too many of the rows."""
    most = max(one.rows for one in intervals(column, cuts)[0])
    return most > _SKEWED * int(column.counts.sum())


def _texts(column: Column) -> list[Builder]:
    if (written := dates.date_levels(column)) is not None:
        calendar = Builder(
            name="calendar",
            reason="Its texts are dates, and only one order of day and month fits all of them: "
            "day, month, quarter, year, decade.",
            make=lambda: written,
        )
        return [calendar, *_unordered(column)]
    found: list[Builder] = []
    if (named := dates.periods(column)) is not None:
        found.append(
            Builder(
                name="calendar",
                reason="Its values name months or quarters: quarter, year, decade.",
                make=lambda: named,
            )
        )
    if share(column, codes.is_icd) >= _MOSTLY:
        found.append(
            Builder(
                name="icd",
                reason="Its values are ICD-10 codes: category, ten categories, chapter.",
                make=lambda: codes.icd(column),
            )
        )
    if share(column, is_time) >= _MOSTLY:
        found.append(
            Builder(
                name="clock",
                reason="Its values are times of day: half hours, hours, three and six hours.",
                make=lambda: dates.clock(column),
            )
        )
    if (postal := codes.postcodes(column, least=_MOSTLY)) is not None:
        country, areas = postal
        found.append(
            Builder(
                name="postcode",
                reason=f"Its values are {country} postcodes: district, area.",
                make=lambda: areas,
            )
        )
    found += [_shelved(column, match) for match in library.matches(column)]
    if code_like(column):
        found.append(_mask(column))
    elif named is None and share(column, is_phone) >= _MOSTLY > share(column, dates.is_written):
        found.append(_telephone(column))
    elif sign := separator(column):
        found.append(_segments(column, sign))
    declared = KINDS[column.kind].ordered
    known = categories.known_order(column.values)
    if declared or numbered(column) or known is not None:
        check = "" if declared else " Check that the order is meant."
        found.append(
            Builder(
                name="order",
                reason="Its values have an order: neighbours are joined into groups of about equal "
                f"rows.{check}",
                make=lambda: categories.halved(column, known or sorted(column.values, key=natural)),
            )
        )
    return found if declared else [*found, *_unordered(column)]


def _unordered(column: Column) -> list[Builder]:
    found: list[Builder] = []
    prefixes = categories.prefix_groups(column)
    if prefixes is not None:
        groups, sign = prefixes
        found.append(
            Builder(
                name="prefix",
                reason=f"Values share the part before '{sign}'; above that, rare groups are "
                "joined first.",
                make=lambda: categories.balanced(column, groups=groups),
                parameters={"separator": sign},
                by_parts=True,
            )
        )
    found.append(
        Builder(
            name="frequency",
            reason="The rarest values are joined first, so that frequent ones stay. Check that the "
            "groups mean something.",
            make=lambda: categories.balanced(column),
        )
    )
    words = None if prefixes else categories.word_groups(column)
    if words is not None:
        # In whole phrases a shared word ('born', 'not') says little.
        short = sum(len(value.split()) for value in column.values) <= 2.5 * len(column.values)
        by_words = Builder(
            name="words",
            reason="Values share words; above that, rare groups are joined first.",
            make=lambda: categories.balanced(column, groups=words),
            by_parts=True,
        )
        found.insert(0 if short else len(found), by_words)
    return found


def _shelved(column: Column, match: library.Match) -> Builder:
    every = len(column.values)
    rest = "" if not match.unplaced else f"; {len(match.unplaced)} are left for you to place"
    return Builder(
        name="library",
        reason=f"The library's {match.title} know {match.known} of its {every} values{rest}.",
        make=lambda: match.rows,
        parameters={"name": match.name, "known": match.known, "values": every},
        unplaced=match.unplaced,
    )


def _mask(column: Column) -> Builder:
    return Builder(
        name="mask",
        reason="Its values are codes of one length: a character more is hidden from the right on "
        "each level.",
        make=lambda: codes.mask(column),
        parameters={"side": "right", "steps": []},
    )


def _telephone(column: Column) -> Builder:
    steps = [2, 2, 3, 3]
    return Builder(
        name="mask",
        reason="Its values look like telephone numbers: digits are hidden from the right.",
        make=lambda: codes.mask(column, steps=steps),
        parameters={"side": "right", "steps": steps},
    )


def _segments(column: Column, sign: str) -> Builder:
    return Builder(
        name="segments",
        reason=f"Its values are codes whose parts are separated by '{sign}': a part is dropped on "
        "each level.",
        make=lambda: codes.segments(column, sign),
        parameters={"separator": sign},
        by_parts=True,
    )


#: Builders of kinds that have some of their own.
_OWN: dict[ColumnKind, Callable[[Column], list[Builder]]] = {
    "date": _dates,
    "datetime": _moments,
    "instant": _moments,
    "number": _numbers,
}
