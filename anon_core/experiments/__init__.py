"""Experiments of the literature: the source's printed figures beside those this core reaches."""

from .carrying_out import Report, carry_out
from .experiment import Claim, Experiment, Figure, Printed, Step, Verdict
from .points import Point, Settings
from .shelf import all_experiments, find_experiment
from .tables import Tables

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
