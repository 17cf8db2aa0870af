"""Every measure and attack has a bound: 300 columns are measured, and what was not is said."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.data.table import Dataset
from anon_core.methods.queries.pair_tables import MOST_PAIRS
from anon_core.methods.reidentification.equivalence_counts import MOST_SIZES
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from tests.making import secret
from tests.often import EVERY

ROWS, COLUMNS = 40, 300
PAIRS = COLUMNS * (COLUMNS - 1) // 2 + COLUMNS
ATTACKS = [n for n in family("attack") if n not in ("composition", "correspondence")]


@cache
def wide() -> Dataset:
    rng = np.random.default_rng(31)
    columns = {
        f"q{i}": (
            rng.integers(0, 50, ROWS) if i % 2 else rng.choice(list("abcdefgh"), ROWS)
        ).astype(str)
        for i in range(COLUMNS)
    }
    return Dataset.from_frame(pd.DataFrame({**columns, "cause": rng.choice(list("pqrst"), ROWS)}))


def attacks(algorithm: str) -> list[str]:
    """Return what is run: all after Mondrian, at every change half after each of the others."""
    if EVERY or algorithm == "mondrian":
        return ATTACKS
    return [n for i, n in enumerate(ATTACKS) if (i % 2 == len(algorithm) % 2) or n == "linking"]


def plan(algorithm: str) -> Plan:
    model = {"name": "k-anonymity", "k": 3}
    if algorithm == "anatomy":
        model = {"name": "frequency-l-diversity", "l": 2}
    recipe: dict[str, Any] = {
        "seed": f"{secret(31):064x}",
        "roles": {"quasi": [f"q{i}" for i in range(COLUMNS)], "sensitive": ["cause"]},
        "algorithm": {"name": algorithm},
        "models": [model],
        "metrics": [{"name": n} for n in family("metric") if n != "squared-error"],
        "attacks": [
            {"name": n, **({"seconds": 1.0 if EVERY else 0.3} if has_box(n) else {})}
            for n in attacks(algorithm)
        ],
    }
    return Plan.from_mapping(recipe)


def has_box(attack: str) -> bool:
    kind = cast(type[Attack], family("attack")[attack])
    return any(p.name == "seconds" for p in kind.parameters())


@cache
def released(algorithm: str) -> tuple[Result, list[str]]:
    stages: list[str] = []
    context = replace(Context(), progress=lambda share, stage: stages.append(stage))
    return run(plan(algorithm), wide(), context=context), stages


@pytest.mark.often
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("algorithm", ["mondrian", "anatomy", "datafly"])
def test_forty_rows_of_300_columns_with_everything_on(algorithm: str) -> None:
    result, stages = released(algorithm)
    found = figures_of(result)
    assert found["verified"]
    for name in ("correlation-change", "kl-divergence"):
        measure = result.measures[name]
        assert measure.also["pairs of columns left out"] == PAIRS - MOST_PAIRS
        assert f"{MOST_PAIRS:,} of {PAIRS:,} pairs" in measure.details[0].note
        # Every column is in some pair that is looked at.
        assert set(measure.per_column) == set(result.plan.roles.quasi)
    linking = next(a for a in result.attacks if a.attack == "linking")
    (curve,) = linking.details
    assert len(curve.rows) == MOST_SIZES
    assert curve.rows[-1]["columns known"] == COLUMNS
    assert f"Of {COLUMNS} numbers of known columns {MOST_SIZES} are tried" in curve.note
    assert stages.count("Comparing pairs of columns") >= 2
    assert {a.attack for a in result.attacks} | set(found["attacks_not_run"]) >= set(
        attacks(algorithm)
    )


@pytest.mark.often
@pytest.mark.parametrize("stage", ["Comparing pairs of columns", "Joining the register"])
def test_what_takes_long_on_wide_tables_is_stopped_when_asked(stage: str) -> None:
    cancel, heard = threading.Event(), list[str]()

    def progress(_: float, now: str) -> None:
        heard.append(now)
        if now == stage:
            cancel.set()

    with pytest.raises(Cancelled):
        run(plan("mondrian"), wide(), context=replace(Context(), cancel=cancel, progress=progress))
    assert stage in heard
