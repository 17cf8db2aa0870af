"""Results in one window: three figures, the what-if bar, and four panels; the rest in drawers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TypeVar

import streamlit as st

from anon_core.base.registry import family
from anon_core.base.terms import PRIVACY_MODELS, in_figures
from anon_core.contracts.model import PrivacyModel
from anon_core.explain.text.plan_words import made_by
from anon_core.explain.text.tiles import covered_by
from anon_core.pipeline.result import Result
from ui.charts import run_series
from ui.charts.chart_frame import Palette, Series, kept, palette, show
from ui.charts.class_plots import held_chart, most_different, sensitive_chart
from ui.charts.metric_plots import column_heat, metric_names, title_of, what_is_lost
from ui.charts.verdict_plot import verdict_chart, verdicts_by_class
from ui.components.guard import handled, panel, show_error
from ui.panels import panel_head
from ui.panels.page_frame import next_step, page
from ui.panels.panel_head import details_of
from ui.panels.results import (
    attack_panel,
    class_panel,
    class_selection,
    headline_figures,
    linked_charts,
    metric_panel,
    pending_result,
    table_panel,
    what_if_panel,
    workspace,
)
from ui.panels.results.drawers import (
    details_panel,
    lattice_panel,
    measure_panel,
    parts_panel,
    question_panel,
    search_panel,
    stopping_panel,
    value_panel,
    verdict_lines,
    verdict_tiles,
)
from ui.state import pinning, results, selection, state
from ui.state.kept_fields import remembered
from ui.state.work import running, stopping
from ui.state.work.fragments import Tells, alone, once_opened
from ui.state.work.on_request import ATTACKING, MEASURING
from ui.words.escaping import plain, what_is_this

_T = TypeVar("_T")
_Drawn = Callable[[Series, Palette], _T]
#: Models whose names have room in the line above the figures.
_FEW = 2
CLASSES, METRICS, ATTACKS = "Classes", "Metrics", "Attacks"
#: What is opened one at a time over the panels.
DRAWERS = ("Verdicts and judgement", "Questions", "The search", "Value by value")


def head(run: Series) -> None:
    """Draw what the run was, and the button that pins it."""
    result = run.facts.result
    models = result.plan.models
    asked = " + ".join(", ".join([*_named(model, models), *_numbers(model)]) for model in models)
    stale = ""
    if not (results.is_current() or result.pending) and running.error() is None:
        stale = "**Settings have changed since this run** · "
    st.markdown(
        f"{stale}{plain(state.dataset_title())} · **{plain(made_by(result.plan))}** · "
        f"{plain(asked or 'no privacy model')}"
    )
    pinned = run_series.pin_of(result)
    if pinned is None:
        st.button(
            "Pin this run",
            key="pin",
            shortcut="P",
            width="content",
            disabled=result.pending,
            on_click=handled("The run")(pin),
            args=(result,),
            help="Keep it for Compare.",
        )
    else:
        st.button(f"Pinned as {run.heading}", key="pinned", disabled=True, width="content")
    next_step("pages/6_Compare.py", "Compare pinned runs")
    next_step("pages/7_Export.py", "Export")


#: The block that it is drawn in.
HEAD = {"key": "run-head", "horizontal": True, "vertical_alignment": "center"}


def _named(model: PrivacyModel, among: Sequence[PrivacyModel]) -> list[str]:
    """Return a model's name where it has room, or says more than its numbers."""
    return [model.title] if len(among) <= _FEW or not _numbers(model) else []


def _numbers(model: PrivacyModel) -> list[str]:
    """Return the numbers a model asks for; its other settings are on Run and in the report."""
    return [one for one in model.settings() if " = " in one]


def pin(result: Result) -> None:
    """Keep a run for Compare; a key that is held down pins it once."""
    if run_series.pin_of(result) is None:
        made_of = results.made_of()
        pinning.pin(result, None if made_of is None else made_of["choices"])


def class_details(run: Series, colours: Palette) -> None:
    """Draw further tracks to choose from, and what classes hold and reach of the privacy models."""
    linked_charts.choose_more(run)
    names = [
        c for c in run.facts.result.problem.sensitive if c not in run.facts.result.problem.quasi
    ]
    by_class = verdicts_by_class(run)
    views = [*(["Sensitive values"] if names else []), *([PRIVACY_MODELS] if by_class else [])]
    if not views:
        st.caption("No column is sensitive, and no privacy model is measured by class.")
        return
    view = st.segmented_control(
        "Show",
        views,
        default=views[0],
        required=True,
        **remembered("classes"),
        label_visibility="collapsed",
    )
    if view == "Sensitive values":
        sensitive_values(run, colours, names)
    else:
        for place in by_class:
            show(kept(verdict_chart, [run], colours, place), key=f"verdict-{place}")


def sensitive_values(run: Series, colours: Palette, names: list[str]) -> None:
    """Draw the values of one class against the whole, and what all classes hold of them."""
    column = names[0]
    if len(names) > 1:
        column = st.selectbox("Sensitive column", names, **remembered("sensitive"))
    ranked = most_different(run, column)
    now = selection.now(run.facts)
    if now is not None and len(now.groups) == 1:  # the class that is chosen comes first
        at = int(now.groups[0])
        apart = float(run.facts.difference(column)[at])
        ranked = [(at, apart), *(r for r in ranked if r[0] != at)]
    sizes, numbers = run.facts.sizes, run.facts.numbers
    one = run.facts.noun[0]
    words = {
        number: f"{one} {int(numbers[number]):,}: {in_figures(int(sizes[number]), 'row')}, "
        f"differs by {apart:.2f}"
        for number, apart in ranked
    }
    number = st.selectbox(
        f"{one.capitalize()} (most different first)",
        list(words),
        format_func=words.__getitem__,
        key=f"class-of-{column}-{selection.turn()}",
    )
    show(kept(sensitive_chart, [run], colours, column, number), key="sensitive")
    show(kept(held_chart, [run], colours, column), key="held")


def metric_details(run: Series, colours: Palette) -> None:
    """Draw the loss column by column, further metrics, and what each metric means."""
    if run.facts.permuted:
        st.caption(what_is_lost([run]))
    heat = None if run.facts.permuted else kept(column_heat, [run], colours)
    if heat is not None:
        show(heat, key="heat")
    measure_panel.draw(run)
    once_opened(
        "What each of them means", lambda: meanings(run, colours), name="Metrics", key="meanings"
    )


def meanings(run: Series, colours: Palette) -> None:
    """Draw what each metric is, and what lies behind it."""
    measures = run.facts.result.measures
    for name in metric_names([run]):
        st.markdown(f"**{plain(title_of(name))}**")
        what_is_this(family("metric")[name])
        details_panel.draw(run, colours, measures[name].details, f"metric-{name}")


def now() -> Series:
    """Return the run that is shown now."""
    result = results.shown()
    assert result is not None
    return run_series.of_result(result, palette())


def figures() -> None:
    """Draw the strip."""
    result, base = results.shown(), results.baseline()
    if result is not None:
        headline_figures.draw(result, None if base is None else base.result)


def panels() -> None:
    """Draw the four panels; all of them show what is chosen."""
    table, *charts = workspace.panels()
    with table:
        alone(
            "Table",
            lambda: table_panel.draw(now().facts, key="results"),
            key="panel-Table",
            linked=True,
            tells="figures",
        )
    drawn: list[tuple[str, str, ModuleType, Tells]] = [
        (CLASSES, "classes-chart", class_panel, "figures"),
        (METRICS, "metrics", metric_panel, "verdict"),
        (ATTACKS, "attacks", attack_panel, "verdict"),
    ]
    for place, (title, key, of, tells) in zip(charts, drawn, strict=True):
        with place:
            panel_head.draw(title, key=key, tells=tells, line=_of_now(of.line))
            drawn_from = _of_now(class_panel.drawn_from) if title == CLASSES else None
            alone(
                title,
                _of_now(of.draw),
                key=f"panel-{title}",
                linked=True,
                tells=tells,
                drawn_from=drawn_from,
                block=_of_now(of.block),
            )


def _of_now(draw: _Drawn[_T]) -> Callable[[], _T]:
    return lambda: draw(now(), palette())


def verdicts(result: Result) -> None:
    """Draw the three figures with all that is said of them, and what is behind them."""
    if result.pending:
        st.caption("Recomputing the privacy models from the published text …")
        return
    reported = verdict_tiles.draw(result)
    verdict_lines.draw(result, key="results", reported=covered_by(reported))


def search(run: Series) -> None:
    """Draw how the release was found."""
    result = run.facts.result
    if lattice_panel.applies(result):
        lattice_panel.draw(result)
    if parts_panel.applies(result):
        parts_panel.draw(run)
    with panel("The search"):
        search_panel.draw(result)


def further() -> None:
    """Draw the row of drawers, and the one that is open."""
    run, colours = now(), palette()
    result = run.facts.result
    with st.container(key="drawers", horizontal=True):
        workspace.drawers(DRAWERS)
    with panel("Verdicts"):
        workspace.drawer(DRAWERS[0], lambda: verdicts(result))
    alone(
        "Questions",
        lambda: workspace.drawer(DRAWERS[1], lambda: question_panel.draw(result)),
        key="linked-questions",
        linked=True,
        drawn_from=lambda: object() if workspace.is_open(DRAWERS[1]) else None,
    )
    workspace.drawer(DRAWERS[2], lambda: search(run))
    with panel("Value by value"):
        workspace.drawer(DRAWERS[3], lambda: value_panel.draw(run, colours))
    for title, draw in (
        (CLASSES, class_details),
        (METRICS, metric_details),
        (ATTACKS, attack_panel.details),
    ):
        with panel(title):
            workspace.drawer(details_of(title), lambda draw=draw: draw(run, colours))


running.wait_for_figures()
ATTACKING.settle()
MEASURING.settle()
stopping.settle()
stopping_panel.follow()
if page("Results", "📊", needs="result"):
    if results.shown() is not None:
        workspace.look()
        headline_figures.look()
        with st.container(key="workspace"):
            alone(
                "The run",
                lambda: head(now()),
                key="run-alone",
                tells="verdict",
                block=lambda: HEAD,
            )
            alone(
                "The figures",
                figures,
                key="strip-alone",
                tells="verdict",
                block=lambda: {"key": "strip"},
            )
            alone(
                "The what-if bar",
                what_if_panel.draw,
                key="what-if-alone",
                tells="verdict",
                drawn_from=what_if_panel.drawn_from,
                block=lambda: what_if_panel.BLOCK,
            )
            with st.container(key="drawer-row", horizontal=True, vertical_alignment="center"):
                alone("Further", further, key=workspace.FURTHER)
                alone(
                    "The choice",
                    lambda: class_selection.bar(now()),
                    key=workspace.CHOICE,
                    linked=True,
                    tells="figures",
                    drawn_from=class_selection.drawn_from,
                    block=lambda: class_selection.BLOCK,
                )
            panels()
        alone("The run", pending_result.rest, key=pending_result.KEY, tells="verdict")
elif (stopped := running.error()) is not None:
    show_error(stopped)
