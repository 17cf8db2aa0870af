"""The second computation of differential privacy: its own figures, and what it finds."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from anon_core.methods.differential_privacy.account import delta_of, least_size, sample_rule
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from anon_core.verification.findings import Verification
from anon_core.verification.models.differential_privacy import least_of, share_of
from tests.making import Case

NAME = "differential-privacy"
CASE = Case(
    columns={
        "q": [str(v) for v in np.random.default_rng(5).choice([*"abcd"], 600)],
        "r": [None if v == 3 else str(v) for v in np.random.default_rng(6).choice(4, 600)],
    },
    quasi=("q", "r"),
    kinds={"q": "text", "r": "number"},
    levels={
        "q": [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")],
        "r": [("0", "low", "*"), ("1", "low", "*"), ("2", "high", "*"), ("9", "high", "*")],
    },
)
BUDGET = {"name": NAME, "epsilon": 1.0, "delta": 0.001}


def made(**given: object) -> tuple[dict[str, Any], Mapping[str, bytes]]:
    """Return a completed recipe and the files of its release."""
    algorithm = {"name": "safepub", "fixed_rules": True, **given}
    plan = CASE.plan(algorithm=algorithm, models=[BUDGET])
    result = run(plan, CASE.dataset, CASE.levels, assess=False)
    return copy.deepcopy(plan.completed()), dict(result.files)


def verified(recipe: dict[str, Any], files: Mapping[str, bytes]) -> Verification:
    return verify(recipe, CASE.frame, CASE.levels, files)


def sentences(found: Verification, *, broken: bool = False) -> str:
    checks = [c for c in found.checks if c.name == NAME and (not broken or not c.holds)]
    return "\n".join(check.sentence for check in checks)


# ---- figures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "0.5", "0.75", "1", "2", "4", "7"])
def test_both_computations_find_the_same_share_and_size(epsilon: str) -> None:
    """One sums decimals over sizes of samples, the other asks scipy over sizes of tables."""
    for most in ("1", "0.3"):
        for delta in ("0.1", "0.0123", "1e-4", "1e-6", "1e-9", "1e-15", "1e-30"):
            share, gamma = share_of(F(epsilon), F(most))
            rule = sample_rule(F(epsilon), F(delta), F(most))
            assert share == rule.share
            assert least_of(share, gamma, F(delta)) == rule.least


def test_a_tie_counts_against_the_release() -> None:
    """With these shares δ(10) is 189/4096 to the last digit; no float may let it pass."""
    share, gamma = F(1, 2), F(3, 4)
    assert delta_of(10, share, gamma) == F(189, 4096)
    assert least_size(share, gamma, F(189, 4096))[0] <= 10
    found = least_of(share, gamma, F(189, 4096))
    assert found is not None
    assert found >= least_size(share, gamma, F(189, 4096))[0]


@pytest.mark.parametrize("exponent", ["0.001", "1", "3.7", "10"])
def test_the_exponential_is_taken_from_above_and_near(exponent: str) -> None:
    share, gamma = share_of(F(exponent), F(1))
    taken = (1 - gamma) / (1 - share)
    with localcontext() as exact:
        exact.prec = 200
        true = F((-Decimal(exponent)).exp())
    assert true < taken < true * (1 + F(1, 10**100))


# ---- what it finds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [{"levels": {"q": 1, "r": 1}}, {"levels": {"q": 0}}, {"levels_epsilon": 0.4}]
)
def test_a_release_holds_with_its_secret_and_is_undecided_without(given: dict[str, object]) -> None:
    recipe, files = made(**given)
    found = verified(recipe, files)
    assert found.holds, sentences(found, broken=True)
    assert "cannot be read off the published files" in sentences(found)
    assert "trusted with the table" in sentences(found)
    assert "whether it was cannot be recomputed" in sentences(found)
    assert "Drawn again from the secret" in sentences(found)
    del recipe["seed"]
    again = verified(recipe, files)
    assert not again.broken
    assert not again.holds
    (left,) = again.unchecked
    assert "the sample was not drawn again" in left.sentence


def test_the_missing_value_is_a_value_of_its_own_below_the_top() -> None:
    recipe, files = made(levels={"q": 2, "r": 1})
    shown = {line.split(",")[1] for line in files["release.csv"].decode().splitlines()[1:]}
    assert shown == {"low", "high", ""}
    assert verified(recipe, files).holds


def test_a_row_more_or_less_is_not_the_sample() -> None:
    recipe, files = made(levels={"q": 1, "r": 1})
    header, *rows = files["release.csv"].decode().splitlines(keepends=True)
    for changed in ([rows[0], *rows], rows[1:]):
        found = verified(recipe, {"release.csv": "".join([header, *changed]).encode()})
        assert "the sample has other classes" in sentences(found, broken=True)


def test_other_levels_than_named_are_found() -> None:
    recipe, files = made(levels={"q": 1, "r": 1})
    recipe["algorithm"]["levels"] = {"q": 1, "r": 0}
    assert "not published at one level" in sentences(verified(recipe, files), broken=True)


def test_a_smaller_delta_asks_for_larger_classes() -> None:
    recipe, files = made(levels={"q": 1, "r": 1})
    recipe["models"][0]["delta"] = 1e-30
    found = sentences(verified(recipe, files), broken=True)
    assert "for ε = 1 and δ = 1e-30 is broken" in found


@pytest.mark.parametrize(
    ("table", "key", "value", "words"),
    [
        ("release", "rows", "all", "No row is drawn by chance"),
        ("algorithm", "levels_epsilon", 1.0, "No budget is left for the rows"),
        ("algorithm", "levels_epsilon", "0", "levels_epsilon is not a number"),
        ("algorithm", "share", True, "share is not a number"),
        ("algorithm", "share", 1e-30, "none is drawn"),
        ("algorithm", "fixed_rules", 1, "does not confirm"),
        ("algorithm", "levels", {"q": 0, "r": 1}, "not published at one level"),
        ("models", "epsilon", 0, "epsilon is not a number that is allowed"),
        ("models", "delta", 1, "delta is not a number that is allowed"),
    ],
)
def test_a_recipe_that_guarantees_nothing_is_not_waved_through(
    table: str, key: str, value: object, words: str
) -> None:
    recipe, files = made(levels={"q": 1, "r": 1})
    target = recipe["models"][0] if table == "models" else recipe[table]
    target[key] = value
    assert words in sentences(verified(recipe, files), broken=True)


def test_columns_beside_the_classes_are_found() -> None:
    recipe, files = made(levels={"q": 1, "r": 1})
    recipe["roles"] |= {"quasi": ["q"], "insensitive": ["r"]}
    assert "row by row with the classes" in sentences(verified(recipe, files), broken=True)
