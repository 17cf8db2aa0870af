"""A missing sensitive value makes nothing diverse: one diagnosis and one gap tell the diagnosis."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.errors import Infeasible, NotFound
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify
from tests.often import times

MODELS: list[dict[str, Any]] = [
    {"name": "entropy-l-diversity", "l": 2},
    {"name": "recursive-l-diversity", "c": 3, "l": 2},
    {"name": "alpha-k-anonymity", "alpha": 0.5, "k": 2},
    {"name": "background-bound", "factor": 2},
    {"name": "l-diversity", "l": 2},
    {"name": "frequency-l-diversity", "l": 2},
]


def table(ages: list[str], ills: list[str]) -> Dataset:
    return Dataset.from_frame(pd.DataFrame({"age": ages, "ill": ills}))


def plan(model: dict[str, Any], algorithm: str = "optimal", **more: object) -> Plan:
    return Plan.from_mapping(
        {
            "roles": {"quasi": ["age"], "sensitive": ["ill"]},
            "algorithm": {"name": algorithm, **more},
            "models": [model],
        }
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
def test_one_diagnosis_and_one_gap_are_not_diverse(model: dict[str, Any]) -> None:
    with pytest.raises(Infeasible):
        run(plan(model), table(["1", "1"], ["flu", ""]))


def kept(model: dict[str, Any], group: list[str]) -> bool:
    """Say by definition whether a group keeps a promise; a missing value is none."""
    counts = sorted((group.count(v) for v in set(group) - {""}), reverse=True)
    known = sum(counts)
    if not known:
        return False
    match model["name"]:
        case "entropy-l-diversity":
            nats = -sum(c / known * math.log(c / known) for c in counts)
            return nats >= math.log(model["l"]) - 1e-12
        case "recursive-l-diversity":
            return counts[0] < model["c"] * sum(counts[model["l"] - 1 :])
        case "alpha-k-anonymity":
            return len(group) >= model["k"] and counts[0] <= model["alpha"] * known
        case "background-bound":
            return counts[0] <= model["factor"] * sum(counts[2:])
        case "l-diversity":
            return len(counts) >= model["l"]
        case _:
            return counts[0] * model["l"] <= known


@pytest.mark.often
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_what_is_released_keeps_it_and_what_is_refused_could_not(
    model: dict[str, Any], algorithm: str
) -> None:
    released = refused = 0
    row = st.tuples(st.sampled_from("123"), st.sampled_from([*"aabbcc", "", ""]))

    @settings(max_examples=times(72))
    @given(rows=st.lists(row, min_size=2, max_size=8))
    def tried(rows: list[tuple[str, str]]) -> None:
        nonlocal released, refused
        ages, ills = (list(own) for own in zip(*rows, strict=True))
        try:
            result = run(plan(model, algorithm), table(ages, ills), assess=False)
        except (Infeasible, NotFound):
            refused += 1
            assert not kept(model, ills)  # everyone in one class is always a choice
            return
        released += 1
        shown = result.published.to_pandas().astype(object)
        shown = shown.where(shown.notna(), "")
        for _, group in shown.groupby("age")["ill"]:
            assert kept(model, group.tolist())

    tried()
    assert released > 1
    assert refused > 1


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
def test_a_file_that_was_made_otherwise_is_broken(model: dict[str, Any]) -> None:
    private = pd.DataFrame({"age": ["1", "1"], "ill": ["flu", ""]})
    found = verify(plan(model).completed(), private, {}, {"release.csv": b"age,ill\n1,\n1,flu\n"})
    assert [c.name for c in found.checks if not c.holds and c.name == model["name"]]
