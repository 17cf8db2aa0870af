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
    from anon_core.base.errors import AnonError, Infeasible, InputChanged, NotFound
    from anon_core.base.installation import VERSION
    from anon_core.counts.counting import noisy_counts
    from anon_core.data.reading import DataOptions, read_table
    from anon_core.data.roles.roles import Roles
    from anon_core.data.table import Dataset
    from anon_core.pipeline.data_frames import anonymize
    from anon_core.pipeline.publish.release_folder import write_release
    from anon_core.pipeline.result import Result
    from anon_core.pipeline.runner import run
    from anon_core.pipeline.verify.verify_release import verify_release as verify
    from anon_core.recipe.plan import Plan, load_hierarchies, read_plan

_HOME = {
    "AnonError": ("base.errors", "AnonError"),
    "Infeasible": ("base.errors", "Infeasible"),
    "InputChanged": ("base.errors", "InputChanged"),
    "NotFound": ("base.errors", "NotFound"),
    "anonymize": ("pipeline.data_frames", "anonymize"),
    "Plan": ("recipe.plan", "Plan"),
    "load_hierarchies": ("recipe.plan", "load_hierarchies"),
    "read_plan": ("recipe.plan", "read_plan"),
    "DataOptions": ("data.reading", "DataOptions"),
    "read_table": ("data.reading", "read_table"),
    "Roles": ("data.roles.roles", "Roles"),
    "VERSION": ("base.installation", "VERSION"),
    "Result": ("pipeline.result", "Result"),
    "run": ("pipeline.runner", "run"),
    "Dataset": ("data.table", "Dataset"),
    "verify": ("pipeline.verify.verify_release", "verify_release"),
    "noisy_counts": ("counts.counting", "noisy_counts"),
    "write_release": ("pipeline.publish.release_folder", "write_release"),
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
