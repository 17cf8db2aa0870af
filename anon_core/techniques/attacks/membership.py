"""Membership: who of a public table is proven to be in the released one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackNeeds
from anon_core.methods.matching.fitting_people import by_columns, why_not_covered
from anon_core.methods.membership.decisions import Members, find_members, hits, proven_by_raw
from anon_core.methods.membership.joint_model import overlapping, united
from anon_core.methods.membership.membership_probabilities import (
    Graded,
    against_union,
    grade,
    how_known,
    in_table,
    spread_of,
)
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.release import View

_STATES = 50_000  # layer width up to which the worst chance below certainty is counted


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Membership(Attack):
    """Set the published buckets against a public table and prove who must be in them."""

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "Membership"
    summary: ClassVar[str] = (
        "An attacker with a public table that contains everyone released looks for people without"
        " whom the published values are impossible. They are in the table for certain, whatever "
        "the permutation was."
    )
    formula: ClassVar[str] = (
        "people with δ = 1 / people of the public table; δ = share of the choices of public "
        "people with the published counts that hold the person; generalized classes: |G∩T| / |G∩P|"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="presence", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        public=True,
        rows_only="It counts the choices of public people whose rows these are, one row a person; "
        "here one person has several.",
    )
    source: ClassVar[str] = (
        "Toth 2015 (GetDelta); Li et al. 2015; δ-presence: Nergiz et al. 2007, "
        "doi 10.1145/1247480.1247554"
    )

    seconds: float = number(
        default=60.0,
        low=0.0,
        high=86_400.0,
        help="Time after which people not decided yet are left undecided, and count as exposed.",
        label="Time box",
        unit="seconds",
    )
    graded: float = number(
        default=5.0,
        low=0.0,
        high=86_400.0,
        help="Further time for chances between 0 and 1: counted, or estimated and labelled so.",
        label="Time for chances",
        unit="seconds",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a public table."""
        if audience.population is None or audience.population.codes is None:
            return "It needs a table of the population; its size alone identifies no one."
        return why_not_covered(view, audience)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person of the public table.

        Raises
        ------
        AnonError
            If there is no public table, or averages are instead of values.
        """
        if why_not_covered(view, audience):
            raise AnonError(
                self.reason_not_applicable(view, audience), remedy="Use the prosecutor attack."
            )
        population = audience.population
        if population is None or population.codes is None:
            raise AnonError(
                self.reason_not_applicable(view, audience),
                remedy="State a table of the population that has the quasi-identifiers.",
            )
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        boxed = replace(context, deadline=end)
        found = find_members(view, population, boxed)
        proven, undecided = found.proven, found.undecided
        fitting, _ = found.per_bucket
        people = population.size
        chances = grade(found, self._timed(context), max_states=_STATES)
        worst, uncounted = _worst(found, chances)
        exposed = proven + undecided
        return [
            AttackResult(
                attack=self.name,
                attempted=people,
                eligible=found.eligible,
                succeeded=float(proven),
                undecided=undecided,
                rate=exposed / people,
                worst=worst,
                # Without the release membership is certain only where everyone is in the table.
                baseline=1.0 if view.rows == people else 0.0,
                raw=proven_by_raw(truth) / people,
                at_risk=exposed,
                threshold=1.0,
                per_class=np.minimum(found.published.size / np.maximum(fitting, 1), 1.0),
                interval=(proven / people, exposed / people) if undecided else None,
                # Time that ended, or chances too many to count: the truth may be less.
                upper_bound=bool(undecided or uncounted),
                sentence=_sentence(found, view.rows, people, uncounted) + by_columns(audience),
                hits=hits(found, population),
                details=(
                    spread_of(chances, in_table(population, truth, view.quasi)),
                    how_known(chances),
                    *self._union(view, population, found, chances, context),
                ),
            )
        ]

    def _timed(self, context: Context) -> Context:
        """Return the context with the time for chances."""
        end = now() + self.graded
        return replace(context, deadline=min(end, context.deadline or end))

    def _union(
        self,
        view: View,
        population: Population,
        found: Members,
        chances: Graded,
        context: Context,
    ) -> tuple[Details, ...]:
        """Return what the union of overlapping buckets would tell; nothing where none overlap."""
        label = overlapping(found.published.joint, len(view.group_size))
        if len(np.unique(label)) == len(label) or found.published.unclear.any():
            return ()
        timed = self._timed(context)
        other = find_members(united(view, label), population, timed)
        return (against_union(chances, grade(other, timed, max_states=_STATES), population),)


def _worst(found: Members, chances: Graded) -> tuple[float, int]:
    """Return the highest δ anyone can have, and of how many only limits are known.

    Of whom it was not counted the proven upper limit is, whatever was estimated.
    """
    if found.proven or found.undecided:
        return 1.0, 0
    if not found.eligible:
        return 0.0, 0
    unknown = ~chances.counted
    return float(chances.high.max(initial=0.0)), int(chances.people[unknown].sum())


def _sentence(found: Members, rows: int, people: int, uncounted: int) -> str:
    proven, undecided = found.proven, found.undecided
    if not found.eligible:
        return (
            f"None of the {people:,} public people fits a published group, so nothing was "
            "attacked: this says nothing of who is in the table. Check that the public table holds "
            "the people of this one, with values written as in it."
        )
    parts = [
        f"{proven:,} of {people:,} public people are proven to be among the {rows:,} published "
        "rows."
    ]
    if undecided:
        parts.append(
            f"{undecided:,} not decided in time; treated as exposed, which makes "
            f"{proven + undecided:,}. More time may decide them."
        )
    if len(found.contradicted):
        parts.append(
            f"{len(found.contradicted):,} buckets cannot be explained by any choice of public "
            "people, so the table is not part of the public one; nothing is claimed of the people "
            "who fit them."
        )
    if uncounted:
        parts.append(
            f"The chances of {uncounted:,} people are too many to count: none of them is certain, "
            "and the worst chance is the upper limit proven for them."
        )
    if found.published.unclear.any():
        parts.append(
            f"{int(found.published.unclear.sum()):,} buckets publish ranges that overlap; their "
            "people stay undecided."
        )
    return " ".join(parts)
