"""Fitting a model and scoring it on rows it has not seen, with scikit-learn."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.errors import AnonError

#: The optional dependency that brings scikit-learn.
EXTRA = "models"


@dataclass(frozen=True, kw_only=True)
class Score:
    """How well held-out rows are told.

    Attributes
    ----------
    accuracy : float
        Share of held-out rows told right.
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
    model : classifier or None
    features : float64 array of shape (rows, features)
    labels : int64 array of shape (rows,)
        The truth.
    wanted : int
        What is said of everyone where there is no model.
    """
    if model is None:
        return _score(np.full(len(labels), wanted), labels, 0.5)
    told = model.predict(features)
    return _score(told, labels, _auc(model, features, labels))


def _auc(model: Any, features: F64, labels: I64) -> float:
    chances, known = model.predict_proba(features), model.classes_
    total = weight = 0.0
    for at, label in enumerate(known.tolist()):
        own = labels == label
        if 0 < own.sum() < len(labels):
            area = float(_sklearn("metrics").roc_auc_score(own, chances[:, at]))
            total, weight = total + area * float(own.sum()), weight + float(own.sum())
    return total / weight if weight else float("nan")


def _score(told: I64, labels: I64, auc: float) -> Score:
    rows = len(labels)
    accuracy = float(np.mean(told == labels))
    # Wilson 1927, doi 10.1080/01621459.1927.10502953
    z = 1.959964
    middle = (accuracy + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z * np.sqrt(accuracy * (1 - accuracy) / rows + z * z / (4 * rows * rows))
    half = float(half / (1 + z * z / rows))
    return Score(
        accuracy=accuracy, low=max(middle - half, 0.0), high=min(middle + half, 1.0), auc=auc
    )
