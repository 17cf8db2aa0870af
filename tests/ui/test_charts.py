"""Charts say what has no value in a run, and why, instead of leaving it out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from anon_core.job.result import Result
from tests.ui.sessions import carried_out, load
from ui.charts.areas_chart import Area, Areas, squares
from ui.charts.attack_plots import attack_dots, risk_chart, title_of
from ui.charts.cells_chart import Cell, Cells, Grid
from ui.charts.chart_frame import Chart, Series, light_palette
from ui.charts.metric_plots import column_heat, metric_bars
from ui.charts.rows_chart import Item, Mark, Plot, Rows, Words
from ui.charts.sensitive_heatmap import about_equal, group_chart
from ui.session.result_view import Facts

COLOURS = light_palette()


def ran(algorithm: str, model: dict[str, Any]) -> Result:
    return carried_out(load("li-microdata", algorithm={"name": algorithm}, models=[model]))


def drawn(result: Result, letter: str = "") -> Series:
    return Series(letter=letter, title="", facts=Facts(result=result), colour="#00795A")


def items(chart: Chart, kind: type[Item]) -> dict[tuple[str, str], list[Any]]:
    """Return what of one kind stands in a chart of rows, by the run's heading and the row."""
    assert isinstance(chart.figure, Rows)
    return {
        (plot.heading, name): [one for one in line if isinstance(one, kind)]
        for plot in chart.figure.plots
        for name, line in plot.lines.items()
    }


def written(chart: Chart) -> str:
    return " ".join(one.text for line in items(chart, Words).values() for one in line)


def test_attacks_that_were_not_run_stand_among_the_numbers_with_the_reason() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    assert run.facts.not_run
    for chart in (attack_dots([run], COLOURS), risk_chart([run], COLOURS)):
        told = chart.numbers.set_index("attack")
        for name, why in run.facts.not_run.items():
            assert told.loc[title_of(name), "not run"] == why
        names = [title_of(a.attack, a.column) for a in run.facts.attacks]
        assert list(told.index) == names + [title_of(n) for n in run.facts.not_run]
        assert "not run" not in written(chart)  # they are listed below it


def test_each_run_says_which_attacks_of_the_other_it_lacks() -> None:
    permuted = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}), "A")
    coarse = drawn(ran("optimal", {"name": "k-anonymity", "k": 3}), "B")
    told = attack_dots([permuted, coarse], COLOURS).numbers.set_index(["run", "attack"])
    assert told.loc[("A", "Prosecutor"), "not run"] == permuted.facts.not_run["prosecutor"]
    assert told.loc[("B", "Prosecutor"), "rate"] > 0
    assert told.loc[("B", "Membership"), "not run"] == coarse.facts.not_run["membership"]
    assert "not run" in written(attack_dots([permuted, coarse], COLOURS))


def test_a_certain_disclosure_is_drawn_in_no_run_s_colour() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    one = [replace(a, worst=1.0) if a.attack == "homogeneity" else a for a in whole.attacks]
    run = drawn(replace(whole, attacks=tuple(one)))
    chart = attack_dots([run], COLOURS)
    full = [
        (name, one.colour)
        for (_, name), line in items(chart, Mark).items()
        for one in line
        if one.shape == "diamond"
    ]
    sure = {title_of(a.attack, a.column) for a in run.facts.attacks if a.worst >= 1}
    assert 0 < len(sure) < len(whole.attacks)
    assert sorted(full) == [(name, COLOURS.warning) for name in sorted(sure)]
    hollow = {
        name
        for (_, name), line in items(chart, Mark).items()
        if any(one.shape == "diamond-open" for one in line)
    }
    assert not sure & hollow
    assert {text for _, _, text in chart.figure.legend} >= {
        "certain for someone",
        "worst-placed person",
    }


def test_a_metric_a_run_lacks_is_said_to_be_missing() -> None:
    whole = ran("optimal", {"name": "k-anonymity", "k": 3})
    measures = {n: m for n, m in whole.measures.items() if n != "ncp"}
    runs = [drawn(replace(whole, measures=measures), "A"), drawn(whole, "B")]
    chart = metric_bars(runs, COLOURS)
    assert written(chart).count("not measured") == 1
    assert list(chart.numbers[chart.numbers["run"] == "A"]["metric"]).count("NCP / GCP") == 0
    assert column_heat(runs, COLOURS) is not None


def test_cells_tell_the_loss_of_their_column_in_their_run() -> None:
    runs = [drawn(ran("mondrian", {"name": "k-anonymity", "k": 3}), letter) for letter in "AB"]
    chart = column_heat(runs, COLOURS)
    assert chart is not None
    assert isinstance(chart.figure, Cells)
    assert [len(grid.cells) for grid in chart.figure.grids] == [len(chart.figure.names)] * 2
    for grid, letter in zip(chart.figure.grids, "AB", strict=True):
        told = chart.numbers[chart.numbers["run"] == letter].set_index("column")
        for name, line in zip(chart.figure.names, grid.cells, strict=True):
            for head, cell in zip(chart.figure.heads, line, strict=True):
                assert cell is not None
                value = told.loc[name, head]
                known = f"{name}, {head}: {value:.4f} of 1"
                assert (cell.text, cell.tip) == (
                    ("–", "") if pd.isna(value) else (cell.text, known)
                )


def test_groups_of_one_size_are_shown_by_what_they_hold() -> None:
    run = drawn(ran("permutation", {"name": "frequency-l-diversity", "l": 4}))
    assert about_equal(run.facts)
    chart = group_chart([run], COLOURS)
    assert "hold of “Disease”" in chart.title
    assert isinstance(chart.figure, Cells)
    shares = [
        [
            0.0 if cell is None else float(cell.tip.split(": ")[1].split("%")[0]) / 100
            for cell in line
        ]
        for line in chart.figure.grids[0].cells
    ]
    for place, group in enumerate(chart.numbers["group"]):
        number = run.facts.numbers.tolist().index(group)
        within = run.facts.within("Disease", number)
        assert sum(line[place] for line in shares) == pytest.approx(1.0, abs=0.01)
        assert max(within.values()) == pytest.approx(chart.numbers["its share"][place])
    assert all(cell.text for line in chart.figure.grids[0].cells for cell in line if cell)
    assert list(chart.numbers["its share"]) == sorted(chart.numbers["its share"], reverse=True)


def test_groups_of_many_sizes_are_shown_as_areas() -> None:
    held = load("hospital", algorithm={"name": "optimal"})
    run = drawn(carried_out(held))
    assert not about_equal(run.facts)
    assert "by their rows" in group_chart([run], COLOURS).title


def test_areas_fill_their_box_in_the_measure_of_their_sizes() -> None:
    sizes = [50, 20, 9, 9, 5, 3, 1, 1, 1, 1]
    boxes = squares(sizes, 600, 300)
    for size, (x, y, wide, high) in zip(sizes, boxes, strict=True):
        assert wide * high == pytest.approx(600 * 300 * size / sum(sizes))
        assert -1e-6 <= x <= x + wide <= 600 + 1e-6
        assert -1e-6 <= y <= y + high <= 300 + 1e-6
    for one, (x, y, wide, high) in enumerate(boxes):
        for left, top, w, h in boxes[:one]:
            beside = min(x + wide, left + w) - max(x, left) < 1e-6
            assert beside or min(y + high, top + h) - max(y, top) < 1e-6


def test_nothing_in_a_plain_chart_is_markup() -> None:
    evil = '<img src=x onerror="alert(1)">'
    mark = Mark(at=0.5, shape="circle", colour="#00795A", tip=evil)
    rows = Rows(
        names=(evil,),
        plots=(Plot(lines={evil: [mark, Words(text=evil, tip=evil)]}, heading=evil),),
        low=0,
        high=1,
        ticks={0: evil},
        axis=evil,
        legend=(("circle", "#00795A", evil),),
    )
    cell = Cell(colour="#00795A", ink="#FFFFFF", text=evil, tip=evil)
    grid = Grid(cells=[[cell, None]], heading=evil)
    cells = Cells(names=(evil,), heads=(evil, ""), grids=(grid,), axis=evil)
    areas = Areas(
        areas=(Area(size=1, colour="#00795A", ink="#FFFFFF", text=evil, tip=evil),), height=300
    )
    for chart in (rows, cells, areas):
        told = chart.html(evil, COLOURS)
        assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in told
        assert "<img" not in told
        assert 'onerror="' not in told
