"""deFinetti on Adult: more is right than a group's share allows, and nothing where none is to find.

Kifer (2009), doi 10.1145/1559845.1559861, attacks the occupations of Adult behind buckets of five
different ones; the paper's sampler is another one, so that its figures are no target.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.pipeline.measure.extra_attacks import attack
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.techniques.attacks.definetti import DeFinetti

QUASI = ["age", "workclass", "education", "marital-status", "race", "gender", "native-country"]
L = 5
ADULT = sample("adult")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not ADULT.available(), reason="the Adult table is not cached"),
]


def released(frame: pd.DataFrame, technique: str = "anatomy") -> Result:
    plan = Plan.from_mapping(
        {
            "data": {"missing": "drop", "sample": 0.5},
            "roles": {"quasi": QUASI, "sensitive": ["occupation"]},
            "types": {"age": "number"},
            "algorithm": {"name": technique},
            "models": [{"name": "frequency-l-diversity", "l": L}],
        }
    )
    return run(plan, Dataset.from_frame(frame, kinds={"age": "number"}), assess=False)


def test_occupations_of_adult() -> None:
    result = released(ADULT.frame())
    (found,) = attack(result, DeFinetti(), Context())
    assert found.rate > 1.5 / L
    assert found.rate > found.baseline
    # Without a group less is known of people, but more than of a stranger.
    assert found.control is not None
    assert found.rate > found.control > found.baseline


def test_columns_permuted_apart() -> None:
    result = released(ADULT.frame(), "permutation")
    (found,) = attack(result, DeFinetti(rounds=20), Context())
    assert found.rate > 1.5 / L
    assert "Not converged in 20 rounds" in found.sentence


def test_independent_columns() -> None:
    frame = ADULT.frame()
    frame["occupation"] = np.random.default_rng(409).permutation(frame["occupation"])
    (found,) = attack(released(frame), DeFinetti(), Context())
    assert found.rate == pytest.approx(1 / L, abs=0.02)


def test_cancel_is_heard_at_once() -> None:
    result = released(ADULT.frame())
    attack(result, DeFinetti(rounds=1), Context())
    values: list[float] = []
    cancel = threading.Event()

    def heard(share: float, stage: str) -> None:
        values.append(time.process_time())
        if len(values) > 40:
            cancel.set()

    with pytest.raises(Cancelled):
        attack(result, DeFinetti(), Context(cancel=cancel, progress=heard))
    assert max(np.diff(values)) < 0.5  # seconds of work between two looks
