"""The page Tables: what is sensitive shows as rules move; what is protected shows its proof."""

from __future__ import annotations

import csv
import io
import threading
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.__main__ import main as command
from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.reading import DataOptions, read_table
from anon_core.tables import publication
from anon_core.tables.publication import Publication, files_of
from anon_core.tables.recipe import Known, TableRecipe
from anon_core.tables.sensitivity import Dominance, PPercent, Threshold, ZeroCells
from anon_core.tables.suppressed import Judged
from anon_core.tables.table import Layout
from tests.ui.sessions import load, open_page, wait_for, words
from ui.export import bundle
from ui.state import state, table_work
from ui.state.work import jobs

PAGE = "pages/10_Tables.py"


def opened() -> AppTest:
    app = open_page(PAGE, load("hospital") | {"tables/level/age": 0})
    assert not app.exception
    return app


def test_a_slider_shows_at_once_how_many_cells_are_sensitive() -> None:
    app = opened()
    assert "**465** cells · **7** sensitive" in words(app)
    app.slider(key="tables/n").set_value(8).run()
    assert "**26** sensitive" in words(app)
    assert "2 → 4 · 3 → 7 · 5 → 16" in words(app)
    grid = app.dataframe[0].value
    assert sum(str(text).startswith("▲ ") for text in grid.to_numpy().ravel()) == 26


def test_only_signs_that_are_in_the_grid_are_explained() -> None:
    app = opened()
    assert "▲ sensitive" in words(app)
    app.slider(key="tables/level/age").set_value(3).run()
    assert "**0** sensitive" in words(app)
    assert "▲" not in words(app)
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert "Nothing is sensitive, so nothing is suppressed." in [one.value for one in app.info]
    assert "Every suppressed cell" not in words(app)  # there is none


def test_protected_cells_are_proven_and_a_change_takes_the_proof_away() -> None:
    app = opened()
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    assert "further suppressed" in words(app)
    (proof,) = app.success
    assert "Each of 7 sensitive cells reaches its level" in proof.value
    app.slider(key="tables/n").set_value(2).run()
    assert not app.success


def recomputed(app: AppTest) -> list[str]:
    """Return the sentences of the second computation that hold."""
    (shown,) = [m.value for m in app.markdown if m.value.startswith("**Recomputed**")]
    return shown.split("\n\n")[1:]


def offered(app: AppTest) -> set[str]:
    return {str(one.proto.label) for one in app.get("download_button")}


def test_files_are_offered_once_the_second_computation_agrees() -> None:
    app = opened()
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    assert len(recomputed(app)) == 4
    assert offered(app) >= {"CSV", "Excel"}


def test_what_the_second_computation_does_not_confirm_is_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = publication.files_of

    def shown(done: Publication) -> dict[str, bytes]:
        files = dict(right(done))
        hidden = str(publication.SUPPRESSED).encode()
        files["table.csv"] = files["table.csv"].replace(hidden, b"1", 1)
        return files

    monkeypatch.setattr("ui.state.table_work.files_of", shown)
    app = opened()
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    assert any("second computation does not confirm" in one.value for one in app.error)
    assert not offered(app)


def test_rounded_counts_are_multiples_of_the_base() -> None:
    app = opened()
    app.selectbox(key="tables/method/False").set_value("random-rounding").run()
    app.slider(key="tables/base").set_value(3).run()
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    grid = app.dataframe[0].value
    numbers = [
        int(str(text).rpartition(" ")[2].replace(",", "")) for text in grid.to_numpy().ravel()
    ]
    assert any(numbers)
    assert all(number % 3 == 0 for number in numbers)
    assert "do not add up" in words(app)
    assert "A reader who knows the method learns" in words(app)


def test_nothing_chosen_asks_for_a_column() -> None:
    app = opened()
    app.multiselect(key="tables/columns").set_value([]).run()
    assert "Choose at least one column." in words(app)


def test_adjusted_counts_show_every_cell_and_are_recomputed() -> None:
    app = opened()
    app.selectbox(key="tables/method/False").set_value("adjust").run()
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    assert "no adjusted table has less than" in words(app)
    assert len(recomputed(app)) == 4
    assert "is published as ×" not in words(app)
    grid = app.dataframe[0].value
    assert not [text for text in grid.to_numpy().ravel() if str(text).startswith("×")]


def loaded(table: str, levels: dict[str, list[list[str]]]) -> dict[str, Any]:
    """Return the content of a session that a table was loaded in."""
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held):
        data = read_table(table.encode(), DataOptions())
        state.set_dataset(data, roles=None, levels=levels, types={}, title="own")
    return held


def said(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> TableRecipe:
    """Return the recipe that the form hands over."""
    seen: list[TableRecipe] = []

    def start(_data: object, found: Judged, _levels: object) -> None:
        seen.append(found.recipe)

    monkeypatch.setattr(table_work, "start", start)
    app.button(key="tables/protect").click().run()
    return seen[0]


def test_the_form_says_all_that_a_recipe_of_sums_can(monkeypatch: pytest.MonkeyPatch) -> None:
    columns: dict[str, Any] = {
        "tables/columns": ["ward"], "tables/value": "cost", "tables/respondent": "patient",
        "tables/holding": "ward", "tables/weight": "weight", "tables/waiver": "agreed",
    }  # fmt: skip
    table = (
        "ward,patient,agreed,cost,weight\nn,a,,5,2\nn,b,yes,70,3\nn,c,,4,2\ns,d,,90,2\ns,e,,8,2\n"
    )
    app = open_page(PAGE, loaded(table, {}) | columns)
    assert not app.exception
    for key, value in (("with-k", True), ("with-zero", True), ("negatives", True)):
        box = app.checkbox if key.startswith("with") else app.toggle
        box(key=f"tables/{key}").set_value(value).run()
    assert not app.exception
    app.text_input(key="tables/who").set_value("firms")
    app.number_input(key="tables/q").set_value(120)
    app.number_input(key="tables/coalition").set_value(2)
    app.number_input(key="tables/m").set_value(3)
    app.number_input(key="tables/k").set_value(72.5)
    app.toggle(key="tables/signed").set_value(True).run()
    recipe = said(app, monkeypatch)
    assert recipe.layout == Layout(
        columns=("ward",), value="cost", respondent="patient", holding="ward", weight="weight",
        waiver="agreed", negatives="absolute",
    )  # fmt: skip
    assert recipe.rules == (
        Threshold(n=3), PPercent(p=10, q=120, coalition=2), Dominance(m=3, k=Fraction("72.5")),
        ZeroCells(),
    )  # fmt: skip
    assert recipe.known == Known(signed=True)
    assert recipe.who == "firms"
    assert TableRecipe.from_toml(recipe.as_toml()).layout == recipe.layout


def test_methods_stand_side_by_side_with_what_each_loses_and_what_stays_learnable() -> None:
    app = opened()
    app.multiselect(key="tables/sides/False").set_value(
        ["none", "optimal", "random-rounding"]
    ).run()
    wait_for(app.button(key="tables/compare").click().run(), "compare-tables")
    assert not app.exception
    frame = next(d.value for d in app.dataframe if "too close" in d.value.columns)
    close, loss = list(frame["too close"]), list(frame["lost"])
    assert close[:2] == ["7 of 7", "0 of 7"]
    assert loss[0] == "0.00%" != loss[1]
    assert list(frame["totals add up"]) == ["yes", "yes", "no"]
    assert list(frame["recomputed"])[1:] == ["4 checks", "2 checks"]


def test_a_comparison_is_cancelled_while_it_is_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    stopped: list[bool] = []

    def slow(*given: Any) -> list[Any]:
        begun.set()
        go.wait(30)
        try:
            given[-1]("Recomputing")
        except Cancelled:
            stopped.append(True)
            raise
        return []

    monkeypatch.setattr(table_work, "verify_table", slow)
    app = opened()
    app.multiselect(key="tables/sides/False").set_value(["none", "random-rounding"]).run()
    app.button(key="tables/compare").click().run()
    assert begun.wait(30)
    job = app.session_state["jobs"]["compare-tables"]
    job.cancel.set()
    go.set()
    assert job.wait(30)
    assert stopped


def test_a_search_is_stopped_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(judged: Judged, context: Context) -> Publication:
        context.found(30.0, 20.0, "Cost of suppression")
        begun.set()
        go.wait(30)
        assert context.enough()
        return publication.protect(judged, context)

    monkeypatch.setattr(table_work, "protect", slow)
    app = opened()
    app.button(key="tables/protect").click().run()
    assert begun.wait(30)
    app.run()
    shown = words(app).replace("\\", "")
    assert "Best so far: cost of suppression 30" in shown
    assert "a gap of 33.3%" in shown
    app.button(key="take-protect-table").click().run()
    go.set()
    wait_for(app, "protect-table")
    assert not app.exception
    assert "Each of 7 sensitive cells reaches its level" in app.success[0].value


#: `NA` is a text that represents a missing value, unless a hierarchy lists it.
LISTED = "country,sex\n" + "NA,f\n" * 4 + "NA,m\n" * 5 + "US,f\n" * 6 + ",m\n" * 3 + "US,m\n" * 3
TREE = [["NA", "Africa", "*"], ["US", "America", "*"]]


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_page_and_command_count_the_same_rows(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = loaded(LISTED, {"country": TREE})
    with patch.object(st, "session_state", held):
        state.update_draft(data={"missing": missing})
    app = open_page(PAGE, held | {"tables/columns": ["country", "sex"], "tables/level/country": 0})
    recipe = said(app, monkeypatch)
    (tmp_path / "rows.csv").write_text(LISTED)
    tree = "\n".join(";".join(line) for line in TREE)
    (tmp_path / "tree.csv").write_text(tree)
    named = replace(recipe, hierarchies={"country": "tree.csv"})
    (tmp_path / "recipe.toml").write_text(named.as_toml())
    out = tmp_path / "out"
    given = ["--data", str(tmp_path / "rows.csv"), "--out", str(out)]
    assert command(["table", str(tmp_path / "recipe.toml"), *given]) == 0
    page = list(app.dataframe[0].value["Total"])
    rows = list(csv.DictReader((out / "table.csv").open(newline="")))
    assert page == [row["count"] for row in rows if row["sex"] == "Total"]
    assert [row["country"] for row in rows if row["sex"] == "Total"] == [
        "Total", "Africa", "NA", "America", "US", *(["(missing)"] if missing == "keep" else [])
    ]  # fmt: skip
    assert page[2] == "9"


def test_a_refused_query_is_answered_by_a_tracker_unless_answers_are_audited() -> None:
    table = "sex,ward\n" + "f,n\n" * 9 + "m,n\n" * 8 + "f,s\n" * 2 + "m,s\n" * 11 + "f,w\n"
    app = open_page(PAGE, loaded(table, {}))
    app.text_input(key="tables/box/a").set_value("ward = 'w'").run()
    assert not app.exception
    assert "the set is too small or too large" in words(app).replace("\\", "")
    steps = next(d.value for d in app.dataframe if "asked" in d.value.columns)
    assert list(steps["asked"]) == ["q(T)", "q(not T)", "q(C or T)", "q(C or not T)"]
    assert [warning.value for warning in app.warning] == ["So the refused answer is **1**."]
    app.toggle(key="tables/box/audits").set_value(True).run()
    assert not app.warning
    assert any("The audit stops the tracker" in one.value for one in app.success)
    app.text_input(key="tables/box/a").set_value("ward = 'n'").run()
    assert any("Answered: 17" in one.value for one in app.success)
    app.text_input(key="tables/box/a").set_value("ward ! 'n'").run()
    assert not app.exception
    assert any("cannot be read" in one.value.replace("\\", "") for one in app.error)


def test_a_table_is_looked_at_and_protected_with_one_that_is_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the town's women one lives out of the quarter: either table alone has no small cell.
    rows = "a,b,f\n" * 20 + "a,b,m\n" * 15 + "a,c,f\n" + "a,c,m\n" * 6 + "d,c,f\nd,c,m\n" * 9
    app = open_page(
        PAGE, loaded("large,small,sex\n" + rows, {}) | {"tables/columns": ["large", "sex"]}
    )
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    app.button(key="tables/out").click().run()
    assert "Published: **large, sex**, 9 cells, 0 of them suppressed" in words(app)
    app.multiselect(key="tables/columns").set_value(["small", "sex"]).run()
    assert not app.exception
    shown = next(d.value for d in app.dataframe if "leaves" in d.value.columns)
    assert set(shown["leaves"]) == {"1"}
    wait_for(app.button(key="tables/together").click().run(), "protect-table")
    assert not app.exception
    assert not [d for d in app.dataframe if "leaves" in d.value.columns]
    assert "sensitive cells of both are safe from someone who reads both" in words(app)
    # The zip holds the earlier table: the command comes to the same file from it.
    with patch.object(st, "session_state", app.session_state):
        finished = table_work.finished(state.released_dataset(), said(app, monkeypatch))
    assert finished is not None
    recipe = finished.published.judged.recipe
    made = bundle.table_archive(recipe, {}, finished.before)
    zipfile.ZipFile(io.BytesIO(made)).extractall(tmp_path)
    (tmp_path / "rows.csv").write_text("large,small,sex\n" + rows)
    given = ["--data", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out")]
    given += ["--earlier", str(tmp_path / "earlier")]
    assert command(["table", str(tmp_path / "recipe.toml"), *given]) == 0
    page = files_of(finished.published)["table.csv"]
    assert (tmp_path / "out" / "table.csv").read_bytes() == page


def test_the_second_computation_fills_its_own_half_of_the_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports: list[tuple[float, str]] = []
    monkeypatch.setattr(jobs.Job, "note", lambda _, share, stage: reports.append((share, stage)))
    wait_for(opened().button(key="tables/protect").click().run(), "protect-table")
    at = [stage for _, stage in reports].index("Adding up the rows again")
    assert all(share <= 0.5 for share, _ in reports[:at])
    shares = [share for share, _ in dict.fromkeys(reports[at:])]
    assert shares[0] == 0.5
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert shares[-1] < 1  # a full bar is one that is over
