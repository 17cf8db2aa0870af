"""Points that an experiment measures, and what claims ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What one experiment is run with; what it does not use stays 0.

    Attributes
    ----------
    rows : int
        Rows of the released table; 0 for all there are.
    public : int
        Rows of the public table; 0 for all there are.
    at : tuple of float
        Places on the horizontal axis.
    columns : tuple of int
        Numbers of quasi-identifiers, where they are varied.
    queries : int
        Count queries that are asked.
    size : int
        k or l where it is not what is varied.
    seconds : float
        Time box of one search or attack.
    seed : int
        Draws the rows, the generated table and the questions; a run's secret is made from it.
    """

    rows: int = 0
    public: int = 0
    at: tuple[float, ...] = ()
    columns: tuple[int, ...] = ()
    queries: int = 0
    size: int = 0
    seconds: float = 0.0
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Point:
    """A figure that was measured.

    Attributes
    ----------
    beyond : bool
        Whether the source has no such series: an addition of ours.
    timed_out : bool
        Whether the time box ended before everything behind it was decided: more time may change it.
    """

    figure: str
    series: str
    x: float
    y: float
    beyond: bool = False
    note: str = ""
    timed_out: bool = False


Way = Literal["rises", "falls"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The points that there are.

    Attributes
    ----------
    generated : bool
        Whether a generated table stood in for the source's.
    whole : bool
        Whether every step is finished.
    refused : mapping of str to str
        Key of each step that gave no release, with the reason.
    proven : frozenset of str
        Keys of those for which it is proven that no release keeps what was asked.
    seconds : mapping of str to float
        What each finished step took, by key.
    """

    points: Sequence[Point]
    settings: Settings
    generated: bool
    whole: bool
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    proven: frozenset[str] = frozenset()
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    def series(self, figure: str, series: str) -> dict[float, float]:
        """Return the figures of a series by place, ascending."""
        own = [p for p in self.points if (p.figure, p.series) == (figure, series)]
        return {p.x: p.y for p in sorted(own, key=lambda p: p.x)}

    def names(self, figure: str, beginning: str = "") -> list[str]:
        """Return the series of a figure, in the order in which they were measured."""
        return list(
            dict.fromkeys(
                p.series
                for p in self.points
                if p.figure == figure and p.series.startswith(beginning)
            )
        )

    def names_of_figures(self) -> list[str]:
        """Return the figures of which something was measured, in that order."""
        return list(dict.fromkeys(p.figure for p in self.points))

    def both(self, figure: str, one: str, other: str) -> list[tuple[float, float]]:
        """Return the pairs of figures of two series at the places that both have."""
        first, second = self.series(figure, one), self.series(figure, other)
        return [(y, second[x]) for x, y in first.items() if x in second]


def goes(values: Sequence[float], way: Way, slack: float = 0.0) -> bool | None:
    """Say whether values rise, or fall, from first to last; None where there are fewer than two.

    The last must lie beyond the first, and no step go the other way by more than `slack`, a share
    of the largest.

    Examples
    --------
    >>> goes([1, 2, 4], "rises"), goes([1, 3, 2], "rises"), goes([1, 3, 2.9], "rises", 0.1)
    (True, False, True)
    """
    if len(values) < 2:
        return None
    sign = 1 if way == "rises" else -1
    room = slack * max(abs(v) for v in values)
    steps = [sign * (after - before) for before, after in pairwise(values)]
    return sign * (values[-1] - values[0]) > 0 and min(steps) >= -room


def mean(values: Sequence[float]) -> float:
    """Return the mean of some values.

    Examples
    --------
    >>> mean([1.0, 2.0])
    1.5
    """
    return sum(values) / len(values)


def per_cent(share: float) -> str:
    """Return a share in words.

    Examples
    --------
    >>> per_cent(0.5201)
    '52.0 %'
    """
    return f"{100 * share:.1f} %"
