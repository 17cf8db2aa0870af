"""(ε, δ)-differential privacy: a model about the way a release is made, not about the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelAim, ModelScope
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import Guarantee, View

#: A hierarchy of so many values that are just those of the table was hardly made without it.
_MANY = 20


@register("model")
@dataclass(frozen=True, kw_only=True)
class DifferentialPrivacy(GroupModel):
    """Whether one row is in the table or not hardly changes what may be published (Dwork 2006).

    No release shows it. The verdict compares the budget the mechanism accounts for with the one
    required; the proof is that of the mechanism. What is stated follows NIST SP 800-226: the unit
    of privacy, which tables are neighbours, ε and δ, and who is trusted.
    """

    name: ClassVar[str] = "differential-privacy"
    title: ClassVar[str] = "Differential privacy"
    summary: ClassVar[str] = (
        "Adding or removing any one row changes the chance of every possible release by at most "
        "the factor e^ε, except with probability δ. Only a random technique can provide this."
    )
    formula: ClassVar[str] = (
        "Pr[M(D) ∈ O] ≤ e^ε · Pr[M(D′) ∈ O] + δ for all O and all D, D′ that differ in one row"
    )
    source: ClassVar[str] = "Dwork et al. 2006, doi 10.1007/11681878_14; NIST SP 800-226"
    aim: ClassVar[ModelAim] = ModelAim(stops="presence", offered_at=2)
    scope: ClassVar[ModelScope] = ModelScope(mechanism=True, whole_rows=True)

    epsilon: float = number(
        default=1.0,
        low=0.001,
        high=10.0,
        help="Budget: the smaller, the less one row can change. It is spent by every release.",
        label="ε",
    )
    delta: float = number(
        default=1e-6,
        low=1e-30,
        high=0.1,
        help="Chance that the factor e^ε is exceeded; far below 1 by the number of rows.",
        label="δ",
    )

    @classmethod
    def at_chance(cls, chance: float, share: Fraction) -> Self | None:
        """Return the usual budget: it is about what one row changes, and no chance."""
        return cls()

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return what one row can change, and that it is no statement about classes."""
        return (
            f"Whether any one row is in the table or not will change the chance of every possible "
            f"release by at most the factor {exp(self.epsilon):.3g} (e^ε), but for a chance of "
            f"{self.delta:g}. It is about how the release is made, whatever anyone knows: no "
            "statement about classes, and not to be compared with a k."
        )

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Tell of a δ that rows can be published with, and hierarchies that look like the table."""
        listed = tuple(
            f"The hierarchy of '{name}' lists exactly the {len(column.values):,} values that the "
            "table has. If it was written from the table, differential privacy is not given: one "
            "row with another value would have changed it."
            for name in problem.quasi
            if len((column := problem.dataset.column(name)).values) >= _MANY
            and (hierarchy := problem.hierarchies[name]).height > 1
            and len(hierarchy.leaves) - hierarchy.has_missing == len(column.values)
        )
        if Fraction(str(self.delta)) * problem.rows < 1:
            return listed
        return (
            f"δ = {self.delta:g} is not below 1/{problem.rows}, one by the number of rows: a "
            "mechanism that publishes a random row as it is would satisfy this. Choose δ far "
            "smaller.",
            *listed,
        )

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return that no group breaks it: it is not about groups."""
        return np.ones(len(stats.sizes), dtype=np.bool_)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Compare what the mechanism spent with what was required."""
        found = view.guarantee
        epsilon, delta = Fraction(str(self.epsilon)), Fraction(str(self.delta))
        holds = found is not None and found.epsilon <= epsilon and found.delta <= delta
        return [
            Verdict(
                model=self.name,
                parameters={**self.as_mapping(), **(_stated(found) if found else {})},
                state="holds" if holds else "broken",
                bound=float(epsilon),
                reached=float(found.epsilon) if found else float("inf"),
                per_class=np.zeros(len(view.group_size), dtype=np.float64),
                sentence=_sentence(found, self.delta)
                if found
                else "The way it was made guarantees nothing.",
            )
        ]


def _stated(found: Guarantee) -> dict[str, object]:
    """Return what NIST SP 800-226 asks to be stated, as plain values."""
    return {
        "unit": "one row",
        "neighbours": "one row added or removed",
        "trust": "central: the person who runs it sees the table",
        "covers": "the published table alone",
        "epsilon_spent": {what: float(part) for what, part in found.spent.items()},
        "delta_reached": float(found.delta),
        "sampling": float(found.share),
        "k": found.least,
    }


def _sentence(found: Guarantee, delta: float) -> str:
    parts = " and ".join(f"{float(part):g} on {what}" for what, part in found.spent.items())
    return (
        f"By the proof of the mechanism ε = {float(found.epsilon):g} ({parts}) and δ ≤ {delta:g}, "
        f"for one row added or removed: every row was kept with chance {float(found.share):.3g}, "
        f"and classes of fewer than {found.least} sampled rows were left out. It covers the "
        "published table alone; the person who ran it was trusted with the rows."
    )
