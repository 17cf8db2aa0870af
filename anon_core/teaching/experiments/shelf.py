"""The experiments there are: every file of `catalogue/` is one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from anon_core.base.errors import BadInput, listing, nearest
from anon_core.teaching.experiments import catalogue
from anon_core.teaching.experiments.experiment import Experiment


@cache
def all_experiments() -> tuple[Experiment, ...]:
    """Return all experiments by number."""
    found: list[Experiment] = []
    for module in pkgutil.iter_modules(catalogue.__path__):
        part = importlib.import_module(f"{catalogue.__name__}.{module.name}")
        kinds = [kind for kind in vars(part).values() if isinstance(kind, type)]
        own = [k for k in kinds if issubclass(k, Experiment) and k.__module__ == part.__name__]
        found += [kind() for kind in own if "id" in vars(kind)]
    return tuple(sorted(found, key=lambda experiment: experiment.id))


def find_experiment(id: str) -> Experiment:
    """Return the experiment of that number.

    Raises
    ------
    BadInput
        If there is none; lists the numbers and the nearest one.
    """
    for experiment in all_experiments():
        if experiment.id == id.upper():
            return experiment
    ids = [experiment.id for experiment in all_experiments()]
    raise BadInput(
        f"There is no experiment '{id}'; there are {listing(ids, len(ids))}.",
        remedy=f"Use one of these numbers.{nearest(id, ids)}",
    )
