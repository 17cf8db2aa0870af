"""What a publisher earns: PE-31 to PE-33, through whole runs on the table of `test_preferences`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import BadPlan, Infeasible
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.payout import size_without_attack
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.techniques.metrics.payout import Payout
from anon_core.verification.checks import verify
from tests.golden.test_preferences import CASE, LEVELS, QUASI, ROWS

AMOUNTS = {"benefit": 200.0, "loss": 300.0, "gain": 300.0, "cost": 100.0}


def released(levels: tuple[int, ...], amounts: dict[str, float] = AMOUNTS, **more: Any) -> Result:
    fixed = {"name": "fixed-levels", "levels": dict(zip(QUASI, levels, strict=True))}
    plan = CASE.plan(
        algorithm=fixed,
        models=[{"name": "maximum-risk", "risk": 1.0}],
        metrics=[{"name": "payout", **amounts}],
    )
    return run(plan, CASE.dataset, LEVELS, **more)


def test_pe_31_what_each_class_pays() -> None:
    found = released((0, 1, 1))
    measure = found.measures["payout"]
    assert measure.per_class is not None
    cells = [found.release.vocabularies[n].texts for n in QUASI]
    codes = [found.release.cells[n] for n in QUASI]
    shown = zip(*([t[c] for c in own] for t, own in zip(cells, codes, strict=True)), strict=True)
    sizes = found.release.grouping.sizes.tolist()
    each = dict(zip(shown, zip(sizes, measure.per_class, strict=True), strict=True))
    assert each == {
        ("F", "30s", "A"): (3, pytest.approx(118.482, abs=5e-4)),
        ("M", "40s", "A"): (2, pytest.approx(-31.518, abs=5e-4)),
        ("M", "40s", "B"): (1, pytest.approx(-140.759, abs=5e-4)),
        ("F", "50s", "B"): (2, pytest.approx(50.0)),
        ("M", "50s", "A"): (1, pytest.approx(-140.759, abs=5e-4)),
        ("M", "30s", "A"): (1, pytest.approx(-181.518, abs=5e-4)),
        ("F", "40s", "A"): (2, pytest.approx(-31.518, abs=5e-4)),
    }
    assert measure.also["payout of the rows that pay"] == pytest.approx(455.4459, abs=5e-5)
    assert measure.also["rows that do not pay"] == 7
    assert measure.value == pytest.approx(sum(n * pay for n, pay in each.values()))
    assert measure.share == 1  # it costs more than it earns
    assert figures_of(found)["metric_forms"]["payout"] == dict(measure.also)


@pytest.mark.parametrize(
    ("levels", "total"), [((0, 0, 0), 300.0), ((1, 1, 1), 640.2658), ((0, 2, 1), 581.4135)]
)
def test_pe_32_other_nodes(levels: tuple[int, ...], total: float) -> None:
    measure = released(levels).measures["payout"]
    assert measure.also["payout of the rows that pay"] == pytest.approx(total, abs=5e-5)


@pytest.mark.parametrize(("cost", "least"), [(4, 75), (100, 3), (7, 43)])
def test_pe_33_no_attack_is_k_anonymity(cost: float, least: int) -> None:
    """From ⌈G/C⌉ people on no attack pays."""
    assert size_without_attack(300, cost) == least
    people = np.array([least - 1, least])
    worst = Payout(benefit=0.0, loss=300, gain=300, cost=cost).of_rows(np.zeros(2), people)
    assert worst == pytest.approx([-300 / (least - 1), 0])
    measure = released((0, 1, 1), {**AMOUNTS, "cost": cost}).measures["payout"]
    assert measure.also["least class that no one attacks"] == least


PAYS = {"name": "profitability", **AMOUNTS}


@pytest.mark.parametrize(
    ("levels", "total"),
    [((0, 1, 1), 455.4459), ((0, 0, 0), 300.0), ((1, 1, 1), 640.2658), ((0, 2, 1), 581.4135)],
)
def test_pe_31_and_32_as_a_privacy_model(levels: tuple[int, ...], total: float) -> None:
    """Rows that do not pay are removed; the second computation finds the same."""
    fixed = {"name": "fixed-levels", "levels": dict(zip(QUASI, levels, strict=True))}
    plan = CASE.plan(
        algorithm={**fixed, "max_suppression": 1.0},
        models=[PAYS],
        metrics=[{"name": "payout", **AMOUNTS}],
    )
    found = run(plan, CASE.dataset, LEVELS)
    measure, (verdict,) = found.measures["payout"], found.verdicts
    assert measure.value == pytest.approx(total, abs=5e-5)
    assert measure.also["rows that do not pay"] == 0
    assert measure.per_class is not None
    assert verdict.reached == pytest.approx(measure.per_class.min())
    (check,) = [c for c in found.verification.checks if c.name == "profitability"]
    assert (check.outcome, check.reached) == ("holds", pytest.approx(verdict.reached))
    assert found.verification.holds
    gone = released(levels).measures["payout"].also["rows that do not pay"]
    assert found.release.suppressed == gone
    dear = found.recipe.completed() | {"models": [{**PAYS, "loss": 3000.0, "gain": 1e6}]}
    (other,) = [
        c for c in verify(dear, CASE.frame, LEVELS, dict(found.files)).checks
        if c.name == "profitability"
    ]  # fmt: skip
    assert other.outcome == "broken"


def test_the_best_node_where_every_row_has_to_pay() -> None:
    """Of all nodes; none is decided by another."""
    plan = CASE.plan(algorithm={"name": "optimal"}, models=[PAYS])
    found = run(plan, CASE.dataset, LEVELS)
    assert found.account.proven
    each = {levels: released(levels) for levels in itertools.product(range(2), range(3), range(3))}
    paying = {
        levels: one.measures["loss"].value
        for levels, one in each.items()
        if not one.measures["payout"].also["rows that do not pay"]
    }
    assert found.measures["loss"].value == min(paying.values())
    assert 0 < len(paying) < 18


@pytest.mark.parametrize(
    ("model", "algorithm", "error", "said"),
    [
        ({"benefit": 0.0}, "optimal", BadPlan, "no benefit is stated"),
        ({"loss": 1e6, "gain": 1e6}, "optimal", Infeasible, "even a row as it is"),
        ({}, "mondrian", BadPlan, "one level per column"),
    ],
)
def test_amounts_and_techniques_that_cannot_be(
    model: dict[str, float], algorithm: str, error: type[Exception], said: str
) -> None:
    plan = CASE.plan(algorithm={"name": algorithm}, models=[{**PAYS, **model}])
    with pytest.raises(error) as refused:
        run(plan, CASE.dataset, LEVELS)
    assert said in f"{refused.value} {getattr(refused.value, 'remedy', '')}"


def test_people_of_a_register_hide_a_row() -> None:
    kinds: Any = dict.fromkeys(QUASI, "text")
    twice = Dataset.from_frame(pd.DataFrame([*ROWS, *ROWS], columns=list(QUASI)), kinds=kinds)
    alone, among = (
        released((0, 1, 1), population=people).measures["payout"] for people in (None, twice)
    )
    assert alone.per_class is not None
    assert among.per_class is not None
    lost = 300 / released((0, 1, 1)).release.grouping.sizes
    attacked = released((0, 1, 1)).release.grouping.sizes < 2
    gained = np.where(attacked, lost / 2, np.where(lost > 100, lost, 0))
    assert among.per_class - alone.per_class == pytest.approx(gained)


def test_an_attack_that_costs_nothing_and_no_amounts() -> None:
    free = released((0, 1, 1), {**AMOUNTS, "cost": 0.0}).measures["payout"]
    assert "least class that no one attacks" not in free.also
    assert free.value < released((0, 1, 1)).measures["payout"].value
    calm = released((0, 0, 0), {"benefit": 200.0}).measures["payout"]
    assert (calm.value, calm.share) == (2400, 0)
    assert "payout" not in released((0, 0, 0), {"benefit": 0.0}).measures
