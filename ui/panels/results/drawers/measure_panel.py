"""Metrics that are measured on the last result when asked for, with progress and cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.pipeline.measure.extra_attacks import measured_further, waiting_metrics
from ui.charts.chart_frame import Series
from ui.components.guard import handled, show_error
from ui.forms.parameter_forms import parameter_form
from ui.state.kept_fields import remembered
from ui.state.work import jobs
from ui.state.work.on_request import MEASURING
from ui.words.escaping import plain, what_is_this

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result


def draw(run: Series) -> None:
    """Draw the choice of a metric, its parameters, and the button that measures it."""
    result = run.facts.result
    waiting = waiting_metrics(result)
    if not waiting:
        return
    failed = MEASURING.error()
    busy = MEASURING.is_running()
    fold = st.expander(
        "Measure further",
        expanded=busy or failed is not None,
        key="measure-fold",
        on_change="rerun",
    )
    if not fold.open:  # a browser lays out what a closed fold holds too
        return
    with fold:
        if failed is not None:
            show_error(failed)
        jobs.watch(MEASURING.job)
        st.caption("These metrics are slow. Run them on demand; they are then added to the recipe.")
        known = cast(dict[str, type[Metric]], family("metric"))
        offered = sorted(
            waiting, key=lambda name: bool(waiting[name])
        )  # what can be measured first
        chosen = st.selectbox(
            "Metric", offered, format_func=lambda n: known[n].title, **remembered("further-metric")
        )
        kind = known[chosen]
        if waiting[chosen]:
            st.info(plain(waiting[chosen]))
            return
        given = next((m.as_mapping() for m in result.plan.metrics if m.name == chosen), {})
        values = parameter_form(
            kind, given, key="further-metric", sensitive=result.problem.sensitive
        )
        what_is_this(kind)
        st.button(
            "Measure",
            key="measure-further",
            type="primary",
            disabled=busy,
            on_click=handled("Metrics")(_begin),
            args=(result, kind, values),
        )


def _begin(result: Result, kind: type[Metric], values: Mapping[str, object]) -> None:
    metric = kind.from_mapping(values)
    MEASURING.start(result, metric.title, lambda context: measured_further(result, metric, context))
