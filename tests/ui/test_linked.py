"""One choice for all panels of Results: from a number, a row, a bar or a cell, and back to none."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st

from tests.ui.sessions import RESULTS, carried_out, load, open_page, words
from ui.charts.chart_frame import Series, light_palette
from ui.charts.class_plots import size_chart
from ui.charts.linked_plots import (
    area_spread,
    counts,
    picked,
    picks,
    share_spread,
    size_spread,
    strips,
)
from ui.charts.rows_chart import Bar
from ui.charts.treemap import treemap
from ui.panels import linked_charts
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
    assert chosen.turn() == turn + 1  # fields are drawn afresh, without the old number


def test_a_bar_is_the_classes_of_its_bin(facts: Facts) -> None:
    spread = size_spread(facts)
    at = int(spread.place.min())
    groups, title = picked([spread], f"sizes/0/{at}")
    assert groups.tolist() == np.flatnonzero(spread.place == at).tolist()
    low = int(spread.bins[at].split("–")[0].replace(",", ""))
    assert facts.hiding[groups].min() >= low
    assert spread.bins[at] in title


@pytest.mark.parametrize("place", ["", "sizes", "sizes/0", "sizes/1/0", "sizes/0/99", "sizes/0/-1"])
def test_what_is_no_bar_chooses_nothing(facts: Facts, place: str) -> None:
    groups, title = picked([size_spread(facts)], place)
    assert not groups.size
    assert not title


def test_a_bar_that_is_chosen_is_pressed_and_clears_the_choice(
    session: None, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    del session
    drawn: list[bool] = []
    monkeypatch.setattr(linked_charts, "redraw_linked", lambda: drawn.append(True))
    spread = size_spread(facts)
    at = int(spread.place.max())
    linked_charts.take(facts, f"sizes/0/{at}")
    assert chosen.mask(facts).tolist() == (spread.place == at).tolist()
    pick = picks("sizes", [spread], chosen.title(facts))
    assert [pick(0, n).pressed for n in range(len(spread.bins))] == [
        n == at for n in range(len(spread.bins))
    ]
    linked_charts.take(facts, "no such chart/0/0")
    assert chosen.now(facts) is not None
    linked_charts.take(facts, f"sizes/0/{at}")
    assert chosen.now(facts) is None
    assert len(drawn) == 2


def test_the_tabulator_stops_once_at_a_chart_and_only_where_somebody_stands(facts: Facts) -> None:
    values = np.where(np.arange(len(facts.sizes)) % 2, 0.3, 1.0)
    spreads = [share_spread("a", np.full(len(values), np.nan)), share_spread("b", values)]
    chart = strips(
        facts,
        spreads,
        np.zeros(len(values), dtype=np.bool_),
        light_palette(),
        title="t",
        axis="x",
        pick=picks("attack-strips", spreads, ""),
    )
    drawn = chart.figure.html("t", light_palette())
    assert re.findall(r'data-pick="([^"]*)" tabindex="(-?\d)"', drawn) == [
        ("attack-strips/1/5", "0"),
        ("attack-strips/1/7", "-1"),
    ]


def test_a_cell_of_few_people_is_not_that_of_nobody(facts: Facts) -> None:
    values = np.full(len(facts.sizes), 0.3)
    values[0] = 1.0
    spreads = [share_spread("a", values)]
    pick = picks("attack-strips", spreads, "")
    mine, colours = values > 1, light_palette()
    chart = strips(facts, spreads, mine, colours, title="t", axis="x", pick=pick)
    ((line,),) = (grid.cells for grid in chart.figure.grids)
    shown = {cell.tip.partition(":")[0]: cell.colour for cell in line if cell.tip}
    assert shown["a, 1"] == colours.scale[1]
    assert {cell.colour for cell in line if not cell.tip} == {colours.scale[0]}


def test_names_in_a_bar_are_no_markup(facts: Facts) -> None:
    values = np.full(len(facts.sizes), 0.3)
    spreads = [share_spread('"><img src=x>', values)]
    chart = strips(
        facts,
        spreads,
        values > 1,
        light_palette(),
        title="t",
        axis="x",
        pick=picks("attack-strips", spreads, ""),
    )
    assert "<img" not in chart.figure.html("t", light_palette())


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
    pick = picks("a", spreads[1:], "")
    drawn = strips(facts, spreads[1:], mine, colours, title="t", axis="x", pick=pick).figure
    assert len(drawn.html("t", colours)) < 20_000


def test_the_chosen_part_of_a_bar_is_that_of_its_classes(facts: Facts) -> None:
    run = Series(letter="", title="", facts=facts, colour="#0072B2")
    mine = np.arange(len(facts.sizes)) < 5
    spread = size_spread(facts)
    told = size_chart([run], light_palette(), mine).numbers
    assert told["chosen people"].sum() == facts.hiding[:5].sum()
    assert told["chosen classes"].sum() == 5
    lines = size_chart([run], light_palette(), mine).figure.plots[0].lines
    highest = told["people"].max()
    for at, label in enumerate(spread.bins):
        if (spread.place == at).any():
            here = facts.hiding[mine & (spread.place == at)].sum()
            assert lines[label][0].chosen == here / highest
    nothing = size_chart([run], light_palette(), np.zeros(len(mine), dtype=np.bool_))
    assert "chosen people" not in nothing.numbers
    assert all(
        b.chosen is None
        for line in nothing.figure.plots[0].lines.values()
        for b in line
        if isinstance(b, Bar)
    )


def test_every_class_has_an_area_and_those_beside_the_choice_are_faded(facts: Facts) -> None:
    run = Series(letter="", title="", facts=facts, colour="#0072B2")
    spread = area_spread(facts)
    assert (spread.place >= 0).all()
    mine = np.arange(len(facts.sizes)) < 5
    pick = picks("groups", [spread], "")
    drawn = treemap([run], light_palette(), mine=mine, pick=lambda at: pick(0, at)).figure.areas
    assert len(drawn) == len(spread.bins)
    for at, area in enumerate(drawn):
        groups, title = picked([spread], area.pick.place)
        assert title == spread.bins[at]
        assert area.size == facts.sizes[groups].sum()
        assert area.faded != mine[groups].any()
    nothing = np.zeros(len(mine), dtype=np.bool_)
    assert not any(a.faded for a in treemap([run], light_palette(), mine=nothing).figure.areas)


def test_the_figures_of_a_class_are_its_own(facts: Facts) -> None:
    group = int(facts.by_size[0])
    told = figures(facts, np.array([group])).set_index("figure")["chosen"]
    loss = facts.result.measures["loss"].per_class
    assert loss is not None
    assert told["Loss, mean of the classes"] == f"{loss[group]:.3f}"
    assert told["rows"].startswith(f"{facts.sizes[group]:,} ")
    for column, text in facts.cells(group).items():
        assert told[column] == text
