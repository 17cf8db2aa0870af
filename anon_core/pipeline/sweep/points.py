"""The points of a sweep: what each choice reached, on scales that hold for every technique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from anon_core.base.errors import AnonError, BadPlan, Infeasible, NotFound, listing
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack
from anon_core.contracts.metric import Metric
from anon_core.pipeline.result import Result
from anon_core.pipeline.sweep.variations import Choices, choice_words
from anon_core.recipe.plan import Plan

#: What a risk is known by: the person it hits hardest, or all people on average.
Figure = Literal["worst", "rate"]
Status = Literal["released", "infeasible", "not found", "refused"]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What one attack achieves; see `AttackResult`."""

    worst: float
    rate: float
    undecided: int = 0
    upper_bound: bool = False

    def of(self, figure: Figure) -> float:
        """Return one of the two figures."""
        return self.worst if figure == "worst" else self.rate


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """What one combination of choices reached.

    Attributes
    ----------
    status : {'released', 'infeasible', 'not found', 'refused'}
    why : str
        Why there is no release.
    notes : tuple of str
        What had to give way, such as a privacy model that another one is in for.
    plan : Plan or None
        The plan that was carried out; None without a release.
    result : Result or None
        The run itself; None without a release, and where it was not kept.
    losses : mapping of str to float
        Value of every metric, by name.
    risks : mapping of str to Risk
        By attack, or ``attack:column`` where one is concerned.
    unmeasured : mapping of str to str
        Attacks that were not run, by name, with the reason.
    suppressed : int
        Rows suppressed.
    permuted : bool
        Whether columns are permuted separately.
    sha256 : str
        Of what is published.
    bytes : int
        What the published tables take, roughly.
    """

    choices: Choices
    status: Status
    why: str = ""
    notes: tuple[str, ...] = ()
    plan: Plan | None = None
    result: Result | None = None
    losses: Mapping[str, float] = field(default_factory=dict[str, float])
    risks: Mapping[str, Risk] = field(default_factory=dict[str, Risk])
    unmeasured: Mapping[str, str] = field(default_factory=dict[str, str])
    suppressed: int = 0
    permuted: bool = False
    sha256: str = ""
    bytes: int = 0
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """The choices in words."""
        return choice_words(self.choices)

    def risk(self, name: str, figure: Figure) -> float | None:
        """Return one risk; None where the attack was not run on this release."""
        found = self.risks.get(name)
        return None if found is None else found.of(figure)

    def why_unknown(self, name: str) -> str:
        """Return why a risk is not known, in words."""
        return self.unmeasured.get(name.partition(":")[0], self.why or "It was not run.")

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "choices": dict(self.choices),
            "status": self.status,
            "why": self.why or None,
            "notes": list(self.notes),
            "verified": self.status == "released",
            "output_sha256": self.sha256 or None,
            "suppressed": self.suppressed,
            "metrics": dict(self.losses),
            "risks": {n: {"worst": r.worst, "rate": r.rate} for n, r in self.risks.items()},
            "attacks_not_run": dict(self.unmeasured),
            "seconds": self.seconds,
        }


def released_point(
    choices: Choices, result: Result, notes: tuple[str, ...], seconds: float
) -> Point:
    """Return the point of a run."""
    tables = sum(int(table.nbytes) for table in result.tables.values())
    return Point(
        choices=choices,
        status="released",
        notes=notes,
        plan=result.plan,
        result=result,
        losses={name: measure.value for name, measure in result.measures.items()},
        risks={
            f"{a.attack}:{a.column}" if a.column else a.attack: Risk(
                worst=a.worst, rate=a.rate, undecided=a.undecided, upper_bound=a.upper_bound
            )
            for a in result.attacks
            if not a.idle
        },
        unmeasured=result.not_run
        | {a.attack: "No one could be attacked." for a in result.attacks if a.idle},
        suppressed=result.release.suppressed,
        permuted=result.release.grouping.published,
        sha256=result.sha256,
        bytes=tables + sum(len(content) for content in result.files.values()),
        seconds=seconds,
    )


def refused_point(
    choices: Choices, error: AnonError, notes: tuple[str, ...], seconds: float
) -> Point:
    """Return the point of a combination without a release."""
    status: Status = (
        "infeasible"
        if isinstance(error, Infeasible)
        else "not found"
        if isinstance(error, NotFound)
        else "refused"
    )
    return Point(choices=choices, status=status, why=error.message, notes=notes, seconds=seconds)


def common_losses(points: Sequence[Point] = ()) -> tuple[str, ...]:
    """Return the metrics that mean the same whether cells are coarser or links are cut, by name.

    The one that is a headline of groups comes first.

    Parameters
    ----------
    points : sequence of Point
        Of the metrics those that some point shows; without points, those that every run measures.
    """
    known = cast(dict[str, type[Metric]], family("metric"))
    names = {name for point in points for name in point.losses}
    fit = [
        name
        for name, metric in known.items()
        if (metric.scale.headline == "groups" or metric.scale.counts_links)
        and (name in names if points else metric.use.by_default)
    ]
    return tuple(sorted(fit, key=lambda n: (known[n].scale.headline != "groups", n)))


def known_risks(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the risks that any point shows, in the order in which attacks are reported."""
    attacks = cast(dict[str, type[Attack]], family("attack"))
    met = dict.fromkeys(name for point in points for name in point.risks)
    return tuple(sorted(met, key=lambda n: (attacks[n.partition(":")[0]].report.place, n)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Least:
    """The point that loses least with a risk that is low enough.

    Attributes
    ----------
    point : Point or None
        None where no point is within the limit.
    within : int
        Points within the limit.
    uncounted : tuple of Point
        Releases of which the risk is not known, so that they do not count.
    nearest : Point or None
        Where none is within: the one of least risk.
    """

    point: Point | None
    within: int
    uncounted: tuple[Point, ...]
    nearest: Point | None


def least_loss(
    points: Sequence[Point], *, loss: str, risk: str, at_most: float, figure: Figure = "worst"
) -> Least:
    """Return which point loses least among those whose risk is at most a limit.

    A point whose risk is not known is never the answer: what no one tested is not low. Of two
    points that lose the same the one of lower risk is taken, then the earlier one.

    Parameters
    ----------
    loss : str
        A metric's name.
    risk : str
        As in `Point.risks`.
    at_most : float
        Chance, 0 to 1.
    figure : {'worst', 'rate'}

    Raises
    ------
    BadPlan
        If no point shows that loss or that risk.

    Notes
    -----
    A metric of which more is better counts the other way round.
    """
    if not 0 <= at_most <= 1:
        raise BadPlan(f"The limit {at_most:g} is not a chance.", remedy="Give one from 0 to 1.")
    turned = -1.0 if cast(type[Metric], find("metric", loss)).scale.more_is_better else 1.0
    known = known_risks(points)
    if risk not in known:
        raise BadPlan(
            f"No release of this sweep reports the risk '{risk}'.",
            remedy=f"Name a reported one: {listing(known) or 'there is none'}.",
        )
    released = [p for p in points if p.status == "released" and loss in p.losses]
    if not released:
        raise BadPlan(
            f"No release of this sweep is measured by '{loss}'.",
            remedy="Name the metric under [[metrics]] of the recipe, or choose another.",
        )
    figures = [(p, p.risks[risk].of(figure)) for p in released if risk in p.risks]
    good = [(p, chance) for p, chance in figures if chance <= at_most + 1e-12]
    best = min(good, key=lambda found: (turned * found[0].losses[loss], found[1]), default=None)
    lowest = min(
        figures, key=lambda found: (found[1], turned * found[0].losses[loss]), default=None
    )
    return Least(
        point=best[0] if best else None,
        within=len(good),
        uncounted=tuple(p for p in released if risk not in p.risks),
        nearest=lowest[0] if lowest and not best else None,
    )
