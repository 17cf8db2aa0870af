"""The runs of this session on this table, as dots and as a list: choosing one restores it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from weakref import WeakKeyDictionary

import streamlit as st

from anon_core.explain.answers.differences import plan_differences
from anon_core.explain.text.plan_words import made_by
from anon_core.explain.text.tiles import tiles
from anon_core.pipeline.result import Result
from ui.charts.chart_frame import palette, selected
from ui.charts.run_series import HEIGHT, PICKED, history_frame, history_spec, of_result
from ui.components.guard import handled
from ui.panels.results import pending_result
from ui.state import results
from ui.state.work import what_if
from ui.state.work.fragments import alone
from ui.words.escaping import plain

_NAME = "The runs so far"
_LIST = "history/list"
#: Which way, its icon, its word, and its keys.
_STEPS: tuple[tuple[Literal[-1, 1], str, str, str], ...] = (
    (-1, "undo", "Undo", "Alt+Z"),
    (1, "redo", "Redo", "Alt+Shift+Z"),
)
_DOTS = "history/dots"
#: Settings in which runs differ that are named behind what they have in common.
_TOLD = 2
#: Loss and worst chance of the runs that are held: all of them are drawn with each change.
_FIGURES: WeakKeyDictionary[Result, tuple[float | None, float | None]] = WeakKeyDictionary()


def draw() -> None:
    """Draw the runs that the session keeps."""
    alone(_NAME, _drawn, key="history-alone", tells="verdict", block=lambda: {"key": "history"})


def _drawn() -> None:
    kept = _runs()
    names = names_of([one.result for one in kept])
    _dots(kept, names)
    _steps()
    _list(kept, names)


def _steps() -> None:
    """Draw undo, redo, and what holds the baseline."""
    for by, icon, word, keys in _STEPS:
        st.button(
            word,
            icon=f":material/{icon}:",
            key=f"what-if/{icon}",
            shortcut=keys,
            width="content",
            disabled=not what_if.can_step(by),
            on_click=handled(_NAME)(pending_result.shown(what_if.step)),
            args=(by,),
            help=f"{word} ({keys}): show the run {'before' if by < 0 else 'after'} this one "
            "again, with its settings.",
        )
    pinned = results.is_baseline_pinned()
    result = results.shown()
    st.button(
        "Unset baseline" if pinned else "Set baseline",
        key="what-if/pin-a",
        width="content",
        disabled=result is None or result.pending,
        on_click=handled(_NAME)(
            pending_result.shown(results.unpin_baseline if pinned else results.pin_baseline)
        ),
        help="The figures are compared with this run until you unset it."
        if not pinned
        else "The baseline is then again the run that you looked at before.",
    )


def _list(kept: list[results.Kept], names: list[str]) -> None:
    now = next((i for i, one in enumerate(kept) if one.result is results.shown()), None)
    st.session_state[_LIST] = now
    place = "Runs" if now is None else f"Run {now + 1} of {len(kept)}"
    with st.popover(place, key="history-list", width="stretch"):
        st.radio(
            "Runs so far",
            range(len(kept)),
            index=now,
            format_func=lambda at: f"{at + 1} · {plain(names[at])}",
            key=_LIST,
            on_change=handled(_NAME)(pending_result.shown(_listed)),
        )


def names_of(kept: Sequence[Result]) -> list[str]:
    """Return the settings of runs in a few words, and where these are alike, what differs."""
    names = [name_of(one) for one in kept]
    same: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        same.setdefault(name, []).append(at)
    for first, *others in same.values():
        found = {at: plan_differences(kept[first].plan, kept[at].plan) for at in others}
        before = {d.what: d.before for own in found.values() for d in own}
        for at in (first, *others) if before else ():
            now = before | {d.what: d.now for d in found.get(at, ())}
            names[at] += "".join(
                f" · {what}: {'–' if said is None else said}"
                for what, said in list(now.items())[:_TOLD]
            )
    return names


def name_of(result: Result) -> str:
    """Return the settings of a run in a few words."""
    settings = ", ".join(part for model in result.plan.models for part in model.settings())
    return f"{settings} · {made_by(result.plan)}" if settings else made_by(result.plan)


def _dots(kept: list[results.Kept], names: list[str]) -> None:
    base, shown = results.baseline(), results.shown()
    signs = [
        "now" if one.result is shown else "baseline" if base and one.result is base.result
        else "run"
        for one in kept
    ]  # fmt: skip
    figures = [_figures(one.result) for one in kept]
    frame = history_frame(figures, names, signs, id(results.last()))
    if not frame.num_rows:
        return
    colours = palette()
    now = colours.quasi if shown is None else of_result(shown, colours).colour
    st.vega_lite_chart(
        frame,
        dict(history_spec(colours, now)),
        key=_DOTS,
        on_select=handled(_NAME)(pending_result.shown(_clicked)),
        selection_mode=PICKED,
        theme=None,
        width="stretch",
        height=HEIGHT,
        alt="The runs so far: loss to the right, worst chance upwards",
    )


def _figures(result: Result) -> tuple[float | None, float | None]:
    if result not in _FIGURES:
        chance, _, loss = tiles(result)
        _FIGURES[result] = loss.value, chance.value
    return _FIGURES[result]


def _runs() -> list[results.Kept]:
    """Return the runs, with the one whose first figures are shown at the end."""
    first = results.first()
    return [*results.runs(), *([] if first is None else [first])]


def _listed() -> None:
    at = st.session_state.get(_LIST)
    if at is not None:
        _restore(int(at))


def _clicked() -> None:
    picked = selected(_DOTS, PICKED)
    if picked:
        _restore(int(picked[0][PICKED]))


def _restore(at: int) -> None:
    kept = results.runs()
    if at < len(kept) and kept[at].result is not results.shown():
        what_if.restore(kept[at])
