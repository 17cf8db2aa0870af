"""l-diversity for slicing: over all buckets a person may be in, no value is likelier than 1/l."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.base.terms import times
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.contracts.model import ModelLogic, named
from anon_core.contracts.sensitive_share import (
    MostShare,
    diverse,
    known_rows,
    refuse_more_than_values,
)
from anon_core.methods.bucketized.slice_chances import exact_cells, matching, sliced_posteriors
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import State, Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class SlicingLDiversity(MostShare):
    """p(t, s) ≤ 1/l for every person t and sensitive value s (Li et al. 2012).

    A group in which no value fills more than 1/l of any class keeps the privacy model whatever the
    other groups are, since p(t, s) is a mean over groups: searches go by that. It is more than is
    asked: a partition that looks at all groups together can do with less. Rows whose sensitive
    value is missing are left out: p(t, s) is the chance among those that have one.
    """

    name: ClassVar[str] = "slicing-l-diversity"
    title: ClassVar[str] = "l-diversity for slicing"
    summary: ClassVar[str] = (
        "An attacker who knows a person's quasi-identifiers, and weighs all groups the person may"
        " be in, guesses the sensitive value right at most 1 time in l."
    )
    formula: ClassVar[str] = (
        "max p(t, s) ≤ 1/l; p(t, s) = Σ_B p(t, B)·p(s | t, B), p(t, B) = f(t, B)/f(t), f(t, B) = "
        "product over column sets of the share of B's rows that show what t shows; a missing "
        "value does not count, since one diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236"
    logic: ClassVar[ModelLogic] = replace(MostShare.logic, by_limits=True)

    l: int = integer(  # noqa: E741 - the field's own letter
        default=2,
        low=2,
        help="No value may be likelier than one l-th for anyone.",
        label="l",
    )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how often a guess from all groups a person may be in is right."""
        several = "classes" if together == "class" else f"{together}s"
        return (
            f"An attacker who weighs all {several} a person may be in will guess the value of "
            f"{named(self.column)} right at most {times(1 / self.l)}."
        )

    def decided_by_whole(self) -> bool:
        """Return that it is open: by p(t, s) groups can keep together what one of them breaks."""
        return False

    def sliced_share(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned."""
        return dict.fromkeys(self.protects(problem), self.l)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above the number of values: the chances of all of them add up to 1.

        Rows whose values are unevenly spread can still keep it, since a person weighs groups by
        how likely they are, and not by their sizes.

        Raises
        ------
        Infeasible
            Naming the column and the largest possible l.
        """
        for column in self.protects(problem):
            refuse_more_than_values(problem, column, self.l, self.title)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the number of values of every column."""
        return [
            Allowed(parameter="l", column=column, high=float(len(known_rows(problem, column))))
            for column in self.protects(problem)
        ]

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, 1 / max p(t, s) over all people of the table against l."""
        exact = exact_cells(view)
        return [
            self._over_all(view, reference, column, context)
            if exact
            else self._class_by_class(view, column)
            for column in self.protects(audience)
        ]

    def _over_all(self, view: View, reference: Reference, column: str, context: Context) -> Verdict:
        found = sliced_posteriors(
            matching(view, reference.frequency.run_codes, column),
            len(view.vocabularies[column].texts),
            self.l,
            context,
        )
        state: State = "holds"
        if np.any(found.state < 1):
            state = "broken" if np.any(found.state < 0) else "undecided"
        worst = float(found.highest.max(initial=0.0))
        reached = 1.0 / worst if worst else 0.0
        share = np.maximum(found.worst, 1.0 / max(len(view.vocabularies[column].texts), 1))
        return self._verdict(column, state, reached, 1.0 / share)

    def _class_by_class(self, view: View, column: str) -> Verdict:
        """Measure a release of coarse cells by what is enough; what is not, stays undecided."""
        _, counted = sensitive_histogram(view, column)
        holds = bool(np.all(diverse(counted, self.l)))
        share = counted.known / np.maximum(counted.most, 1)
        reached = float(share.min()) if len(share) else 0.0
        return self._verdict(column, "holds" if holds else "undecided", reached, share)

    def _verdict(
        self, column: str, state: State, reached: float, per_class: npt.NDArray[np.float64]
    ) -> Verdict:
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state=state,
            bound=float(self.l),
            reached=reached,
            per_class=per_class,
            column=column,
            sentence=(
                f"Over all groups a person may be in, a value of '{column}' is right 1 time in "
                f"{reached:.3g} at worst; 1 in {self.l} was allowed."
                if len(per_class)
                else "No row is published."
            ),
        )
