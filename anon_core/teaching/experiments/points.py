"""What an experiment is run with, and the figures that it measures."""

from __future__ import annotations

from dataclasses import dataclass


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
