"""Promises on Run: chosen by what they stop, with what the table allows and an example of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError
from anon_core.base.params import Parameter
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.example_groups import examples
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.model import GroupModel
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.release.problem import Problem, build_problem
from tests.ui.sessions import (
    CLASSES,
    RESULTS,
    RUN,
    carried_out,
    choose,
    load,
    open_page,
    words,
)
from ui.charts import run_series
from ui.charts.chart_frame import light_palette
from ui.charts.example_plot import example_chart
from ui.charts.verdict_plot import verdict_chart
from ui.forms import technique_picker
from ui.forms.allowed_range import range_of
from ui.forms.model_picker import QUESTIONS, hindrance, offered
from ui.state import state

STOPS = "model_picker/stops"
MODELS = cast(dict[str, type[GroupModel]], family("model"))
TECHNIQUES = cast(dict[str, type[Algorithm]], family("algorithm"))

#: Promises about the way a release is made, or about what each person asked for.
NOT_OF_GROUPS = ("differential-privacy", "personalized")


def button(app: AppTest, key: str) -> Any:
    return next(b for b in app.button if b.key == key)


def ask(app: AppTest, stops: str) -> AppTest:
    return next(c for c in app.button_group if c.key == STOPS).set_value(stops).run()


def said(app: AppTest) -> str:
    return words(app).replace("\\", "")


def numbers() -> Problem:
    """Return a table with a sensitive column of numbers and one of texts."""
    rows = [(20 + i % 6, 1000 + 250 * (i % 9), "abcd"[i % 4]) for i in range(36)]
    frame = pd.DataFrame(rows, columns=["age", "pay", "ill"]).astype(str)
    table = Dataset.from_frame(frame, kinds={"age": "number", "pay": "number"}, source="made up")
    return build_problem(table, Roles(quasi=("age",), sensitive=("pay", "ill")))


# ---- chosen by what it stops ---------------------------------------------------------------------


def test_every_promise_is_offered_once_under_what_it_stops() -> None:
    app = open_page(RUN, load("hospital"))
    found: list[str] = []
    for stops in QUESTIONS:
        ask(app, stops)
        assert not app.exception
        shown = [
            str(b.key).removeprefix("add-") for b in app.button if str(b.key).startswith("add-")
        ]
        assert {MODELS[name].aim.stops for name in shown} == {stops}
        found += shown
    assert sorted(found) == sorted(n for n, kind in MODELS.items() if issubclass(kind, GroupModel))


@pytest.mark.parametrize("stops", QUESTIONS)
def test_a_few_are_offered_first(stops: Any) -> None:
    first, more = offered(stops, TECHNIQUES["optimal"])
    assert 1 <= len(first) <= 3
    places = [MODELS[name].aim.offered_at for name in first]
    assert places == list(range(1, len(first) + 1))
    assert not any(MODELS[name].aim.offered_at for name in more)


def test_promises_about_a_column_stop_that_values_are_learned() -> None:
    for kind in MODELS.values():
        about_values = any(p.kind == "column" for p in kind.parameters())
        assert (kind.aim.stops == "attribute") == about_values, kind.name


def test_what_no_promise_stops_yet_is_asked_first() -> None:
    app = open_page(RUN, load("hospital"))
    assert app.session_state[STOPS] == "attribute"


def test_what_a_technique_cannot_host_is_shown_with_the_reason() -> None:
    app = open_page(RUN, load("hospital", models=[{"name": "bucket-size", "k": 2}]))
    choose(app, "anatomy")
    ask(app, "identity")
    assert button(app, "add-k-anonymity").disabled
    assert "k-anonymity is not defined where columns are permuted separately" in said(app)
    choose(app, "mondrian")
    assert not button(app, "add-k-anonymity").disabled


def test_promises_made_for_groups_come_first_where_columns_are_permuted() -> None:
    assert offered("identity", TECHNIQUES["anatomy"])[0][0] == "bucket-size"
    assert "bucket-size" in offered("identity", TECHNIQUES["optimal"])[1]


def test_what_the_table_lacks_is_said_beside_the_promise() -> None:
    app = open_page(RUN, load("hospital"))
    ask(app, "presence")
    assert button(app, "add-delta-presence").disabled
    assert "eeds a public table" in said(app)
    ask(app, "attribute")
    assert button(app, "add-k-e-anonymity").disabled  # diagnoses are not numbers
    assert "is about numbers" in said(app)


@pytest.mark.parametrize("technique", list(TECHNIQUES))
def test_a_promise_that_is_offered_is_not_refused_by_the_technique(technique: str) -> None:
    """And a technique can be asked without settings of its own."""
    some = {n: hindrance(m, TECHNIQUES[technique], people=True) for n, m in MODELS.items()}
    assert any(not why for why in some.values())
    if TECHNIQUES[technique].shape.permutes:
        assert some["k-anonymity"]


# ---- what the table allows -----------------------------------------------------------------------


def test_the_table_tells_how_far_a_parameter_goes() -> None:
    models = [{"name": "entropy-l-diversity", "l": 2.0, "column": ""}]
    app = open_page(RUN, load("toth-private", models=models))
    assert "This table allows l up to 6.727" in said(app)
    (slider,) = app.slider
    assert (slider.min, slider.max, slider.value) == (1.0, 6.727, 2.0)
    slider.set_value(3.5).run()
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["models"][0]["l"] == 3.5
    typed = next(n for n in app.number_input if str(n.key).endswith("entropy-l-diversity/l"))
    assert typed.value == 3.5
    typed.set_value(2.123456).run()  # what a slider cannot reach
    assert app.session_state["state/work"]["draft"]["models"][0]["l"] == 2.123456
    assert app.slider[0].value == 2.123456


def test_an_impossible_request_is_told_with_the_best_value_before_a_run() -> None:
    models = [{"name": "entropy-l-diversity", "l": 7.0, "column": ""}]
    app = open_page(RUN, load("toth-private", models=models))
    (shown,) = (w.value for w in app.warning if "impossible for this table" in w.value)
    assert "Choose l of at most 6" in shown.replace("\\", "")
    assert "6.72717" in shown.replace("\\", "")
    assert "Best possible" not in said(app)  # the message says it
    assert app.slider[0].value == 6.727  # as far as it goes
    assert app.session_state["state/work"]["draft"]["models"][0]["l"] == 7.0


def test_rows_that_may_be_removed_widen_the_range() -> None:
    held = load(
        "toth-private",
        models=[{"name": "frequency-l-diversity", "l": 2, "column": ""}],
        algorithm={"name": "optimal", "max_suppression": 0.0},
    )
    app = open_page(RUN, held)
    assert "This table allows l up to 4." in said(app)
    budget = next(n for n in app.number_input if str(n.key).endswith("max_suppression"))
    budget.set_value(0.25).run()
    assert "This table allows l up to 7 with up to 2 rows suppressed." in said(app)


@pytest.mark.parametrize(
    ("allowed", "low", "high", "given"),
    [
        ([], None, None, None),
        ([Allowed(parameter="x", low=0.0, high=1.0)], 0.0, 1.0, ""),
        ([Allowed(parameter="x", high=0.7777777)], 0.0, 0.7777, "up to 0.7777."),
        ([Allowed(parameter="x", low=0.1111111)], 0.1112, 1.0, "from 0.1112."),
        ([Allowed(parameter="x", low=0.25, open=True)], 0.25, 1.0, "above 0.25."),
        (
            [
                Allowed(parameter="x", column="a", high=0.75),
                Allowed(parameter="x", column="b", high=0.5),
            ],
            0.0,
            0.5,
            "up to 0.5 (by 'b').",
        ),
    ],
)
def test_ranges_in_words(
    allowed: list[Allowed], low: float | None, high: float | None, given: str | None
) -> None:
    name = "x"
    parameter = Parameter(
        name=name, kind="number", default=0.5, help="A share.", label=name, low=0.0, high=1.0
    )
    found = range_of(parameter, allowed)
    if given is None:
        assert found is None
    else:
        assert found is not None
        assert (found.low, found.high) == (low, high)
        assert found.words == (f"This table allows {name} {given}" if given else "")


# ---- a class that keeps it and one that breaks it ------------------------------------------------


@pytest.mark.parametrize("name", [n for n in MODELS if n not in NOT_OF_GROUPS])
def test_examples_are_what_the_promise_says_of_them(name: str) -> None:
    """Both sides are asked again, and differ by one row."""
    own = sample("toth-private")
    people = sample("toth-public")
    kinds: Any = dict(own.types)
    of = build_problem(
        Dataset.from_frame(own.frame(), kinds=kinds, source="a"),
        own.roles,
        population=Dataset.from_frame(
            people.frame(), kinds=cast(Any, dict(people.types)), source="b"
        ),
    )
    stated: dict[str, object] = {
        "k-map-by-size": {"share": 0.9},
        "profitability": {"benefit": 5.0, "loss": 9.0, "gain": 9.0, "cost": 4.0},
        "population-uniques": {"people": people.rows, "share": 0.001},
    }.get(name, {})
    try:
        kept, broken = examples(MODELS[name].from_mapping(stated), of)
    except AnonError:
        of = numbers()
        kept, broken = examples(MODELS[name].from_mapping({"column": "pay"}), of)
    assert kept is not None
    assert kept.holds
    assert broken is not None
    assert not broken.holds
    assert kept.why != broken.why
    if kept.values:
        before, after = dict(kept.values), dict(broken.values)
        moved = [abs(before.get(v, 0) - after.get(v, 0)) for v in {*before, *after}]
        assert sum(moved) == 2


@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_example_follows_the_parameter(k: int) -> None:
    kept, broken = examples(MODELS["k-anonymity"].from_mapping({"k": k}), numbers())
    assert kept is not None
    assert min(kept.sizes) == k
    assert broken is not None
    assert min(broken.sizes) == k - 1
    assert broken.each == (False, True, True, True)


def test_the_chart_draws_what_was_found() -> None:
    model = MODELS["frequency-l-diversity"].from_mapping({"l": 4, "column": "ill"})
    kept, broken = examples(model, numbers())
    chart = example_chart(model, kept, broken, light_palette(), ("ill",))
    good, bad = list(cast(Any, chart.figure).data)
    assert kept is not None
    assert sum(good.x) == kept.sizes[0]
    assert max(good.x) * 4 <= sum(good.x)
    assert max(bad.x) * 4 > sum(bad.x)
    assert set(bad.marker.pattern.shape) == {"/"}  # shown by more than colour
    assert "at most 1 in 4 is allowed" in chart.note


def test_what_all_classes_break_together_is_marked_in_all_of_them() -> None:
    model = MODELS["average-risk"].from_mapping({"risk": 0.2})
    chart = example_chart(model, *examples(model, numbers()), light_palette())
    good, bad = list(cast(Any, chart.figure).data)
    assert len(good.y) / sum(good.y) <= 0.2 < len(bad.y) / sum(bad.y)
    assert set(good.marker.pattern.shape) == {""}
    assert set(bad.marker.pattern.shape) == {"/"}


def test_the_picture_is_drawn_where_somebody_looks() -> None:
    app = open_page(RUN, load("hospital"))
    assert "What k-anonymity lets pass" not in said(app)
    app.session_state["example-0"] = True
    app.run()
    assert not app.exception
    assert "What k-anonymity lets pass, and what not" in said(app)
    assert "The smallest group has four rows; at least 5 are asked for." in said(app)


def test_several_sensitive_columns_are_told_to_be_protected_each_by_itself() -> None:
    models = [{"name": "l-diversity", "l": 2, "column": ""}]
    held = load("hospital", models=models)
    assert "is protected by itself" not in said(open_page(RUN, held))
    roles = held["state/work"]["roles"]
    roles["sensitive"] = [*roles["sensitive"], roles["quasi"].pop()]
    assert "is protected by itself. That is weaker" in said(open_page(RUN, held))


# ---- what every class reaches, on Results --------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        {"name": "t-closeness", "t": 0.5, "distance": "equal", "column": ""},
        {"name": "entropy-l-diversity", "l": 1.5, "column": ""},
    ],
)
def test_results_draw_what_every_class_reaches(model: dict[str, Any]) -> None:
    held = load("toth-private", models=[model])
    result = carried_out(held)
    app = open_page(RESULTS, held, tab=CLASSES)
    next(c for c in app.button_group if c.key == "classes").set_value("Privacy models").run()
    assert not app.exception
    title = MODELS[model["name"]].title
    assert f"{title}, Salary: what every class reaches" in said(app)
    (verdict,) = result.verdicts
    assert verdict.sentence in said(app)
    run = run_series.of_result(result, light_palette())
    (bars,) = list(cast(Any, verdict_chart([run], light_palette(), 0).figure).data)
    assert sum(bars.y) == len(verdict.per_class) == len(result.class_sizes)


# ---- persons with several rows, and what is about the way a release is made ----------------------


def test_what_cannot_count_persons_is_disabled_where_a_column_tells_them() -> None:
    for kind in MODELS.values():
        why = hindrance(kind, TECHNIQUES["optimal"], people=True, person="patient")
        alone = hindrance(kind, TECHNIQUES["optimal"], people=True)
        assert bool(why) == (bool(alone) or not kind.scope.counts_people), kind.name
        if not alone and why:
            assert "counts rows, and 'patient' says that a person may have several" in why
    held = load("hospital")
    with patch.object(st, "session_state", held):
        roles = state.roles()
        person = roles.identifier[0]
        others = tuple(n for n in roles.identifier if n != person)
        state.set_roles(replace(roles, identifier=others, person=person))
    app = open_page(RUN, held)
    ask(app, "attribute")
    assert button(app, "add-t-closeness").disabled
    assert not button(app, "add-frequency-l-diversity").disabled
    with patch.object(st, "session_state", held):
        for kind in TECHNIQUES.values():
            shown = technique_picker.caption(kind)
            assert ("it counts rows" in shown) == (not kind.needs.counts_people), kind.name
    rows_only = next(n for n, kind in TECHNIQUES.items() if not kind.needs.counts_people)
    choose(app, rows_only)
    assert next(b for b in app.button if b.label == "Run").disabled


def test_a_promise_about_the_way_a_release_is_made_stands_apart() -> None:
    app = open_page(RUN, load("hospital"))
    ask(app, "presence")
    shown = said(app)
    assert shown.index("Another kind of model") < shown.index("**Differential privacy**")
    assert shown.index("**δ-presence**") < shown.index("Another kind of model")
    ask(app, "attribute")
    assert "Another kind of model" not in said(app)
