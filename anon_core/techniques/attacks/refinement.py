"""Refinement: which tables the algorithm would have released like this, and what all have alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.consistent_tables.base_cells import Boxes, boxes_of
from anon_core.methods.consistent_tables.class_fillings import Refined, refine
from anon_core.methods.matching.fitting_people import why_not
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.minimality_rule import MinimalRows
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Refinement(Attack):
    """Undo generalization by what is known of the algorithm (combinatorial refinement).

    For every class:

    1. Take all ways to fill it with single values that its cells allow.
    2. Leave out those for which the search would not have stopped where it did.
    3. One way left: the rows are recovered. Up to a few: they are at high risk.
    """

    name: ClassVar[str] = "refinement"
    title: ClassVar[str] = "Refinement"
    summary: ClassVar[str] = (
        "An attacker who knows the algorithm, but no one's values, asks for which tables it would"
        " have stopped at this point. If all of them agree on a class, the exact quasi-"
        "identifiers of its rows are recovered, although the class meets its privacy model."
    )
    formula: ClassVar[str] = (
        "rows in classes that can be filled in one way / n; ways x ∈ ℕ^cells with Σ x = |G|, and "
        "the stop rule of the search as linear conditions"
    )
    source: ClassVar[str] = (
        "Chhillar, Righi, Sutter and Kornaropoulos 2025, arXiv:2509.03350; conditions by the stop "
        "rules of the searches here"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(stop_rule=True)
    report: ClassVar[AttackReport] = AttackReport(place=6, certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    seconds: float = number(
        default=10.0,
        low=0.0,
        high=86_400.0,
        help="Time after which classes not decided yet are left undecided, and count as exposed.",
        label="Time box",
        unit="seconds",
    )
    few: int = integer(
        default=5,
        low=1,
        high=100,
        help="Ways to fill a class up to which its rows are at high risk.",
        label="At high risk up to",
        unit="ways",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a technique that says when it stops, and for whole rows."""
        if view.stopped is None or isinstance(view.stopped, MinimalRows):
            return (
                "It needs a technique that says when the search stopped; as it was set, this one "
                "does not."
            )
        if not view.stopped.sizes_alone:
            return "Privacy models other than the size of classes decided when the search stopped."
        if any(view.vocabularies[name].shortened for name in view.quasi):
            return "Some value sets were too long to be written, so that cells are not tight."
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Count the ways to fill every class.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        reason, rule = self.reason_not_applicable(view, audience), view.stopped
        boxes = boxes_of(view, [audience.hierarchies[name] for name in view.quasi])
        if reason or rule is None or boxes is None:
            raise AnonError(reason, remedy="Use it on generalized tables of whole rows.")
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        found = refine(rule, boxes, self.few, replace(context, deadline=end))
        one, sizes = (found.worlds == 1) & found.decided, boxes.size
        right = _right(view, truth, boxes, found) & one
        recovered, undecided = int(sizes[right].sum()), int(sizes[~found.decided].sum())
        wrong = int(sizes[one].sum()) - recovered
        chance = np.where(found.decided, 1 / found.worlds, 1.0)
        chance[found.worlds > self.few] = 0.0
        chance[~found.decided] = 1.0
        exposed, rows = recovered + undecided, truth.rows
        risky = int(sizes[(found.worlds <= self.few) & found.decided].sum())
        known = int(sizes[found.alone == 1].sum())
        return [
            AttackResult(
                attack=self.name,
                attempted=rows,
                eligible=view.rows,
                succeeded=float(recovered),
                undecided=undecided,
                rate=exposed / rows,
                worst=float(chance.max(initial=0.0)),
                baseline=known / rows,
                raw=1.0,
                at_risk=int(sizes[chance > 0].sum()),
                threshold=1 / (self.few + 1),
                per_class=chance,
                interval=(recovered / rows, exposed / rows) if undecided else None,
                upper_bound=bool(undecided),
                sentence=self._sentence(found, recovered, known, rows, undecided, wrong),
                details=(self._ways(found, sizes, risky),),
            )
        ]

    def _sentence(
        self, found: Refined, recovered: int, known: int, rows: int, undecided: int, wrong: int
    ) -> str:
        if not found.consistent:
            return (
                "No table leads to this release by the rule that the search is said to stop by, so "
                "nothing is claimed."
            )
        sentences = [
            f"Someone who knows when the search stopped recovers the exact quasi-identifiers of "
            f"{recovered:,} of {rows:,} rows ({per_cent(recovered / rows)}); the release alone "
            f"reveals {known:,}."
        ]
        if wrong:
            sentences.append(
                f"Of {wrong:,} rows what was claimed is wrong, so its figures are void."
            )
        if undecided:
            sentences.append(f"{undecided:,} rows not decided; treated as exposed. {found.unused}")
        return " ".join(sentences).strip()

    def _ways(self, found: Refined, sizes: I64, risky: int) -> Details:
        """Return the rows in classes by the ways to fill them, with the algorithm and without."""
        names = [*(f"{n:,}" for n in range(1, self.few + 1)), f"over {self.few:,}", "not decided"]
        worlds = np.where(found.decided, found.worlds, self.few + 2)
        return Details(
            title="Rows by the ways to fill their class",
            rows=tuple(
                {
                    "ways": name,
                    "algorithm known": float(sizes[worlds == n].sum() / sizes.sum()),
                    "release alone": float(sizes[found.alone == n].sum() / sizes.sum()),
                }
                for n, name in enumerate(names, start=1)
            ),
            x="ways",
            y=("algorithm known", "release alone"),
            drawn="bars",
            note=f"{risky:,} rows are in classes with provably at most {self.few} ways to fill "
            "them, which is a high risk.",
        )


def _right(view: View, truth: Truth, boxes: Boxes, found: Refined) -> npt.NDArray[np.bool_]:
    """Return the classes whose one way is what is in the table, shape (classes,)."""
    right = np.zeros(len(boxes.size), dtype=np.bool_)
    block = view.whole_quasi()
    if block is None:
        return right
    persons, places, frequency = view.persons(block), truth.places, truth.frequency
    order = np.argsort(places.group, kind="stable")
    groups = places.group[order]
    quasi = [frequency.columns.index(name) for name in view.quasi]
    for place, filled in found.filled.items():
        own = order[slice(*np.searchsorted(groups, persons.group[place] + np.array([0, 1])))]
        codes = frequency.codes[places.key[own]][:, quasi].astype(np.int64)
        wide = boxes.hi[place].astype(np.int64) - boxes.lo[place] + 1
        inside = np.ravel_multi_index((codes - boxes.lo[place]).T, wide, mode="clip")
        there = np.bincount(inside, weights=places.count[own], minlength=len(filled))
        right[place] = there.tolist() == list(filled)
    return right
