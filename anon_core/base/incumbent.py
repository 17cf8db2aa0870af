"""The best that a search has found so far, for whoever waits and may take it as it stands."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far a search by cost is from a proof.

    Attributes
    ----------
    cost : float
        What the best release found so far costs.
    bound : float
        What no release of its kind costs less than.
    metric : str
        Title of the metric that both are in.
    """

    cost: float
    bound: float
    metric: str

    @property
    def gap(self) -> float:
        """Share of its cost by which it may be dearer than the best there is."""
        return gap(self.cost, self.bound)


class SoFar:
    """Shared by a search and whoever waits for it; safe to be used from both their threads.

    Attributes
    ----------
    taken : threading.Event
        Set when the person wants no better release than the best found so far. A search that can
        stops at the next node; what follows the search is carried out in full.
    standing : Standing or None
        None as long as nothing is found, or where the search cannot tell.
    """

    def __init__(self) -> None:
        self.taken = threading.Event()
        self.standing: Standing | None = None


def gap(cost: float, bound: float) -> float:
    """Return the share of its cost by which a release may be dearer than the best there is.

    Examples
    --------
    >>> gap(0.4, 0.3), gap(0.4, 0.4), gap(0.0, 0.0)
    (0.25, 0.0, 0.0)
    """
    return round(max(cost - bound, 0.0) / cost, 12) if cost > 0 else 0.0
