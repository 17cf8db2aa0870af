"""Which cells would tell too much of a respondent, by how much, and why, in words.

Rules and levels: Hundepool et al., Handbook on Statistical Disclosure Control, 2nd ed., ch. 4.
Ties are safe. All is decided in integers and fractions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, brief
from anon_core.tables.contributions import CellContributions, Contributions, Sizes
from anon_core.tables.system import Level, Number, shown

_Bools = npt.NDArray[np.bool_]
#: Share of a cell's numbers that floats may be wrong by, many times over.
_NEAR = 1e-9


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """What makes a cell sensitive."""

    name: ClassVar[str]
    #: Whether the rule reads amounts, and not the number of respondents alone.
    of_amounts: ClassVar[bool] = True

    @abstractmethod
    def excess(self, cell: Contributions) -> Fraction | None:
        """Return the upper level of a cell; above 0 it is sensitive. None: a level of width 1."""

    @property
    def most(self) -> int:
        """How many of the largest contributions of a cell it reads."""
        return 1

    @abstractmethod
    def suspects(self, cells: Sizes) -> _Bools:
        """Return the cells that may be sensitive: all that are, and few that are not.

        `sensitive` decides of each of them, exactly.
        """

    def sensitive(self, cell: Contributions) -> bool:
        """Return whether a cell shows too much."""
        excess = self.excess(cell)
        return excess is None or excess > 0

    def level(self, cell: Contributions) -> Level:
        """Return how far a reader has to be kept from a sensitive cell's value.

        What is below one published unit counts as one unit.
        """
        excess = self.excess(cell)
        if excess is None:
            return Level(sliding=1)
        least = max(excess, Fraction(1))
        return Level(lower=least, upper=least)

    @abstractmethod
    def reason(self, cell: Contributions, who: str) -> str:
        """Say in words why a cell is sensitive."""


@dataclass(frozen=True, kw_only=True)
class Threshold(Rule):
    """Sensitive with fewer than `n` respondents, but not with none."""

    n: int
    name: ClassVar[str] = "threshold"
    of_amounts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _range("threshold", "n", self.n, "whole numbers from 2 up")

    def excess(self, cell: Contributions) -> Fraction | None:
        """See `Rule`."""
        return None if 1 <= cell.respondents < self.n else Fraction(0)

    def suspects(self, cells: Sizes) -> _Bools:
        """See `Rule`."""
        return (cells.respondents >= 1) & (cells.respondents < self.n)

    def reason(self, cell: Contributions, who: str) -> str:
        """See `Rule`."""
        one = who.removesuffix("s") if cell.respondents == 1 else who
        return f"{cell.respondents} {one}, fewer than {self.n}"


@dataclass(frozen=True, kw_only=True)
class Dominance(Rule):
    """(m, k): sensitive where the `m` largest make more than `k` per cent."""

    m: int
    k: Number
    name: ClassVar[str] = "dominance"

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if isinstance(self.m, bool) or not isinstance(self.m, int) or self.m < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _range("dominance", "m", self.m, "whole numbers from 1 up")
        if not 0 < self.k < 100:
            raise _range("dominance", "k", self.k, "numbers above 0 and below 100")

    def excess(self, cell: Contributions) -> Fraction:
        """See `Rule`."""
        return Fraction(100, 1) / Fraction(self.k) * sum(cell.amounts[: self.m]) - cell.total

    @property
    def most(self) -> int:
        """See `Rule`."""
        return self.m

    def suspects(self, cells: Sizes) -> _Bools:
        """See `Rule`."""
        share = 100 / float(self.k) * cells.top[:, : self.m].sum(axis=1)
        return share - cells.total > -_NEAR * (share + np.abs(cells.total))

    def reason(self, cell: Contributions, who: str) -> str:
        """See `Rule`."""
        most = min(self.m, cell.respondents)
        share = Fraction(sum(cell.amounts[: self.m])) / cell.total
        one = who.removesuffix("s") if cell.respondents == 1 else who
        return (
            f"{most} of {cell.respondents} {one} make{'s' if most == 1 else ''} "
            f"{_percent(share)}, more than {shown(self.k)} %"
        )


@dataclass(frozen=True, kw_only=True)
class PPercent(Rule):
    """p %, (p, q) and coalitions: sensitive where others can tell the largest too closely.

    Others know it within q % beforehand, and may not come within p %: `coalition` of them, who put
    together what they know, the second largest alone by default.
    """

    p: Number
    q: Number = 100
    coalition: int = 1
    name: ClassVar[str] = "p-percent"

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if self.p <= 0:
            raise _range("p-percent", "p", self.p, "numbers above 0")
        if self.q < self.p:
            raise _range("p-percent", "q", self.q, f"numbers from p = {shown(self.p)} up")
        whole = isinstance(self.coalition, int) and not isinstance(self.coalition, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not whole or self.coalition < 1:
            raise _range("p-percent", "coalition", self.coalition, "whole numbers from 1 up")

    def _parts(self, cell: Contributions) -> tuple[Number, Number]:
        """Return the largest that has not agreed, and all that the rest hides it by."""
        target = next((n for n in range(len(cell.amounts)) if n not in cell.waived), None)
        if target is None:
            return 0, 0
        others = [x for n, x in enumerate(cell.amounts) if n != target]
        largest = cell.amounts[target]
        return largest, cell.total - largest - sum(others[: self.coalition])

    def excess(self, cell: Contributions) -> Fraction:
        """See `Rule`."""
        largest, remainder = self._parts(cell)
        return Fraction(self.p) / Fraction(self.q) * largest - remainder

    @property
    def most(self) -> int:
        """See `Rule`."""
        return self.coalition + 1

    def suspects(self, cells: Sizes) -> _Bools:
        """See `Rule`."""
        among = cells.top[:, : self.coalition + 1]  # the largest to protect is one of them, or less
        others = np.where(
            cells.bound >= among[:, -1],
            among.sum(axis=1) - cells.bound,
            among[:, :-1].sum(axis=1),
        )
        share = float(self.p) / float(self.q) * cells.bound
        rest = cells.total - cells.bound - others
        size = share + np.abs(cells.total) + cells.bound + others
        return (cells.bound >= 0) & (share - rest > -_NEAR * size)

    def reason(self, cell: Contributions, who: str) -> str:
        """See `Rule`."""
        largest, remainder = self._parts(cell)
        one = who.removesuffix("s")
        if cell.respondents == 1:
            return f"1 {one} makes all of it"
        reader = "the next one" if self.coalition == 1 else f"{self.coalition} others together"
        within = Fraction(remainder) / Fraction(largest)
        limit = Fraction(self.p) / Fraction(self.q)
        return (
            f"{reader} of {cell.respondents} {who} can tell the largest within {_percent(within)}, "
            f"closer than {_percent(limit)}"
        )


@dataclass(frozen=True, kw_only=True)
class ZeroCells(Rule):
    """Sensitive where there are respondents and all of them contribute nothing."""

    name: ClassVar[str] = "zero-cells"

    def excess(self, cell: Contributions) -> Fraction | None:
        """See `Rule`."""
        return None if cell.respondents and not any(cell.amounts) else Fraction(0)

    def suspects(self, cells: Sizes) -> _Bools:
        """See `Rule`."""
        return (cells.respondents > 0) & (cells.top[:, 0] == 0)

    def reason(self, cell: Contributions, who: str) -> str:
        """See `Rule`."""
        if cell.respondents == 1:
            return f"its only {who.removesuffix('s')} contributes 0"
        return f"all {cell.respondents} {who} contribute 0"


RULES: Mapping[str, type[Rule]] = {
    rule.name: rule for rule in (Threshold, Dominance, PPercent, ZeroCells)
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sensitive cell: which rule says so, how far it has to be protected, and why in words."""

    cell: int
    rule: str
    level: Level
    reason: str


def sensitive_cells(
    cells: Sequence[Contributions], rules: Sequence[Rule], who: str = "respondents"
) -> dict[int, Finding]:
    """Return the sensitive cells, with the rules that say so and the highest of their levels.

    Of the cells of a table, those that may be sensitive are judged, each exactly; of others, all.
    """
    found: dict[int, Finding] = {}
    asked: Sequence[int] = range(len(cells))
    if isinstance(cells, CellContributions):
        sizes = cells.sizes(max((rule.most for rule in rules), default=1))
        suspects = [rule.suspects(sizes) for rule in rules]
        asked = np.flatnonzero(np.logical_or.reduce(suspects)).tolist() if suspects else ()
    for at in asked:
        cell = cells[at]
        broken = [rule for rule in rules if rule.sensitive(cell)]
        if not broken:
            continue
        levels = [rule.level(cell) for rule in broken]
        found[at] = Finding(
            cell=at,
            rule=", ".join(dict.fromkeys(rule.name for rule in broken)),
            level=Level(
                lower=max(level.lower for level in levels),
                upper=max(level.upper for level in levels),
                sliding=max(level.sliding for level in levels),
            ),
            reason="; ".join(dict.fromkeys(rule.reason(cell, who) for rule in broken)),
        )
    return found


def concentrated(cells: Sequence[Contributions]) -> tuple[int, ...]:
    """Return the parts that hold all respondents of a total, or all but one, where they do.

    Anyone who is known to be in the total is then known to be in that part (group disclosure).

    Examples
    --------
    >>> concentrated([Contributions.of([1] * 6), Contributions.of([])])
    (0,)
    """
    counts = [cell.respondents for cell in cells]
    whole = sum(counts)
    if not whole:
        return ()
    return tuple(at for at, n in enumerate(counts) if n and n >= whole - 1 and n > 1)


def _percent(share: Fraction) -> str:
    return f"{shown(round(share * 100, 1))} %"


def _range(rule: str, parameter: str, found: object, allowed: str) -> BadPlan:
    return BadPlan(
        f"The rule {rule} has {parameter} = {brief(found)}; allowed are {allowed}.",
        remedy=f"Change {parameter}.",
    )
