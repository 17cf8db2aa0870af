"""The what-if bar of Results: one change is one gesture, and no change loses the last result."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.contracts.algorithm import by_levels
from anon_core.explain.text.tiles import Tile
from anon_core.pipeline import runner
from anon_core.pipeline.result import Result
from anon_core.verification.findings import Check, Verification
from tests.ui.sessions import (
    RESULTS,
    carried_out,
    load,
    open_page,
    told_to_a_fragment,
    wait_for,
    words,
)
from ui.charts import theme
from ui.charts.chart_frame import Series, palette
from ui.charts.metric_plots import metric_bullets, title_of
from ui.panels.results import headline_figures, history_panel
from ui.state import results, state
from ui.state.result_view import Facts
from ui.state.work import jobs, what_if

K = "what-if/models/0/k-anonymity/k"


def ran_quickly(held: dict[str, Any], took: float = 0.1) -> Result:
    """Carry out the session's plan, and let it have taken this long on any machine."""
    made = carried_out(held)
    slow = {"all": took}
    answer = replace(made, seconds=slow, took=took)
    with patch.object(st, "session_state", held):
        results.exchange(made, answer)
    return answer


def shown(app: AppTest) -> Result:
    return cast(Result, app.session_state["state/result"])


def typed(app: AppTest, value: float, key: str = K) -> AppTest:
    """Type a number into the bar, and wait for the run that it starts, if it starts one."""
    app.number_input(key=key).set_value(value).run()
    assert not app.exception
    return wait_for(app, "run") if "run" in app.session_state["jobs"] else app


@contextmanager
def held_up() -> Generator[threading.Event]:
    """Let every second computation wait until the event is set."""
    go_on, verify = threading.Event(), runner.verify

    def late(*args: Any, **named: Any) -> Verification:
        go_on.wait(60)
        return verify(*args, **named)

    with patch.object(runner, "verify", late):
        try:
            yield go_on
        finally:
            go_on.set()


def strip(app: AppTest) -> str:
    return next(h.proto.body for h in app.get("html") if "class='aw-strip'" in h.proto.body)


def asked(result: Result) -> int:
    (model,) = result.plan.models
    return cast(int, model.as_mapping()["k"])


def labels(app: AppTest) -> list[str]:
    return [b.label for b in app.button]


def test_runs_that_differ_in_one_setting_are_named_by_it() -> None:
    held = load("toth-private")
    first = carried_out(held)
    plan = first.plan
    other = replace(
        first, plan=replace(plan, algorithm=replace(plan.algorithm, max_suppression=0.2))
    )
    least = plan.algorithm.as_mapping()["max_suppression"]
    assert history_panel.names_of([first]) == [history_panel.name_of(first)]
    assert history_panel.names_of([first, other]) == [
        f"{history_panel.name_of(first)} · Suppression budget: {budget}" for budget in (least, 0.2)
    ]
    # Nothing differs but the seed: their places tell them from each other.
    assert len(set(history_panel.names_of([first, first]))) == 1


def test_the_dot_of_a_pinned_run_has_the_colour_of_its_pin() -> None:
    held = load("toth-private")
    carried_out(held, pinned=1)
    app = open_page(RESULTS, held)
    (dots,) = (c for c in app.get("vega_lite_chart") if c.proto.id.endswith("history/dots"))
    colours = json.loads(dots.proto.spec)["encoding"]["color"]["scale"]["range"]
    assert colours[0] == theme.run_colour("A")


def test_a_changed_k_is_run_at_once_and_compared_with_a() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    assert app.number_input(key=K).label == "k"
    assert "Back to baseline" not in labels(app)
    typed(app, 25)
    assert asked(shown(app)) == 25
    assert shown(app).verification.holds
    assert app.session_state["state/work"]["draft"]["models"] == [{"name": "k-anonymity", "k": 25}]
    assert app.session_state["state/baseline"].result is first
    assert "Back to baseline" in labels(app)


def test_first_figures_are_drawn_without_a_tick_until_the_second_computation_agrees() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    assert "✓" in strip(app)
    with held_up() as go_on:
        app.number_input(key=K).set_value(25).run()
        assert not app.exception
        assert "asked 25" in strip(app)
        assert "recomputing …" in strip(app)
        assert "✓" not in strip(app)
        assert "from 0." in strip(app)  # against the run before, which is the last good one still
        assert shown(app) is first
        assert app.button(key="pin").disabled
        assert "Settings have changed since this run" not in words(app)
        with patch.object(st, "session_state", app.session_state):
            assert results.first() is not None
            assert not results.is_current()
            assert [k.result for k in results.runs()] == [first]
        go_on.set()
        wait_for(app, "run")
    assert asked(shown(app)) == 25
    assert "✓ second computation agrees" in strip(app)
    assert "recomputing" not in strip(app)
    assert not app.button(key="pin").disabled


def test_a_change_in_the_bar_draws_the_panels_and_not_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    assert app.get("page_link")
    told_to_a_fragment(app, "what-if-alone", monkeypatch)
    with held_up():
        app.number_input(key=K).set_value(25).run()
        assert not app.exception
        assert "asked 25" in strip(app)
        assert "recomputing …" in strip(app)
        assert app.button(key="pin").disabled
        assert not app.get("page_link")
        panels = {f"vega-{name}" for name in ("tracks", "metrics", "attacks")}
        assert panels <= {block.proto.id.split("-", 2)[-1] for block in app.get("container")}


def test_a_field_that_follows_is_not_put_back_by_a_message_that_was_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 25)
    app.button(key="back").click().run()  # the field follows: 5 again
    assert app.number_input(key=K).value == 5
    with monkeypatch.context() as patch:
        told_to_a_fragment(app, "curve-alone", patch)
        app.number_input(key=K).set_value(25).run()  # sent before the browser has heard of it
    assert app.session_state["state/work"]["draft"]["models"] == [{"name": "k-anonymity", "k": 5}]
    assert app.session_state[K] == 5


def test_figures_that_are_not_confirmed_go_and_the_last_good_result_comes_back() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    broken = Check(name="k-anonymity", holds=False, sentence="k is 1.")
    with patch.object(runner, "verify", return_value=Verification(checks=(broken,))):
        app.number_input(key=K).set_value(25).run()
        if "run" in app.session_state["jobs"]:
            wait_for(app, "run")
    assert shown(app) is first
    assert "asked 5" in strip(app)
    assert "the independent check disagrees" in words(app)


def test_a_step_that_another_follows_is_cancelled() -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    with held_up() as go_on:
        stale: list[jobs.Job] = []
        for k in (21, 22, 23, 24):
            app.number_input(key=K).set_value(k).run()
            stale.append(app.session_state["jobs"]["run"])
        assert [job.state for job in stale] == ["cancelled"] * 3 + ["running"]
        assert "asked 24" in strip(app)
        go_on.set()
        wait_for(app, "run")
    assert asked(shown(app)) == 24
    kept = [asked(k.result) for k in app.session_state["state/runs"]]
    assert kept == [5, 24]


def test_going_back_while_figures_are_recomputed_stops_their_run() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    with held_up():
        app.number_input(key=K).set_value(25).run()
        job = app.session_state["jobs"]["run"]
        app.button(key="back").click().run()
        assert not app.exception
        assert job.state == "cancelled"
    assert shown(app) is first
    assert "✓" in strip(app)
    assert app.number_input(key=K).value == asked(first)


def test_back_to_a_restores_result_and_settings_without_a_run() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 25)
    second = shown(app)
    app.button(key="back").click().run()
    assert not app.exception
    assert shown(app) is first
    assert app.number_input(key=K).value == asked(first)
    assert app.session_state["state/baseline"].result is second
    with patch.object(jobs, "start", side_effect=AssertionError("a known run was run again")):
        app.number_input(key=K).set_value(25).run()
    assert not app.exception
    assert shown(app) is second


def test_a_run_that_took_long_is_started_by_a_button_with_its_estimate() -> None:
    held = load("hospital")
    first = ran_quickly(held, took=7.0)
    app = open_page(RESULTS, held)
    typed(app, 25)
    assert shown(app) is first
    assert "Settings have changed since this run" in words(app)
    assert app.button(key="what-if/run").label == "Run (about 5 s)"
    app.button(key="what-if/run").click().run()
    wait_for(app, "run")
    assert asked(shown(app)) == 25


@pytest.mark.parametrize(
    ("key", "value", "button", "field"),
    [
        (K, 1, "Set k = 2", 2),
        ("what-if/algorithm/0/optimal/max_suppression", 1.5, "Set Budget = 1", 1.0),
        ("what-if/algorithm/0/optimal/max_suppression", -0.5, "Set Budget = 0", 0.0),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_nearest_that_is_allowed(
    key: str, value: float, button: str, field: float
) -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.01})
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, value, key)
    assert shown(app) is first
    assert "allowed" in words(app)
    assert button in labels(app)
    app.button(key="what-if/keep").click().run()
    assert app.number_input(key=key).value != value
    typed(app, value, key)
    app.button(key="what-if/nearest").click().run()
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert app.number_input(key=key).value == field
    assert "what-if/keep" not in [b.key for b in app.button]


def offered(app: AppTest) -> list[str]:
    """Return the labels of what was found to help."""
    return [b.label for b in app.button if str(b.key).startswith("what-if/fix-")]


def test_an_infeasible_run_keeps_the_result_and_offers_what_is_feasible() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 6000)  # more than there are rows
    assert shown(app) is first
    assert "Below: your last release." in words(app)
    assert offered(app)[0] == "Set k \\= 2,186"  # no larger class says anything
    app.button(key="what-if/fix-0").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert shown(app) is not first
    assert shown(app).verification.holds
    assert not shown(app).is_silent


def test_fixed_levels_are_offered_the_k_the_budget_and_the_column_that_help() -> None:
    def infeasible() -> AppTest:
        held = load("hospital")
        first = ran_quickly(held)
        node = first.account.node
        assert node is not None
        with patch.object(st, "session_state", held):
            state.update_draft(algorithm=by_levels({**node, "age": 2}, 0.02))
            results.renew(results.now())
        app = open_page(RESULTS, held)
        return typed(app, 15)

    first_quasi = load("hospital")["state/work"]["roles"]["quasi"]
    app = infeasible()
    labels = offered(app)
    assert len(labels) == 3
    for place, begins in enumerate(("Set k", "Allow", "Leave out")):
        assert labels[place].startswith(begins)
        app = infeasible() if place else app
        app.button(key=f"what-if/fix-{place}").click().run()
        wait_for(app, "run") if "run" in app.session_state["jobs"] else app
        assert not app.exception
        assert not offered(app)
        result = shown(app)
        assert result.verification.holds
        assert (asked(result) < 15) == (place == 0)
        assert (len(result.problem.quasi) < len(first_quasi)) == (place == 2)
        app.button(key="what-if/undo").click().run()
        assert not app.exception


def test_a_release_that_says_nothing_says_so_with_what_says_something() -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 5000)
    assert shown(app).is_silent
    assert "says nothing of them" in words(app)
    assert offered(app)[0].startswith("Set k")
    app.button(key="what-if/fix-0").click().run()
    wait_for(app, "run")
    assert not shown(app).is_silent
    assert not offered(app)


def test_keeping_the_settings_of_the_result_forgets_what_was_refused() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 6000)
    app.button(key="what-if/keep").click().run()
    assert shown(app) is first
    assert app.number_input(key=K).value == asked(first)
    assert "Below: your last release" not in words(app)
    assert "what-if/keep" not in [b.key for b in app.button]


def test_the_list_of_runs_restores_one_of_them() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 25)
    typed(app, 40)
    listed = next(r for r in app.radio if r.label == "Runs so far")
    assert len(listed.options) == 3
    listed.set_value(0).run()
    assert not app.exception
    assert shown(app) is first
    assert app.number_input(key=K).value == asked(first)


def test_undo_and_redo_go_through_all_that_was_shown() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    assert app.button(key="what-if/undo").disabled
    typed(app, 25)
    typed(app, 40)
    steps: list[tuple[str, int, int]] = [
        ("undo", 25, 25), ("undo", asked(first), 5), ("redo", 25, 25), ("redo", 40, 40),
    ]  # fmt: skip
    for word, k, in_field in steps:
        app.button(key=f"what-if/{word}").click().run()
        assert not app.exception
        assert asked(shown(app)) == k
        assert app.number_input(key=K).value == in_field
    assert app.button(key="what-if/redo").disabled
    app.button(key="what-if/undo").click().run()
    typed(app, 30)  # what came after is given up
    assert app.button(key="what-if/redo").disabled
    app.button(key="what-if/undo").click().run()
    assert asked(shown(app)) == 25


def test_undo_carries_out_again_what_the_session_does_not_keep_any_more() -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    typed(app, 25)
    app.session_state["state/runs"] = []
    app.button(key="what-if/undo").click().run()
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert asked(shown(app)) == 5
    assert app.number_input(key=K).value == 5
    assert not app.button(key="what-if/redo").disabled


def test_undo_takes_back_first_what_was_changed_since_the_result() -> None:
    held = load("hospital")
    first = ran_quickly(held, took=7.0)
    app = open_page(RESULTS, held)
    typed(app, 25)  # is not run at once
    app.button(key="what-if/undo").click().run()
    assert not app.exception
    assert shown(app) is first
    assert app.number_input(key=K).value == 5
    assert app.button(key="what-if/undo").disabled


def test_a_pinned_baseline_stays_until_it_is_unpinned() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    app.button(key="what-if/pin-a").click().run()
    for k in (25, 40):
        app.session_state[state.SHOWN_SINCE] = time.monotonic() - results.STOOD
        typed(app, k)
        assert app.session_state["state/baseline"].result is first
    assert app.button(key="what-if/pin-a").label == "Unset baseline"
    app.button(key="what-if/pin-a").click().run()
    second = shown(app)
    app.session_state[state.SHOWN_SINCE] = time.monotonic() - results.STOOD
    typed(app, 30)
    assert app.session_state["state/baseline"].result is second


def test_another_technique_is_one_choice() -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    app.selectbox(key="what-if/technique").set_value("mondrian").run()
    wait_for(app, "run") if "run" in app.session_state["jobs"] else app
    assert not app.exception
    assert shown(app).plan.algorithm.name == "mondrian"
    assert "what-if/algorithm/0/optimal/max_suppression" not in [n.key for n in app.number_input]


def test_chosen_levels_begin_as_those_that_are_seen() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    app.selectbox(key="what-if/technique").set_value("fixed-levels").run()
    wait_for(app, "run") if "run" in app.session_state["jobs"] else app
    assert not app.exception
    assert shown(app) is not first
    assert shown(app).account.node == first.account.node


def test_a_technique_that_cannot_give_the_model_is_refused_in_the_bar() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = open_page(RESULTS, held)
    app.selectbox(key="what-if/technique").set_value("anatomy").run()
    assert not app.exception
    assert shown(app) is first
    assert "what-if/keep" in [b.key for b in app.button]
    app.button(key="what-if/keep").click().run()
    assert app.selectbox(key="what-if/technique").value == "optimal"


def test_a_run_passed_on_the_way_is_not_what_is_compared_with() -> None:
    held = load("toth-private")
    runs: list[Result] = []
    for k in (2, 3, 4):
        with patch.object(st, "session_state", held):
            state.update_draft(models=[{"name": "k-anonymity", "k": k}])
        runs.append(carried_out(held))
    with patch.object(st, "session_state", held):
        kept = results.baseline()
        assert kept is not None
        assert kept.result is runs[0]  # the second one did not stand for two seconds
        st.session_state[state.SHOWN_SINCE] = time.monotonic() - results.STOOD
        results.restore(results.runs()[0])
        kept = results.baseline()
        assert kept is not None
        assert kept.result is runs[2]


def test_the_session_keeps_a_bounded_number_of_runs() -> None:
    held = load("toth-private")
    made = carried_out(held)
    with patch.object(st, "session_state", held):
        for turn in range(results.MOST_RUNS + 3):
            of: Any = {"fingerprint": str(turn), "choices": state.choices()}
            results.keep(replace(made), made_of=of)
        assert len(results.runs()) == results.MOST_RUNS
        assert results.runs()[-1].result is results.last()
        assert results.of_choices("0") is None


def test_a_run_that_is_shown_again_keeps_its_number() -> None:
    held = load("toth-private")
    made = carried_out(held)
    with patch.object(st, "session_state", held):
        first = results.runs()[0]
        for turn in range(results.MOST_RUNS - 1):
            of: Any = {"fingerprint": str(turn), "choices": state.choices()}
            results.keep(replace(made), made_of=of)
        before = results.runs()
        results.restore(first)
        assert [kept.made_of for kept in results.runs()] == [kept.made_of for kept in before]
        assert results.runs()[0].result is results.last()
        results.keep(replace(made), made_of={"fingerprint": "more", "choices": state.choices()})
        kept = [run.made_of["fingerprint"] for run in results.runs()]
        assert kept == [run.made_of["fingerprint"] for run in before[1:]] + ["more"]


@pytest.mark.parametrize(
    ("value", "before", "better", "sign", "tone"),
    [
        (0.2, 0.1, "less", "▲", "worse"),
        (0.1, 0.2, "less", "▼", "better"),
        (0.2, 0.1, "more", "▲", "better"),
        (0.1, 0.1, "less", "=", "same"),
    ],
)
def test_arrows_are_coloured_by_better_and_worse_of_their_figure(
    value: float, before: float, better: str, sign: str, tone: str
) -> None:
    drawn = headline_figures.against(value, before, "<b>", better=better)
    assert sign in drawn
    assert f"aw-{tone}" in drawn
    assert "<b>" not in drawn


def opened(app: AppTest) -> AppTest:
    """Open the columns of the bar."""
    app.session_state["what-if/columns"] = True
    return app.run()


def test_a_coarser_level_of_one_column_is_one_choice() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    node = first.account.node
    assert node is not None
    app = opened(open_page(RESULTS, held))
    heights = {n: h.height for n, h in first.problem.hierarchies.items()}
    coarser = next(n for n in node if node[n] < heights[n])
    handles = app.select_slider(key=f"what-if/between/{coarser}")
    assert handles.value == (0, heights[coarser])
    handles.set_value((node[coarser] + 1, heights[coarser])).run()
    assert not app.exception
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert cast(Any, shown(app).account.node)[coarser] > node[coarser]
    assert shown(app).account.proven
    assert shown(app).plan.level_bounds.as_mapping() == {coarser: {"least": node[coarser] + 1}}
    assert shown(app).verification.holds
    app.button(key="back").click().run()
    assert shown(app) is first


def test_bounds_that_leave_nothing_are_lifted_in_one_click() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    others = {"admission_date": {"least": 3}, "zip": {"most": 0}}
    held["state/work"]["draft"]["level_bounds"] = others
    app = opened(open_page(RESULTS, held))
    app.select_slider(key="what-if/between/age").set_value((0, 0)).run()
    assert not app.exception
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    app.run()
    assert "within the bounds" in words(app)
    lift = next(b for b in app.button if "highest level of \\'age\\'" in b.label)
    lift.click().run()
    assert not app.exception
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert shown(app).plan.level_bounds.as_mapping() == others
    assert first.plan.level_bounds.as_mapping() == {}


def test_levels_that_are_named_are_chosen_one_by_one() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    node = first.account.node
    assert node is not None
    held["state/work"]["draft"]["algorithm"] = by_levels(node, 0.05)
    ran_quickly(held)
    app = opened(open_page(RESULTS, held))
    coarser = next(n for n in node if node[n] < first.problem.hierarchies[n].height)
    field = app.selectbox(key=f"what-if/level/{coarser}")
    assert field.value == node[coarser]
    field.set_value(node[coarser] + 1).run()
    assert not app.exception
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert shown(app).account.node == {**node, coarser: node[coarser] + 1}


def test_a_column_is_left_out_and_put_back_in_one_click_each() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    quasi = first.problem.quasi
    app = opened(open_page(RESULTS, held))
    app.button(key=f"what-if/leave/{quasi[0]}").click().run()
    assert not app.exception
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert shown(app).problem.quasi == quasi[1:]
    assert quasi[0] in shown(app).left_out
    opened(app)
    with patch.object(jobs, "start", side_effect=AssertionError("a known run was run again")):
        app.button(key=f"what-if/back/{quasi[0]}").click().run()
    assert not app.exception
    assert shown(app) is first


def test_levels_that_are_named_go_with_a_column_that_is_left_out() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    assert first.account.node is not None
    held["state/work"]["draft"]["algorithm"] = by_levels(first.account.node, 0.05)
    ran_quickly(held)
    app = opened(open_page(RESULTS, held))
    gone = first.problem.quasi[-1]
    app.button(key=f"what-if/leave/{gone}").click().run()
    if "run" in app.session_state["jobs"]:
        wait_for(app, "run")
    assert not app.exception
    assert gone not in shown(app).problem.quasi
    assert "what-if/keep" not in [b.key for b in app.button]


def test_a_technique_without_levels_offers_to_leave_columns_out() -> None:
    held = load("hospital", algorithm={"name": "mondrian"})
    ran_quickly(held)
    app = opened(open_page(RESULTS, held))
    assert not app.exception
    assert not [s for s in app.selectbox if str(s.key).startswith("what-if/level/")]
    assert [b for b in app.button if str(b.key).startswith("what-if/leave/")]


def test_people_who_are_unique_over_all_columns_have_a_sign_in_the_strip() -> None:
    held = load("hospital")
    ran_quickly(held)
    app = open_page(RESULTS, held)
    total, alone = shown(app).unique_of
    assert alone is not None
    assert ("unique over all columns" in strip(app)) == (alone >= total / 2)
    assert alone >= total / 2
    vars(shown(app))["unique_of"] = (total, 0)
    assert "unique over all columns" not in strip(app.run())


def test_classes_counted_in_another_k_have_no_arrow() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    app = typed(open_page(RESULTS, held), 25)
    now, before = Facts(result=shown(app)), Facts(result=first)
    title = title_of("average-class-size")

    def changes(base: Facts) -> dict[str, str]:
        run = Series(letter="", title="", facts=now, colour="#000000")
        with patch("ui.charts.metric_plots.bullets") as drawn:
            metric_bullets([run], palette(), (), base)
        return {line.name: line.change for line in drawn.call_args.args[0]}

    assert changes(before)[title] == "–"
    assert changes(before)[title_of("precision")]
    assert changes(now)[title_of("precision")] == ""
    assert {n for n, change in changes(before).items() if change == "–"} == {title}


#: A plan for every kind of model whose numbers the bar draws.
MODELS: tuple[list[dict[str, Any]], ...] = (
    [{"name": "k-anonymity", "k": 3}],
    [{"name": "k-anonymity", "k": 3}, {"name": "l-diversity", "l": 2, "column": ""}],
    [{"name": "t-closeness", "t": 0.6, "column": ""}],
    [{"name": "beta-likeness", "beta": 9.0, "column": ""}],
    [{"name": "delta-disclosure", "delta": 4.0, "column": ""}],
    [{"name": "alpha-k-anonymity", "alpha": 0.9, "k": 2, "column": ""}],
)


@pytest.mark.parametrize("models", MODELS, ids=lambda m: "+".join(one["name"] for one in m))
def test_invariant_every_number_in_force_is_a_field_and_what_it_shows_is_the_draft(
    models: list[dict[str, Any]],
) -> None:
    """Whatever the models, each number of them is drawn once, and no refusal changes the draft."""
    held = load("hospital", models=models)
    with patch.object(st, "session_state", held):
        settings = what_if.settings()
        named = {(s.table, s.place, s.parameter.name): s.value for s in settings}
        for place, table in enumerate(models):
            for name, value in table.items():
                if isinstance(value, int | float):
                    assert named[("models", place, name)] == value
        for one in settings:
            before, result = state.choices(), results.last()
            low = one.parameter.low
            if low is None:
                continue
            what_if.change(
                one, type(low)(low - 1) if one.parameter.kind != "integer" else int(low) - 1
            )
            refused = what_if.refused()
            assert refused is not None
            assert refused.nearest == low
            assert state.choices() is before
            assert results.last() is result


def test_the_same_settings_run_again_are_not_compared_with_themselves() -> None:
    held = load("hospital")
    ran_quickly(held)
    held[state.SHOWN_SINCE] = time.monotonic() - results.STOOD
    carried_out(held)
    app = open_page(RESULTS, held)
    assert "Back to baseline" not in labels(app)


@pytest.mark.parametrize(
    ("before", "now", "shown"), [(5000, 5000, "1,089<"), (9, 8, "1,089 of 9<"), (0, 0, "1,089<")]
)
def test_of_how_many_a_has_them_is_said_once(before: int, now: int, shown: str) -> None:
    def tile(people: int, total: int) -> Tile:
        figure = f"{people:,} of {total:,}" if total else f"{people:,}"
        return Tile(
            name="People at risk",
            figure=figure,
            word="",
            verdict="plain",
            note="",
            value=people,
            total=total,
        )

    assert shown in headline_figures._tile(tile(98, now), tile(1089, before), pending=False)
