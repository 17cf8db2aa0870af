"""What a person writes for single columns, such as ``age = 2 | sex = 0.5``: weights and levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import params
from .errors import BadPlan, listing, nearest
from .problem import Problem
from .table import as_day, as_number


def weights_text() -> Any:
    """Declare the parameter that `attribute_weights` reads."""
    return params.text(
        help="Columns whose detail counts more or less than 1, for example age = 2 | sex = 0.5.",
        label="Weights",
    )


def attribute_weights(problem: Problem, text: str, owner: str) -> npt.NDArray[np.float64]:
    """Return one weight per quasi-identifier, shape (quasi,); 1 where none is written.

    Parameters
    ----------
    problem : Problem
    text : str
        ``age = 2 | sex = 0.5``; the larger, the more of the column's detail should survive.
    owner : str
        Name of the technique, for messages.

    Raises
    ------
    BadPlan
        If a column is no quasi-identifier or named twice, or a weight no number above 0.
    """
    found = dict.fromkeys(problem.quasi, 1.0)
    for name, value in _written(problem, text, owner, "weight").items():
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not 0 < found[name] < 1e6:
            raise BadPlan(
                f"{owner}: the weight of '{name}' is {value!r}; allowed is a number above 0 and "
                "under 1,000,000.",
                remedy="Write for example age = 2 | sex = 0.5.",
            )
    return np.array([found[name] for name in problem.quasi], dtype=np.float64)


def attribute_levels(
    problem: Problem, text: str, owner: str, *, unnamed: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return one level per quasi-identifier, in their order.

    Where none is written it is that of `unnamed`, which has one per quasi-identifier; else 0.

    Raises
    ------
    BadPlan
        If a column is no quasi-identifier or named twice, or its hierarchy lacks the level.
    """
    found = dict(zip(problem.quasi, unnamed or (0,) * len(problem.quasi), strict=True))
    for name, value in _written(problem, text, owner, "level").items():
        height = problem.hierarchies[name].height
        if not value.isdecimal() or int(value) > height:
            raise BadPlan(
                f"{owner}: the level of '{name}' is {value!r}; its hierarchy has the levels 0 to "
                f"{height}.",
                remedy="Write for example age = 1 | sex = 0.",
            )
        found[name] = int(value)
    return tuple(found[name] for name in problem.quasi)


def attribute_limits(problem: Problem, text: str, owner: str) -> Mapping[str, tuple[str, str]]:
    """Return lower and upper limit of the columns that have some; empty where one is left off.

    Parameters
    ----------
    problem : Problem
    text : str
        ``age = 18..80 | hours = ..60``; numbers, or dates as they are written in the table.
    owner : str
        Name of the technique, for messages.

    Raises
    ------
    BadPlan
        If a column is no quasi-identifier of numbers or dates or named twice, or its limits are
        none or out of order.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, value in _written(problem, text, owner, "limits").items():
        kind = problem.dataset.column(name).kind
        ends = [end.strip() for end in value.split("..")]
        read = as_day if kind == "date" else as_number
        told = [math.nan if not end else read(end) for end in ends]
        wrong = any(end and math.isnan(at) for end, at in zip(ends, told, strict=True))
        if (
            kind not in ("number", "date")
            or wrong
            or len(told) != 2
            or all(map(math.isnan, told))
            or told[0] >= told[1]
        ):
            raise BadPlan(
                f"{owner}: the limits of '{name}' are {value!r}; allowed are two numbers or dates "
                "in order, or one of them, for a column of numbers or dates.",
                remedy="Write for example age = 18..80 | hours = ..60.",
            )
        found[name] = (ends[0], ends[1])
    return found


def _written(problem: Problem, text: str, owner: str, what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split("|"):
        if not part.strip():
            continue
        name, _, value = (piece.strip() for piece in part.rpartition("="))
        if name not in problem.quasi:
            raise BadPlan(
                f"{owner}: {what} for '{name or part.strip()}', which is no quasi-identifier; they "
                f"are {listing(problem.quasi)}.",
                remedy="Write column = number, separated by |."
                + nearest(name or part.strip(), problem.quasi),
            )
        if name in found:
            raise BadPlan(
                f"{owner}: '{name}' has two {what}s.", remedy="Name every column at most once."
            )
        found[name] = value
    return found
