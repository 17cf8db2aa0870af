"""Every privacy model with every technique on 30,162 rows of Adult, with groups as ARX has them.

Each promise is one that all rows as one class keep, so that no technique which may publish that has
a reason to refuse. A pair ends in a verified release; in `NotFound`, where the technique does not
look at everything it could publish; or in a refusal that the registry foretells. `Infeasible` is
true only where the one release of given levels, or of given limits, breaks the definition.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError, BadPlan, Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.hierarchy import read_levels
from anon_core.data.reading import read_table
from anon_core.data.table import Dataset
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.contract.settings import tails_at
from tests.everywhere import Trial
from tests.golden.test_adult import staged, staged_levels
from tests.making import MECHANISM, Case
from tests.models_twin import keeps
from tests.output_spaces import candidates
from tests.property.test_every_model_everywhere import ALGORITHMS, CLAIMS, MODELS, refused

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not all(place.exists() for place in staged()),
        reason="the table of the ARX benchmarks and its groups are not staged",
    ),
]

#: What is asked of each model; the sensitive column is the occupation, or drawn numbers.
ASKED: dict[str, dict[str, Any]] = {
    "alpha-k-anonymity": {"alpha": 0.5, "k": 5},
    "average-risk": {"risk": 0.1},
    "background-bound": {"factor": 3.0},
    "beta-likeness": {"beta": 2.0},
    "bucket-size": {"k": 5},
    "delta-disclosure": {"delta": 2.0},
    "delta-presence": {"delta_min": 0.1, "delta_max": 0.8},
    "differential-privacy": {"epsilon": 1.0, "delta": 1e-5},
    "entropy-l-diversity": {"l": 3},
    "epsilon-m-anonymity": {"epsilon": 5, "m": 2},
    "frequency-l-diversity": {"l": 3},
    "global-one-k-anonymity": {"k": 5},
    "k-anonymity": {"k": 5},
    "k-e-anonymity": {"k": 5, "e": 10},
    "k-k-anonymity": {"k": 5},
    "k-map": {"k": 10},
    "k-map-by-size": {"k": 20, "share": 0.25},
    "k-one-anonymity": {"k": 5},
    "km-anonymity": {"k": 5, "m": 2},
    "l-diversity": {"l": 3},
    "maximum-risk": {"risk": 0.1},
    "one-k-anonymity": {"k": 5},
    "personalized": {"column": "own"},
    "population-uniques": {"people": 300_000, "share": 0.001},
    "profitability": {"benefit": 200.0, "loss": 300.0, "gain": 300.0, "cost": 100.0},
    "recursive-l-diversity": {"c": 3, "l": 3},
    "share-at-risk": {"risk": 0.1, "share": 0.05},
    "slicing-l-diversity": {"l": 3},
    "t-closeness": {"t": 0.3},
}
NUMBERS = ("k-e-anonymity", "epsilon-m-anonymity")
#: Time boxes: what they end ends in a release, or says `not found`.
SECONDS = 30.0
EFFORT = {"seconds": 5.0, "moves": 300, "population": 10, "generations": 10, "restarts": 2}


@cache
def table() -> Dataset:
    return read_table(staged()[0])


@cache
def everyone() -> tuple[Case, dict[str, list[tuple[str, ...]]]]:
    """Return Adult with a column of numbers and of everyone's own k, and groups by column."""
    frame, rng = table().frame(), np.random.default_rng(1)
    rows = len(frame)
    columns: dict[str, list[str | None]] = {n: frame[n].astype(str).tolist() for n in frame}
    columns["pay"] = [str(v) for v in rng.integers(10, 100, rows)]
    columns["own"] = [str(v) for v in rng.choice([1, 2, 5], rows, p=(0.6, 0.3, 0.1))]
    groups = staged_levels(table(), [n for n in table().names if n != "occupation"])
    folder = staged()[1]
    groups["occupation"] = read_levels(folder / "adult_hierarchy_occupation.csv", "occupation")
    return (
        Case(columns=columns, quasi=tuple(table().names)),
        {n: [tuple(line) for line in lines] for n, lines in groups.items()},
    )


@cache
def case(sensitive: str, private: str) -> Case:
    """Return the table with its roles; nothing is sensitive where that is empty."""
    whole, groups = everyone()
    quasi = tuple(n for n in whole.quasi if n != "occupation")
    used = [*quasi, *filter(None, (sensitive, private))]
    number = {n: "number" if n in ("age", "pay", "own") else "text" for n in used}
    return Case(
        columns={n: whole.columns[n] for n in used},
        quasi=quasi,
        sensitive=(sensitive,) if sensitive else (),
        identifier=(private,) if private else (),
        kinds=number,  # type: ignore[arg-type]
        levels={n: groups[n] for n in quasi},
    )


@cache
def public() -> Dataset:
    """Return the people of Adult and as many again, who have values of theirs."""
    frame = pd.DataFrame({n: everyone()[0].columns[n] for n in case("", "").quasi}, dtype=object)
    again = frame.sample(len(frame), replace=True, random_state=1)
    kinds = dict(case("", "").kinds)
    return Dataset.from_frame(pd.concat([frame, again], ignore_index=True), kinds=kinds)


@cache
def encoded(sensitive: tuple[str, ...], private: tuple[str, ...], public: bool) -> EncodedOnce:
    """Return what fits one table to plans."""
    return EncodedOnce()


def settings_of(chosen: type[Algorithm], of: Case) -> dict[str, Any]:
    """Return what a technique is shown: limits and levels that leave large classes."""
    names = {p.name for p in chosen.parameters()}
    settings: dict[str, Any] = {n: v for n, v in EFFORT.items() if n in names}
    if chosen.shape.codes_tails:
        settings |= tails_at(chosen, "age", 20, 60)
    if chosen.needs.levels_parameter and not chosen.shape.mechanism:
        settings[chosen.needs.levels_parameter] = {n: len(of.levels[n][0]) - 1 for n in of.quasi}
    return {**MECHANISM} if chosen.shape.mechanism else settings


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_pair_ends_in_a_release_that_holds_or_a_true_refusal(algorithm: str, model: str) -> None:
    outcome(algorithm, model)


def outcome(algorithm: str, model: str) -> str:
    """Run a pair, judge how it ends, and return that in a word."""
    chosen: Any = family("algorithm")[algorithm]
    kind: Any = family("model")[model]
    sensitive = "" if chosen.shape.mechanism else "pay" if model in NUMBERS else "occupation"
    private = str(ASKED[model].get("column", ""))
    of = case(sensitive, private)
    one = Trial(
        case=of,
        model=model,
        algorithm=algorithm,
        asked=ASKED[model],
        settings=settings_of(chosen, of),
        people=[],
    )
    counted = bool(kind.scope.public or chosen.needs.public)
    reason, found = refused(one), ended(one, public() if counted else None)
    if reason:
        assert isinstance(found, BadPlan), found
        return "refused"
    if isinstance(found, Result):
        assert all(v.holds for v in found.verdicts)
        assert found.verification.holds
        assert found.problem.rows == 30_162
        return "released"
    if isinstance(found, NotFound):
        assert not CLAIMS.search(str(found)), found
        return "not found"
    assert isinstance(found, Infeasible), found
    assert chosen.shape.codes_tails or chosen.needs.levels_parameter, found
    assert not any(keeps(one, classes) for classes in candidates(one)), found
    return "infeasible"


def ended(one: Trial, people: Dataset | None) -> Result | AnonError:
    """Run a trial; tables and groups are encoded once for those who share them."""
    fit = encoded(one.case.sensitive, one.case.identifier, people is not None)
    try:
        return run(
            one.plan,
            one.case.dataset,
            one.case.levels,
            population=people,
            context=Context(deadline=now() + SECONDS),
            assess=False,
            fit=fit,
        )
    except AnonError as error:
        return error
