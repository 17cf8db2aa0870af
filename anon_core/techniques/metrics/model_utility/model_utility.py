"""Model utility: what a model learns from the release, beside what it learns from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import choice, integer, number, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import sensitive_columns
from anon_core.contracts.search_cost import labels_of
from anon_core.release.attack_result import Details
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.results import Measure, share_of
from anon_core.techniques.metrics.model_utility.features import original, published
from anon_core.techniques.metrics.model_utility.fitting import Score, fitted, score

#: Rows below which a held-out part says nothing.
_LEAST_ROWS = 60


@register("metric")
@dataclass(frozen=True, kw_only=True)
class ModelUtility(Metric):
    """Accuracy that a model loses on held-out rows of the table if it is trained on the release."""

    name: ClassVar[str] = "model-utility"
    title: ClassVar[str] = "Model utility"
    summary: ClassVar[str] = (
        "A model is trained to predict a column from the quasi-identifiers, once on the table and "
        "once on the release, and both are tested on rows of the table that neither was trained "
        "on. The loss of accuracy is the cost of the release; 1 is a model no better than always "
        "predicting the most frequent value."
    )
    formula: ClassVar[str] = (
        "accuracy trained on the table − accuracy trained on the release, on the same held-out "
        "rows. 0–1 form: divided by what the table's model is better by than the most frequent "
        "value. A range is fed at its middle, a set as equal shares of its values"
    )
    source: ClassVar[str] = (
        "LeFevre, DeWitt and Ramakrishnan 2006, Workload-aware anonymization, "
        "doi 10.1145/1150402.1150435; interval: Wilson 1927, doi 10.1080/01621459.1927.10502953"
    )
    unit: ClassVar[str] = "of accuracy lost"
    counts_links: ClassVar[bool] = True
    by_default: ClassVar[bool] = False
    at_once: ClassVar[bool] = False

    column: str = sensitive_column(
        help="Sensitive column that the model predicts; empty for the first.",
        label="Told",
        empty="the first sensitive column",
    )
    model: str = choice(
        default="logistic",
        options={"logistic": "logistic regression", "forest": "random forest"},
        help="What is trained.",
        label="Model",
    )
    held_out: float = number(
        default=0.3,
        low=0.05,
        high=0.9,
        help="Share of the rows that neither model is trained on.",
        label="Held out",
        unit="share of rows",
    )
    most: int = integer(
        default=20_000,
        low=50,
        high=1_000_000,
        help="Rows of larger tables that take part, drawn at random.",
        label="Most rows",
        unit="rows",
    )
    seed: int = integer(default=1, low=0, help="Seed of what is held out.")

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        if not labels_of(problem):
            return "It needs a sensitive column to predict."
        if problem.rows < _LEAST_ROWS:
            return f"It needs at least {_LEAST_ROWS} rows to train on and to test."
        return ""

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Train and test both models.

        Raises
        ------
        AnonError
            If there is nothing to tell, or scikit-learn is not installed.
        """
        reason = self.reason_not_applicable(problem)
        if reason:
            raise AnonError(reason, remedy="Choose another metric.")
        column = sensitive_columns(problem, self.column or labels_of(problem)[0], self.title)[0]
        generator = np.random.default_rng(self.seed)
        order = generator.permutation(problem.rows)[: self.most]
        tested = order[: max(int(len(order) * self.held_out), 1)]
        training = np.zeros(problem.rows, dtype=np.bool_)
        training[order[len(tested) :]] = True
        features, labels = original(problem), problem.leaf_codes(column).astype(np.int64)
        usual = int(np.bincount(labels[training]).argmax())
        asked, truth = features[tested], labels[tested]
        context.report(0.1, "Training on the table")
        table = self._trained(features[training], labels[training], asked, truth, usual)
        context.report(0.5, "Training on the release")
        shown, told, row = published(problem, release, column, generator)
        mine = training[row]
        ours = self._trained(shown[mine], told[mine], asked, truth, usual)
        guess = score(None, asked, truth, usual)
        lost = table.accuracy - ours.accuracy
        room = table.accuracy - guess.accuracy
        rows = {"the table": table, "the release": ours, "the most frequent value": guess}
        return Measure(
            metric=self.name,
            value=lost,
            share=share_of(lost, room) if room > 0 else float(lost > 0),
            also={f"accuracy of {words}": found.accuracy for words, found in rows.items()},
            details=(
                Details(
                    title=f"Telling '{column}' of {len(tested):,} held-out rows",
                    rows=tuple(
                        {
                            "trained on": words,
                            "accuracy": found.accuracy,
                            "from": found.low,
                            "to": found.high,
                            "AUC": found.auc if not np.isnan(found.auc) else "–",
                        }
                        for words, found in rows.items()
                    ),
                    x="trained on",
                    y=("accuracy",),
                    drawn="table",
                    note="From and to: 95% interval of the accuracy. AUC: each label against the "
                    "rest, weighed by its rows; 0.5 is guessing.",
                ),
            ),
        )

    def _trained(self, features: F64, labels: I64, asked: F64, truth: I64, usual: int) -> Score:
        """Train on some rows and test on others; of one label or none, the usual one is said."""
        if len(np.unique(labels)) < 2:
            return score(None, asked, truth, int(labels[0]) if len(labels) else usual)
        return score(fitted(self.model, features, labels, self.seed), asked, truth, usual)
