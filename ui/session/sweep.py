"""The sweep behind the frontier: one plan carried out for several k and techniques."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled
from anon_core.base.registry import family, find
from anon_core.contracts.metric import headline
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.job.plan import LevelTable, Plan
from anon_core.job.runner import run
from anon_core.job.shared_search import with_best_levels

from ..words.phrases import worst_case

KS = (2, 3, 5, 10, 20, 50)
JOB = "sweep"


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one technique reached for one k.

    Attributes
    ----------
    technique : str
    k : int
    loss, worst : float or None
        Loss, and the highest chance of picking a person; None where there is no release.
    hidden : int
        Rows removed.
    why : str
        Why there is no release.
    """

    technique: str
    k: int
    loss: float | None = None
    worst: float | None = None
    hidden: int = 0
    why: str = ""


def variant(plan: Plan, technique: str, k: int, settings: Mapping[str, Any]) -> Plan:
    """Return the plan with another technique, its settings, and another k; other promises stay.

    Raises
    ------
    BadPlan
        If the technique refuses the settings.
    """
    mapping = plan.as_mapping()
    mapping["algorithm"] = {"name": technique, **settings}
    known = cast(dict[str, type[GroupModel]], family("model"))
    swept = next(kind for kind in known.values() if kind.of_class_sizes)
    others = [m for m in mapping["models"] if m["name"] != swept.name]
    mapping["models"] = [{"name": swept.name, swept.size_parameter: k}, *others]
    return Plan.from_mapping(mapping)


def sweep(
    plan: Plan,
    table: Dataset,
    levels: dict[str, LevelTable],
    people: Dataset | None,
    *,
    techniques: Mapping[str, Mapping[str, Any]],
    ks: Sequence[int],
    found: list[Point],
) -> Callable[[Context], Any]:
    """Return the work of a sweep; points are put into `found` as they come.

    `techniques` gives each technique's settings by its name. The optimal search may choose its
    levels for all k at once; every point is a release of its own, recomputed like any other.
    """
    todo = [(t, k) for t in techniques for k in ks]

    def work(context: Context) -> list[Point]:
        chosen: dict[str, Mapping[int, Plan]] = {}
        for place, (technique, k) in enumerate(todo):
            title = find("algorithm", technique).title
            if technique not in chosen:
                context.report(place / len(todo), title)
                chosen[technique] = at_once(technique, context)
            context.report(place / len(todo), f"{title}, k = {k}")
            found.append(carried_out(technique, k, chosen[technique].get(k), context))
        return found

    def at_once(technique: str, context: Context) -> Mapping[int, Plan]:
        quiet = replace(context, progress=_nothing)
        try:
            own = variant(plan, technique, ks[0], techniques[technique])
            return with_best_levels(own, ks, table, levels, people, quiet)
        except Cancelled:
            raise
        except AnonError:  # each point says for itself what is wrong
            return {}

    def carried_out(technique: str, k: int, known: Plan | None, context: Context) -> Point:
        quiet = replace(context, progress=_nothing)
        try:
            result = run(
                known or variant(plan, technique, k, techniques[technique]),
                table,
                levels,
                population=people,
                context=quiet,
            )
        except Cancelled:
            raise
        except AnonError as error:
            return Point(technique=technique, k=k, why=error.message)
        loss = result.measures.get(headline("cells"))
        return Point(
            technique=technique,
            k=k,
            loss=loss.value if loss is not None else None,
            worst=worst_case(result),
            hidden=result.release.suppressed,
        )

    return work


def _nothing(share: float, stage: str) -> None:
    """Keep single runs from moving the sweep's bar."""
