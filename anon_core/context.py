"""What long work carries with it: randomness, progress, a deadline and a way to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .errors import Cancelled

Progress = Callable[[float, str], None]


def silent(share: float, stage: str) -> None:
    """Report to nobody."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Handed to every search, model, metric and attack.

    Attributes
    ----------
    generator : numpy.random.Generator
        The only source of randomness; seeded from the plan.
    progress : callable
        Called with a share in [0, 1] and the name of the stage. Must be cheap.
    cancel : threading.Event
        Set by the person; work stops at the next `check`.
    deadline : float or None
        `time.monotonic` value after which anytime algorithms return what they have.
    """

    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress = silent
    cancel: threading.Event = field(default_factory=threading.Event)
    deadline: float | None = None

    def check(self) -> None:
        """Stop here when the person asked to.

        Raises
        ------
        Cancelled
            If `cancel` is set.
        """
        if self.cancel.is_set():
            raise Cancelled(
                "The run was cancelled; nothing was released.",
                remedy="The last good result is still there.",
            )

    def report(self, share: float, stage: str) -> None:
        """Check for cancellation, then report progress."""
        self.check()
        self.progress(share, stage)

    def out_of_time(self) -> bool:
        """Say whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline


def part_of(context: Context, start: float, stop: float) -> Context:
    """Return a context whose progress 0..1 shows as start..stop of the given one's."""

    def shown(share: float, stage: str) -> None:
        context.progress(start + (stop - start) * min(max(share, 0.0), 1.0), stage)

    return replace(context, progress=shown)
