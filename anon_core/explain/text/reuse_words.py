"""A decided recipe on another table, in plain words: what is carried out, and how it came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.registry import find
from anon_core.recipe.plan import Plan

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result
    from anon_core.recipe.reuse import Gate

_UNSEEN = {
    "fail": "A value that no hierarchy has stops the run.",
    "top": "Values that no hierarchy has are published as the top of theirs.",
    "suppress": "Rows with a value that is in no hierarchy are left out, and reported.",
}


def decided_levels(plan: Plan) -> dict[str, int]:
    """Return the level of each column that a recipe decides; empty where it decides none."""
    parameter = plan.algorithm.levels_parameter
    if plan.reuse.mode != "fixed" or not parameter:
        return {}
    return dict(cast(Mapping[str, int], getattr(plan.algorithm, parameter)))


def reused(plan: Plan) -> list[str]:
    """Return what a decided recipe does on a table, in sentences; none for other recipes."""
    if plan.reuse.mode != "fixed":
        return []
    levels = decided_levels(plan)
    named = ", ".join(f"{name} {level}" for name, level in levels.items())
    drawn = "Random choices are drawn again." if plan.draws else ""
    what = f"Decided levels, not searched: {named}."
    if plan.algorithm.carries_out_parts:
        what = "Decided parts, not searched: those of the earlier release."
    found = [what, _UNSEEN[plan.reuse.unseen], drawn]
    return [sentence for sentence in found if sentence]


def asked(gate: Gate) -> str:
    """Return what a gate asks for."""
    if gate.kind == "rows":
        return f"At least {gate.least:.4g} of the table's rows are published"
    limit = f"at least {gate.least:g}" if gate.least is not None else f"at most {gate.most:g}"
    at = "" if gate.kind == "metric" else ", at worst" if gate.at == "worst" else ", on average"
    return f"{find(cast(Any, gate.kind), gate.name).title}{at}: {limit}"


def gates(plan: Plan, result: Result) -> list[tuple[str, float | None, bool]]:
    """Return every gate of a plan: what it asks for, the figure, and whether a result passes it.

    The figure that is nearest to a miss; None where nothing was measured, which is a miss.
    """
    found: list[tuple[str, float | None, bool]] = []
    for gate in plan.accept:
        figures = gate.figures(result.reached)
        worst = None
        if figures:
            worst = min(figures) if gate.least is not None else max(figures)
        found.append((asked(gate), worst, not gate.broken_by(result.reached)))
    return found
