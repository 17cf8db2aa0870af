"""Query error: how far off counts are when they are estimated from the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.params import choice, integer, number, own_queries
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.methods.queries.count_queries import Predicate, Workload, by_hand, in_words, workload
from anon_core.methods.queries.query_answers import Spread, counts, estimates, people
from anon_core.release.attack_result import Details
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, hidden_view


@register("metric")
@dataclass(frozen=True, kw_only=True)
class QueryError(Metric):
    """Average relative error of a seeded workload of count queries (Li et al. 2015)."""

    name: ClassVar[str] = "query-error"
    title: ClassVar[str] = "Query error"
    summary: ClassVar[str] = (
        "How far counts estimated from the release are from the true ones, as a share of the true"
        " count, on average over random questions such as “how many are 30 to 50, female and ill "
        "with flu”. Rare answers often miss many times over, so look at the median too. On the "
        "scale from 0 to 1, 1 is the error of a release that hides or removes everything."
    )
    formula: ClassVar[str] = (
        "mean over queries of |act − est| / max(act, sanity · n); est = Σ over groups of N · Π "
        "over link blocks of the mean overlap with the predicates; predicates cover "
        "⌊|A| · s^(1/w)⌋ values; with sanity 0, queries that no row of the table answers are left "
        "out and counted. 0–1 form: divided by the same mean where every quasi-identifier is "
        "suppressed, or every row suppressed, whichever is less and above 0; at most 1. By survey "
        "weights also of people: act = Σw of the rows, est · Σw / n"
    )
    source: ClassVar[str] = (
        "Li et al. 2015, Permutation anonymization, section 4.2 (exponent corrected); Zhang et al. "
        "2007, Aggregate query answering on anonymized tables"
    )
    scale: ClassVar[MetricScale] = MetricScale(unit="× the true count", counts_links=True)
    use: ClassVar[MetricUse] = MetricUse(at_once=False)

    queries: int = integer(
        default=200, low=1, high=100_000, help="Random questions asked.", unit="queries"
    )
    predicates: int = integer(
        default=0,
        low=0,
        help="Columns a question is about, the sensitive one included; 0 for all.",
        label="columns per query",
        unit="columns",
    )
    selectivity: float = number(
        default=0.1,
        low=0.0001,
        high=1.0,
        help="Share of rows a question would hit if columns were even and independent.",
    )
    sanity: float = number(
        default=0.0,
        low=0.0,
        high=1.0,
        help="Errors are divided by at least this share of the rows; 0 divides by the true count.",
        label="least divisor",
        unit="share of rows",
    )
    spread: str = choice(
        default="leaves",
        options={"leaves": "its values", "length": "its length"},
        help="Whether a range is taken to be even over its values or over its length.",
        label="A range is even over",
    )
    seed: int = integer(default=1, low=0, help="Seed of the questions: the same for every release.")
    own: tuple[Mapping[str, Predicate], ...] = own_queries(
        help="Questions of your own, asked instead of random ones: per column a list of values, or "
        "low and high.",
        label="Own questions",
        empty="random ones",
    )

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare the table's answers with the release's; suppressed rows are in the former only.

        The workload depends on roles and hierarchies alone, so releases of one table are asked the
        same. Where no query at all has an answer, errors are in rows (as if each had one).
        """
        asked, query = self._asked(problem)
        whole = [counts(problem, asked, context).astype(np.float64)]
        for view in (release.view, hidden_view(problem)):
            spread = cast(Spread, self.spread)
            whole.append(
                estimates(view, problem.hierarchies, asked, spread=spread, context=context)
            )
        actual, found, blind = (np.bincount(query, answers).astype(np.float64) for answers in whole)
        represented = people(problem, asked, context)
        weighed = (
            {}
            if represented is None
            else self._of_people(problem, np.bincount(query, represented).astype(np.float64), found)
        )
        details = self._details(actual, found)
        least = self.sanity * problem.rows
        usable = np.maximum(actual, least) > 0.0
        skipped = float(np.count_nonzero(~usable))
        if not np.any(usable):
            usable, least = np.ones_like(usable), 1.0
        actual, found, blind = actual[usable], found[usable], blind[usable]
        divisor = np.maximum(actual, least)
        errors = np.abs(actual - found) / divisor
        mean, hidden, removed = (
            float(e.mean()) for e in (errors, np.abs(actual - blind) / divisor, actual / divisor)
        )
        return Measure(
            metric=self.name,
            value=mean,
            share=share_of(mean, min(hidden or removed, removed)),
            also={
                "median": float(np.median(errors)),
                "90% quantile": float(np.quantile(errors, 0.9)),
                "queries without an answer": skipped,
                **weighed,
            },
            details=details,
        )

    def _asked(self, problem: Problem) -> tuple[Workload, I64]:
        """Return the workload, and which question each of its queries belongs to."""
        if self.own:
            return by_hand(problem, self.own)
        drawn = workload(
            problem,
            queries=self.queries,
            predicates=self.predicates,
            selectivity=self.selectivity,
            generator=np.random.default_rng(self.seed),
        )
        return drawn, np.arange(self.queries, dtype=np.int64)

    def _of_people(self, problem: Problem, actual: F64, found: F64) -> dict[str, float]:
        """Return the mean error of counts of people, each row taken for as many: Σw / n.

        Weights are not published, so that is all that a reader knows of them.
        """
        assert problem.row_weight is not None
        total = float(problem.row_weight.sum())
        divisor = np.maximum(actual, self.sanity * total)
        usable = divisor > 0
        off = np.abs(actual - found * total / problem.rows)[usable] / divisor[usable]
        return {"mean of people, by weights": float(off.mean())} if usable.any() else {}

    def _details(self, actual: F64, found: F64) -> tuple[Details, ...]:
        """Return the answers to one's own questions; nothing where they are random."""
        rows = tuple(
            {"question": in_words(one), "in the table": true, "by the release": estimate}
            for one, true, estimate in zip(self.own, actual.tolist(), found.tolist(), strict=False)
        )
        if not rows:
            return ()
        return (
            Details(
                title="Answers to your own questions",
                rows=rows,
                x="question",
                y=("in the table", "by the release"),
                drawn="table",
                shares=False,
            ),
        )
