"""Which k? One in k, with the threshold marked: what is needed, asked for, and reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.base.thresholds import least_size
from anon_core.contracts.attack import Attack
from anon_core.explain.answers import Answer, Cell
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan

#: Sizes that the table shows, next to those that are needed, asked for and reached.
_SHOWN = (2, 3, 5, 10, 11, 20, 33, 50, 100)


def least_k(threshold: float) -> int:
    """Return the least k whose 1 in k is no more than a threshold.

    Raises
    ------
    BadPlan
        If the threshold is no chance above 0.

    Examples
    --------
    >>> least_k(0.2), least_k(0.09), least_k(1 / 3), least_k(1)
    (5, 12, 3, 1)
    """
    if not 0 < threshold <= 1:
        raise BadPlan(
            f"No k keeps a chance of at most {threshold:g}.",
            remedy="Give a threshold above 0, and at most 1.",
        )
    return least_size(threshold)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What is needed, asked for and reached.

    Attributes
    ----------
    needed : int
        The least k within the threshold.
    asked : int
        The k that was required; 0 where none was.
    reached : int
        The smallest class, in rows or persons; 0 where nothing is published.
    """

    threshold: float
    needed: int
    asked: int
    reached: int


def sizes_of(result: Result, threshold: float | None = None) -> Sizes:
    """Return which k the threshold needs, which was asked for, and which was reached.

    Parameters are those of `which_k`.

    Raises
    ------
    BadPlan
        If the threshold is no chance above 0.
    """
    limit = threshold if threshold is not None else plan_threshold(result.plan)
    return Sizes(
        threshold=limit,
        needed=least_k(limit),
        asked=max((m.size_asked for m in result.plan.models), default=0),
        reached=int(result.hiding.min()) if len(result.hiding) else 0,
    )


def which_k(result: Result, threshold: float | None = None) -> Answer:
    """Say which k the threshold needs, which was asked for, and which was reached.

    Parameters
    ----------
    threshold : float, optional
        Chance of picking a person who is known to be in the table; by default the plan's.

    Raises
    ------
    BadPlan
        If the threshold is no chance above 0.
    """
    found = sizes_of(result, threshold)
    limit, needed, asked, reached = found.threshold, found.needed, found.asked, found.reached
    noun = "group" if result.release.grouping.published else "class"
    words = [
        f"A chance of at most {limit:g} needs k = {needed:,} (1 in {needed:,} is {1 / needed:.4g})"
    ]
    words.append(f"you asked for {asked:,}" if asked else "you asked for no k")
    enough = "which is enough" if reached >= needed else "which is not enough"
    words.append(f"the smallest {noun} has {reached:,}, {enough}")
    marks = ((needed, "your threshold"), (asked, "asked for"), (reached, "reached"))
    shown = sorted({k for k in (*_SHOWN, needed, asked, reached) if k > 0})
    rows: list[dict[str, Cell]] = [
        {
            "k": k,
            "chance, 1 in k": 1 / k,
            "within the threshold": "yes" if k >= needed else "no",
            "what it is": ", ".join(mark for at, mark in marks if at == k),
        }
        for k in shown
    ]
    note = (
        "Cells are exact where columns are permuted separately: a person's row may be recognized "
        "by its values, so 1 in k is the chance within the group only."
        if result.release.grouping.published
        else ""
    )
    return Answer(sentence="; ".join(words) + ".", rows=tuple(rows), note=note)


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """A threshold that the required k cannot meet.

    Attributes
    ----------
    needed : int
        The k that would.
    """

    needed: int
    sentence: str


def shortfall(plan: Plan) -> Shortfall | None:
    """Say before a run which k the plan's threshold needs, where the required one cannot meet it.

    A smallest class of exactly the k that was asked for has to be expected. None where the k is
    enough, or none was asked for.
    """
    threshold = plan_threshold(plan)
    asked = max((m.size_asked for m in plan.models), default=0)
    if not 0 < threshold < 1 or not asked or asked >= (needed := least_k(threshold)):
        return None
    return Shortfall(
        needed=needed,
        sentence=f"Your threshold is a chance of at most {threshold:.4g}, and k = {asked:,} lets "
        f"1 in {asked:,} be picked, which is {1 / asked:.3g}: it takes k = {needed:,}.",
    )


def plan_threshold(plan: Plan) -> float:
    """Return the plan's threshold for anyone who is picked knowing that they are in the table."""
    known = cast(dict[str, type[Attack]], family("attack"))
    for attack in plan.all_attacks():
        if known[attack.name].report.worst_case:
            return float(cast(float, attack.as_mapping()["threshold"]))
    return 1.0
