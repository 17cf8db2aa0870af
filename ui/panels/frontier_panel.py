"""The risk–utility frontier: what each technique loses for what it protects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm, met_first
from anon_core.contracts.metric import headline

from ..charts import theme
from ..charts.chart_frame import Chart, Palette, Series, columns, finish, label, show
from ..components.guard import panel, show_error
from ..forms import run_form
from ..session import jobs, running, state
from ..session.sweep import JOB, KS, Point, sweep
from ..words.explain import plain
from ..words.phrases import worst_case

_POINTS = "frontier/points"
_NEXT = "frontier/next"
_ERROR = "frontier/error"
_NOTE = "frontier/note"
#: Techniques have their own signs, so that they are not taken for pinned runs.
_LIGHT = ("#0072B2", "#AA3377", "#7A5C00", "#4B5563")
_DARK = ("#56B4E9", "#E58BBB", "#E6C35C", "#A9B4C0")
_SIGNS = ("hexagon", "x", "cross", "pentagon")
#: Where their points are named, so that neighbouring lines do not write over each other.
_BESIDE = ("top center", "bottom center", "middle right", "middle left")


@st.fragment
@panel("Risk–utility frontier")
def draw(runs: Sequence[Series], colours: Palette) -> None:
    """Draw the form of the sweep, its progress, and the frontier of the last one."""
    _settle()
    # The axes are loss of cells and the chance of picking a row: a permuted row is nobody's.
    people = bool(state.draft().get("population", {}).get("file"))
    known = {
        name: found
        for name, found in cast(dict[str, type[Algorithm]], family("algorithm")).items()
        if not found.permutes and not (found.needs_public and not people)
    }
    techniques = st.pills(
        "Techniques",
        list(known),
        selection_mode="multi",
        default=[name for name in met_first() if name in known],  # all take minutes
        format_func=lambda n: known[n].title,
        wrap=True,
        key="sweep-techniques",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ks = st.pills(
            "k",
            [*KS, 100, 200],
            selection_mode="multi",
            default=list(KS),
            wrap=True,
            key="sweep-ks",
        )
        ready = (
            bool(techniques and ks) and state.dataset() is not None and bool(state.roles().quasi)
        )
        if st.button("Sweep", key="sweep", disabled=not ready or _busy()):
            _start(techniques, sorted(ks))
            st.rerun()
    st.caption(
        "Carries out the present plan once for every technique and k; other promises, budget and "
        "threshold stay. Every point is a release whose promises were recomputed."
    )
    jobs.watch(JOB)
    error = st.session_state.get(_ERROR)
    if error is not None:
        show_error(error)
    # A sweep's points show as they come, unless those of the one before are still to be seen.
    points = cast(
        list[Point], list(st.session_state.get(_POINTS) or st.session_state.get(_NEXT) or [])
    )
    if st.session_state.get(_NOTE) and not _busy():
        st.caption(st.session_state[_NOTE])
    if not points:
        return
    against = st.segmented_control(
        "Against",
        ["worst-case chance", "k"],
        default="worst-case chance",
        required=True,
        key="frontier-against",
        label_visibility="collapsed",
    )
    if any(p.loss is not None for p in points):
        show(frontier_chart(points, runs, colours, against), key="frontier")
    refused = [p for p in points if p.loss is None]
    if refused:
        st.markdown("**No release**")
        for p in refused:
            st.markdown(f"- {plain(f'{known[p.technique].title}, k = {p.k}: {p.why}')}")


def frontier_chart(
    points: Sequence[Point], runs: Sequence[Series], colours: Palette, against: str
) -> Chart:
    """Return loss against risk (or k), one line a technique, pinned runs as letters."""
    import pandas as pd
    import plotly.graph_objects as go

    figure = columns(1)
    good = [p for p in points if p.loss is not None and p.worst is not None]
    names = list(dict.fromkeys(p.technique for p in good))
    tones = _DARK if theme.dark() else _LIGHT
    for place, name in enumerate(names):
        line = sorted((p for p in good if p.technique == name), key=lambda p: p.k)
        colour = tones[place % len(tones)]
        figure.add_trace(
            go.Scatter(
                x=[p.loss for p in line],
                y=[p.worst if against != "k" else p.k for p in line],
                name=label(find("algorithm", name).title),
                mode="lines+markers+text",
                text=_names(line, [p.worst if against != "k" else p.k for p in line]),
                textposition=_BESIDE[place % len(_BESIDE)],
                textfont={"color": colour, "size": 11},
                line={"color": colour, "width": 1.5},
                marker={"color": colour, "symbol": _SIGNS[place % len(_SIGNS)], "size": 11},
                customdata=[[p.k, p.hidden, 100 * (p.worst or 0)] for p in line],
                hovertemplate="k = %{customdata[0]}<br>loss %{x:.4f}<br>worst case "
                "%{customdata[2]:.2f}%<br>%{customdata[1]:,} rows hidden",
            )
        )
    for run in runs:
        result = run.facts.result
        worst = worst_case(result)
        # Cells of permuted groups are exact; what lies on the scale of the others is what the
        # group leaves open.
        loss = result.measures.get(headline("groups" if run.facts.permuted else "cells"))
        if loss is None or worst is None:
            continue
        figure.add_trace(
            go.Scatter(
                x=[loss.value],
                y=[worst if against != "k" else run.facts.least],
                mode="markers+text",
                text=[f"<b>{run.letter}</b>"],
                textposition="middle right",
                textfont={"color": run.colour, "size": 14},
                marker={"color": run.colour, "symbol": run.symbol, "size": 13},
                name=f"run {run.letter}",
                hovertemplate=f"run {run.letter}: loss %{{x:.4f}}<extra></extra>",
            )
        )
    figure.update_xaxes(title_text="loss (0 unchanged, 1 everything hidden)", rangemode="tozero")
    if against == "k":
        figure.update_yaxes(
            title_text="k (rows)", type="log", tickvals=[2, 5, 10, 20, 50, 100, 200]
        )
    else:
        figure.update_yaxes(
            title_text="worst-case chance of picking a person", tickformat=".0%", rangemode="tozero"
        )
    finish(figure, colours, height=420, legend=True)
    return Chart(
        title="Frontier: less loss is to the left, less risk is "
        + ("up" if against == "k" else "down"),
        figure=figure,
        numbers=pd.DataFrame(
            [
                {
                    "technique": find("algorithm", p.technique).title,
                    "k": p.k,
                    "loss": p.loss,
                    "worst-case chance": p.worst,
                    "rows hidden": p.hidden if p.loss is not None else None,
                    "no release because": p.why,
                }
                for p in points
            ]
        ),
        formats={"loss": "%.4f", "worst-case chance": "percent"},
        note="A point is dominated if another one is both further left and better protected."
        + (
            " Runs that cut links stand at the loss of their groups."
            if any(run.facts.permuted for run in runs)
            else ""
        ),
    )


def _names(line: Sequence[Point], heights: Sequence[float | None]) -> list[str]:
    """Return what stands beside each point; points that fall together are named together."""
    together: dict[tuple[float | None, float | None], list[str]] = {}
    for p, height in zip(line, heights, strict=True):
        together.setdefault((p.loss, height), []).append(str(p.k))
    return [
        "k = " + ", ".join(together.pop((p.loss, height), []))
        if (p.loss, height) in together
        else ""
        for p, height in zip(line, heights, strict=True)
    ]


def _start(techniques: Sequence[str], ks: Sequence[int]) -> None:
    st.session_state.pop(_ERROR, None)
    found: list[Point] = []
    try:
        plan = state.plan()
        table, people = running.inputs(plan)
    except AnonError as error:
        st.session_state[_ERROR] = error
        return
    levels = {name: rows for name, rows in state.levels().items() if name in plan.hierarchies}
    st.session_state[_NEXT] = found
    st.session_state[_NOTE] = ""
    settings = {name: run_form.kept_parameters(name) for name in techniques}
    if plan.algorithm.name in settings:
        settings[plan.algorithm.name] = plan.algorithm.as_mapping()
    work = sweep(plan, table, dict(levels), people, techniques=settings, ks=ks, found=found)
    jobs.start(JOB, "Sweep", work, needs=tuple(techniques))


def _settle() -> None:
    job = jobs.collect(JOB)
    if job is None:
        return
    found = cast(list[Point], st.session_state.pop(_NEXT, []))
    before = cast(list[Point], st.session_state.get(_POINTS, []))
    if job.state == "failed":
        st.session_state[_ERROR] = job.error
    if job.state == "cancelled":
        many = f"{len(found)} point" if len(found) == 1 else f"{len(found)} points"
        kept = "the points of the one before stay" if before else f"it had come to {many}"
        st.session_state[_NOTE] = f"The sweep was stopped; {kept}."
    if job.state == "done" or not before:
        st.session_state[_POINTS] = found


def _busy() -> bool:
    job = jobs.current(JOB)
    return job is not None and job.state == "running"
