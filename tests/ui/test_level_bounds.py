"""Lowest and highest levels on Run: two handles a column, and what is refused with them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RUN, choose, load, open_page, words

HEIGHTS = {"age": 4, "sex": 1, "zip": 5, "admission_date": 3}


def drafted(app: AppTest) -> object:
    return app.session_state["state/work"]["draft"]["level_bounds"]


def test_each_quasi_identifier_has_two_handles_over_all_its_levels() -> None:
    app = open_page(RUN, load("hospital"))
    assert not app.exception
    sliders = {s.key: s for s in app.select_slider}
    assert {f"level-bounds/{n}": (0, h) for n, h in HEIGHTS.items()} == {
        key: slider.value for key, slider in sliders.items()
    }
    assert drafted(app) == {}
    assert "Levels of columns · any" in [fold.label for fold in app.expander]


def test_what_the_handles_leave_out_is_in_the_recipe_and_the_sentence() -> None:
    app = open_page(RUN, load("hospital"))
    app.select_slider(key="level-bounds/age").set_value((1, 2)).run()
    app.select_slider(key="level-bounds/zip").set_value((2, 5)).run()
    assert not app.exception
    assert drafted(app) == {"age": {"least": 1, "most": 2}, "zip": {"least": 2}}
    said = words(app).replace("\\", "")
    assert "'age' is published at levels 1 to 2 of its hierarchy." in said
    assert "'zip' is published at level 2 or above of its hierarchy." in said
    app.select_slider(key="level-bounds/age").set_value((0, 4)).run()
    assert drafted(app) == {"zip": {"least": 2}}


def test_a_technique_that_cannot_keep_them_says_so_and_offers_to_remove_them() -> None:
    app = open_page(RUN, load("hospital", level_bounds={"age": {"most": 2}}))
    choose(app, "mondrian")
    assert not app.exception
    assert "Mondrian, as it is set, does not keep the lowest and highest levels" in words(app)
    assert next(b for b in app.button if b.key == "run").disabled
    mend = next(b for b in app.button if b.label == "Remove the lowest and highest levels")
    mend.click().run()
    assert not app.exception
    assert drafted(app) == {}
    assert not next(b for b in app.button if b.key == "run").disabled


@pytest.mark.parametrize("technique", ["mondrian", "anatomy", "local-recoding"])
def test_without_bounds_a_technique_without_levels_has_no_drawer(technique: str) -> None:
    app = open_page(RUN, load("hospital"))
    choose(app, technique)
    assert not [fold for fold in app.expander if fold.label.startswith("Levels of columns")]


def test_bounds_of_a_column_that_is_no_quasi_identifier_any_more_are_left_out() -> None:
    app = open_page(RUN, load("hospital", level_bounds={"age": {"most": 2}, "ward": {"most": 0}}))
    assert not app.exception
    assert drafted(app) == {"age": {"most": 2}}
