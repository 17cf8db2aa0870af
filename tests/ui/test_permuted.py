"""Permuted releases on the pages: what is offered, shown, compared and handed out."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.registry import find
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.explain.report.files import as_html, edition_of, makes_pdf
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.making import secret
from tests.ui.sessions import (
    ATTACKS,
    CHECKOUT,
    CLASSES,
    COMPARE,
    EXPORT,
    METRICS,
    RESULTS,
    RUN,
    VERDICTS,
    carried_out,
    choose,
    load,
    open_page,
    wait_for,
    words,
)
from ui.export import bundle
from ui.panels.results.group_panel import guesses, page_breaks
from ui.state import population_tables, results, state
from ui.state.result_view import Facts

SEED = f"{secret(4):064x}"
FOUR = [{"name": "frequency-l-diversity", "l": 4}]
CASES = [
    ("li-microdata", "anatomy", FOUR),
    ("li-microdata", "permutation", FOUR),
    ("li-microdata", "bucketization", FOUR),
    ("toth-private", "one-attribute-slicing", [{"name": "bucket-size", "k": 2}]),
    ("hospital", "slicing", [{"name": "bucket-size", "k": 3}]),
    ("hospital", "permutation", FOUR),
]
FORBIDDEN = ("safe", "verified", "compliant", "anonymous")


def ways_of(result: Result) -> str:
    """Return the title of what formed a result's groups."""
    recipe = result.plan.algorithm.as_mapping()["partition"]
    return find("partitioner", recipe["name"] if isinstance(recipe, dict) else str(recipe)).title


def held_with(name: str, technique: str, models: list[dict[str, Any]]) -> dict[str, Any]:
    return load(name, algorithm={"name": technique}, models=models)


def control(app: AppTest, key: str) -> Any:
    return next(c for c in app.button_group if c.key == key)


def plain(text: str) -> str:
    return text.replace("\\", "")


# ---- Run -----------------------------------------------------------------------------------------


def test_k_anonymity_is_replaced_in_one_click_and_comes_back() -> None:
    app = open_page(RUN, load(models=[{"name": "k-anonymity", "k": 3}]))
    choose(app, "anatomy")
    assert not app.exception
    assert "not with Anatomy" in plain(words(app))
    warned = [w.value for w in app.warning if "permute" in w.value]
    assert len(warned) == 1  # said once, with the remedy below it
    assert not [b for b in app.button if (b.key or "").startswith("fix-plan")]
    assert next(b for b in app.button if b.key == "run").disabled
    control(app, "model_picker/stops").set_value("identity").run()
    assert next(b for b in app.button if b.key == "add-k-anonymity").disabled
    next(b for b in app.button if b.key == "replace-0-bucket-size").click().run()
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["models"] == [{"name": "bucket-size", "k": 3}]
    assert "Within a group of at least three rows nothing links a person" in words(app)
    assert not next(b for b in app.button if b.key == "run").disabled
    choose(app, "mondrian")
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["models"] == [{"name": "k-anonymity", "k": 3}]


def test_a_bucket_size_comes_with_groups_made_for_it_and_takes_others() -> None:
    app = open_page(RUN, load(models=[{"name": "k-anonymity", "k": 3}]))
    choose(app, "permutation")
    next(b for b in app.button if b.key == "replace-0-bucket-size").click().run()
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["algorithm"]["partition"] == "mondrian"
    assert not next(b for b in app.button if b.key == "run").disabled
    groups = next(s for s in app.selectbox if s.key.endswith("permutation/partition"))
    groups.set_value("bisection").run()
    assert not app.exception
    assert not next(b for b in app.button if b.key == "run").disabled


def test_only_attacks_that_can_run_have_settings() -> None:
    app = open_page(RUN, load())
    assert not [n for n in app.number_input if "fake-tuples" in (n.key or "")]
    choose(app, "anatomy")
    assert [n for n in app.number_input if "fake-tuples" in (n.key or "")]
    assert not [n for n in app.number_input if "membership" in (n.key or "")]


def test_a_promise_about_values_can_take_its_place_too() -> None:
    app = open_page(RUN, load("li-microdata", algorithm={"name": "anatomy"}))
    next(b for b in app.button if b.key == "replace-0-frequency-l-diversity").click().run()
    assert not app.exception
    assert "right at most 1 time in 4" in words(app)
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    said = plain(words(app))
    assert "2 groups, the smallest has 4 rows" in said
    assert "what is lost is the links" in said


def test_column_sets_by_hand_are_read_back() -> None:
    held = load("hospital", algorithm={"name": "slicing", "sets": "age+sex | oops"})
    app = open_page(RUN, held)
    said = plain(words(app))
    assert "Linked: age + sex." in said
    assert "Not a published column: oops" in said
    key = "run_form/algorithm/slicing/sets"
    next(s for s in app.selectbox if s.key == f"{key}/oops").set_value("by itself").run()
    next(s for s in app.selectbox if s.key == f"{key}/zip").set_value("Set 1").run()
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["algorithm"]["sets"] == [["age", "sex", "zip"]]
    assert "Not a published column" not in plain(words(app))


# ---- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("technique", "share"), [("anatomy", 7 / 9), ("permutation", None)])
def test_the_reconstruction_error_stands_among_the_metrics(
    technique: str, share: float | None
) -> None:
    held = load(
        "li-microdata",
        algorithm={"name": technique, "partition": "anatomize"},
        models=[{"name": "frequency-l-diversity", "l": 4, "column": ""}],
    )
    carried_out(held)
    shown = open_page(RESULTS, held | {"numbers-metrics": True})
    frames = [d.value for d in shown.dataframe]
    column = next(f for f in frames if "metric" in f.columns).set_index("metric")
    assert column.loc["Reconstruction error", "unit"] == "per person"
    if share is not None:
        assert column.loc["Reconstruction error", "value"] == pytest.approx(share)


@pytest.mark.parametrize(("name", "technique", "models"), CASES)
def test_results_speak_of_groups(name: str, technique: str, models: list[dict[str, Any]]) -> None:
    held = held_with(name, technique, models)
    result = carried_out(held)
    app = open_page(RESULTS, held, tab=VERDICTS)
    assert not app.exception
    said = plain(words(app))
    assert f"{len(result.class_sizes):,} groups" in said
    assert "No row is suppressed" in said
    assert f"{result.plan.algorithm.title} (groups: {ways_of(result)})" in said
    assert "nothing links" in said or "stay linked" in said or "shuffled by itself" in said
    assert "what is lost is the links" in plain(words(open_page(RESULTS, held, tab=METRICS)))
    assert not set(said.lower().split()) & set(FORBIDDEN)
    assert ("Not run – Prosecutor" in said) == (result.release.view.whole_quasi() is None)
    assert "Marked cells" not in said
    assert "Suppressed" not in str(control(app, "view-results").options)
    for view in ("One group", "Whole tables"):
        control(app, "view-results").set_value(view).run()
        assert not app.exception
        assert ("as published" in str(app.number_input)) == (view == "One group")
    control(app, "side-results").set_value("Original (internal)").run()
    assert not app.exception
    assert "None of these links is published" in words(app)
    app = open_page(RESULTS, held, tab=CLASSES)
    control(app, "classes").set_value("Sensitive values").run()
    assert not app.exception
    assert any(s.label == "Group (most different first)" for s in app.selectbox)


@pytest.mark.parametrize(("name", "technique", "models"), CASES)
def test_groups_hold_the_same_values_everywhere(
    name: str, technique: str, models: list[dict[str, Any]]
) -> None:
    facts = Facts(result=carried_out(held_with(name, technique, models)))
    original = facts.original.astype(object).fillna("")
    head = facts.head
    sizes = original[head].value_counts()
    assert sorted(facts.numbers.tolist()) == list(range(1, len(facts.sizes) + 1))
    for group, number in enumerate(facts.numbers.tolist()):
        assert sizes[number] == facts.sizes[group]
    for frame in facts.tables.values():
        assert list(frame[head]) == list(original[head])
        shown = frame.astype(object).fillna("")
        for column in frame.columns[1:]:
            there = original.groupby(head)[column].agg(lambda v: sorted(map(str, v)))
            here = shown.groupby(head)[column].agg(lambda v: sorted(map(str, v)))
            assert there.equals(here)
    breaks = page_breaks(facts)
    assert breaks[0] == 0
    assert breaks[-1] == len(facts.sizes)
    assert np.all(np.diff(breaks) > 0)


def test_the_surest_value_is_the_most_common_one() -> None:
    facts = Facts(result=carried_out(held_with("hospital", "anatomy", FOUR)))
    top, values = facts.surest("diagnosis")
    assert top.max() <= 1 / 4
    for group in (0, 7, len(facts.sizes) - 1):
        within = facts.within("diagnosis", group)
        assert within[values[group]] == pytest.approx(max(within.values()))
        assert top[group] == pytest.approx(max(within.values()))


def test_a_group_says_how_sure_a_guess_is() -> None:
    held = held_with("li-microdata", "anatomy", FOUR)
    facts = Facts(result=carried_out(held))
    for group, size in enumerate(facts.sizes.tolist()):
        answer = guesses(facts, "Disease", group)
        assert answer["rows, c(v)"].sum() == size
        assert answer["share, c(v)/|G|"].tolist() == pytest.approx(
            [n / size for n in answer["rows, c(v)"]]
        )
        assert answer["share, c(v)/|G|"].max() <= 1 / 4
    app = open_page(RESULTS, held)
    control(app, "view-results").set_value("One group").run()
    assert not app.exception
    assert "Guessing “Disease” in this group" in plain(words(app))
    number = int(next(n for n in app.number_input if n.key == "group-results").value)
    shown = next(d.value for d in app.dataframe if "rows, c(v)" in d.value.columns)
    group = facts.numbers.tolist().index(number)
    assert shown["rows, c(v)"].sum() == facts.sizes[group]


def test_people_proven_to_be_in_the_table_are_listed() -> None:
    held = held_with("toth-private", "one-attribute-slicing", [{"name": "bucket-size", "k": 2}])
    public = sample("toth-public").frame()
    with patch.object(st, "session_state", held):
        people = population_tables.add("public.csv", public.to_csv(index=False).encode())
        state.update_draft(population={"file": people.path})
        plan, table = state.plan(), state.dataset()
        assert table is not None
        levels = {c: r for c, r in state.levels().items() if c in plan.hierarchies}
        result = run(plan, table, levels, population=people.table)
        results.keep(result)
    attack = next(a for a in result.attacks if a.attack == "membership")
    assert attack.at_risk > 0
    app = open_page(RESULTS, held, tab=VERDICTS)
    assert not app.exception
    proven = f"{int(attack.succeeded)} of {len(public)}"
    assert f"{proven} public people are proven to be among" in plain(words(app))
    app = open_page(RESULTS, held, tab=ATTACKS)
    assert not app.exception
    shown = next(d.value for d in app.dataframe if "standing" in d.value.columns)
    assert len(shown) == attack.at_risk
    # Anyone who is proven present is one of the table's people.
    private = sample("toth-private").frame()
    there = set(zip(private["Zip"].astype(str), private["Age"].astype(str), strict=True))
    for row in shown[shown["standing"].str.startswith("proven")]["row"]:
        person = public.iloc[row - 1]
        assert (str(person["Zip"]), str(person["Age"])) in there


# ---- Compare -------------------------------------------------------------------------------------


def test_a_permutation_stands_beside_a_generalization() -> None:
    held = load("li-microdata", models=[{"name": "frequency-l-diversity", "l": 2}])
    carried_out(held, pinned=1)
    with patch.object(st, "session_state", held):
        state.update_draft(algorithm={"name": "permutation"}, models=FOUR)
    carried_out(held, pinned=1)
    app = open_page(COMPARE, held)
    assert not app.exception
    said = plain(words(app))
    assert "Classes or groups" in said
    assert "Query error and the loss of the groups are on a scale that they share" in said
    assert "loss and NCP are 0 and do not separate these runs" in said
    assert "■ B: not run – Prosecutor" in said
    assert "Permutation anonymization (groups: Halving, then dealing) · " in said
    assert "Quasi-identifiers" in said


# ---- Export --------------------------------------------------------------------------------------


def exported(formulas: str = "neutralise") -> Result:
    held = load()
    frame = pd.DataFrame(
        {
            "q": [f"=cmd|{n}" for n in range(8)],
            "r": [f"-{n}" for n in range(8)],
            "s": ["+SUM(A1)", "@x", "=1", "d"] * 2,
        }
    )
    with patch.object(st, "session_state", held):
        state.set_dataset(
            Dataset.from_frame(frame),
            roles=Roles(quasi=("q", "r"), sensitive=("s",)),
            levels={},
            types={},
            title="formulas",
        )
        state.update_draft(
            algorithm={"name": "permutation"}, models=FOUR, seed=SEED,
            export={"formulas": formulas},
        )  # fmt: skip
    return carried_out(held)


def test_every_table_can_be_downloaded() -> None:
    held = held_with("li-microdata", "permutation", FOUR)
    carried_out(held)
    app = open_page(EXPORT, held)
    assert not app.exception
    labels = [b.proto.label for b in app.get("download_button")]
    assert labels[:5] == [
        "Quasi-identifiers as CSV",
        "Quasi-identifiers as Parquet",
        "Sensitive values as CSV",
        "Sensitive values as Parquet",
        "All tables",
    ]
    said = [str(one.proto.help) for one in app.get("download_button")]
    assert sum("**Public edition.**" in one for one in said) == 5 + 2 + makes_pdf()


def test_the_public_zip_holds_the_tables_and_neither_seed_nor_formulas() -> None:
    result = exported()
    with zipfile.ZipFile(io.BytesIO(bundle.public_archive(result))) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    assert sorted(files) == ["quasi.csv", "quasi.parquet", "sensitive.csv", "sensitive.parquet"]
    for name, content in files.items():
        assert SEED.encode() not in content
        assert bytes.fromhex(SEED) not in content
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(content.decode())):
                for cell in row:
                    assert not cell.startswith(("=", "+", "@"))
    assert bundle.public_archive(result) == bundle.public_archive(replace(result))


def test_the_script_writes_every_table(tmp_path: Path) -> None:
    result = carried_out(held_with("hospital", "permutation", FOUR))
    with zipfile.ZipFile(io.BytesIO(bundle.archive(result))) as packed:
        packed.extractall(tmp_path)
    data = tmp_path / "private.csv"
    sample("hospital").frame().to_csv(data, index=False)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "reproduce.py"), str(data), str(tmp_path / "out")],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={"PYTHONPATH": str(CHECKOUT), "PATH": "", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "The same bytes as before." in done.stdout
    for name, content in (*result.files.items(), *result.parquet_files.items()):
        assert (tmp_path / "out" / name).read_bytes() == content


def test_the_report_says_that_links_are_cut() -> None:
    result = carried_out(held_with("li-microdata", "permutation", FOUR))
    text = as_html(edition_of(result))
    answer = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "every column is shuffled by itself" in answer
    assert "Permutation anonymization (groups: Halving, then dealing)." in answer
    assert "Not run – Prosecutor" in answer
    assert "Links are cut: no published row is a person" in answer
    assert result.sha256 in answer
