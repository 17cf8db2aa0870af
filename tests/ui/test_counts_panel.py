"""Counts with noise on Run: what is counted, what it spends, and what cannot be counted."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError
from anon_core.counts.counting import files_of
from anon_core.data.samples import sample
from tests.ui.sessions import RUN, load, open_page, words
from ui.panels.run import counts_panel


def opened(held: dict[str, Any]) -> AppTest:
    """Open Run with the panel opened, as a click on it would."""
    return open_page(RUN, held | {"counts-with-noise": True})


def press(app: AppTest) -> AppTest:
    return app.button(key="counts/draw").click().run()


def test_counts_are_drawn_and_every_draw_is_entered() -> None:
    app = opened(load("hospital"))
    assert app.button(key="counts/draw").disabled
    by = app.multiselect(key="counts/by/fixed")
    assert set(by.options) <= set(sample("hospital").hierarchies)
    by.set_value([by.options[0]]).run()
    assert app.button(key="counts/draw").disabled  # nobody said where the groups come from
    assert "made without this table" in words(app)
    app.checkbox(key="counts/sure").check().run()
    assert not app.button(key="counts/draw").disabled
    assert "Nothing drawn from this table" in words(app)
    press(app)
    assert not app.exception
    assert "This draw spends ε = 0.5" in words(app)
    assert "one time, together ε = 0.5; with this one ε = 1" in words(app)
    press(app)
    assert "two times, together ε = 1; with this one ε = 1.5" in words(app)
    ledger = app.session_state["spent/by_table"]
    (own,) = ledger.values()
    assert (len(own.draws), own.epsilon, own.delta) == (2, 1.0, 0)
    assert own.last is own.draws[1]
    assert set(files_of(own.last)) == {"counts-1.csv", "guarantee.json"}


def test_categories_of_the_table_itself_take_a_delta() -> None:
    app = opened(load("hospital"))
    app.radio(key="counts/way").set_value("own").run()
    by = app.multiselect(key="counts/by/own")
    assert not set(by.options) & set(sample("hospital").identifier)
    by.set_value([by.options[0]]).run()
    press(app)
    assert not app.exception
    assert "and δ = 1e-06" in words(app)
    (own,) = app.session_state["spent/by_table"].values()
    assert own.delta == 1e-6
    assert own.last.tables[0].threshold > 0


def test_where_a_person_has_several_rows_nothing_is_counted() -> None:
    why = counts_panel.hindrance("patient_id")
    assert "'patient_id' says that a person may have several" in why


def test_where_the_library_is_missing_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise AnonError("It is not installed.", remedy="Install the extra 'dp'.")

    monkeypatch.setattr(counts_panel, "refuse_without_library", missing)
    app = opened(load("hospital"))
    assert "Install the extra 'dp'." in words(app).replace("\\", "")
    assert not [b for b in app.button if b.key == "counts/draw"]


def test_a_condition_chooses_the_rows_that_are_counted_and_starts_no_new_budget() -> None:
    held = load("hospital", types={"age": "text"})
    first = opened(held)
    first.radio(key="counts/way").set_value("own").run()
    by = first.multiselect(key="counts/by/own")
    by.set_value([by.options[0]]).run()
    press(first)
    spent = first.session_state["spent/by_table"]
    fewer = load("hospital", types={"age": "text"}, data={"where": "sex = 'F'"})
    second = opened(fewer | {"spent/by_table": spent})
    second.radio(key="counts/way").set_value("own").run()
    assert "Drawn from this table in this session: one time" in words(second)
    assert len(second.session_state["spent/by_table"]) == 1
