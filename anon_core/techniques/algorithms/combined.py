"""CombinedAlg: generalize each group just enough that permuting its columns keeps δ-presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context, now, part_of
from anon_core.base.errors import BadPlan, NotFound
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.methods.bucketized.coarsening import Group, Shelf, ascending
from anon_core.methods.bucketized.permuted_release import group_summary, groups_by, partition_choice
from anon_core.methods.matching.fitting_people import PublicPeople, public_people
from anon_core.methods.membership.equations_from_view import published_buckets
from anon_core.methods.membership.presence import Bounds, averages_break, judge
from anon_core.release.grouping import Grouping
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_cells, of_level

_STATES = 2_000  # width of layers up to which a group is counted: the second computation counts too


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class CombinedAlg(Algorithm):
    """Per group the lowest node whose permuted columns are δ-present (Toth 2015, algorithm 6)."""

    name: ClassVar[str] = "combined"
    title: ClassVar[str] = "CombinedAlg"
    summary: ClassVar[str] = (
        "Shuffles every column within groups, and generalizes the cells of each group just enough"
        " to keep everyone's presence in the table uncertain."
    )
    offer: ClassVar[Offer] = Offer(
        when="When presence in the table must stay uncertain, and fine values matter more than "
        "which of them belong together."
    )
    shape: ClassVar[Shape] = Shape(permutes=True, coarsens=True)
    needs: ClassVar[Needs] = Needs(public=True, counts_public=True)
    formula: ClassVar[str] = (
        "per group min Σ levels over nodes at or below the group's box with "
        "δ_min ≤ δ(t) ≤ δ_max for all t of the public table"
    )
    source: ClassVar[str] = "Toth 2015, algorithm 6"

    partition: Partitioner | Algorithm = partition_choice("mpalm")
    seconds: float = number(
        default=300.0,
        low=0.0,
        high=86_400.0,
        help="Time after which the search gives up; the number of nodes grows exponentially with "
        "columns.",
        label="Time box",
        unit="seconds",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups, coarsen and permute each of them; see `Algorithm.run`."""
        context.check()
        bounds = _bounds(models)
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        public = public_people(problem.population, problem.frequency, self.title)
        # 1. Partition.
        forming = _steering(models, self.partition)
        buckets = groups_by(self.partition, problem, forming, (), part_of(context, 0.0, 0.3))
        groups = _groups(problem, buckets, public, context)
        _refuse_hopeless(groups, bounds)
        # 2. Per group, nodes by ascending sum of levels; the first that holds wins.
        boxed = replace(part_of(context, 0.3, 0.95), deadline=end)
        nodes: list[tuple[int, ...]] = []
        tried = 0
        for g, group in enumerate(groups):
            boxed.report(g / len(groups), "Coarsening groups")
            node, looked = _first_node(group, bounds, boxed)
            tried += looked
            if context.listening:
                _tell(context, g, group, bounds, node)
            if node is None:
                raise _refused(g, len(groups), boxed)
            nodes.append(node)
        # 3. Publish, and test all groups together.
        release = _release(problem, buckets, groups, nodes)
        _confirm(problem, release, models, context)
        return Outcome(
            release=release,
            account=SearchAccount(proven=False, partition=group_summary(release), checked=tried),
        )


def _bounds(models: Sequence[GroupModel]) -> Bounds:
    """Return what all privacy models about public people allow together."""
    asked = [m.presence_bounds() for m in models if m.scope.public]
    low, high = max((a for a, _ in asked), default=0.0), min((b for _, b in asked), default=1.0)
    return Bounds.of(low, high)


def _steering(models: Sequence[GroupModel], partition: Partitioner | Algorithm) -> list[GroupModel]:
    """Return the models that form the groups.

    Raises
    ------
    BadPlan
        If no model is left to form groups by.
    """
    if isinstance(partition, Partitioner) and partition.counts_public:
        return list(models)
    forming = [m for m in models if not m.scope.public]
    if not forming:
        raise BadPlan(
            f"CombinedAlg forms groups by '{partition.name}' first, and no privacy model "
            "says how large they must be.",
            remedy="Add a bucket size, or form the groups by MPALM cuts.",
        )
    return forming


def _groups(
    problem: Problem, buckets: Buckets, public: PublicPeople, context: Context
) -> list[Group]:
    run = problem.frequency.run[buckets.key]
    number = int(buckets.group.max(initial=-1)) + 1
    runs = len(problem.frequency.run_count)
    pair, place = np.unique(buckets.group * runs + run, return_inverse=True)
    count = np.bincount(place, weights=buckets.count, minlength=len(pair)).astype(np.int64)
    start = np.searchsorted(pair, np.arange(number + 1) * runs)
    found: list[Group] = []
    shelf = Shelf(public)
    for g in range(number):
        if g % 64 == 0:
            context.check()
        mine = slice(int(start[g]), int(start[g + 1]))
        top = None if buckets.boxes is None else [tuple(c) for c in buckets.boxes[g].tolist()]
        found.append(Group(problem, public, pair[mine] % runs, count[mine], top, shelf))
    return found


def _refuse_hopeless(groups: Sequence[Group], bounds: Bounds) -> None:
    """Refuse where even a group's box is out of bounds: no node below can be within δ_max."""
    rows = np.array([g.size for g in groups], dtype=np.int64)
    people = np.array([g.covered for g in groups], dtype=np.int64)
    bad = ~bounds.hold(rows, people)
    if not bad.any():
        return
    chance = rows / people
    worst = float(chance[bad].max())
    raise NotFound(
        f"Not found: in {int(bad.sum())} of {len(groups)} groups even the most general cells give "
        f"a chance of presence out of bounds, up to {worst:.4g}.",
        remedy="Form larger groups (a larger bucket size), form them by MPALM cuts, or ask for "
        "less.",
        best=worst,
        best_of="highest chance with every group at its most general",
    )


def _first_node(
    group: Group, bounds: Bounds, context: Context
) -> tuple[tuple[int, ...] | None, int]:
    """Return the first node that holds, and how many were looked at; None if time is up."""
    start = group.least(bounds)
    tried = 0
    if start is None:
        return None, tried
    for node in ascending([[o.level for o in column] for column in group.options], start):
        context.check()
        if context.out_of_time():
            return None, tried
        tried += 1
        problem, everyone = group.at(node)
        if bounds.low > 0 and not everyone:  # somebody of the box is known to be absent
            continue
        if averages_break(problem.system, bounds):
            continue
        found = judge(problem, bounds, context, max_states=_STATES, first_break=True)
        if found.state == "holds":
            return node, tried
    return None, tried


def _tell(
    context: Context, number: int, group: Group, bounds: Bounds, found: tuple[int, ...] | None
) -> None:
    """Tell a group's nodes up to the one that was found, those that need no look among them.

    Nodes below `Group.least` are out of bounds by the people who show a single value; they are
    reported as nodes that fail, as they are in the source.
    """
    runs = group.runs.tolist()
    for node in ascending([[o.level for o in column] for column in group.options]):
        state = group.facts_at(node, bounds, context, _STATES)
        heights = [len(column) for column in group.options]
        context.event("coarsened", group=number, runs=runs, place=node, options=heights, **state)
        if node == found:
            return


def _refused(done: int, groups: int, context: Context) -> NotFound:
    if context.out_of_time():
        return NotFound(
            f"Not found: the time box ended with {done} of {groups} groups settled; nothing is "
            "released.",
            remedy="Give more time, use fewer columns, or form smaller groups.",
            best=done / groups,
            best_of="share of groups settled",
            timed_out=True,
        )
    return NotFound(
        f"Not found: for group {done + 1} of {groups} no node at or below its box was seen to keep "
        "δ-presence, as far as it could be counted.",
        remedy="Form other groups (another bucket size, or MPALM cuts), or ask for less.",
        best=done / groups,
        best_of="share of groups settled",
    )


def _release(
    problem: Problem,
    buckets: Buckets,
    groups: Sequence[Group],
    nodes: Sequence[tuple[int, ...]],
) -> Release:
    """Build the release: one class per group and quasi tuple, every column a block."""
    runs = len(problem.frequency.run_count)
    pair, member = np.unique(
        buckets.group * runs + problem.frequency.run[buckets.key], return_inverse=True
    )
    codes = np.concatenate(
        [group.cells_of_runs(node) for group, node in zip(groups, nodes, strict=True)]
    )
    published = problem.roles.published(problem.dataset)
    vocabularies = {n: of_level(problem.hierarchies[n], 0) for n in published}
    cells: dict[str, npt.NDArray[np.int32]] = {}
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        lo, hi, level = codes[:, d].T.astype(np.int32)
        kind = problem.dataset.column(name).kind
        vocabularies[name], cells[name] = of_cells(hierarchy, kind, lo, hi, level)
    return Release(
        problem=problem,
        grouping=Grouping(
            key=buckets.key,
            member=member.astype(np.int64),
            count=buckets.count,
            group=(pair // runs).astype(np.int64),
            published=True,
        ),
        vocabularies=vocabularies,
        cells=cells,
        blocks=tuple((name,) for name in published),
    )


def _confirm(
    problem: Problem, release: Release, models: Sequence[GroupModel], context: Context
) -> None:
    """Refuse what holds for groups by themselves, but not for all of them together."""
    assert problem.population is not None
    asking = [m for m in models if m.scope.public]
    if not asking:
        return
    joint = published_buckets(release.view, problem.population, context).joint
    shared = len(joint.types) - len(np.unique(joint.types))
    if shared:
        raise NotFound(
            f"Not found: the groups overlap: {shared} combinations of public people fit more than "
            "one group, so chances cannot be computed group by group.",
            remedy="Form the groups by Mondrian or MPALM cuts, which do not overlap.",
            best=float(shared),
            best_of="combinations of people who fit several groups",
        )
    for model in asking:
        for verdict in model.measure(
            release.view, audience_of(problem), reference_of(problem), context
        ):
            if not verdict.holds:
                raise NotFound(
                    "Not found: the groups hold by themselves, but not all together: "
                    + verdict.sentence,
                    remedy="A chance of 0 outside all groups breaks δ min above 0: form the groups "
                    "by MPALM cuts, or choose δ min of 0.",
                    best=verdict.reached,
                    best_of="chance of presence",
                )
