"""The Results page: tiles, verdicts apart, four panels, pinning, and harmless names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData as ArrowDataProto

from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.explain.text.phrases import chance, share
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.column_statistics import column_statistics
from tests.often import crossed
from tests.ui.sessions import RESULTS, VERDICTS, carried_out, load, open_page, words
from ui.charts.chart_frame import Series, label, light_palette
from ui.charts.class_plots import held_chart, sensitive_chart
from ui.charts.tracks import tracks
from ui.panels.results.headline_figures import _chips
from ui.panels.results.table_panel import _styled
from ui.state import state
from ui.state.result_view import Facts

FORBIDDEN = ("safe", "verified", "compliant", "no risk", "attack failed")


def said(held: dict[str, Any], *, tab: str = "") -> str:
    app = open_page(RESULTS, held, tab=tab)
    assert not app.exception
    return words(app).replace("\\", "")


def test_without_a_result_the_page_says_what_to_do() -> None:
    app = open_page(RESULTS, load())
    assert not app.exception
    assert "No result yet" in words(app)


def test_three_tiles_come_first_and_the_three_verdicts_stand_apart() -> None:
    held = load()
    carried_out(held)
    text = said(held, tab=VERDICTS)
    assert "1 · Privacy models, recomputed" in text
    assert "Recomputed from the published file: k = 2 holds" in text
    assert text.index("**Worst chance**") < text.index("1 · Privacy models, recomputed")
    assert "1 in 3 (0.333)" in text
    assert ":material/close: beyond your threshold of 1 in 5 (0.2)" in text
    assert "picks the right row 1 time in 3" not in text  # the tile has said so
    assert "2 · Your thresholds" in text
    assert ":red-badge[not met]" in text
    assert "3 · Your judgement" in text


def test_columns_left_out_are_named() -> None:
    held = load()
    with patch.object(st, "session_state", held):
        state.set_roles(replace(state.roles(), sensitive=()), ("Salary",))
    carried_out(held)
    app = open_page(RESULTS, held)
    assert any("left out: Salary" in part.proto.body for part in app.get("html"))


@pytest.mark.parametrize(
    ("technique", "words"),
    [
        ("samarati", "Proven: no other choice is preferred."),
        ("incognito", "Proven: no other choice is preferred."),
        ("datafly", "Nothing is proven about better results."),
        ("optimal", "Proven optimal: no other combination costs less than"),
        ("mondrian", "Nothing is proven about better results."),
    ],
)
def test_how_a_release_was_found(technique: str, words: str) -> None:
    held = load("samarati", algorithm={"name": technique})
    carried_out(held)
    assert words in said(held, tab="The search")


@crossed(
    "name, technique",
    ["toth-private", "samarati", "li-microdata", "hospital"],
    ["optimal", "mondrian"],
    share=2,
)
def test_every_sample_is_shown_in_plain_words(name: str, technique: str) -> None:
    held = load(name, algorithm={"name": technique})
    carried_out(held)
    tabs = ("", VERDICTS, "Questions", "The search", "Value by value")
    text = " ".join(said(held, tab=tab) for tab in tabs).lower()
    for word in FORBIDDEN:
        assert word not in text.split()
    assert "your data is anonymous" not in text


def test_rows_are_marked_hidden_and_paged_by_class() -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.05})
    result = carried_out(held)
    app = open_page(RESULTS, held)

    def choose(key: str, value: str) -> None:
        next(c for c in app.button_group if c.key == key).set_value(value).run()
        assert not app.exception

    for view in (
        "Classes",
        "All",
        *(["Suppressed"] if result.release.suppressed else []),
    ):
        choose("view-results", view)
    choose("side-results", "Original")


def test_a_browser_gets_the_marks_that_pandas_would_write() -> None:
    frame = pd.DataFrame({"class": [1, 1, 2], "age": ["*", "30", "*"], "sex": ["F", "M", "F"]})
    marks, colours = {"age": [True, False, True], "sex": [False, False, False]}, light_palette()
    look = f"background-color: {colours.scale[1]}; color: {colours.ink}"

    def of_pandas(column: pd.Series[Any]) -> list[str]:
        return [look if m else "" for m in marks.get(str(column.name), [False] * len(frame))]

    sent: list[tuple[set[str], str, bytes]] = []
    for styled in (_styled(frame, marks, colours), frame.style.apply(of_pandas)):
        proto = ArrowDataProto()
        marshall_styler(proto, styled.set_uuid("own"), "")
        cells, _, rule = proto.styler.styles.partition(" {")
        sent.append((set(cells.split(", ")), rule, proto.styler.display_values))
    assert sent[0] == sent[1]
    unmarked = ArrowDataProto()
    marshall_styler(unmarked, _styled(frame, {}, colours), "own")
    assert not unmarked.styler.styles


def test_published_and_original_rows_are_the_same_people() -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.05})
    facts = Facts(result=carried_out(held))
    assert list(facts.published["class"]) == list(facts.original["class"])
    assert len(facts.hidden) + len(facts.original) == facts.result.problem.rows
    assert "name" not in facts.original.columns
    sizes = facts.published["class"].value_counts().sort_index().to_list()
    assert sizes == sorted(facts.sizes.tolist())
    # A cell that is not marked says the same before and after, class by class.
    for column in facts.result.problem.quasi:
        exact = ~facts.published[column].isin(facts.coarse[column])
        before = facts.original[column].astype(object)
        after = facts.published[column].astype(object)
        for number in facts.published.loc[exact, "class"].unique()[:20]:
            here = facts.published["class"] == number
            kept = sorted(after[here & exact].fillna("").tolist())
            there = sorted(before[here].fillna("").tolist())
            assert set(kept) <= set(there)


def test_a_pinned_run_shows_its_letter() -> None:
    held = load()
    carried_out(held)
    app = open_page(RESULTS, held)
    next(b for b in app.button if b.key == "pin").click().run()
    assert not app.exception
    assert next(b for b in app.button if b.key == "pinned").label == "Pinned as ● A"
    assert [p.letter for p in app.session_state["state/pins"]] == ["A"]


def test_choices_changed_since_are_pointed_out() -> None:
    held = load()
    carried_out(held)
    with patch.object(st, "session_state", held):
        state.draw_seed()
    assert "Settings have changed since this run" in said(held)


def test_names_and_values_are_never_markup() -> None:
    bad = "<img src=x onerror=alert(1)>"
    frame = pd.DataFrame(
        {bad: ["<b>1</b>", "<b>1</b>", "x", "x"], "s": ["<i>a</i>", "b", "<i>a</i>", "b"]}
    )
    held = load()
    with patch.object(st, "session_state", held):
        state.set_dataset(
            Dataset.from_frame(frame),
            roles=Roles(quasi=(bad,), sensitive=("s",)),
            levels={},
            types={},
            title=bad,
            k=2,
        )
    facts = Facts(result=carried_out(held))
    app = open_page(RESULTS, held)
    assert not app.exception
    assert not re.search(r"(?<!\\)<img", words(app))
    run = Series(letter="", title="", facts=facts, colour="#000000")
    colours = light_palette()
    with patch.object(st, "session_state", {}):
        drawn = (
            tracks([run], colours),
            held_chart([run], colours, "s"),
            sensitive_chart([run], colours, "s", 0),
        )
    for chart in drawn:  # what a table says is data of a chart, and never part of its form
        for markup in ("<img", "<b>1", "<i>a"):
            assert markup not in json.dumps(chart.figure.spec)


def test_the_sizes_are_those_of_the_figures() -> None:
    held = load("hospital")
    facts = Facts(result=carried_out(held))
    run = Series(letter="", title="", facts=facts, colour="#000000")
    with patch.object(st, "session_state", {}):
        chart = tracks([run], light_palette())
    figures = figures_of(facts.result)
    assert chart.numbers["classes"].sum() == figures["classes"]
    assert chart.numbers["people"].sum() == figures["rows"] - figures["suppressed"]
    assert chart.numbers["rows"].min() == figures["smallest_class"] >= 5


def test_shares_of_a_class_and_of_the_whole_are_shares() -> None:
    held = load("hospital")
    facts = Facts(result=carried_out(held))
    whole, within = facts.whole("diagnosis"), facts.within("diagnosis", 0)
    assert sum(whole.values()) == pytest.approx(1)
    assert sum(within.values()) == pytest.approx(1)
    by_hand = sum(abs(within.get(v, 0.0) - s) for v, s in whole.items()) / 2
    assert facts.difference("diagnosis")[0] == pytest.approx(by_hand)


def test_chances_and_shares_in_words() -> None:
    assert chance(1 / 11) == "1 in 11 (0.0909)"
    assert chance(0.09) == "1 in 11.1 (0.09)"
    assert chance(0.99999) == "over 99% (0.99999)"  # not certain, nor one in one
    assert share(506 / 30162) == "1.7%"
    assert label("<a>") == "&lt;a&gt;"


def test_a_promise_about_matches_draws_no_least_size() -> None:
    models = [{"name": "k-k-anonymity", "k": 2}]
    held = load("samarati", algorithm={"name": "matching"}, models=models)
    run = Series(letter="", title="", facts=Facts(result=carried_out(held)), colour="#000000")
    assert not open_page(RESULTS, held).exception
    with patch.object(st, "session_state", {}):
        assert tracks([run], light_palette()).figure.data["limits"].num_rows == 0


def test_round_groups_in_place_of_real_values_are_one_click() -> None:
    frame = pd.DataFrame({"age": [21, 22, 22, 23, 37, 48, 59, 60], "s": list("abababab")})
    held = load()
    with patch.object(st, "session_state", held):
        roles = Roles(quasi=("age",), sensitive=("s",))
        state.set_dataset(
            Dataset.from_frame(frame), roles=roles, levels={}, types={}, title="ages", k=2
        )
        state.update_draft(algorithm={"name": "mondrian"})
    result = carried_out(held)
    assert any("real value of" in sentence for sentence in result.cautions)
    app = open_page(RESULTS, held, tab=VERDICTS)
    next(b for b in app.button if b.key == "round-ends-results").click().run()
    assert not app.exception
    assert "groups of hierarchies at the next run" in words(app)
    chosen = {key: app.session_state[key] for key in held}
    after = carried_out(chosen)
    assert after.plan.algorithm.as_mapping()["output"] == "node"
    assert not any("real value of" in sentence for sentence in after.cautions)


def test_a_column_is_told_before_and_after_and_against_another() -> None:
    held = load("hospital", algorithm={"name": "mondrian"})
    result = carried_out(held)
    app = open_page(RESULTS, {**held, "by-value": "age"}, tab="Value by value")
    assert not app.exception
    frames = [element.value for element in app.dataframe]
    column = next(frame for frame in frames if "statistic" in frame.columns)
    by_name = column.set_index("statistic")
    mean = column_statistics(result, "age")
    assert by_name.loc["mean", "before"] == str(mean.before.mean)
    assert by_name.loc["mean", "after"] == str(mean.after.mean)
    assert " to " in by_name.loc["mean", "after"]
    against = next(box for box in app.selectbox if box.label == "Against")
    against.set_value("zip" if "zip" in against.options else against.options[0]).run()
    assert not app.exception
    assert "Half the difference of shares" in words(app).replace("\\", "")


@pytest.mark.parametrize(
    ("many", "text"), [(1, "k-anonymity: asked 2, reached 3"), (3, "k-anonymity 3 (asked 2)")]
)
def test_chips_of_many_models_have_fewer_words(many: int, text: str) -> None:
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "l-diversity", "l": 2, "column": ""},
        {"name": "t-closeness", "t": 0.9, "column": ""},
    ][:many]
    result = carried_out(load("toth-private", algorithm={"name": "optimal"}, models=models))
    assert text in _chips(result)
