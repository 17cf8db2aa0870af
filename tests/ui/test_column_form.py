"""Settings of single columns on Run: levels and weights without writing them by hand."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RUN, choose, load, open_page, wait_for


def chosen(app: AppTest) -> dict[str, Any]:
    return app.session_state["state/work"]["draft"]["algorithm"]


def test_levels_are_chosen_column_by_column() -> None:
    app = choose(open_page(RUN, load("samarati")), "fixed-levels")
    assert not app.exception
    boxes = {s.label: s for s in app.selectbox if "fixed-levels/levels" in (s.key or "")}
    quasi = app.session_state["state/work"]["roles"]["quasi"]
    assert len(boxes) == len(quasi)
    assert all(box.value == 0 for box in boxes.values())
    assert boxes[quasi[0]].options[:2] == ["its most general level", "exact"]
    assert chosen(app)["levels"] == {}
    below = len(boxes[quasi[0]].options) - 3
    boxes[quasi[0]].set_value(below + 1).run()
    assert not app.exception
    assert chosen(app)["levels"] == {quasi[0]: below}
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert app.session_state["state/result"].account.node[quasi[0]] == below


def test_levels_of_a_recipe_are_shown_and_kept() -> None:
    quasi = load("samarati")["state/work"]["roles"]["quasi"]
    held = load("samarati", algorithm={"name": "fixed-levels", "levels": f"{quasi[1]} = 0"})
    app = open_page(RUN, held)
    shown = next(s for s in app.selectbox if s.key.endswith(f"levels/{quasi[1]}"))
    assert shown.value == 1
    assert chosen(app)["levels"] == {quasi[1]: 0}


def test_only_weights_that_differ_are_written() -> None:
    held = load("hospital") | {"run_form/algorithm/mondrian/weights/fold": True}
    app = choose(open_page(RUN, held), "mondrian")
    assert not app.exception
    assert chosen(app)["weights"] == {}
    age = next(n for n in app.number_input if (n.key or "").endswith("mondrian/weights/age"))
    age.set_value(2.0).run()
    assert chosen(app)["weights"] == {"age": 2.0}
    assert not app.exception


def test_the_target_of_a_specialization_can_be_chosen() -> None:
    app = choose(open_page(RUN, load("hospital")), "top-down")
    target = next(s for s in app.selectbox if (s.key or "").endswith("top-down/target"))
    assert target.options == ["the first sensitive column", "diagnosis"]


def test_limits_are_given_column_by_column() -> None:
    held = load("hospital") | {"run_form/algorithm/top-bottom-coding/limits/fold": True}
    app = choose(open_page(RUN, held), "top-bottom-coding")
    assert not app.exception
    key = "run_form/algorithm/top-bottom-coding/limits"
    fields = {t.key: t for t in app.text_input if (t.key or "").startswith(key)}
    assert f"{key}/age/low" in fields
    assert f"{key}/sex/low" not in fields, "only numbers and dates have limits"
    fields[f"{key}/age/high"].set_value("80").run()
    assert chosen(app)["limits"] == {"age": {"high": 80}}
    next(t for t in app.text_input if t.key == f"{key}/age/high").set_value("").run()
    assert chosen(app)["limits"] == {}


def test_a_column_that_has_no_place_any_more_can_be_taken_out() -> None:
    held = load("hospital", algorithm={"name": "mondrian", "weights": {"gone": 2.0}})
    app = open_page(RUN, held)
    gone = next(n for n in app.number_input if (n.key or "").endswith("weights/gone"))
    assert gone.value == 2.0
    gone.set_value(1.0).run()
    assert chosen(app)["weights"] == {}


def test_k_is_asked_of_some_columns_and_kept() -> None:
    quasi = load("samarati")["state/work"]["roles"]["quasi"]
    held = load("samarati", models=[{"name": "k-anonymity", "k": 2, "columns": [quasi[0]]}])
    app = open_page(RUN, held)
    assert not app.exception
    (box,) = [m for m in app.multiselect if (m.key or "").endswith("k-anonymity/columns")]
    assert (box.options, box.value) == (list(quasi), [quasi[0]])
    box.set_value(list(quasi[:2])).run()
    assert not app.exception
    (model,) = app.session_state["state/work"]["draft"]["models"]
    assert model["columns"] == list(quasi[:2])
    assert any("Every published combination of" in m.value for m in app.markdown)


def test_what_is_known_of_single_values_is_given_value_by_value() -> None:
    app = open_page(RUN, load("hospital", attacks=[{"name": "background", "knows": {"Asthma": 0}}]))
    assert not app.exception
    (boxes,) = (m for m in app.multiselect if (m.key or "").endswith("background/knows"))
    assert boxes.value == ["Asthma"]
    boxes.set_value(["Asthma", boxes.options[0]]).run()
    assert not app.exception
    (own,) = (n for n in app.number_input if (n.key or "").endswith("knows/Asthma"))
    own.set_value(2.0).run()
    attacks = app.session_state["state/work"]["draft"]["attacks"]
    (held,) = (a for a in attacks if a["name"] == "background")
    assert held["knows"] == {"Asthma": 2.0, boxes.options[0]: 0.0}
