"""Secrets: drawn from the operating system, spelled in recipes, and refused where they are none."""

from __future__ import annotations

import secrets
import subprocess
import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as of
from hypothesis import strategies as st

from anon_core.base import secret
from anon_core.base.errors import BadPlan
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.random_streams import chances
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification import recipe as second
from anon_core.verification.rows import tables
from tests.making import PATIENTS

RECIPE = """
[roles]
quasi = ["age"]
sensitive = ["illness"]
[algorithm]
name = "bucketization"
[[models]]
name = "bucket-size"
k = 2
"""


def test_a_seed_is_256_bits_of_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret, "secrets", secrets)
    drawn = [secret.draw() for _ in range(64)]
    assert len(set(drawn)) == 64
    # Every bit is now 0 and now 1: one in 2**55 draws of them would not be.
    assert np.bitwise_or.reduce([n ^ drawn[0] for n in drawn]) == (1 << 256) - 1
    assert all(secret.is_secret(n) for n in drawn)


def test_every_start_draws_another_seed() -> None:
    code = "from anon_core import Plan; import sys; print(Plan.from_toml(sys.argv[1]).seed)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code, RECIPE], check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 2
    assert all(int(text) > 1 << 200 for text in found)


def test_a_plan_without_a_seed_draws_one_and_keeps_it() -> None:
    one, other = Plan.from_toml(RECIPE), Plan.from_toml(RECIPE)
    assert one.seed != other.seed
    assert one != other
    written = tomllib.loads(one.as_toml())["seed"]
    assert written == f"{one.seed:064x}"
    assert Plan.from_toml(one.as_toml()) == one
    plain = Plan(roles=one.roles, algorithm=one.algorithm, models=one.models)
    assert secret.is_secret(plain.seed)


def test_a_plan_does_not_show_its_seed() -> None:
    plan = Plan.from_toml(RECIPE)
    assert str(plan.seed) not in repr(plan)
    assert f"{plan.seed:x}" not in repr(plan)


@pytest.mark.parametrize("seed", [0, 7, 31337, (1 << 128) - 1, 1 << 128, (1 << 256) - 1])
def test_a_seed_comes_back_from_its_spelling(seed: int) -> None:
    assert secret.parse(secret.spell(seed)) == seed
    assert second.seed_of(secret.spell(seed)) == seed
    assert isinstance(secret.spell(seed), str) == (seed >= secret.ENOUGH)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 64, "f" * 33, "0" * 31 + "1" + "0" * 32, "0" * 31 + "1" + f"{31337:032x}",
        "deadbeef" * 8, "0123456789abcdef" * 4, "1234567890" * 4,
    ],
)  # fmt: skip
def test_a_long_seed_that_somebody_made_up_is_refused(text: str) -> None:
    plan = Plan.from_toml(f'seed = "{text}"\n{RECIPE}')
    with pytest.raises(BadPlan, match="found by trying"):
        plan.refuse_guessable()
    assert second.is_guessable(plan.seed)


def test_what_is_drawn_is_never_refused() -> None:
    drawn = [secret.draw() for _ in range(2000)]
    assert all(secret.is_secret(seed) for seed in drawn)
    assert not any(second.is_guessable(seed) for seed in drawn)


@of(st.text("0123", min_size=1, max_size=12), st.integers(1, 64), st.integers(0, 1 << 16))
def test_both_computations_refuse_the_same_seeds(part: str, times: int, other: int) -> None:
    for text in ((part * times)[:64], (part * times + f"{other:x}")[-64:]):
        seed = int(text, 16)
        assert secret.is_secret(seed) != second.is_guessable(seed)


def test_both_computations_take_the_same_texts_and_draw_the_same_numbers() -> None:
    for given in ("7", "F" * 64, "00ff", 7):
        assert secret.parse(given) == second.seed_of(given)
    for seed in (0, 1 << 255):
        one, other = secret.stream(seed, "sample"), tables.random_of(seed, "sample")  # pyright: ignore[reportPrivateUsage]
        assert one.permutation(50).tolist() == other.permutation(50).tolist()


def test_numbers_for_different_purposes_are_drawn_apart() -> None:
    seed = 1 << 200
    purposes = [("search",), ("publish",), ("search", "a"), ("search", "a", "b"), ("search", "ab")]
    drawn = [secret.stream(seed, *purpose).integers(1 << 62) for purpose in purposes]
    assert len(set(drawn)) == len(drawn)
    assert secret.stream(seed, "search").integers(1 << 62) == drawn[0]
    assert secret.stream(seed + 1, "search").integers(1 << 62) != drawn[0]


def test_a_seed_used_again_permutes_another_table_anew() -> None:
    """Two releases of one seed cannot be laid over each other."""
    plan = PATIENTS.plan(
        algorithm={"name": "bucketization"}, models=[{"name": "bucket-size", "k": 2}]
    )
    other = PATIENTS.plan(
        algorithm={"name": "bucketization"}, models=[{"name": "bucket-size", "k": 3}]
    )
    assert plan.seed == other.seed
    problem = prepare(plan, PATIENTS.dataset, PATIENTS.levels)
    ill: dict[str, list[str | None]] = {"illness": ["flu"] * 6}
    next_month = replace(PATIENTS, columns=PATIENTS.columns | ill)
    drawn = [
        tuple(source.permutation(50).tolist())
        for chance in (
            chances(plan, problem),
            chances(other, problem),
            chances(plan, prepare(plan, next_month.dataset, next_month.levels)),
        )
        for source in (chance.search, chance.measure, chance.publish)
    ]
    assert len(set(drawn)) == 9
    again = chances(plan, problem)
    assert tuple(again.search.permutation(50).tolist()) == drawn[0]


@pytest.mark.parametrize("seed", [0, 7, 31337, (1 << 63) - 1, (1 << 128) - 1])
def test_chance_from_a_seed_that_can_be_found_is_refused_before_the_search(seed: int) -> None:
    plan = Plan.from_toml(f'seed = "{seed:x}"\n{RECIPE}')
    assert plan.seed == seed  # an old recipe still opens
    with pytest.raises(BadPlan, match="found by trying") as refused:
        run(plan, PATIENTS.dataset)
    assert "Bucketization" in refused.value.message
    assert "Leave the seed out" in refused.value.remedy
    with pytest.raises(BadPlan, match="The sample depends on chance"):
        run(PATIENTS.plan(seed=f"{seed:x}", data={"sample": 0.9}), PATIENTS.dataset)


def test_what_draws_nothing_runs_with_an_old_seed() -> None:
    old = PATIENTS.plan(seed="7")
    assert old.seed == 7
    assert old.as_mapping()["seed"] == 7
    one = run(old, PATIENTS.dataset, PATIENTS.levels)
    assert one.files == run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels).files
