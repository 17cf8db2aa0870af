"""How right learned guesses are: of the people of a table, and of those who had no part in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.methods.inference.naive_bayes import Learned, guesses
from anon_core.release.attack_result import Cell, Details
from anon_core.release.knowledge.holdout import Holdout
from anon_core.release.outcome import per_cent

#: Standard deviations either side of which 95% of a normal distribution lies.
Z = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share estimated from trials.

    Attributes
    ----------
    value : float
        Middle of the interval, drawn towards one half where trials are few.
    error : float
        Half of its length.
    """

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, 0 to 1."""
        return max(self.value - self.error, 0.0), min(self.value + self.error, 1.0)


def wilson(succeeded: float, trials: float) -> Share:
    """Return a share of successes with its interval.

    Examples
    --------
    >>> found = wilson(300, 1000)
    >>> round(found.value, 8), round(found.error, 8)
    (0.30076535, 0.02835851)
    """
    if trials <= 0:
        return Share(value=0.5, error=0.5)
    value = (succeeded + Z * Z / 2) / (trials + Z * Z)
    spread = succeeded * (trials - succeeded) / trials + Z * Z / 4
    return Share(value=value, error=Z / (trials + Z * Z) * math.sqrt(max(spread, 0.0)))


def corrected(attack: Share, control: Share) -> Share | None:
    """Return the risk that is left once the control is taken off; None where it is void.

    It is void where the control is right of everyone: nothing is left to learn.

    Examples
    --------
    >>> found = corrected(wilson(300, 1000), wilson(250, 1000))
    >>> found and (round(found.value, 8), round(found.error, 8))
    (0.06649637, 0.05048958)
    """
    room = 1.0 - control.value
    if room <= 0:
        return None
    value = (attack.value - control.value) / room
    error = math.hypot(attack.error / room, control.error * (attack.value - 1) / room**2)
    return Share(value=min(max(value, 0.0), 1.0), error=error)


#: How people who had no part in a release come about, where there are none.
NOBODY = (
    "There are no people outside the release to compare with: draw a sample ([data] sample below "
    "1), or give a population table with the sensitive column."
)
_SURE = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, kw_only=True)
class Control:
    """Guesses of people who had no part in the release."""

    right: float
    people: int

    @property
    def rate(self) -> float:
        """Share of right guesses."""
        return self.right / self.people


def control_of(
    learned: Learned, others: Holdout | None, column: str, context: Context
) -> Control | None:
    """Guess the value of everyone of a holdout by what was learned; None where there is no one.

    Parameters
    ----------
    column : str
        The sensitive column; anyone who has no value of it is left out, and a value that the table
        has not is never guessed.
    """
    if others is None:
        return None
    true = others.of(column)
    present = true != learned.missing
    codes = others.codes[present][:, [others.columns.index(n) for n in learned.columns]]
    found = guesses(learned, codes, context)
    if others.person is not None:
        whose = others.person[present]
        once = once_each(whose, found.value, found.belief, whose, true[present])
        if not len(once.right):
            return None
        return Control(right=float(np.count_nonzero(once.right)), people=len(once.right))
    count = others.count[present]
    people = int(count.sum())
    if not people:
        return None
    return Control(right=float(count[found.value == true[present]].sum()), people=people)


@dataclass(frozen=True, kw_only=True, eq=False)
class Once:
    """One guess of each person who has several rows.

    Attributes
    ----------
    belief : float64 array of shape (people,)
    right : bool array of shape (people,)
    """

    belief: F64
    right: B1


def once_each(person: I64, guess: I32, belief: F64, whose: I64, value: I32) -> Once:
    """Guess each person once: by the row of theirs whose guess is believed most.

    It is right where the person has the value in any row. Of rows that are believed equally a right
    one counts.

    Parameters
    ----------
    person, guess, belief : arrays of shape (rows,)
        Whose each row is that is guessed, the value guessed, and how surely.
    whose, value : arrays of shape (entries,)
        Who has which value.
    """
    wide = int(max(guess.max(initial=0), value.max(initial=0))) + 1
    has = whose * wide + value
    right = np.isin(person * wide + guess, has[value >= 0])
    order = np.lexsort((right, belief, person))
    own = person[order]
    last = order[np.append(own[1:] != own[:-1], True)] if len(order) else order
    return Once(belief=belief[last], right=right[last])


def above_control(
    right: float, attempted: int, baseline: float, control: Control | None
) -> tuple[str, tuple[Details, ...], tuple[float, float] | None]:
    """Return what the control leaves of a rate: in words, as a table, and the rate's interval.

    Parameters
    ----------
    right : float
        Right guesses of people of the table.
    baseline : float
        Share of whom naming the commonest value is right.
    """
    if control is None:
        return NOBODY, (), None
    attack, other = wilson(right, attempted), wilson(control.right, control.people)
    left = corrected(attack, other)
    rows: list[dict[str, Cell]] = [
        {"figure": "right of people of the table", **_figures(attack)},
        {"figure": "right of people of no part in it", **_figures(other)},
    ]
    words = (
        f"Of {control.people:,} people who had no part in the release it is right of "
        f"{per_cent(control.rate)}"
    )
    if left is None or attack.value <= baseline:
        words += ", and no better than naming the commonest value: nothing is learned of the table."
    else:
        rows.append({"figure": "learned of this table itself", **_figures(left)})
        words += (
            f": of this table itself it learns {per_cent(left.value)}, give or take "
            f"{per_cent(left.error)}."
        )
    details = Details(
        title="The table against people who had no part in it",
        rows=tuple(rows),
        x="figure",
        y=("value",),
        drawn="table",
        note="Wilson intervals at 95%.",
    )
    return words, (details,), attack.interval


def _figures(share: Share) -> dict[str, Cell]:
    return {"value": round(share.value, 6), "give or take": round(share.error, 6)}


def by_sureness(belief: F64, count: I64, right: B1, attempted: int, column: str) -> Details:
    """Return how many people are guessed how surely, and how many of these rightly."""
    rows: list[dict[str, Cell]] = []
    for sure in _SURE:
        here = belief >= sure
        many = float(count[here].sum())
        rows.append(
            {
                "at least so sure": sure,
                "people": many / max(attempted, 1),
                "right of these": float(count[here & right].sum()) / many if many else 0.0,
            }
        )
    return Details(
        title=f"Guesses of '{column}' by how sure they are",
        rows=tuple(rows),
        x="at least so sure",
        y=("people", "right of these"),
    )
