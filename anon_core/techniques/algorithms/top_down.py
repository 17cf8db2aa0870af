"""Top-down specialization: start with everything suppressed, and uncover one value at a time.

Every value is published in one way in the whole table, but values of one column may be at
different levels (single-dimensional recoding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import sensitive_column
from anon_core.base.registry import find, register
from anon_core.base.terms import SMALLEST_CLASS
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, sensitive_columns
from anon_core.data.frequency import dense_rank
from anon_core.methods.lattice.local_search import clock
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.methods.lattice.nodes import Nodes, time_box
from anon_core.methods.matching.fitting_people import public_people
from anon_core.release import vocabulary
from anon_core.release.grouping import group_runs
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class TopDownSpecialization(Algorithm):
    """Specialize values while the privacy models hold (Fung, Wang and Yu 2005)."""

    name: ClassVar[str] = "top-down"
    title: ClassVar[str] = "Top-down specialization"
    summary: ClassVar[str] = (
        "Starts with everything suppressed and reveals one value after another for the whole "
        "table, while the privacy models hold: first the value that says most about a target "
        "column for the privacy it costs. Suppresses no row."
    )
    offer: ClassVar[Offer] = Offer(
        when="When the release will train a classifier, and a value should be published the same "
        "way wherever it occurs.",
        serves={
            "training": Service(
                place=3,
                why="It first reveals the values that help most to predict the target column, and "
                "publishes a value the same way wherever it occurs.",
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(approach="levels")
    needs: ClassVar[Needs] = Needs(counts_people=True, merges=True, counts_public=True)
    formula: ClassVar[str] = "score = information gained / (anonymity lost + 1)"
    source: ClassVar[str] = "Fung et al. 2005, doi 10.1109/ICDE.2005.143"

    target: str = sensitive_column(
        help="Sensitive column whose values should stay predictable; empty for the first. Without "
        "one, loss saved takes the place of information.",
        label="target",
        empty="the first sensitive column",
    )
    seconds: float = time_box()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Specialize from the top; see `Algorithm.run`.

        Raises
        ------
        NotFound
            If hiding everything breaks a privacy model that less may keep: the search starts there.
        """
        if self.target:
            sensitive_columns(problem, self.target, self.title)
        time_left = clock(context, self.seconds)
        time_left.check("Specializing")
        # Where not even hiding everything keeps the privacy models, there is nothing to start from.
        nodes = Nodes(problem, models, 0, context)
        if not nodes.satisfied(nodes.lattice.top):
            what = "Hiding every value does not satisfy the privacy models"
            nodes.refuse(what, decided=nodes.monotone)
        cut = _Cut(problem, models, self.target)
        steps: list[Mapping[str, int | float | str]] = []
        # 1. Every value is at the root of its hierarchy.
        best = cut.best()
        while best is not None and time_left.check("Specializing"):
            # 2. Specialize the value of the best score; 3. score again.
            score, d, first = best
            cut.specialize(d, first)
            smallest = int(cut.sizes[cut.sizes > 0].min())
            steps.append(
                {"column": problem.quasi[d], "score": score, SMALLEST_CLASS.lower(): smallest}
            )
            best = cut.best()
        release = cut.release()
        loss = cast(Metric, find("metric", "loss")()).measure(problem, release, context).value
        return Outcome(
            release=release, account=SearchAccount(proven=False, cost=loss, steps=tuple(steps))
        )


class _Cut:
    """At which level every leaf is published, and the classes that makes.

    Entries are the table's keys and, where a privacy model counts them, the public table's tuples
    behind them; leaves are then those of both. A class may hold people and no row.
    """

    def __init__(self, problem: Problem, models: Sequence[GroupModel], target: str) -> None:
        self.problem = problem
        self.models = models
        self.frequency = problem.frequency
        self._reference = reference_of(problem)
        self.keys = len(self.frequency.count)
        own = self.frequency.codes[:, : len(problem.quasi)]
        self.hierarchies = problem.quasi_hierarchies
        self.place = [np.arange(len(h.leaves), dtype=np.int32) for h in self.hierarchies]
        self.codes, self.rows = own, self.frequency.count
        self.people: npt.NDArray[np.int64] | None = None
        if any(m.counts_public(problem.population) for m in models):
            public = public_people(problem.population, problem.frequency, "The search")
            self.hierarchies, self.place = public.hierarchies, list(public.place)
            wide = np.stack([p[c] for p, c in zip(self.place, own.T, strict=True)], axis=1)
            self.codes = np.concatenate([wide, public.codes])
            self.rows = np.append(self.frequency.count, np.zeros_like(public.count))
            self.people = np.append(np.zeros_like(self.frequency.count), public.count)
        self.level = [np.full(len(h.leaves), h.height, dtype=np.int64) for h in self.hierarchies]
        self.member = np.zeros(len(self.rows), dtype=np.int64)
        self.sizes = np.array([problem.rows], dtype=np.int64)
        self._needs = tuple(dict.fromkeys(n for m in models for n in m.needs(problem)))
        own = [n for n in problem.sensitive if n not in problem.quasi]
        self._target = target or (own[0] if own else "")
        self._static = NodeCost(problem, cast(Metric, find("metric", "loss")())).prices
        self._gain: dict[tuple[int, int, int], float] = {}
        self._closed: set[tuple[int, int, int]] = set()

    def best(self) -> tuple[float, int, int] | None:
        """Return score, attribute and first leaf of the value to specialize, if there is any."""
        found: tuple[float, int, int] | None = None
        for d, h in enumerate(self.hierarchies):
            seen = self.place[d][self.problem.leaf_rows[h.column] > 0]
            firsts = np.unique(h.first_leaf[self.level[d][seen], seen])
            for first in firsts.tolist():
                place = (d, first, int(self.level[d][first]))
                if not place[2] or place in self._closed:
                    continue
                lost = self._anonymity_lost(*place)
                if lost is None:
                    # What broke a privacy model has no good parts, so that smaller classes break it
                    # too.
                    if all(model.unions_keep() for model in self.models):
                        self._closed.add(place)
                    continue
                score = self._gained(*place) / (lost + 1)
                if found is None or score > found[0]:
                    found = (score, d, first)
        return found

    def specialize(self, d: int, first: int) -> None:
        """Publish one value's children in its place, in the whole table."""
        level = int(self.level[d][first])
        below = self.hierarchies[d].first_leaf[level - 1]
        inside = self.hierarchies[d].first_leaf[level] == first
        self.level[d][inside & (self.level[d] == level)] = level - 1
        codes = self.codes[:, d]
        child = np.where(inside[codes], below[codes], first).astype(np.int32)
        sizes = [len(self.sizes), len(below)]
        self.member, _ = dense_rank([self.member.astype(np.int32), child], sizes)
        self.sizes = np.bincount(self.member, weights=self.rows).astype(np.int64)

    def _anonymity_lost(self, d: int, first: int, level: int) -> int | None:
        """Return by how much the smallest class shrinks; None where a privacy model would break."""
        hierarchy = self.hierarchies[d]
        codes = self.codes[:, d]
        entries = np.flatnonzero((hierarchy.first_leaf[level] == first)[codes])
        child = hierarchy.first_leaf[level - 1][codes[entries]]
        sizes = [len(self.sizes), len(hierarchy.leaves)]
        group, _ = dense_rank([self.member[entries].astype(np.int32), child], sizes)
        parted = np.bincount(group, weights=self.rows[entries]).astype(np.int64)
        keys = entries[entries < self.keys]  # the first of the entries; people have no more columns
        counted = {
            name: histogram(
                group[: len(keys)],
                self.frequency.codes[keys, self.frequency.columns.index(name)],
                self.frequency.count[keys],
                len(parted),
                len(self.problem.hierarchies[name].leaves),
                self.problem.hierarchies[name].missing_leaf,
            )
            for name in self._needs
        }
        people = None
        if self.people is not None:
            people = np.bincount(group, weights=self.people[entries]).astype(np.int64)
        stats = GroupStats(sizes=parted, histograms=counted, population=people)
        empty = parted == 0
        if not all(
            bool(np.all(m.per_group(stats, self._reference) | (empty & (not m.scope.public))))
            for m in self.models
        ):
            return None
        others = self.sizes > 0
        others[self.member[entries]] = False
        now = int(self.sizes[self.sizes > 0].min())
        left = int(self.sizes[others].min(initial=self.problem.rows))
        return now - min(int(parted[~empty].min()), left)

    def _gained(self, d: int, first: int, level: int) -> float:
        """Return what specializing a value shows of the target; it never changes."""
        place = (d, first, level)
        if place not in self._gain:
            hierarchy = self.hierarchies[d]
            codes = self.codes[: self.keys, d]
            keys = np.flatnonzero((hierarchy.first_leaf[level] == first)[codes])
            count = self.frequency.count[keys].astype(np.float64)
            if not self._target:
                prices, own = self._static[d], self.frequency.codes[keys, d]
                saved = prices[level][own] - prices[level - 1][own]
                self._gain[place] = float(saved @ count)
            else:
                value = self.frequency.codes[keys, self.frequency.columns.index(self._target)]
                child = hierarchy.first_leaf[level - 1][codes[keys]]
                self._gain[place] = _information(value, child, count)
        return self._gain[place]

    def release(self) -> Release:
        """Publish every class's values at their levels."""
        problem, frequency = self.problem, self.frequency
        _, first_key, member = np.unique(
            self.member[: self.keys], return_index=True, return_inverse=True
        )
        vocabularies: dict[str, vocabulary.Vocabulary] = {}
        cells: dict[str, npt.NDArray[np.int32]] = {}
        for d, (name, h) in enumerate(zip(problem.quasi, problem.quasi_hierarchies, strict=True)):
            code = frequency.codes[first_key, d]
            level = self.level[d][self.place[d][code]]
            ends = np.stack([h.bounds(i)[1][h.node(i)] for i in range(h.height + 1)])
            kind = problem.dataset.column(name).kind
            vocabularies[name], cells[name] = vocabulary.of_boxes(
                h, kind, h.first_leaf[level, code], ends[level, code], as_nodes=True
            )
        rank, first = dense_rank(
            [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
        )
        grouping = group_runs(frequency, rank[member[frequency.run_start]], len(first))
        return one_block(problem, grouping, vocabularies, {n: c[first] for n, c in cells.items()})


def _information(
    value: npt.NDArray[np.int32], child: npt.NDArray[np.int32], count: npt.NDArray[np.float64]
) -> float:
    """Return the mutual information of value and child, in bits, over the rows counted."""
    total = count.sum()
    both, place = np.unique(np.stack([value, child]), axis=1, return_inverse=True)
    shares = [np.bincount(place.ravel(), weights=count) / total]
    for own in both:
        _, of = np.unique(own, return_inverse=True)
        shares.append(np.bincount(of, weights=shares[0])[of])
    return float(np.sum(shares[0] * np.log2(shares[0] / (shares[1] * shares[2]))))
