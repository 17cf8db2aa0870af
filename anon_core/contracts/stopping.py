"""What of promises is in the rule that a search stopped by, where limits say all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ..release.problem import Problem
from .model import GroupModel


class Limits(TypedDict):
    """What every class had to keep; see `StopRule`."""

    least: int
    rows: int
    distinct: dict[str, int]
    share: dict[str, int]


def limits_told(problem: Problem, models: Sequence[GroupModel]) -> Limits | None:
    """Return the limits that promises come to; None where they ask for anything else.

    Where persons are counted, no class shows what decided; where the table was counted at coarser
    levels, finer ones were not looked at.
    """
    if (
        problem.person
        or problem.is_coarse
        or any(not m.by_limits or m.of_release() for m in models)
    ):
        return None
    distinct: dict[str, int] = {}
    share: dict[str, int] = {}
    for model in models:
        for told, found in (
            (model.least_distinct(problem), distinct),
            (model.most_share(problem), share),
        ):
            for name, least in told.items():
                found[name] = max(least, found.get(name, 0))
    return Limits(
        least=max((m.least_size() for m in models), default=1),
        rows=problem.rows,
        distinct={name: least for name, least in distinct.items() if least > 1},
        share={name: least for name, least in share.items() if least > 1},
    )
