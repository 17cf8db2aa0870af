"""Round groups instead of ranges that end at someone's own value: the choices for it, at once."""

from __future__ import annotations

from anon_core.pipeline.measure.cautions import ends_of_few
from anon_core.pipeline.result import Result
from ui.state import many_hierarchies, state


def columns(result: Result) -> tuple[str, ...]:
    """Return the columns of a result whose ranges end at real values of too few people."""
    found = state.once(
        "round-ends", result, lambda: tuple(ends_of_few(result.plan, result.release))
    )
    return tuple(found)


def can_round(result: Result) -> bool:
    """Say whether the technique has settings with which it publishes groups of hierarchies.

    Such groups may overlap. Where one person has several rows, no one could then tell from the
    release whose rows a class has, and it would not verify.
    """
    return bool(result.plan.algorithm.shape.rounded) and not result.plan.roles.unit


def choose(result: Result) -> tuple[str, ...]:
    """Choose round groups for these columns; return those that were given a hierarchy.

    Columns without a hierarchy get the best proposal; the technique is set to publish groups. The
    next run does it, and one undo takes all of it back.
    """
    named = columns(result)
    bare = tuple(name for name in named if name not in state.levels())
    with state.one_change():
        if bare:
            many_hierarchies.propose(bare)
        settings = {**state.draft()["algorithm"], **result.plan.algorithm.shape.rounded}
        state.update_draft(algorithm=settings)
    return tuple(name for name in bare if name in state.levels())
