"""What metrics, attacks and sensitive values say of every class, as shares and chances by name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ui.charts.attack_plots import name_of
from ui.charts.chart_frame import Series
from ui.charts.metric_plots import metric_names, title_of
from ui.state.result_view import Facts

ByName = list[tuple[str, npt.NDArray[np.float64]]]


def metrics(facts: Facts) -> ByName:
    """Return what each class lost, by the metric that shows it as a share."""
    run = Series(letter="", title="", facts=facts, colour="")
    found: ByName = []
    for name in metric_names([run]):
        values = facts.result.measures[name].per_class
        if values is not None and len(values) == len(facts.sizes) and _is_share(values):
            found.append((title_of(name), values))
    return found


def differences(facts: Facts) -> ByName:
    """Return how much the values of each sensitive column differ from the whole in each class."""
    return [
        (column, facts.difference(column))
        for column in facts.result.problem.sensitive
        if column not in facts.result.problem.quasi and len(facts.sizes)
    ]


def attacks(facts: Facts) -> ByName:
    """Return the chance of each attack in each class."""
    return [
        (name_of(a), a.per_class)
        for a in facts.attacks
        if len(a.per_class) == len(facts.sizes) and len(facts.sizes) and not a.idle
    ]


def _is_share(values: npt.NDArray[np.float64]) -> bool:
    known = values[np.isfinite(values)]
    return bool(len(known)) and float(known.min()) >= 0 and float(known.max()) <= 1 + 1e-9
