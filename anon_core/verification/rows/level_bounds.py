"""Does every column stand between the lowest and the highest level that the recipe allows?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.findings import Check, many, named, undecided
from anon_core.verification.rows.lines import Lines
from anon_core.verification.rows.tables import PrivateTable, Promise, section
from anon_core.verification.text.texts import on_levels


def bounds_of(
    recipe: Mapping[str, Any], quasi: tuple[str, ...]
) -> dict[str, tuple[int, int | None]]:
    """Return lowest and highest level by column; None where the highest is open.

    Raises
    ------
    BadPlan
        If the recipe's [level_bounds] is not what it should be.
    """
    found: dict[str, tuple[int, int | None]] = {}
    for name, told in section(recipe, "level_bounds").items():
        ends = cast(Mapping[str, object], told) if isinstance(told, Mapping) else {}
        least, most = ends.get("least", 0), ends.get("most")
        whole = all(
            isinstance(end, int) and not isinstance(end, bool) and end >= 0
            for end in (least, 0 if most is None else most)
        )
        if name not in quasi or not ends or set(ends) - {"least", "most"} or not whole:
            raise BadPlan(
                "The recipe's [level_bounds] holds something other than levels of "
                "quasi-identifiers.",
                remedy="Write column = { least = 1, most = 2 }.",
            )
        found[name] = (cast(int, least), cast("int | None", most))
    return found


def check_level_bounds(
    bounds: Mapping[str, tuple[int, int | None]],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
) -> Check:
    """Check that each text of a bounded column is a label of a level within its bounds."""
    if not release.has(promise.quasi):
        return undecided("level-bounds", "Levels of columns cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    beyond: list[str] = []
    for name, (least, most) in bounds.items():
        column, texts = table.columns[name], release.texts_of(name)
        leaves, labels = table.level_sets(name)
        highest = len(labels) if most is None else most
        odd = np.array(
            [
                not any(
                    least <= level <= highest
                    # A missing value is itself on every level below the top.
                    for level in (
                        on_levels(column, leaves, labels, text) if text else range(len(labels))
                    )
                )
                for text in texts
            ],
            dtype=np.bool_,
        )
        if odd.any():
            wrong |= odd[release.codes_of(name)]
            beyond.append(name)
    found = release.rows_of(wrong)
    return Check(
        name="level-bounds",
        holds=not beyond,
        column=beyond[0] if beyond else "",
        rows=found.first,
        sentence=f"Column {listing(beyond)} shows levels beyond the lowest or highest that the "
        f"recipe allows, in {many(len(found), 'row')} {named(found)}."
        if beyond
        else f"Column {listing(bounds)}: every cell is at an allowed level.",
    )
