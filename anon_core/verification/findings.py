"""What a second computation finds: single checks, all of them together, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, SupportsFloat

import numpy as np
import numpy.typing as npt

#: Rows a check names.
MOST_ROWS = 20
_SHOWN_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was recomputed.

    Attributes
    ----------
    name : str
        ``columns``, ``k-anonymity``, ``coverage`` and so on.
    holds : bool
        False also where it could not be decided.
    bound, reached : float or None
        What was asked for and what was found, where these are numbers.
    column : str
        The column concerned; empty where it is none or all.
    rows : tuple of int
        Rows of the release concerned, from 1 below the header, at most `MOST_ROWS`.
    sentence : str
        The finding in plain words; it holds no cell value.
    undecided : bool
        Where it does not hold, whether nothing was found to break it: it could not be decided.
    unchecked : bool
        Whether it is undecided for want of what only the run, or its secret, could tell. Such a
        check is listed as not checked; what is undecided otherwise counts as broken.
    """

    name: str
    holds: bool
    sentence: str
    bound: float | None = None
    reached: float | None = None
    column: str = ""
    rows: tuple[int, ...] = ()
    undecided: bool = False
    unchecked: bool = False

    @property
    def outcome(self) -> Literal["holds", "broken", "undecided"]:
        """What came of it: each check has these three."""
        return "holds" if self.holds else "undecided" if self.undecided else "broken"

    def as_json(self) -> dict[str, Any]:
        """Return the check as plain values."""
        return {
            "name": self.name,
            "holds": self.holds,
            "bound": self.bound,
            "reached": self.reached,
            "column": self.column,
            "rows": list(self.rows),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Everything that was recomputed of one release.

    Attributes
    ----------
    facts : mapping of str to float
        ``rows``, ``table_rows``, ``suppressed``, ``classes``, ``smallest_class`` and
        ``unique_over_all_columns``: how many published rows no other row equals,
        left out where rows of a large table are out of order.
    notes : tuple of str
        What recipes say otherwise since this one was written.
    unchecked : tuple of Check
        What could not be checked from what was given. Then nothing holds as a whole.
    """

    checks: tuple[Check, ...]
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    notes: tuple[str, ...] = ()
    unchecked: tuple[Check, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every check holds, and none was left out."""
        return not self.unchecked and all(check.holds for check in self.checks)

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)

    def as_json(self) -> dict[str, Any]:
        """Return the verification as plain values."""
        return {
            "holds": self.holds,
            "checks": [check.as_json() for check in self.checks],
            "facts": dict(self.facts),
            "notes": list(self.notes),
            **({"unchecked": [c.as_json() for c in self.unchecked]} if self.unchecked else {}),
        }

    def with_checks(self, checks: Sequence[Check]) -> Verification:
        """Return the verification with more checks; what nobody checked is listed as that."""
        every = (*self.checks, *checks)
        return replace(
            self,
            checks=tuple(check for check in every if not check.unchecked),
            unchecked=(*self.unchecked, *(check for check in every if check.unchecked)),
        )


def undecided(name: str, sentence: str) -> Check:
    """Return a check that could not be decided; it does not hold."""
    return Check(name=name, holds=False, undecided=True, sentence=f"{sentence} Treated as broken.")


def not_checked(name: str, sentence: str, column: str = "") -> Check:
    """Return a check that lacks what it needs; it does not hold."""
    return Check(
        name=name, holds=False, undecided=True, unchecked=True, sentence=sentence, column=column
    )


def judged(
    name: str,
    wrong: object,
    broken: str,
    kept: str | None = None,
    *,
    column: str = "",
    bound: SupportsFloat | None = None,
    reached: SupportsFloat | None = None,
) -> Check:
    """Return a check that holds where nothing is wrong, in the words for either, or for both.

    `wrong` may be the rows that are: the check then names them.
    """
    return Check(
        name=name,
        holds=not wrong,
        sentence=broken if wrong or kept is None else kept,
        column=column,
        bound=None if bound is None else float(bound),
        reached=None if reached is None else float(reached),
        rows=wrong.first if isinstance(wrong, Rows) else (),
    )


def broken(name: str, sentence: str, *, column: str = "", rows: Rows | None = None) -> Check:
    """Return a check that does not hold."""
    return judged(name, rows or True, sentence, "", column=column)


#: What is known of a release before anything of it is recomputed: it does not hold.
PENDING = Verification(
    checks=(),
    unchecked=(not_checked("recomputation", "The second computation has not ended yet."),),
)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of a published file that a check is about.

    Attributes
    ----------
    first : tuple of int
        Their numbers from 1 below the header, ascending; of many only `MOST_ROWS`.
    """

    total: int = 0
    first: tuple[int, ...] = ()

    @classmethod
    def of(cls, places: npt.NDArray[np.int64]) -> Rows:
        """Return rows by their places from 0."""
        return cls(total=len(places), first=tuple((places[:MOST_ROWS] + 1).tolist()))

    def __len__(self) -> int:
        return self.total


def numbers(marked: npt.NDArray[np.bool_]) -> Rows:
    """Return the rows of a file that are marked."""
    return Rows.of(np.flatnonzero(marked))


def named(rows: Rows) -> str:
    """Return the first rows in words, in parentheses."""
    shown = ", ".join(str(row) for row in rows.first[:_SHOWN_ROWS])
    more = f" and {len(rows) - _SHOWN_ROWS} more" if len(rows) > _SHOWN_ROWS else ""
    return f"({'row' if len(rows) == 1 else 'rows'} {shown}{more})"


def tallied(name: str, wrong: int, words: str, what: str = "cells") -> Check:
    """Return a check whose words end in how many are wrong, where some are."""
    return judged(name, wrong, f"{words} Not so for {wrong:,} {what}.", words)


def many(count: int, what: str, one: str = "", several: str = "") -> str:
    """Return a count with its noun, and the verb that fits it."""
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{count} {f'{what} {one}' if count == 1 else f'{plural} {several}'}".rstrip()
