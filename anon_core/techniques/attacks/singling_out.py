"""Singling out: a condition that hardly anybody satisfies, and exactly one row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, part_of
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
from anon_core.methods.matching.fitting_people import matched, why_not, why_not_covered
from anon_core.methods.matching.isolating_predicates import Predicates, predicates
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class SinglingOut(Attack):
    """Name a light predicate for every class that isolates one of its rows.

    1. To fit the class's cells, and to pass a random hash of the whole row as one in m does.
    2. Its weight is the share of the population that satisfies it; only light ones count, since
       heavier ones isolate a row by chance as well.
    3. It isolates with the chance that the hash leaves exactly one row: at least 0.37 where whole
       rows differ.
    """

    name: ClassVar[str] = "singling-out"
    title: ClassVar[str] = "Singling out"
    summary: ClassVar[str] = (
        "An attacker who knows the population the table was drawn from writes a condition that "
        "hardly anyone satisfies, and exactly one person of the table does. The release then "
        "singles that person out; without it, no condition of this kind would."
    )
    formula: ClassVar[str] = (
        "Σ over classes with n·w ≤ limit of P(exactly one row passes) / n; w = share of the "
        "population in the class / m; shown with n·w·(1 − w)^(n − 1)"
    )
    source: ClassVar[str] = "Cohen and Nissim 2020, doi 10.1073/pnas.1914598117"
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        public=True,
        rows_only="It isolates a row, and here one person has several: all of them would have to "
        "be drawn "
        "at once.",
    )
    report: ClassVar[AttackReport] = AttackReport(place=7)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    light: float = number(
        default=0.01,
        low=1e-9,
        high=1.0,
        help="Expected number of rows of a drawn table that satisfy a condition that counts, n·w: "
        "at 1, a third of all conditions isolate someone by chance.",
        label="Lightest conditions",
        unit="rows",
    )
    threshold: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Chance to be isolated above which the people of a class count as at risk.",
        label="At risk above",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a population table, and for whole rows."""
        if audience.population is None or audience.population.codes is None:
            return "It needs a population table that says how likely values are."
        return why_not(view) or why_not_covered(view, audience)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Weigh and score the predicates of all classes.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        people = audience.population
        if people is None or people.codes is None or why_not_covered(view, audience):
            raise AnonError(
                self.reason_not_applicable(view, audience),
                remedy="State a table of the population under [population].",
            )
        persons = matched(view)
        own = part_of(context, 0.0, 0.6)
        found = predicates(view, persons, people, truth, self.light, own)
        raw = truth.raw
        of_raw = predicates(
            raw, matched(raw), people, truth, self.light, part_of(context, 0.6, 1.0)
        )
        rows, sizes = truth.rows, persons.sizes
        isolated, chance = float(found.success.sum()), float(found.chance[found.light].sum())
        risky = found.success > self.threshold
        return [
            AttackResult(
                attack=self.name,
                attempted=rows,
                eligible=view.rows,
                succeeded=isolated,
                rate=isolated / rows,
                worst=float(found.success.max(initial=0.0)),
                baseline=chance / rows,
                raw=float(of_raw.success.sum()) / rows,
                at_risk=int(sizes[risky].sum()),
                threshold=self.threshold,
                per_class=found.success,
                sentence=_sentence(found, isolated, chance, rows, self.light),
                details=(_spread(found, sizes),),
            )
        ]


def _sentence(found: Predicates, isolated: float, chance: float, rows: int, light: float) -> str:
    classes, light_ones = len(found.light), int(found.light.sum())
    if not light_ones:
        least = float((rows * found.weight).min(initial=np.inf))
        return (
            f"None of the {classes:,} classes gives a condition light enough to count: of a drawn "
            f"table at least {least:.2g} rows would satisfy one, more than {light:g}. The "
            "population table is too small for it, or the classes are as full as it."
        )
    return (
        f"{light_ones:,} of {classes:,} classes give a condition so light that {light:g} rows or "
        f"fewer of a drawn table satisfy it. They isolate {isolated:,.1f} of {rows:,} people on "
        f"average ({per_cent(isolated / rows)}); by chance it would be {chance:,.2g}."
    )


def _spread(found: Predicates, sizes: np.ndarray) -> Details:
    """Return how often conditions isolate someone, by how light they are."""
    rows = int(sizes.sum())
    expected = rows * found.weight
    steps = [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, np.inf]
    lines: list[dict[str, float | str]] = []
    for low, high in pairwise(steps):
        inside = (expected > low) & (expected <= high) if low else expected <= high
        if inside.any():
            lines.append(
                {
                    "rows expected": f"up to {high:g}" if np.isfinite(high) else "more",
                    "isolates": float(found.success[inside].mean()),
                    "by chance": float(found.chance[inside].mean()),
                    "classes": int(inside.sum()),
                }
            )
    return Details(
        title="Conditions by the rows of a drawn table that satisfy them",
        rows=tuple(lines),
        x="rows expected",
        y=("isolates", "by chance"),
        drawn="bars",
        note="Conditions that are not light are not counted, and shown at 0.",
    )
