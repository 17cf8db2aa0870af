"""One step of "what if?": a setting of the draft changed, and what it comes to shown at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import streamlit as st

from anon_core.base.errors import AnonError, BadPlan
from anon_core.base.params import Parameter
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, by_levels
from anon_core.data.roles.roles import Roles
from anon_core.explain.advice.fixes import Change
from ui.state import results, state
from ui.state.work import running

#: Seconds that the last run may have taken for a change to start the next one at once.
AT_ONCE = 2.0
#: The parameter that says how many rows a technique may suppress.
BUDGET = "max_suppression"
_REFUSED = "what_if/refused"
_LAST = "what_if/last"
_LEFT_OUT = "what_if/left_out"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A number of the draft that the bar changes.

    Attributes
    ----------
    table : str
        ``models`` or ``algorithm``.
    place : int
        Which of the models; 0 for the technique.
    owner : str
        Name of the model or technique.
    title : str
        Its title for people.
    parameter : Parameter
    value : object
        As the draft has it.
    """

    table: str
    place: int
    owner: str
    title: str
    parameter: Parameter
    value: object

    @property
    def key(self) -> str:
        """The widget's."""
        return f"what-if/{self.table}/{self.place}/{self.owner}/{self.parameter.name}"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """What was asked for and is not done, and what would be.

    Attributes
    ----------
    error : AnonError
    setting : Setting or None
        The field it was typed in; None where the plan as a whole is refused.
    nearest : int, float or None
        The allowed value next to the one that was typed.
    """

    error: AnonError
    setting: Setting | None = None
    nearest: float | None = None


def settings() -> list[Setting]:
    """Return the numbers of the privacy models in force, and the suppression budget."""
    draft = state.draft()
    found: list[Setting] = []
    known = family("model")
    for place, table in enumerate(cast(list[dict[str, Any]], draft["models"])):
        model = known.get(str(table["name"]))
        if model is None:
            continue
        for parameter in model.parameters():
            value = table.get(parameter.name, parameter.default)
            usual = parameter.quiet and value == parameter.default
            if parameter.kind in ("integer", "number") and not usual:
                found.append(
                    Setting(
                        table="models", place=place, owner=model.name, title=model.title,
                        parameter=parameter, value=value,
                    )
                )  # fmt: skip
    algorithm = technique()
    for parameter in algorithm.parameters():
        if parameter.name == BUDGET:
            value = draft["algorithm"].get(BUDGET, parameter.default)
            found.append(
                Setting(
                    table="algorithm", place=0, owner=algorithm.name, title=algorithm.title,
                    parameter=parameter, value=value,
                )
            )  # fmt: skip
    return found


def technique() -> type[Algorithm]:
    """Return the technique of the draft."""
    known = cast(dict[str, type[Algorithm]], family("algorithm"))
    return known[str(state.draft()["algorithm"]["name"])]


def change(setting: Setting, value: object) -> None:
    """Change one number, and show what it comes to; a value that is not allowed changes nothing."""
    parameter = setting.parameter
    forget()
    st.session_state[_LAST] = setting.key
    try:
        accepted = parameter.plain(parameter.accept(value, setting.owner))
    except BadPlan as error:
        refused = Refused(error=error, setting=setting, nearest=_nearest(parameter, value))
        st.session_state[_REFUSED] = refused
        return
    draft = state.draft()
    if setting.table == "models":
        models = cast(list[dict[str, Any]], draft["models"])
        models[setting.place][parameter.name] = accepted
        state.update_draft(models=models)
    else:
        state.update_draft(algorithm={**draft["algorithm"], parameter.name: accepted})
    follow_up()


def changed_last() -> str:
    """Return the key of the setting that was changed last; empty before one was."""
    return str(st.session_state.get(_LAST, ""))


def change_technique(name: str, given: dict[str, Any]) -> None:
    """Take another technique with its settings, and show what it comes to."""
    forget()
    state.update_draft(algorithm={"name": name, **given})
    follow_up()


def publish_at(column: str, level: int) -> None:
    """Publish a column at another level and the others as they are, and show what it comes to.

    The technique is then the one that publishes every column at a level that is named.
    """
    result = results.last()
    if result is None or result.account.node is None:
        return
    forget()
    budget = float(cast(float, result.plan.algorithm.as_mapping().get(BUDGET, 0.0)))
    levels = {**result.account.node, column: level}
    state.update_draft(algorithm=by_levels(levels, budget))
    follow_up()


def keep_within(column: str, ends: dict[str, int]) -> None:
    """Bound the level that a search chooses for a column, and show what it comes to."""
    forget()
    others = {n: e for n, e in state.draft().get("level_bounds", {}).items() if n != column}
    state.update_draft(level_bounds={**others, column: ends} if ends else others)
    follow_up()


def attack_with(attacks: Sequence[dict[str, Any]], people: dict[str, Any]) -> None:
    """Take other settings of attackers and another population, and show what it comes to."""
    forget()
    state.update_draft(attacks=list(attacks), population=people)
    follow_up()


def leave_out(column: str) -> None:
    """Leave a quasi-identifier out of the release, and show what it comes to."""
    forget()
    _without(column)
    follow_up()


def put_back(column: str) -> None:
    """Publish a column again that was left out here, and show what it comes to."""
    roles, data = state.roles(), state.dataset()
    order = (*roles.quasi, column) if data is None else data.names
    quasi = tuple(n for n in order if n in roles.quasi or n == column)
    forget()
    _take_roles(replace(roles, quasi=quasi), [n for n in state.left_out() if n != column])
    follow_up()


def left_out_here() -> list[str]:
    """Return the quasi-identifiers that were left out here, and still are."""
    gone = state.left_out()
    return [n for n in _own_left_out() if n in gone]


def _own_left_out() -> list[str]:
    return list(st.session_state.get(_LEFT_OUT, []))


def _without(column: str) -> None:
    """Leave a quasi-identifier out, and remember that it was left out here."""
    roles = state.roles()
    _take_roles(
        replace(roles, quasi=tuple(n for n in roles.quasi if n != column)),
        (*state.left_out(), column),
    )
    st.session_state[_LEFT_OUT] = [*_own_left_out(), column]


def _take_roles(roles: Roles, gone: Sequence[str]) -> None:
    """Take other roles; levels that a technique names go with the columns that they are of."""
    algorithm = state.draft()["algorithm"]
    named = technique().needs.levels_parameter
    with state.one_change():
        state.set_roles(roles, gone)
        if named and named in algorithm:
            kept = {n: level for n, level in algorithm[named].items() if n in roles.quasi}
            state.update_draft(algorithm={**algorithm, named: kept})


def mend(change: Change) -> None:
    """Make a change of the plan that was found to help; what stopped the last run is settled."""
    running.forget_error()
    if change.leaves_out:
        _without(change.leaves_out)
    else:
        state.update_draft(**change.tables)


def follow_up() -> None:
    """Show what the draft comes to at once where that is quick, or where it is known already."""
    last = results.last()
    known = results.of_choices(state.fingerprint()) is not None
    if known or last is None or last.took < AT_ONCE:
        go()


def go() -> None:
    """Show what the draft comes to; a plan that is refused is said in the bar."""
    forget()
    try:
        running.go()
    except AnonError as error:
        st.session_state[_REFUSED] = Refused(error=error)


def keep_shown() -> None:
    """Go back to the settings of the result that is shown."""
    forget()
    running.forget_error()
    made_of = results.made_of()
    if made_of is not None:
        state.set_choices(made_of["choices"])


def restore(kept: results.Kept) -> None:
    """Show a run of this session again, with its settings."""
    forget()
    running.stop()
    running.forget_error()
    results.restore(kept)


def step(by: Literal[-1, 1]) -> None:
    """Undo or redo: show what was shown before or after, with its settings."""
    forget()
    if by < 0 and not results.is_current():  # what was changed since the result is undone first
        running.stop()
        keep_shown()
        return
    made = results.step(by)
    if made is None:
        return
    kept = results.of_choices(made["fingerprint"])
    if kept is not None:
        restore(kept)
        return
    running.forget_error()
    state.set_choices(made["choices"])
    go()


def can_step(by: Literal[-1, 1]) -> bool:
    """Say whether there is anything to undo or redo."""
    return results.can_step(by) or (by < 0 and not results.is_current())


def refused() -> Refused | None:
    """Return what was refused since the last change."""
    return st.session_state.get(_REFUSED)


def forget() -> None:
    """Forget what was refused."""
    st.session_state.pop(_REFUSED, None)


def _nearest(parameter: Parameter, value: object) -> float | None:
    """Return the allowed number next to one beyond the range; None where there is none."""
    if not isinstance(value, int | float):
        return None
    for bound in (parameter.low, parameter.high):
        beyond = bound is not None and (value < bound) == (bound is parameter.low)
        if beyond and bound is not None:
            return int(bound) if parameter.kind == "integer" else float(bound)
    return None
