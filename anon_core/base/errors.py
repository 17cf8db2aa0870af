"""The one error tree: a refusal says where, what is allowed, what was found and what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

_MOST_LETTERS = 4000
#: Control signs of a terminal, and marks that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class AnonError(ValueError):
    """Base of every error the core raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong and where, without any cell value.
    remedy : str
        What the person can do about it, one sentence.
    values : sequence of str
        The cell values concerned. They are kept separate from the message because messages end in
        logs: only a caller who was asked to (``--show-values``) prints them.
    """

    def __init__(self, message: str, *, remedy: str = "", values: Sequence[str] = ()) -> None:
        # A message may name what someone wrote, and that may be a megabyte, or move the cursor.
        message = clipped(message, _MOST_LETTERS)
        remedy = clipped(remedy, _MOST_LETTERS)
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.values = tuple(values)

    def full_text(self, *, show_values: bool = False) -> str:
        """Return the message with its remedy, and the cell values when `show_values` is set."""
        if show_values and self.values:
            return f"{self} Values: {', '.join(repr(v) for v in self.values)}."
        return str(self)


class BadInput(AnonError):
    """A table or a file that cannot be read as it is."""


class BadCells(BadInput):
    """Cells that are not of the kind that their column is declared as.

    Parameters
    ----------
    message : str
        With ``{}`` where the first row's number is said, from 1.
    rows : sequence of int
        Their rows, from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        values: Sequence[str] = (),
        rows: Sequence[int] = (0,),
    ) -> None:
        super().__init__(message.replace("{}", f"{rows[0] + 1}"), remedy=remedy, values=values)
        self.rows = rows
        self._message = message

    def at_row(self, row: int) -> InputChanged:
        """Return the same refusal with another first row, from 0: rows were read as counts."""
        return InputChanged(
            self._message.replace("{}", f"{row + 1}"), remedy=self.remedy, values=self.values
        )


class BadHierarchy(AnonError):
    """A hierarchy whose levels do not nest, or that has no single top."""


class NeedsRows(AnonError):
    """Raised when something asks for single rows of a table that is known by its counts only."""


class BadPlan(AnonError):
    """A plan or recipe that contradicts itself, or a parameter out of its range."""


class InputChanged(AnonError):
    """The data no longer fits the recipe: a column is gone, or a hierarchy lacks a value."""


class UnknownValues(InputChanged):
    """A hierarchy lacks values of the table."""


class _NoRelease(AnonError):
    """There is no release to hand over, and how near the best came to what was asked.

    Parameters
    ----------
    best : float or None
        The best value that was reached.
    best_of : str
        What that value is, for example ``rows`` or ``share of rows suppressed``.
    timed_out : bool
        Whether it was only given up since its time was over: more time may find one.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        best: float | None = None,
        best_of: str = "",
        values: Sequence[str] = (),
        timed_out: bool = False,
    ) -> None:
        super().__init__(message, remedy=remedy, values=values)
        self.timed_out = timed_out
        self.best = best
        self.best_of = best_of


class Infeasible(_NoRelease):
    """No release can keep the privacy models asked for."""


class NotFound(_NoRelease):
    """A technique found no release that keeps the privacy models, and whether there is one is open.

    That is not `Infeasible`: nothing was proven. A technique which cannot look at what a privacy
    model is about forms groups by something else, and the finished release is tested.
    """


class NotAccepted(AnonError):
    """A release keeps its privacy models, but misses a gate that the recipe sets."""


class NotVerified(AnonError):
    """The second computation, from the published text alone, did not confirm a privacy model."""


class Cancelled(AnonError):
    """The person stopped the work; nothing was released."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the known name nearest to `name`, or an empty string."""
    if len(name) > _MOST_LETTERS:
        return ""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean '{found[0]}'?" if found else ""


def listing(names: Iterable[str], most: int = 12) -> str:
    """Return names as ``'a', 'b' and 3 more`` for a message."""
    shown = list(names)
    text = ", ".join(f"'{clipped(n)}'" for n in shown[:most])
    return f"{text} and {len(shown) - most} more" if len(shown) > most else text


def clipped(text: str, most: int = 200) -> str:
    """Return a text for a message, in one line.

    Its middle is left out where it is longer than `most`. Signs that a terminal would carry out
    are spelled: a column's name could otherwise recolour, hide or forge lines.

    Examples
    --------
    >>> clipped("age\\x1b[31m")
    'age\\\\x1b[31m'
    """
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[:half]}…{text[len(text) - half :]}"
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def brief(value: object) -> str:
    """Return how a value of a recipe is shown in a message, however long it is."""
    try:
        return clipped(repr(value))
    except (ValueError, RecursionError):  # Python writes no number of more than 4,300 digits
        return "a value too long to be shown"
