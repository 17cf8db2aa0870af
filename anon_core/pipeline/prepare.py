"""Fit a plan to a table: kinds, missing values, sample, hierarchies, encoding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from anon_core.base.errors import AnonError, BadPlan, InputChanged, UnknownValues, listing, nearest
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import TOP, from_rows
from anon_core.data.hierarchy.hierarchy_cache import prepared, refuse_untrue
from anon_core.data.hierarchy.label_truth import refuse_false_labels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.reading.columns import Keeping
from anon_core.data.reading.row_filter import columns_of, filtered
from anon_core.data.roles.redaction import without_redacted
from anon_core.data.sampling import sampled
from anon_core.data.table import Dataset
from anon_core.data.values.formulas import is_formula
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline.changes import before_changes, changed
from anon_core.pipeline.input_tables import refuse_undecided
from anon_core.recipe.plan import Plan
from anon_core.recipe.reuse import met
from anon_core.release.problem import Problem, build_problem
from anon_core.release.reserved_texts import refuse_look_alikes

#: Tables of a recipe that `prepare` reads.
_READ = (
    *("data", "types", "roles", "hierarchies", "sensitive_levels", "population", "export"),
    *("labels", "redacted", "changes", "confirmed", "reuse"),
)
#: Encodings that are kept, the oldest of them forgotten.
_MOST = 8


class EncodedOnce:
    """Fits plans to one table; plans that ask for the same encoding get the same problem.

    What is kept with a problem, such as the view of the table as it is, is then made once, too. An
    object of this class belongs to one table, one set of level tables and one population.
    """

    def __init__(self) -> None:
        self._made: dict[str, Problem] = {}

    def __call__(
        self,
        plan: Plan,
        dataset: Dataset,
        hierarchies: Mapping[str, LevelTable] | None = None,
        population: Dataset | None = None,
    ) -> Problem:
        """Fit a plan to the table; see `prepare` for parameters and errors."""
        plan.refuse_guessable()
        key = _asked(plan)
        found = self._made.get(key)
        if found is None:
            while len(self._made) >= _MOST:
                self._made.pop(next(iter(self._made)))
            found = self._made[key] = prepare(plan, dataset, hierarchies, population)
        return found


def _asked(plan: Plan) -> str:
    """Return all that `prepare` reads of a plan, as a text."""
    recipe = plan.as_mapping()
    kept = [recipe.get(n) for n in _READ]
    models = [
        (
            model.needs_trees(plan.roles),
            model.private_columns(),
            model.scope.public,
            model.needs_combined(plan.roles),
        )
        for model in plan.models
    ]
    public = plan.algorithm.needs.public or any(m.scope.may_count_public for m in plan.models)
    drawn = plan.data.draws or any(one.change.effect.draws for one in plan.changes)
    seed = str(plan.seed) if drawn else ""
    keyed = hashlib.sha256(plan.key).hexdigest() if plan.key else ""
    return json.dumps([kept, [list(map(repr, p)) for p in models], public, seed, keyed])


def keeping(plan: Plan, hierarchies: Mapping[str, LevelTable] | None) -> Keeping:
    """Return which texts are values by a plan and its hierarchies."""
    return Keeping(
        data=plan.data,
        types=plan.types,
        coarsened=plan.roles.quasi,
        hierarchies=hierarchies or {},
    )


# Sensitive columns that are published at a level of their hierarchy, instead of their values.
#
# Values that are alike, such as three illnesses of the stomach, are different values to a privacy
# model that counts them, and one to anyone who reads them (Tian and Zhang 2011, Extending
# l-diversity to generalize sensitive data). Published at a level that names what they share they
# are one value to both: the table is coarsened there before anything else, so privacy models,
# attacks and searches go by what is published.


def at_levels(
    plan: Plan, dataset: Dataset, hierarchies: Mapping[str, LevelTable]
) -> tuple[Dataset, Mapping[str, LevelTable]]:
    """Return the table as it is published of its sensitive columns, with what is above that.

    A column whose level is still searched stays as it is.

    Parameters
    ----------
    dataset : Dataset
        Its columns are of the kinds that the plan declares.

    Raises
    ------
    BadPlan
        If a column has no hierarchy, or none of that level, or a label there represents a missing
        value.
    BadHierarchy
        If a level table does not fit the column, or a label is not true of its values.
    """
    if not plan.sensitive_levels:
        return dataset, hierarchies
    columns = {column.name: column for column in dataset.columns}
    above = dict(hierarchies)
    for name, level in plan.sensitive_levels.items():
        if not isinstance(level, int):
            continue
        if name not in hierarchies:
            raise BadPlan(
                f"'{name}' is to be published at level {level} of its hierarchy, and it has none.",
                remedy="Give it a hierarchy, or publish its values.",
            )
        rows = hierarchies[name]
        if name not in plan.labels.names:
            refuse_false_labels(name, rows, columns[name].kind)
        columns[name] = _raised(columns[name], rows, level, plan.data.missing_values)
        lines = ([*row, TOP] if len(row) == 1 else row for row in rows)
        labels = dict.fromkeys(tuple(cell.strip() for cell in line[level:]) for line in lines)
        above[name] = [list(line) for line in labels]
    return replace(dataset, columns=tuple(columns.values())), above


def _raised(column: Column, rows: LevelTable, level: int, missing: tuple[str, ...]) -> Column:
    """Return the labels of a column's values at a level; a missing value stays missing."""
    hierarchy = from_rows(column, rows)
    if level > hierarchy.height:
        raise BadPlan(
            f"'{column.name}' is to be published at level {level}; its hierarchy has levels 1 to "
            f"{hierarchy.height}.",
            remedy=f"Choose a level of at most {hierarchy.height}.",
        )
    labels = [hierarchy.labels[level][n] for n in hierarchy.node(level).tolist()]
    own = [labels[hierarchy.code[value]] for value in column.values]
    if any(label in {"", *(token.strip() for token in missing)} for label in own):
        raise BadPlan(
            f"A label of '{column.name}' at level {level} means missing.",
            remedy="Rename the label.",
        )
    pool = list(dict.fromkeys(own))
    place = {label: code for code, label in enumerate(pool)}
    codes = np.array([*(place[label] for label in own), -1], dtype=np.int32)[column.codes]
    raised = encode(column.name, codes, pool, kind="text", thousands="")
    return replace(raised, origin=column.origin)


def prepare(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    population: Dataset | None = None,
) -> Problem:
    """Fit a plan to a table; see `run` for parameters and errors."""
    plan.refuse_guessable()
    refuse_lacking((*plan.roles.named, *plan.types, *named_besides(plan, hierarchies)), dataset)
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
    kept = keeping(plan, hierarchies)
    dataset, population = kept.table(dataset), population and kept.table(population)
    typed = dataset.with_kinds(plan.types)
    if plan.data.rest == "population":
        population = typed
    typed = filtered(typed, plan.data.where)
    if plan.data.benchmark:
        population = typed.without_missing((*plan.roles.quasi, *plan.roles.sensitive))
    table = without_redacted(plan.redacted, typed)
    plan.refuse_unconfirmed(table)
    unchanged = table
    table, roles = changed(plan, table)
    # What is above a column's own values says nothing of others.
    other = {n for one in plan.changes for n in one.columns}
    hierarchies = {n: rows for n, rows in (hierarchies or {}).items() if n not in other}
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
    if plan.roles.unit and plan.data.draws:
        raise BadPlan(
            f"A sample draws rows, and '{plan.roles.unit}' says that a person may have several.",
            remedy="Draw no sample, and draw the people before the table is loaded.",
        )
    if plan.roles.weight and plan.data.draws:
        raise BadPlan(
            f"In a sample each row represents more people than its weight '{plan.roles.weight}' "
            "says.",
            remedy="Draw no sample, or take the role of the weight away; or draw the rows and "
            "raise their weights before the table is loaded.",
        )
    whole = table
    drawn = plan.data.sample, plan.seed, plan.data.benchmark
    table = sampled(table, roles.published(table), *drawn)
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
        roles,
        built,
        population=people,
        private=tuple(private),
        combined=any(model.needs_combined(plan.roles) for model in plan.models),
    )
    for name in problem.quasi:
        refuse_look_alikes(table.column(name), problem.hierarchies[name])
    beyond = [*([population] if population is not None else []), *([whole] * (table is not whole))]
    before = before_changes(plan, unchanged, problem.dataset)
    return replace(problem, larger=tuple(beyond), before=before)


def named_besides(plan: Plan, hierarchies: Iterable[str] | None) -> list[str]:
    """Return the columns that a plan names other than by role and kind."""
    confirmed = [one.column for one in plan.confirmed]
    return [*(hierarchies or ()), *plan.data.missing_in, *confirmed]


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
    """Say whether a plan needs a table of its own for the public, and must be named if it lacks."""
    return plan.algorithm.needs.public or any(
        model.scope.public or model.scope.may_count_public for model in plan.models
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


# What kind each column of a release is: decided once, where the table is read.
#
# The recipe that a run completes states it, so that anyone who reads the table again, the second
# computation above all, is handed the decision and makes none of its own.


def decided_kinds(plan: Plan, dataset: Dataset) -> dict[str, ColumnKind]:
    """Return the kind of each column of a plan: declared there, or inferred.

    A column without any value has none.

    Parameters
    ----------
    dataset : Dataset
        The table as it was read, with every column that the plan names.
    """
    private = (name for model in plan.models for name in model.private_columns())
    named = dict.fromkeys((*plan.roles.named, *private, *columns_of(plan.data.where)))
    found = {name: dataset.column(name) for name in named}
    decided = {name: column.kind for name, column in found.items() if column.values}
    return {**decided, **plan.types}
