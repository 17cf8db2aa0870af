"""Every privacy model with every technique: a release that holds, or a refusal that is true.

A pair is refused beforehand where the registry's facts say so, and only there. Else a run ends in a
verified release that also keeps the model's plain definition; or in `Infeasible`, and then none of
the releases the technique could form keeps it; or in `NotFound`, which never says that there is
none. Nothing else is an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from anon_core.base.errors import AnonError, BadPlan, Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.contracts.algorithm import refuse_unsteered
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.everywhere import Trial, trial
from tests.models_twin import keeps
from tests.often import EVERY
from tests.output_spaces import candidates, published, shown_chance

MODELS, ALGORITHMS = tuple(family("model")), tuple(family("algorithm"))
#: Words that claim more than a search which found nothing knows.
CLAIMS = re.compile(r"impossible|no release|cannot be kept|not even", re.IGNORECASE)


def refused(one: Trial) -> str:
    """Return why the technique cannot host the model on any table, empty where it can."""
    try:
        refuse_unsteered(one.technique, [one.promise])
    except BadPlan as error:
        return str(error)
    return ""


def ended(one: Trial) -> Result | AnonError:
    """Run a trial."""
    dataset, levels = one.case.dataset, one.case.levels
    try:
        return run(one.plan, dataset, levels, population=one.public, assess=False)
    except AnonError as error:
        return error


def outcome(one: Trial) -> str:
    """Run a trial, judge how it ends, and return that in a word."""
    reason, found = refused(one), ended(one)
    if reason:  # what no table of these values keeps is shown first
        assert isinstance(found, BadPlan | Infeasible), found
        return "refused"
    if isinstance(found, Result):
        assert all(v.holds for v in found.verdicts)
        assert found.verification.holds
        return f"released{_judged(one, found)}"
    assert isinstance(found, NotFound | Infeasible), found
    assert found.remedy
    if isinstance(found, NotFound):
        assert not CLAIMS.search(str(found)), found
        if "where cuts begin, breaks" in str(found):
            assert one.promise.title in str(found), found
        if "Choose the optimal search" in found.remedy:
            assert not refused(replace(one, algorithm="optimal", settings={})), found
        return "not found"
    assert found.best is not None
    if one.promise.scope.mechanism:
        return "none by chance"
    judged = [keeps(one, classes) for classes in candidates(one)]
    assert True not in judged, found
    return "infeasible" if False in judged else "infeasible, not judged"


def _judged(one: Trial, result: Result) -> str:
    """Judge a release by the plain definition; say so where it cannot be."""
    if one.technique.shape.permutes and one.promise.sliced_share(result.problem):
        assert shown_chance(one, result) <= Fraction(1, one.asked["l"])
        return ""
    if one.promise.scope.mechanism:  # nothing of it is in a release
        return ""
    answer = keeps(one, published(one, result))
    assert answer is not False
    return "" if answer else ", not judged"


def ran(one: Trial) -> str:
    try:
        return outcome(one)
    except Exception as error:
        error.add_note(f"{one}")
        raise


@pytest.mark.often
@pytest.mark.parametrize("model", MODELS)
def test_a_run_ends_in_a_release_that_holds_or_a_true_refusal(model: str) -> None:
    """One table for every other pair; for each, and many, where there is time."""
    found = Counter(
        ran(trial(model, name, turn))
        for turn, name in enumerate(ALGORITHMS)
        if EVERY or (turn + MODELS.index(model)) % 2 == 0
    )
    assert found["released"] > 0


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", MODELS)
def test_every_pair_on_many_tables(model: str, algorithm: str) -> None:
    found = Counter(ran(trial(model, algorithm, number)) for number in range(100, 300))
    assert sum(found.values()) == 200
    assert found["refused"] in (0, 200)
