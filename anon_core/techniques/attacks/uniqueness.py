"""Uniqueness: which combinations of columns single out a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackNeeds, AttackReport
from anon_core.methods.matching.fitting_people import why_not
from anon_core.methods.reidentification.distinct_rows import alone_over_all, quasi_lines
from anon_core.methods.reidentification.unique_rows import (
    MOST_SETS,
    UniqueRows,
    bars,
    by_size,
    unique_rows,
)
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Uniqueness(Attack):
    """Count the rows that no one shares a few columns with; people, where one has several rows."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "Uniqueness"
    summary: ClassVar[str] = (
        "An attacker who knows only a few quasi-identifiers of a person finds the row at once if "
        "no other fits. Tries every combination of that many columns, and all published columns "
        "together."
    )
    formula: ClassVar[str] = (
        "rows that alone fit in some set of at most `size` quasi-identifiers / n; where texts "
        "overlap, rows that alone fit a person; where one person has several rows, people: all "
        "rows that fit are theirs; over all published columns, rows that no other row equals"
    )
    source: ClassVar[str] = (
        "Sweeney 2000, Simple demographics often identify people uniquely; Golle 2006, "
        "doi 10.1145/1179601.1179615; rows that fit, where classes overlap: Gionis, Mazza and "
        "Tassa 2008"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(place=4, certain_only=True)

    size: int = integer(
        default=3,
        low=1,
        high=20,
        help="Quasi-identifiers that someone knows at most; every combination of them is tried.",
        label="Columns known at most",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for rows whose quasi-identifiers are together, and for few enough combinations."""
        columns = len(view.quasi)
        sets = sum(math.comb(columns, size) for size in range(1, min(self.size, columns) + 1))
        if sets > MOST_SETS:
            return (
                f"It would try {sets:,} combinations of columns; at most {MOST_SETS:,} are tried. "
                "Lower the number of columns known at most."
            )
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Look at every combination, in the release and in the table as it is.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        found = unique_rows(quasi_lines(view, truth), self.size, context, 0.0)
        raw = unique_rows(quasi_lines(truth.raw, truth), self.size, context, 0.4)
        context.report(0.8, "Comparing whole rows")
        everything = alone_over_all(view, truth, context)
        unique, crowd = found.ever, truth.crowd
        everyone = truth.rows if crowd is None else crowd.total
        return [
            AttackResult(
                attack=self.name,
                attempted=everyone,
                eligible=view.rows if crowd is None else crowd.published,
                succeeded=float(unique),
                rate=unique / everyone,
                worst=1.0 if unique else 0.0,
                baseline=1.0 if everyone == 1 else 0.0,
                raw=raw.ever / everyone,
                at_risk=unique,
                threshold=1.0,
                per_class=found.unique.astype(np.float64),
                sentence=_sentence(
                    self.size, found, everything, everyone, whole=len(view.blocks) == 1
                ),
                details=(by_size(found, raw, everyone), bars(found, raw, everyone, everything)),
            )
        ]


def _sentence(
    size: int,
    found: UniqueRows,
    everything: tuple[int, int] | None,
    everyone: int,
    *,
    whole: bool,
) -> str:
    size = min(size, len(found.columns))
    which = "one column" if size == 1 else f"at most {size} columns"
    sentence = (
        f"{found.ever:,} of {everyone:,} {found.counted} are unique in some combination of {which} "
        f"of the quasi-identifiers ({per_cent(found.ever / everyone)})"
    )
    sentence += f", most of them in {found.worst_words}." if found.ever else "."
    if everything is None and not whole:  # cells of a row need not be of one person
        return sentence
    if everything is None:
        return (
            f"{sentence} The written release shows how many are unique over all published columns."
        )
    alone = everything[0]
    are = "is" if alone == 1 else "are"
    part = per_cent(alone / everyone)
    return f"{sentence} {alone:,} ({part}) {are} unique over all published columns."
