"""Generalization hierarchies: their model, how they are built and edited, and their files."""

from .building import flat, from_rows
from .edit.draft import (
    Draft,
    Group,
    draft_of,
    draft_of_dict,
    draft_of_rows,
    draft_of_values,
    to_rows,
    unplaced,
)
from .edit.editing import apply, operation_of
from .edit.history import History, history_of_dict
from .edit.operations import (
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
from .files.level_files import levels_csv, parse_levels, read_hierarchy, read_levels
from .model import TOP, Hierarchy
from .population_leaves import beyond_root, unclear_places, widened
from .propose.proposals import Proposal, propose_all
from .ranges import read_range

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
