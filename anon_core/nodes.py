"""Judging single nodes of the lattice: what is removed there, and the release it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import vocabulary
from .context import Context
from .errors import Infeasible
from .grouping import group_runs
from .kernels.bounds import rows_kept
from .kinds import GroupModel, GroupStats
from .lattice import Classes, Lattice, Node
from .params import number
from .problem import Problem
from .release import Release, one_block
from .transformation import restricted

#: Nodes that an account lists at most.
MOST_LISTED = 20_000


def suppression_budget(
    *, default: float = 0.0, help: str = "Largest share of rows that may be removed."
) -> Any:
    """Declare the parameter that `rows_allowed` reads."""
    return number(
        default=default,
        low=0.0,
        high=1.0,
        help=help,
        label="Suppression budget",
        unit="share of rows",
    )


def rows_allowed(problem: Problem, share: float) -> int:
    """Return how many rows a budget, given as a share, allows to remove."""
    # 0.02 · 50 is a hair below 1 in binary; the guard keeps the row.
    return int(np.floor(share * problem.rows + 1e-9))


class Nodes:
    """What every search of the lattice asks of a node.

    Parameters
    ----------
    problem : Problem
    models : sequence of GroupModel
    budget : int
        Rows that may be removed, where `transformation` removes rows at all.
    context : Context
    transformation : str
        One of `transformation.LEVEL_MODELS`.

    Attributes
    ----------
    problem : Problem
        As it is searched: its hierarchies have the levels that `transformation` allows.
    lattice : Lattice
    rows : int
        Rows of the table.
    checked : int
        Nodes whose classes were looked at.
    monotone : bool
        Whether a node that holds makes every node above it hold.
    """

    def __init__(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        budget: int,
        context: Context,
        transformation: str = "AG_TS",
    ) -> None:
        self._given = problem
        self._restricted = restricted(problem, transformation)
        self.problem = self._restricted.problem
        self.models = models
        self.rows = problem.rows
        self.budget = budget if self._restricted.removes_rows else 0
        self.context = context
        needed = dict.fromkeys(name for m in models for name in m.needs(problem))
        public = any(m.needs_public for m in models)
        self.lattice = Lattice(self.problem, list(needed), public=public)
        # Where nothing may be removed, every class of a good node is good, and so are unions.
        self.monotone = all(
            (m.monotone_merge and m.monotone_suppress) or (m.closed_under_union and not self.budget)
            for m in models
        )
        self.checked = 0
        self._looked: dict[Node, int] = {}
        self._least_removed = problem.rows + 1
        self._least_node: Node | None = None

    def keep_mask(self, node: Node) -> tuple[Classes, npt.NDArray[np.bool_]]:
        """Return a node's classes and which of them keep every promise.

        Where one breaks a promise that no removal mends, none keeps it.
        """
        classes, stats = self.lattice.stats(node)
        if not self.lattice.public:
            return classes, self._hold(stats)
        filled = stats.sizes > 0  # the public table has people where the table has no row
        keep = self._hold(stats, filled)
        if filled.all():
            return classes, keep
        return Classes(words=classes.words[filled], count=classes.count[filled]), keep[filled]

    def _hold(
        self, stats: GroupStats, filled: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """Return which classes every model lets stay; without rows, only those of people count."""
        keep: npt.NDArray[np.bool_] | None = None
        for model in self.models:
            holds = model.per_group(stats)
            if filled is not None:
                holds = holds | ~(filled | model.needs_public)
            keep = holds if keep is None else keep & holds
        if keep is None:
            return np.ones(len(stats.sizes), dtype=np.bool_)
        # A class removed for one promise may break another: its people are known to be absent.
        if not keep.all() and not all(model.allows_removal() for model in self.models):
            return np.zeros_like(keep)
        return keep

    def removed(self, node: Node) -> int:
        """Return how many rows have to go at a node."""
        self.checked += 1
        if self.checked % 16 == 0:
            self.context.check()
        classes, keep = self.keep_mask(node)
        removed = self.rows - rows_kept(classes.count, keep)
        self.note(node, removed)
        return removed

    def note(self, node: Node, removed: int) -> bool:
        """Remember what has to be removed at a node; say whether that is within the budget."""
        if len(self._looked) < MOST_LISTED:
            self._looked[node] = removed
        if removed < self._least_removed:
            self._least_removed, self._least_node = removed, node
        return self.within(removed)

    def within(self, removed: int) -> bool:
        """Say whether so many rows may go: a release without rows is of no use to anyone."""
        return removed <= self.budget and removed < self.rows

    def satisfied(self, node: Node) -> bool:
        """Say whether a node keeps the promises within the budget."""
        return self.within(self.removed(node))

    def looked(self) -> Mapping[Node, int]:
        """Return the nodes that were looked at with the rows that have to go there.

        They are told by the levels of the hierarchies as they were given, in the order of the
        search, and only the first `MOST_LISTED`.
        """
        if self._restricted.complete:
            return dict(self._looked)
        return {self.original(node): removed for node, removed in self._looked.items()}

    def original(self, node: Node) -> Node:
        """Return a node by the levels of the hierarchies as they were given."""
        return self._restricted.original(node)

    def names(self, node: Node) -> Mapping[str, int]:
        """Return a node as column → level of the hierarchy as it was given."""
        return dict(zip(self.problem.quasi, self.original(node), strict=True))

    def refuse(self, what: str = "No choice of levels keeps the promises") -> NoReturn:
        """Raise `Infeasible` with the best of the nodes that were looked at."""
        removed, rows = self._least_removed, self.problem.rows
        levels = ", ".join(
            f"'{column}' at level {level}"
            for column, level in self.names(self._least_node or self.lattice.top).items()
        )
        raise Infeasible(
            f"{what} with at most {self.budget} of {rows} rows removed; the best removes {removed} "
            f"({removed / rows:.1%}: {levels}).",
            remedy="Allow more suppression, ask for less, or add a more general level to a "
            "hierarchy.",
            best=removed / rows,
            best_of="share of rows removed",
        )

    def release(self, node: Node) -> Release:
        """Build the release of a node: keep the classes that hold, remove the rest."""
        problem, lattice = self._given, self.lattice
        run_class, _ = lattice.runs_at(node)
        entries, keep = self.keep_mask(node)
        # Classes of `runs_at` are numbered in the order of their cells; so are these.
        order = np.lexsort([lattice.field(entries, d) for d in reversed(range(len(node)))])
        kept = keep[order]
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64)
        published = order[kept]
        columns = list(
            zip(problem.quasi, problem.quasi_hierarchies, self.original(node), strict=True)
        )
        return one_block(
            problem,
            group_runs(problem.frequency, numbers[run_class], len(published)),
            {name: vocabulary.of_level(h, level) for name, h, level in columns},
            {
                name: h.node(level)[lattice.field(entries, d)[published]]
                for d, (name, h, level) in enumerate(columns)
            },
        )
