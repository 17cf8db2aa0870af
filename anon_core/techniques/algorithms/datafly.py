"""Datafly: raise the column with most distinct values until few enough rows are left over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.stop_rules import replay, stop_limits
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget
from anon_core.release.minimality_rule import RaisedLevels
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Datafly(Algorithm):
    """Greedy full-domain generalization with suppression of the rest (Sweeney 1997)."""

    name: ClassVar[str] = "datafly"
    title: ClassVar[str] = "Datafly"
    summary: ClassVar[str] = (
        "Raises the column with the most distinct values by one level, again and again, until the"
        " rows that are too rare fit the budget. Suppresses those rows."
    )
    offer: ClassVar[Offer] = Offer(
        when="When any number of columns must be handled at once and a quick answer is enough: it "
        "often generalizes more than needed.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(from_counts=True, counts_people=True, counts_public=True)
    formula: ClassVar[str] = "while suppressed rows > MaxSup: raise argmax over columns of |values|"
    source: ClassVar[str] = "Sweeney 2002, doi 10.1142/S021848850200165X"

    max_suppression: float = suppression_budget(
        default=0.02,
        help="Largest share of rows that may be suppressed; the original allowed k rows.",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Climb the lattice; see `Algorithm.run`.

        Raises
        ------
        NotFound
            If no node on the way keeps the privacy models, and others may.
        """
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        seen = [problem.leaf_rows[h.column] > 0 for h in nodes.lattice.hierarchies]
        top = nodes.lattice.top
        at = [0] * len(top)
        steps: list[Mapping[str, int | float | str]] = []
        while True:
            context.report(sum(at) / max(sum(top), 1), "Raising columns")
            # 1. Count the rows in classes that do not hold.
            removed = nodes.removed(tuple(at))
            step: dict[str, int | float | str] = {"step": len(steps), "rows left over": removed}
            steps.append(step)
            if nodes.within(removed):
                step["column raised"] = ""
                break
            # 2. Raise the column with most distinct values that can still be raised.
            open_columns = [d for d in range(len(top)) if at[d] < top[d]]
            if not open_columns:
                nodes.refuse("Raising every column to its top does not satisfy the privacy models")
            distinct = {
                d: len(np.unique(h.node(at[d])[seen[d]]))
                for d, h in enumerate(nodes.lattice.hierarchies)
            }
            widest = max(open_columns, key=lambda d: (distinct[d], -d))
            step["column raised"] = problem.quasi[widest]
            at[widest] += 1
        # 3. Remove what is left over.
        limits, stopped = stop_limits(problem, models), None
        if limits is not None:
            stopped = RaisedLevels(
                **limits,
                levels=nodes.original(tuple(at)),
                budget=nodes.budget,
                again=replay(self, problem, models),
            )
        return Outcome(
            release=replace(nodes.release(tuple(at)), stopped=stopped),
            account=SearchAccount(
                proven=False,
                node=nodes.names(tuple(at)),
                nodes=nodes.lattice.size,
                looked=nodes.looked(),
                checked=nodes.checked,
                steps=tuple(steps),
            ),
        )
