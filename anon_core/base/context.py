"""What long work carries with it: randomness, progress, a deadline and a way to stop it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from anon_core.base.errors import Cancelled
from anon_core.base.secret import draw, stream

# The best that a search has found so far: the page may take it before the search ends.


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
    """Shared by a search and the thread that waits for it; both may use it.

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


class WorkClock:
    """Seconds of work: it is still while anyone prepares what work needs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._preparing = 0
        self._since = 0.0
        self._left_out = 0.0

    def now(self) -> float:
        """Return the seconds it shows."""
        with self._lock:
            return (self._since if self._preparing else time.monotonic()) - self._left_out

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let it are still for as long as the block lasts; blocks may overlap."""
        with self._lock:
            if not self._preparing:
                self._since = time.monotonic()
            self._preparing += 1
        try:
            yield
        finally:
            with self._lock:
                self._preparing -= 1
                if not self._preparing:
                    self._left_out += time.monotonic() - self._since


_CLOCK = WorkClock()


def now() -> float:
    """Return the seconds on the clock that time boxes and deadlines use.

    It runs like `time.monotonic`, and is still while kernels are compiled or loaded: how much
    is found within a time box must not depend on whether it is the first run.
    """
    return _CLOCK.now()


def clock_stopped() -> AbstractContextManager[None]:
    """Stop the clock of `now` for as long as the block lasts."""
    return _CLOCK.stopped()


Progress = Callable[[float, str], None]


def silent(share: float, stage: str) -> None:
    """Report to no one."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A step that a technique has just made, for a listener that draws it.

    Attributes
    ----------
    kind : str
        What was done: cut, node, bucket.
    facts : mapping of str to object
        What is to be known of it; each kind has its own, named where it is reported.
    """

    kind: str
    facts: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Context:
    """Handed to every search, model, metric and attack.

    Attributes
    ----------
    generator : numpy.random.Generator
        The only source of randomness. A run hands over what the plan's seed gives; of its own it is
        drawn from the operating system.
    secret : bytes
        What draws are keyed by that protection itself rests on, 32 bytes: whatever the generator
        gave, nothing of them can be determined. A run hands over what the plan's seed gives.
    progress : callable
        Called with a share in [0, 1] and the name of the stage. Must be cheap.
    cancel : threading.Event
        Set by the person; work stops at the next `check`.
    deadline : float or None
        Value of `now` after which anytime algorithms return what they have.
    listener : callable or None
        Informed of every single step, in the order of the steps, on the thread that called. It must
        not change what it is informed of; what a technique finds does not depend on whether anyone
        listens.
    so_far : SoFar
        The best that was found so far, and whether the person takes it as it is.
    """

    generator: np.random.Generator = field(default_factory=lambda: stream(draw(), "context"))
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    progress: Progress = silent
    cancel: threading.Event = field(default_factory=threading.Event)
    deadline: float | None = None
    listener: Callable[[Event], None] | None = None
    so_far: SoFar = field(default_factory=SoFar)

    @property
    def listening(self) -> bool:
        """Whether anyone is informed of steps; hot loops ask this before they gather facts."""
        return self.listener is not None

    def event(self, kind: str, **facts: object) -> None:
        """Tell of a step that was made; where no one listens, return at once."""
        if self.listener is not None:
            self.listener(Event(kind=kind, facts=facts))

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
                remedy="Your last successful result is still available.",
            )

    def report(self, share: float, stage: str) -> None:
        """Check for cancellation, then report progress."""
        self.check()
        self.progress(share, stage)

    def out_of_time(self) -> bool:
        """Say whether the deadline has passed."""
        return self.deadline is not None and now() > self.deadline

    def enough(self) -> bool:
        """Say whether a search should end with what it has: time is up, or the person takes it."""
        return self.so_far.taken.is_set() or self.out_of_time()

    def found(self, cost: float, bound: float, metric: str) -> None:
        """Tell what the best found so far costs by a metric, and what nothing costs less than."""
        self.so_far.standing = Standing(cost=cost, bound=bound, metric=metric)


def part_of(context: Context, start: float, stop: float) -> Context:
    """Return a context whose progress 0..1 shows as start..stop of the given one's."""

    def shown(share: float, stage: str) -> None:
        context.progress(start + (stop - start) * min(max(share, 0.0), 1.0), stage)

    return replace(context, progress=shown)
