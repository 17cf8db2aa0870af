"""The core of the Anonymity Workbench: the same job from Python as from the pages.

>>> from anon_core import Plan, load_hierarchies, read_table, run  # doctest: +SKIP
>>> plan = Plan.from_toml(open("recipe.toml").read())  # doctest: +SKIP
>>> result = run(plan, read_table("data.csv"), load_hierarchies(plan, "."))  # doctest: +SKIP

These are the public names: one is deprecated before it goes (see CONTRIBUTING.md). They
are imported when first used, so that `import anon_core` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base.errors import AnonError, Infeasible, InputChanged, NotFound
    from .counts.counting import noisy_counts
    from .data.reading import DataOptions, read_table
    from .data.roles import Roles
    from .data.table import Dataset
    from .job.frame_to_frame import anonymize
    from .job.plan import Plan, load_hierarchies, read_plan
    from .job.release_folder import write_release
    from .job.result import Result
    from .job.runner import run
    from .job.verify_release import verify_release as verify
    from .job.version import VERSION

_HOME = {
    "AnonError": ("base.errors", "AnonError"),
    "Infeasible": ("base.errors", "Infeasible"),
    "InputChanged": ("base.errors", "InputChanged"),
    "NotFound": ("base.errors", "NotFound"),
    "anonymize": ("job.frame_to_frame", "anonymize"),
    "Plan": ("job.plan", "Plan"),
    "load_hierarchies": ("job.plan", "load_hierarchies"),
    "read_plan": ("job.plan", "read_plan"),
    "DataOptions": ("data.reading", "DataOptions"),
    "read_table": ("data.reading", "read_table"),
    "Roles": ("data.roles", "Roles"),
    "VERSION": ("job.version", "VERSION"),
    "Result": ("job.result", "Result"),
    "run": ("job.runner", "run"),
    "Dataset": ("data.table", "Dataset"),
    "verify": ("job.verify_release", "verify_release"),
    "noisy_counts": ("counts.counting", "noisy_counts"),
    "write_release": ("job.release_folder", "write_release"),
}

__all__ = [
    "VERSION",
    "AnonError",
    "DataOptions",
    "Dataset",
    "Infeasible",
    "InputChanged",
    "NotFound",
    "Plan",
    "Result",
    "Roles",
    "anonymize",
    "load_hierarchies",
    "noisy_counts",
    "read_plan",
    "read_table",
    "run",
    "verify",
    "write_release",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'anon_core' has no attribute '{name}'")
    import importlib

    module, attribute = _HOME[name]
    found = getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
    globals()[name] = found
    return found
