"""What one parameter would do over its range: searched in the background, never recomputed.

Before a value is chosen its loss, its worst chance and the rows it suppresses are seen. The work
yields to every run that is asked for, and what it found of a value spares that run its search.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled
from anon_core.explain.text.tiles import tiles
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import foresee
from anon_core.recipe.plan import Plan
from ui.state import results, state
from ui.state.work import background_points, jobs, running, what_if
from ui.state.work.background_points import Curve, Point

JOB = jobs.BACKGROUND
BUDGET = what_if.BUDGET
#: Values of a parameter that are looked at.
MOST = 15
#: Rows of a table up to which what was found of a value is kept for its run.
_MOST_KEPT_ROWS = 200_000
_ASKED = "curve/asked"
#: Hashes of the parameters, by what they were made of.
_KEYS = "curve/keys"
#: Shares of rows that a budget is tried at.
_BUDGETS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5)


def setting() -> what_if.Setting | None:
    """Return the parameter that was changed last; the first one before any was."""
    known = what_if.settings()
    last = what_if.changed_last()
    return next((one for one in known if one.key == last), known[0] if known else None)


def values(of: what_if.Setting, before: float | None = None) -> list[float]:
    """Return the values that are looked at, from the present one outwards.

    Parameters
    ----------
    of : Setting
    before : float or None
        The value in the baseline, which is one of them.
    """
    now, parameter = float(cast(float, of.value)), of.parameter
    low = -float("inf") if parameter.low is None else float(parameter.low)
    high = float("inf") if parameter.high is None else float(parameter.high)
    if parameter.name == BUDGET:
        found = set(_BUDGETS)
    elif parameter.kind == "integer":
        last = results.last()
        rows = math.inf if last is None or of.table != "models" else float(last.problem.rows)
        top = min(max(50.0, 4 * now), high, max(rows, now))
        ratio = (top / max(low, 1.0)) ** (1 / (MOST - 1))
        found = {float(round(max(low, 1.0) * ratio**step)) for step in range(MOST)}
    elif high <= 1:
        found = {round(low + (high - low) * step / (MOST - 1), 4) for step in range(MOST)}
    else:
        found = {round(now * 4 ** (step / 7 - 1), 3) for step in range(MOST)}
    found |= {now} if before is None else {now, before}
    allowed = {value for value in found if low <= value <= high and _accepted(of, value)}

    def away(value: float) -> float:
        ratio = logarithmic(of) and value > 0 and now > 0
        return abs(math.log(value / now)) if ratio else abs(value - now)

    return sorted(allowed, key=lambda value: (away(value), value))


def of(one: what_if.Setting) -> Curve:
    """Return the curve of a parameter as far as it is known."""
    return background_points.curve(_key(one))


def logarithmic(one: what_if.Setting) -> bool:
    """Say whether a parameter's values are looked at in equal ratios."""
    parameter = one.parameter
    beyond = parameter.high is None or parameter.high > 1
    return beyond and (parameter.low is None or parameter.low >= 0) and parameter.name != BUDGET


def missing(one: what_if.Setting, before: float | None = None) -> list[float]:
    """Return the values of which nothing is known yet."""
    known = of(one).points
    return [value for value in values(one, before) if value not in known]


def is_running() -> bool:
    """Say whether values are being looked at."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def at_once() -> bool:
    """Say whether the curve is drawn without being asked for: the last run was quick."""
    last = results.last()
    return last is not None and last.took < what_if.AT_ONCE


def ask() -> None:
    """Look at the values now, though a run takes its time."""
    st.session_state[_ASKED] = True


def is_asked() -> bool:
    """Say whether someone asked to look at the values now."""
    return bool(st.session_state.get(_ASKED))


def begin(one: what_if.Setting, before: float | None = None) -> None:
    """Look at what is not known yet, unless a run is under way or each would take long."""
    asked = is_asked()
    st.session_state[_ASKED] = False
    if is_running() or running.is_running() or not results.is_current():
        return
    wanted = missing(one, before)
    if not wanted or not (asked or at_once()):
        return
    curve, recipe = of(one), state.recipe()
    try:
        plan = state.plan()
        table, people = running.inputs(plan)
        released = running.earlier(plan)
    except AnonError:  # the bar says why no run of it is possible
        return
    levels = {n: rows for n, rows in state.levels().items() if n in plan.hierarchies}
    fit, keeps = running.encoding(table, people), table.rows <= _MOST_KEPT_ROWS

    def search(value: float, context: Context) -> None:
        given = with_value(recipe, one, value)
        try:
            found = foresee(
                Plan.from_mapping(given),
                table,
                levels,
                population=people,
                earlier=released,
                context=context,
                fit=fit,
            )
        except Cancelled:
            raise
        except AnonError:
            curve.points[value] = Point(value=value)
            return
        curve.points[value] = point(value, found)
        if keeps:
            curve.found[value] = found

    needs = (plan.algorithm.name,)
    work = _each(wanted, search)
    jobs.start(JOB, "Looking ahead", work, needs=needs, awaited=False, limited=False)


def point(value: float, result: Result) -> Point:
    """Return what a result comes to as a point of a curve."""
    chance, _, loss = tiles(result)
    return Point(
        value=value,
        loss=loss.value,
        chance=chance.value,
        suppressed=result.release.suppressed,
        classes=len(result.class_sizes),
        rows=result.problem.rows,
    )


def with_value(recipe: dict[str, Any], one: what_if.Setting, value: float) -> dict[str, Any]:
    """Return a recipe with another value of a parameter."""
    made = copy.deepcopy(recipe)
    table = made["models"][one.place] if one.table == "models" else made["algorithm"]
    table[one.parameter.name] = int(value) if one.parameter.kind == "integer" else value
    return made


def _each(wanted: Sequence[float], search: Callable[[float, Context], None]) -> jobs.Work:
    def work(context: Context) -> None:
        for value in wanted:
            context.check()
            search(value, context)

    return work


def _key(one: what_if.Setting) -> str:
    """Return a hash of the table and of all that is chosen but this parameter's value.

    A drawing asks for it several times, and what is chosen is replaced, never edited.
    """
    chosen, table = state.choices(), state.dataset()
    kept = cast(tuple[object, object, dict[str, str]] | None, st.session_state.get(_KEYS))
    if kept is None or kept[0] is not chosen or kept[1] is not table:
        kept = st.session_state[_KEYS] = (chosen, table, {})
    if one.key not in kept[2]:
        kept[2][one.key] = _hash(one)
    return kept[2][one.key]


def _hash(one: what_if.Setting) -> str:
    rest = with_value(state.recipe(), one, 0)
    table = state.dataset()
    levels = {name: state.level_fingerprint(name) for name in state.levels()}
    parts = [one.key, rest, levels, "" if table is None else table.fingerprint]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _accepted(one: what_if.Setting, value: float) -> bool:
    try:
        one.parameter.accept(int(value) if one.parameter.kind == "integer" else value, one.owner)
    except AnonError:
        return False
    return True
