"""Generalization hierarchies: their model, how they are built, and the files they are kept in."""

from .building import flat, from_rows
from .level_files import levels_csv, parse_levels, read_hierarchy, read_levels
from .model import TOP, Hierarchy
from .propose import Proposal, propose_all
from .ranges import read_range
from .widening import beyond_root, widened

__all__ = [
    "TOP",
    "Hierarchy",
    "Proposal",
    "beyond_root",
    "flat",
    "from_rows",
    "levels_csv",
    "parse_levels",
    "propose_all",
    "read_hierarchy",
    "read_levels",
    "read_range",
    "widened",
]
