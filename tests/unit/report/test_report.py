"""The report: every item there, no secret in the public edition, nothing open called complete."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

from anon_core import Plan, Result, run
from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.base.secret import spell
from anon_core.data.roles.suggestions import suggested
from anon_core.data.table import Dataset
from anon_core.explain.report.checks import checks
from anon_core.explain.report.context import ReleaseContext, read_context
from anon_core.explain.report.evidence import evidence
from anon_core.explain.report.files import (
    as_html,
    as_json,
    as_pdf,
    edition_of,
    internal_edition,
    public_edition,
)
from anon_core.pipeline.figures import figures_of
from tests.making import secret

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
STATED: dict[str, Any] = {
    "release": {
        "title": "<b>Stays</b>",
        "purpose": "Teaching.",
        "recipient": "A class.",
        "model": "agreement",
        "controls": ["A contract."],
    },
    "threats": {
        "adversaries": ["A neighbour"],
        "outside_sources": ["A register"],
        "harms": ["Shame"],
    },
    "earlier_releases": [],
    "threshold": {"source": "The regulator."},
    "roles": {"age": "In registers."},
    "judgement": {"text": "Not identifiable for the class."},
    "alternatives": [{"name": "k = 2", "reason": "Too risky.", "figures": {"loss": "0.1"}}],
    "decision": {
        "author": "A. Author",
        "approver": "B. Second",
        "expert": "C. Expert",
        "qualification": "Statistician",
        "date": "2026-11-22",
        "valid_until": "2027-11-22",
        "review_triggers": ["A new register"],
    },
}


def released(algorithm: dict[str, Any], k: int = 2) -> Result:
    people = [(a, x) for a in ("30", "31", "40", "41") for x in "fm" for _ in range(3)]
    frame = pd.DataFrame(
        [(a, x, f"d{n % 3}", f"n{n}") for n, (a, x) in enumerate(people)],
        columns=["age", "sex", "disease", "name"],
    )
    permutes = algorithm["name"] in ("anatomy", "bucketization")
    plan = Plan.from_mapping(
        {
            "seed": spell(secret(3)),
            "roles": {"identifier": ["name"], "quasi": ["age", "sex"], "sensitive": ["disease"]},
            "algorithm": algorithm,
            "models": [
                {"name": "bucket-size", "k": k} if permutes else {"name": "k-anonymity", "k": k}
            ],
        }
    )
    return run(plan, replace(Dataset.from_frame(frame), source="private-stays.csv"))


@pytest.fixture(scope="module")
def general() -> Result:
    return released({"name": "optimal"})


@pytest.fixture(scope="module")
def permuted() -> Result:
    return released({"name": "bucketization"})


def stated(result: Result) -> ReleaseContext:
    """Return a context in which everything is stated, a reason for each miss among it."""
    context = ReleaseContext.from_mapping(STATED)
    reasons = {c.item.about: "Accepted." for c in checks(result, context) if c.open}
    return replace(context, reasons=reasons)


@pytest.mark.parametrize("which", ["general", "permuted"])
def test_both_editions_are_as_the_schema_says(which: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(which)
    for context in (ReleaseContext(), stated(result)):
        report = evidence(result, context)
        for edition in (internal_edition(report), public_edition(report)):
            jsonschema.validate(json.loads(as_json(edition)), SCHEMA)
            page = as_html(edition)
            assert not re.search(r"https?:|url\(|src=", page)
            assert "<script" not in page
            assert len(page) < 1_000_000
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {**public_edition(report), "suppression": report["suppression"]}, SCHEMA
        )


def test_it_is_open_until_everything_is_stated_and_every_miss_has_a_reason(general: Result) -> None:
    nothing = evidence(general, ReleaseContext())
    assert nothing["status"] == "open"
    assert "Not stated: the purpose." in nothing["open"]
    assert any(line.startswith("No reason is filed for:") for line in nothing["open"])
    context = stated(general)
    assert evidence(general, context)["open"] == []
    assert evidence(general, context)["status"] == "complete"
    about = next(iter(context.reasons))
    for reasons in ({**context.reasons, about: "  "}, {}):
        assert evidence(general, replace(context, reasons=reasons))["status"] == "open"
    unapproved = replace(context, decision=replace(context.decision, approver=""))
    assert evidence(general, unapproved)["open"] == ["Not stated: a second person who approves."]


def test_figures_are_those_of_the_run(general: Result) -> None:
    report = evidence(general, stated(general))
    figures = figures_of(general)
    assert report["risk"]["after"]["maximum"] == 1 / figures["smallest_class"]
    assert report["risk"]["before"]["smallest"] == 3
    assert report["risk"]["before"]["average"] == 8 / 24
    people = [one["people"] for one in report["risk"]["after"]["people_by_size"]]
    assert sum(people) == 24 - figures["suppressed"]
    for attack in report["risk"]["attacks"]:
        of = next(
            a
            for a in figures["attacks"]
            if (a["name"], a["column"]) == (attack["attack"], attack["column"])
        )
        assert all(
            of[key] == attack[key] for key in ("rate", "worst", "baseline", "raw", "at_risk")
        )
    assert {m["name"]: m["value"] for m in report["utility"]["metrics"]} == figures["metrics"]
    assert {n["attack"] for n in report["risk"]["not_run"]} == set(figures["attacks_not_run"])
    assert len(report["questions"]) == len(figures["questions"])
    shown = {one["column"]: one["statistics"] for one in report["statistics"]}
    assert [one["column"] for one in figures["before_and_after"]] == list(shown)
    (mean,) = (line for line in shown["age"] if line["statistic"] == "mean")
    assert mean["before"] == "35.5"
    assert mean["before"] in as_html(internal_edition(report))
    assert "Statistics before and after" not in as_html(public_edition(report))
    every = {r["column"]: (r["role"], r["reason"]) for r in report["roles"]}
    assert every["age"] == ("quasi-identifier", "In registers.")
    assert every["name"] == ("identifier", None)


def test_links_that_are_cut_have_no_risk_by_sizes(permuted: Result) -> None:
    report = evidence(permuted, ReleaseContext())
    assert report["risk"]["after"] is None
    assert "Links are cut" in report["risk"]["why_no_after"]


def test_published_tables_begin_with_their_heads(permuted: Result) -> None:
    report = evidence(permuted, ReleaseContext())
    tables = report["technique"]["tables"]
    assert [t["file"] for t in tables] == list(permuted.files)
    for table, text in zip(tables, permuted.files.values(), strict=True):
        lines = text.decode().splitlines()
        assert lines[0] == ",".join(table["columns"])
        assert [",".join(row) for row in table["head"]] == lines[1:6]
        assert table["rows"] == len(lines) - 1
    assert all("head" not in t for t in public_edition(report)["technique"]["tables"])


def test_a_suggestion_of_another_role_is_no_reason_for_the_role(general: Result) -> None:
    roles = {r["column"]: r for r in edition_of(general)["roles"]}
    assert roles["age"]["reason"] == "'age' in its name: others may know it."
    every = {one.name: one for one in suggested(general.problem.dataset)}
    for column, entry in roles.items():
        fits = column in getattr(general.plan.roles, every[column].role, ())
        assert (entry["reason"] == every[column].reason) == fits


def test_the_public_edition_holds_no_secret(general: Result) -> None:
    context = stated(general)
    report = public_edition(evidence(general, context, command="python -m anon_core report x"))
    for text in (as_json(report), as_html(report)):
        for private in (
            str(general.plan.as_mapping()["seed"]),
            "private-stays.csv",
            figures_of(general)["input_sha256"],
            "A neighbour",
            "A register",
            "Accepted.",
            "Too risky.",
            "python -m",
            "A class.",
        ):
            assert private not in text
    assert not {"suppression", "statistics", "questions", "alternatives", "open"} & set(report)
    assert all("raw" not in a and "at_risk" not in a for a in report["risk"]["attacks"])
    assert "n0" not in re.findall(r"\w+", as_json(report))


def test_what_people_wrote_is_no_markup(general: Result) -> None:
    page = as_html(internal_edition(evidence(general, stated(general))))
    assert "<b>Stays</b>" not in page
    assert "&lt;b&gt;Stays&lt;/b&gt;" in page


def test_what_was_not_decided_is_drawn_and_told_as_open(general: Result) -> None:
    first, *others = general.attacks
    for interval, least in (((0.25, 0.75), "25%"), (None, "0%")):
        half = replace(first, rate=0.75, undecided=3, interval=interval)
        report = evidence(replace(general, attacks=(half, *others)), stated(general))
        for edition in (internal_edition(report), public_edition(report)):
            html = as_html(edition)
            assert html.count('<rect class="open"') == 1
            assert f"{least} – 75%" in html
            assert "pale: undecided, counted as exposed" in html
    decided = internal_edition(evidence(general, stated(general)))
    assert '<rect class="open"' not in as_html(decided)


def test_paper_says_the_same() -> None:
    pytest.importorskip("typst", reason="the extra 'pdf' is not installed")
    result = released({"name": "bucketization"})
    for context in (ReleaseContext(), stated(result)):
        report = evidence(result, context)
        for edition in (internal_edition(report), public_edition(report)):
            assert as_pdf(edition).startswith(b"%PDF-")


def test_a_context_survives_its_file(tmp_path: Path, general: Result) -> None:
    for context in (ReleaseContext(), stated(general)):
        place = tmp_path / "context.toml"
        place.write_text(context.as_toml(), encoding="utf-8")
        assert read_context(place) == context


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"releas": {}}, "unknown key 'releas'"),
        ({"release": {"model": "open"}}, r"\[release\] model is 'open'; allowed are"),
        ({"release": {"purpose": 3}}, r"\[release\] purpose is 3, which is not a text"),
        ({"threats": {"harms": "x"}}, "which is not a list of texts"),
        ({"decision": {"date": "22.11.2026"}}, "which is not a date"),
        ({"decision": {"date": "2026-02-02", "valid_until": "2026-01-01"}}, "lies before"),
        ({"decision": {"author": "A", "approver": "a "}}, "as author and as approver"),
        ({"earlier_releases": [{"date": "2026-01-01"}]}, "has no name"),
        ({"earlier_releases": {}}, "is not a list of tables"),
        ({"reasons": {"x": 1}}, r"\[reasons\] x is 1"),
    ],
)
def test_a_context_that_is_none_is_refused_with_the_place(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        ReleaseContext.from_mapping(given)


def test_the_command_writes_it_and_refuses_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, release = tmp_path / "t.csv", tmp_path / "release"
    data.write_text("age,ill\n" + "".join(f"{30 + n % 4},{'yn'[n % 3 == 0]}\n" for n in range(12)))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n[algorithm]\nname = "bucketization"\n'
        '[[models]]\nname = "bucket-size"\nk = 6\n'
    )
    made, other = tmp_path / "made.toml", tmp_path / "other.toml"
    common = ["--data", str(data), "--release", str(release)]
    assert (
        main(["run", str(recipe), *common[:2], "--out", str(release), "--recipe-out", str(made)])
        == 0
    )
    (tmp_path / "context.toml").write_text('[release]\ntitle = "Ill or not"\n')
    out, wanted = tmp_path / "report", ["--format", "json", "--format", "html"]
    asked = ["--context", str(tmp_path / "context.toml"), "--out", str(out), *wanted]
    assert main(["report", str(made), *common, *asked]) == 0
    assert "a draft" in capsys.readouterr().out
    page = json.loads((out / "report.json").read_text())
    jsonschema.validate(page, SCHEMA)
    assert (page["context"]["title"], page["status"]) == ("Ill or not", "open")
    assert main(["report", str(made), *common, "--out", str(release / "in")]) == 1
    assert "into the release" in capsys.readouterr().err
    text = made.read_text()
    assert "k = 6" in text
    other.write_text(text.replace("k = 6", "k = 3"))  # it would hold, and be another release
    before = (out / "report.json").read_bytes()
    assert main(["report", str(other), *common, *asked]) == 1
    assert "another recipe" in capsys.readouterr().err
    assert (out / "report.json").read_bytes() == before
    for place in release.glob("*.csv"):
        place.write_text(place.read_text().replace("30", "31", 1))
    assert main(["report", str(made), *common, *asked]) == 3
    assert (out / "report.json").read_bytes() == before
