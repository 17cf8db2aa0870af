"""Special uniques (SUDA): rows that a few columns single out, the fewer the worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context, part_of
from anon_core.base.params import choice, integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.matching.fitting_people import why_not
from anon_core.methods.reidentification.distinct_rows import quasi_lines
from anon_core.methods.reidentification.minimal_uniques import (
    Change,
    Chosen,
    MinimalUniques,
    Variant,
    covering_changes,
    dis_suda,
    file_risk,
    minimal_uniques,
)
from anon_core.methods.reidentification.unique_rows import MOST_SETS
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

_SETS = 10  # sets that are listed
_ROWS = 20  # rows that are listed


@register("attack")
@dataclass(frozen=True, kw_only=True)
class SpecialUniques(Attack):
    """Find the smallest sets of columns that make a published row unique.

    Where one person has several rows, a set is unique where one person has it: all rows that are
    alike in it are theirs. U and P then count the combinations of all columns that one person has,
    and two people have. Where texts overlap, P is taken for 0, so that DIS is an upper bound.
    """

    name: ClassVar[str] = "special-uniques"
    title: ClassVar[str] = "Special uniques (SUDA)"
    summary: ClassVar[str] = (
        "An attacker who knows a few quasi-identifiers looks for rows that are unique in them. "
        "Rows that many small sets of columns single out are at most risk. The attack says why "
        "each of these rows is, and what would cover it."
    )
    formula: ClassVar[str] = (
        "score = Σ over minimal sets Π_{i=|set|}^{M} (columns − i); rows with such a set / n; "
        "DIS = U f / (U f + 2 P (1 − f)), shared out among rows by their scores (DIS-SUDA); where "
        "one person has several rows, people with such a set / people"
    )
    source: ClassVar[str] = (
        "Manning, Haglin and Keane 2008, doi 10.1007/s10618-007-0078-6; Elliot, Manning and Ford "
        "2002; Skinner and Elliot 2002, doi 10.1111/1467-9868.00365; sdcMicro, Templ et al. 2015"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(place=5, certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    size: int = integer(
        default=3,
        low=1,
        high=20,
        help="Columns of the largest sets that are tried, M.",
        label="Largest set",
    )
    share: float = number(
        default=0.1,
        low=1e-9,
        high=1.0,
        help="Sampling share f where no population is stated: table / population.",
        label="Sampling share",
    )
    variant: str = choice(
        default="sdcmicro",
        options={"sdcmicro": "as sdcMicro does", "proportional": "in proportion to scores"},
        help="How the file's risk is shared out among its rows.",
        label="DIS-SUDA",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for rows whose quasi-identifiers are together, and for few enough sets."""
        columns = len(view.quasi)
        sets = sum(math.comb(columns, size) for size in range(1, min(self.size, columns) + 1))
        if sets > MOST_SETS:
            return (
                f"It would try {sets:,} sets of columns; at most {MOST_SETS:,} are tried. Lower "
                "the size of the largest set."
            )
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Look for minimal sets in the release, and in the table as it is.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        lines = quasi_lines(view, truth)
        found = minimal_uniques(lines, self.size, part_of(context, 0.0, 0.4))
        raw = quasi_lines(truth.raw, truth)
        of_raw = minimal_uniques(raw, self.size, part_of(context, 0.4, 0.7))
        changes = covering_changes(found, audience.hierarchies, part_of(context, 0.7, 1.0))
        alike = lines.alike(range(len(lines.columns)), context)
        uniques = int(np.count_nonzero(alike == 1))
        pairs, crowd = int(lines.own[alike == 2].sum()) // 2, truth.crowd
        everyone = truth.rows if crowd is None else crowd.total
        published = view.rows if crowd is None else crowd.published
        if crowd is not None and lines.overlapping:
            pairs = 0  # two stand for several there
        people = audience.population
        share = self.share if people is None else min(published / people.size, 1.0)
        whole = file_risk(uniques, pairs, share)
        variant = cast(Variant, self.variant)
        risk = dis_suda(found.score, whole, uniques, len(lines.columns), variant)
        special = found.special
        exposed, rate = found.number(special), found.number(special) / everyone
        sentence = (
            f"{exposed:,} of {everyone:,} {lines.counted} are special uniques ({per_cent(rate)})"
        )
        if exposed:
            first = next((c for c in changes if c.covered.any()), None)
            sentence += (
                f": unique in at most {found.size} quasi-identifiers. The highest score is "
                f"{int(found.score.max())}, with DIS-SUDA {float(risk.max()):.3g} at a sampling "
                f"share of {share:.3g}"
            )
            if first is not None:
                sentence += f"; {first.words} covers {found.covered(first.covered):,} of them"
        return [
            AttackResult(
                attack=self.name,
                attempted=everyone,
                eligible=published,
                succeeded=float(exposed),
                rate=rate,
                worst=1.0 if exposed else 0.0,
                baseline=1.0 if everyone == 1 else 0.0,
                raw=of_raw.number(of_raw.special) / everyone,
                at_risk=exposed,
                threshold=1.0,
                per_class=special.astype(np.float64),
                sentence=f"{sentence}.",
                details=(
                    _column_details(found, changes),
                    _set_details(found, everyone),
                    _row_details(found, risk, self.variant, changes),
                ),
            )
        ]


def _column_details(found: MinimalUniques, changes: Sequence[Change]) -> Details:
    """Return the share of the scores that sets with each column have, and whom a change covers."""
    columns, counted = found.lines.columns, found.lines.counted
    share = np.zeros(len(columns))
    for chosen in found.marks:
        share[list(chosen)] += found.weight(chosen) * np.count_nonzero(found.minimal(chosen))
    whole = max(int(found.score.sum()), 1)
    covered = {(c.column, c.suppressed): found.covered(c.covered) for c in changes}
    order = sorted(range(len(columns)), key=lambda d: (-share[d], d))
    return Details(
        title="What each column contributes to special uniques",
        rows=tuple(
            {
                "column": columns[d],
                "share of the scores": float(share[d]) / whole,
                "covered one level up": covered.get((columns[d], False), 0),
                "covered if suppressed": covered.get((columns[d], True), 0),
            }
            for d in order
        ),
        x="column",
        y=("share of the scores",),
        drawn="bars",
        note="Share of all scores from sets that contain the column; a set of two counts for both. "
        f"Next to it, the {counted} that would no longer be special uniques with the whole column "
        "one level up, or without it.",
    )


def _set_details(found: MinimalUniques, everyone: int) -> Details:
    """Return the sets that single out most rows, or people."""
    number = {c: found.number(found.minimal(c)) for c in found.marks}
    counted = found.lines.counted
    worst = sorted(number, key=lambda c: (-number[c], len(c), c))[:_SETS]
    return Details(
        title=f"Smallest sets of columns that single {counted} out",
        rows=tuple(
            {
                "columns": _words(found, c),
                counted: number[c],
                f"share of {counted}": number[c] / everyone,
            }
            for c in worst
        ),
        x="columns",
        y=(f"share of {counted}",),
        drawn="bars",
        note=f"{counted.capitalize()} that the set makes unique, and no part of it does.",
    )


def _row_details(
    found: MinimalUniques, risk: F64, variant: str, changes: Sequence[Change]
) -> Details:
    """Return the rows with the highest scores, why they are unique, and what would cover them."""
    lines = found.lines
    special = np.flatnonzero(found.special)
    order = special[np.argsort(-found.score[special], kind="stable")][:_ROWS]
    rows = []
    for line in order.tolist():
        sets = found.sets_of(line)
        cells = [
            f"{name} = {lines.vocabularies[name].texts[code]}"
            for name, code in zip(lines.columns, lines.codes[line].tolist(), strict=True)
        ]
        cover = next((c.words for c in changes if c.covered[line]), "no single column")
        rows.append(
            {
                "row": ", ".join(cells),
                "score": int(found.score[line]),
                "DIS-SUDA": float(risk[line]),
                "unique in": "; ".join(_words(found, c) for c in sets[:5]),
                "covered by": cover,
            }
        )
    return Details(
        title="Special uniques at most risk",
        rows=tuple(rows),
        x="row",
        y=("DIS-SUDA",),
        drawn="table",
        note=f"DIS-SUDA by the formula {variant}; the cheapest change of a whole column after "
        f"which the row is unique in no set that was tried.{_several(found)}",
    )


def _several(found: MinimalUniques) -> str:
    """Return what is to be known where one person has several rows, beginning with a blank."""
    if found.lines.who is None:
        return ""
    note = " A row represents all of a person's rows with the same values."
    if found.lines.overlapping:
        note += (
            " Classes overlap, so whom two people share is not counted, and the risk is an upper "
            "bound."
        )
    return note


def _words(found: MinimalUniques, chosen: Chosen) -> str:
    return " + ".join(found.lines.columns[d] for d in chosen)
