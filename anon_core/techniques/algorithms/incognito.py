"""Incognito: subsets of the quasi-identifiers by size, each lattice pruned by the smaller ones.

A table that is k-anonymous with respect to all quasi-identifiers is so with respect to every
subset of them (LeFevre et al. 2005, section 3). A subset's node is the node of the full lattice
where every other attribute is at its top, so class sets roll up from one subset to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1
from anon_core.base.context import Context, part_of
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.lattice_decisions import FAILED, SATISFIED, Classification
from anon_core.methods.lattice.nodes import (
    preference_choice,
    preferred,
    rows_allowed,
    suppression_budget,
)
from anon_core.methods.lattice.recoding_models import transformation_choice
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem

Subset = tuple[int, ...]


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Incognito(Algorithm):
    """Every full-domain generalization that keeps the privacy models, by growing subsets.

    For i = 1, 2, ... up to the number of attributes:

    1. Candidates are the nodes of i attributes all of whose subsets of i - 1 attributes hold: join
       and prune.
    2. Look at them from below; a node above one that holds is marked, and not looked at.
    3. What holds of the nodes of i attributes goes into the next iteration.

    What holds of all attributes keeps the privacy models; the minimal nodes among them are listed.
    """

    name: ClassVar[str] = "incognito"
    title: ClassVar[str] = "Incognito"
    summary: ClassVar[str] = (
        "Finds every choice of levels that satisfies the privacy models: first for single "
        "columns, then for pairs of the levels that are left, and so on. Publishes the preferred "
        "one of the minimal choices."
    )
    offer: ClassVar[Offer] = Offer(
        when="When you want every choice of levels that satisfies the privacy models, and what "
        "each set of columns gives away by itself.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(from_counts=True, counts_people=True, counts_public=True)
    formula: ClassVar[str] = (
        "a node of i attributes is a candidate if all its subsets of i − 1 attributes hold"
    )
    source: ClassVar[str] = "LeFevre et al. 2005, doi 10.1145/1066157.1066164"

    prefer: str = preference_choice()
    max_suppression: float = suppression_budget()
    transformation: str = transformation_choice()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        budget = rows_allowed(problem, self.max_suppression)
        nodes = Classification(
            problem, models, budget, part_of(context, 0, 0.9), self.transformation
        )
        search = BySize(nodes)
        if nodes.monotone:
            whole = search.survivors()
            nodes.status[...] = np.where(whole, SATISFIED, FAILED)
        else:  # what a subset cannot keep, the whole may: every node is looked at
            nodes.decide()
            whole = nodes.status == SATISFIED
        if not whole.any():
            nodes.refuse()
        minimal = nodes.minimal()
        checked = nodes.checked
        node = preferred(nodes, minimal, self.prefer)
        return Outcome(
            release=nodes.release(node),
            account=SearchAccount(
                proven=True,
                node=nodes.names(node),
                minimal=tuple(nodes.original(n) for n in minimal),
                nodes=nodes.lattice.size,
                looked=nodes.looked(),
                checked=checked,
                inferred=search.inferred,
                bounded=search.pruned,
                steps=tuple(search.steps),
            ),
        )


class BySize:
    """The walk over subsets, from single attributes to all of them.

    Attributes
    ----------
    candidates, held : dict of subset to bool array of the subset's lattice
        What the iterations looked at, and what of it kept the privacy models.
    """

    def __init__(self, nodes: Classification) -> None:
        self.nodes = nodes
        self.shape = nodes.lattice.shape
        self.candidates: dict[Subset, B1] = {}
        self.held: dict[Subset, B1] = {}
        self.inferred = 0
        self.pruned = 0
        self.steps: list[Mapping[str, int | float | str]] = []

    def survivors(self) -> B1:
        """Return which nodes of the whole lattice hold."""
        wide = len(self.shape)
        for size in range(1, wide + 1):
            subsets = list(itertools.combinations(range(wide), size))
            counted = {"nodes": 0, "candidates": 0, "checked": 0, "held": 0}
            for place, subset in enumerate(subsets):
                self.nodes.context.report(
                    (size - 1 + place / len(subsets)) / wide, f"Subsets of {size} columns"
                )
                # 1. Join and prune.
                candidates = self.candidates[subset] = self._candidates(subset)
                if self.nodes.context.listening:
                    self._tell(subset, candidates)
                checked = self.nodes.checked
                # 2. and 3. Look from below, and keep what holds.
                held = self.held[subset] = self._decide(subset, candidates)
                counted["nodes"] += candidates.size
                counted["candidates"] += int(np.count_nonzero(candidates))
                counted["checked"] += self.nodes.checked - checked
                counted["held"] += int(np.count_nonzero(held))
            self.inferred += counted["candidates"] - counted["checked"]
            self.pruned += counted["nodes"] - counted["candidates"]
            self.steps.append(
                {
                    "columns": size,
                    "subsets": len(subsets),
                    "nodes": counted["nodes"],
                    "pruned": counted["nodes"] - counted["candidates"],
                    "candidates": counted["candidates"],
                    "checked": counted["checked"],
                    "marked": counted["candidates"] - counted["checked"],
                    "held": counted["held"],
                }
            )
        return self.held[tuple(range(wide))]

    def _candidates(self, subset: Subset) -> B1:
        """Join and prune: a node stays if all its subsets of one attribute less do."""
        found = np.ones([self.shape[d] for d in subset], dtype=np.bool_)
        if len(subset) > 1:
            for left_out in range(len(subset)):
                part = self.held[subset[:left_out] + subset[left_out + 1 :]]
                found &= np.expand_dims(part, left_out)
        return found

    def _tell(self, subset: Subset, candidates: B1) -> None:
        """Tell which nodes of a subset are candidates: event "subset".

        With its `columns` by number, the `candidates` by their levels in the lattice that is
        searched, and what was `pruned`: levels, and the columns of the subset that pruned it.
        """
        pruned: list[tuple[Subset, Subset]] = []
        for place in map(tuple, np.argwhere(~candidates).tolist()):
            for left_out in range(len(subset)):
                part = subset[:left_out] + subset[left_out + 1 :]
                if not self.held[part][place[:left_out] + place[left_out + 1 :]]:
                    pruned.append((place, part))
                    break
        left = [tuple(place) for place in np.argwhere(candidates).tolist()]
        self.nodes.context.event("subset", columns=subset, candidates=left, pruned=pruned)

    def _decide(self, subset: Subset, candidates: B1) -> B1:
        """Walk the candidates from below; what is above one that holds is only marked.

        All that is above it is a candidate too, since it holds in every subset.
        """
        held = np.zeros_like(candidates)
        height = np.add.reduce(np.indices(candidates.shape)) if candidates.size else candidates
        whole = list(self.nodes.lattice.top)
        for step in range(int(height.max(initial=-1)) + 1):
            for place in np.argwhere(candidates & ~held & (height == step)).tolist():
                for d, level in zip(subset, place, strict=True):
                    whole[d] = level
                if self.nodes.satisfied(tuple(whole)):
                    held[tuple(slice(n, None) for n in place)] = True
        return held
