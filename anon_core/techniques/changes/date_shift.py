"""Dates shifted per person: all dates of a person by the same secret number of days."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.errors import BadInput, BadPlan
from anon_core.base.params import flag, integer, private_column, text
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Role, Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS
from anon_core.methods.changes.keyed import normalised, offset
from anon_core.methods.changes.numbers import by_row

_YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})([-/])(\d{1,2})(.*)", re.DOTALL)
_DAY_FIRST = re.compile(r"(\d{1,2})(\.)(\d{1,2})(\.)(\d{4})(.*)", re.DOTALL)


@register("change")
@dataclass(frozen=True, kw_only=True)
class DateShift(Change):
    """The offset is uniform on −D … D and follows from key, domain and person alone."""

    name: ClassVar[str] = "date-shift"
    title: ClassVar[str] = "Dates shifted per person"
    summary: ClassVar[str] = (
        "Adds the same secret number of days to all dates of a person, so that the days between "
        "them stay exact. Times of day do not change."
    )
    when: ClassVar[str] = (
        "Use it where the days between events of a person are studied; never where these intervals "
        "are rare or the study's window is known, since both give the offset away."
    )
    formula: ClassVar[str] = (
        "x ← x + o(person), o = HMAC-SHA-256(K, purpose, domain, person) mod (2D + 1) − D"
    )
    source: ClassVar[str] = "Hripcsak et al. 2016, doi 10.1093/jamia/ocw001"
    leaves: ClassVar[str] = (
        "It leaves the days between a person's dates, and the season where D is below 91; a known "
        "study window gives away offsets at its edges, and an age next to a birth date undoes it."
    )
    of_roles: ClassVar[tuple[Role, ...]] = ("sensitive", "insensitive")
    effect: ClassVar[Effect] = Effect(needs_key=True)

    days: int = integer(
        default=182,
        low=1,
        high=36_500,
        help="Largest shift, either way.",
        label="Up to",
        unit="days",
    )
    by: str = private_column(
        help="Column that says whose dates they are.",
        label="Column that says whose row it is",
        empty="the person column",
    )
    domain: str = text(
        default="person",
        help="Shifts of the same person and domain are the same in every table.",
        label="Domain",
    )
    weeks: bool = flag(
        default=False, help="Shift by whole weeks, so that weekdays stay.", label="Whole weeks"
    )

    def asks_of(self) -> tuple[str, ...]:
        """Return the column of persons, where it is named."""
        return (self.by,) if self.by else ()

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the dates shifted.

        Raises
        ------
        BadPlan
            If nothing distinguishes persons, or a column holds no dates.
        BadInput
            If a row with a date does not say whose it is, or a date leaves the years 1 to 9999.
        """
        by = self.by or roles.person
        if not by:
            raise BadPlan(
                "Dates are shifted per person, and no column says whose row it is.",
                remedy="Mark the person column on Roles, or name an identifier as 'by'.",
            )
        if self.weeks and self.days < 7:
            raise BadPlan(
                f"A shift of up to {self.days} days has no whole week.",
                remedy="Allow at least 7 days, or shift by days.",
            )
        codes, texts = table.column(by).as_read
        shift = [
            offset(chance.key, self.domain, normalised(t), self.days, weeks=self.weeks)
            for t in texts
        ]
        found: dict[str, Column] = {}
        for name in columns:
            column = table.column(name)
            if not KINDS[column.kind].known:
                raise BadPlan(
                    f"'{name}' holds {KINDS[column.kind].several}, not whole dates, so it cannot "
                    "be shifted by days.",
                    remedy="Name columns of dates with year, month and day.",
                )
            own, dates = column.as_read
            made: dict[tuple[int, int], str] = {}
            cells: list[str | None] = []
            for row, (date, who) in enumerate(zip(own.tolist(), codes.tolist(), strict=True)):
                if date < 0:
                    cells.append(None)
                    continue
                if who < 0:
                    raise BadInput(
                        f"Row {column.row_number(row):,} has a date in '{name}' and no value in "
                        f"'{by}', so whose date it is is not known.",
                        remedy="Fill in the column, or leave these rows out of the table.",
                    )
                text = made.get((date, who))
                if text is None:
                    text = made[date, who] = _shifted(dates[date], shift[who], name)
                cells.append(text)
            found[name] = by_row(column, cells)
        return found


def _shifted(text: str, days: int, name: str) -> str:
    """Return a date in the same notation some days later; what follows the date stays."""
    first = _YEAR_FIRST.fullmatch(text)
    found = first or _DAY_FIRST.fullmatch(text)
    if found is None:
        raise BadInput(
            f"A cell of '{name}' is not a whole date.",
            remedy="Write dates as 2026-12-31 or 31.12.2026.",
            values=[text],
        )
    one, mark, month, other, last, rest = found.groups()
    year, day = (one, last) if first else (last, one)
    try:
        moved = datetime.date(int(year), int(month), int(day)) + datetime.timedelta(days=days)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"A date of '{name}' would leave the years 1 to 9999, or is not a day of the calendar.",
            remedy="Correct the date, or shift by fewer days.",
            values=[text],
        ) from error
    year, month, day = f"{moved.year:04}", f"{moved.month:02}", f"{moved.day:02}"
    return (
        year + mark + month + other + day if first else day + mark + month + other + year
    ) + rest
