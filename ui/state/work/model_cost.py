"""What each model costs on the table that is loaded: the plan carried out with it and without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric, headline
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import LevelTable, Plan

JOB = "model-cost"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the plan comes to with some of its privacy models.

    Attributes
    ----------
    without : str
        The privacy model that was left out, by its title and settings; empty where none was.
    loss : float or None
        Share of the detail that is lost, 0 to 1; None where there is no release.
    removed, classes : int
    why : str
        Why there is no release.
    """

    without: str = ""
    loss: float | None = None
    removed: int = 0
    classes: int = 0
    why: str = ""


def costs(
    plan: Plan,
    table: Dataset,
    levels: Mapping[str, LevelTable],
    people: Dataset | None,
    released: Dataset | None = None,
) -> Callable[[Context], tuple[Cost, ...]]:
    """Return the work: all models together, then all but one, for each where there are several.

    Every release is recomputed as any other; none is kept.
    """
    plan = replace(plan, accept=())  # what each model costs, accepted or not
    plans: list[tuple[str, Plan]] = [("", plan)]
    if len(plan.models) > 1:
        for place, model in enumerate(plan.models):
            others = (*plan.models[:place], *plan.models[place + 1 :])
            plans.append(
                (", ".join([model.title, *model.settings()]), replace(plan, models=others))
            )

    def work(context: Context) -> tuple[Cost, ...]:
        found: list[Cost] = []
        for place, (without, one) in enumerate(plans):
            stage = f"Without {without}" if without else "With all privacy models"
            context.report(place / len(plans), stage)
            found.append(_cost(without, one, replace(context, progress=_nothing)))
        return tuple(found)

    def _cost(without: str, one: Plan, context: Context) -> Cost:
        try:
            result = run(
                one,
                table,
                levels,
                population=people,
                earlier=released,
                context=context,
                assess=False,
            )
        except Cancelled:
            raise
        except AnonError as error:
            return Cost(without=without, why=f"{error.message} {error.remedy}".strip())
        metric = cast(Metric, find("metric", headline("cells"))())
        measured = None
        if not metric.reason_not_applicable(result.problem):
            measured = metric.measure(result.problem, result.release, context)
        return Cost(
            without=without,
            loss=measured.share if measured is not None else None,
            removed=result.release.suppressed,
            classes=len(result.class_sizes),
        )

    return work


def _nothing(share: float, stage: str) -> None:
    """Keep single runs from moving the bar of all of them."""
