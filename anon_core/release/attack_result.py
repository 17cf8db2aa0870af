"""What an attack achieved: its figures, whom it names, and what lies behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

#: People an attack lists, and groups it lists of each; a result stays small.
MOST_HITS = 100_000
MOST_GROUPS = 5

Cell = int | float | str


@dataclass(frozen=True, kw_only=True, eq=False)
class Details:
    """What lies behind a figure: a small table, drawn as a curve or as bars.

    Attributes
    ----------
    rows : tuple of mappings of str to int, float or str
        All with the same keys, which are the columns.
    x : str
        The column along the axis.
    y : tuple of str
        The columns that are drawn over it, in one unit.
    drawn : {'line', 'bars', 'table'}
    shares : bool
        Whether the drawn columns are shares, 0 to 1.
    """

    title: str
    rows: tuple[Mapping[str, Cell], ...]
    x: str
    y: tuple[str, ...]
    drawn: Literal["line", "bars", "table"] = "line"
    shares: bool = True
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """Whom an attack names: people exposed for certain first, in the order of their table.

    Attributes
    ----------
    people : int
        How many there are; at most `MOST_HITS` of them are listed.
    row : int64 array of shape (listed,)
        Rows of the attacker's table, counted from 0.
    proven : bool array of shape (listed,)
        False where nothing was decided, so that the person is treated as exposed.
    group : int64 array of shape (listed, groups shown)
        Groups, as `View` numbers them, that a person fits, ascending; -1 fills up.
    groups : int64 array of shape (listed,)
        How many groups a person fits.
    """

    people: int
    row: npt.NDArray[np.int64]
    proven: npt.NDArray[np.bool_]
    group: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackResult:
    """What an adversary achieves, against guessing and against the raw table.

    Attributes
    ----------
    attempted : int
        People the attacker tried: everyone of the table.
    eligible : int
        Those for whom success was possible at all (they are in the release). Where there are none
        the attack had nothing to work on, and its figures say nothing of a risk.
    succeeded : float
        Expected number of correct answers; of proofs, those that were found.
    undecided : int
        People of whom neither success nor failure was decided. They are treated as exposed: they
        count in `rate`, `at_risk` and `worst`.
    rate : float
        (succeeded + undecided) / attempted.
    worst : float
        Highest chance of success against any one person; 1 where someone is undecided.
    baseline : float
        Rate of guessing without the release.
    raw : float
        Rate of the same attack on the table as it is, identifiers removed; anyone who is handed
        people's groups in the release is handed them there too.
    at_risk : int
        People whose chance of success exceeds the threshold.
    interval : tuple of float or None
        Where the rate lies, only where the attack was sampled or left people undecided; None is
        exact.
    estimated : bool
        True where the answer rests on a statistical model, not on counting.
    upper_bound : bool
        True where only a bound of what the attacker achieves is known, from above.
    per_class : float64 array of shape (classes,)
        Chance of success against the people of each class.
    column : str
        Sensitive column concerned, if any.
    hits : Hits or None
        Whom it names, where it names anyone.
    control : float or None
        Rate of the same attack on people who had no part in the release, where the attacker learns
        from it; None where the attack has no such people.
    details : tuple of Details
        What lies behind the figures, where there is more to look at.
    """

    attack: str
    attempted: int
    eligible: int
    succeeded: float
    rate: float
    worst: float
    baseline: float
    raw: float
    at_risk: int
    threshold: float
    per_class: npt.NDArray[np.float64]
    sentence: str
    interval: tuple[float, float] | None = None
    estimated: bool = False
    upper_bound: bool = False
    column: str = ""
    hits: Hits | None = None
    undecided: int = 0
    control: float | None = None
    details: tuple[Details, ...] = ()

    @property
    def corrected(self) -> float | None:
        """What is learned of the table itself: (rate - control) / (1 - control), 0 to 1.

        None where there is no control, or where guessing right of everyone leaves nothing to learn.
        Giomi et al. 2023, doi 10.56553/popets-2023-0055.

        Examples
        --------
        >>> of = dict(attack="a", attempted=9, eligible=9, succeeded=6, rate=2 / 3, worst=1,
        ...     baseline=0, raw=1, at_risk=3, threshold=1, per_class=np.empty(0), sentence="")
        >>> AttackResult(**of, control=0.5).corrected
        0.33333333333333326
        """
        if self.control is None or self.control >= 1:
            return None
        return min(max((self.rate - self.control) / (1 - self.control), 0.0), 1.0)

    @property
    def classes_hit(self) -> npt.NDArray[np.int64]:
        """Classes whose people are at risk, as `View` numbers them: beyond the threshold.

        A threshold of 1 is that of certainty, which is reached and not exceeded.
        """
        if self.threshold >= 1:
            return np.flatnonzero(self.per_class >= 1).astype(np.int64)
        return np.flatnonzero(self.per_class > self.threshold).astype(np.int64)

    @property
    def exposed(self) -> float:
        """Expected number of people exposed; anyone who was not decided is taken for one."""
        return self.succeeded + self.undecided

    @property
    def idle(self) -> bool:
        """Whether no one could be attacked, so that a rate of 0 is no protection."""
        return not self.eligible

    @property
    def open_words(self) -> str:
        """Who was not decided, in words; empty where everyone was.

        Examples
        --------
        >>> of = dict(attack="a", attempted=9, eligible=9, succeeded=1, rate=1 / 3, worst=1,
        ...     baseline=0, raw=0, at_risk=3, threshold=1, per_class=np.empty(0), sentence="")
        >>> AttackResult(**of, undecided=2).open_words
        '2 not decided in time; treated as exposed'
        """
        return f"{self.undecided:,} not decided in time; treated as exposed" * bool(self.undecided)
