"""Settings of single columns on Run: levels and weights without writing them by hand."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RUN, choose, load, open_page, wait_for
from ui.column_form import can_be_drawn


def chosen(app: AppTest) -> dict[str, Any]:
    return app.session_state["state/work"]["draft"]["algorithm"]


def test_levels_are_chosen_column_by_column() -> None:
    app = choose(open_page(RUN, load("samarati")), "fixed-levels")
    assert not app.exception
    boxes = {s.label: s for s in app.selectbox if "fixed-levels/levels" in (s.key or "")}
    quasi = app.session_state["state/work"]["roles"]["quasi"]
    assert len(boxes) == len(quasi)
    assert all(box.value == len(box.options) - 1 for box in boxes.values())
    assert boxes[quasi[0]].options[0] == "exact"
    before = boxes[quasi[0]].value
    boxes[quasi[0]].set_value(before - 1).run()
    assert not app.exception
    assert f"{quasi[0]} = {before - 1}" in chosen(app)["levels"]
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert app.session_state["state/result"].account.node[quasi[0]] == before - 1


def test_levels_of_a_recipe_are_shown_and_kept() -> None:
    quasi = load("samarati")["state/work"]["roles"]["quasi"]
    held = load("samarati", algorithm={"name": "fixed-levels", "levels": f"{quasi[1]} = 0"})
    app = open_page(RUN, held)
    shown = next(s for s in app.selectbox if s.key.endswith(f"levels/{quasi[1]}"))
    assert shown.value == 0
    assert f"{quasi[1]} = 0" in chosen(app)["levels"]


def test_only_weights_that_differ_are_written() -> None:
    app = choose(open_page(RUN, load("hospital")), "mondrian")
    assert not app.exception
    assert chosen(app)["weights"] == ""
    age = next(n for n in app.number_input if (n.key or "").endswith("mondrian/weights/age"))
    age.set_value(2.0).run()
    assert chosen(app)["weights"] == "age = 2"
    assert not app.exception


def test_the_target_of_a_specialization_can_be_chosen() -> None:
    app = choose(open_page(RUN, load("hospital")), "top-down")
    target = next(s for s in app.selectbox if (s.key or "").endswith("top-down/target"))
    assert target.options == ["the first sensitive column", "diagnosis"]


def test_names_that_would_be_read_otherwise_are_left_to_text() -> None:
    assert can_be_drawn(["age", "a = b"])
    assert not can_be_drawn(["age", "a|b"])
    assert not can_be_drawn([])
