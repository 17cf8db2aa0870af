"""Changes of random tables: made again by plain code, whatever the order of rows."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify
from tests.often import times

SEED = "f3a1952b7c08de4609b8c7d6e5f4a3b2109b8c7d6e5f4a3b2177e01c5a9d2b4f"
KEY = bytes(range(32))
BAGS = "p: u, v\nq: w, x\nr: y, z\ns: q, r"
EVERY: list[dict[str, Any]] = [
    {"name": "pseudonym", "columns": ["id"]},
    {"name": "pseudonym", "columns": ["id"], "form": "kept", "alphabet": "capital"},
    {"name": "constant", "columns": ["id"]},
    {"name": "date-shift", "columns": ["day"], "by": "id", "weeks": True},
    {"name": "swapping", "columns": ["ill"], "share": 0.6},
    {"name": "swapping", "columns": ["a", "ill"], "share": 1.0, "strata": ["sex"]},
    {"name": "rank-swapping", "columns": ["a", "b", "day"], "p": 10.0},
    {"name": "additive-noise", "columns": ["a", "c"], "noise": "uncorrelated"},
    {"name": "additive-noise", "columns": ["a", "c"], "restore": "expected", "decimals": 2},
    {"name": "additive-noise", "columns": ["a", "c"], "restore": "exact", "decimals": 1},
    {"name": "additive-noise", "columns": ["b"], "alpha": 0.4},
    {"name": "multiplicative-noise", "columns": ["a", "b"], "decimals": 1},
    {"name": "multiplicative-noise", "columns": ["b"], "mask": "ring"},
    {"name": "pram", "columns": ["ill", "sex"], "keep": 0.6},
    {"name": "pram", "columns": ["ill"], "kind": "invariant", "mix": 0.5},
    {"name": "pram", "columns": ["sex"], "matrix": "f: 2/3, 1/3\nm: 0.25, 0.75"},
    {"name": "item-generalization", "columns": ["bag"], "k": 3, "m": 2},
    {"name": "item-generalization", "columns": ["bag"], "k": 4, "m": 2, "tree": BAGS},
    {"name": "condensation", "columns": ["a", "c"], "k": 4, "decimals": 2},
    {"name": "condensation", "columns": ["a"], "k": 3, "within": "sex"},
    {"name": "condensation", "columns": ["c", "a"], "k": 3, "growing": True, "decimals": 2},
    {"name": "condensation", "columns": ["c"], "k": 5, "growing": True, "within": "sex"},
]


def table(seed: int) -> pd.DataFrame:
    """Return a table with ties, equal rows, numbers spelled in several ways, and gaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 90))
    gaps = rng.random((n, 2)) < 0.1
    a = rng.integers(-9, 30, n)
    return pd.DataFrame(
        {
            "id": [f"K-{i:03}" for i in range(n)],
            "sex": [*"ffffmmmm", *rng.choice(["f", "m"], n - 8)],
            "a": [str(v) for v in a],
            "b": [
                None if g else f"{v:g}"
                for v, g in zip(rng.integers(1, 60, n) / 4, gaps[:, 0], strict=True)
            ],
            "c": [f"{v:.1f}" for v in a * 2 + rng.normal(0, 3, n)],
            "ill": [
                None if g else v
                for v, g in zip(rng.choice(["x", "y", "z"], n), gaps[:, 1], strict=True)
            ],
            "bag": ["|".join(rng.choice([*"uvwxyz"], rng.integers(1, 4))) for _ in range(n)],
            "day": [f"20{rng.integers(10, 30)}-0{rng.integers(1, 9)}-11" for _ in range(n)],
        }
    )


def carried_out(frame: pd.DataFrame, change: dict[str, Any]) -> Result:
    plan = Plan.from_mapping(
        {
            "seed": SEED,
            "roles": {
                "identifier": ["id"],
                "quasi": ["sex", "a", "b", "c"],
                "sensitive": ["ill", "day", "bag"],
                "insensitive": [],
            },
            "algorithm": {"name": "as-is"},
            "models": [],
            # What replaces no value is made next to something that does.
            "changes": [change]
            + ([] if {"a", "b", "ill", "sex", "day"} & {*change["columns"]} else [SWAPS]),
        }
    )
    return run(replace(plan, key=KEY), Dataset.from_frame(frame), assess=False)


SWAPS = {"name": "swapping", "columns": ["ill"]}


@pytest.mark.often
@pytest.mark.parametrize("change", EVERY, ids=lambda c: f"{c['name']}-{'-'.join(c['columns'])}")
def test_a_change_is_made_again_by_plain_code_whatever_the_order_of_rows(
    change: dict[str, Any],
) -> None:
    for seed in range(times(3)):
        frame = table(seed)
        result = carried_out(frame, change)
        assert result.verification.holds
        shuffled = frame.sample(frac=1, random_state=seed)
        assert carried_out(shuffled, change).files == result.files
        (name,) = (n for n in result.files if n.endswith(".csv"))
        made = pd.read_csv(io.BytesIO(result.files[name]), dtype="str", keep_default_na=False)
        for column in set(frame) & set(made):
            same = sorted(made[column]) == sorted(frame[column].fillna(""))
            kept = (
                change["name"] in ("swapping", "rank-swapping") or column not in change["columns"]
            )
            assert same or not kept, column
            if change["name"] != "constant":  # missing stays missing, and nothing else is
                assert (made[column] == "").sum() == frame[column].isna().sum() or (
                    change["name"] == "pram"
                )


@pytest.mark.parametrize("change", EVERY, ids=lambda c: f"{c['name']}-{'-'.join(c['columns'])}")
def test_another_seed_key_or_cell_is_noticed(change: dict[str, Any]) -> None:
    frame = table(11)
    result = carried_out(frame, change)
    recipe = result.plan.of_kinds(result.kinds).completed()
    given = frame, {}, dict(result.files)

    def holds(settings: dict[str, Any], files: dict[str, bytes], key: bytes = KEY) -> bool:
        return verify(settings, frame, {}, files, key=key).holds

    assert holds(recipe, result.files)
    other = {**recipe, "seed": SEED[::-1]}
    assert holds(other, result.files) == (not result.plan.draws)
    keyed = any(one.change.effect.needs_key for one in result.plan.changes)
    assert holds(recipe, result.files, bytes(32)) == (not keyed)
    (name,) = (n for n in given[2] if n.endswith(".csv"))
    lines = result.files[name].decode().splitlines(keepends=True)
    at = lines[0].strip().split(",").index(change["columns"][0])
    cells = lines[5].rstrip("\r\n").split(",")
    cells[at] = lines[9].rstrip("\r\n").split(",")[at] + "7"
    lines[5] = ",".join(cells) + lines[5][len(lines[5].rstrip("\r\n")) :]
    assert not holds(recipe, {name: "".join(lines).encode()})


def test_what_a_change_draws_has_nothing_in_common_with_another_tables() -> None:
    one, two = table(1), table(2).iloc[: len(table(1))]
    change = {"name": "additive-noise", "columns": ["a"], "decimals": 3}
    noise: list[list[float]] = []
    for frame in (one, two):
        result = carried_out(frame, change)
        before, now = result.problem.before, result.problem.dataset
        assert before is not None
        was, values = before.columns["a"], now.column("a")
        assert was.measure is not None
        assert values.measure is not None
        size = np.std(was.measure[was.codes])
        noise.append(((values.measure[values.codes] - was.measure[was.codes]) / size).tolist())
    few = min(map(len, noise))
    assert abs(np.corrcoef(sorted(noise[0][:few]), noise[1][:few])[0, 1]) < 0.9
    assert noise[0][:few] != noise[1][:few]


def test_groups_that_grow_from_many_equal_rows_are_made_again() -> None:
    rng = np.random.default_rng(5)
    frame = pd.concat([table(0)] * 12, ignore_index=True)
    frame["id"] = [str(i) for i in range(len(frame))]
    frame["a"] = rng.integers(0, 6, len(frame)).astype(str)
    frame["c"] = rng.integers(0, 4, len(frame)).astype(str)
    change = {"name": "condensation", "columns": ["a", "c"], "k": 3, "growing": True}
    assert carried_out(frame, change).verification.holds
