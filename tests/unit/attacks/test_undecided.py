"""What was not decided counts as exposed, and nothing that was not attacked looks protected."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from anon_core.data.table import Dataset
from anon_core.explain.report.files import as_html, edition_of
from anon_core.explain.text import phrases as words
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.techniques.attacks import membership
from ui.charts.attack_plots import attack_bullets, risk_bullets
from ui.charts.chart_frame import Series, light_palette
from ui.panels.compare.compare_tables import figures
from ui.state.result_view import Facts

SLICED = """
[roles]
quasi = ["a", "b", "c"]
[algorithm]
name = "one-attribute-slicing"
[[models]]
name = "bucket-size"
k = 8
[[attacks]]
name = "membership"
seconds = 0.0
"""


def people(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.integers(0, 6, (rows, 3)), columns=["a", "b", "c"]).astype(str)


@pytest.fixture(scope="module")
def boxed() -> Result:
    frame = people()
    return run(
        Plan.from_toml(SLICED),
        Dataset.from_frame(frame.iloc[:60]),
        population=Dataset.from_frame(frame),
    )


def of(result: Result, name: str) -> AttackResult:
    return next(a for a in result.attacks if a.attack == name)


def test_people_not_decided_in_time_count_as_exposed(boxed: Result) -> None:
    attack = of(boxed, "membership")
    assert attack.undecided > 0
    assert attack.exposed == attack.succeeded + attack.undecided == attack.at_risk
    assert attack.rate == pytest.approx(attack.exposed / attack.attempted)
    assert (attack.worst, attack.upper_bound) == (1.0, True)
    assert attack.interval == (attack.succeeded / attack.attempted, attack.rate)
    assert attack.open_words in attack.sentence


def test_json_says_who_was_not_decided_and_why_attacks_were_not_run(boxed: Result) -> None:
    content = json.loads(json.dumps(figures_of(boxed)))
    attack = of(boxed, "membership")
    (one,) = [a for a in content["attacks"] if a["name"] == "membership"]
    assert one["undecided"] == attack.undecided
    assert one["exposed"] == attack.exposed
    assert attack.interval is not None
    assert one["interval"] == list(attack.interval)
    assert one["sentence"] == attack.sentence
    assert one["upper_bound"] is True
    assert {"prosecutor", "homogeneity"} <= set(content["attacks_not_run"])
    assert all(why.endswith(".") for why in content["attacks_not_run"].values())
    assert not set(content["attacks_not_run"]) & {a["name"] for a in content["attacks"]}
    assert [m["state"] for m in content["models"]] == ["holds"]
    assert all(m["sentence"] for m in content["models"])


def test_a_run_without_attacks_says_so() -> None:
    frame = people(30)
    figures = figures_of(run(Plan.from_toml(SLICED), Dataset.from_frame(frame), assess=False))
    assert figures["attacks"] == []
    assert "Attacks were not asked for." in figures["attacks_not_run"].values()


def test_pages_and_report_say_it(boxed: Result) -> None:
    attack = of(boxed, "membership")
    with patch.object(st, "session_state", {}):
        run_ = Series(letter="A", title="", facts=Facts(result=boxed), colour="#000000")
        numbers = attack_bullets([run_], light_palette()).numbers
        row = numbers[numbers["attack"] == "Membership"].iloc[0]
        assert row["not decided"] == attack.undecided
        assert row["rate"] == attack.rate
        chart = risk_bullets([run_], light_palette())
        notes = chart.figure.data["lines"]["note"].to_pylist()
        assert any(f"{attack.undecided:,} not decided" in note for note in notes)
        assert figures(run_)["Membership: not decided, treated as exposed"] == attack.undecided
        page = as_html(edition_of(boxed))
    assert page.count(attack.open_words) >= 2
    assert "Not run – Prosecutor" in page
    assert words.against_threshold(attack).sentence == attack.sentence


def test_an_attack_on_nobody_does_not_look_like_protection() -> None:
    frame = people()
    strangers = "x" + frame
    found = run(
        replace(Plan.from_toml(SLICED), types=dict.fromkeys("abc", "text")),
        Dataset.from_frame(frame.iloc[:60], kinds=dict.fromkeys("abc", "text")),
        population=Dataset.from_frame(strangers),
    )
    attack = of(found, "membership")
    assert (attack.eligible, attack.idle) == (0, True)
    assert "says nothing of who is in the table" in attack.sentence
    assert found.cautions
    with patch.object(st, "session_state", {}):
        run_ = Series(letter="", title="", facts=Facts(result=found), colour="#000000")
        numbers = attack_bullets([run_], light_palette()).numbers
    row = numbers[numbers["attack"] == "Membership"].iloc[0]
    assert row["no one to attack"] == attack.sentence
    assert pd.isna(row["rate"])
    assert words.against_threshold(attack).standing == "no threshold"


def test_chances_that_were_not_counted_make_the_worst_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(membership, "_STATES", 1)
    frame = people(60)
    plan = Plan.from_toml(SLICED.replace("seconds = 0.0", "seconds = 60.0"))
    attack = of(
        run(plan, Dataset.from_frame(frame.iloc[:30]), population=Dataset.from_frame(frame)),
        "membership",
    )
    if not attack.undecided and not attack.succeeded:
        assert attack.worst == 1.0
        assert attack.upper_bound


def test_a_column_without_any_value_leaves_nothing_to_guess() -> None:
    frame = pd.DataFrame({"q": ["x"] * 6, "s": [None] * 6})
    plan = Plan.from_toml(
        '[roles]\nquasi = ["q"]\nsensitive = ["s"]\n[algorithm]\nname = "optimal"\n'
        '[[models]]\nname = "k-anonymity"\nk = 3\n'
    )
    found = run(plan, Dataset.from_frame(frame))
    for name in ("homogeneity", "attribute-inference"):
        attack = of(found, name)
        assert attack.idle
        assert "No published row has a value of 's'" in attack.sentence
