"""MPALM: cut table and public table together for as long as presence stays uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.model import GroupModel
from anon_core.data.frequency import dense_rank
from anon_core.methods.partition.public_partition import PublicPartition, cuts_choice
from anon_core.release.grouping import group_runs
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import one_block

_WHY = (
    "It stays open whether a person in the public table is also in yours, and each part of the "
    "table keeps as much detail as that allows."
)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Mpalm(Algorithm):
    """Top-down multidimensional partition under δ-presence (Toth 2015, algorithm 2).

    A queue holds parts of the public table, at first the whole of it.

    1. Take a part; try its columns in the order of their normalized width.
    2. Split it along the column; if every side keeps δ-presence, the sides join the queue.
    3. A part that no column splits publishes the range of its public people for its private rows.
    """

    name: ClassVar[str] = "mpalm"
    title: ClassVar[str] = "MPALM"
    summary: ClassVar[str] = (
        "Cuts the table and a public table together, along the column that varies most, while "
        "every side satisfies the privacy models. Each part publishes its own box. Suppresses no "
        "row."
    )
    offer: ClassVar[Offer] = Offer(
        when="When being in the table is itself the secret, and the attacker has a list of "
        "everyone who could be in it.",
        serves={
            "statistics": Service(place=8, why=_WHY),
            "training": Service(place=8, why=_WHY),
            "sharing": Service(place=6, why=_WHY),
            "teaching": Service(place=7, why=_WHY),
        },
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    needs: ClassVar[Needs] = Needs(public=True, counts_public=True)
    formula: ClassVar[str] = (
        "cut a part P_i of the public table if δ_min ≤ |T_j| / |P_j| ≤ δ_max for every side j; "
        "publish the box of T_i where that satisfies the model, else that of P_i"
    )
    source: ClassVar[str] = (
        "Nergiz, Atzori and Clifton 2007, doi 10.1145/1247480.1247554; Toth 2015, algorithm 2"
    )

    cuts: str = cuts_choice()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Partition the table; see `Algorithm.run`."""
        found = PublicPartition(problem, models, self.cuts, self.title).search(context)
        vocabularies, cells = found.cells(problem)
        # Classes are numbered by what they publish, not by the order of the cuts.
        rank, first = dense_rank(
            [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
        )
        grouping = group_runs(problem.frequency, rank[found.part_of_run], len(first))
        sizes = grouping.sizes
        return Outcome(
            release=one_block(
                problem, grouping, vocabularies, {n: c[first] for n, c in cells.items()}
            ),
            account=SearchAccount(
                proven=False,
                partition={
                    "parts": float(len(sizes)),
                    "smallest": float(sizes.min()),
                    "largest": float(sizes.max()),
                    "mean": float(sizes.mean()),
                },
            ),
        )
