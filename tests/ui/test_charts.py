"""Charts say what has no value in a run, and why, instead of leaving it out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from altair.utils import schemapi

from anon_core.pipeline.result import Result
from anon_core.release.outcome import Measure
from tests.ui.sessions import carried_out, load
from ui.charts import bullets, run_series
from ui.charts.attack_plots import attack_bullets, name_of, odds, risk_bullets, title_of
from ui.charts.bullets import changed
from ui.charts.chart_frame import Chart, Series, light_palette
from ui.charts.class_plots import held_chart
from ui.charts.metric_plots import _in_a_line, _since, column_heat, metric_bullets
from ui.charts.metric_plots import title_of as metric_title
from ui.charts.tracks import MOST, Binned, _Box, binned, offered, picked_bins, tracks
from ui.charts.vega import Vega
from ui.state.result_view import Facts

COLOURS = light_palette()


@pytest.fixture(autouse=True)
def session() -> Iterator[None]:
    with patch.object(st, "session_state", {}):
        yield


def ran(algorithm: str, model: dict[str, Any], sample: str = "li-microdata") -> Result:
    return carried_out(load(sample, algorithm={"name": algorithm}, models=[model]))


def drawn(result: Result, letter: str = "") -> Series:
    return Series(letter=letter, title="", facts=Facts(result=result), colour="#00795A")


def data(chart: Chart, name: str = "lines") -> pd.DataFrame:
    assert isinstance(chart.figure, Vega)
    return chart.figure.data[name].to_pandas()


def test_attacks_that_were_not_run_stand_among_the_numbers_with_the_reason() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    assert run.facts.not_run
    for chart in (attack_bullets([run], COLOURS), risk_bullets([run], COLOURS)):
        attacked = chart.numbers.set_index("attack")
        for name, why in run.facts.not_run.items():
            assert attacked.loc[title_of(name), "not run"] == why
        names = [title_of(a.attack, a.column) for a in run.facts.attacks]
        assert list(attacked.index) == names + [title_of(n) for n in run.facts.not_run]
        assert "not run" not in set(data(chart)["value"])  # they are listed behind Details


def test_each_run_says_which_attacks_of_the_other_it_lacks() -> None:
    permuted = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}), "A")
    coarse = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}), "B")
    chart = attack_bullets([permuted, coarse], COLOURS)
    attacked = chart.numbers.set_index(["run", "attack"])
    assert attacked.loc[("A", "Prosecutor"), "not run"] == permuted.facts.not_run["prosecutor"]
    assert attacked.loc[("B", "Prosecutor"), "rate"] > 0
    assert attacked.loc[("B", "Membership"), "not run"] == coarse.facts.not_run["membership"]
    lines = data(chart).set_index(["lane", "name"])
    assert lines.loc[("A", "Prosecutor"), "value"] == "not run"
    assert lines.loc[("A", "Prosecutor"), "note"] == permuted.facts.not_run["prosecutor"]
    assert pd.isna(lines.loc[("A", "Prosecutor"), "share"])  # a bar of 0 would look like protection


def test_a_certain_disclosure_is_said_to_be_one() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    one = [replace(a, worst=1.0) if a.attack == "homogeneity" else a for a in whole.attacks]
    run = drawn(replace(whole, attacks=tuple(one)))
    lines = data(attack_bullets([run], COLOURS))
    sure = {title_of(a.attack, a.column) for a in run.facts.attacks if a.worst >= 1}
    assert 0 < len(sure) < len(whole.attacks)
    assert set(lines[lines["value"].str.startswith("certain")]["name"]) == sure
    assert [odds(v) for v in (0, 0.5, 0.4, 0.03, 1)] == [
        "never", "1 in 2", "1 in 2.5", "1 in 33", "certain",
    ]  # fmt: skip


def test_a_metric_a_run_lacks_is_said_to_be_missing() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    measures = {n: m for n, m in whole.measures.items() if n != "ncp"}
    runs = [drawn(replace(whole, measures=measures), "A"), drawn(whole, "B")]
    chart = metric_bullets(runs, COLOURS)
    assert list(data(chart)["value"]).count("not measured") == 1
    assert list(chart.numbers[chart.numbers["run"] == "A"]["metric"]).count("NCP / GCP") == 0
    assert column_heat(runs, COLOURS) is not None


def test_where_links_are_cut_the_loss_of_cells_is_called_that() -> None:
    """The strip calls what the links lost the loss, which is not 0 there."""
    cut = ran("permutation", {"name": "frequency-l-diversity", "l": 4})
    names = list(data(metric_bullets([drawn(cut)], COLOURS))["line"])
    assert "Loss of cells" in names
    assert "Loss" not in names
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    assert "Loss" in list(data(metric_bullets([drawn(whole)], COLOURS))["line"])


def test_a_result_of_which_little_is_known_yet_is_drawn() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    base = Facts(result=whole)
    for found in (replace(whole, measures={}), replace(whole, attacks=(), measures={})):
        run = drawn(found)
        for chart in (
            metric_bullets([run], COLOURS, (), base),
            attack_bullets([run], COLOURS, base),
            tracks([run], COLOURS, base),
        ):
            assert json.dumps(chart.figure.spec)
        assert len(data(tracks([run], COLOURS), "titles")) == 2  # no loss, so no track of it


def test_what_is_still_measured_keeps_its_line() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    base = Facts(result=whole)
    measures = {n: m for n, m in whole.measures.items() if n != "ncp"}
    attacks = tuple(a for a in whole.attacks if a.attack != "uniqueness")
    first = drawn(replace(whole, measures=measures, attacks=attacks, pending=True))
    for make, missing in ((metric_bullets, "NCP / GCP"), (attack_bullets, "Uniqueness")):
        every = data(make([drawn(whole)], COLOURS))["name"].tolist()
        args: tuple[Any, ...] = ((), base) if make is metric_bullets else (base,)
        lines = data(make([first], COLOURS, *args))
        assert lines["name"].tolist() == every
        assert lines.set_index("name").loc[missing, "value"] == "…"
        known = data(make([first], COLOURS))["name"].tolist()  # nothing says yet what will come
        assert known == [name for name in every if name != missing]


def test_better_and_worse_are_those_of_the_figure_itself() -> None:
    """Precision is kept detail: less of it is worse, although its arrow points down."""
    runs = [ran("optimal", {"name": "k-anonymity", "k": k}, "hospital").measures for k in (5, 25)]
    before, now = (ran("optimal", {"name": "k-anonymity", "k": k}, "hospital") for k in (5, 25))
    assert runs[0]["precision"].value > runs[1]["precision"].value
    chart = metric_bullets([drawn(now)], COLOURS, (), Facts(result=before))
    lines = data(chart).set_index("name")
    assert lines.loc["Precision", "change"].startswith("▼ ")
    assert lines.loc["Precision", "tone"] == "worse"
    assert lines.loc[metric_title("loss"), "change"].startswith("▲ ")
    assert lines.loc[metric_title("loss"), "tone"] == "worse"
    assert lines.loc["Precision", "before"] == before.measures["precision"].share
    assert chart.numbers["value in the baseline"].notna().any()
    attacks = data(attack_bullets([drawn(now)], COLOURS, Facts(result=before))).set_index("name")
    assert attacks.loc["Prosecutor", "tone"] == "better"
    assert attacks.loc["Prosecutor", "change"] == "▼ " + odds(
        next(a for a in before.attacks if a.attack == "prosecutor").worst
    )
    same = metric_bullets([drawn(now)], COLOURS, (), Facts(result=now))
    assert set(data(same)["change"]) == {"="}
    pins = [replace(drawn(before), letter="B"), replace(drawn(now), letter="A")]
    several = data(metric_bullets(pins, COLOURS)).set_index(["lane", "name"])  # against the first
    assert several.loc[("B", "Precision"), "change"] == ""
    assert several.loc[("A", "Precision"), "change"] == "▼ worse"  # the first's value is drawn
    assert several.loc[("A", "Precision"), "tone"] == "worse"
    assert several["before"].isna().all()
    assert changed(2, 1, "1", worse=False) == ("▲ 1", "better")


def test_what_is_chosen_and_what_is_allowed_is_marked() -> None:
    run = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}))
    first = run.facts.attacks[0]
    lines = data(attack_bullets([run], COLOURS, None, {name_of(first): 0.25})).set_index("name")
    assert lines.loc[name_of(first), "chosen"] == 0.25
    assert lines["chosen"].notna().sum() == 1
    assert lines.loc["Prosecutor", "limit"] == 0.2


def test_cells_tell_the_loss_of_their_column_in_their_run() -> None:
    runs = [drawn(ran("mondrian", {"name": "k-anonymity", "k": 3}), letter) for letter in "AB"]
    chart = column_heat(runs, COLOURS)
    assert chart is not None
    cells = data(chart, "cells").set_index(["run", "column", "metric"])
    numbers = chart.numbers.set_index(["run", "column"])
    assert len(cells) == numbers.size
    for (run, column, metric), cell in cells.iterrows():
        value = numbers.loc[(run, column), metric]
        assert cell["lost"] == ("not measured" if pd.isna(value) else f"{value:.4f} of 1")


def test_what_groups_hold_is_told_group_by_group() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    chart = held_chart([run], COLOURS, "Disease")
    assert "hold of “Disease”" in chart.title
    cells = data(chart, "cells")
    for number, share in zip(chart.numbers["group"], chart.numbers["its share"], strict=True):
        here = cells[cells["group"] == str(number)]["share"]
        assert here.sum() == pytest.approx(1.0)
        assert here.max() == pytest.approx(share)
    assert list(chart.numbers["its share"]) == sorted(chart.numbers["its share"], reverse=True)


# ---- tracks --------------------------------------------------------------------------------------


def test_every_class_is_in_one_bin_and_bins_are_few() -> None:
    run = drawn(ran("mondrian", {"name": "k-anonymity", "k": 5}, "hospital"))
    facts = run.facts
    part = binned([run])
    assert len(facts.sizes) > MOST == len(part)
    every = np.concatenate([part.groups(facts, at) for at in range(len(part))])
    assert sorted(every.tolist()) == list(range(len(facts.sizes)))
    rows, guess, lost = part.tracks
    top = facts.surest("diagnosis")[0]
    per_class = facts.result.measures["loss"].per_class
    assert per_class is not None
    for at in (0, 17, len(part) - 1):
        here = part.groups(facts, at)
        assert part.people[at] == facts.hiding[here].sum()
        assert rows.values[at] == pytest.approx(facts.hiding[here].mean())
        assert guess.values[at] == pytest.approx(top[here].max())  # the worst, never the mean
        mean = np.average(per_class[here], weights=facts.hiding[here])
        assert lost.values[at] == pytest.approx(mean)
    assert (np.diff(facts.sizes[facts.by_size]) >= 0).all()


def test_tracks_say_which_classes_a_click_chooses() -> None:
    run = drawn(ran("mondrian", {"name": "k-anonymity", "k": 5}, "hospital"))
    chosen = np.zeros(len(run.facts.sizes), dtype=np.bool_)
    chosen[run.facts.by_size[0]] = True
    chart = tracks([run], COLOURS, None, chosen, 7)
    hits, bars = data(chart, "hits"), data(chart, "bars")
    assert len(hits) == MOST
    assert len(bars) == 3 * MOST
    assert hits["classes"].iloc[0].startswith("class")
    assert hits["chosen"].tolist() == [True] + [False] * (MOST - 1)
    assert hits["bin"].iloc[3] == "7/3"
    assert picked_bins(["7/3", "6/4", "7/x", "nothing", "7/-1"], 7) == [3]
    assert hits["x0"].iloc[0] == 0
    assert hits["x1"].iloc[-1] == 1
    assert bars["y"].between(0, 1).all()


def test_a_run_behind_another_keeps_its_own_number_of_classes() -> None:
    now, base = (
        drawn(ran("optimal", {"name": "k-anonymity", "k": k}, "hospital")) for k in (25, 5)
    )
    assert len(now.facts.sizes) < len(base.facts.sizes) <= MOST
    lines = data(tracks([now], COLOURS, base.facts))
    assert set(lines.groupby("of").size()) == {len(base.facts.sizes) + 1}
    assert lines["x"].max() == 1
    assert data(tracks([now], COLOURS)).empty


def test_the_form_is_the_same_for_every_run() -> None:
    """A changed form is drawn again in the browser, so a run, A and the choice are data."""
    now, base = (
        drawn(ran("optimal", {"name": "k-anonymity", "k": k}, "hospital")) for k in (25, 5)
    )
    mine = np.arange(len(now.facts.sizes)) < 3
    charts = [
        tracks([base], COLOURS),
        tracks([now], COLOURS, base.facts),
        tracks([now], COLOURS, base.facts, mine, 3),
    ]
    assert len({json.dumps(chart.figure.spec) for chart in charts}) == 1
    lines = [
        metric_bullets([now], COLOURS, (), base.facts),
        metric_bullets([base], COLOURS, (), now.facts, {"Loss": 0.2}),
    ]
    assert len({json.dumps(chart.figure.spec) for chart in lines}) == 1


def test_forms_are_what_altair_makes_of_them_when_it_lists_its_classes_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`_look_up_once` can go once Altair lists its classes once by itself."""
    run = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}))
    forms = []
    for each_time in (False, True):
        bullets._spec.cache_clear()
        run_series.history_spec.cache_clear()
        if each_time:
            listed = schemapi._FromDict(())  # whatever it is given
            assert listed is schemapi._FromDict(())
            monkeypatch.setattr(schemapi, "_FromDict", type(listed))
            assert schemapi._FromDict(()) is not schemapi._FromDict(())
        charts = [metric_bullets([run], COLOURS), attack_bullets([run], COLOURS)]
        forms.append([chart.figure.spec for chart in charts])
        forms[-1].append(run_series.history_spec(COLOURS, "#00795A"))
    assert forms[0] == forms[1]


@pytest.mark.parametrize("roles", ["no sensitive column", "one class"])
def test_tracks_of_a_table_with_little_in_it(roles: str) -> None:
    model = {"name": "k-anonymity", "k": 8 if roles == "one class" else 2}
    result = ran("optimal", model, "toth-private")
    if roles == "one class":
        assert len(result.class_sizes) == 1
        chart = tracks([drawn(result)], COLOURS)
        assert len(data(chart, "hits")) == 1
        return
    problem = replace(result.problem, roles=replace(result.problem.roles, sensitive=()))
    facts = Facts(result=replace(result, problem=problem))
    run = Series(letter="", title="", facts=facts, colour="#00795A")
    titles = data(tracks([run], COLOURS), "titles")["text"].tolist()
    assert not any("guess" in title for title in titles)
    assert len(titles) == 2


def test_what_else_is_told_of_classes_can_be_drawn_as_a_track() -> None:
    run = drawn(ran("mondrian", {"name": "k-anonymity", "k": 5}, "hospital"))
    names = offered(run.facts)
    assert {"Prosecutor", "Entropy loss", "diagnosis against the whole"} <= set(names)
    assert "Loss" not in names  # it has a track already
    more = ("Prosecutor", "Entropy loss", "no such thing")
    part = binned([run], more)
    assert [track.name for track in part.tracks[3:]] == ["Prosecutor", "Entropy loss"]
    here = part.groups(run.facts, 7)
    attack = next(a for a in run.facts.attacks if a.attack == "prosecutor")
    assert part.tracks[3].values[7] == attack.per_class[here].max()
    chart = tracks([run], COLOURS, None, None, 0, more)
    assert len(data(chart, "titles")) == 5
    assert len(data(chart, "bars")) == 5 * MOST
    assert {"Prosecutor", "Entropy loss"} <= set(chart.numbers.columns)


def test_runs_lie_over_each_other_in_one_chart() -> None:
    runs = [
        drawn(ran("optimal", {"name": "k-anonymity", "k": 3}), "A"),
        drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}), "B"),
    ]
    chart = tracks(runs, COLOURS)
    assert {of[0] for of in data(chart)["of"]} == {"A", "B"}
    assert data(chart, "bars").empty
    assert not chart.figure.picked
    assert chart.title == "Classes or groups, smallest first"
    assert set(chart.numbers["run"]) == {"A", "B"}


def test_no_class_at_all_is_drawn_as_nothing() -> None:
    run = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}))
    facts = run.facts
    facts.__dict__["by_size"] = np.zeros(0, dtype=np.int64)
    part = binned([run])
    assert isinstance(part, Binned)
    assert len(part) == 0
    assert not part.holds(np.zeros(0, dtype=np.bool_)).size


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.04076, "0.041"), (1.0, "1.000"), (11.93, "11.9"), (9_876_543, "9,876,543"),
     (86_200_000, "86.2 M"), (0.0, "0"), (0.00012, "0.00012"),
     (2.32e-5, "0.0000232"), (3e-9, "3e-09")],
)  # fmt: skip
def test_a_value_in_a_line_has_three_digits(value: float, text: str) -> None:
    measure = Measure(metric="query-error", value=value, share=0.5)
    assert _in_a_line("query-error", measure) == text


def test_two_values_that_look_alike_have_no_arrow() -> None:
    name = "reconstruction-error"
    before, now = (Measure(metric=name, value=v, share=v) for v in (0.99991, 0.99999))
    assert _since(name, now, before) == ("≈", "same")
    assert _since(name, now, now) == ("=", "same")


@pytest.mark.parametrize("top", [0.0004, 0.05, 0.18, 0.36, 0.38, 0.5, 0.74, 1.0])
def test_ticks_of_a_track_are_spread_over_its_height(top: float) -> None:
    """Labels next to each other never touch: half of the largest tick is far enough from 0."""
    box = _Box(title="", low=0.0, high=1.0, top=top, rooted=False, percent=False)
    _, between, most = box.ticks()
    assert most <= top * 1.001
    assert between / top >= 0.3
    assert all(len(box.written(tick)) <= 6 for tick in box.ticks())
