"""Weights, levels and limits of single columns, fitted to a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, brief, listing, nearest
from anon_core.base.params import Parameter, Technique, by_column
from anon_core.data.values.kinds import KINDS
from anon_core.release.problem import Problem

#: Limits of one column, as `params` holds them.
Limits = Mapping[str, float | str]


def column_weights(*, quiet: bool = False) -> Any:
    """Declare the parameter that `weights_by_column` reads."""
    return by_column(
        each=Parameter(
            name="weight",
            kind="number",
            default=1.0,
            low=1e-6,
            high=999_999.0,
            help="Above 1 more of the column's detail is kept than of others, below 1 less.",
        ),
        help="Columns whose detail counts more or less than 1, for example age = 2.",
        label="Weights of single columns",
        empty="1",
        quiet=quiet,
    )


def column_levels(*, help: str, empty: str) -> Any:
    """Declare the parameter that `levels_by_column` reads."""
    each = Parameter(
        name="level", kind="level", default=0, low=0, help="Level of the hierarchy; 0 is exact."
    )
    return by_column(each=each, help=help, label="Levels", empty=empty)


def column_limits(*, help: str, empty: str) -> Any:
    """Declare the parameter that `limits_by_column` reads."""
    each = Parameter(
        name="limits",
        kind="limits",
        default={"low": 0},
        help="Values up to the lower and from the upper limit on are coded together.",
    )
    return by_column(each=each, help=help, label="Limits", empty=empty)


def weights_by_column(
    problem: Problem, given: Mapping[str, float], owner: str
) -> npt.NDArray[np.float64]:
    """Return one weight per quasi-identifier, shape (quasi,); 1 where none is given.

    Parameters
    ----------
    given : mapping of str to float
        The larger, the more of the column's detail should survive.
    owner : str
        Name of the technique, for messages.

    Raises
    ------
    BadPlan
        If a column is not a quasi-identifier.
    """
    _refuse_others(problem.quasi, given, owner, "weights")
    return np.array([given.get(name, 1.0) for name in problem.quasi], dtype=np.float64)


def levels_by_column(
    problem: Problem, given: Mapping[str, int], owner: str, *, unnamed: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return one level per quasi-identifier, in their order.

    Where none is given it is that of `unnamed`, which has one per quasi-identifier; else 0.

    Raises
    ------
    BadPlan
        If a column is not a quasi-identifier, or its hierarchy lacks the level.
    """
    _refuse_others(problem.quasi, given, owner, "levels")
    found = dict(zip(problem.quasi, unnamed or (0,) * len(problem.quasi), strict=True))
    for name, level in given.items():
        height = problem.hierarchies[name].height
        if level > height:
            raise BadPlan(
                f"{owner}: the level of '{name}' is {brief(level)}; its hierarchy has the "
                f"levels 0 to {height}.",
                remedy=f"Set levels.{name} to one of these.",
            )
        least, most = problem.level_bounds.get(name, (0, height))
        if not least <= level <= most:
            raise BadPlan(
                f"{owner}: the level of '{name}' is {brief(level)}; its lowest and highest level "
                f"are set to {least} and {most}.",
                remedy=f"Set levels.{name} to one of these, or move the bounds.",
            )
        found[name] = level
    return tuple(found[name] for name in problem.quasi)


def limits_by_column(
    problem: Problem, given: Mapping[str, Limits], owner: str
) -> Mapping[str, tuple[str, str]]:
    """Return lower and upper limit of the columns that have some; empty where one is left out.

    Raises
    ------
    BadPlan
        If a column is not a quasi-identifier of numbers or dates, or limits are none of its kind
        or out of order.
    """
    _refuse_others(problem.quasi, given, owner, "limits")
    found: dict[str, tuple[str, str]] = {}
    for name, limits in given.items():
        kind = KINDS[problem.dataset.column(name).kind]
        ends = (str(limits.get("low", "")), str(limits.get("high", "")))
        low, high = (kind.measure(end) if end else math.nan for end in ends)
        wrong = (ends[0] and math.isnan(low)) or (ends[1] and math.isnan(high)) or low >= high
        if not kind.measured or wrong:
            raise BadPlan(
                f"{owner}: the limits of '{name}' are {brief(dict(limits))}; allowed are two "
                "numbers or dates in order, or one of them, for a column of numbers or dates.",
                remedy=f"Set limits.{name}, for example to {{ low = 18, high = 80 }}.",
            )
        found[name] = ends
    return found


def refuse_others(techniques: Iterable[Technique], quasi: Sequence[str]) -> None:
    """Refuse techniques with a value for a column that is no quasi-identifier, as a run does.

    Raises
    ------
    BadPlan
    """
    for technique in techniques:
        for one in technique.parameters():
            if one.kind == "by-column":
                _refuse_others(quasi, getattr(technique, one.name), technique.name, one.name)


def _refuse_others(
    quasi: Sequence[str], given: Mapping[str, object], owner: str, parameter: str
) -> None:
    """Refuse a value for a column that is no quasi-identifier.

    Raises
    ------
    BadPlan
    """
    for name in given:
        if name not in quasi:
            raise BadPlan(
                f"{owner}: {parameter} names '{name}', which is not a quasi-identifier; they are "
                f"{listing(quasi)}.",
                remedy=f"Remove or rename '{name}'.{nearest(name, quasi)}",
            )
