"""Forms out of declarations, for every technique there is."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.registry import FAMILIES, Family, family

EVERY = [(which, name) for which in FAMILIES for name in family(which)]


def page(which, name):  # its source is run on its own, where no type is known
    import streamlit as st

    from anon_core.registry import find
    from ui.explain import what_is_this
    from ui.forms import parameter_form

    technique = find(which, name)
    given = st.session_state.get("given", {})
    st.session_state["shown"] = parameter_form(technique, given, key="t", sensitive=["Disease"])
    what_is_this(technique)


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_shows_the_defaults(which: Family, name: str) -> None:
    app = AppTest.from_function(page, kwargs={"which": which, "name": name}).run()
    assert not app.exception
    technique = family(which)[name]
    assert app.session_state["shown"] == {p.name: p.default for p in technique.parameters()}
    assert technique.from_mapping(app.session_state["shown"])


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_options_are_shown_in_words_and_kept_as_they_are(which: Family, name: str) -> None:
    """A form shows no raw name of another technique; what it returns are the recipe's."""
    parts = [p for p in family(which)[name].parameters() if p.kind == "choice"]
    if not parts:
        return
    app = AppTest.from_function(page, kwargs={"which": which, "name": name}).run()
    raw = {n for f in FAMILIES for n in family(f)}
    for parameter in parts:
        box = app.selectbox(key=f"t/{name}/{parameter.name}")
        assert len(set(box.options)) == len(parameter.options)
        assert not raw & set(box.options), "name the family in options_of"
        box.set_value(parameter.options[-1]).run()
        assert app.session_state["shown"][parameter.name] == parameter.options[-1]


def test_follows_the_session_and_keeps_what_is_typed() -> None:
    app = AppTest.from_function(page, kwargs={"which": "model", "name": "l-diversity"})
    app.session_state["given"] = {"l": 4, "column": "Gone"}
    app.run()
    assert app.session_state["shown"] == {"l": 4, "column": "Gone"}
    app.number_input(key="t/l-diversity/l").set_value(7).run()
    assert app.session_state["shown"]["l"] == 7
    app.session_state["given"] = {"l": 3}
    app.run()
    assert app.session_state["shown"] == {"l": 3, "column": ""}


def test_every_widget_shows_its_value_even_where_a_message_to_the_browser_is_lost() -> None:
    """A widget that is known to the session sends its value once, and its default every time."""
    app = AppTest.from_function(page, kwargs={"which": "model", "name": "l-diversity"})
    app.session_state["given"] = {"l": 4, "column": "Gone"}
    for _ in range(2):
        app.run()
        assert app.number_input(key="t/l-diversity/l").proto.default == 4
        column = app.selectbox(key="t/l-diversity/column")
        assert column.proto.options[column.proto.default] == "Gone"


def test_a_value_that_is_not_allowed_shows_the_default() -> None:
    app = AppTest.from_function(page, kwargs={"which": "model", "name": "k-anonymity"})
    app.session_state["given"] = {"k": 1}
    app.run()
    assert app.session_state["shown"] == {"k": 5}
