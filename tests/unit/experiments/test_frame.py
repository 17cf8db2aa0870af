"""Experiments are carried out step by step: progress, cancel, going on, and the verdict."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, get_args

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadInput, Cancelled, Infeasible, NotFound
from anon_core.teaching.experiments import (
    Claim,
    Experiment,
    Figure,
    Point,
    Printed,
    Report,
    Settings,
    Step,
    Tables,
    all_experiments,
    carry_out,
    find_experiment,
)
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.execution import documented, run_said
from anon_core.teaching.experiments.experiment import Outcome, Source, verdict
from anon_core.teaching.experiments.points import Found
from anon_core.teaching.experiments.result_files import CSV, JSON, as_html, earlier, rows_of, write

TABLES = Tables(most_rows=40, cached=False)


class Toy(Experiment):
    """Four steps of which one cannot be released."""

    id = "X-99"
    title = "A toy"
    source = Source(author="Nobody", year=2000, title="Nothing", where="figure 1")
    shows = "Nothing."
    table = "census"
    figures = (Figure(name="f", title="F", x="k", y="share", unit="share"),)
    printed = (Printed(figure="f", series="a", low=0.1, high=0.3, words="10 to 30 %"),)
    small = Settings(rows=20, at=(1, 2, 3, 4))
    full = Settings(at=(1, 2, 3, 4))
    measured: ClassVar[list[str]] = []
    stop: ClassVar[threading.Event | None] = None

    def steps(self, settings: Settings) -> Sequence[Step]:
        return [Step(key=f"<{x:g}>", given={"x": x}) for x in settings.at]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        self.measured.append(step.key)
        x = float(step.given["x"])
        if x == 3:
            raise Infeasible("No release.", remedy="None.")
        if x == 2 and self.stop is not None:
            self.stop.set()
        context.check()
        return [Point(figure="f", series="a", x=x, y=x / 10)]

    def claims(self, found: Found) -> Sequence[Claim]:
        line = found.series("f", "a")
        holds = None if not found.whole else line[4] == 0.4
        return [Claim(says="It is 40 %.", holds=holds, measured="It is.")]


@pytest.fixture
def toy() -> Toy:
    Toy.measured.clear()
    Toy.stop = None
    return Toy()


def test_what_was_finished_before_a_cancel_is_kept_and_gone_on_from(
    toy: Toy, tmp_path: Path
) -> None:
    shares: list[float] = []
    context = Context(progress=lambda share, stage: shares.append(share))
    Toy.stop = context.cancel
    values: list[Report] = []
    with pytest.raises(Cancelled):
        carry_out(toy, toy.small, TABLES, context, found=values.append)
    assert [one.key for one in values[-1].done] == ["<1>"]
    assert shares == [0.0, 0.25]
    assert values[-1].verdict.outcome == "open"
    write(values[-1], tmp_path)
    Toy.stop = None
    Toy.measured.clear()
    kept = earlier(tmp_path, toy.small, values[-1].table)
    assert kept == values[-1].done
    report = carry_out(toy, toy.small, TABLES, kept=kept)
    assert Toy.measured == ["<2>", "<3>", "<4>"]
    assert report.whole
    assert report.verdict.outcome == "reproduced"
    assert [one.why_not for one in report.done] == ["", "", "No release.", ""]
    assert [p.y for p in report.points] == [0.1, 0.2, 0.4]
    assert len(rows_of(report, toy.figures[0])) == 4
    page = as_html(report)
    assert "&lt;3&gt;: No release." in page
    assert page.count("<svg") == 1


def test_the_table_of_figures_says_what_each_is_of(toy: Toy, tmp_path: Path) -> None:
    write(carry_out(toy, replace(toy.small, seed=7), TABLES), tmp_path)
    with (tmp_path / CSV).open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert {(one["experiment"], one["rows"], one["seed"]) for one in rows} == {("X-99", "20", "7")}
    found = [(one["series"], one["x"], one["low"], one["high"], one["by"]) for one in rows]
    assert found[0][:4] == ("a", "all", "0.1", "0.3")
    assert [one[1:4] for one in found[1:]] == [
        ("1.0", "0.1", "0.1"), ("2.0", "0.2", "0.2"), ("4.0", "0.4", "0.4")
    ]  # fmt: skip


def test_figures_of_other_settings_are_not_taken_up(toy: Toy, tmp_path: Path) -> None:
    report = carry_out(toy, toy.small, TABLES)
    write(report, tmp_path)
    assert earlier(tmp_path, replace(toy.small, seed=2), report.table) == ()
    assert earlier(tmp_path, toy.small, "another table") == ()
    (tmp_path / JSON).write_text(json.dumps({"schema": 1}))
    with pytest.raises(BadInput, match="cannot be read as those of an experiment"):
        earlier(tmp_path, toy.small, report.table)


def claim(holds: bool | None, *, wrong: bool = False) -> Claim:
    return Claim(
        says="", holds=holds, measured="m", because="b" if holds is False else "", wrong=wrong
    )


@pytest.mark.parametrize(
    ("claims", "outcome"),
    [
        ([claim(True), claim(True)], "reproduced"),
        ([claim(True), claim(False)], "differs"),
        ([claim(None), claim(False)], "open"),
        ([claim(None), claim(False, wrong=True)], "source wrong"),
        ([], "open"),
    ],
)
def test_the_verdict_follows_from_the_claims(claims: list[Claim], outcome: str) -> None:
    assert verdict(claims).outcome == outcome


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(BadInput, match="there are 'X-01'"):
        find_experiment("X-77")


def test_the_document_has_a_row_for_every_experiment() -> None:
    text = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| X-")
    ]
    known = [[e.id, e.title, e.source.short] for e in all_experiments()]
    assert [[row[0], row[1], row[4]] for row in rows] == known
    assert {row[2] for row in rows} <= set(get_args(Outcome))


class Slow(Toy):
    """Two steps, of which the second needs more than a second of its time box."""

    id = "X-98"
    small = Settings(rows=20, at=(1, 2), seconds=1.0)
    measured: ClassVar[list[str]] = []

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        self.measured.append(step.key)
        if step.given["x"] == 2 and bench.settings.seconds <= 1:
            raise NotFound("The time box ended.", remedy="Give more time.", timed_out=True)
        return [Point(figure="f", series="a", x=float(step.given["x"]), y=0.2)]

    def claims(self, found: Found) -> Sequence[Claim]:
        matching = len(found.series("f", "a")) == 2
        return [Claim(says="So.", holds=True if matching else None, measured="Measured.")]


def test_a_time_box_that_ended_is_a_verdict_and_more_time_measures_only_that(
    tmp_path: Path,
) -> None:
    experiment = Slow()
    report = carry_out(experiment, experiment.small, TABLES)
    assert report.whole
    assert report.timed_out == ("<2>",)
    assert report.verdict.outcome == "not decided in time"
    assert "time box of 1 s" in report.verdict.why
    assert "<2>" in report.verdict.why
    write(report, tmp_path)
    longer = replace(experiment.small, seconds=4.0)
    kept = earlier(tmp_path, longer, report.table)
    assert [one.key for one in kept] == ["<1>"]
    assert len(earlier(tmp_path, experiment.small, report.table)) == 2
    Slow.measured.clear()
    again = carry_out(experiment, longer, TABLES, kept=kept)
    assert Slow.measured == ["<2>"]
    assert again.verdict.outcome == "reproduced"
    assert not again.timed_out


def test_what_could_not_be_measured_is_open_with_the_reason_unless_another_claim_fails() -> None:
    verdicts = verdict([Claim(says="a", holds=None, measured="m", because="No release for b.")])
    assert (verdicts.outcome, verdicts.why) == ("open", "No release for b.")
    lacking = Claim(says="a", holds=None, measured="m", because="No release for b.")
    assert verdict([lacking, claim(False)]).outcome == "differs"
    assert verdict([lacking, claim(None)]).outcome == "open"


@pytest.mark.parametrize("id", ["X-08", "X-09"])
def test_a_claim_on_all_sets_does_not_hold_where_one_was_not_released(id: str) -> None:
    """On CENSUS's stand-in with 25 occupations l = 10 cannot be reached for occupations."""
    experiment = find_experiment(id)
    settings = replace(experiment.small, at=(100, 200))
    names = ("SAL", "OCC") if id == "X-09" else ("SAL-5", "OCC-5")
    line = {"X-08": lambda x: 300 - x, "X-09": lambda x: x / 100}[id]
    more = {"X-08": 0.5, "X-09": 2.0}[id]  # permutation errs less, and takes longer
    points = [
        Point(figure=names[0], series=series, x=x, y=line(x) * factor)
        for x in settings.at
        for series, factor in (("Anatomy", 1.0), ("Permutation", more))
    ]
    refused = {"OCC-7, l = 10, n = 100: Anatomy": "l = 10 is impossible for this table."}
    found = Found(points=points, settings=settings, generated=False, whole=True, refused=refused)
    verdicts = verdict(experiment.claims(found))
    assert verdicts.outcome == "open"
    assert "l = 10 is impossible" in verdicts.why
    whole = replace(found, points=[*points, *(replace(p, figure=names[1]) for p in points)])
    assert verdict(experiment.claims(replace(whole, refused={}))).outcome == "reproduced"


def test_tables_that_were_handed_over_are_taken(tmp_path: Path) -> None:
    from anon_core.teaching.experiments.tables import adult_like

    content = adult_like(60, 1).to_csv(index=False).encode()
    for files in ({"adult_48842.csv.gz": content, "notes.txt": b"x"}, {"mine.csv": content}):
        table = Tables(files=files, cached=False).get("adult-all", 1)
        assert not table.generated
        assert table.raw_rows == 60
    assert (
        Tables(files={"a.csv": content, "b.csv": content}, most_rows=40, cached=False)
        .get("adult-all", 1)
        .generated
    )


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda e: e.id)
def test_the_documented_run_is_there_and_judged_as_the_document_says(
    experiment: Experiment,
) -> None:
    report = documented(experiment)
    assert report is not None
    assert report.whole
    assert report.points
    text = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text(encoding="utf-8")
    (line,) = [one for one in text.splitlines() if one.startswith(f"| {experiment.id} |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2] == report.verdict.outcome
    assert cells[3] == report.verdict.why.replace("|", "/")
    assert cells[5] == run_said(report)
