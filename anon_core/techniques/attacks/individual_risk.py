"""Individual risk: chance of naming the right person, estimated from survey weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
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
from anon_core.methods.matching.fitting_people import matched, why_not
from anon_core.methods.matching.fitting_rows import fits
from anon_core.methods.reidentification.reidentification import individual_risk
from anon_core.release.attack_result import AttackResult, Cell, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Chances above which rows are counted for the bars.
_BANDS = (0.01, 0.05, 0.1, 0.2, 0.5)


@register("attack")
@dataclass(frozen=True, kw_only=True)
class IndividualRisk(Attack):
    """Match a row of a survey against the population that its weights say it was drawn from."""

    name: ClassVar[str] = "individual-risk"
    title: ClassVar[str] = "Estimated individual risk"
    summary: ClassVar[str] = (
        "An attacker picks a row of a survey and names a person of the population who fits it. "
        "The weights of the rows in its class give an estimate of how many people fit."
    )
    formula: ClassVar[str] = (
        "r = E[1/F | f] = Σ_{j ≥ f} C(j−1, f−1) p^f (1−p)^(j−f) / j per row: f rows of the class, "
        "Σw their weights, p = f / Σw; an estimate"
    )
    source: ClassVar[str] = (
        "Benedetti and Franconi 1998; Franconi and Polettini 2004, doi 10.1007/978-3-540-25955-8_20"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True, weights=True)
    report: ClassVar[AttackReport] = AttackReport(
        place=3,
        achieves="By the survey's weights, someone who does not know who took part pins a row to "
        "the right "
        "person",
    )
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    threshold: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Estimated chance above which a person counts as at risk: 0.2 is 1 in 5.",
        label="Acceptable chance",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for weights, and for rows whose quasi-identifiers are together."""
        if not audience.roles.weight:
            return "It needs a column with the role weight: the weights of a survey."
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Estimate the chance of every published row.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks, or rows have no weight.
        """
        weights, raw_weights = truth.class_weights, truth.raw_class_weights
        if weights is None or raw_weights is None:
            raise AnonError(
                "It needs the weights of a survey, whose rows are published whole.",
                remedy="Name the column of weights under [roles] weight.",
            )
        persons, crowd = matched(view), truth.crowd
        sizes = persons.sizes if crowd is None else crowd.sizes
        risk = individual_risk(sizes, weights)
        each, people = _each(risk, sizes, crowd)
        everyone = truth.rows if crowd is None else crowd.total
        raw_crowd = truth.raw_crowd_in_groups
        raw_sizes = matched(truth.raw_in_groups).sizes if raw_crowd is None else raw_crowd.sizes
        raw, raw_people = _each(individual_risk(raw_sizes, raw_weights), raw_sizes, raw_crowd)
        overlap = fits(truth.frequency, view, persons, context).rows_of_person is not None
        succeeded, worst = float(each @ people), float(risk.max(initial=0.0))
        at_risk = int(people[each > self.threshold].sum())
        counted = "people" if crowd is not None else "rows"
        return [
            AttackResult(
                attack=self.name,
                attempted=everyone,
                eligible=view.rows if crowd is None else crowd.published,
                succeeded=succeeded,
                rate=succeeded / everyone,
                worst=worst,
                baseline=1.0 / truth.weighed_people,
                raw=float(raw @ raw_people) / everyone,
                at_risk=at_risk,
                threshold=self.threshold,
                per_class=risk,
                estimated=True,
                upper_bound=overlap,
                sentence=(
                    f"Estimated from the weights, which represent {truth.weighed_people:,.0f} "
                    f"people: a published row is pinned to the right person with chance "
                    f"{worst:.3g} at worst; about {_few(succeeded)} of {everyone:,} {counted} are "
                    f"({per_cent(succeeded / everyone)}). {at_risk:,} have an estimated chance "
                    f"above {self.threshold:g}."
                    f"{' Classes overlap: the estimate is an upper bound.' if overlap else ''}"
                ),
                details=(
                    _bands(each, people, everyone, counted),
                    *_homes(truth),
                ),
            )
        ]


def _each(risk: F64, sizes: I64, crowd: Crowd | None) -> tuple[F64, I64]:
    """Return the chances, and how many have each: rows by class, or persons one by one."""
    if crowd is None:
        return risk, sizes
    highest = crowd.highest(risk)
    return highest, np.ones(len(highest), dtype=np.int64)


def _homes(truth: Truth) -> tuple[Details, ...]:
    """Return the chance that anyone of a household is named, where one says who lives together.

    1 − Π (1 − r) over the published people of a household: who names one has found all.
    """
    members = truth.household_members
    if members is None or not len(members.household):
        return ()
    each = individual_risk(members.people, members.weight)
    own = np.unique(members.household, return_inverse=True)[1].ravel()
    # The logarithm of 1 - r; a person named for certain makes it endless, and the chance 1.
    with np.errstate(divide="ignore"):
        found = -np.expm1(np.bincount(own, np.log1p(-each)))
    rows: tuple[Mapping[str, Cell], ...] = (
        _line("any of a household", found),
        _line("people by their household", found[own]),
        _line("people one by one", each),
    )
    return (
        Details(
            title="Estimated household risk",
            rows=rows,
            x="chance to name",
            y=("mean",),
            drawn="table",
            note="A household is found with any of its people: 1 − Π (1 − r). These are estimates "
            "from the weights of people, not of households.",
        ),
    )


def _line(name: str, chance: F64) -> Mapping[str, Cell]:
    return {
        "chance to name": name,
        "expected": float(chance.sum()),
        "mean": float(chance.mean()),
        "worst": float(chance.max()),
    }


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _bands(each: F64, people: I64, everyone: int, counted: str) -> Details:
    above = [int(people[each > limit].sum()) for limit in _BANDS]
    return Details(
        title="Estimated individual risk",
        rows=tuple(
            {"estimated chance above": f"{limit:g}", counted: found, "share": found / everyone}
            for limit, found in zip(_BANDS, above, strict=True)
        ),
        x="estimated chance above",
        y=("share",),
        drawn="bars",
        note="Estimated from the weights of the rows in each class; no population was counted.",
    )
