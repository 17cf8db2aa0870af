"""Verify a release that lies in a folder, by a recipe that a run would accept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from anon_core.base.errors import BadPlan, clipped, listing
from anon_core.contracts.algorithm import counted_in_people, refuse_unsteered
from anon_core.contracts.per_column import refuse_others
from anon_core.pipeline.input_tables import refuse_absent, refuse_idle, unchanged
from anon_core.pipeline.publish.file_formats import file_names
from anon_core.pipeline.verify.earlier_release import check_previous, previous_files
from anon_core.pipeline.verify.repeated_run import Repeated, checks_of, repeated, tells_more
from anon_core.recipe.plan import Plan, read_plan
from anon_core.verification.checks import verify_files
from anon_core.verification.files.bounded_reading import MOST_TEXT_BYTES, read_bytes
from anon_core.verification.files.recipe_files import read_recipe
from anon_core.verification.files.release_files import refuse_unfinished
from anon_core.verification.findings import Check, Verification, broken, not_checked
from anon_core.verification.registry import GATES
from anon_core.verification.release_only import verify_release_only
from anon_core.verification.rows.membership import Witness


def verify_release(
    recipe: str | Path,
    data: str | Path | None,
    release: str | Path,
    *,
    previous: str | Path | None = None,
    key: bytes = b"",
) -> Verification:
    """Recompute every privacy model of a recipe from a published release.

    The recipe is first read as `run` reads it: what a run refuses requires nothing that could
    be kept, whatever the second computation finds.

    Parameters
    ----------
    recipe : str or Path
        The recipe (TOML); the paths of its hierarchies are relative to it.
    data : str, Path or None
        The private table: CSV, plain or gzip, or Parquet. Without it what follows from the files
        alone is checked, and the rest is named as not checked.
    release : str or Path
        The folder of the published files; or one of them, where those of other formats were left
        out on purpose.
    previous : str or Path, optional
        An earlier release of the same people: its folder, or its published file.
    key : bytes, optional
        The secret key of pseudonyms and shifted dates; without it they are not compared.

    Raises
    ------
    BadPlan
        If a run would refuse the recipe for what it says, or two releases are to be laid together
        without the private table.
    InputChanged
        If the table or the release was changed while it was read.
    BadInput, BadHierarchy
        If a file is not there or is not what it should be.
    """
    plan = replace(read_plan(recipe), key=key)
    place = Path(release)
    folder, named = (place.parent, place.name) if place.is_file() else (place, "")
    found = _verified(plan, Path(recipe), data, folder, previous)
    _refuse_small(plan, found)
    return found.with_checks(_absent(plan, folder, named))


def _refuse_small(plan: Plan, found: Verification) -> None:
    """Refuse a population with fewer people than the table has rows, as a run does."""
    rows = max((c.bound or 0 for c in found.checks if c.name == "rows"), default=0)
    if plan.population_size is not None and plan.population_size < rows and not plan.roles.unit:
        raise BadPlan(
            f"The population has {plan.population_size} people, but the table has {rows:g} rows, "
            "and everyone of the table belongs to it.",
            remedy="Give the size of the population the table was drawn from.",
        )


def _absent(plan: Plan, folder: Path, named: str) -> list[Check]:
    """Check that every file is there that a run writes, or each of the format of the one named."""
    wanted = file_names(plan.algorithm.shape.tables, csv=plan.csv, parts=plan.parts)
    what = f"{listing([named])} is not a file of this release, which is {listing(wanted)}."
    if not named or named in wanted:
        ending = named.rpartition(".")[2]
        there = {entry.name for entry in folder.iterdir()}
        gone = [name for name in wanted if name.endswith(ending) and name not in there]
        if not gone:
            return []
        what = (
            f"{listing(gone)} is missing, which the recipe publishes. Put it back; where a format "
            "was left out on purpose, name one of the published files and not its folder."
        )
    return [broken("files", what)]


def _verified(
    plan: Plan, recipe: Path, data: str | Path | None, release: Path, previous: str | Path | None
) -> Verification:
    """Verify the files in a folder; see `verify_release`."""
    key = plan.key
    plan.refuse_guessable()
    refuse_unsteered(plan.algorithm, plan.models)
    counted_in_people(plan.algorithm, plan.models, plan.roles.unit)
    refuse_others((plan.algorithm, *plan.models, *plan.metrics), plan.roles.quasi)
    refuse_absent(plan, Path(recipe).parent)
    plan.labels.refuse_lacking(plan.hierarchies)
    plan.labels.refuse_texts(plan.types)
    if data is not None:
        refuse_idle(plan, Path(data))
    earlier = None if previous is None else previous_files(Path(previous))
    if data is None:
        if earlier is not None:
            raise BadPlan(
                "What two releases reveal together is counted over the people of the table, "
                "which was not given.",
                remedy="Give the private table.",
            )
        return _without_table(plan, recipe, release)
    content = read_bytes(Path(recipe), "The recipe", MOST_TEXT_BYTES)
    has_secret = "seed" in read_recipe(content, clipped(Path(recipe).name))
    lacking: Check | None = None
    if plan.data.draws and not has_secret:
        lacking = _undrawn()
    elif not has_secret and any(one.change.effect.draws for one in plan.changes):
        lacking = _unmade("seed", "`run --recipe-out` keeps it")
    elif not key and any(one.change.effect.needs_key for one in plan.changes):
        lacking = _unmade("key", "--key-file names it")
    if lacking is not None:
        together = [] if earlier is None else [_not_laid()]
        return _without_table(plan, recipe, release, lacking, *together)
    with unchanged(Path(data), Path(release)):
        refuse_unfinished(Path(release))
        again: Repeated | None = None
        witness: Witness | None = None
        if tells_more(plan):
            folder = Path(recipe).parent
            again = repeated(plan, folder, Path(data), Path(release), has_secret=has_secret)
            # Of averages the check names those that differ.
            if again.result is not None and (again.same or plan.algorithm.shape.averages):
                witness = again.result.witness
        found = verify_files(
            Path(recipe),
            Path(data),
            Path(release),
            decided=plan.completed(),
            witness=witness,
            key=key,
        )
    if again is not None:
        found = found.with_checks(checks_of(plan, again, has_secret=has_secret))
    if earlier is not None:
        folder = Path(recipe).parent
        found = found.with_checks(check_previous(plan, folder, Path(data), Path(release), earlier))
    return replace(found, notes=plan.notes)


def _without_table(
    plan: Plan, recipe: str | Path, release: str | Path, *more: Check
) -> Verification:
    """Check what follows from the files alone; `more` and the gates are named as not checked."""
    alone = verify_release_only(Path(recipe), Path(release), decided=plan.completed())
    return replace(alone.with_checks([*more, *_unmeasured(plan)]), notes=plan.notes)


def _undrawn() -> Check:
    """Say why the table was not compared: no one but the holder of the secret knows its rows."""
    return not_checked(
        "sample",
        "The recipe has no seed, so the sample was not drawn again and the table not compared. "
        "The completed recipe, which `run --recipe-out` writes, has it.",
    )


def _not_laid() -> Check:
    """Say why two releases were not laid together: it is counted over the table's own rows."""
    return not_checked(
        "previous",
        "What both releases reveal together is counted over the rows of this one, which are not "
        "known without its secret: it was not counted.",
    )


def _unmade(lacking: str, remedy: str) -> Check:
    """Say why changed columns were not compared with the table."""
    return not_checked(
        "changes",
        f"Without the secret {lacking} the changes were not made again and the table not compared; "
        f"{remedy}.",
    )


def _unmeasured(plan: Plan) -> list[Check]:
    """Name the gates, which are measured on the private table."""
    return [
        not_checked(GATES, f"{gate.title} was not measured again: it needs the private table.")
        for gate in plan.accept
    ]
