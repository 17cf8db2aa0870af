"""Results: three verdict lines, then the table, the classes, the metrics and the attacks."""

from __future__ import annotations

import streamlit as st

from anon_core.registry import family
from ui import running, series, state, table_panel, verdict_lines
from ui.attack_plots import attack_dots, name_of, risk_chart
from ui.charts import Palette, Series, kept, palette, show
from ui.class_plots import most_different, sensitive_chart, size_chart
from ui.explain import plain, what_is_this
from ui.metric_plots import amount, column_heat, metric_bars, title_of, unit_of
from ui.shell import next_step, page
from ui.treemap import treemap
from ui.words import hidden


def head(run: Series) -> None:
    """Draw what the run was, and the button that pins it."""
    result = run.facts.result
    left, right = st.columns([4, 1], vertical_alignment="center")
    promised = " + ".join(
        ", ".join([m.title, *(f"{k} = {v}" for k, v in m.as_mapping().items() if v != "")])
        for m in result.plan.models
    )
    left.markdown(
        f"{plain(state.dataset_title())} · **{plain(result.plan.algorithm.title)}** · "
        f"{plain(promised)} · {len(run.facts.sizes):,} classes · {plain(hidden(result))}"
    )
    pinned = series.pin_of(result)
    if pinned is None:
        if right.button(
            "Pin this run", key="pin", shortcut="P", width="stretch", help="Keep it for Compare."
        ):
            state.pin(result)
            st.rerun()
    else:
        right.button(f"Pinned as {run.heading}", key="pinned", disabled=True, width="stretch")
    if not state.result_is_current():
        st.info("The choices have changed since this run; the result shown is the last one.")


def classes(run: Series, colours: Palette) -> None:
    """Draw the class panel: sizes, areas, sensitive values."""
    names = [
        c for c in run.facts.result.problem.sensitive if c not in run.facts.result.problem.quasi
    ]
    views = ["Sizes", *(["Sensitive values"] if names else [])]
    view = st.segmented_control(
        "Show", views, default="Sizes", required=True, key="classes", label_visibility="collapsed"
    )
    if view == "Sizes":
        show(kept(size_chart, [run], colours), key="sizes")
        show(kept(treemap, [run], colours), key="treemap")
    else:
        column = names[0]
        if len(names) > 1:
            column = st.selectbox("Sensitive column", names, key="sensitive")
        ranked = most_different(run, column)
        sizes, place = run.facts.sizes, run.facts.place
        words = {
            number: f"class {int(place[number]) + 1:,}: {int(sizes[number]):,} rows, "
            f"differs by {apart:.2f}"
            for number, apart in ranked
        }
        number = st.selectbox(
            "Class (most different first)",
            list(words),
            format_func=words.__getitem__,
            key=f"class-of-{column}",
        )
        show(kept(sensitive_chart, [run], colours, column, number), key="sensitive")


def metrics(run: Series, colours: Palette) -> None:
    """Draw the metric panel with an explanation of each number."""
    show(kept(metric_bars, [run], colours), key="metrics")
    halves = st.columns(2)
    for place, (name, measure) in enumerate(run.facts.result.measures.items()):
        with halves[place % 2].container(gap=None):
            value = f"{amount(measure.value)} {unit_of(name)}"
            st.markdown(f"**{plain(title_of(name))}**  \n{plain(value)}")
            what_is_this(family("metric")[name])
    heat = kept(column_heat, [run], colours)
    if heat is not None:
        show(heat, key="heat")


def attacks(run: Series, colours: Palette) -> None:
    """Draw the attack panel with an explanation of each attack."""
    show(kept(attack_dots, [run], colours), key="attacks")
    show(kept(risk_chart, [run], colours), key="risk")
    for attack in run.facts.attacks:
        with st.container(gap=None):
            st.markdown(f"**{plain(name_of(attack))}** – {plain(attack.sentence)}")
            what_is_this(family("attack")[attack.attack])
    result = run.facts.result
    skipped = [
        f"{t.title}: {why}"
        for t in result.plan.all_attacks()
        if (why := t.applies(result.problem, result.release.view))
    ]
    for sentence in skipped:
        st.caption(plain(f"Not run – {sentence}"))


running.settle()
if page("Results", "📊", needs="result"):
    last = state.result()
    if last is not None:
        tones = palette()
        shown = series.of_result(last, tones)
        head(shown)
        verdict_lines.draw(last, key="results")
        upper = st.columns(2, gap="medium")
        with upper[0].container(border=True, height="stretch"):
            st.subheader("Table", anchor=False)
            table_panel.draw(shown.facts, key="results")
        with upper[1].container(border=True, height="stretch"):
            st.subheader("Classes", anchor=False)
            classes(shown, tones)
        lower = st.columns(2, gap="medium")
        with lower[0].container(border=True, height="stretch"):
            st.subheader("Metrics", anchor=False)
            metrics(shown, tones)
        with lower[1].container(border=True, height="stretch"):
            st.subheader("Attacks", anchor=False)
            attacks(shown, tones)
        next_step("pages/6_Compare.py", "Compare pinned runs")
        next_step("pages/7_Export.py", "Export")
