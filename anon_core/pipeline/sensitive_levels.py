"""Sensitive columns that are published at a level of their hierarchy, in place of their values.

Values that are alike, such as three illnesses of the stomach, are different values to a promise
that counts them, and one to whoever reads them (Tian and Zhang 2011, Extending l-diversity to
generalize sensitive data). Published at a level that names what they share they are one value to
both: the table is coarsened there before anything else, so promises, attacks and searches go by
what is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import TOP, from_rows
from anon_core.data.hierarchy.claims import refuse_false_labels
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan


def at_levels(
    plan: Plan, dataset: Dataset, hierarchies: Mapping[str, LevelTable]
) -> tuple[Dataset, Mapping[str, LevelTable]]:
    """Return the table as it is published of its sensitive columns, with what is above that.

    A column whose level is still searched stays as it is.

    Parameters
    ----------
    plan : Plan
    dataset : Dataset
        Its columns are of the kinds that the plan declares.
    hierarchies : mapping of str to level table

    Raises
    ------
    BadPlan
        If a column has no hierarchy, or none of that level, or a label there stands for a missing
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
