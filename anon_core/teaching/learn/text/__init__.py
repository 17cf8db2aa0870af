"""What lessons say and show alike: words, tables of the rows, people in the plane, lattices."""

from anon_core.teaching.learn.text.lattices import (
    Levels,
    all_levels,
    cells_at,
    lattice,
    together_at,
    value_tree,
)
from anon_core.teaching.learn.text.planes import codes_of, places_of, plane, scale
from anon_core.teaching.learn.text.tables import (
    class_bars,
    columns_shown,
    head,
    least_of,
    people_of,
    release_table,
    table,
)
from anon_core.teaching.learn.text.words import (
    listed,
    node_id,
    node_label,
    node_said,
    number_question,
    offered,
    rows_listed,
    rows_said,
    yes_or_no,
)

__all__ = [
    "Levels",
    "all_levels",
    "cells_at",
    "class_bars",
    "codes_of",
    "columns_shown",
    "head",
    "lattice",
    "least_of",
    "listed",
    "node_id",
    "node_label",
    "node_said",
    "number_question",
    "offered",
    "people_of",
    "places_of",
    "plane",
    "release_table",
    "rows_listed",
    "rows_said",
    "scale",
    "table",
    "together_at",
    "value_tree",
    "yes_or_no",
]
