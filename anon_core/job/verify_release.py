"""Verify a release that lies in a folder, by a recipe that a run would accept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..contracts.algorithm import counted_in_people, refuse_unsteered
from ..verification.checks import verify_files
from ..verification.findings import Verification
from .plan import read_plan


def verify_release(recipe: str | Path, data: str | Path, release: str | Path) -> Verification:
    """Recompute every promise of a recipe from a published release.

    The recipe is first read as `run` reads it: what a run refuses promises nothing that could be
    kept, whatever the second computation finds.

    Parameters
    ----------
    recipe : str or Path
        The recipe (TOML); the paths of its hierarchies are relative to it.
    data : str or Path
        The private table: CSV, plain or gzip, or Parquet.
    release : str or Path
        The folder of the published files.

    Returns
    -------
    Verification

    Raises
    ------
    BadPlan
        If a run would refuse the recipe for what it says.
    BadInput, BadHierarchy
        If a file is not there or is not what it should be.
    """
    plan = read_plan(recipe)
    plan.refuse_guessable()
    refuse_unsteered(plan.algorithm, plan.models)
    counted_in_people(plan.algorithm, plan.models, plan.roles.unit)
    found = verify_files(Path(recipe), Path(data), Path(release), told=plan.completed())
    return replace(found, notes=plan.notes)
