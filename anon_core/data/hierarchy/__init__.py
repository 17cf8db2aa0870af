"""Generalization hierarchies: their model, how they are built and edited, and their files."""

from anon_core.data.hierarchy.construction import flat, from_rows
from anon_core.data.hierarchy.edit.draft import (
    Draft,
    Group,
    draft_of,
    draft_of_dict,
    draft_of_rows,
    draft_of_values,
    to_rows,
    unplaced,
)
from anon_core.data.hierarchy.edit.editing import History, apply, history_of_dict, operation_of
from anon_core.data.hierarchy.edit.operations import (
    InsertLevel,
    MakeGroup,
    Move,
    Operation,
    Place,
    RemoveLevel,
    Rename,
    Reorder,
    Ungroup,
)
from anon_core.data.hierarchy.files.level_files import (
    levels_csv,
    parse_levels,
    read_hierarchy,
    read_levels,
)
from anon_core.data.hierarchy.model import TOP, Hierarchy
from anon_core.data.hierarchy.population_leaves import beyond_root, unclear_places, widened
from anon_core.data.hierarchy.propose.proposals import Proposal, propose_all
from anon_core.data.hierarchy.ranges import read_range

__all__ = [
    "TOP",
    "Draft",
    "Group",
    "Hierarchy",
    "History",
    "InsertLevel",
    "MakeGroup",
    "Move",
    "Operation",
    "Place",
    "Proposal",
    "RemoveLevel",
    "Rename",
    "Reorder",
    "Ungroup",
    "apply",
    "beyond_root",
    "draft_of",
    "draft_of_dict",
    "draft_of_rows",
    "draft_of_values",
    "flat",
    "from_rows",
    "history_of_dict",
    "levels_csv",
    "operation_of",
    "parse_levels",
    "propose_all",
    "read_hierarchy",
    "read_levels",
    "read_range",
    "to_rows",
    "unclear_places",
    "unplaced",
    "widened",
]
