"""How long work will still take, at the pace at which it went on lately."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

#: Seconds and share of the work before anything is estimated: a beginning says little.
_LEAST_SECONDS = 3.0
_LEAST_SHARE = 0.05
#: Shares closer to each other than this are not distinguished.
_STEP = 0.01


@dataclass(kw_only=True, eq=False)
class Pace:
    """When work was how far.

    Attributes
    ----------
    clock : callable
        Seconds now.
    """

    clock: Callable[[], float] = time.monotonic
    _told: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def note(self, share: float) -> None:
        """Take down how far it is, 0 to 1; what comes before the work begins does not count."""
        if share <= 0:
            self._told = [(self.clock(), 0.0)]
        elif not self._told or share >= self._told[-1][1] + _STEP:
            self._told = [*self._told, (self.clock(), share)]

    def left(self) -> float | None:
        """Return the seconds that are left at the pace of the later half of the time so far.

        Work is unevenly divided into what it reports, so that this is an estimate. None where
        nothing can be determined: too early, or nothing has moved for half of the time.
        """
        known = self._told
        if not known or known[-1][1] < _LEAST_SHARE:
            return None
        now, (began, _) = self.clock(), known[0]
        if now - began < _LEAST_SECONDS:
            return None
        then, before = [one for one in known if one[0] <= (began + now) / 2][-1]
        share = known[-1][1]
        if share - before < _STEP:
            return None
        return (1.0 - share) * (now - then) / (share - before)


def duration(seconds: float) -> str:
    """Word a time that is estimated, with as many figures as an estimate has.

    Examples
    --------
    >>> [duration(s) for s in (2, 37, 130, 5400)]
    ['less than 5 s', 'about 35 s', 'about 2 min', 'about 1.5 h']
    """
    if seconds < 5:
        return "less than 5 s"
    if seconds < 55:
        return f"about {round(seconds / 5) * 5} s"
    if seconds < 3570:
        return f"about {max(round(seconds / 60), 1)} min"
    return f"about {seconds / 3600:.1f} h"
