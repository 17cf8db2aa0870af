"""Sensitive columns that the recipe publishes at a level: the private table as it then reads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.verification.cells import Cells, TextTable, narrow
from anon_core.verification.tables import Promise, section
from anon_core.verification.texts import read_private_column

Levels = Mapping[str, Sequence[Sequence[str]]]
#: Most choices of levels that a release is held against.
_MOST_CHOICES = 1000


def at_each_level(recipe: Mapping[str, Any], levels: Levels) -> Iterator[Mapping[str, Any]]:
    """Return the recipe with each choice of the levels that it leaves open, the least first.

    Raises
    ------
    BadPlan
        If there are too many to try.
    """
    named = section(recipe, "sensitive_levels")
    open_ = [name for name, level in named.items() if level == "search"]
    heights = [
        min((max(len(line), 2) for line in levels.get(n, ()) if line), default=1) for n in open_
    ]
    if math.prod(heights) > _MOST_CHOICES:
        raise BadPlan(
            "The recipe leaves too many levels of sensitive columns open.",
            remedy="Use the recipe that the run has written, which names them.",
        )
    if not open_:
        yield recipe
        return
    choices = itertools.product(*(range(height) for height in heights))
    for chosen in sorted(choices, key=sum):
        told = {**named, **dict(zip(open_, chosen, strict=True))}
        yield {**recipe, "sensitive_levels": {n: v for n, v in told.items() if n not in open_ or v}}


def at_levels(
    recipe: Mapping[str, Any], promise: Promise, private: TextTable, levels: Levels
) -> tuple[Promise, TextTable, Levels]:
    """Return the promise, the private table and the level tables of what is to be published.

    Each value of such a column gives way to its line's label at that level, as a text; what lies
    below is gone from its level table. A missing value stays missing.

    Raises
    ------
    BadPlan
        If the recipe names no level of a sensitive column's own level table, or it lacks a value.
    """
    named = section(recipe, "sensitive_levels")
    if not named:
        return promise, private, levels
    shown, kinds, above = dict[str, Cells](), dict(promise.kinds), dict(levels)
    for name, level in named.items():
        lines = [[cell.strip() for cell in line] for line in levels.get(name, ()) if line]
        if name not in promise.sensitive or name in promise.quasi:
            raise BadPlan(
                "The recipe's sensitive_levels names a column that is not sensitive only.",
                remedy="Correct the recipe's roles.",
            )
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise BadPlan(
                "The recipe's sensitive_levels holds something other than levels from 1 up.",
                remedy="Write column = 1.",
            )
        # A single column of values has '*' above it.
        lines = [line if len(line) > 1 else [*line, "*"] for line in lines]
        if not lines or level >= min(map(len, lines)):
            raise BadPlan(
                f"The level table of '{name}' has no level {level}.",
                remedy="Use the level tables the release was made with.",
            )
        column = read_private_column(
            private.column(name),
            promise.kinds.get(name),
            promise.missing_of(name),
            kept=promise.kept.get(name, ()),
            neutralised=False,
            ordered=False,
        )
        label = dict[int, str]()
        for line in lines:
            label.setdefault(column.code_of_text(line[0]), line[level])
        label.pop(column.missing, None)
        if any(code not in label for code in range(len(column.keys))):
            raise BadPlan(
                f"The level table of '{name}' lacks values of the table.",
                remedy="Use the level tables the release was made with.",
            )
        code_of: dict[str, int] = {}
        new = [code_of.setdefault(label[c], len(code_of)) for c in range(len(column.keys))]
        codes = np.array([*new, -1], dtype=np.int64)[column.codes]
        shown[name] = Cells(codes=narrow(codes, len(code_of)), texts=list(code_of))
        kinds[name] = "text"
        above[name] = [list(line) for line in dict.fromkeys(tuple(line[level:]) for line in lines)]
    return replace(promise, kinds=kinds), private.replaced(shown), above
