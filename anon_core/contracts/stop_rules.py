"""What is public of the way in which a search stopped: limits of classes, and the search itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.data.frequency import frequency_set
from anon_core.release.minimality_rule import Replay
from anon_core.release.problem import Problem
from anon_core.release.release import View


class Limits(TypedDict):
    """What every class had to keep; see `StopRule`."""

    least: int
    rows: int
    distinct: dict[str, int]
    share: dict[str, int]
    bounds: tuple[tuple[int, int], ...]


def stop_limits(problem: Problem, models: Sequence[GroupModel]) -> Limits | None:
    """Return the limits that privacy models come to; None where they ask for anything else.

    Where persons are counted, no class shows what decided; where the table was counted at coarser
    levels, finer ones were not looked at.
    """
    if (
        problem.person
        or problem.is_coarse
        or any(not m.logic.by_limits or m.of_release() for m in models)
    ):
        return None
    distinct: dict[str, int] = {}
    share: dict[str, int] = {}
    for model in models:
        for limit, found in (
            (model.least_distinct(problem), distinct),
            (model.most_share(problem), share),
        ):
            for name, least in limit.items():
                found[name] = max(least, found.get(name, 0))
    return Limits(
        least=max((m.least_size() for m in models), default=1),
        rows=problem.rows,
        distinct={name: least for name, least in distinct.items() if least > 1},
        share={name: least for name, least in share.items() if least > 1},
        bounds=tuple(
            problem.level_bounds.get(name, (0, problem.hierarchies[name].height))
            for name in problem.quasi
        )
        if problem.level_bounds
        else (),
    )


def shown(view: View) -> object:
    """Return the classes of whole rows by their texts and sizes, as something to be compared."""
    block = view.whole_quasi()
    if block is None:
        return None
    persons = view.persons(block)
    texts = [
        np.array(view.vocabularies[name].texts, dtype=object)[persons.codes[:, d]]
        for d, name in enumerate(persons.columns)
    ]
    return frozenset(zip(*(own.tolist() for own in texts), persons.sizes.tolist(), strict=True))


def with_rows(problem: Problem, codes: npt.NDArray[np.int32]) -> Problem:
    """Return the problem for other rows, known by their quasi-identifiers alone.

    Parameters
    ----------
    codes : int32 array of shape (rows, quasi)
        Leaf numbers; as many rows as the problem has.
    """
    sizes = [len(h.leaves) for h in problem.quasi_hierarchies]
    columns = [np.ascontiguousarray(own) for own in codes.T]
    return replace(
        problem, frequency=frequency_set(problem.quasi, columns, sizes, quasi=len(sizes))
    )


def replay(technique: Algorithm, problem: Problem, models: Sequence[GroupModel]) -> Replay:
    """Return the technique as an attacker runs it on a table of his own making.

    Parameters
    ----------
    technique : Algorithm
        One that looks at nothing but quasi-identifiers, and draws nothing.
    problem : Problem
        Its hierarchies and roles are used, and no row.
    """

    def again(codes: npt.NDArray[np.int32]) -> object:
        try:
            found = technique.run(with_rows(problem, codes), models, Context())
        except (Infeasible, NotFound):
            return None
        return shown(found.release.view)

    return again
