"""A technique in one file of its own: what is registered is listed, offered, run and verified."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pytest

import anon_core.base.registry as registry
import anon_core.verification.registry as second
from anon_core.__main__ import main
from anon_core.base.context import Context
from anon_core.base.errors import AnonError, NotVerified
from anon_core.base.params import number, sensitive_column
from anon_core.base.registry import FAMILIES, family, register
from anon_core.contracts.algorithm import Algorithm, Offer, Shape
from anon_core.contracts.attack import Attack
from anon_core.contracts.group_stats import GroupStats, sensitive_histogram
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, ModelAim, ModelLogic, sensitive_columns
from anon_core.contracts.partitioner import Buckets, Partitioner, buckets_of_rows
from anon_core.data.roles.roles import ByRole
from anon_core.explain.report.files import as_html, edition_of
from anon_core.methods.bucketized.permuted_release import bucket_release
from anon_core.methods.partition.mondrian_cuts import rows_of_keys
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.grouping import group_runs
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Measure, Outcome, SearchAccount, Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import Release, View, one_block
from anon_core.release.vocabulary import of_level
from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Counts
from tests.making import PATIENTS
from tests.ui.sessions import (
    COMPARE,
    RESULTS,
    RUN,
    choose,
    compiles_nothing_ahead,
    load,
    open_page,
    words,
)
from tests.ui.sessions import carried_out as carried_out_in


@dataclass(frozen=True, kw_only=True)
class Classes(Metric):
    """How few classes there are."""

    name: ClassVar[str] = "toy-classes"
    title: ClassVar[str] = "Toy classes"
    summary: ClassVar[str] = "One divided by the number of classes."
    source: ClassVar[str] = "2026"

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        sizes = release.grouping.sizes
        share = 1 / max(len(sizes), 1)
        return Measure(
            metric=self.name, value=share, share=share, per_class=np.full(len(sizes), share)
        )


@dataclass(frozen=True, kw_only=True)
class Guess(Attack):
    """Guess one row of a class."""

    name: ClassVar[str] = "toy-guess"
    title: ClassVar[str] = "Toy guess"
    summary: ClassVar[str] = "Guesses a row of the smallest class."
    source: ClassVar[str] = "2026"

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        share = 1 / view.group_size
        return [
            AttackResult(
                attack=self.name,
                column="",
                attempted=truth.rows,
                eligible=truth.rows,
                succeeded=float(len(share)),
                rate=len(share) / truth.rows,
                worst=float(share.max()),
                baseline=1 / truth.rows,
                raw=1.0,
                at_risk=0,
                threshold=1.0,
                per_class=share,
                sentence="A toy guess was made.",
            )
        ]


@dataclass(frozen=True, kw_only=True)
class HideAll(Algorithm):
    """One group, nothing distinguished."""

    name: ClassVar[str] = "toy-hide-all"
    title: ClassVar[str] = "Toy: hide everything"
    summary: ClassVar[str] = "Publishes every quasi-identifier at its top."
    offer: ClassVar[Offer] = Offer(when="When nothing may be shown.")
    source: ClassVar[str] = "2026"

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        everyone = np.zeros(len(problem.frequency.run_count), dtype=np.int64)
        tops = {h.column: of_level(h, h.height) for h in problem.quasi_hierarchies}
        cells = {name: np.zeros(1, dtype=np.int32) for name in problem.quasi}
        release = one_block(problem, group_runs(problem.frequency, everyone, 1), tops, cells)
        return Outcome(release=release, account=SearchAccount(proven=False))


@dataclass(frozen=True, kw_only=True)
class Pairs(Partitioner):
    """Rows in pairs, as they are sorted."""

    name: ClassVar[str] = "toy-pairs"
    title: ClassVar[str] = "Toy pairs"
    summary: ClassVar[str] = "Two rows form a group."
    source: ClassVar[str] = "2026"

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        pair = np.minimum(np.arange(problem.rows) // 2, problem.rows // 2 - 1)
        return buckets_of_rows(rows_of_keys(problem), pair)


@dataclass(frozen=True, kw_only=True)
class OneBucket(Algorithm):
    """One bucket for everything, every column alone."""

    name: ClassVar[str] = "toy-one-bucket"
    title: ClassVar[str] = "Toy: one bucket"
    summary: ClassVar[str] = "Shuffles every column over the whole table."
    offer: ClassVar[Offer] = Offer(when="When only counts of single values are asked for.")
    source: ClassVar[str] = "2026"
    shape: ClassVar[Shape] = Shape(permutes=True)

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        everyone = buckets_of_rows(rows_of_keys(problem), np.zeros(problem.rows, dtype=np.int64))
        blocks = tuple((name,) for name in problem.roles.published(problem.dataset))
        release = bucket_release(problem, everyone, blocks, ())
        return Outcome(release=release, account=SearchAccount(proven=False))


@dataclass(frozen=True, kw_only=True)
class TwoTables(OneBucket):
    """The same in two tables, each of which keeps its rows."""

    name: ClassVar[str] = "toy-two-tables"
    title: ClassVar[str] = "Toy: two tables"
    shape: ClassVar[Shape] = replace(OneBucket.shape, linked="roles", tables=("quasi", "sensitive"))

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        everyone = buckets_of_rows(rows_of_keys(problem), np.zeros(problem.rows, dtype=np.int64))
        names = problem.roles.published(problem.dataset)
        first = tuple(n for n in names if n not in problem.sensitive)
        blocks = (first, tuple(n for n in names if n in problem.sensitive))
        release = bucket_release(problem, everyone, blocks, blocks)
        return Outcome(release=release, account=SearchAccount(proven=False))


@dataclass(frozen=True, kw_only=True)
class MostShare(GroupModel):
    """No value fills more than a share of a class."""

    name: ClassVar[str] = "toy-most-share"
    title: ClassVar[str] = "Toy most share"
    summary: ClassVar[str] = "No sensitive value fills more than a share of a class."
    formula: ClassVar[str] = "max c(v) ≤ a · |G|"
    source: ClassVar[str] = "2026"
    aim: ClassVar[ModelAim] = ModelAim(stops="attribute")
    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False, closed_under_union=True)

    a: float = number(default=0.7, low=0.0, high=1.0, help="Largest share of a class.")
    column: str = sensitive_column(help="The column to protect.")

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        return sensitive_columns(columns, self.column, self.title)

    def keeps(
        self, most: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        a = Fraction(str(self.a))
        return most * a.denominator <= sizes * a.numerator

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        found = [self.keeps(c.most_alike, stats.sizes) for c in stats.histograms.values()]
        return np.logical_and.reduce(found)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        found: list[Verdict] = []
        for column in self.needs(audience):
            persons, counted = sensitive_histogram(view, column)
            sizes = persons.sizes
            share = counted.most_alike / sizes
            kept = self.keeps(counted.most_alike, sizes)
            found.append(
                Verdict(
                    model=self.name,
                    parameters=self.as_mapping(),
                    state="holds" if np.all(kept) else "broken",
                    bound=self.a,
                    reached=float(share.max()),
                    per_class=share,
                    column=column,
                    sentence=f"A toy share of '{column}' was measured.",
                )
            )
        return found


def most_share(evidence: Evidence) -> list[Check]:
    """Recompute that no value fills more than a share of a class."""
    a = evidence.number("a", least=0, most=1)

    def rule(counts: Counts) -> tuple[bool, float]:
        share = Fraction(max(counts.values()), sum(counts.values()))
        return share <= a, float(share)

    return [
        class_check(
            evidence,
            f"a = {float(a):g} for '{column}'",
            *evidence.histogram(column).each(rule),
            bound=float(a),
            measured="largest share",
            worst="most",
            column=column,
        )
        for column in evidence.columns
    ]


TOYS = {
    "model": (MostShare,),
    "metric": (Classes,),
    "attack": (Guess,),
    "algorithm": (HideAll, OneBucket, TwoTables),
    "partitioner": (Pairs,),
}
BUCKETS = [{"name": "bucket-size", "k": 2}]
SHARES = [{"name": "toy-most-share", "a": 0.7}]


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    compiles_nothing_ahead(monkeypatch)
    before = {which: family(which) for which in FAMILIES}
    recomputed = second.second_computations()
    recomputes("toy-most-share", forms=("whole", "averaged", "permuted"))(most_share)
    for which, toys in TOYS.items():
        for toy in toys:
            register(cast(Any, which))(toy)
    yield
    for which, known in before.items():
        registry._found[which].clear()
        registry._found[which].update(known)
    second._found.clear()
    second._found.update(recomputed)


def carried_out(algorithm: dict[str, Any], models: list[dict[str, Any]]) -> Result:
    plan = PATIENTS.plan(algorithm=algorithm, models=models)
    found = run(plan, PATIENTS.dataset, PATIENTS.levels)
    assert found.verification.holds
    return found


def test_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    for which, toys in TOYS.items():
        assert {t.name for t in toys} <= {one["name"] for one in listed[f"{which}s"]}


def test_what_they_measure_stands_in_the_figures() -> None:
    figures = figures_of(carried_out({"name": "mondrian"}, [{"name": "k-anonymity", "k": 2}]))
    assert figures["metrics"]["toy-classes"] == 1 / figures["classes"]
    assert "toy-guess" in {attack["name"] for attack in figures["attacks"]}


@pytest.mark.parametrize(
    ("algorithm", "models", "tables"),
    [
        ({"name": "toy-hide-all"}, [{"name": "k-anonymity", "k": 2}], ("release.csv",)),
        ({"name": "bucketization", "partition": "toy-pairs"}, BUCKETS, ("release.csv",)),
        ({"name": "toy-one-bucket"}, BUCKETS, ("release.csv",)),
        ({"name": "toy-two-tables"}, BUCKETS, ("quasi.csv", "sensitive.csv")),
        ({"name": "optimal"}, SHARES, ("release.csv",)),
        ({"name": "toy-one-bucket"}, SHARES, ("release.csv",)),
        ({"name": "toy-two-tables"}, SHARES, ("quasi.csv", "sensitive.csv")),
    ],
)
def test_what_they_publish_is_verified(
    algorithm: dict[str, Any], models: list[dict[str, Any]], tables: tuple[str, ...]
) -> None:
    found = carried_out(algorithm, models)
    assert tuple(found.files) == tables
    assert "truth" in {check.name for check in found.verification.checks} or len(tables) == 1


def test_they_are_offered_on_the_run_page() -> None:
    app = open_page(RUN, load(models=BUCKETS))
    choose(app, "toy-hide-all")
    assert not app.exception
    choose(app, "toy-one-bucket")
    assert not app.exception
    assert "Toy: one bucket" in next(r for r in app.radio if r.key == "run_form/technique").options
    choose(app, "bucketization")
    assert not app.exception
    ways = {str(option) for box in app.selectbox for option in box.options}
    assert "Toy pairs" in ways


def test_they_stand_on_the_other_pages() -> None:
    held = load(algorithm={"name": "toy-hide-all"})
    result = carried_out_in(held, pinned=2)
    opened = {f"numbers-{chart}": True for chart in ("metrics", "attacks")}
    opened["figures-fold"] = True
    for page in (RESULTS, COMPARE):
        app = open_page(page, held | opened)
        assert not app.exception
        shown = words(app) + "".join(str(table.value) for table in app.dataframe)
        assert "Toy classes" in shown
        assert "Toy guess" in shown
    assert {"toy-classes"} <= set(result.measures)


def test_a_promise_is_offered_and_told_everywhere() -> None:
    held = load(algorithm={"name": "optimal"}, models=SHARES)
    app = open_page(RUN, held)
    assert not app.exception
    questions = next(c for c in app.button_group if c.key == "model_picker/stops")
    questions.set_value(MostShare.aim.stops).run()
    assert any(b.key == "add-toy-most-share" and not b.disabled for b in app.button)
    result = carried_out_in(held, pinned=2)
    opened = {f"numbers-{chart}": True for chart in ("metrics", "attacks")}
    for page in (RESULTS, COMPARE):
        app = open_page(page, held | opened)
        assert not app.exception
        assert "Toy most share" in words(app)
    assert "Toy most share" in as_html(edition_of(result))
    (check,) = (c for c in result.verification.checks if c.name == "toy-most-share")
    assert check.holds
    assert check.sentence == (
        "Recomputed from the published file: a = 0.7 for 'Salary' holds (largest share "
        f"{check.reached:.4g})."
    )


def test_a_promise_that_nothing_recomputes_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    del second._found["toy-most-share"]
    with pytest.raises(AnonError, match=r"'toy-most-share' .* has no second computation"):
        family("model")
    assert main(["list"]) != 0
    assert "anon_core/verification/models/" in capsys.readouterr().err


def test_a_promise_that_its_second_computation_denies_is_not_released() -> None:
    def denied(evidence: Evidence) -> list[Check]:
        return [Check(name=evidence.name, holds=False, sentence="It is broken.")]

    del second._found["toy-most-share"]
    recomputes("toy-most-share", forms=("whole",))(denied)
    with pytest.raises(NotVerified, match="It is broken"):
        carried_out({"name": "optimal"}, SHARES)


def test_a_second_computation_is_entered_once() -> None:
    with pytest.raises(ValueError, match="two second computations"):
        recomputes("k-anonymity", forms=("whole",))(most_share)
