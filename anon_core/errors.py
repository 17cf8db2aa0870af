"""The one error tree: a refusal says where, what is allowed, what was found and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class AnonError(ValueError):
    """Base of every error the core raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong and where, without any cell value.
    remedy : str
        What the person can do about it, one sentence.
    values : sequence of str
        The cell values concerned. They are kept apart from the message because messages end in
        logs: only a caller who was asked to (``--show-values``) prints them.
    """

    def __init__(self, message: str, *, remedy: str = "", values: Sequence[str] = ()) -> None:
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
    """A table or a file that cannot be read as it stands."""


class BadHierarchy(AnonError):
    """A hierarchy whose levels do not nest, or that has no single top."""


class BadPlan(AnonError):
    """A plan or recipe that contradicts itself, or a parameter out of its range."""


class InputChanged(AnonError):
    """The data no longer fits the recipe: a column is gone, or a hierarchy lacks a value."""


class Infeasible(AnonError):
    """No release can keep the promises asked for.

    Parameters
    ----------
    best : float or None
        The best value that was reached.
    best_of : str
        What that value is, for example ``rows`` or ``share of rows removed``.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        best: float | None = None,
        best_of: str = "",
        values: Sequence[str] = (),
    ) -> None:
        super().__init__(message, remedy=remedy, values=values)
        self.best = best
        self.best_of = best_of


class NotVerified(AnonError):
    """The second computation, from the published text alone, did not confirm a promise."""


class Cancelled(AnonError):
    """The person stopped the work; nothing was released."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the known name nearest to `name`, or an empty string."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean '{found[0]}'?" if found else ""


def listing(names: Iterable[str], most: int = 12) -> str:
    """Return names as ``'a', 'b' and 3 more`` for a message."""
    shown = list(names)
    text = ", ".join(f"'{n}'" for n in shown[:most])
    return f"{text} and {len(shown) - most} more" if len(shown) > most else text
