"""Values that no level table has, where the recipe says what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.verification.cells import TextTable
from anon_core.verification.findings import Check, many
from anon_core.verification.tables import Promise, section
from anon_core.verification.texts import EVERYTHING, read_private_column

Levels = Mapping[str, Sequence[Sequence[str]]]


def with_unseen(
    recipe: Mapping[str, Any], promise: Promise, private: TextTable, levels: Levels
) -> tuple[TextTable, Levels, tuple[Check, ...]]:
    """Return the private table without rows that hold such values, or level tables that know them.

    Also a sentence on the rows that are left out, where some are.

    Raises
    ------
    BadPlan
        If the recipe says something else of them, or numbers and dates are to be the top.
    """
    told = section(recipe, "reuse").get("unseen", "fail")
    if told not in ("fail", "top", "suppress"):
        raise BadPlan("The recipe's unseen is none of its words.", remedy="Correct [reuse].")
    if told == "fail":
        return private, levels, ()
    widened = dict(levels)
    unknown = np.zeros(len(private), dtype=np.bool_)
    for name in (*promise.quasi, *section(recipe, "sensitive_levels")):
        if not levels.get(name) or name not in private.names:
            continue
        column = read_private_column(
            private.column(name),
            promise.kinds.get(name),
            promise.missing_of(name),
            kept=promise.kept.get(name, ()),
            neutralised=False,
            ordered=False,
        )
        listed = {column.spelling.key(line[0].strip()) for line in levels[name] if line}
        new = [code for code, key in enumerate(column.keys) if key not in listed]
        if not new or len(new) == len(column.keys):
            continue
        unknown |= np.isin(column.codes, new)
        if told == "suppress":
            continue
        if column.spelling.measured:
            raise BadPlan(
                f"Values of '{name}' are in no level table and cannot be published as its top.",
                remedy="Use the level tables the release was made with.",
            )
        width = max(len(levels[name][0]), 2)
        top = levels[name][0][-1].strip() if len(levels[name][0]) > 1 else EVERYTHING
        own = [line if len(line) > 1 else [*line, EVERYTHING] for line in levels[name]]
        more = [[str(column.keys[code]), *[top] * (width - 1)] for code in new]
        widened[name] = [*own, *more]
    rows = int(np.count_nonzero(unknown))
    if not rows:
        return private, widened, ()
    one = rows == 1
    what = f"{'is' if one else 'are'} left out"
    if told == "top":
        what = f"that value is published as the top of {'its' if one else 'their'} hierarchy"
    check = Check(
        name="unseen",
        holds=True,
        bound=float(len(private)),
        reached=float(rows),
        sentence=f"{many(rows, 'row', 'holds', 'hold')} a value that no hierarchy has, and {what}, "
        "as the recipe says.",
    )
    return private if told == "top" else private.kept(~unknown), widened, (check,)
