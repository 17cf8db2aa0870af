"""Charts say what has no value in a run, and why, instead of leaving it out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anon_core.job.result import Result
from tests.ui.sessions import carried_out, load
from ui.charts.attack_plots import attack_dots, risk_chart, title_of
from ui.charts.chart_frame import Series, light_palette, two_lines
from ui.charts.metric_plots import column_heat, metric_bars
from ui.charts.sensitive_heatmap import about_equal, group_chart
from ui.session.result_view import Facts

COLOURS = light_palette()


def ran(algorithm: str, model: dict[str, Any]) -> Result:
    return carried_out(load("li-microdata", algorithm={"name": algorithm}, models=[model]))


def drawn(result: Result, letter: str = "") -> Series:
    return Series(letter=letter, title="", facts=Facts(result=result), colour="#00795A")


def written(figure: Any) -> str:
    return " ".join(a.text.replace("<br>", " ") for a in figure.layout.annotations)


def test_attacks_that_were_not_run_stand_among_the_numbers_with_the_reason() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    assert run.facts.not_run
    for chart in (attack_dots([run], COLOURS), risk_chart([run], COLOURS)):
        told = chart.numbers.set_index("attack")
        for name, why in run.facts.not_run.items():
            assert told.loc[title_of(name), "not run"] == why
        names = [title_of(a.attack, a.column) for a in run.facts.attacks]
        assert list(told.index) == names + [title_of(n) for n in run.facts.not_run]
        assert "not run" not in written(chart.figure)  # they are listed below it


def test_each_run_says_which_attacks_of_the_other_it_lacks() -> None:
    permuted = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}), "A")
    coarse = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}), "B")
    told = attack_dots([permuted, coarse], COLOURS).numbers.set_index(["run", "attack"])
    assert told.loc[("A", "Prosecutor"), "not run"] == permuted.facts.not_run["prosecutor"]
    assert told.loc[("B", "Prosecutor"), "rate"] > 0
    assert told.loc[("B", "Membership"), "not run"] == coarse.facts.not_run["membership"]
    assert "not run" in written(attack_dots([permuted, coarse], COLOURS).figure)


def test_a_certain_disclosure_is_drawn_in_no_run_s_colour() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    one = [replace(a, worst=1.0) if a.attack == "homogeneity" else a for a in whole.attacks]
    run = drawn(replace(whole, attacks=tuple(one)))
    marks = {t.name: t for t in attack_dots([run], COLOURS).figure.data if t.mode == "markers"}
    sure = {title_of(a.attack, a.column) for a in run.facts.attacks if a.worst >= 1}
    assert 0 < len(sure) < len(whole.attacks)
    assert {str(y).replace("<br>", " ") for y in marks["certain for someone"].y} == sure
    assert marks["certain for someone"].marker.color == COLOURS.warning
    assert not sure & {str(y).replace("<br>", " ") for y in marks["worst-placed person"].y}


def test_a_metric_a_run_lacks_is_said_to_be_missing() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    measures = {n: m for n, m in whole.measures.items() if n != "ncp"}
    runs = [drawn(replace(whole, measures=measures), "A"), drawn(whole, "B")]
    chart = metric_bars(runs, COLOURS)
    assert written(chart.figure).count("not measured") == 1
    assert list(chart.numbers[chart.numbers["run"] == "A"]["metric"]).count("NCP / GCP") == 0
    assert column_heat(runs, COLOURS) is not None


def test_names_above_columns_of_numbers_keep_to_their_column() -> None:
    runs = [drawn(ran("mondrian", {"name": "k-anonymity", "k": 3}), letter) for letter in "AB"]
    chart = column_heat(runs, COLOURS)
    assert chart is not None
    names = [str(name) for trace in chart.figure.data for name in trace.x]
    assert "Amount of<br>generalization" in names
    assert max(len(line) for name in names for line in name.split("<br>")) <= 14


def test_groups_of_one_size_are_shown_by_what_they_hold() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    assert about_equal(run.facts)
    chart = group_chart([run], COLOURS)
    assert "hold of “Disease”" in chart.title
    held = [[v or 0.0 for v in line] for line in chart.figure.data[0].z]
    for place, group in enumerate(chart.numbers["group"]):
        number = run.facts.numbers.tolist().index(group)
        within = run.facts.within("Disease", number)
        assert sum(line[place] for line in held) == pytest.approx(1.0)
        assert max(within.values()) == pytest.approx(chart.numbers["its share"][place])
    written = {(a.y, a.x) for a in chart.figure.layout.annotations}
    assert written == {(i, j) for i, line in enumerate(held) for j, v in enumerate(line) if v}
    assert list(chart.numbers["its share"]) == sorted(chart.numbers["its share"], reverse=True)


def test_groups_of_many_sizes_are_shown_as_areas() -> None:
    held = load("hospital", algorithm={"name": "optimal"})
    run = drawn(carried_out(held))
    assert not about_equal(run.facts)
    assert "by their rows" in group_chart([run], COLOURS).title


def test_long_names_of_attacks_get_a_second_line() -> None:
    assert two_lines(["Attribute inference: income", "Prosecutor"], 24) == [
        "Attribute inference:<br>income",
        "Prosecutor",
    ]
    long = ["Attribute inference: " + "x" * 40 + end for end in "ab"]
    one, other = two_lines(long, 24)
    assert one != other
    assert all(len(line) <= 28 for line in (*one.split("<br>"), *other.split("<br>")))
    assert two_lines(["<b>: <i>"], 4) == ["&lt;b&gt;:<br>&lt;i&gt;"]
