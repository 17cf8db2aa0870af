"""One name, one number: a run's figures are the same wherever they are shown."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.explain.report.files import as_html, edition_of
from anon_core.explain.report.sections import sections
from anon_core.explain.text.phrases import chance
from anon_core.explain.text.tiles import tiles, title_of
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from tests.ui.sessions import (
    ATTACKS,
    COMPARE,
    EXPORT,
    RESULTS,
    VERDICTS,
    carried_out,
    load,
    open_page,
    words,
)
from tests.ui.test_advice_panel import clinic
from ui.charts import attack_plots, run_series
from ui.charts.chart_frame import palette
from ui.panels.compare import compare_tables
from ui.state import results, state

UNIQUE = re.compile(
    r"([\d,]+)(?: of [\d,]+ (?:rows|people))? \([^)]*%\) (?:is|are) unique over all published "
    "columns"
)
Name = tuple[str, str, str]  # attack, column, figure
COMPARED = {"worst chance": "worst case", "people at risk": "people at risk", "rate": "rate"}
DRAWN = {
    "people at risk": "people at risk",
    "at risk": "people at risk",
    "worst": "worst chance",
    "rate": "rate",
}
NAMES = {"worst": "worst chance", "at_risk": "people at risk", "rate": "rate"}
#: A release whose cells of different classes overlap, one whose ranges do, and one of levels.
RUNS = {
    "node": {"name": "mondrian", "output": "node"},
    "relaxed": {"name": "mondrian", "cuts": "relaxed"},
    "levels": {"name": "optimal", "max_suppression": 0.05},
    "people": {"name": "mondrian"},
}


@pytest.fixture(scope="module", params=RUNS)
def held(request: pytest.FixtureRequest) -> dict[str, object]:
    promised = {"algorithm": RUNS[request.param], "models": [{"name": "k-anonymity", "k": 12}]}
    if request.param == "people":
        found = clinic()
        with patch.object(st, "session_state", found):
            state.update_draft(**promised)
    else:
        found = load("hospital", **promised)
    carried_out(found, pinned=1)
    return found


def result_of(held: dict[str, object]) -> Result:
    with patch.object(st, "session_state", held):
        found = results.last()
    assert found is not None
    return found


def said(app: AppTest) -> str:
    assert not app.exception
    return re.sub(r"\\(.)", r"\1", words(app))


def every_text(held: dict[str, object], result: Result) -> Iterator[tuple[str, str]]:
    """Return everything that is shown of a run, by where it is shown."""
    for page in (RESULTS, COMPARE, EXPORT):
        yield page, said(open_page(page, held, tab=VERDICTS if page == RESULTS else ""))
    for view in ("One by one", "Questions"):
        yield view, said(open_page(RESULTS, {**held, "attack-view": view}, tab=ATTACKS))
    for public in (False, True):
        report = as_html(edition_of(result, public=public))
        yield f"report, public={public}", html.unescape(re.sub(r"<[^>]+>", " ", report))
    yield "--json", str(figures_of(result))


def figures(held: dict[str, object], result: Result) -> Iterator[tuple[Name, str, float]]:
    """Return every figure of an attack that some table tells: its name, where, and the value."""
    for one in figures_of(result)["attacks"]:
        for key, name in NAMES.items():
            yield (one["name"], one["column"] or "", name), "--json", one[key]
    by_name = {attack_plots.name_of(a): (a.attack, a.column) for a in result.attacks}
    with patch.object(st, "session_state", held):
        run = run_series.of_result(result, palette())
        figures = compare_tables.figures(run)
        for shown, of in by_name.items():
            for name, written in COMPARED.items():
                yield (*of, name), "Compare", figures[f"{shown}: {written}"]
        for chart in (attack_plots.attack_bullets, attack_plots.risk_bullets):
            rows = chart([run], palette()).numbers
            for row in rows[rows["attack"].isin(list(by_name))].to_dict("records"):
                for column, name in DRAWN.items():
                    if column in row:
                        yield (*by_name[str(row["attack"])], name), "charts", float(row[column])
    report = edition_of(result)
    for one in (*report["thresholds"]["attacks"], *report["risk"]["attacks"]):
        for key, name in NAMES.items():
            if key in one:
                yield (one["attack"], one["column"] or "", name), "report", one[key]
    titles = {title_of(a): (a.attack, a.column) for a in result.attacks}
    people = tiles(result)[1]
    value = float(people.figure.split(" of ")[0].replace(",", ""))
    if people.attacker in titles:
        yield (*titles[people.attacker], "people at risk"), "tile", value
    else:
        assert value == max(a.at_risk for a in result.attacks) == 0


def test_no_two_numbers_go_by_one_name(held: dict[str, object]) -> None:
    result = result_of(held)
    found: dict[Name, set[float]] = defaultdict(set)
    places: dict[Name, set[str]] = defaultdict(set)
    for name, where, value in figures(held, result):
        found[name].add(round(value, 12))
        places[name].add(where)
    assert {name: values for name, values in found.items() if len(values) > 1} == {}
    assert all({"--json", "Compare", "charts", "report"} <= there for there in places.values())


def test_rows_unique_over_all_columns_have_one_number_everywhere(held: dict[str, object]) -> None:
    result = result_of(held)
    alone = result.unique_of[1]
    assert alone
    seen: dict[str, set[str]] = {}
    for where, text in every_text(held, result):
        found = set(UNIQUE.findall(text))
        assert found <= {f"{alone:,}"}, where
        seen[where] = found
    assert all(seen[where] for where in (RESULTS, EXPORT, "report, public=False"))
    (bar,) = [
        row
        for a in result.attacks if a.attack == "uniqueness"
        for row in a.details[1].rows if row["columns"] == "all published columns"
    ] or [{result.counted: alone}]  # fmt: skip
    assert bar[result.counted] == alone
    of = "unique_over_all_columns" if result.crowd is None else "unique_people_over_all_columns"
    assert figures_of(result)[of] == alone


def test_no_tile_is_rosier_than_a_line_below_it(held: dict[str, object]) -> None:
    result = result_of(held)
    worst, people, _ = tiles(result)
    assert worst.attacker
    assert people.attacker
    most = max(a.at_risk for a in result.attacks)
    assert people.figure.startswith(f"{most:,} of ")
    smallest = int(result.hiding.min())
    lines = [1 / smallest, *(a.worst for a in result.attacks if _picks(a))]
    assert worst.figure == chance(max(lines))
    expected = dict(row for block in _risk(result) for row in block)
    assert expected["Highest chance within a class that is known"] == chance(1 / smallest)
    page = said(open_page(RESULTS, held, tab=VERDICTS))
    assert f"**Worst chance** · {worst.attacker}" in page
    assert "**People at risk** · " in page


def _picks(attack: AttackResult) -> bool:
    """Say whether it is the chance of picking a person, at worst."""
    return attack.attack in ("prosecutor", "journalist")


def _risk(result: Result) -> Iterator[list[tuple[str, str]]]:
    for one in sections(edition_of(result)):
        for block in one.blocks:
            if block.kind == "table":
                yield [(row[0], row[-1]) for row in block.rows if len(row) == 3]
