"""Probabilistic linkage: Fellegi and Sunter's weights on cells that cover several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context, part_of
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.inference.prediction_scores import wilson
from anon_core.methods.matching.fitting_people import by_columns, matched, why_not
from anon_core.methods.reidentification.best_links import (
    Links,
    best_links,
    blocking_column,
    right_links,
)
from anon_core.methods.reidentification.fellegi_sunter import Agreement, agreement
from anon_core.methods.reidentification.register import Register, register_of
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import Persons, View

_ROUNDING = 1e-9  # of posteriors, relative to them


@register("attack")
@dataclass(frozen=True, kw_only=True)
class ProbabilisticLinkage(Attack):
    """Link rows to people by how well cells and values agree, each person once."""

    name: ClassVar[str] = "probabilistic-linkage"
    title: ClassVar[str] = "Probabilistic linkage"
    summary: ClassVar[str] = (
        "An attacker weighs how well every row agrees with every person of a register, column by "
        "column. Each row is linked to one person so that the sum of weights is largest, and a "
        "link is trusted if it is much likelier than every other."
    )
    formula: ClassVar[str] = (
        "Σ log₂(m/u) over columns, m = 1 − ε where the cell contains the value, u = share of the "
        "register in the cell; assignment of most weight, of several at random; a possible link "
        "where the posterior over the register lies between the bounds, the lower at least 1 / "
        "people of the register; "
        "rate = mean chance that the linked person is the right one"
    )
    source: ClassVar[str] = "Fellegi and Sunter 1969, doi 10.1080/01621459.1969.10501049"
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("linkability",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        rows_only="It assigns each row to a different person; here one person has several."
    )
    report: ClassVar[AttackReport] = AttackReport(place=7)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    people: int = integer(
        default=200,
        low=1,
        high=2000,
        help="Published rows that are linked; where there are more they are drawn.",
        label="Rows tried",
    )
    epsilon: float = number(
        default=0.02,
        low=1e-9,
        high=0.5,
        help="Chance that a cell does not cover the value known of its person.",
        label="Chance of an error",
    )
    near: float = number(
        default=0.0,
        low=0.0,
        help="How far outside its cell a number is still near; 0 is never.",
        label="Near numbers",
    )
    upper: float = number(
        default=0.9,
        low=0.5,
        high=1.0,
        help="Posterior from which on a link is trusted.",
        label="Trusted from",
    )
    lower: float = number(
        default=0.2,
        low=0.0,
        high=0.5,
        help="Posterior up to which a link is no better than a guess, as is that of picking "
        "anybody; what lies between is a possible link.",
        label="A guess up to",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for rows whose quasi-identifiers are together, and for cells that cover values."""
        if view.averaged:
            return (
                "It needs a release whose cells cover values: an average matches no person for "
                "sure."
            )
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Link rows of the release, and as many rows of the table as it is.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        people = register_of(audience, truth)
        own = _Linked(self, view, people, truth, context.generator)
        own.link(part_of(context, 0.0, 0.4))
        raw = _Linked(self, truth.raw, people, truth.bare, context.generator)
        raw.link(part_of(context, 0.4, 0.8))
        control = None
        if audience.population is not None and audience.population.codes is not None:
            outside = np.rint(people.count * (1 - people.inside)).astype(np.int64)
            links = own.links_to(outside, part_of(context, 0.8, 1.0))
            # None of them is behind a row: all that counts is how far they would be believed.
            control = float(links.posterior.sum()) / max(len(links.posterior), 1)
        return [self._result(view, own, raw, control, by_columns(audience))]

    def _result(
        self, view: View, own: _Linked, raw: _Linked, control: float | None, lacking: str
    ) -> AttackResult:
        tried = max(len(own.line), 1)
        per_class = np.zeros(len(own.persons.sizes))
        np.maximum.at(per_class, own.line, own.right)
        drawn = len(own.line) < view.rows
        trusted = int(np.count_nonzero(own.links.posterior >= self.upper))
        possible = int(np.count_nonzero(own.possible))
        return AttackResult(
            attack=self.name,
            attempted=tried,
            eligible=len(own.line),
            succeeded=own.succeeded,
            rate=own.rate,
            worst=float(own.right.max(initial=0.0)),
            baseline=float((1 / np.maximum(own.links.fitting, 1)).sum()) / tried,
            raw=raw.rate,
            at_risk=int(np.count_nonzero(own.right > own.guess)),
            threshold=own.guess,
            per_class=per_class,
            interval=wilson(own.succeeded, tried).interval if drawn else None,
            control=control,
            sentence=(
                f"Of {len(own.line):,} rows tried, {trusted:,} are linked with confidence and "
                f"{possible:,} possibly; the likeliest person of each row is the right one "
                f"{own.succeeded:.3g} times on average ({per_cent(own.rate)}).{lacking}"
            ),
            details=(own.weights(), own.decisions(own.guess, self.upper)),
        )


class _Linked:
    """Rows of a view that are linked to a register, and how right that is."""

    def __init__(
        self,
        attack: ProbabilisticLinkage,
        view: View,
        people: Register,
        truth: Truth,
        generator: np.random.Generator,
    ) -> None:
        self.attack, self.view, self.people, self.truth = attack, view, people, truth
        self.persons: Persons = matched(view)
        until = np.cumsum(self.persons.sizes)
        rows = int(until[-1]) if len(until) else 0
        drawn = np.arange(rows)
        if rows > attack.people:
            drawn = np.sort(generator.choice(rows, attack.people, replace=False))
        self.line: I64 = np.searchsorted(until, drawn, side="right").astype(np.int64)
        self.columns: list[Agreement] = [
            agreement(people, n, view.vocabularies[n], attack.epsilon, attack.near)
            for n in self.persons.columns
        ]
        # Anyone who picks anybody is right once in so many: as much is known of rows that say
        # nothing.
        anybody = (1.0 + _ROUNDING) / max(people.size, 1)
        self.guess = max(attack.lower, min(anybody, attack.upper))
        self.links: Links
        self.right: F64
        self.possible: B1

    def links_to(self, offered: I64, context: Context) -> Links:
        """Link the rows to so many people of each tuple of the register."""
        people = self.people
        place = [people.columns.index(n) for n in self.persons.columns]
        codes = np.ascontiguousarray(people.codes[:, place])
        cells = self.persons.codes[self.line]
        block = blocking_column(self.view, self.persons)
        return best_links(self.columns, cells, people, codes, block, context, offered)

    def link(self, context: Context) -> None:
        """Link the rows to the register, and score them."""
        self.links = self.links_to(self.people.count, context)
        found = self.links.posterior
        self.possible = (found > self.guess) & (found < self.attack.upper)
        self.right = right_links(self.persons, self.line, self.links, self.people, self.truth)

    @property
    def succeeded(self) -> float:
        """Expected right links; that a link is only possible makes it no less right."""
        return float(self.right.sum())

    @property
    def rate(self) -> float:
        """Expected share of rows that are linked to the right person."""
        return self.succeeded / max(len(self.line), 1)

    def weights(self) -> Details:
        """Return what agreement and disagreement weigh, column by column."""
        rows: list[dict[str, int | float | str]] = []
        for d, name in enumerate(self.persons.columns):
            texts = self.persons.codes[self.line, d].tolist()
            bits = np.array([self.columns[d].bits_of(t) for t in texts]).reshape(-1, 3)
            share = self.columns[d].chance[texts, 0]
            rows.append(
                {
                    "column": name,
                    "share of the register in the cell": float(share.mean()) if texts else 0.0,
                    "agreement": float(bits[:, 0].mean()) if texts else 0.0,
                    "disagreement": float(bits[:, 2].mean()) if texts else 0.0,
                    "error": 1 - float(self.columns[d].match[texts, 0].mean()) if texts else 0.0,
                }
            )
        return Details(
            title="What each column weighs",
            rows=tuple(rows),
            x="column",
            y=("agreement", "disagreement"),
            drawn="bars",
            shares=False,
            note="In bits, on average over the rows tried: log₂(m/u) where the cell contains the "
            "value, and where it does not; with the chance that it does not.",
        )

    def decisions(self, lower: float, upper: float) -> Details:
        """Return how many links are trusted, possible and guesses, with their mean posterior."""
        found = self.links.posterior
        parts = (
            ("trusted", found >= upper),
            ("possible", self.possible),
            ("a guess", (found <= lower) & (found < upper)),
        )
        return Details(
            title="Links by how likely they are",
            rows=tuple(
                {
                    "link": words,
                    "rows": int(np.count_nonzero(some)),
                    "share of rows": float(some.mean()) if len(some) else 0.0,
                    "mean posterior": float(found[some].mean()) if some.any() else 0.0,
                }
                for words, some in parts
            ),
            x="link",
            y=("share of rows", "mean posterior"),
            drawn="bars",
            note="The posterior is normalised over everyone of the register.",
        )
