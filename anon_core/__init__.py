"""The core of the Anonymity Workbench: the same job from Python as from the pages.

>>> from anon_core import Plan, load_hierarchies, read_table, run  # doctest: +SKIP
>>> plan = Plan.from_toml(open("recipe.toml").read())  # doctest: +SKIP
>>> result = run(plan, read_table("data.csv"), load_hierarchies(plan, "."))  # doctest: +SKIP

Names are imported when first used, so that `import anon_core` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import AnonError
    from .frame_to_frame import anonymize
    from .plan import Plan, load_hierarchies, read_plan
    from .reading import DataOptions, read_table
    from .roles import Roles
    from .runner import VERSION, Result, run
    from .table import Dataset
    from .verification.checks import verify_files as verify

_HOME = {
    "AnonError": ("errors", "AnonError"),
    "anonymize": ("frame_to_frame", "anonymize"),
    "Plan": ("plan", "Plan"),
    "load_hierarchies": ("plan", "load_hierarchies"),
    "read_plan": ("plan", "read_plan"),
    "DataOptions": ("reading", "DataOptions"),
    "read_table": ("reading", "read_table"),
    "Roles": ("roles", "Roles"),
    "VERSION": ("runner", "VERSION"),
    "Result": ("runner", "Result"),
    "run": ("runner", "run"),
    "Dataset": ("table", "Dataset"),
    "verify": ("verification.checks", "verify_files"),
}

__all__ = [
    "VERSION",
    "AnonError",
    "DataOptions",
    "Dataset",
    "Plan",
    "Result",
    "Roles",
    "anonymize",
    "load_hierarchies",
    "read_plan",
    "read_table",
    "run",
    "verify",
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
