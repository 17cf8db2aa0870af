"""Export: what is offered runs, opens, and says which edition it is."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st

from anon_core.__main__ import main
from anon_core.data.hierarchy import parse_levels
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.report.files import as_html, edition_of, makes_pdf
from anon_core.explain.text import checklist
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan
from tests.ui.sessions import CHECKOUT, EXPORT, carried_out, load, open_page, wait_for, words
from ui.export import bundle
from ui.state import state
from ui.state.population_tables import Population

FORMULAS = ("=1+1", "+A1", "-cmd", "@SUM(A1)", "-5")


@pytest.fixture(scope="module")
def hospital() -> Result:
    return carried_out(load("hospital", algorithm={"name": "optimal", "max_suppression": 0.02}))


def unpack(result: Result, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(bundle.archive(result))) as packed:
        packed.extractall(folder)
    data = folder / "private table.csv"
    sample("hospital").frame().to_csv(data, index=False)
    return data


def called(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={"PYTHONPATH": str(CHECKOUT), "PATH": "", "HOME": str(folder)},
    )


def test_without_a_result_the_page_says_what_to_do() -> None:
    app = open_page(EXPORT, load())
    assert not app.exception
    assert "No result yet" in words(app)


def test_every_download_says_its_edition() -> None:
    held = load()
    carried_out(held)
    app = open_page(EXPORT, held)
    assert not app.exception
    reports = 2 + makes_pdf()
    offered = [one for one in app.get("download_button") if str(one.key).startswith("get-")]
    assert len(offered) == 7 + 2 * reports
    editions = Counter((one.proto.help.split("edition")[0], one.proto.icon) for one in offered)
    assert editions == {
        ("**Public ", ":material/public:"): 2 + reports,
        ("**Internal ", ":material/lock:"): 5 + reports,
    }
    assert "they hold the seed" in words(app)


def test_what_does_not_hold_is_shown_and_has_to_be_seen_first() -> None:
    held = load()
    result = carried_out(held)
    assert result.unique_over_all_columns == 8
    app = open_page(EXPORT, held)
    said = words(app).replace("\\", "")
    assert "k = 2 holds" in said
    assert "threshold 1 in 5 (0.2): not met; worst chance 1 in 3 (0.333)" in said
    marketer = said[said.index("Marketer re-identification: ") :].partition(".\n")[0]
    assert "; share of right links " in marketer  # one figure for all: nobody is placed worst
    assert "8 of 8 rows (100%) are unique over all published columns" in said
    assert "No column is published as it is" in said
    public = 4 + makes_pdf()
    assert all(b.disabled for b in app.get("download_button")[:public])
    assert not any(b.disabled for b in app.get("download_button")[public:])
    assert "need a reason" in said
    fields = [t for t in app.text_input if t.key.startswith("reason-1")]
    fields[0].input("Only for one class.").run()
    assert all(b.disabled for b in app.get("download_button")[:public])  # the others wait
    next(t for t in app.text_input if t.key == "reason-for-all").input("Under contract.").run()
    next(b for b in app.button if b.key == "use-reason").click().run()
    assert not app.exception
    assert not any(b.disabled for b in app.get("download_button"))
    assert "each has its reason" in words(app)
    (filed,) = app.session_state["state/reasons"].values()
    assert sorted(set(filed.values())) == ["Only for one class.", "Under contract."]


def test_where_everything_holds_nothing_has_to_be_acknowledged() -> None:
    held = load(
        models=[{"name": "k-anonymity", "k": 4}],
        attacks=[{"name": name, "threshold": 0.5} for name in ("prosecutor", "marketer")],
    )
    with patch.object(st, "session_state", held):
        roles = state.roles()
        state.set_roles(replace(roles, sensitive=()), ("Salary",))
    result = carried_out(held)
    assert (result.left_out, result.unique_over_all_columns) == (("Salary",), 0)
    app = open_page(EXPORT, held)
    said = words(app).replace("\\", "")
    assert "0 of 8 rows (0%) are unique over all published columns" in said
    assert "Left out of the release: Salary" in said
    assert app.get("download_button")[0].disabled  # two things nobody has said
    app.text_area(key="judgement-export").input("For one class only.").run()
    assert app.get("download_button")[0].disabled
    app.radio(key="ctx-earlier").set_value("There are none").run()
    assert not app.exception
    assert not any(b.disabled for b in app.get("download_button"))
    assert "What does not hold" not in words(app)


def test_what_was_not_decided_is_a_warning() -> None:
    result = carried_out(load())
    attack = replace(result.attacks[0], undecided=3, worst=1.0)
    warned = checklist.thresholds(replace(result, attacks=(attack,)))
    line = "3 not decided in time; treated as exposed"
    assert any(one.mark == "warning" and line in one.sentence for one in warned)


def test_what_is_stated_on_the_page_is_kept_and_wrong_dates_are_refused() -> None:
    held = load()
    carried_out(held)
    app = open_page(EXPORT, held)
    app.text_input(key="ctx-recipient").input("One class").run()
    app.text_area(key="ctx-harms").input("Shame\n\nLoss of work").run()
    app.text_input(key="ctx-date").input("22.11.2026").run()
    assert "which is not a date" in words(app).replace("\\", "")
    app.text_input(key="ctx-date").input("2026-11-22").run()
    assert not app.exception
    shown = app.session_state["state/context"]
    assert shown["release"]["recipient"] == "One class"
    assert shown["threats"]["harms"] == ["Shame", "Loss of work"]
    assert shown["decision"]["date"] == "2026-11-22"
    app.switch_page("pages/5_Results.py").run()
    app.switch_page("pages/7_Export.py").run()
    assert app.text_input(key="ctx-recipient").value == "One class"


def test_the_judgement_is_written_on_export_too() -> None:
    held = load()
    carried_out(held)
    app = open_page(EXPORT, held)
    app.text_area(key="judgement-export").input("Under contract.").run()
    assert list(app.session_state["judgement"].values()) == ["Under contract."]
    app.switch_page("pages/5_Results.py").run()
    next(b for b in app.button if b.label == "Verdicts and judgement").click().run()
    assert app.text_area(key="judgement-results").value == "Under contract."


def test_the_zip_runs_from_the_command_line(hospital: Result, tmp_path: Path) -> None:
    data = unpack(hospital, tmp_path)
    out = tmp_path / "out"
    done = called(
        "-m", "anon_core", "run", str(tmp_path / "recipe.toml"),
        "--data", str(data), "--out", str(out),
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (out / "release.csv").read_bytes() == hospital.csv
    checked = called(
        "-m", "anon_core", "verify", str(tmp_path / "recipe.toml"),
        "--data", str(data), "--release", str(out),
        folder=tmp_path,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_the_script_makes_the_same_bytes(hospital: Result, tmp_path: Path) -> None:
    data = unpack(hospital, tmp_path)
    done = called(str(tmp_path / "reproduce.py"), str(data), str(tmp_path / "out"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The same bytes as before." in done.stdout
    assert (tmp_path / "out" / "release.csv").read_bytes() == hospital.csv


def test_the_recipe_alone_is_the_plan(hospital: Result) -> None:
    again = Plan.from_toml(bundle.recipe(hospital))
    assert again == replace(hospital.recipe, hierarchies=again.hierarchies)
    assert set(again.types) == set(hospital.plan.roles.named)


def test_the_archive_is_the_same_twice(hospital: Result) -> None:
    assert bundle.archive(hospital) == bundle.archive(hospital)


def test_hierarchies_go_where_any_column_name_leads() -> None:
    held = load()
    frame = pd.DataFrame({"../x": ["1", "1"], "..;x": ["a;b", "a;b"], "": ["q", "q"]})
    frame.columns = ["../x", "..;x", "CON"]
    with patch.object(st, "session_state", held):
        state.set_dataset(
            Dataset.from_frame(frame),
            roles=Roles(quasi=("../x", "..;x", "CON")),
            levels={"../x": [["1", "*"]], "..;x": [["a;b", "*"]], "CON": [["q", "*"]]},
            types={},
            title="odd",
            k=2,
        )
    result = carried_out(held)
    with zipfile.ZipFile(io.BytesIO(bundle.archive(result))) as packed:
        names = packed.namelist()
        level = packed.read(bundle.recipe_plan(result).hierarchies["..;x"]).decode()
    assert not any(".." in name for name in names)
    assert len(set(names)) == len(names)
    assert level == '"a;b";*\n'


def test_a_population_table_travels_with_the_recipe(hospital: Result) -> None:
    people = Population(
        title="all.csv",
        path="population-0.csv",
        content=b"age\n1\n",
        table=Dataset.from_frame(pd.DataFrame({"age": ["1"]})),
    )
    with_people = replace(hospital, plan=replace(hospital.plan, population_file=people.path))
    with zipfile.ZipFile(io.BytesIO(bundle.archive(with_people, people))) as packed:
        assert packed.read(people.path) == people.content


@pytest.mark.parametrize("choice", ["neutralise", "keep"])
def test_the_csv_executes_nothing_unless_asked(choice: str) -> None:
    held = load()
    frame = pd.DataFrame({"q": ["1", "1", "1", "1", "1"], "text": FORMULAS})
    with patch.object(st, "session_state", held):
        state.set_dataset(
            Dataset.from_frame(frame),
            roles=Roles(quasi=("q",), insensitive=("text",)),
            levels={},
            types={},
            title="formulas",
            k=2,
        )
        state.update_draft(export={"formulas": choice})
    result = carried_out(held)
    cells = {row["text"] for row in csv.DictReader(io.StringIO(result.csv.decode()))}
    started = {c for c in cells if c.startswith(("=", "+", "-", "@")) and c != "-5"}
    assert "-5" in cells
    assert bool(started) == (choice == "keep")


def test_the_public_edition_holds_no_seed(hospital: Result) -> None:
    seed = f"{hospital.plan.seed:064x}"
    for content in (hospital.csv, hospital.parquet, bundle.public_archive(hospital)):
        assert seed.encode() not in content
        assert bytes.fromhex(seed) not in content
    assert seed in bundle.recipe(hospital)


def test_another_choice_for_formulas_asks_for_a_run() -> None:
    held = load()
    first = carried_out(held)
    app = open_page(EXPORT, held)
    next(r for r in app.radio if r.key == "export-formulas").set_value("keep").run()
    assert not app.exception
    next(b for b in app.button if b.key == "rerun").click().run()
    wait_for(app, "run")
    assert not app.exception
    second = app.session_state["state/result"]
    assert second is not first
    assert second.plan.formulas == "keep"


class Page(HTMLParser):
    """What a report asks for and says."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asked += [v or "" for n, v in attrs if n in ("src", "href", "action", "data")]


def test_the_report_asks_nobody_and_tells_the_figures(hospital: Result) -> None:
    context = ReleaseContext(
        title="Stays <script>alert(1)</script>", judgement="Fine & <b>dandy</b>"
    )
    text = as_html(edition_of(hospital, context))
    page = Page()
    page.feed(text)
    assert all(one.startswith("#") for one in page.asked)  # places in itself
    assert not {"img", "script"} & set(page.tags)
    assert "b" not in page.tags
    assert text.count("<script>alert(1)") == 0
    assert "Fine &amp; &lt;b&gt;dandy&lt;/b&gt;" in text
    assert "Internal edition" in text
    assert "Recomputed from the published file: k = 5 holds" in text
    assert hashlib.sha256(hospital.csv).hexdigest() in text
    assert f"{figures_of(hospital)['metrics']['loss']:.6g}" in text
    assert page.tags.count("svg") >= 6
    for word in ("anonymous", "Verified.", "compliant"):
        assert not re.search(
            rf"\b{re.escape(word)}\b", re.sub(r"<script>.*?</script>", "", text, flags=re.S)
        )


def test_a_file_for_a_spreadsheet_is_promised_without_a_new_run() -> None:
    held = load()
    carried_out(held)
    app = open_page(EXPORT, held)
    app.selectbox(key="export-dialect").select("comma").run()
    assert not app.exception
    assert "Settings have changed" not in words(app)
    result = app.session_state[state.RESULT]
    assert result.file("release.spreadsheet.csv").startswith(b"\xef\xbb\xbf")
    assert 'separator = ";"' in result.plan.as_toml()
    assert app.session_state["state/work"]["draft"]["export"]["formulas"] == "neutralise"
    app.multiselect(key="export-formats").select("sav").run()
    assert not app.exception
    assert app.session_state[state.RESULT].file("release.sav").startswith(b"$FL2")
    assert "Settings have changed" not in words(app)
    app.selectbox(key="export-dialect").select("none").run()
    assert "dialect" not in app.session_state["state/work"]["draft"]["export"]


def test_parts_of_every_format_are_offered_as_one_archive() -> None:
    held = load("toth-private", export={"parts": 2})
    result = carried_out(held)
    app = open_page(EXPORT, held)
    assert not app.exception
    offered = {b.key for b in app.get("download_button")}
    assert not {"get-release.parquet", "get-release.csv"} & offered
    wanted = [f"release-000{nth}-of-0002.{e}" for e in ("csv", "parquet") for nth in (1, 2)]
    with zipfile.ZipFile(io.BytesIO(bundle.public_archive(result))) as packed:
        assert packed.namelist() == wanted
        first, second = (packed.read(name) for name in wanted[:2])
    header = first[: first.index(b"\n") + 1]
    assert first + second.removeprefix(header) == result.csv
    assert result.sha256 == hashlib.sha256(first + second).hexdigest()


def test_no_csv_file_is_offered_where_the_recipe_leaves_it_out() -> None:
    held = load("toth-private", export={"csv": False})
    result = carried_out(held)
    app = open_page(EXPORT, held)
    assert not app.exception
    offered = {b.key for b in app.get("download_button")}
    assert "get-release.parquet" in offered
    assert "get-release.csv" not in offered
    assert "csv = false" in words(app)
    assert not [s for s in app.selectbox if s.key == "export-dialect"]
    with zipfile.ZipFile(io.BytesIO(bundle.public_archive(result))) as packed:
        assert packed.namelist() == ["release.parquet"]
    public = edition_of(result, ReleaseContext(), public=True)
    assert [t["file"] for t in public["technique"]["tables"]] == ["release.parquet"]


@pytest.mark.parametrize("published", [{}, {"sensitive_levels": {"diagnosis": 1}}])
def test_the_zip_holds_hierarchies_as_they_were_given(
    published: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.02}, **published)
    result = carried_out(held)
    data = unpack(result, tmp_path)
    with patch.object(st, "session_state", held):
        given = state.levels()
    for column, path in bundle.recipe_plan(result).hierarchies.items():
        read = parse_levels((tmp_path / path).read_text(encoding="utf-8"), column)
        assert [list(row) for row in read] == [list(row) for row in given[column]], column
    recipe, out = str(tmp_path / "recipe.toml"), str(tmp_path / "out")
    status = main(["run", recipe, "--data", str(data), "--out", out, "--json"])
    said = capsys.readouterr()
    assert status == 0, said.err
    output = json.loads(said.out)
    assert output["output_sha256"] == result.sha256
    figures = {(a.attack, a.column): (a.rate, a.worst, a.at_risk) for a in result.attacks}
    again = {
        (a["name"], a["column"] or ""): (a["rate"], a["worst"], a["at_risk"])
        for a in output["attacks"]
    }
    assert again == figures
