"""First figures: what was found is handed over before it is recomputed, and is no release yet."""

from __future__ import annotations

import threading
import time
from typing import cast

import numpy as np
import pytest

import anon_core.pipeline.runner as runner
from anon_core.base.context import Context
from anon_core.base.errors import Cancelled, NotVerified
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.contracts.metric import Metric
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.verification.findings import PENDING, Check, Verification
from tests.making import PATIENTS, random_case


def _late(kind: str) -> set[str]:
    known = cast(dict[str, type[Metric] | type[Attack]], family(kind))
    return {name for name, one in known.items() if not one.use.at_once}


def test_first_figures_are_no_release() -> None:
    seen: list[Result] = []
    result = runner.run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, first=seen.append)
    (first,) = seen
    assert first.pending
    assert first.verification is PENDING
    assert not first.verification.holds
    assert not figures_of(first)["verified"]
    assert not first.files
    for read in ("all_files", "csv_files", "parquet", "sha256"):
        with pytest.raises(NotVerified, match="not a release"):
            getattr(first, read)
    assert not result.pending
    assert result.verification.holds
    assert result.csv


def test_what_takes_longer_comes_after_the_first_figures() -> None:
    seen: list[Result] = []
    result = runner.run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, first=seen.append)
    (first,) = seen
    assert set(first.measures) == set(result.measures) - _late("metric")
    assert {a.attack for a in first.attacks} == {a.attack for a in result.attacks} - _late("attack")
    waiting = {a.attack for a in result.attacks} & _late("attack")
    assert waiting
    assert {first.not_run[name] for name in waiting} == {"It is under way."}


@pytest.mark.parametrize("seed", range(6))
def test_invariant_a_run_comes_to_the_same_with_first_figures_and_without(seed: int) -> None:
    """Whatever the table, and first figures say nothing that the result does not say."""
    case = random_case(np.random.default_rng(seed))
    plan = case.plan()
    seen: list[Result] = []
    alone = runner.run(plan, case.dataset, case.levels)
    both = runner.run(plan, case.dataset, case.levels, first=seen.append)

    def figures_left(result: Result) -> dict[str, object]:
        return {n: v for n, v in figures_of(result).items() if n not in ("seconds", "took")}

    assert figures_left(both) == figures_left(alone)
    assert list(both.measures) == list(alone.measures)
    assert both.csv == alone.csv
    (first,) = seen
    assert first.published.equals(both.published)
    assert first.verdicts == both.verdicts
    for name, measure in first.measures.items():
        assert measure.value == both.measures[name].value
    assert [a.attack for a in first.attacks] == [
        a.attack for a in both.attacks if a.attack not in _late("attack")
    ]


def test_the_second_computation_begins_when_the_first_figures_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began: list[str] = []
    verify = runner.verify

    def verified(*args: object, **named: object) -> Verification:
        began.append("verify")
        return verify(*args, **named)  # type: ignore[arg-type]

    def drawn(first: Result) -> None:
        time.sleep(0.3)
        began.append("drawn")

    monkeypatch.setattr(runner, "verify", verified)
    result = runner.run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, first=drawn)
    assert began == ["drawn", "verify"]
    assert result.took < sum(result.seconds.values()) + 0.25  # drawing is no part of the run


def test_first_figures_that_do_not_agree_come_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Result] = []
    broken = Check(name="k-anonymity", holds=False, sentence="k is 1.")
    monkeypatch.setattr(runner, "verify", lambda *_, **__: Verification(checks=(broken,)))
    with pytest.raises(NotVerified):
        runner.run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, first=seen.append)
    assert len(seen) == 1


def test_a_run_that_is_cancelled_while_its_figures_are_looked_at_comes_to_nothing() -> None:
    stop = threading.Event()
    with pytest.raises(Cancelled):
        runner.run(
            PATIENTS.plan(),
            PATIENTS.dataset,
            PATIENTS.levels,
            context=Context(cancel=stop),
            first=lambda _: stop.set(),
        )


def test_a_plan_with_gates_has_no_first_figures() -> None:
    seen: list[Result] = []
    plan = PATIENTS.plan(accept=[{"metric": "loss", "most": 1.0}])
    result = runner.run(plan, PATIENTS.dataset, PATIENTS.levels, first=seen.append)
    assert not seen
    assert not result.pending


def test_what_is_foreseen_is_what_a_run_finds_and_spares_it_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = EncodedOnce()
    plan = PATIENTS.plan()
    ahead = runner.foresee(plan, PATIENTS.dataset, PATIENTS.levels, fit=fit)
    assert ahead.pending
    assert not ahead.tables
    assert set(ahead.measures) == {"loss", "group-loss"} & set(ahead.measures) != set()
    alone = runner.run(plan, PATIENTS.dataset, PATIENTS.levels)
    assert ahead.measures["loss"].value == alone.measures["loss"].value
    searched: list[object] = []
    search = runner.search

    def counted(*args: object) -> object:
        searched.append(args)
        return search(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "search", counted)
    both = runner.run(plan, PATIENTS.dataset, PATIENTS.levels, fit=fit, known=ahead)
    assert not searched
    assert both.csv == alone.csv
    assert both.verification.holds
    again = runner.run(plan, PATIENTS.dataset, PATIENTS.levels, known=ahead)  # fitted by itself
    assert len(searched) == 1
    assert again.csv == alone.csv
    other = PATIENTS.plan(models=[{"name": "k-anonymity", "k": 3}])
    runner.run(other, PATIENTS.dataset, PATIENTS.levels, fit=fit, known=ahead)
    assert len(searched) == 2
