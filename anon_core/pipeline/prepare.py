"""Fit a plan to a table: kinds, missing values, sample, hierarchies, encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from anon_core.base.errors import AnonError, BadPlan, InputChanged, UnknownValues, listing, nearest
from anon_core.data.hierarchy.hierarchy_cache import prepared, refuse_untrue
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.roles.redaction import without_redacted
from anon_core.data.sampling import sampled
from anon_core.data.table import Dataset
from anon_core.data.values.formulas import is_formula
from anon_core.pipeline.missing_values import Keeping
from anon_core.pipeline.open_notations import refuse_undecided
from anon_core.pipeline.sensitive_levels import at_levels
from anon_core.recipe.plan import Plan
from anon_core.recipe.unseen_values import met
from anon_core.release.problem import Problem, build_problem
from anon_core.release.reserved_texts import refuse_look_alikes


def prepare(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    population: Dataset | None = None,
) -> Problem:
    """Fit a plan to a table; see `run` for parameters and errors."""
    plan.refuse_guessable()
    named = (*plan.roles.named, *plan.types, *(hierarchies or {}), *plan.data.missing_in)
    refuse_lacking(named, dataset)
    ungiven = [n for n in plan.hierarchies if n not in (hierarchies or {})]
    if ungiven:
        raise BadPlan(
            f"The plan names hierarchies for {listing(ungiven)}, but their level tables were not "
            "given.",
            remedy="Pass them, for example with load_hierarchies(plan, folder).",
        )
    plan.roles.check(dataset)
    if plan.formulas == "neutralise":
        refuse_formula_names(plan, dataset)
    refuse_undecided(plan, dataset)
    kept = Keeping.of(plan, hierarchies)
    dataset, population = kept.table(dataset), population and kept.table(population)
    table = without_redacted(plan.redacted, dataset.with_kinds(plan.types))
    plan.refuse_unconfirmed(table)
    hierarchies = plan.labels.applied(table, hierarchies or {})
    decided = (*plan.roles.quasi, *plan.sensitive_levels)
    known = met(plan.reuse.unseen, table, hierarchies, decided)
    if known.table.rows == 0 < table.rows:
        raise InputChanged(
            f"Every one of the {table.rows} rows holds a value that a hierarchy does not have.",
            remedy="Check that table and hierarchies belong together.",
        )
    table, hierarchies = at_levels(plan, known.table, known.hierarchies)
    if plan.data.missing == "drop":
        table = table.without_missing((*plan.roles.quasi, *plan.roles.sensitive))
        if table.rows == 0:
            raise BadPlan(
                f"Every one of the {dataset.rows} rows misses a value in a quasi-identifier or "
                "sensitive column, so dropping them leaves nothing.",
                remedy="Set missing = 'keep', or give the empty column another role.",
            )
    if plan.roles.unit and plan.data.sample < 1:
        raise BadPlan(
            f"A sample draws rows, and '{plan.roles.unit}' says that a person may have several.",
            remedy="Set sample = 1, and draw the people before the table is loaded.",
        )
    whole = table
    table = sampled(table, plan.roles.published(table), plan.data.sample, plan.seed)
    # A sensitive column is published exactly; its hierarchy is only what others may look at.
    trees = [n for model in plan.models for n in model.needs_trees(plan.roles)]
    needed = [name for name in hierarchies if name in plan.roles.quasi or name in trees]
    try:
        built = {name: prepared(table.column(name), hierarchies[name]) for name in needed}
    except UnknownValues as error:
        if plan.reuse.mode != "fixed":
            raise
        raise UnknownValues(
            error.message,
            remedy=f"{error.remedy} Or set unseen = 'top' or 'suppress' under [reuse].",
            values=error.values,
        ) from error
    looked_at = dict.fromkeys(n for a in plan.all_attacks() for n in a.needs_trees(plan.roles))
    for name in [n for n in looked_at if n in hierarchies and n not in built]:
        with suppress(AnonError):  # what does not fit tells an attacker nothing
            built[name] = prepared(table.column(name), hierarchies[name])
    for name in [n for n in built if n in plan.roles.quasi and n not in plan.labels.names]:
        refuse_untrue(table.column(name), hierarchies[name])
    people = population if population is not None else plan.population_size
    if people is None and table is not whole and not _asks_for_public(plan):
        people = whole  # nobody outside knows who was drawn
    private = dict.fromkeys(name for model in plan.models for name in model.private_columns())
    problem = build_problem(
        table,
        plan.roles,
        built,
        population=people,
        private=tuple(private),
        combined=any(model.needs_combined(plan.roles) for model in plan.models),
    )
    for name in problem.quasi:
        refuse_look_alikes(table.column(name), problem.hierarchies[name])
    beyond = [*([population] if population is not None else []), *([whole] * (table is not whole))]
    return replace(problem, larger=tuple(beyond))


def refuse_lacking(named: Iterable[str], dataset: Dataset) -> None:
    """Refuse columns that a recipe names and the table lacks.

    Raises
    ------
    InputChanged
        With the nearest name that there is.
    """
    gone = [n for n in dict.fromkeys(named) if n not in dataset.names]
    if gone:
        raise InputChanged(
            f"The table has no column {listing(gone)}, which the recipe names; it has "
            f"{listing(dataset.names)}.",
            remedy=f"Restore the column or change the recipe.{nearest(gone[0], dataset.names)}",
        )


def _asks_for_public(plan: Plan) -> bool:
    """Say whether a plan needs a table of its own for the public, and must be told if it lacks."""
    return plan.algorithm.needs_public or any(
        model.needs_public or model.may_count_public for model in plan.models
    )


def refuse_formula_names(plan: Plan, dataset: Dataset) -> None:
    """Refuse names that a spreadsheet would execute: a name can't be changed as a cell can."""
    published = plan.roles.published(dataset)
    for place, name in enumerate(dataset.names, start=1):
        if name in published and is_formula(name):
            raise BadPlan(
                f"The name of column {place} starts like a formula, which a spreadsheet would "
                "execute when it opens the release.",
                remedy="Rename the column, or set formulas = 'keep' under [export].",
            )
