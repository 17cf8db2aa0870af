"""The curve under a parameter: searched in the background, shown before a value is chosen."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.pipeline import runner
from tests.ui.sessions import RESULTS, carried_out, load, open_page, words
from tests.ui.test_what_if import K, asked, labels, ran_quickly, shown, typed
from ui.charts.curve_plot import Stop, curve_frame
from ui.state import state
from ui.state.work import background_points, curve, jobs, running, what_if


@contextmanager
def session(held: Any) -> Generator[what_if.Setting]:
    """Stand within a session; yield the parameter whose curve is drawn."""
    with patch.object(st, "session_state", held):
        one = curve.setting()
        assert one is not None
        yield one


def looked_ahead(held: Any) -> background_points.Curve:
    """Look at every value, and wait until it is done."""
    with session(held) as one:
        curve.begin(one)
        job = jobs.current(curve.JOB)
        assert job is not None
        assert job.wait(60)
        assert job.state == "done"
        assert not curve.missing(one)
        return curve.of(one)


def test_a_curve_says_of_each_k_what_its_run_comes_to() -> None:
    held = load("hospital")
    first = ran_quickly(held)
    known = looked_ahead(held)
    assert 2 in known.points
    assert max(known.points) == 50
    assert 12 <= len(known.points) <= 17
    lost = [known.points[k].loss for k in sorted(known.points)]
    assert lost == sorted(lost)  # type: ignore[type-var]
    now = known.points[5.0]
    assert now == curve.point(5.0, first)
    app = open_page(RESULTS, held)
    assert not app.exception
    assert "not verified" in "".join(h.proto.body for h in app.get("html"))


def test_a_run_takes_what_was_searched_before_and_verifies_it() -> None:
    held = load("hospital")
    ran_quickly(held)
    known = looked_ahead(held)
    k = max(known.found)
    with patch.object(runner, "search", side_effect=AssertionError("it was searched again")):
        app = typed(open_page(RESULTS, held), int(k))
    assert asked(shown(app)) == k
    assert shown(app).verification.holds
    assert shown(app).release is known.found[k].release


def test_looking_ahead_stops_when_a_run_is_asked_for() -> None:
    held = load("hospital")
    ran_quickly(held)

    def waits(*_: object, context: Context, **__: object) -> None:
        while True:
            context.check()
            time.sleep(0.01)

    with session(held) as one, patch.object(curve, "foresee", waits):
        curve.begin(one)
        job = jobs.current(curve.JOB)
        assert job is not None
        assert job.state == "running"
        running.start()
        assert job.state == "cancelled"
        assert job.wait(10)
        assert jobs.current(curve.JOB) is None
        curve.begin(one)  # a run is under way
        assert jobs.current(curve.JOB) is None
        run = jobs.current(running.JOB)
        assert run is not None
        run.cancel.set()
        assert run.wait(60)


def test_where_runs_take_long_nothing_is_looked_at_unless_asked() -> None:
    held = load("hospital")
    ran_quickly(held, took=7.0)
    with session(held) as one:
        curve.begin(one)
        assert jobs.current(curve.JOB) is None
    app = open_page(RESULTS, held)
    button = app.button(key="curve/ask")
    assert button.label.startswith("Look ahead (")
    button.click().run()
    assert not app.exception
    with session(held):
        curve.ask()
    looked_ahead(held)


def test_the_curve_is_of_the_parameter_that_was_changed_last() -> None:
    held = load("hospital", models=[{"name": "k-anonymity", "k": 5},
                                    {"name": "l-diversity", "l": 2, "column": ""}])  # fmt: skip
    ran_quickly(held)
    app = open_page(RESULTS, held)
    with session(app.session_state) as one:
        assert one.parameter.name == "k"
    typed(app, 3, "what-if/models/1/l-diversity/l")
    with session(app.session_state) as one:
        assert one.parameter.name == "l"


def test_values_that_no_release_keeps_are_said_and_leave_a_gap() -> None:
    held = load("toth-private", models=[{"name": "l-diversity", "l": 2}])
    ran_quickly(held)
    known = looked_ahead(held)  # up to the eight rows, which have fewer salaries
    impossible = [k for k, point in known.points.items() if point.loss is None]
    assert impossible
    assert min(impossible) > 2
    assert not open_page(RESULTS, held).exception


def test_a_curve_is_forgotten_when_anything_else_is_changed() -> None:
    held = load("hospital")
    ran_quickly(held)
    looked_ahead(held)
    with session(held) as one:
        state.update_draft(models=[{"name": "k-anonymity", "k": 9}])
        moved = curve.setting()
        assert moved is not None
        assert 5.0 in curve.of(moved).points  # another k is another place on the same curve
        state.update_draft(algorithm={"name": "mondrian"})
        moved = curve.setting()
        assert moved is not None
        assert not curve.of(moved).points
        assert one.key == moved.key == K


@pytest.mark.parametrize("name", ["k", "max_suppression", "t", "beta"])
def test_invariant_values_go_outwards_within_what_is_allowed(name: str) -> None:
    """Whatever the parameter: the present value first, at most fifteen more, each allowed."""
    models: list[dict[str, Any]] = {
        "t": [{"name": "t-closeness", "t": 0.4, "column": ""}],
        "beta": [{"name": "beta-likeness", "beta": 9.0, "column": ""}],
    }.get(name, [{"name": "k-anonymity", "k": 7}])
    held = load("hospital", models=models)
    with patch.object(st, "session_state", held):
        one = next(s for s in what_if.settings() if s.parameter.name == name)
        found = curve.values(one, one.value if name == "k" else None)  # type: ignore[arg-type]
        assert found[0] == one.value
        assert len(set(found)) == len(found) <= curve.MOST + 1
        for value in found:
            one.parameter.accept(int(value) if name == "k" else value, "it")


def test_no_k_beyond_the_rows_is_looked_at() -> None:
    held = load("toth-private")
    rows = carried_out(held).problem.rows
    with session(held) as one:
        assert max(curve.values(one)) == rows == 8
        state.update_draft(models=[{"name": "k-anonymity", "k": 12}])
        beyond = curve.setting()
        assert beyond is not None
        assert max(curve.values(beyond)) == 12  # the present value is one of them, refused or not


def test_a_click_anywhere_means_the_nearest_value() -> None:
    stops = [Stop(value=v, loss=0.1, chance=0.1, gone=0.0, said="") for v in (8, 2, 32)]
    frame = curve_frame(stops, 1, logarithmic=True).to_pandas()
    assert frame["value"].tolist() == [2, 8, 32]
    assert frame["hi"].tolist()[:-1] == frame["lo"].tolist()[1:] == pytest.approx([4, 16])
    assert math.isclose(frame["lo"][0] * frame["hi"][2], 64)
    stops.append(replace(stops[0], value=5, sign="now", looked_at=False))
    marked = curve_frame(stops, 1, logarithmic=True).to_pandas()
    assert marked[marked["known"]].drop(columns="known").equals(frame.drop(columns="known"))
    assert marked[marked["sign"] != ""]["value"].tolist() == [5]
    assert curve_frame([], 1, logarithmic=True).num_rows == 0


def test_the_page_with_its_curve_says_nothing_twice() -> None:
    held = load("hospital")
    ran_quickly(held)
    looked_ahead(held)
    app: AppTest = open_page(RESULTS, held)
    assert "Look ahead" not in " ".join(labels(app))
    assert words(app).count("not verified") <= 1


def test_where_there_is_no_curve_its_place_says_why() -> None:
    held = load("toth-private")
    ran_quickly(held)
    impossible = {value: curve.Point(value=value) for value in (3.0, 4.0)}

    def reason(points: dict[float, curve.Point], missing: Sequence[float]) -> str:
        with (
            patch.object(curve, "of", lambda one: curve.Curve(points=points)),
            patch.object(curve, "missing", lambda *given: missing),
        ):
            app = open_page(RESULTS, held)
        assert not app.exception
        return "".join(h.proto.body for h in app.get("html"))

    assert "No value of k that was tried keeps the privacy models." in reason(impossible, [])
    assert "k has no other value to look at." in reason({}, [])
    assert "Looking ahead …" in reason({}, [2.0])


def test_a_curve_names_no_line_that_it_has_not() -> None:
    held = load("toth-private")
    ran_quickly(held)

    def reason(chance: float | None, suppressed: int) -> str:
        points = {
            value: curve.Point(
                value=value, loss=0.2, chance=chance, suppressed=suppressed, classes=2, rows=8
            )
            for value in (2.0, 3.0)
        }
        with patch.object(curve, "of", lambda one: curve.Curve(points=points)):
            app = open_page(RESULTS, held)
        assert not app.exception
        return next(h.proto.body for h in app.get("html") if "not verified" in h.proto.body)

    assert "chance</span>" in reason(0.5, 1)
    assert "suppressed" in reason(0.5, 1)
    assert "chance</span>" not in reason(None, 0)
    assert "suppressed" not in reason(None, 0)
