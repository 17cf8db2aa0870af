"""Attacks that are run when asked for, and what a result then tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from anon_core.base import registry
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack
from anon_core.data.table import Dataset
from anon_core.job.further_attacks import attack, attacked
from anon_core.job.plan import Plan
from anon_core.job.result import Result
from anon_core.job.runner import run
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.audience import Audience
from anon_core.release.release import View
from anon_core.release.truth import Truth

TABLE = Dataset.from_frame(pd.DataFrame({"age": ["1", "1", "2", "2"], "ill": ["a", "a", "b", "c"]}))
RECIPE = {
    "roles": {"quasi": ["age"], "sensitive": ["ill"]},
    "algorithm": {"name": "mondrian"},
    "models": [{"name": "k-anonymity", "k": 2}],
}


@pytest.fixture(autouse=True)
def asked_for() -> Iterator[type[Attack]]:
    """An attack that is run when asked for, and tells what it draws."""
    registry.family("attack")
    before = dict(registry._found["attack"])

    @register("attack")
    @dataclass(frozen=True, kw_only=True)
    class AskedFor(Attack):
        name: ClassVar[str] = "asked-for"
        title: ClassVar[str] = "Asked for"
        by_default: ClassVar[bool] = False

        def reason_not_applicable(self, view: View, audience: Audience) -> str:
            return "" if audience.secret else "It needs a secret."

        def run(
            self, view: View, audience: Audience, truth: Truth, context: Context
        ) -> Sequence[AttackResult]:
            drawn = float(context.generator.random())
            rows = tuple({"known": n, "rate": drawn} for n in range(2))
            return [
                AttackResult(
                    attack=self.name,
                    attempted=4,
                    eligible=4,
                    succeeded=2,
                    rate=0.5,
                    worst=0.5,
                    baseline=0.25,
                    raw=1,
                    control=0.25,
                    at_risk=2,
                    threshold=0.2,
                    per_class=np.array([0.5, 0.1]),
                    sentence="Half of them.",
                    details=(Details(title="Known", rows=rows, x="known", y=("rate",)),),
                )
            ]

    yield AskedFor
    registry._found["attack"].clear()
    registry._found["attack"].update(before)


def made(**more: object) -> Result:
    return run(Plan.from_mapping({**RECIPE, **more}), TABLE)


def test_it_is_not_run_unless_asked_for(asked_for: type[Attack]) -> None:
    result = made()
    assert result.not_run["asked-for"] == "It is run when asked for."
    assert "asked-for" not in {a.attack for a in result.attacks}


def test_a_recipe_asks_for_it_and_a_person_gets_the_same_later(asked_for: type[Attack]) -> None:
    plain = made(seed="7" * 32)
    later = attacked(plain, asked_for(), attack(plain, asked_for(), Context()))
    at_once = made(seed="7" * 32, attacks=[{"name": "asked-for"}])
    assert later.plan == at_once.plan
    assert json.dumps(later.as_json()["attacks"][-1]) in {
        json.dumps(a) for a in at_once.as_json()["attacks"]
    }
    again = attacked(later, asked_for(), attack(later, asked_for(), Context()))
    assert len(again.attacks) == len(later.attacks)


def test_what_is_written_of_it(asked_for: type[Attack]) -> None:
    plain = made()
    later = attacked(plain, asked_for(), attack(plain, asked_for(), Context()))
    told = later.as_json()["attacks"][-1]
    assert told["control"] == 0.25
    assert told["corrected"] == pytest.approx(1 / 3)
    assert told["classes_hit"] == [0]
    assert told["details"][0]["rows"][0]["known"] == 0
    assert "asked-for" not in later.as_json()["attacks_not_run"]


def test_what_does_not_apply_is_refused(asked_for: type[Attack]) -> None:
    plan = Plan.from_mapping({**RECIPE, "roles": {"quasi": ["age"], "insensitive": ["ill"]}})
    result = run(plan, TABLE)
    with pytest.raises(BadPlan, match="Asked for cannot be run on this release: It needs a secret"):
        attack(result, asked_for(), Context())
