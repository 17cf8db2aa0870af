"""Forms out of declarations, for every technique there is."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.params import Parameter
from anon_core.base.registry import FAMILIES, Family, family
from tests.ui.sessions import PATIENCE

EVERY = [(which, name) for which in FAMILIES for name in family(which)]


@pytest.fixture(autouse=True)
def by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let links to other pages lead nowhere: a form is drawn here without the dashboard."""
    monkeypatch.setattr(st, "page_link", lambda page, **_: page)


def page(which, name):  # its source is run on its own, where no type is known
    import streamlit as st

    from anon_core.base.registry import find
    from ui.forms.parameter_forms import parameter_form
    from ui.words.escaping import what_is_this

    technique = find(which, name)
    given = st.session_state.get("given", {})
    st.session_state["shown"] = parameter_form(technique, given, key="t", sensitive=["Disease"])
    what_is_this(technique)


def asked(which: str, name: str) -> AppTest:
    """Return a page that asks for a technique, not yet drawn."""
    expected = {"which": which, "name": name}
    return AppTest.from_function(page, kwargs=expected, default_timeout=PATIENCE)


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_shows_the_defaults_and_returns_what_is_typed(which: Family, name: str) -> None:
    app = asked(which, name).run()
    assert not app.exception
    technique = family(which)[name]
    assert app.session_state["shown"] == technique().as_mapping()
    assert technique.from_mapping(app.session_state["shown"])
    typed: dict[str, object] = {}
    fields = {"flag": app.checkbox, "integer": app.number_input, "number": app.number_input}
    for one in technique.parameters():
        text = app.text_area if one.lines else app.text_input
        field = text if one.kind == "text" else fields.get(one.kind)
        if field is not None and not one.options:
            typed[one.name] = _another(one)
            field(key=f"t/{name}/{one.name}").set_value(typed[one.name])
    if typed:
        app.run()
    assert {n: v for n, v in app.session_state["shown"].items() if n in typed} == typed


def _another(parameter: Parameter) -> object:
    """Return an allowed value of a parameter that is not its default."""
    if parameter.kind == "flag":
        return not parameter.default
    if parameter.kind == "text":
        return "abc"
    low = parameter.low if parameter.low is not None else 0
    step = 1 if parameter.kind == "integer" else 0.125
    found = float(parameter.default) + step
    if parameter.high is not None and found > parameter.high:
        found = (float(parameter.default) + low) / 2
    return int(found) if parameter.kind == "integer" else found


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_options_are_shown_in_words_and_kept_as_they_are(which: Family, name: str) -> None:
    """A form shows no raw name of another technique; what it returns are the recipe's."""
    parts = [p for p in family(which)[name].parameters() if p.options]
    if not parts:
        return
    app = asked(which, name).run()
    raw = {n for f in FAMILIES for n in family(f)}
    for parameter in parts:
        box = app.selectbox(key=f"t/{name}/{parameter.name}")
        assert len(set(box.options)) == len(parameter.options)
        assert not raw & set(box.options), "declare it by `registry.part`"
        box.set_value(parameter.options[-1]).run()
        assert app.session_state["shown"][parameter.name] == parameter.options[-1]


def test_follows_the_session_and_keeps_what_is_typed() -> None:
    app = asked("model", "l-diversity")
    app.session_state["given"] = {"l": 4, "column": "Gone"}
    app.run()
    assert app.session_state["shown"] == {"l": 4, "column": "Gone", "others_known": False}
    app.number_input(key="t/l-diversity/l").set_value(7).run()
    assert app.session_state["shown"]["l"] == 7
    app.session_state["given"] = {"l": 3}
    app.run()
    assert app.session_state["shown"] == {"l": 3, "column": "", "others_known": False}


def test_every_widget_shows_its_value_even_where_a_message_to_the_browser_is_lost() -> None:
    """A widget that is known to the session sends its value once, and its default every time."""
    app = asked("model", "l-diversity")
    app.session_state["given"] = {"l": 4, "column": "Gone"}
    for _ in range(2):
        app.run()
        assert app.number_input(key="t/l-diversity/l").proto.default == 4
        column = app.selectbox(key="t/l-diversity/column")
        assert column.proto.options[column.proto.default] == "Gone"


def test_a_value_that_is_not_allowed_shows_the_default() -> None:
    app = asked("model", "k-anonymity")
    app.session_state["given"] = {"k": 1}
    app.run()
    assert app.session_state["shown"] == {"k": 5}


def test_a_part_is_told_below_its_choice() -> None:
    app = asked("algorithm", "permutation")
    app.session_state["given"] = {"partition": {"name": "bisection", "tries": 9}}
    app.run()
    assert app.selectbox(key="t/permutation/partition").value == "bisection"
    tries = app.number_input(key="t/permutation/partition/bisection/tries")
    assert tries.value == 9
    tries.set_value(7).run()
    assert app.session_state["shown"]["partition"] == {"name": "bisection", "tries": 7}
    app.number_input(key="t/permutation/partition/bisection/tries").set_value(5).run()
    assert app.session_state["shown"]["partition"] == "bisection"
    app.selectbox(key="t/permutation/partition").set_value("rtree").run()
    assert not app.exception
    app.number_input(key="t/permutation/partition/rtree/leaf").set_value(3).run()
    app.selectbox(key="t/permutation/partition/rtree/metric").set_value("loss").run()
    given = app.session_state["shown"]["partition"]
    assert (given["name"], given["leaf"], given["metric"]) == ("rtree", 3, "loss")
    assert family("algorithm")["permutation"].from_mapping(app.session_state["shown"])


def test_what_the_owner_sets_is_not_asked_of_its_part() -> None:
    app = asked("algorithm", "local-recoding").run()
    keys = {w.key for w in (*app.number_input, *app.selectbox, *app.checkbox)}
    assert "t/local-recoding/first/optimal/transformation" in keys
    assert "t/local-recoding/max_suppression" in keys
    assert "t/local-recoding/first/optimal/max_suppression" not in keys
