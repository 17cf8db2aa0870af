"""Gates of a recipe that the published rows alone decide; figures of a run are measured there."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from anon_core.verification.findings import Check

#: The name of their checks.
GATES = "accept"


def check_gates(recipe: Mapping[str, Any], published: int, rows: int) -> list[Check]:
    """Check the share of the table's rows that is published against the recipe's [[accept]].

    Parameters
    ----------
    recipe : mapping
    published, rows : int
        Rows of the release, and of the table as it was read.
    """
    gates = recipe.get("accept", [])
    found: list[Check] = []
    for gate in cast(list[object], gates) if isinstance(gates, list) else []:
        least = cast(Mapping[str, Any], gate).get("rows") if isinstance(gate, Mapping) else None
        if isinstance(least, bool) or not isinstance(least, int | float):
            continue
        share = Fraction(published, max(rows, 1))
        holds = share >= Fraction(str(least))
        found.append(
            Check(
                name=GATES,
                holds=holds,
                bound=float(least),
                reached=float(share),
                sentence=f"{published} of the table's {rows} rows are published ({float(share):.2%}"
                f"); the gate of the recipe asks for {float(least):.2%}.",
            )
        )
    return found
