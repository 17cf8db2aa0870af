"""Minimality: a search goes no further than it has to, and so shows why it went as far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackReport, AttackUse
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.methods.consistent_tables.assignments import (
    MOST_PAIRS,
    Assigned,
    People,
    beliefs,
    failed_levels,
)
from anon_core.methods.inference.sensitive_beliefs import AboutSecrets
from anon_core.methods.matching.fitting_people import why_not
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Minimality(AboutSecrets):
    """Count only those tables for which the search would have generalized as it did.

    1. The attacker knows everyone's quasi-identifiers, and so which earlier choices of levels had
       classes large enough: these failed by the sensitive values of some class.
    2. Of all ways to deal the published values to people, those are left in which that is so.
    3. A value that a person has in all of them is certain.
    """

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Minimality"
    summary: ClassVar[str] = (
        "An attacker who knows the algorithm and everyone's quasi-identifiers asks why the table "
        "was generalized this far: with less, some class would have violated the privacy model of"
        " sensitive values. Finding that class may reveal who has which value."
    )
    formula: ClassVar[str] = (
        "people with y(c, s) = n(c) in every y ∈ ℕ that deals out the published values and breaks "
        "the model at every choice of levels that came first / n"
    )
    source: ClassVar[str] = (
        "Wong, Fu, Wang and Pei 2007, Minimality attack in privacy preserving data publishing, VLDB"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="attribute", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        stop_rule=True,
        rows_only="It deals one value to a person; here one person has several rows.",
    )
    report: ClassVar[AttackReport] = AttackReport(certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    seconds: float = number(
        default=10.0,
        low=0.0,
        high=86_400.0,
        help="Time after which people not decided yet are left undecided, and count as exposed.",
        label="Time box",
        unit="seconds",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a search of levels that sensitive values had a part in, and no missing ones."""
        rule = view.stopped
        if not isinstance(rule, CheapestLevels | RaisedLevels):
            return (
                "It needs a search of levels for whole columns that says when it stopped; as it "
                "was set, this technique does not."
            )
        if isinstance(rule, RaisedLevels) and rule.budget:
            return "It is for searches that remove no row; here some could go."
        columns = {*rule.distinct, *rule.share}
        if not columns:
            return (
                "No privacy model about sensitive values took part in the search. That classes "
                "were too small is clear to anyone who knows the quasi-identifiers, and reveals "
                "nothing."
            )
        if len(columns) > 1 or not columns <= set(audience.secret):
            return "Privacy models of several columns steered the search."
        if audience.hierarchies[min(columns)].has_missing:
            return "The sensitive column has missing values."
        return super().reason_not_applicable(view, audience) or why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack everyone.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        reason, rule = self.reason_not_applicable(view, audience), view.stopped
        if reason or not isinstance(rule, CheapestLevels | RaisedLevels):
            raise AnonError(reason, remedy="Use it where l-diversity steers a search of levels.")
        column = min({*rule.distinct, *rule.share})
        people = _people(view, audience, truth, column)
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        boxed = replace(context, deadline=end)
        pairs = int((people.values > 0).sum(axis=1)[people.member].sum())
        failed = failed_levels(rule, people) if pairs <= MOST_PAIRS else None
        everyone = list(range(len(people.count)))
        certain, consistent, undecided = list[tuple[int, int]](), True, everyone
        believed = None
        if failed is not None:
            certain, consistent, undecided = Assigned(people, failed, context).certain(boxed)
            believed = beliefs(people, failed, context)
        return [self._scored(truth, column, people, certain, consistent, undecided, believed)]

    def _scored(
        self,
        truth: Truth,
        column: str,
        people: People,
        certain: Sequence[tuple[int, int]],
        consistent: bool,
        undecided: Sequence[int],
        believed: np.ndarray | None,
    ) -> AttackResult:
        rows, count = truth.rows, people.count
        real = _real(truth, column, people.values.shape[1])
        right = sum(int(count[c]) for c, s in certain if real[c, s] == count[c])
        wrong = sum(int(count[c]) for c, _ in certain) - right
        left = int(count[list(undecided)].sum())
        sizes = people.values.sum(axis=1)
        share = people.values.max(axis=1) / sizes
        alone = int(sizes[share == 1].sum())
        chance = share.copy()
        if believed is not None:
            np.maximum.at(chance, people.member, believed.max(axis=1))
        for place in (*(c for c, _ in certain), *undecided):
            chance[people.member[place]] = 1.0
        known, counted = truth.known_rows(column), sensitive_histogram(truth.raw_in_groups, column)
        of_raw = counted[1]
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=rows,
            eligible=int(sizes.sum()),
            succeeded=float(right),
            undecided=left,
            rate=(right + left) / rows,
            worst=float(chance.max(initial=0.0)),
            baseline=max(alone / rows, 1.0 if len(known) == 1 else 0.0),
            raw=int(of_raw.known[of_raw.most == of_raw.known].sum()) / rows,
            at_risk=right + wrong + left,
            threshold=1.0,
            per_class=chance,
            interval=(right / rows, (right + left) / rows) if left else None,
            upper_bound=bool(left),
            sentence=_sentence(column, rows, right, wrong, alone, left, consistent),
            details=(_compared(share, chance, sizes),) if believed is not None else (),
        )


def _people(view: View, audience: Audience, truth: Truth, column: str) -> People:
    """Return everyone by quasi-identifiers, with what is published of their classes."""
    rule, block = view.stopped, view.whole_quasi()
    assert isinstance(rule, CheapestLevels | RaisedLevels)
    assert block is not None
    hierarchies = tuple(audience.hierarchies[name] for name in view.quasi)
    codes, count = truth.frequency.run_codes, truth.frequency.run_count
    persons = view.persons(block)
    place = {tuple(row): n for n, row in enumerate(persons.codes.tolist())}
    order = [view.quasi.index(name) for name in persons.columns]
    nodes = [
        h.node(level)[codes[:, d]]
        for d, (h, level) in enumerate(zip(hierarchies, rule.levels, strict=True))
    ]
    cells = np.stack([nodes[d] for d in order], axis=1)
    member = np.array([place[tuple(row)] for row in cells.tolist()], dtype=np.int64)
    values = np.zeros((len(persons.sizes), len(audience.hierarchies[column].leaves)), np.int64)
    shown = block.codes[:, block.columns.index(column)]
    np.add.at(values, (persons.of_entry, shown), block.count)
    return People(
        codes=codes,
        count=count,
        member=member,
        values=values,
        hierarchies=hierarchies,
        least=rule.least,
        distinct=rule.distinct.get(column, 0),
        share=rule.share.get(column, 0),
    )


def _real(truth: Truth, column: str, values: int) -> np.ndarray:
    """Return how many people of each combination have each value, (tuples, values)."""
    frequency = truth.frequency
    found = np.zeros((len(frequency.run_count), values), dtype=np.int64)
    own = frequency.codes[:, frequency.columns.index(column)]
    np.add.at(found, (frequency.run, own), frequency.count)
    return found


def _sentence(
    column: str, rows: int, right: int, wrong: int, alone: int, left: int, consistent: bool
) -> str:
    if not consistent:
        return (
            "No table leads to this release by the rule that the search is said to stop by, so "
            "nothing is claimed."
        )
    sentence = (
        f"Someone who knows why the search went this far is certain of '{column}' for {right:,} of "
        f"{rows:,} people ({per_cent(right / rows)}); the release alone reveals it for {alone:,}."
    )
    if wrong:
        sentence += f" Of {wrong:,} people what was claimed is wrong, so its figures are void."
    if left:
        sentence += f" {left:,} people not decided; treated as exposed."
    return sentence


def _compared(share: np.ndarray, chance: np.ndarray, sizes: np.ndarray) -> Details:
    """Return the highest belief about anyone of each class, with the algorithm and without."""
    order = np.argsort(-chance, kind="stable")[:20]
    return Details(
        title="Highest belief about anyone of a class",
        rows=tuple(
            {
                "class": f"{int(n) + 1} ({int(sizes[n])} rows)",
                "algorithm known": float(chance[n]),
                "release alone": float(share[n]),
            }
            for n in order
        ),
        x="class",
        y=("algorithm known", "release alone"),
        drawn="bars",
    )
