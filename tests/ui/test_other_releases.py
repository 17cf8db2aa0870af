"""Other releases: the karate club, views that disclose everything, two months of one table."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.methods.other_data.networks import Network
from anon_core.verification.other_data import network_checks
from tests.ui.sessions import open_page
from ui.charts import network_plot
from ui.charts.chart_frame import light_palette
from ui.panels import other_releases

PAGE = "pages/11_Other_releases.py"


@pytest.fixture
def opened() -> AppTest:
    app = open_page(PAGE, {})
    assert not app.exception
    assert not app.error
    return app


def figures(app: AppTest, tab: int) -> dict[str, Any]:
    return {one.label: one.value for one in app.tabs[tab].metric}


def test_the_karate_club_before_and_after(opened: AppTest) -> None:
    before = figures(opened, 0)
    assert before["Unique by number of ties"] == "6"
    assert before["Mean chance to find a person"] == "32.4%"
    opened.number_input(key="other/k").set_value(3).run()
    opened.button(key="other/hide").click().run()
    after = figures(opened, 0)
    assert after["Unique by number of ties"] == "0"
    assert after["New vertices"] == "5"
    assert after["Mean chance to find a person"] == "16.3%"  # 61/374
    _, made = opened.session_state["other/network"]
    ties = {frozenset(pair) for pair in other_releases.karate_club()}
    assert all(c.holds for c in network_checks(made.text, ties, made.names, 3))
    # Another k is another release: the one that was made is no longer offered.
    opened.number_input(key="other/k").set_value(2).run()
    assert "New vertices" not in figures(opened, 0)


def test_too_large_a_k_is_refused_at_its_place(opened: AppTest) -> None:
    opened.number_input(key="other/k").set_value(40).run()
    opened.button(key="other/hide").click().run()
    (error,) = opened.tabs[0].error
    assert "there are 34" in error.value


def test_views_are_chosen_and_compared(opened: AppTest) -> None:
    assert figures(opened, 1)["k over the join"] == "1"
    assert "everything is disclosed" in opened.tabs[1].warning[0].value
    opened.multiselect(key="other/shown/3").set_value(["AB", "BC"]).run()
    assert not opened.tabs[1].warning
    opened.multiselect(key="other/shown/3").set_value(["AC"]).run()
    assert not opened.error


def test_two_months_keep_everyone_among_the_same_values(opened: AppTest) -> None:
    opened.button(key="other/publish").click().run()
    assert figures(opened, 2)["Release"] == "1"
    opened.radio(key="other/month").set_value("Second month").run()
    opened.button(key="other/publish").click().run()
    told = figures(opened, 2)
    assert (told["Release"], told["Persons"], told["Published before"]) == ("2", "7", "3")
    assert told["Surest guess, over all releases"] == "50.0%"
    opened.number_input(key="other/m").set_value(3).run()  # another m than before
    opened.button(key="other/publish").click().run()
    assert "the same m each time" in opened.tabs[2].error[0].value
    opened.button(key="other/forget").click().run()
    opened.button(key="other/publish").click().run()
    assert figures(opened, 2)["Release"] == "1"


def test_a_picture_has_a_sign_for_each_kind_of_vertex() -> None:
    star = Network(names=("a", "b", "c", "<i>", ""), edges=((0, 1), (0, 2), (0, 3), (1, 4)))
    at = network_plot.places(star)
    assert at == network_plot.places(star)
    chart = network_plot.network_chart(star, 4, at, light_palette(), title="After")
    marks = {t.name: (t.marker.symbol, list(t.text)) for t in chart.figure.data if t.name}
    assert marks["unique"] == ("diamond", ["a: 3 ties", "b: 2 ties"])
    assert marks["hidden"] == ("circle", ["c: 1 ties", "&lt;i&gt;: 1 ties"])
    assert marks["new vertex"] == ("square-open", ["new vertex: 1 ties"])
    assert chart.numbers.to_numpy().tolist() == [[1, 2, 1], [2, 1, 0], [3, 1, 0]]
