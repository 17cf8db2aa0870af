"""What an experiment is, and the shelf that finds all of them."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from anon_core.base.context import Context
from anon_core.base.errors import BadInput, listing, nearest
from anon_core.teaching.experiments import catalogue
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.points import Found, Point, Settings

if TYPE_CHECKING:
    from anon_core.teaching.experiments.tables import Which


Value: TypeAlias = str | int | float
Size = Literal["small", "full"]
#: How the figures are to the source: see `verdict`.
Outcome = Literal["reproduced", "differs", "source wrong", "not decided in time", "open"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where an experiment was printed; `where` is its section and figure."""

    author: str
    year: int
    title: str
    where: str
    doi: str = ""

    @property
    def cited(self) -> str:
        """The source in one line."""
        doi = f", doi {self.doi}" if self.doi else ""
        return f"{self.author} {self.year}. {self.title}, {self.where}{doi}"

    @property
    def short(self) -> str:
        """Author, year and place."""
        return f"{self.author} {self.year}, {self.where}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Axes that the source's figures and ours share.

    Attributes
    ----------
    title, x, y : str
        Title, and what the axes are.
    unit : str
        Of the vertical axis: ``share`` is shown in per cent.
    places : tuple of str
        Names of the places 0, 1, … of the horizontal axis, where they are not numbers.
    log : bool
        Whether the vertical axis is logarithmic.
    """

    name: str
    title: str
    x: str
    y: str
    unit: str = ""
    places: tuple[str, ...] = ()
    log: bool = False


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A figure that the source printed as a number, or as the range that its numbers keep to.

    Attributes
    ----------
    low, high : float
        Equal for one number.
    at : float or None
        Its place; None where it is said of all places.
    words : str
        How the source says it.
    """

    figure: str
    series: str
    low: float
    high: float
    words: str
    at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One measurement: it is finished or not, and what is finished is kept.

    Attributes
    ----------
    key : str
        Distinguishes steps, also those of another day.
    given : mapping of str to value
        What `Experiment.measure` gets.
    """

    key: str
    given: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something the source says, and whether the measured figures say so too.

    Attributes
    ----------
    says : str
        What the source claims.
    holds : bool or None
        None where too little was measured to tell.
    measured : str
        The figures that decide.
    because : str
        Why it does not hold, from figures that were measured as well, or why it cannot be
        determined; empty where it holds.
    wrong : bool
        Whether what was measured refutes the source on the source's own table, so that no other
        setting could reconcile the two.
    error : str
        Number of the error in the list of the sources' errors, if it is one of them.
    """

    says: str
    holds: bool | None
    measured: str
    because: str = ""
    wrong: bool = False
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How the figures are to the source, and why."""

    outcome: Outcome
    why: str


class Experiment(ABC):
    """One experiment of the literature; a file of `catalogue/` each.

    It computes nothing that a technique, metric or attack computes: it says what is run.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[Source]
    #: What it shows, in a sentence or two.
    shows: ClassVar[str]
    #: The table that it is run on.
    table: ClassVar[Which]
    figures: ClassVar[tuple[Figure, ...]]
    printed: ClassVar[tuple[Printed, ...]] = ()
    #: What is to be known of the settings: where the source leaves something open.
    remarks: ClassVar[tuple[str, ...]] = ()
    small: ClassVar[Settings]
    full: ClassVar[Settings]

    @abstractmethod
    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return what is measured, in an order in which early steps already show something."""

    @abstractmethod
    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Carry out one step.

        Raises
        ------
        AnonError
            If nothing could be released; shown instead of figures.
        Cancelled
            If the person stopped it.
        """

    @abstractmethod
    def claims(self, found: Found) -> Sequence[Claim]:
        """Hold what the source says against the figures that were measured."""

    def settings(self, size: Size) -> Settings:
        """Return the small or the full settings."""
        return self.full if size == "full" else self.small


def verdict(claims: Sequence[Claim], timed_out: str = "") -> Verdict:
    """Return how the figures are to the source.

    Reproduced if every claim holds; source wrong if one is refuted on the source's own table; open
    if too little was measured, or could be; not decided in time if that is only since time boxes
    ended; else they differ, and it is said why.

    Parameters
    ----------
    timed_out : str
        What time boxes left undecided, once every step is finished; empty if nothing.
    """
    failed = [claim for claim in claims if claim.holds is False]
    if any(claim.wrong for claim in failed):
        wrong = [claim for claim in failed if claim.wrong]
        return Verdict(
            outcome="source wrong", why=_reasons([*wrong, *(c for c in failed if not c.wrong)])
        )
    if not claims or any(claim.holds is None and not claim.because for claim in claims):
        if timed_out:
            return Verdict(outcome="not decided in time", why=timed_out)
        return Verdict(outcome="open", why="Not everything has been measured yet.")
    if failed:
        return Verdict(outcome="differs", why=_reasons(failed))
    # All else holds, as far as a release could be made.
    lacking = dict.fromkeys(claim.because for claim in claims if claim.holds is None)
    if lacking:
        return Verdict(outcome="open", why=" ".join(lacking))
    return Verdict(outcome="reproduced", why=" ".join(claim.measured for claim in claims))


def _reasons(claims: Sequence[Claim]) -> str:
    """Return why the first of some claims does not hold, and how many others do not."""
    first, *others = claims
    error = f" ({first.error})" if first.error else ""
    more = f"{len(others)} other claim{'s' if len(others) > 1 else ''}"
    more = f" Nor {'do' if len(others) > 1 else 'does'} {more} hold." if others else ""
    return f"“{first.says}” does not hold{error}. {first.because}{more}"


@cache
def all_experiments() -> tuple[Experiment, ...]:
    """Return all experiments by number."""
    found: list[Experiment] = []
    for module in pkgutil.iter_modules(catalogue.__path__):
        part = importlib.import_module(f"{catalogue.__name__}.{module.name}")
        kinds = [kind for kind in vars(part).values() if isinstance(kind, type)]
        own = [k for k in kinds if issubclass(k, Experiment) and k.__module__ == part.__name__]
        found += [kind() for kind in own if "id" in vars(kind)]
    return tuple(sorted(found, key=lambda experiment: experiment.id))


def find_experiment(id: str) -> Experiment:
    """Return the experiment of that number.

    Raises
    ------
    BadInput
        If there is none; lists the numbers and the nearest one.
    """
    for experiment in all_experiments():
        if experiment.id == id.upper():
            return experiment
    ids = [experiment.id for experiment in all_experiments()]
    raise BadInput(
        f"There is no experiment '{id}'; there are {listing(ids, len(ids))}.",
        remedy=f"Use one of these numbers.{nearest(id, ids)}",
    )
