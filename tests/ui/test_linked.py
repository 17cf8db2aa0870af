"""One choice for all panels of Results: from a number, a row or a bin, and back to none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st

from tests.ui.sessions import CLASSES, RESULTS, carried_out, load, open_page, words
from ui.charts.chart_frame import Chart, Series, light_palette
from ui.charts.tracks import binned
from ui.panels.results import linked_charts
from ui.panels.results.class_selection import figures
from ui.state import selection
from ui.state.result_view import Facts


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    """Return a session with a release of five thousand rows in it."""
    held = load("hospital", algorithm={"name": "mondrian"})
    carried_out(held)
    return held


@pytest.fixture(scope="module")
def facts(held: dict[str, Any]) -> Facts:
    """Return what charts are drawn from."""
    with patch.object(st, "session_state", held):
        from ui.state import results

        result = results.last()
    assert result is not None
    return Facts(result=result)


def test_a_class_chosen_by_its_number_is_chosen_everywhere() -> None:
    held = load()
    facts = Facts(result=carried_out(held))
    app = open_page(RESULTS, {**held, "chosen-by-number": True})
    number = next(n for n in app.number_input if n.label == "Choose a class by its number")
    number.set_value(2).run()
    assert not app.exception
    size = int(facts.sizes[facts.by_size[1]])
    said = words(app)
    assert f"**Chosen: class 2** – {size:,} rows" in said
    notes = [part.proto.body for part in app.get("html") if "aw-table-note" in part.proto.body]
    assert f"1–{size:,} of {size:,} chosen<" in notes[0]
    next(b for b in app.button if b.key == "chosen-clear").click().run()
    assert not app.exception
    assert "No class is selected" in words(app)


def test_a_row_chooses_its_class_and_another_release_has_none(session: None, facts: Facts) -> None:
    del session
    selection.choose_row(facts, 41)
    now = selection.now(facts)
    assert now is not None
    assert now.groups.tolist() == [facts.result.row_group[41]]
    assert selection.mask(facts).sum() == 1
    held = load()
    assert selection.now(Facts(result=carried_out(held))) is None
    turn = selection.turn()
    selection.clear()
    assert selection.now(facts) is None
    assert selection.turn() == turn + 1  # fields are drawn afresh, without the old number


@pytest.fixture
def clicks(
    session: None, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[int]]:
    """Return what lets the browser have bins selected; it returns the classes chosen then."""
    del session
    monkeypatch.setattr(linked_charts, "redraw_linked", lambda: None)
    selection.clear()
    part = binned([Series(letter="", title="", facts=facts, colour="#0072B2")])

    def click(*ids: str) -> list[int]:
        linked_charts.take(facts, part, ids)
        return np.flatnonzero(selection.mask(facts)).tolist()

    return click


def bin_(facts: Facts, at: int) -> str:
    return f"{linked_charts.turn_of(facts)}/{at}"


def of(facts: Facts, at: int) -> list[int]:
    part = binned([Series(letter="", title="", facts=facts, colour="#0072B2")])
    return sorted(part.groups(facts, at).tolist())


def test_a_click_chooses_the_classes_of_its_bin(clicks: Any, facts: Facts) -> None:
    assert len(facts.sizes) > 160
    assert clicks(bin_(facts, 5)) == of(facts, 5)
    low, high = (facts.place[of(facts, 5)] + 1).min(), (facts.place[of(facts, 5)] + 1).max()
    assert selection.title(facts) == f"classes {low:,} to {high:,} ({high - low + 1})"
    assert clicks(bin_(facts, 9)) == of(facts, 9)  # and not those before
    assert clicks() == []  # a second click on it, or a double click


def test_a_click_with_shift_adds_and_takes_away(clicks: Any, facts: Facts) -> None:
    first = bin_(facts, 5)
    clicks(first)
    second = bin_(facts, 9)
    assert clicks(first, second) == sorted(of(facts, 5) + of(facts, 9))
    assert clicks(second) == of(facts, 9)
    selection.choose(facts, np.array(of(facts, 7)), "elsewhere")
    assert clicks(second, bin_(facts, 3)) == sorted(of(facts, 3) + of(facts, 7))


def test_what_was_selected_before_the_choice_changed_chooses_nothing(
    clicks: Any, facts: Facts
) -> None:
    old = bin_(facts, 5)
    clicks(old)
    selection.choose(facts, np.array(of(facts, 7)), "elsewhere")
    assert clicks(old) == of(facts, 7)
    assert clicks(bin_(facts, 400)) == of(facts, 7)


def test_the_browser_marks_what_was_clicked_and_gets_the_tracks_only_where_it_was_not(
    clicks: Any, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Series(letter="", title="", facts=facts, colour="#0072B2")

    def drawn() -> Chart:
        return linked_charts.of_run(run, light_palette())

    def marked() -> bool:
        return any(drawn().figure.data["bars"]["chosen"].to_pylist())

    monkeypatch.setattr(linked_charts, "draws_alone", lambda: True)
    before = drawn()
    clicks(bin_(facts, 5))
    assert drawn() is before
    clicks(bin_(facts, 5), bin_(facts, 9))
    assert drawn() is before
    selection.choose(facts, np.array(of(facts, 7)), "elsewhere")
    assert marked()
    clicks(bin_(facts, 5))
    assert not marked()
    monkeypatch.setattr(linked_charts, "draws_alone", lambda: False)  # the page is drawn
    assert marked()


def test_what_is_chosen_is_marked_in_metrics_and_attacks(clicks: Any, facts: Facts) -> None:
    assert linked_charts.lost(facts) == linked_charts.exposed(facts) == {}
    here = clicks(bin_(facts, 5))
    loss = facts.result.measures["loss"].per_class
    assert loss is not None
    expected = np.average(loss[here], weights=facts.hiding[here])
    assert linked_charts.lost(facts)["Loss"] == pytest.approx(expected)
    attack = next(a for a in facts.attacks if a.attack == "prosecutor")
    assert linked_charts.exposed(facts)["Prosecutor"] == attack.per_class[here].max()


def test_the_figures_of_a_class_are_its_own(facts: Facts) -> None:
    group = int(facts.by_size[0])
    numbers = figures(facts, np.array([group])).set_index("figure")["chosen"]
    loss = facts.result.measures["loss"].per_class
    assert loss is not None
    assert numbers["Loss, mean of the classes"] == f"{loss[group]:.3f}"
    assert numbers["rows"].startswith(f"{facts.sizes[group]:,} ")
    for column, text in facts.cells(group).items():
        assert numbers[column] == text


def test_classes_are_gone_through_in_the_order_of_their_sizes() -> None:
    held = load()
    carried_out(held)
    app = open_page(RESULTS, held)
    app.button(key="chosen-larger").click().run()
    assert "**Chosen: class 1**" in words(app)
    assert app.button(key="chosen-smaller").disabled
    app.button(key="chosen-larger").click().run()
    assert "**Chosen: class 2**" in words(app)
    app.button(key="chosen-smaller").click().run()
    assert "**Chosen: class 1**" in words(app)
    assert not app.exception


def test_a_row_is_followed_into_the_next_release_and_a_class_is_not(
    session: None, facts: Facts
) -> None:
    del session
    coarser = load(
        "hospital", algorithm={"name": "mondrian"}, models=[{"name": "k-anonymity", "k": 50}]
    )
    after = Facts(result=carried_out(coarser))
    selection.choose_row(facts, 41)
    assert selection.follow(facts) == ""
    assert selection.follow(after) == ""
    now = selection.now(after)
    assert now is not None
    assert now.groups.tolist() == [after.result.row_group[41]]
    selection.choose_number(facts, 7)
    assert selection.follow(after) == "The choice ended with the run before: class 7."
    assert selection.now(after) is None
    assert selection.follow(facts) == ""
    assert selection.title(facts) == "class 7"  # back to the release it is a class of


def test_a_further_track_is_chosen_in_the_drawer_and_stays() -> None:
    held = load("hospital", algorithm={"name": "mondrian"})
    carried_out(held)
    app = open_page(RESULTS, held, tab=CLASSES)
    app.multiselect(key="tracks/more/choice").set_value(["Prosecutor"]).run()
    assert not app.exception
    assert app.session_state["tracks/more"] == ("Prosecutor",)
    app.session_state["drawer"] = ""
    app.run()
    assert not app.exception
    assert app.session_state["tracks/more"] == ("Prosecutor",)
