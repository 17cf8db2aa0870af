"""What would stop an attack: changes of the plan, each carried out and attacked again."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.explain.advice.countermeasures import Inputs, Tried, what_stops
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from tests.making import Case

#: Two classes of four; the people of the first all have the flu.
CASE = Case(
    columns={"age": list("11122233"), "ill": ["flu"] * 3 + list("abcde")},
    quasi=("age",),
    sensitive=("ill",),
    kinds={"age": "number", "ill": "text"},
    levels={"age": [("1", "low", "*"), ("2", "high", "*"), ("3", "high", "*")]},
)
PLAN = CASE.plan(
    algorithm={"name": "optimal", "max_suppression": 0.0},
    models=[{"name": "k-anonymity", "k": 2}],
)


@pytest.fixture(scope="module")
def made() -> Result:
    return run(PLAN, CASE.dataset, CASE.levels)


def of(result: Result, name: str) -> AttackResult:
    return next(a for a in result.attacks if a.attack == name)


def tried(result: Result, name: str, **more: object) -> list[Tried]:
    given = Inputs(dataset=CASE.dataset, levels=CASE.levels)
    return what_stops(result, of(result, name), given, **more)  # type: ignore[arg-type]


def test_what_stops_a_disclosure_is_found_by_attacking_again(made: Result) -> None:
    now = of(made, "homogeneity")
    assert now.at_risk == 3
    as_it_is, *found = tried(made, "homogeneity")
    assert as_it_is.attack is now
    by_words = {one.words: one for one in found}
    larger = by_words["Set k = 4"]
    assert larger.verdict(now) == "stops it"  # all stand together then
    assert larger.attack is not None
    assert larger.attack.at_risk == 0
    assert larger.loss > as_it_is.loss
    besides = next(one for words, one in by_words.items() if "Also require t-closeness" in words)
    assert besides.plan is not None
    assert [m.name for m in besides.plan.models] == ["k-anonymity", "t-closeness"]


def test_every_figure_is_that_of_a_run_of_the_plan_by_itself(made: Result) -> None:
    for one in tried(made, "homogeneity")[1:]:
        if one.plan is None or one.attack is None:
            continue
        alone = run(one.plan, CASE.dataset, CASE.levels)
        answer = of(alone, "homogeneity")
        assert (answer.at_risk, answer.rate, answer.worst) == (
            one.attack.at_risk,
            one.attack.rate,
            one.attack.worst,
        )
        assert alone.release.suppressed == one.suppressed


def test_what_gives_no_release_says_why(made: Result) -> None:
    beyond = replace(of(made, "homogeneity"), attempted=100)
    given = Inputs(dataset=CASE.dataset, levels=CASE.levels)
    last = {t.words: t for t in what_stops(made, beyond, given)}["Set k = 10"]
    assert last.status == "no release"
    assert last.verdict(beyond) == "no release"
    assert last.why
    assert last.plan is None


def test_what_was_not_tested_or_not_decided_is_not_stopped(made: Result) -> None:
    now = of(made, "homogeneity")
    assert Tried(words="x", status="not tested", why="no").verdict(now) == "not tested"
    open_ = replace(now, at_risk=0, succeeded=0, worst=0.5, undecided=1)
    assert Tried(words="x", status="attacked", attack=open_).verdict(now) == "less"
    same = Tried(words="x", status="attacked", attack=now)
    assert same.verdict(now) == "no help"


def test_it_stops_when_it_is_cancelled(made: Result) -> None:
    cancel = threading.Event()
    heard: list[Tried] = []

    def hear(one: Tried) -> None:
        heard.append(one)
        cancel.set()

    with pytest.raises(Cancelled):
        tried(made, "homogeneity", context=Context(cancel=cancel), found=hear)
    assert len(heard) == 1
