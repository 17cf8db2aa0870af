"""Leaves that a hierarchy lists and no row has change no verdict and no figure of an attack.

What is defined over the domain may change: what a cell covers is then more. These are loss, NCP and
what is spread evenly over the values that a cell covers; each is named with its reason.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import AnonError, BadPlan, Infeasible
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from tests.everywhere import ASKED, EFFORT
from tests.making import Case, Levels, draw_levels, random_case
from tests.often import EVERY, times

#: Metrics defined over the domain, each with the reason.
OVER_THE_DOMAIN = {
    "loss": "shares of the domain",
    "weighted-loss": "shares of the domain",
    "largest-loss": "shares of the domain",
    "choices-left": "leaves of the domain",
    "payout": "leaves of the domain",
    "ncp": "shares of the domain",
    "group-loss": "loss of a group's hull",
    "kl-divergence": "a cell is spread evenly over the values that it covers",
    "query-error": "queries are drawn over the domain, and cells spread evenly",
    "reconstruction-error": "one of the values that a cell covers",
    "generalization-height": "a group of a single leaf is no step",
    "precision": "a group of a single leaf is no step",
    "model-utility": "cells are drawn from the values that they cover",
}
#: Models whose figures are defined over the domain, each with the reason.
MODELS_OVER_THE_DOMAIN = {"profitability": "what is earned falls with the shares of the domain"}
#: Models that only mechanisms can host.
NOT_HOSTED = ("differential-privacy",)
METRICS = [n for n in family("metric") if n not in OVER_THE_DOMAIN and n != "squared-error"]
#: What an attack comes to; how classes are numbered, and which of equals a sentence names, is none.
FIGURES = (
    "attempted", "eligible", "succeeded", "undecided", "rate", "worst", "baseline", "raw",
    "at_risk", "threshold", "control", "interval",
)  # fmt: skip
ATTACKS = [
    n
    for n, a in family("attack").items()
    if n not in ("composition", "correspondence") and not cast(type[Attack], a).needs.stop_rule
]


def more_leaves(rng: np.random.Generator, levels: Levels, kind: str) -> Levels:
    """Add leaves to groups that there are, and groups that no row is in.

    Groups of numbers stay intervals, and values in a declared order keep theirs.
    """
    deep, have = len(levels[0]), {line[0] for line in levels}
    values = rng.choice(np.arange(-60, 160), 8, replace=False).tolist()
    found = list(levels)
    for n, value in enumerate(values):
        text = str(value) if kind != "text" else f"w{n}"
        if text in have:
            continue
        if kind != "text":
            near = max(
                (line for line in found if float(line[0]) < value),
                key=lambda line: float(line[0]),
                default=min(found, key=lambda line: float(line[0])),
            )
            tail = near[1:]
        elif rng.random() < 0.5:
            tail = levels[int(rng.integers(len(levels)))][1:]
        else:
            tail = (*(f"new{level}.{n // 2**level}" for level in range(1, deep - 1)), "*")
        found.insert(
            int(rng.integers(len(found) + 1)) if kind == "text" else len(found), (text, *tail)
        )
    return found


def pair(number: int) -> tuple[Case, Case]:
    """Draw a table, and the same with leaves that nobody has in every hierarchy."""
    rng = np.random.default_rng([1414, number])
    while True:
        rows = int(rng.integers(4, 16))
        drawn = random_case(rng, rows=rows, quasi=2, kinds=("text",), missing=False)
        if all(len(set(drawn.columns[q])) > 1 and q in drawn.levels for q in drawn.quasi):
            break
    values = sorted(rng.choice(40, 4, replace=False).tolist())
    levels = {
        **drawn.levels,
        "s0": draw_levels(rng, [str(v) for v in values], intervals=True),
    }
    case = replace(
        drawn,
        columns={
            **{q: drawn.columns[q] for q in drawn.quasi},
            "s0": [str(v) for v in rng.choice(values, rows)],
        },
        sensitive=("s0",),
        levels=levels,
        kinds={
            **dict.fromkeys(drawn.quasi, "text"),  # type: ignore[dict-item]
            "s0": str(rng.choice(["number", "ordered"])),  # type: ignore[dict-item]
        },
    )
    grown = {n: more_leaves(rng, own, case.kinds[n]) for n, own in levels.items()}
    return case, replace(case, levels=grown)


def ended(case: Case, population: Dataset | None, **given: Any) -> dict[str, Any] | AnonError:
    try:
        result = run(case.plan(**given), case.dataset, case.levels, population=population)
    except AnonError as error:
        return error
    return figures_of(result)


def close(one: object, other: object) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    return one == other


def promises(model: str, rng: np.random.Generator) -> dict[str, Any]:
    asked = [one for one in ASKED[model] if not one.get("column")]
    chosen = dict(asked[int(rng.integers(len(asked)))]) if asked else {}
    if model == "t-closeness":
        chosen["distance"] = str(rng.choice(["equal", "ordered", "hierarchical"]))
    return {**chosen, "name": model}


def public_of(case: Case) -> Dataset:
    people = case.frame[list(case.quasi)]
    return Dataset.from_frame(
        pd.concat([people, people.iloc[:3]]), kinds={n: case.kinds[n] for n in case.quasi}
    )


@pytest.mark.often
@pytest.mark.parametrize(
    "model",
    [
        n
        for n in family("model")
        if n not in MODELS_OVER_THE_DOMAIN and any(not a.get("column") for a in ASKED[n])
    ],
)
def test_leaves_that_nobody_has_change_no_verdict_and_no_attack(model: str) -> None:
    """At fixed levels, so that the release is the same; with every metric and attack."""
    seen: Counter[str] = Counter()
    kind = cast(type[GroupModel], family("model")[model])
    for number in range(times(64, share=16)):
        rng = np.random.default_rng([15, number])
        case, more = pair(number)
        population = public_of(case) if kind.scope.public or number % 3 == 0 else None
        asked: dict[str, Any] = {
            "algorithm": {
                "name": "fixed-levels",
                "levels": {q: int(rng.integers(len(case.levels[q][0]))) for q in case.quasi},
                "max_suppression": 0.3,
            },
            "models": [promises(model, rng)],
            "metrics": [{"name": n} for n in METRICS],
            "attacks": [{"name": n} for n in ATTACKS],
        }
        one, other = (ended(c, population, **asked) for c in (case, more))
        if isinstance(one, AnonError):
            assert isinstance(other, AnonError), (number, one)
            assert type(one) is type(other)
            assert isinstance(one, Infeasible | BadPlan)
            seen["refused"] += 1
            continue
        assert isinstance(other, dict), (number, other)
        assert [(v["state"], v["column"]) for v in one["models"]] == [
            (v["state"], v["column"]) for v in other["models"]
        ]
        for before, after in zip(one["models"], other["models"], strict=True):
            assert close(before["value"], after["value"]), (number, before, after)
        for name in METRICS:
            assert close(one["metrics"].get(name), other["metrics"].get(name)), (number, name)
        assert one["attacks_not_run"].keys() == other["attacks_not_run"].keys()
        for before, after in zip(one["attacks"], other["attacks"], strict=True):
            for figure in FIGURES:
                assert close(before[figure], after[figure]), (number, figure, before, after)
        seen["compared"] += 1
        if not EVERY and seen["compared"] == 2:
            break
    assert bool(seen["compared"]) == (model not in NOT_HOSTED)


@pytest.mark.often
@pytest.mark.parametrize("algorithm", list(family("algorithm")))
def test_leaves_that_nobody_has_crash_nothing(algorithm: str) -> None:
    """What a search finds may differ, since losses do; it ends in a release or a clear refusal."""
    kind = family("algorithm")[algorithm]
    names = {p.name for p in kind.parameters()}
    for number in range(times(24, share=24)):
        rng = np.random.default_rng([16, number])
        case, more = pair(number)
        expected = {n: v for n, v in EFFORT.items() if n in names}
        asked: dict[str, Any] = {
            "algorithm": {"name": algorithm, **expected},
            "models": [
                promises(str(rng.choice(["k-anonymity", "t-closeness", "l-diversity"])), rng)
            ],
            "metrics": [
                {"name": n}
                for n, m in family("metric").items()
                if cast(type[Metric], m).use.by_default
            ],
            "attacks": [{"name": n} for n in ATTACKS],
        }
        for one in (case, more):
            found = ended(one, public_of(one), **asked)
            assert isinstance(found, dict | AnonError)
            assert not isinstance(found, dict) or found["verified"]
