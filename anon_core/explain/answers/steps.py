"""Choices of levels a step from the chosen ones: which rows would have to go, and the cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.registry import find
from anon_core.contracts.algorithm import counted_in_people
from anon_core.contracts.metric import Metric, headline
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.nodes import Nodes, rows_removable
from anon_core.pipeline.result import Result
from anon_core.release.problem import Problem

NodeOf = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One choice of levels, judged by the privacy models of a result.

    Attributes
    ----------
    levels : mapping of str to int
        By quasi-identifier.
    removed : int
        Rows that have to go there.
    budget : int
        Rows that may go.
    smallest : int
        Rows of the smallest class before any is removed.
    loss : float
        Loss of cells there, once those rows are gone: 1 where none is left.
    """

    levels: Mapping[str, int]
    removed: int
    budget: int
    smallest: int
    loss: float

    @property
    def holds(self) -> bool:
        """Whether the privacy models can be kept there within the budget."""
        return self.removed <= self.budget


def chosen_node(result: Result) -> NodeOf | None:
    """Return the level of every quasi-identifier; None where columns have no one level."""
    node = result.account.node
    if node is None or not result.problem.quasi or result.release.grouping.published:
        return None
    return tuple(int(node[name]) for name in result.problem.quasi)


def required(result: Result) -> tuple[GroupModel, ...]:
    """Return the privacy models as they are counted: in rows, or in persons."""
    plan = result.plan
    return counted_in_people(plan.algorithm, plan.models, plan.roles.unit)


def step_at(result: Result, node: NodeOf) -> Step:
    """Judge one choice of levels by the privacy models of a result.

    Parameters
    ----------
    node : tuple of int
        A level per quasi-identifier.

    Raises
    ------
    BadPlan
        If a column has no such level.
    """
    problem = result.problem
    heights = [h.height for h in problem.quasi_hierarchies]
    if len(node) != len(heights) or any(
        not 0 <= n <= h for n, h in zip(node, heights, strict=True)
    ):
        raise BadPlan(
            f"These levels do not exist: {node}.",
            remedy=f"Name one from 0 to {heights} for every quasi-identifier.",
        )
    budget = rows_removable(problem, result.plan.algorithm)
    # What a bound on levels is in the way of is what one wants to know.
    anywhere = replace(problem, level_bounds={})
    nodes = Nodes(anywhere, required(result), budget, Context())
    removed = nodes.removed(node)
    loss = 1.0
    if removed < problem.rows:
        metric = cast(Metric, find("metric", headline("cells"))())
        loss = metric.measure(problem, nodes.release(node), Context()).value
    return Step(
        levels=dict(zip(problem.quasi, node, strict=True)),
        removed=removed,
        budget=budget,
        smallest=int(classes_at(problem, node)[1].min(initial=problem.rows)),
        loss=loss,
    )


def moved(node: NodeOf, place: int, by: int) -> NodeOf:
    """Return the choice with one column's level moved.

    Examples
    --------
    >>> moved((1, 2), 1, -1)
    (1, 1)
    """
    return tuple(n + by if d == place else n for d, n in enumerate(node))


def classes_at(problem: Problem, node: NodeOf) -> tuple[I64, I64]:
    """Return the class of every quasi tuple at these levels, and the rows of every class."""
    codes = problem.frequency.run_codes
    cells = [
        h.node(level)[codes[:, d]]
        for d, (h, level) in enumerate(zip(problem.quasi_hierarchies, node, strict=True))
    ]
    _, own = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
    own = own.ravel().astype(np.int64)
    sizes = np.bincount(own, weights=problem.frequency.run_count).astype(np.int64)
    return own, sizes


def level_said(problem: Problem, column: str, level: int) -> str:
    """Return a level in words, such as ``level 2 of 3``."""
    return f"level {level} of {problem.hierarchies[column].height}"
