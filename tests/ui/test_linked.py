"""One choice for all panels of Results: from a number, a row, a bar or a cell, and back to none."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st

from tests.ui.sessions import RESULTS, carried_out, load, open_page, words
from ui.charts.chart_frame import light_palette
from ui.charts.linked_plots import bars, counts, picked, share_spread, size_spread, strips
from ui.panels.linked import figures
from ui.session import chosen
from ui.session.result_view import Facts


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
        from ui.session import results

        result = results.last()
    assert result is not None
    return Facts(result=result)


def test_a_class_chosen_by_its_number_is_chosen_everywhere() -> None:
    held = load()
    facts = Facts(result=carried_out(held))
    app = open_page(RESULTS, held)
    number = next(n for n in app.number_input if n.label == "Choose a class by its number")
    number.set_value(2).run()
    assert not app.exception
    size = int(facts.sizes[facts.by_size[1]])
    said = words(app)
    assert f"**Chosen: class 2** – 1 class, {size:,} rows" in said
    assert f"Rows 1 to {size:,} of {size:,}" in said  # of the table
    assert said.count("dots mark where the chosen ones stand") == 2  # metrics and attacks
    next(b for b in app.button if b.key == "chosen-clear").click().run()
    assert not app.exception
    assert "Nothing is chosen" in words(app)
    assert "dots mark" not in words(app)


def test_a_row_chooses_its_class_and_another_release_has_none(session: None, facts: Facts) -> None:
    del session
    chosen.choose_row(facts, 41)
    now = chosen.now(facts)
    assert now is not None
    assert now.groups.tolist() == [facts.result.row_group[41]]
    assert chosen.mask(facts).sum() == 1
    held = load()
    assert chosen.now(Facts(result=carried_out(held))) is None
    turn = chosen.turn()
    chosen.clear()
    assert chosen.now(facts) is None
    assert chosen.turn() == turn + 1  # charts are drawn afresh, without the old mark


def test_a_bar_is_the_classes_of_its_bin(facts: Facts) -> None:
    spread = size_spread(facts)
    label = next(b for at, b in enumerate(spread.bins) if (spread.place == at).any())
    groups, title = picked([spread], spread.name, label)
    low = int(label.split("–")[0].replace(",", ""))
    assert facts.hiding[groups].min() >= low
    assert label in title
    assert picked([spread], "no such chart", label)[0].size == 0


def test_every_person_is_counted_once_and_no_row_is_sent(facts: Facts) -> None:
    values = np.linspace(0, 1, len(facts.sizes))
    spreads = [size_spread(facts), share_spread("a", values), share_spread("b", values**2)]
    mine = np.arange(len(facts.sizes)) < 5
    frame = counts(facts, spreads, mine)
    for name in ("a", "b", spreads[0].name):
        here = frame[frame["what"] == name]
        assert here["people"].sum() == facts.hiding.sum()
        assert here["chosen people"].sum() == facts.hiding[:5].sum()
    assert share_spread("c", np.array([0.0, 0.01, 0.3, 1.0])).place.tolist() == [0, 1, 5, 7]
    colours = light_palette()
    drawn = strips(facts, spreads[1:], mine, colours, title="t", axis="x").figure
    assert len(json.dumps(drawn)) < 20_000
    assert len(json.dumps(bars(facts, spreads[0], mine, colours, "#0072B2").figure)) < 20_000


def test_the_figures_of_a_class_are_its_own(facts: Facts) -> None:
    group = int(facts.by_size[0])
    told = figures(facts, np.array([group])).set_index("figure")["chosen"]
    loss = facts.result.measures["loss"].per_class
    assert loss is not None
    assert told["Loss, mean of the classes"] == f"{loss[group]:.3f}"
    assert told["rows"].startswith(f"{facts.sizes[group]:,} ")
    for column, text in facts.cells(group).items():
        assert told[column] == text
