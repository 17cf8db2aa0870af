"""Model utility: what a model learns from the release, next to what it learns from the table."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import choice, integer, number, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.contracts.model import sensitive_columns
from anon_core.contracts.search_cost import labels_of
from anon_core.methods.queries.associations import numbers_of
from anon_core.release.attack_result import Details
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import Vocabulary, of_level

# Fitting a model and scoring it on rows it has not seen, with scikit-learn.


#: The optional dependency that brings scikit-learn.
EXTRA = "models"


@dataclass(frozen=True, kw_only=True)
class Score:
    """How well held-out rows are predicted.

    Attributes
    ----------
    accuracy : float
        Share of held-out rows predicted right.
    low, high : float
        Its interval at 95%.
    auc : float
        Area under the curve, several labels one against the rest, weighed by their rows; 0.5 is
        guessing. NaN where the held-out rows have one label only.
    """

    accuracy: float
    low: float
    high: float
    auc: float


def _sklearn(module: str) -> Any:
    """Return a module of scikit-learn.

    Raises
    ------
    AnonError
        If it is not installed.
    """
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise AnonError(
            "Training a model needs scikit-learn, which is not installed.",
            remedy=f"Install it with the extra: pip install 'anonymity-workbench[{EXTRA}]'.",
        ) from error


def fitted(kind: str, features: F64, labels: I64, seed: int) -> Any:
    """Return a model trained on rows of at least two labels."""
    if kind == "forest":
        make: Any = _sklearn("ensemble").RandomForestClassifier
        return make(n_estimators=100, min_samples_leaf=5, random_state=seed).fit(features, labels)
    make = _sklearn("linear_model").LogisticRegression
    return make(max_iter=500).fit(features, labels)


def score(model: Any, features: F64, labels: I64, wanted: int) -> Score:
    """Score a model, or who says the same of everyone where it is None.

    Parameters
    ----------
    features : float64 array of shape (rows, features)
    labels : int64 array of shape (rows,)
        The truth.
    wanted : int
        What is said of everyone where there is no model.
    """
    if model is None:
        return _score(np.full(len(labels), wanted), labels, 0.5)
    predicted = model.predict(features)
    return _score(predicted, labels, _auc(model, features, labels))


def _auc(model: Any, features: F64, labels: I64) -> float:
    chances, known = model.predict_proba(features), model.classes_
    total = weight = 0.0
    for at, label in enumerate(known.tolist()):
        own = labels == label
        if 0 < own.sum() < len(labels):
            area = float(_sklearn("metrics").roc_auc_score(own, chances[:, at]))
            total, weight = total + area * float(own.sum()), weight + float(own.sum())
    return total / weight if weight else float("nan")


def _score(predicted: I64, labels: I64, auc: float) -> Score:
    rows = len(labels)
    accuracy = float(np.mean(predicted == labels))
    # Wilson 1927, doi 10.1080/01621459.1927.10502953
    z = 1.959964
    middle = (accuracy + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z * np.sqrt(accuracy * (1 - accuracy) / rows + z * z / (4 * rows * rows))
    half = float(half / (1 + z * z / rows))
    return Score(
        accuracy=accuracy, low=max(middle - half, 0.0), high=min(middle + half, 1.0), auc=auc
    )


# What a model is fed: original rows, and published ones, in the same features.


#: Values of a column that have a feature of their own, the most frequent ones.
_MOST = 100


def original(problem: Problem) -> F64:
    """Return the features of every row of the table, shape (rows, features)."""
    exact = {name: of_level(problem.hierarchies[name], 0) for name in problem.quasi}
    codes = {name: problem.leaf_codes(name).astype(np.int64) for name in problem.quasi}
    return _features(problem, exact, codes)


def published(
    problem: Problem, release: Release, target: str, generator: np.random.Generator
) -> tuple[F64, I64, I64]:
    """Return the features and labels an analyst has, row by row of the table.

    Columns that are permuted separately are paired by chance within their group, as anyone who
    reads the published rows side by side does.

    Parameters
    ----------
    target : str
        The column of labels.

    Returns
    -------
    features : float64 array of shape (published rows, features)
    labels : int64 array of shape (published rows,)
    row : int64 array of shape (published rows,)
        The row of the table whose first block it holds: it separates training and held-out rows.
    """
    member = release.grouping.of_rows(problem.frequency, generator, problem.row_order)
    row = np.flatnonzero(member >= 0)
    member = member[row]
    group = release.seen_group[member]
    codes: dict[str, I64] = {}
    for place, block in enumerate(release.blocks):
        names = [n for n in block if n in problem.quasi or n == target]
        order = np.arange(len(row))
        if place and names:
            # Both orders list the rows group by group: one as they are, one shuffled.
            slots = np.argsort(group, kind="stable")
            shuffled = generator.permutation(len(row))
            order[slots] = shuffled[np.argsort(group[shuffled], kind="stable")]
        for name in names:
            cells = release.cells[name][member] if name in release.cells else None
            own = problem.leaf_codes(name)[row] if cells is None else cells
            codes[name] = own[order].astype(np.int64)
    features = _features(problem, release.vocabularies, codes)
    return features, codes[target], row


def _features(problem: Problem, known: Mapping[str, Vocabulary], codes: Mapping[str, I64]) -> F64:
    """Return numbers as shares of their range, and a share of every frequent value for the rest."""
    parts: list[F64] = []
    for name in problem.quasi:
        hierarchy, vocabulary = problem.hierarchies[name], known[name]
        number = numbers_of(hierarchy, vocabulary)
        if number is not None and hierarchy.measure is not None:
            present = hierarchy.measure[~np.isnan(hierarchy.measure)]
            low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
            shift = (number - low) / (high - low if high > low else 1.0)
            missing = np.isnan(shift).astype(np.float64)
            parts.append(np.nan_to_num(shift, nan=0.5)[codes[name], None])
            if hierarchy.has_missing:
                parts.append(missing[codes[name], None])
            continue
        rows = problem.leaf_rows[name]
        leaves = np.sort(np.argsort(-rows, kind="stable")[:_MOST])
        first, last = vocabulary.lo[:, None], vocabulary.hi[:, None]
        covered = (first <= leaves) & (leaves <= last)
        width = (vocabulary.hi - vocabulary.lo + 1).astype(np.float64)
        parts.append((covered / width[:, None])[codes[name]])
    return np.concatenate(parts, axis=1) if parts else np.empty((problem.rows, 0))


#: Rows below which a held-out part says nothing.
_LEAST_ROWS = 60


@register("metric")
@dataclass(frozen=True, kw_only=True)
class ModelUtility(Metric):
    """Accuracy that a model loses on held-out rows of the table if it is trained on the release."""

    name: ClassVar[str] = "model-utility"
    title: ClassVar[str] = "Model utility"
    summary: ClassVar[str] = (
        "Trains a model to predict a column from the quasi-identifiers, once on the table and "
        "once on the release. Tests both on rows of the table that neither was trained on. The "
        "accuracy lost is the cost of the release; 1 is a model no better than always predicting "
        "the most frequent value."
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
    scale: ClassVar[MetricScale] = MetricScale(unit="of accuracy lost", counts_links=True)
    use: ClassVar[MetricUse] = MetricUse(by_default=False, at_once=False)

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
        shown, predicted, row = published(problem, release, column, generator)
        mine = training[row]
        ours = self._trained(shown[mine], predicted[mine], asked, truth, usual)
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
