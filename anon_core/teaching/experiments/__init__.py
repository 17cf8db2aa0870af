"""Experiments of the literature: the source's printed figures next to those this core reaches."""

from anon_core.teaching.experiments.execution import Report, carry_out
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Printed,
    Step,
    Verdict,
    all_experiments,
    find_experiment,
)
from anon_core.teaching.experiments.points import Point, Settings
from anon_core.teaching.experiments.tables import Tables

__all__ = [
    "Claim",
    "Experiment",
    "Figure",
    "Point",
    "Printed",
    "Report",
    "Settings",
    "Step",
    "Tables",
    "Verdict",
    "all_experiments",
    "carry_out",
    "find_experiment",
]
