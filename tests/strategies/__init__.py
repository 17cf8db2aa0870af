"""Random problems for Hypothesis: what fails is made smaller, down to a table one can read.

Tables of a few rows, their hierarchies, roles, promises and a budget; where it is asked for, a
public table around them, groups of their rows, and people who have several. `random_case` of
`tests/making.py` draws the same kinds from a seed, for tests of sizes that nobody would read.

Everything shrinks towards fewer rows, fewer columns, fewer and equal values, no gaps, and
hierarchies of one level.
"""

from __future__ import annotations

from tests.strategies.asked import Posed, budgets, ks, problems, promises, publics, roles
from tests.strategies.buckets import bucket_of, bucket_people, overlapping_buckets
from tests.strategies.groupings import (
    Blocks,
    Boxed,
    blocks_of,
    boxed,
    by_boxes,
    groups_of,
    layouts,
    nodes_of,
    reordered,
    repeated,
)
from tests.strategies.tables import KINDS, cases, cells_of, hierarchies, numbered_cases, with_column

__all__ = [
    "KINDS",
    "Blocks",
    "Boxed",
    "Posed",
    "blocks_of",
    "boxed",
    "bucket_of",
    "bucket_people",
    "budgets",
    "by_boxes",
    "cases",
    "cells_of",
    "groups_of",
    "hierarchies",
    "ks",
    "layouts",
    "nodes_of",
    "numbered_cases",
    "overlapping_buckets",
    "problems",
    "promises",
    "publics",
    "reordered",
    "repeated",
    "roles",
    "with_column",
]
