"""The Compare page: pinned runs side by side, all figures, and the frontier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.explain.answers.differences import figure_differences
from anon_core.explain.text.phrases import chance
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.column_statistics import column_statistics
from anon_core.pipeline.sweep.points import Point
from anon_core.pipeline.sweep.sweep import Varied, sweep
from anon_core.pipeline.sweep.variations import Variation
from tests.ui.sessions import COMPARE, VERDICTS, carried_out, load, open_page, wait_for, words
from ui.charts import run_series
from ui.charts.chart_frame import Series, light_palette
from ui.charts.metric_plots import metric_bullets
from ui.charts.tracks import tracks
from ui.panels.compare.compare_tables import all_figures
from ui.panels.results.baseline_panel import figure_table
from ui.state import pinning, results, state
from ui.state.result_view import Facts
from ui.state.sessions import reopening


def three_runs() -> dict[str, Any]:
    held = load("hospital")
    for k, technique in ((5, "optimal"), (10, "optimal"), (5, "mondrian")):
        with patch.object(st, "session_state", held):
            state.update_draft(
                algorithm={"name": technique}, models=[{"name": "k-anonymity", "k": k}]
            )
        carried_out(held, pinned=1)
    return held


def test_without_pins_the_page_says_how_to_pin() -> None:
    app = open_page(COMPARE, load())
    assert not app.exception
    assert "No run is pinned yet" in words(app)
    assert "Press **P** or “Pin this run” on Results" in words(app)


def test_without_anything_the_page_still_opens() -> None:
    app = open_page(COMPARE, {})
    assert not app.exception


def test_three_runs_stand_side_by_side_until_one_is_let_go() -> None:
    app = open_page(COMPARE, three_runs())
    assert not app.exception
    for heading in ("### ● A", "### ■ B", "### ◆ C"):
        assert heading in words(app)
    for panel in ("Classes", "What was lost", "What an attacker gets right"):
        assert panel in words(app)
    heads = [str(h.value) for h in app.subheader]
    assert heads == ["Differences to the baseline", "Risk–utility frontier"]
    folds = " ".join(str(e.label) for e in app.expander)
    for fold in ("Column by column", "Table", "All figures"):
        assert fold in folds
    standing = app.table[0].value.replace(r"\\", "", regex=True).set_index("what")
    for run, pin in zip(("● A", "■ B", "◆ C"), app.session_state["state/pins"], strict=True):
        worst = next(a.worst for a in pin.result.attacks if a.attack == "prosecutor")
        met = "✓ met" if worst <= 0.2 else "✕ not met"
        result = standing.loc["Prosecutor, threshold 1 in 5 (0.2)", run]
        assert result == f"{met}: {chance(worst)}"
    assert not standing.loc["Worst chance"].str.contains("threshold of").any()
    next(b for b in app.button if b.key == "unpin-B").click().run()
    assert not app.exception
    assert [p.letter for p in app.session_state["state/pins"]] == ["A", "C"]


def test_a_run_beyond_the_first_four_is_said_to_be_one_click_away() -> None:
    held = three_runs()
    first = held["state/pins"][0]
    held["state/pins"] += [replace(first, letter=letter) for letter in "DE"]
    app = open_page(COMPARE, held)
    pills = next(b for b in app.button_group if b.key == "compare-runs")
    assert pills.value == ["A", "B", "C", "D"]
    assert pills.label == "Runs: 4 of 5 shown, click to add"
    pills.set_value(["A", "B", "C", "D", "E"]).run()
    assert not app.exception
    assert next(b for b in app.button_group if b.key == "compare-runs").label == "Runs"


def test_statistics_and_two_columns_of_all_runs_are_side_by_side() -> None:
    held = three_runs()
    held["values-fold"] = True
    app = open_page(COMPARE, held)
    assert not app.exception
    shown = next(d.value for d in app.dataframe if "statistic" in d.value.columns)
    assert list(shown.columns) == ["statistic", "before", "● A", "■ B", "◆ C"]
    with patch.object(st, "session_state", held):
        runs = run_series.of_pins(held["state/pins"])
    (column,) = (str(s.value) for s in app.selectbox if s.key == "by-value-compared")
    for run in runs:
        found = column_statistics(run.facts.result, column)
        gone = shown.set_index("statistic").loc[ROWS_SUPPRESSED, run.heading]
        assert gone == f"{found.removed:,}"
    assert len([c for c in app.get("plotly_chart") if "two-way" in str(c.proto.id)]) == 3


def test_a_pinned_run_becomes_the_result_with_its_choices() -> None:
    held = load()
    first = carried_out(held, pinned=1)
    with patch.object(st, "session_state", held):
        (pin,) = pinning.pins()
        state.update_draft(algorithm={"name": "mondrian"}, models=[{"name": "k-anonymity", "k": 3}])
    second = carried_out(held)
    with patch.object(st, "session_state", held):
        reopening.open_pin(pin)
        assert results.last() is first
        assert results.before() is second
        assert results.is_current()
        assert state.plan().algorithm == first.plan.algorithm
        assert state.plan().models == first.plan.models
        state.set_roles(replace(state.roles(), sensitive=()), ("Salary",))
        reopening.open_pin(pin)
        assert not results.is_current()  # its roles are others than those chosen now
        with pytest.raises(BadPlan, match="another table"):
            reopening.open_pin(replace(pin, table="of another"))


def test_figures_are_those_of_the_json_with_differences_to_the_first() -> None:
    held = three_runs()
    signs = {"A": "●", "B": "■", "C": "◆"}
    runs = [
        Series(
            letter=p.letter,
            title=p.title,
            facts=Facts(result=p.result),
            colour="#000000",
            sign=signs[p.letter],
        )
        for p in held["state/pins"]
    ]
    groups = all_figures(runs)
    assert list(groups) == ["The release", "Metrics", "Attacks", "Sensitive values"]
    table = pd.concat(list(groups.values())).set_index("figure")
    figures = [figures_of(p.result) for p in held["state/pins"]]
    assert table.loc["Loss", "● A"] == figures[0]["metrics"]["loss"]
    assert table.loc["Loss", "◆ C"] == figures[2]["metrics"]["loss"]
    assert table.loc["classes", "B − A"] == figures[1]["classes"] - figures[0]["classes"]
    gap = figures[2]["metrics"]["loss"] - figures[0]["metrics"]["loss"]
    assert table.loc["Loss", "C − A"] == pytest.approx(gap)


def swept(
    held: dict[str, Any], techniques: tuple[str, ...], ks: tuple[int, ...], **settings: Any
) -> list[Point]:
    with patch.object(st, "session_state", held):
        plan, table, levels = state.plan(), state.dataset(), state.levels()
    assert table is not None
    lists = Variation(path="algorithm", values=techniques), Variation(path="models.k", values=ks)
    return sweep(plan, Varied(variations=lists, settings=settings), table, levels)


def test_the_sweep_keeps_what_is_infeasible_in_words() -> None:
    found = swept(load(), ("mondrian",), (2, 20))
    assert [p.status for p in found] == ["released", "infeasible"]
    assert "needs at least 20 rows" in found[1].why


def test_levels_chosen_for_all_k_at_once_make_the_same_points() -> None:
    held = load("samarati", algorithm={"name": "optimal", "max_suppression": 0.34})
    values: list[list[Point]] = []
    for ks in ((2, 3, 4, 5, 6, 7, 9, 20), (2, 3, 4), (5, 6, 7), (9, 20)):  # at once, one by one
        values.append(swept(held, ("optimal",), ks))
    apart = [point for found in values[1:] for point in found]
    assert [(p.losses, p.risks, p.sha256) for p in values[0]] == [
        (p.losses, p.risks, p.sha256) for p in apart
    ]
    assert [p.status for p in values[0]] == ["released"] * 7 + ["infeasible"]


def test_the_frontier_is_drawn_after_a_sweep() -> None:
    held = load("samarati")
    carried_out(held, pinned=1)
    app = open_page(COMPARE, held)
    next(b for b in app.button if b.key == "sweep").click().run()
    wait_for(app, "sweep")
    assert not app.exception
    assert any("No release" in e.label for e in app.expander)
    assert any("Frontier" in str(m.value) for m in app.markdown)
    assert "The least loss with Prosecutor" in words(app) or "No release has" in words(app)
    points = app.session_state["frontier/points"]
    assert {p.choices["algorithm"] for p in points} == {"optimal", "mondrian"}


def test_the_curve_of_results_is_swept_in_one_click() -> None:
    held = load("samarati", models=[{"name": "k-anonymity", "k": 3}])
    app = open_page(COMPARE, held)
    next(b for b in app.button if b.key == "sweep-curve").click().run()
    wait_for(app, "sweep")
    assert not app.exception
    points = app.session_state["frontier/points"]
    assert {p.choices["algorithm"] for p in points} == {"optimal"}
    assert {2, 3} <= {p.choices["models.k"] for p in points}
    assert len(points) > 3


def after_a_sweep(techniques: list[str], ks: list[int]) -> AppTest:
    app = open_page(COMPARE, load("hospital"))
    pills = next(g for g in app.button_group if g.key == "sweep-techniques")
    pills.set_value(techniques).run()
    next(m for m in app.multiselect if m.key == "sweep-values-models.k").set_value(ks).run()
    next(b for b in app.button if b.key == "sweep").click().run()
    wait_for(app, "sweep", 120)
    assert not app.exception
    return app


def test_permutation_and_generalization_share_one_frontier() -> None:
    app = after_a_sweep(["mondrian", "permutation"], [5, 20])
    points = app.session_state["frontier/points"]
    assert [p.permuted for p in points] == [False, False, True, True]
    assert "do not count here" in words(app)  # nobody is matched where columns stand apart
    next(n for n in app.number_input if n.key == "frontier-at-most").set_value(0.06).run()
    assert "0\\.06: **Mondrian, k \\= 20**" in words(app)
    risk = next(s for s in app.selectbox if s.key == "frontier-risk")
    inference = next(o for o in risk.options if o.startswith("Attribute inference"))
    risk.select(inference).run()
    assert not app.exception
    assert "do not count here" not in words(app)


def test_a_point_is_pinned_and_opened_as_the_run_that_it_is() -> None:
    app = after_a_sweep(["mondrian"], [5, 20])
    points = app.session_state["frontier/points"]
    next(s for s in app.selectbox if s.key == "frontier/in_hand").set_value(1).run()
    next(b for b in app.button if b.key == "point-pin").click().run()
    assert [p.result for p in app.session_state["state/pins"]] == [points[1].result]
    app.session_state["drawer"] = VERDICTS
    next(b for b in app.button if b.key == "point-open").click().run()
    assert not app.exception
    assert app.session_state["state/result"] is points[1].result
    assert "1 · Privacy models, recomputed" in words(app)  # on Results
    assert "Settings have changed" not in words(app)
    assert app.session_state["state/work"]["draft"]["models"][0]["k"] == 20


def test_a_stopped_sweep_keeps_its_points() -> None:
    held = load("hospital")
    app = open_page(COMPARE, held)
    next(b for b in app.button if b.key == "sweep").click().run()
    app.session_state["jobs"]["sweep"].cancel.set()
    app.run()
    assert not app.exception
    assert "The sweep was stopped" in words(app)


def test_runs_are_compared_with_the_baseline_that_is_chosen() -> None:
    held = three_runs()
    app = open_page(COMPARE, held)
    next(s for s in app.selectbox if s.key == "baseline").set_value("C").run()
    assert not app.exception
    assert not app.error
    numbers = [figures_of(p.result) for p in held["state/pins"]]
    frames = [d.value for d in app.dataframe]
    title = family("algorithm")["optimal"].title
    plans: Any = next(t.value for t in app.table if "choice" in t.value.columns)
    plans = plans.replace(r"\\", "", regex=True).set_index("choice")
    assert plans.loc["Technique"].tolist() == ["Mondrian", title, title]
    assert plans.loc["k-anonymity: k"].tolist() == ["5", "5", "10"]
    figures = next(f for f in frames if "B against C" in f.columns).set_index("figure")
    gap = numbers[1]["metrics"]["loss"] - numbers[2]["metrics"]["loss"]
    turned = "▼ {} better" if gap < 0 else "▲ {} worse"
    assert figures.loc["Loss", "B against C"] == turned.format(f"{abs(gap):.3g}")
    assert "k-anonymity: asked" in figures.index
    heads = [str(m.value) for m in app.markdown if str(m.value).startswith("### ")]
    assert heads == ["### ◆ C", "### ● A", "### ■ B"]


def test_the_loss_of_cells_is_no_second_loss_next_to_links_that_are_cut() -> None:
    # The tile's loss of a permuted release is that of its groups; the cells are exact.
    held = load()
    for algorithm in ("optimal", "permutation"):
        held["state/work"]["draft"]["algorithm"] = {"name": algorithm}
        if algorithm == "permutation":
            held["state/work"]["draft"]["models"] = [{"name": "bucket-size", "k": 2}]
        carried_out(held, pinned=1)
    app = open_page(COMPARE, held)
    assert not app.exception
    figures = next(d.value for d in app.dataframe if "B against A" in d.value.columns)
    assert "Loss of cells" in set(figures["figure"])
    assert "Loss" not in set(figures["figure"])
    folded = [one.label for one in app.expander if "figure" in one.label]
    assert not [one for one in folded if one.endswith(": 1 figures")]
    with patch.object(st, "session_state", held):
        runs = run_series.of_pins(held["state/pins"])
    drawn = metric_bullets(runs, light_palette()).figure.data.values()
    assert any("Loss of cells" in row.values() for one in drawn for row in one.to_pylist())


def test_figures_that_differ_most_come_first_and_equal_ones_are_folded() -> None:
    held = three_runs()
    with patch.object(st, "session_state", held):
        runs = run_series.of_pins(held["state/pins"])
    differ, little = figure_table(runs, least=0.02), figure_table(runs, below=0.02)
    equal = figure_table(runs, below=0)
    names = [*differ["figure"], *little["figure"], *equal["figure"]]
    result = figure_differences(runs[0].facts.result, runs[1].facts.result)
    assert set(names) == {d.what for d in result} | {
        d.what for d in figure_differences(runs[0].facts.result, runs[2].facts.result)
    }
    assert len(set(names)) == len(names)
    assert list(equal.columns) == ["figure", "● A"]
    weights = {
        d.what: max(d.weight, other.weight)
        for d, other in zip(
            result, figure_differences(runs[0].facts.result, runs[2].facts.result), strict=False
        )
        if d.what == other.what
    }
    known = [weights[name] for name in differ["figure"] if name in weights]
    assert known == sorted(known, reverse=True)


def test_lines_of_least_sizes_are_each_run_s_own() -> None:
    """One promises k = 4, the other a chance of a quarter: both allow no class below 4."""
    held = load("hospital")
    for model in ({"name": "k-anonymity", "k": 4}, {"name": "maximum-risk", "risk": 0.25}):
        with patch.object(st, "session_state", held):
            state.update_draft(algorithm={"name": "optimal"}, models=[model])
        carried_out(held, pinned=1)
    runs = [
        Series(letter=p.letter, title=p.title, facts=Facts(result=p.result), colour="#000000")
        for p in held["state/pins"]
    ]
    least = [f"{run.facts.least_name} = {run.facts.least}" for run in runs]
    assert len(set(least)) == 2
    with patch.object(st, "session_state", {}):
        drawn = tracks(runs, light_palette()).figure
    assert drawn.data["limits"]["text"].to_pylist() == [" · ".join(least)]
    assert {of[0] for of in drawn.data["lines"]["of"].to_pylist()} == {"A", "B"}
