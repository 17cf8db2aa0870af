"""The what-if bar of Results: settings changed where their figures are seen, and the way back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, order_of_use
from anon_core.explain.advice.fixes import Change
from anon_core.explain.text.phrases import says_nothing
from anon_core.explain.text.plan_words import made_by
from ui.components.guard import handled
from ui.forms import draft_sync, run_form
from ui.forms.draft_sync import follow, put
from ui.panels.results import (
    column_level_panel,
    curve_panel,
    history_panel,
    pending_result,
    workspace,
)
from ui.panels.run import fixes_panel
from ui.state import results, state
from ui.state.work import jobs, running, what_if
from ui.state.work.advice_trials import tried_on
from ui.state.work.time_left import duration
from ui.words.escaping import plain

_NAME = "The what-if bar"
_TECHNIQUE = "what-if/technique"
#: Whether the fields show the draft again, whatever was typed in them.
_AS_DRAFTED = "what-if/as-drafted"


def draw() -> None:
    """Draw the bar: the settings, the way back, the runs so far, and what was refused."""
    with st.container(key="what-if-row", horizontal=True, vertical_alignment="bottom"):
        with st.container(key="what-if-fields", horizontal=True, vertical_alignment="bottom"):
            _fields()
            _baseline()
            _run_button()  # last, so that nothing else moves to where it was clicked
        if what_if.settings():
            curve_panel.draw(_label)
        history_panel.draw()
    _said()


#: The block that the bar is drawn in.
BLOCK = {"key": "what-if", "border": True, "gap": "xsmall"}


def drawn_from() -> object:
    """Return what the bar is drawn from, the curve and the runs aside: they are drawn alone."""
    settings = what_if.settings()
    # A field that shows what the draft has stays; what was typed in it is no news.
    fields = [(one.key, draft_sync.shows(one.key, one.value) or object()) for one in settings]
    shown = draft_sync.shows(_TECHNIQUE, what_if.technique().name)
    base, last = results.baseline(), results.last()
    refused = what_if.refused() is not None or running.error() is not None
    silent = last is not None and last.is_silent and results.is_current()
    if not shown or refused or silent or column_level_panel.is_open():
        return object()
    awaited = results.first() is None and running.is_running()
    return fields, None if base is None else base.result, _offers_run(), awaited


def _fields() -> None:
    settings = what_if.settings()
    if st.session_state.pop(_AS_DRAFTED, False):
        for one in settings:
            put(one.key, one.value)
    named = Counter(_label(one) for one in settings)
    close = len(settings) > 2
    # Pixels of a field, so that the bar is one row next to the curve and the runs.
    wide = 76 if len(settings) > 4 else 84 if len(settings) > 3 else 122 if close else 124
    for one in settings:
        label = _label(one)
        more = f"{one.title}: " if one.table == "models" else ""
        label_text = f"{label} ({one.title})" if named[label] > 1 else label
        if one.parameter.name == what_if.BUDGET:
            label_text = "Budget (share)"
        _number(one, label_text, more, wide=wide)
    known = cast(dict[str, type[Algorithm]], family("algorithm"))
    names = sorted(known, key=lambda name: order_of_use(known[name]))
    now = follow(_TECHNIQUE, what_if.technique().name)
    st.selectbox(
        "Technique",
        names,
        index=names.index(now),
        format_func=lambda name: known[name].title,
        key=_TECHNIQUE,
        on_change=_technique,
        width=193 if close else 208,
    )
    column_level_panel.draw()


def _label(one: what_if.Setting) -> str:
    """Return a setting's name: a letter of a formula stays as it is."""
    if one.parameter.name == what_if.BUDGET:
        return "Budget"  # next to a curve and in a button there is no room for more
    name = one.parameter.label or one.parameter.name.replace("_", " ")
    return name[:1].upper() + name[1:] if name[1:2].isalpha() else name


def _number(one: what_if.Setting, label: str, more: str, *, wide: int) -> None:
    parameter = one.parameter
    whole = parameter.kind == "integer"
    note = f"{plain(more + parameter.help)}\n\nAllowed: {plain(parameter.allowed())}."
    value = cast(float, follow(one.key, one.value))
    small = parameter.high is not None and parameter.high <= 1
    step = 1 if whole else 0.01 if small else 0.1
    st.number_input(
        label,
        value=int(value) if whole else float(value),
        step=step,
        format="%d" if whole else "%g",
        key=one.key,
        help=note,
        on_change=_typed,
        args=(one,),
        width=142 if parameter.name == what_if.BUDGET else wide,
    )


def _run_button() -> None:
    last = results.last()
    if last is None or not _offers_run():
        return
    st.button(
        f"Run ({duration(last.took)})",
        key="what-if/run",
        type="primary",
        width="content",
        on_click=handled(_NAME)(pending_result.shown(what_if.go)),
        help="The settings changed since this run. The estimate is the time the last run took.",
    )


def _offers_run() -> bool:
    if results.last() is None or results.is_current() or running.is_running():
        return False
    return what_if.refused() is None and running.error() is None


def _baseline() -> None:
    base = results.baseline()
    if base is None:
        return
    plan = base.result.plan
    settings = ", ".join(part for model in plan.models for part in model.settings())
    st.button(
        "Back to baseline",
        key="back",
        icon=":material/swap_horiz:",
        width="content",
        on_click=handled(_NAME)(pending_result.shown(_back)),
        help=f"The baseline, with which the figures are compared: {plain(made_by(plan))}, "
        f"{plain(settings)}. Its settings come back too, and the present run becomes the baseline.",
    )


def _said() -> None:
    """Draw how far a run is, and what was refused with what is possible as buttons."""
    if results.first() is None:
        jobs.watch(running.JOB, running.has_figures)
    refused = what_if.refused()
    error = refused.error if refused is not None else running.error()
    if running.is_running():
        return
    if error is None:
        _says_nothing()
        return
    with st.container(key="what-if-refused", horizontal=True, vertical_alignment="center"):
        near = refused is not None and refused.setting is not None
        found = [] if near else _changes(error, tried=refused is None)
        # Where a button says the remedy, it is said once.
        mends = bool(found) or (refused is not None and refused.nearest is not None)
        message = error.message if mends else f"{error.message} {error.remedy}".strip()
        st.markdown(
            f":material/warning: {plain(message)} Below: your last release.", width="stretch"
        )
        if refused is not None and near:
            _nearest(refused)
        _buttons(found, tried=refused is None)
        st.button(
            "Keep the settings of this result",
            key="what-if/keep",
            on_click=handled(_NAME)(_keep_shown),
            width="content",
        )
        workspace.look_refused()


def _says_nothing() -> None:
    """Draw that a release says nothing, with what was found to say something as buttons."""
    result = results.last()
    if result is None or not result.is_silent or not results.is_current():
        return
    with st.container(key="what-if-silent", horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/warning: {plain(says_nothing(result))}", width="stretch")
        _buttons(running.says_more(), tried=True)


def _nearest(refused: what_if.Refused) -> None:
    setting = refused.setting
    if setting is None or refused.nearest is None:
        return
    st.button(
        f"Set {_label(setting)} = {refused.nearest:g}",
        key="what-if/nearest",
        type="primary",
        width="content",
        on_click=handled(_NAME)(pending_result.shown(what_if.change)),
        args=(setting, refused.nearest),
    )


def _changes(error: AnonError, *, tried: bool) -> Sequence[Change]:
    """Return what would make a run possible: tried after it failed, else worked out."""
    last = results.last()
    other = last is not None and last.plan.algorithm.name != what_if.technique().name
    return running.helps() if tried else fixes_panel.making_a_plan(error, keeps_technique=other)


def _buttons(found: Sequence[Change], *, tried: bool) -> None:
    for place, change in enumerate(found[:3]):
        st.button(
            plain(change.label),
            key=f"what-if/fix-{place}",
            width="content",
            on_click=handled(_NAME)(pending_result.shown(_mend)),
            args=(change,),
            help=f"{change.note} It was tried on {tried_on()}.".strip() if tried else None,
        )


@handled(_NAME)
@pending_result.shown
def _typed(setting: what_if.Setting) -> None:
    value = st.session_state.get(setting.key)
    if value is not None:
        what_if.change(setting, value)


@handled(_NAME)
@pending_result.shown
def _technique() -> None:
    name = str(st.session_state[_TECHNIQUE])
    known = cast(dict[str, type[Algorithm]], family("algorithm"))
    given = run_form.switched(known[name], state.draft()["algorithm"])
    named, result = known[name].needs.levels_parameter, results.last()
    if named and result is not None and result.account.node is not None:
        given = {**given, named: dict(result.account.node)}  # what is seen is gone on from
    what_if.change_technique(name, given)


def _mend(change: Change) -> None:
    what_if.mend(change)
    what_if.go()


def _keep_shown() -> None:
    what_if.keep_shown()
    # What was typed and refused never reached the draft, so its field has nothing to follow.
    st.session_state[_AS_DRAFTED] = True
    st.rerun()  # the whole page: what was refused is said in more than one place


def _back() -> None:
    base = results.baseline()
    if base is not None:
        what_if.restore(base)
