"""The Compare page: pinned runs side by side, all figures, and the frontier."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.base.context import Context
from tests.ui.sessions import COMPARE, carried_out, load, open_page, wait_for, words
from ui.charts.chart_frame import Series
from ui.panels.compare_tables import all_figures
from ui.session import state
from ui.session.result_view import Facts
from ui.session.sweep import Point, sweep


def three_runs() -> dict[str, Any]:
    held = load("hospital")
    for k, technique in ((5, "optimal"), (10, "optimal"), (5, "mondrian")):
        with patch.object(st, "session_state", held):
            state.update_draft(
                algorithm={"name": technique}, models=[{"name": "k-anonymity", "k": k}]
            )
        carried_out(held, pinned=1)
    return held


def test_without_pins_the_page_says_how_to_pin() -> None:
    app = open_page(COMPARE, load())
    assert not app.exception
    assert "No run is pinned yet" in words(app)
    assert "press **P** on Results" in words(app)


def test_without_anything_the_page_still_opens() -> None:
    app = open_page(COMPARE, {})
    assert not app.exception


def test_three_runs_stand_side_by_side() -> None:
    app = open_page(COMPARE, three_runs())
    assert not app.exception
    for heading in ("### ● A", "### ■ B", "### ◆ C"):
        assert heading in words(app)
    for panel in ("Table", "Classes", "Metrics", "Attacks", "All figures"):
        assert panel in words(app)


def test_a_run_is_let_go() -> None:
    app = open_page(COMPARE, three_runs())
    next(b for b in app.button if b.key == "unpin-B").click().run()
    assert not app.exception
    assert [p.letter for p in app.session_state["state/pins"]] == ["A", "C"]


def test_figures_are_those_of_the_json_with_differences_to_the_first() -> None:
    held = three_runs()
    signs = {"A": "●", "B": "■", "C": "◆"}
    runs = [
        Series(
            letter=p.letter,
            title=p.title,
            facts=Facts(result=p.result),
            colour="#000000",
            sign=signs[p.letter],
        )
        for p in held["state/pins"]
    ]
    table = all_figures(runs).set_index("figure")
    told = [p.result.as_json() for p in held["state/pins"]]
    assert table.loc["Loss", "● A"] == told[0]["metrics"]["loss"]
    assert table.loc["Loss", "◆ C"] == told[2]["metrics"]["loss"]
    assert table.loc["classes", "B − A"] == told[1]["classes"] - told[0]["classes"]
    gap = told[2]["metrics"]["loss"] - told[0]["metrics"]["loss"]
    assert table.loc["Loss", "C − A"] == pytest.approx(gap)


def test_the_sweep_keeps_what_is_infeasible_in_words() -> None:
    held = load()
    with patch.object(st, "session_state", held):
        plan, table, levels = state.plan(), state.dataset(), state.levels()
    assert table is not None
    found: list[Point] = []
    work = sweep(
        plan, table, dict(levels), None, techniques={"mondrian": {}}, ks=(2, 20), found=found
    )
    work(Context())
    assert [p.k for p in found] == [2, 20]
    assert found[0].loss is not None
    assert found[1].loss is None
    assert "needs at least 20 rows" in found[1].why


def test_levels_chosen_for_all_k_at_once_make_the_same_points() -> None:
    held = load("samarati")
    with patch.object(st, "session_state", held):
        plan, table, levels = state.plan(), state.dataset(), state.levels()
    assert table is not None
    told: list[list[Point]] = []
    for ks in ((2, 3, 4, 5, 6, 7, 9, 20), (2, 3, 4), (5, 6, 7), (9, 20)):  # at once, one by one
        found: list[Point] = []
        settings = {"optimal": {"max_suppression": 0.34}}
        sweep(plan, table, dict(levels), None, techniques=settings, ks=ks, found=found)(Context())
        told.append(found)
    assert told[0] == [point for found in told[1:] for point in found]
    assert [p.loss is None for p in told[0]] == [False] * 7 + [True]


def test_the_frontier_is_drawn_after_a_sweep() -> None:
    held = load("samarati")
    carried_out(held, pinned=1)
    app = open_page(COMPARE, held)
    next(b for b in app.button if b.key == "sweep").click().run()
    wait_for(app, "sweep")
    assert not app.exception
    assert "**No release**" in words(app)
    assert any("Frontier" in str(m.value) for m in app.markdown)
    points = app.session_state["frontier/points"]
    assert {p.technique for p in points} == {"optimal", "mondrian"}


def test_a_stopped_sweep_keeps_its_points() -> None:
    held = load("hospital")
    app = open_page(COMPARE, held)
    next(b for b in app.button if b.key == "sweep").click().run()
    app.session_state["jobs"]["sweep"].cancel.set()
    app.run()
    assert not app.exception
    assert "The sweep was stopped" in words(app)
