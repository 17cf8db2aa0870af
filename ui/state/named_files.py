"""The files that were chosen next to a recipe which names a folder of hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from anon_core.recipe.hierarchy_folder import EVERY_OTHER, with_names
from anon_core.recipe.plan import Plan


def named_among(plan: Plan, names: Sequence[str]) -> Plan:
    """Return a recipe's plan with the files of its folder of hierarchies, as far as they are here.

    A zip shows what lies in the folder; of files that were chosen one by one those that are named
    like a column are taken.

    Raises
    ------
    BadHierarchy
        If several files fit one column, or none fits any.
    """
    folder = plan.hierarchies.get(EVERY_OTHER)
    if folder is None:
        return plan
    paths = [PurePosixPath(name) for name in names]
    inside = [path.name for path in paths if path.parent == PurePosixPath(folder)]
    loose = [path.name for path in paths if path.name not in map(_base_name, plan.files)]
    found = with_names(plan.hierarchies, plan.roles, inside or loose, strict=bool(inside))
    return replace(plan, hierarchies=found)


def _base_name(path: str) -> str:
    return PurePosixPath(path).name
