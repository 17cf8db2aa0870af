"""Propose hierarchies for a column, each with its reason; a person decides which one is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..table import Column, Dataset
from . import categories, codes, dates, intervals, library, starts
from .model import TOP
from .tidying import Rows

#: Share of values that must have a structure for it to be used.
_MOSTLY = 0.95
#: A number most of whose rows would stand in one round interval is cut by rows instead.
_SKEWED = 0.35
_CODE = re.compile(r"[0-9A-Za-z]{3,12}")
_PHONE = re.compile(r"\+?[\d ()/-]{6,20}\d")
_CODE_WORDS = frozenset({"zip", "zipcode", "postcode", "postal", "plz", "code"})
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A hierarchy to start from.

    Attributes
    ----------
    column : str
    builder : str
        What made it, for example ``round numbers``.
    reason : str
        Why, in plain words, without values of the data.
    rows : Rows
        The level table, for `from_rows`; it covers every value of the column.
    parameters : mapping of str to plain values
        What the builder was given, for example the cuts.
    unplaced : tuple of str
        Values that the builder had no place for; they stand in a group of their own.
    """

    column: str
    builder: str
    reason: str
    rows: Rows
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unplaced: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """Levels above the values."""
        return max(len(self.rows[0]) - 1, 1) if self.rows else 1


def propose_all(dataset: Dataset, quasi: Sequence[str]) -> dict[str, Proposal]:
    """Return the best proposal for each of some columns.

    Raises
    ------
    BadInput
        If a column is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"zip": ["01010", "01013", "01101"], "sex": ["F", "M", "F"]})
    >>> found = propose_all(Dataset.from_frame(frame), ["zip", "sex"])
    >>> {name: (one.builder, one.rows[0]) for name, one in found.items()}
    {'zip': ('mask', ('01010', '0101*', '*')), 'sex': ('flat', ('F', '*'))}
    """
    return {name: propose(dataset.column(name))[0] for name in quasi}


def propose(column: Column) -> tuple[Proposal, ...]:
    """Return proposals for a column, the best one first; there is always one.

    Structure comes first (dates, times, codes), then the shipped library, then numbers by round
    numbers or by rows, then categories by shared text, and by frequency at last.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.table import encode
    >>> codes = np.repeat(np.arange(3, dtype=np.int32), [6, 3, 1])
    >>> first, *rest = propose(encode("pet", codes, ["cat", "dog", "yak"]))
    >>> first.builder, first.rows[1], [one.builder for one in rest]
    ('frequency', ('dog', 'dog / yak', '*'), ['flat'])
    """
    found: list[Proposal] = []
    if len(column.values) > 2:
        if column.kind == "date":
            found += _dates(column)
        elif column.kind == "number":
            found += _numbers(column)
        else:
            found += _texts(column)
    useful = [one for one in found if one.height > 1]
    return (*useful, _flat(column))


def _flat(column: Column) -> Proposal:
    few = len(column.values) <= 2
    return Proposal(
        column=column.name,
        builder="flat",
        reason=(
            "It has at most two values: nothing lies between keeping and hiding them."
            if few
            else "No levels between: a value is kept or hidden."
        ),
        rows=tuple((value, TOP) for value in column.values),
    )


def _dates(column: Column) -> list[Proposal]:
    return [
        Proposal(
            column=column.name,
            builder="calendar",
            reason="Its values are dates: day, month, quarter, year, decade.",
            rows=dates.calendar(column),
        ),
        Proposal(
            column=column.name,
            builder="weeks",
            reason="Its values are dates: day, ISO week, 13 weeks, year; keeps weeks whole.",
            rows=dates.weeks(column),
        ),
        _cut(column, starts.quantiles(column, levels=_depth(column), rounded=True), "quantiles"),
    ]


def _numbers(column: Column) -> list[Proposal]:
    found: list[Proposal] = []
    if _code_like(column):
        found.append(_mask(column))
    by_rows = _cut(
        column, starts.quantiles(column, levels=_depth(column), rounded=True), "quantiles"
    )
    round_cuts = starts.round_numbers(column, top_code=True)
    rounded = _cut(column, round_cuts, "round numbers")
    return [*found, *([by_rows, rounded] if _skewed(column, round_cuts) else [rounded, by_rows])]


def _depth(column: Column) -> int:
    """Return how often to halve: about 16 groups, and fewer than two thirds of the values."""
    return max(1, min(4, int(np.log2(max(2, len(column.values) * 2 / 3)))))


def _skewed(column: Column, cuts: intervals.Cuts) -> bool:
    """Return whether one interval of the finest level has too many of the rows."""
    most = max(one.rows for one in intervals.intervals(column, cuts)[0])
    return most > _SKEWED * int(column.counts.sum())


def _cut(column: Column, cuts: intervals.Cuts, builder: str) -> Proposal:
    what = "dates" if column.kind == "date" else "numbers"
    if builder == "quantiles":
        reason = (
            f"Its {what} are cut where each group is parted into halves of about equal rows, at "
            "round values where one is near."
        )
    else:
        ends = " The few rows far out stand in open ends." if cuts.open_top else ""
        reason = f"Its numbers spread evenly enough for round intervals, doubled each level.{ends}"
    return Proposal(
        column=column.name,
        builder=builder,
        reason=reason,
        rows=intervals.cut(column, cuts),
        parameters=cuts.as_mapping(),
    )


def _texts(column: Column) -> list[Proposal]:
    found: list[Proposal] = []
    if _share(column, codes.is_icd) >= _MOSTLY:
        found.append(
            Proposal(
                column=column.name,
                builder="icd",
                reason="Its values are ICD-10 codes: category, ten categories, chapter.",
                rows=codes.icd(column),
            )
        )
    if _share(column, _is_time) >= _MOSTLY:
        found.append(
            Proposal(
                column=column.name,
                builder="clock",
                reason="Its values are times of day: half hours, hours, three and six hours.",
                rows=dates.clock(column),
            )
        )
    found += [_shelved(column, match) for match in library.matches(column)]
    if _code_like(column):
        found.append(_mask(column))
    elif _share(column, _is_phone) >= _MOSTLY:
        found.append(
            Proposal(
                column=column.name,
                builder="mask",
                reason="Its values look like telephone numbers: digits are hidden from the right.",
                rows=codes.mask(column, steps=[2, 2, 3, 3]),
                parameters={"side": "right", "steps": [2, 2, 3, 3]},
            )
        )
    elif segmented := _segments(column):
        found.append(segmented)
    if column.kind == "ordered" or _numbered(column):
        order = sorted(column.values, key=_natural)
        found.append(
            Proposal(
                column=column.name,
                builder="order",
                reason="Its values have an order: neighbours are joined into groups of about equal "
                "rows. Check that the order is meant.",
                rows=categories.halved(column, order),
            )
        )
    if column.kind != "ordered":
        found += _unordered(column)
    return found


def _unordered(column: Column) -> list[Proposal]:
    found: list[Proposal] = []
    if prefixes := categories.prefix_groups(column):
        groups, separator = prefixes
        found.append(
            Proposal(
                column=column.name,
                builder="prefix",
                reason=f"Values share what stands before '{separator}'; above that, rare groups "
                "are joined first.",
                rows=categories.balanced(column, groups=groups),
                parameters={"separator": separator},
            )
        )
    found.append(
        Proposal(
            column=column.name,
            builder="frequency",
            reason="The rarest values are joined first, so that frequent ones stay. Check that the "
            "groups mean something.",
            rows=categories.balanced(column),
        )
    )
    if not prefixes and (words := categories.word_groups(column)) is not None:
        shared = Proposal(
            column=column.name,
            builder="words",
            reason="Values share words; above that, rare groups are joined first.",
            rows=categories.balanced(column, groups=words),
        )
        # In whole phrases a shared word ('born', 'not') says little.
        short = sum(len(value.split()) for value in column.values) <= 2.5 * len(column.values)
        found.insert(0 if short else len(found), shared)
    return found


def _shelved(column: Column, match: library.Match) -> Proposal:
    every = len(column.values)
    rest = "" if not match.unplaced else f"; {len(match.unplaced)} stand apart until you place them"
    return Proposal(
        column=column.name,
        builder="library",
        reason=f"The library's {match.title} know {match.known} of its {every} values{rest}.",
        rows=match.rows,
        parameters={"name": match.name, "known": match.known, "values": every},
        unplaced=match.unplaced,
    )


def _mask(column: Column) -> Proposal:
    return Proposal(
        column=column.name,
        builder="mask",
        reason="Its values are codes of one length: a character more is hidden from the right on "
        "each level.",
        rows=codes.mask(column),
        parameters={"side": "right", "steps": []},
    )


def _code_like(column: Column) -> bool:
    """Return whether the values are codes of one length, such as ZIP codes."""
    lengths = {len(value) for value in column.values}
    if len(lengths) != 1 or min(lengths) < 3:
        return False
    if column.kind == "number":  # equal lengths alone say little of a number
        words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column.name).lower())
        return bool(_CODE_WORDS & set(words)) and all(v.isdigit() for v in column.values)
    return all(_CODE.fullmatch(v) and any(map(str.isdigit, v)) for v in column.values)


def _segments(column: Column) -> Proposal | None:
    for separator in (".", "/", "-", ":"):
        parts = {len(value.split(separator)) for value in column.values}
        if len(parts) == 1 and min(parts) > 1 and all(_compact(v) for v in column.values):
            return Proposal(
                column=column.name,
                builder="segments",
                reason=f"Its values are codes whose parts are separated by '{separator}': a part "
                "is dropped on each level.",
                rows=codes.segments(column, separator),
                parameters={"separator": separator},
            )
    return None


def _compact(value: str) -> bool:
    return " " not in value and any(map(str.isdigit, value))


def _is_time(text: str) -> bool:
    return dates.minute_of_day(text) is not None


def _is_phone(text: str) -> bool:
    return _PHONE.fullmatch(text) is not None


def _share(column: Column, test: Callable[[str], bool]) -> float:
    return sum(map(test, column.values)) / len(column.values)


def _numbered(column: Column) -> bool:
    """Return whether all values differ in one number only, such as 'Grade 1' and 'Grade 10'."""
    return len({_DIGITS.sub("#", value) for value in column.values}) == 1


def _natural(value: str) -> list[tuple[int, int, str]]:
    """Order texts by the numbers in them."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in _DIGITS.split(value)]
