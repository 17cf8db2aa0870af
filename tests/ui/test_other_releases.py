"""Other releases: the karate club, views that disclose everything, two months of one table."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.data.reading.any_format import read_table
from anon_core.methods.other_data import cloaks
from anon_core.methods.other_data.networks import Network
from anon_core.verification.other_data import network_checks
from tests.ui.sessions import open_page
from ui.charts.chart_frame import light_palette
from ui.charts.other_data import network_plot, places_plot
from ui.panels.other_releases import network

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
    assert "an example is shown" in "".join(one.value for one in opened.tabs[0].caption)
    assert before["Unique by number of ties"] == "6"
    assert before["Mean chance to find a person"] == "32.4%"
    opened.number_input(key="other/k").set_value(3).run()
    opened.button(key="other/hide").click().run()
    after = figures(opened, 0)
    assert after["Unique by number of ties"] == "0"
    assert after["New vertices"] == "5"
    assert after["Mean chance to find a person"] == "16.3%"  # 61/374
    _, made = opened.session_state["other/network"]
    ties = {frozenset(pair) for pair in network.karate_club()}
    assert all(c.holds for c in network_checks(made.files, ties, made.names, 3))
    # Another k is another release: the one that was made is no longer offered.
    opened.number_input(key="other/k").set_value(2).run()
    assert "New vertices" not in figures(opened, 0)


def test_labels_of_the_karate_club(opened: AppTest) -> None:
    opened.toggle(key="other/labels").set_value(True).run()
    before = figures(opened, 0)
    assert int(before["Unique by labels of ties"]) > 6  # more is known than a number of ties
    opened.button(key="other/hide").click().run()
    after = figures(opened, 0)
    assert after["Unique by labels of ties"] == "0"
    _, made = opened.session_state["other/network"]
    ties = {frozenset(pair) for pair in network.karate_club()}
    assert all(c.holds for c in network_checks(made.files, ties, made.names, 2, network.clubs()))
    assert f"{made.recognised:,} new vertices" in opened.tabs[0].warning[0].value


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
    numbers = figures(opened, 2)
    assert (numbers["Release"], numbers["Persons"], numbers["Published before"]) == ("2", "7", "3")
    assert numbers["Surest guess, over all releases"] == "50.0%"
    opened.number_input(key="other/m").set_value(3).run()  # another m than before
    opened.button(key="other/publish").click().run()
    assert "the same m each time" in opened.tabs[2].error[0].value
    opened.button(key="other/forget").click().run()
    opened.button(key="other/publish").click().run()
    assert figures(opened, 2)["Release"] == "1"


def compared(app: AppTest) -> dict[str, dict[str, Any]]:
    rows = app.tabs[3].dataframe[0].value.to_dict("records")
    return {str(row["Technique"]): {str(k): v for k, v in row.items()} for row in rows}


def test_places_by_each_technique_side_by_side(opened: AppTest) -> None:
    rows = compared(opened)
    assert list(rows) == ["Quadtree", "Pyramid", "Nearest neighbours", "Reciprocal", "Cliques"]
    assert all(row["Fewest inside"] >= 4 for row in rows.values())
    assert {name for name, row in rows.items() if row["Exposed"]} == {
        "Quadtree",
        "Pyramid",
        "Nearest neighbours",
    }
    asked = cloaks.drawn(60)
    made = cloaks.cloaked(asked, "reciprocal", 4, area=cloaks.read_area("0,0,10,10", ""))
    assert rows["Reciprocal"]["Mean chance"] == 100 * float(made.attack.mean)
    assert not opened.tabs[3].warning
    opened.segmented_control(key="other/technique/5").set_value("quadtree").run()
    assert "are exposed" in opened.tabs[3].warning[0].value
    drawn = [one.type for one in opened.tabs[3]]
    assert drawn.index("plotly_chart") < drawn.index("dataframe")  # in sight
    # Without an area two techniques are out, and the page says why.
    opened.text_input(key="other/area/False").set_value("").run()
    assert list(compared(opened)) == ["Nearest neighbours", "Reciprocal", "Cliques"]
    assert any("need an area" in c.value for c in opened.tabs[3].caption)


def test_places_that_cannot_be_are_refused_at_their_place(opened: AppTest) -> None:
    opened.number_input(key="other/people").set_value(3).run()
    (error,) = opened.tabs[3].error
    assert "there are 3" in error.value
    opened.number_input(key="other/people").set_value(40).run()
    opened.text_input(key="other/area/False").set_value("0,0,2,2").run()
    (error,) = opened.tabs[3].error
    assert "outside the area" in error.value
    opened.text_input(key="other/area/False").set_value("0,0,2").run()
    (error,) = opened.tabs[3].error
    assert "four numbers" in error.value


def test_a_picture_of_boxes_says_who_is_exposed_and_who_expired() -> None:
    text = b"who,x,y,k,t\na,0,0,2,3\nb,2,0,2,3\n<i>,9,9,2,3\n"
    asked = cloaks.read_asked(read_table(text, name="t.csv"), "t.csv")
    made = cloaks.cloaked(asked, "cliques")
    chart = places_plot.places_chart(asked, made, 0, light_palette(), title="Cliques")
    marks = {t.name: (list(t.x), list(t.text or ())) for t in chart.figure.data}
    assert marks["hidden"][1] == ["a: 2 could have sent the box", "b: 2 could have sent the box"]
    assert marks["expired"] == ([9.0], ["&lt;i&gt;: the request expired"])
    assert "exposed" not in marks
    assert chart.numbers.to_numpy().tolist() == [[0, 0, 2, 0, 2, False]]
    near = cloaks.read_asked(read_table(b"w,x,y\na,0,0\nb,1,0\nc,9,0\n", name="t.csv"), "t.csv")
    made = cloaks.cloaked(near, "nearest", 2)
    chart = places_plot.places_chart(near, made, 2, light_palette(), title="Nearest neighbours")
    marks = {t.name: list(t.text or ()) for t in chart.figure.data}
    assert marks["exposed"] == ["c: 1 could have sent the box"]
    assert chart.numbers["exposed"].tolist() == [False, True]


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
