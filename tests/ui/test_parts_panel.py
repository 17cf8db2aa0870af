"""Cuts over two columns on Results, and the numbers behind the drawing."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.methods.partition import parts_picture as pictures
from anon_core.methods.partition.parts_picture import parts_picture
from tests.ui.sessions import RESULTS, carried_out, load, open_page, words
from ui.charts.chart_frame import light_palette
from ui.charts.parts_plot import parts_chart
from ui.panels.results.drawers.parts_panel import applies


def chosen(app: AppTest, key: str) -> Any:
    return next(s for s in app.selectbox if s.key == key)


@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "mondrian"},
        pytest.param({"name": "mondrian", "cuts": "relaxed"}, marks=pytest.mark.long),
        pytest.param({"name": "k-member"}, marks=pytest.mark.long),
    ],
)
def test_parts_are_drawn_over_any_two_columns(algorithm: dict[str, Any]) -> None:
    held = load("hospital", algorithm=algorithm)
    result = carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    assert "Cuts" in [s.value for s in app.subheader]
    for across in result.problem.quasi:
        chosen(app, "parts/across").set_value(across).run()
        assert not app.exception
        others = [n for n in result.problem.quasi if n != across]
        assert sorted(chosen(app, "parts/up").options) == sorted(others)
        assert f"“{across}” and “{chosen(app, 'parts/up').value}”" in words(app).replace("\\", "")


def test_a_slice_holds_the_other_columns_at_a_value() -> None:
    held = load("hospital", algorithm={"name": "mondrian"})
    result = carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    drawn = {chosen(app, "parts/across").value, chosen(app, "parts/up").value}
    others = [n for n in result.problem.quasi if n not in drawn]
    assert others
    for name in others:
        box = chosen(app, f"parts/at/{name}")
        box.set_value(box.options[0]).run()
        assert not app.exception
    next(c for c in app.button_group if c.key == "parts/slice").set_value("Every class").run()
    assert not app.exception
    assert not [s for s in app.selectbox if str(s.key).startswith("parts/at/")]


def test_groups_of_permuted_rows_are_drawn_too() -> None:
    held = load(
        "hospital",
        algorithm={"name": "one-attribute-slicing"},
        models=[{"name": "bucket-size", "k": 5}],
    )
    carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    assert "what groups cover" in words(app)


def test_groups_that_gather_nothing_alike_have_no_cuts() -> None:
    models = [{"name": "frequency-l-diversity", "l": 2, "column": ""}]
    for partition, drawn in (("mondrian", True), ("anatomize", False)):
        held = load(
            "hospital", algorithm={"name": "anatomy", "partition": partition}, models=models
        )
        assert applies(carried_out(held)) is drawn


def test_a_full_domain_result_has_no_cuts() -> None:
    held = load("hospital", algorithm={"name": "datafly"})
    carried_out(held)
    app = open_page(RESULTS, held, tab="The search")
    assert not app.exception
    assert "Cuts" not in [s.value for s in app.subheader]


def test_the_drawing_and_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    held = load("hospital", algorithm={"name": "mondrian"})
    result = carried_out(held)
    noun = ("class", "classes")

    def drawn() -> Any:
        picture = parts_picture(result.problem, result.release, "age", "sex")
        return parts_chart(result.problem, picture, noun, light_palette())

    chart = drawn()
    assert int(chart.numbers["number of rows"].sum()) == result.problem.rows
    assert int(chart.numbers["number of classes"].sum()) == len(result.class_sizes)
    rectangles = next(t for t in chart.figure.data if t.mode == "lines")
    assert len(rectangles.x) == 6 * len(chart.numbers)
    assert "with most rows" not in chart.note
    monkeypatch.setattr(pictures, "MOST_BOXES", 2)
    monkeypatch.setattr(pictures, "MOST_POINTS", 9)
    few = drawn()
    assert len(few.numbers) == 2
    assert f"Of {len(chart.numbers):,} rectangles, the 2 with most rows" in few.note
    assert "share a point" in few.note
