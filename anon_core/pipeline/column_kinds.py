"""What kind each column of a release is: decided once, where the table is read.

The recipe that a run completes states it, so that whoever reads the table again, the second
computation above all, is handed the decision and makes none of its own.
"""

from __future__ import annotations

from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.recipe.plan import Plan


def decided_kinds(plan: Plan, dataset: Dataset) -> dict[str, ColumnKind]:
    """Return the kind of each column that a plan names, as it declares it or as it was found out.

    A column without any value has none.

    Parameters
    ----------
    plan : Plan
    dataset : Dataset
        The table as it was read, with every column that the plan names.
    """
    private = (name for model in plan.models for name in model.private_columns())
    named = dict.fromkeys((*plan.roles.named, *private))
    found = {name: dataset.column(name) for name in named}
    decided = {name: column.kind for name, column in found.items() if column.values}
    return {**decided, **plan.types}
