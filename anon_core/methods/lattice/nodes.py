"""Judging single nodes of the lattice: what is removed there, and the release it represents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound, clipped
from anon_core.base.params import Technique, choice, number
from anon_core.base.terms import ROWS_SUPPRESSED, SHARE_SUPPRESSED
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel
from anon_core.kernels.bounds import rows_kept
from anon_core.methods.lattice.lattice import Classes, Lattice, Node
from anon_core.methods.lattice.recoding_models import removes_rows, restricted
from anon_core.methods.reidentification.payout import Width, share_lost
from anon_core.release import vocabulary
from anon_core.release.grouping import group_runs
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block

CRITERIA = ("absolute distance", "relative distance", "distinct tuples", "suppression")


def preference_choice() -> Any:
    """Declare the parameter; Samarati's search and Incognito have the same."""
    return choice(
        default="absolute distance",
        options=dict(
            zip(
                CRITERIA,
                (
                    "fewest steps",
                    "fewest steps, as shares of each hierarchy's height",
                    "most distinct rows left",
                    "fewest rows suppressed",
                ),
                strict=True,
            )
        ),
        help="Which of several minimal choices of levels is taken.",
        label="Prefer by",
    )


def criterion(nodes: Nodes, node: Node, which: str) -> float:
    """Return what one criterion says of a node; lower is preferred.

    Parameters
    ----------
    which : str
        One of `CRITERIA`. `distinct tuples` is negative, since more of them are preferred.
    """
    if which == "absolute distance":
        return float(sum(nodes.original(node)))
    if which == "relative distance":
        heights = nodes.original(nodes.lattice.top)
        steps = zip(nodes.original(node), heights, strict=True)
        # Exact, so that equal distances are a tie and not a matter of rounding.
        return float(sum((Fraction(n, h) for n, h in steps if h), Fraction(0)))
    classes, keep = nodes.keep_mask(node)
    if which == "distinct tuples":
        return -float(np.count_nonzero(keep))
    return float(nodes.problem.rows - int(classes.count[keep].sum()))


def preferred(nodes: Nodes, candidates: Sequence[Node], which: str) -> Node:
    """Return the candidate preferred by a criterion; among equals the lowest, then the first."""
    return min(candidates, key=lambda n: (criterion(nodes, n, which), sum(n), n))


UNKNOWN, SATISFIED, FAILED = np.uint8(0), np.uint8(1), np.uint8(2)
#: Nodes that an account lists at most.
MOST_LISTED = 20_000
#: Nodes that are looked at to say which bound is in the way.
_MOST_EXPLAINED = 2_000
_FINER = "Give the run more memory, so that finer levels are counted"


def suppression_budget(
    *,
    default: float = 0.0,
    help: str = "Largest share of rows that may be suppressed. A few save much, since one rare row "
    "makes all others coarser: on five tables 2% cut the loss by 24% to 66%.",
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


def time_box(*, help: str = "Time box.") -> Any:
    """Declare for how many seconds a technique may search."""
    return number(default=30.0, low=0.1, high=86_400.0, help=help, label="Time box", unit="seconds")


def rows_allowed(problem: Problem, share: float) -> int:
    """Return how many rows a budget, given as a share, allows to remove."""
    # 0.02 · 50 is a hair below 1 in binary; the guard keeps the row.
    return int(np.floor(share * problem.rows + 1e-9))


def rows_removable(problem: Problem, technique: Technique) -> int:
    """Return how many rows a technique may remove as it is set: none without a budget."""
    given = technique.as_mapping()
    if not removes_rows(str(given.get("transformation", "AG_TS"))):
        return 0
    return rows_allowed(problem, float(str(given.get("max_suppression", 0))))


def _only(stats: GroupStats, filled: npt.NDArray[np.bool_]) -> GroupStats:
    """Return what privacy models about all classes together look at, of some of the classes."""
    people = None if stats.population is None else stats.population[filled]
    place = np.cumsum(filled) - 1
    histograms = {
        name: replace(
            histogram,
            group=place[histogram.group[filled[histogram.group]]],
            value=histogram.value[filled[histogram.group]],
            count=histogram.count[filled[histogram.group]],
            groups=int(np.count_nonzero(filled)),
        )
        for name, histogram in stats.histograms.items()
    }
    return GroupStats(sizes=stats.sizes[filled], histograms=histograms, population=people)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedNode:
    """The classes of a node and what becomes of them.

    Attributes
    ----------
    keep : bool array of shape (classes,)
        Which keep every privacy model; the others are removed.
    possible : bool array of shape (classes,)
        Which can hold a class that keeps every privacy model; the rows of the others are removed at
        every node below as well. Those that `keep`, where the privacy models are nested.
    exact : bool
        Whether `keep` was asked at all; not where too many rows are in classes that hold no good
        one, so that the node fails whatever the others are. It is then what is possible.
    """

    classes: Classes
    keep: npt.NDArray[np.bool_]
    possible: npt.NDArray[np.bool_]
    exact: bool = True


class Nodes:
    """What every search of the lattice asks of a node.

    Parameters
    ----------
    models : sequence of GroupModel
    budget : int
        Rows that may be suppressed, where `transformation` removes rows at all.
    transformation : str
        One of `transformation.LEVEL_MODELS`.

    Attributes
    ----------
    problem : Problem
        As it is searched: its hierarchies have the levels that `transformation` allows.
    rows : int
        Rows of the table.
    checked : int
        Nodes whose classes were looked at.
    monotone : bool
        Whether a node that holds makes every node above it hold.
    together : list of GroupModel
        The privacy models about all classes of a release together.
    nested : bool
        Whether moreover the rows that have to go at a node have to go at every node below it.
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
        self._transformation = transformation
        self._reference = reference_of(problem)
        self._restricted = restricted(problem, transformation)
        self.problem = self._restricted.problem
        self.models = models
        self.rows = problem.rows
        self.budget = budget if self._restricted.removes_rows else 0
        self.context = context
        needed = dict.fromkeys(name for m in models for name in m.needs(problem))
        public = any(m.counts_public(problem.population) for m in models)
        self.lattice = Lattice(self.problem, list(needed), public=public)
        # Where nothing may be suppressed, every class of a good node is good, and so are unions.
        self.monotone = all(
            (m.logic.monotone_merge and (m.logic.monotone_suppress or m.of_release()))
            or (m.logic.closed_under_union and not self.budget)
            for m in models
        )
        self.together = [m for m in models if m.of_release()]
        self.nested = self.monotone
        if self.budget and not all(m.removal_nests() for m in models):
            # The fewest rows go by one such privacy model alone, and only where it is about sizes.
            self.nested = False
            more = public or any(m.private_columns() for m in self.together)
            self.monotone &= len(self.together) < 2 and not more
        self.checked = 0
        self._looked: dict[Node, int] = {}
        self._least_removed = problem.rows + 1
        self._least_node: Node | None = None

    def keep_mask(self, node: Node) -> tuple[Classes, npt.NDArray[np.bool_]]:
        """Return a node's classes and which of them keep every privacy model.

        Where one breaks a privacy model that no removal mends, none keeps it.
        """
        found = self.judged(node, relaxed=False)
        return found.classes, found.keep

    def judged(self, node: Node, *, relaxed: bool = True) -> JudgedNode:
        """Return a node's classes, which keep the privacy models, and which can hold one that does.

        Without `relaxed` the latter are those that keep them.
        """
        classes, stats = self.lattice.stats(node)
        filled = None
        if self.lattice.public:
            filled = stats.sizes > 0  # the public table has people where the table has no row
        possible = None
        if relaxed and not self.nested:
            possible = self._may_hold(stats)
            # Anyone who listens gets exact figures of every node.
            quick = filled is None and not self.context.listening
            if quick and not self.within(self.rows - rows_kept(classes.count, possible)):
                return JudgedNode(classes=classes, keep=possible, possible=possible, exact=False)
        keep = self._hold(stats, filled)
        if filled is not None and not filled.all():
            classes = Classes(words=classes.words[filled], count=classes.count[filled])
            stats, keep = _only(stats, filled), keep[filled]
            possible = possible[filled] if possible is not None else None
        keep = self._together_hold(node, classes, stats, keep)
        if self.together and not keep.all() and not all(m.allows_removal() for m in self.models):
            keep = np.zeros_like(keep)
        return JudgedNode(
            classes=classes, keep=keep, possible=keep if possible is None else possible
        )

    def _may_hold(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which classes can hold one that every model lets stay."""
        found = np.ones(len(stats.sizes), dtype=np.bool_)
        for model in self.models:
            if not model.of_release():
                found &= model.relaxed_per_group(stats, self._reference)
        return found

    def _together_hold(
        self, node: Node, classes: Classes, stats: GroupStats, keep: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return which classes stay where privacy models are about all of them together.

        What one of these privacy models removes may break another, so they settle in turn.
        """
        if not self.together:
            return keep
        names = self.problem.quasi
        cells = {name: self.lattice.field(classes, d) for d, name in enumerate(names)}
        lost = None
        if any(model.scope.by_cells for model in self.together):

            def widths(name: str, width: Width) -> npt.NDArray[np.float64]:
                d = names.index(name)
                hierarchy, level = self.lattice.hierarchies[d], node[d]
                return width(*hierarchy.bounds(level))[hierarchy.node(level)[cells[name]]]

            lost = share_lost(self.problem.hierarchies, names, widths)
        stats = replace(stats, cells=cells, lost=lost)
        left = len(keep) + 1
        while (now := int(np.count_nonzero(keep))) < left:
            left = now
            for model in self.together:
                keep = model.settle(stats, keep, self._reference)
        return keep

    def _hold(
        self, stats: GroupStats, filled: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """Return which classes every model lets stay; without rows, only those of people count."""
        keep: npt.NDArray[np.bool_] | None = None
        for model in self.models:
            if model.of_release():
                continue
            holds = model.per_group(stats, self._reference)
            if filled is not None:
                holds = holds | ~(filled | model.scope.public)
            keep = holds if keep is None else keep & holds
        if keep is None:
            return np.ones(len(stats.sizes), dtype=np.bool_)
        # A class removed for one privacy model may break another: its people are known to be
        # absent.
        if not keep.all() and not all(model.allows_removal() for model in self.models):
            return np.zeros_like(keep)
        return keep

    def removed(self, node: Node) -> int:
        """Return how many rows have to go at a node."""
        return self._removed(node, relaxed=False)[0]

    def _removed(self, node: Node, *, relaxed: bool = True) -> tuple[int, int]:
        """Return how many rows have to go at a node, and how many at least at each below."""
        self.checked += 1
        if self.checked % 16 == 0:
            self.context.check()
        found = self.judged(node, relaxed=relaxed)
        removed = self.rows - rows_kept(found.classes.count, found.keep)
        if found.exact:
            self.note(node, removed)
        return removed, self.rows - rows_kept(found.classes.count, found.possible)

    def decide_at(self, node: Node, status: npt.NDArray[np.uint8]) -> bool:
        """Look at a node, and decide all above or below it that it decides; say if it holds.

        `status` has the lattice's shape.
        """
        removed, below = self._removed(node)
        good = self.within(removed)
        if good and self.monotone:
            status[tuple([slice(n, None) for n in node])] = SATISFIED
        if not (good if self.monotone else self.within(below)):
            status[tuple([slice(None, n + 1) for n in node])] = FAILED
        status[node] = SATISFIED if good else FAILED
        return good

    def note(self, node: Node, removed: int) -> bool:
        """Remember what has to be removed at a node; say whether that is within the budget.

        Anyone who listens gets event "node" with the levels of the hierarchies as given,
        the rows that have to go, and whether that is within the budget.
        """
        if self.context.listening:
            levels, holds = self.original(node), self.within(removed)
            self.context.event("node", levels=levels, removed=removed, holds=holds)
        if len(self._looked) < MOST_LISTED:
            self._looked[node] = removed
        if removed < self._least_removed:
            self._least_removed, self._least_node = removed, node
        return self.within(removed)

    def within(self, removed: int) -> bool:
        """Say whether so many rows may go: a release without rows is of no use to anyone."""
        return removed <= self.budget and removed < self.rows

    def satisfied(self, node: Node) -> bool:
        """Say whether a node keeps the privacy models within the budget."""
        return self.within(self.removed(node))

    def looked(self) -> Mapping[Node, int]:
        """Return the nodes that were looked at with the rows that have to go there.

        They are known by the levels of the hierarchies as they were given, in the order of the
        search, and only the first `MOST_LISTED`.
        """
        if self._restricted.complete:
            return dict(self._looked)
        return {self.original(node): removed for node, removed in self._looked.items()}

    def searched(self, node: Node) -> Node:
        """Return a node, given by the levels of the hierarchies as they were given."""
        return self._restricted.searched(node)

    def original(self, node: Node) -> Node:
        """Return a node by the levels of the hierarchies as they were given."""
        return self._restricted.original(node)

    def names(self, node: Node) -> Mapping[str, int]:
        """Return a node as column → level of the hierarchy as it was given."""
        return dict(zip(self.problem.quasi, self.original(node), strict=True))

    def decided(self) -> bool:
        """Return whether the nodes that were looked at tell that no node keeps the models."""
        if self._given.floors and not self.monotone:
            return False  # a level below those that were counted may hold
        if len(self._looked) == self.lattice.size:
            return not any(self.within(removed) for removed in self._looked.values())
        top = self._looked.get(self.lattice.top)
        return self.monotone and top is not None and not self.within(top)

    def refuse(self, what: str = "", *, decided: bool | None = None) -> NoReturn:
        """Refuse, with the best of the nodes that were looked at.

        Without `what` no node is known to keep the privacy models. Most were then decided without
        being looked at; where one of them may remove fewer rows, they are looked at now, as far as
        there are not too many.

        Parameters
        ----------
        what : str
            What was tried, for a technique that need not have looked at all there is.
        decided : bool, optional
            Whether all that the technique could publish is decided; by default, whether all nodes
            are.

        Raises
        ------
        Infeasible
            If nothing that could be published keeps the privacy models.
        NotFound
            If that is open.
        """
        # Where a privacy model that a class keeps is kept by all rows as one class, the top is the
        # best.
        best_is_known = all(
            m.logic.monotone_merge and m.logic.monotone_suppress for m in self.models
        )
        if not what and not best_is_known and self.lattice.size <= MOST_LISTED:
            for node in self.lattice.nodes():
                if node not in self._looked:
                    self.removed(node)
        proven = self.decided() if what else self.monotone or not self._given.floors
        coarsely = self._given.floors
        levels_tried = "levels" if proven or not coarsely else "the levels that were counted"
        if not what and self._given.level_bounds:
            levels_tried += " within the bounds"
        what = what or f"No choice of {levels_tried} satisfies the privacy models"
        removed, rows = self._least_removed, self.problem.rows
        levels = ", ".join(
            f"'{column}' at level {level}"
            for column, level in self.names(self._least_node or self.lattice.top).items()
        )
        found = (
            f"{what} with at most {self.budget} of {rows} {ROWS_SUPPRESSED}; the best removes "
            f"{removed} ({removed / rows:.1%}: {levels})."
        )
        if not (proven if decided is None else decided):
            raise NotFound(
                f"Not found: {found} Others may.",
                remedy=f"{_FINER if coarsely else 'Choose the optimal search'}, allow more "
                "suppression, or ask for less.",
                best=removed / rows,
                best_of=SHARE_SUPPRESSED,
            )
        helpful = self._bounds_that_help()
        if helpful:
            found += (
                f" The privacy models hold if you lift one bound alone: {' or '.join(helpful)}."
            )
        raise Infeasible(
            found,
            remedy=("Lift a bound, allow" if helpful else "Allow")
            + " more suppression, ask for less, or add a more general level to a hierarchy.",
            best=removed / rows,
            best_of=SHARE_SUPPRESSED,
        )

    def _bounds_that_help(self) -> list[str]:
        """Return the bounds on levels of which lifting any one alone makes a release feasible.

        Where that depends on more nodes than are looked at for an explanation, a bound is left out.
        """
        found: list[str] = []
        for column, (least, most) in self._given.level_bounds.items():
            height = self._given.hierarchies[column].height
            for said, bound, lifted in (
                (
                    f"the highest level of '{clipped(column)}' ({most})",
                    most < height,
                    (least, height),
                ),
                (f"the lowest level of '{clipped(column)}' ({least})", least > 0, (0, most)),
            ):
                if bound and self._feasible_within({**self._given.level_bounds, column: lifted}):
                    found.append(said)
        return found

    def _feasible_within(self, bounds: Mapping[str, tuple[int, int]]) -> bool:
        """Say whether a node is known to keep the privacy models within other bounds on levels."""
        other = Nodes(
            replace(self._given, level_bounds=bounds),
            self.models,
            self.budget,
            self.context,
            self._transformation,
        )
        if other.satisfied(other.lattice.top):
            return True
        if other.monotone or other.lattice.size > _MOST_EXPLAINED:
            return False
        return any(other.satisfied(node) for node in other.lattice.nodes())

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
