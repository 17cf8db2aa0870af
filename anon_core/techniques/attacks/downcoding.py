"""Downcoding: a table in more detail than the release, which still holds of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.consistent_tables.base_cells import boxes_of
from anon_core.methods.consistent_tables.minimal_rows import Lowered, inside, lowered
from anon_core.methods.matching.fitting_people import why_not
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.minimality_rule import MinimalRows
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Downcoding(Attack):
    """Lower rows of a release of which no row could have been published in more detail.

    1. A row whose smaller cell is published as well would have been published there.
    2. So would k rows of one smaller cell, where k others stay.
    3. How many rows lie in a smaller cell at least, whatever the table: so many are lowered.
    """

    name: ClassVar[str] = "downcoding"
    title: ClassVar[str] = "Downcoding"
    summary: ClassVar[str] = (
        "An attacker who knows that no row could be published in more detail infers which smaller"
        " cells the rows of a class must lie in, and publishes a more detailed table that is "
        "true."
    )
    formula: ClassVar[str] = (
        "Σ over disjoint cells d below a class of min j(d) / n; j(d) = 0 where d is published and "
        "m > k, j(d) < k where it is not and m ≥ 2k; no class dissolves into its children"
    )
    source: ClassVar[str] = (
        "Cohen 2022, Attacks on deidentification's defenses, USENIX Security 2022"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(stop_rule=True)
    report: ClassVar[AttackReport] = AttackReport(place=8, certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    seconds: float = number(
        default=10.0,
        low=0.0,
        high=86_400.0,
        help="Time after which classes not decided yet are left undecided, and count as exposed.",
        label="Time box",
        unit="seconds",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a technique of which it is proven that no row can be published in more detail."""
        if not isinstance(view.stopped, MinimalRows):
            return (
                "It needs a technique that says when it stopped, and that no row could be "
                "published in more detail; as it was set, this one does not."
            )
        if not view.stopped.sizes_alone:
            return "Privacy models other than the size of classes decided what is published."
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Lower the rows of every class.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        reason, rule = self.reason_not_applicable(view, audience), view.stopped
        boxes = boxes_of(view, [audience.hierarchies[name] for name in view.quasi])
        if reason or not isinstance(rule, MinimalRows) or boxes is None:
            raise AnonError(reason, remedy="Use it where cells are generalized at the least cost.")
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        boxed = replace(context, deadline=end)
        classes = len(boxes.size)
        found: list[Lowered] = []
        for place in range(classes):
            context.report(place / classes, "Looking for rows in smaller cells")
            found.append(lowered(rule, boxes, place, boxed))
        claimed = np.array([one.rows for one in found], dtype=np.int64)
        right = _right(view, truth, found)
        left = np.array([not one.decided for one in found]) * (boxes.size - claimed)
        rows, lower, undecided = truth.rows, int(right.sum()), int(left.sum())
        above = int(boxes.size[(boxes.lo < boxes.hi).any(axis=1)].sum())
        wrong = int(claimed.sum()) - lower
        chance = np.where(left > 0, 1.0, claimed / boxes.size)
        return [
            AttackResult(
                attack=self.name,
                attempted=rows,
                eligible=above,
                succeeded=float(lower),
                undecided=undecided,
                rate=(lower + undecided) / rows,
                worst=float(chance.max(initial=0.0)),
                baseline=0.0,
                raw=1.0,
                at_risk=int(claimed.sum()) + undecided,
                threshold=0.0,
                per_class=chance,
                interval=(lower / rows, (lower + undecided) / rows) if undecided else None,
                upper_bound=bool(undecided),
                sentence=_sentence(lower, above, wrong, undecided),
            )
        ]


def _right(view: View, truth: Truth, found: Sequence[Lowered]) -> I64:
    """Return how many of the rows that were lowered lie where it was said, by class."""
    right = np.zeros(len(found), dtype=np.int64)
    block = view.whole_quasi()
    if block is None:
        return right
    persons, places, frequency = view.persons(block), truth.places, truth.frequency
    quasi = [frequency.columns.index(name) for name in view.quasi]
    for place, one in enumerate(found):
        own = np.flatnonzero(places.group == persons.group[place])
        codes: npt.NDArray[np.int64] = frequency.codes[places.key[own]][:, quasi].astype(np.int64)
        for ends, least in zip(one.cells, one.least, strict=True):
            there = int(places.count[own][inside(codes, ends)].sum())
            right[place] += min(there, least)
    return right


def _sentence(lower: int, above: int, wrong: int, undecided: int) -> str:
    if not above:
        return "Every cell says its value already, so no row can be lowered."
    sentence = (
        f"Someone who knows that no row could be published in more detail lowers {lower:,} of "
        f"{above:,} generalized rows ({per_cent(lower / above)}) for certain."
    )
    if wrong:
        sentence += f" Of {wrong:,} rows what was claimed is wrong, so its figures are void."
    if undecided:
        sentence += f" {undecided:,} rows not decided; treated as exposed."
    return sentence
