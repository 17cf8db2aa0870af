"""The lattice on Results: drawn for full-domain results, and any of its nodes made the release."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.methods.lattice import lattice_picture as pictures
from anon_core.methods.lattice.lattice_picture import FATES, LatticePicture
from anon_core.methods.partition.exhaustive_partition import MOST_ROWS
from anon_core.pipeline.result import Result
from tests.ui.sessions import RESULTS, carried_out, load, open_page, wait_for, words
from ui.charts.chart_frame import light_palette, picked
from ui.charts.lattice_plot import height_chart, node_chart, node_name
from ui.state import state


def button(app: AppTest) -> Any:
    return next(b for b in app.button if b.key == "lattice-release")


def in_hand(app: AppTest) -> Any:
    return next(s for s in app.selectbox if s.key == "lattice/in_hand")


def picture(app: AppTest) -> LatticePicture:
    return cast(LatticePicture, app.session_state["once/lattice-picture"][1])


@pytest.mark.parametrize("technique", ["optimal", "samarati", "incognito", "datafly"])
def test_a_full_domain_result_shows_its_lattice(technique: str) -> None:
    held = load("samarati", algorithm={"name": technique})
    result = carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    assert "Lattice" in [s.value for s in app.subheader]
    drawn = picture(app)
    assert drawn.recorded
    assert drawn.whole
    assert in_hand(app).value == next(i for i, n in enumerate(drawn.nodes) if n.chosen)
    assert button(app).disabled
    assert "The release already has these levels" in words(app).replace("\\", "")
    chart = node_chart(result.problem, drawn, "Loss", 0, light_palette())
    legend = {trace.name: len(trace.x) for trace in chart.figure.data}
    only_local = [n for n in drawn.nodes if n.locally_minimal and not n.minimal]
    assert legend["minimal"] == sum(n.minimal for n in drawn.nodes) > 0
    assert legend.get("locally minimal", 0) == len(only_local)
    counted = sum(sum(here.values()) for here in drawn.by_height)
    assert counted == drawn.size == len(drawn.nodes) == result.account.nodes


def test_other_results_have_no_lattice() -> None:
    held = load("samarati", algorithm={"name": "mondrian"})
    carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    assert "Lattice" not in [s.value for s in app.subheader]


def test_levels_in_hand_are_made_the_release() -> None:
    held = load("samarati", algorithm={"name": "optimal"})
    carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    drawn = picture(app)
    failing = next(i for i, n in enumerate(drawn.nodes) if not n.holds)
    in_hand(app).set_value(failing).run()
    assert button(app).disabled
    assert "do not satisfy the privacy models within the budget" in words(app).replace("\\", "")
    other = next(i for i, n in enumerate(drawn.nodes) if n.holds and not n.chosen)
    in_hand(app).set_value(other).run()
    assert not button(app).disabled
    button(app).click().run()
    wait_for(app, "run")
    assert not app.exception
    result = cast(Result, app.session_state["state/result"])
    assert result.plan.algorithm.name == "fixed-levels"
    assert result.account.node == dict(zip(drawn.columns, drawn.nodes[other].levels, strict=True))
    assert result.verification.holds
    assert len(result.class_sizes) == drawn.nodes[other].classes
    # The new result has a lattice of its own, in which these levels are the chosen ones.
    again = picture(app)
    assert not again.recorded
    assert [n.levels for n in again.nodes if n.chosen] == [drawn.nodes[other].levels]
    assert [n.holds for n in again.nodes] == [n.holds for n in drawn.nodes]
    # One click leads back to the search's own result, with the choices that it was made of.
    next(b for b in app.button if b.key == "back").click().run()
    assert not app.exception
    assert app.session_state["state/result"].plan.algorithm.name == "optimal"
    assert app.session_state["state/work"]["draft"]["algorithm"]["name"] == "optimal"
    assert "Settings have changed" not in words(app)


def test_choices_that_changed_since_stand_against_it() -> None:
    held = load("samarati", algorithm={"name": "optimal"})
    carried_out(held)
    with patch.object(st, "session_state", held):
        state.draw_seed()
    app = open_page(RESULTS, held, tab="The search")
    other = next(i for i, n in enumerate(picture(app).nodes) if n.holds and not n.chosen)
    in_hand(app).set_value(other).run()
    assert button(app).disabled
    assert "run again first" in words(app)


def test_a_click_takes_a_node_in_hand(session: None) -> None:
    st.session_state["plot-lattice"] = {"selection": {"points": [{"customdata": 7}]}}
    assert picked("lattice") == 7
    st.session_state["plot-lattice"] = {"selection": {"points": [{"customdata": [7]}]}}
    assert picked("lattice") == 7
    st.session_state["plot-lattice"] = {"selection": {"points": []}}
    assert picked("lattice") is None
    assert picked("nothing") is None


def test_every_node_is_drawn_once_and_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    held = load("samarati", algorithm={"name": "optimal"})
    result = carried_out(held)
    drawn = picture(open_page(RESULTS, held, tab="The search"))
    chart = node_chart(result.problem, drawn, "Loss", 0, light_palette())
    points = [i for trace in chart.figure.data for i in trace.customdata or ()]
    assert sorted(points) == list(range(len(drawn.nodes)))
    names = [trace.name for trace in chart.figure.data if trace.customdata is not None]
    assert "chosen" in names
    assert len({trace.marker.symbol for trace in chart.figure.data if trace.customdata}) == len(
        names
    )
    assert len(chart.numbers) == drawn.size
    assert "Loss" in chart.numbers
    assert len({node_name(drawn, n) for n in drawn.nodes}) == drawn.size
    monkeypatch.setattr(pictures, "MOST_DRAWN", 3)
    large = picture(open_page(RESULTS, held, tab="The search"))
    assert not large.whole
    bars = height_chart(large, light_palette())
    numbers = bars.numbers.drop(columns="height")
    assert int(numbers.to_numpy().sum()) == large.size
    assert len(numbers.columns) == len(FATES)
    drawn_bars = [trace.x for trace in bars.figure.data if trace.type == "bar"]
    assert [sum(at) for at in zip(*drawn_bars, strict=True)] == pytest.approx(
        [1.0] * len(bars.numbers)
    )
    near = node_chart(
        result.problem,
        large,
        "Loss",
        next(i for i, n in enumerate(large.nodes) if n.chosen),
        light_palette(),
    )
    values = [note.text for note in near.figure.layout.annotations]
    assert len(values) == len(large.nodes) - 1
    assert all(text.rsplit(" ", 1)[0] in large.columns for text in values)


def test_a_small_table_shows_its_proven_optimum() -> None:
    held = load("samarati", algorithm={"name": "datafly"})
    result = carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    shown = any("Proven optimum for this table" in c.value for c in app.caption)
    assert shown == (result.optimum is not None) == (result.problem.rows <= MOST_ROWS)
