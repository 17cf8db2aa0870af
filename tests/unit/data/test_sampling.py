"""Publishing a sample: who is drawn, what is counted, and that it is drawn again to verify."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anon_core.base.errors import BadPlan
from anon_core.data.sampling import sampled
from anon_core.data.table import Dataset
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify
from tests.making import PATIENTS, Case, random_case, secret
from tests.often import times


def released(case: Case, share: float, seed: int = 0, **given: Any) -> Result:
    plan = case.plan(seed=seed, data={"sample": share}, **given)
    return run(plan, case.dataset, case.levels)


def texts(dataset: Dataset) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(dataset.column(n).texts().tolist() for n in dataset.names), strict=True))


def test_a_sample_is_part_of_the_table_and_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(54)
    for _ in range(40):
        case = random_case(rng)
        size = len(case.rows)
        share = float(rng.uniform(0.3, 1))
        mixed = rng.permutation(size)
        other = replace(case, columns={n: [c[i] for i in mixed] for n, c in case.columns.items()})
        names = case.dataset.names
        one, two = (sampled(c.dataset, names, share, seed=3) for c in (case, other))
        assert one.rows == two.rows == int(share * size)
        assert one.undrawn == size - one.rows
        assert texts(one) == texts(two) <= texts(case.dataset)


def test_the_spelling_of_a_number_does_not_depend_on_which_row_is_drawn() -> None:
    rng = np.random.default_rng(5)
    case = Case(
        columns={"q": ["3", "4"] * 8, "s": ["1"] * 6 + ["1.0"] * 6 + ["2", "2", None, None]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "number", "s": "number"},
    )
    for seed in range(20):
        mixed = rng.permutation(16)
        other = replace(case, columns={n: [c[i] for i in mixed] for n, c in case.columns.items()})
        one, two = (sampled(c.dataset, ("q", "s"), 0.2, seed) for c in (case, other))
        assert texts(one) == texts(two)
        assert "1.0" not in one.column("s").values
        # Who is behind which row is drawn again too: averages are recomputed from it.
        algorithm = {"name": "microaggregation"}
        assert released(other, 0.5, seed, algorithm=algorithm).verification.holds


def test_everyone_is_drawn_equally_often_and_seeds_differ() -> None:
    case = Case(columns={"q": [str(i) for i in range(10)]}, quasi=("q",), kinds={"q": "number"})
    drawn_times: Counter[str] = Counter()
    for seed in range(2_000):
        drawn = sampled(case.dataset, ("q",), 0.3, seed)
        drawn_times.update(str(t) for t in drawn.column("q").texts().tolist())
    assert sum(drawn_times.values()) == 6_000
    # 600 each is expected, with a standard deviation of 20.5.
    assert all(abs(count - 600) < 5 * 20.5 for count in drawn_times.values())


@pytest.mark.parametrize(
    ("share", "rows", "size"),
    [(0.29, 100, 29), (0.5, 5, 2), (1.0, 7, 7), (1 / 3, 30, 10), (2 / 3, 12, 8), (0.3333, 30, 9)],
)
def test_shares_are_rounded_down_exactly_and_alike_by_both_computations(
    share: float, rows: int, size: int
) -> None:
    case = Case(columns={"q": ["a"] * rows}, quasi=("q",))
    assert sampled(case.dataset, ("q",), share, 0).rows == size
    assert released(case, share).verification.facts["table_rows"] == size


def test_a_sample_without_rows_is_refused() -> None:
    case = Case(columns={"q": ["a"] * 9}, quasi=("q",))
    with pytest.raises(BadPlan, match="of 9 rows has no row"):
        sampled(case.dataset, ("q",), 0.1, 0)


@pytest.mark.parametrize("bad", [0, -0.1, 1.5, True, "0.1", float("nan")])
def test_what_is_no_share_is_refused(bad: object) -> None:
    with pytest.raises(BadPlan, match=r"\[data\] sample"):
        PATIENTS.plan(data={"sample": bad})
    recipe = PATIENTS.plan().as_mapping() | {"data": {"sample": bad}}
    with pytest.raises(BadPlan, match="sample is not a share"):
        verify(recipe, PATIENTS.frame, PATIENTS.levels, {"release.csv": b"age,zip,illness,note\n"})


def test_a_recipe_keeps_its_sample() -> None:
    plan = PATIENTS.plan(data={"sample": 0.25})
    assert Plan.from_toml(plan.as_toml()).data.sample == 0.25
    assert PATIENTS.plan().data.sample == 1


@pytest.mark.often
@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "optimal", "max_suppression": 0.3},
        {"name": "mondrian"},
        {"name": "microaggregation"},
        {"name": "anatomy"},
        {"name": "permutation", "partition": "mondrian"},
    ],
)
@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_every_kind_of_release_of_a_sample_is_verified(
    algorithm: dict[str, object], missing: str
) -> None:
    rng = np.random.default_rng(61)
    permutes = algorithm["name"] in ("anatomy", "permutation")
    promise: dict[str, object] = {"name": "k-anonymity", "k": 2}
    if permutes:
        promise = {"name": "frequency-l-diversity", "l": 2, "column": "s0"}
    for seed in range(times(6, share=2)):
        case = random_case(rng, rows=40, quasi=2)
        if permutes:  # it needs many different values, none of them common
            case = replace(case, columns=case.columns | {"s0": [str(i % 9) for i in range(40)]})
        plan = case.plan(
            seed=seed,
            data={"sample": 0.7, "missing": missing},
            algorithm=algorithm,
            models=[promise],
        )
        result = run(plan, case.dataset, case.levels)
        assert result.verification.holds
        data = result.problem.dataset
        assert data.rows + data.undrawn + data.dropped == 40
        assert data.rows == int(0.7 * (40 - data.dropped))
        assert result.published.num_rows + result.release.suppressed == data.rows
        figures = figures_of(result)
        assert (figures["rows"], figures["not_drawn"]) == (data.rows, data.undrawn)
        assert "sample" in {c.name for c in result.verification.checks}


def test_rows_that_were_not_drawn_are_found_in_a_release() -> None:
    case = Case(
        columns={"q": ["a"] * 20, "s": [str(i) for i in range(20)]},
        quasi=("q",),
        sensitive=("s",),
    )
    result = released(case, 0.5, seed=1)
    files = dict(result.files)
    recipe = result.plan.completed()
    assert verify(recipe, case.frame, case.levels, files).holds
    other = verify(recipe | {"seed": f"{secret(2):064x}"}, case.frame, case.levels, files)
    assert {check.name for check in other.broken} == {"coverage"}
    whole = released(case, 1.0)
    found = verify(recipe, case.frame, case.levels, dict(whole.files))
    assert "rows" in {check.name for check in found.broken}


def test_without_its_seed_a_sample_is_not_verified() -> None:
    result = released(PATIENTS, 0.9)
    recipe, given = result.plan.completed(), (PATIENTS.frame, PATIENTS.levels, result.files)
    assert verify(recipe, *given).holds
    seed = recipe.pop("seed")
    with pytest.raises(BadPlan, match="no seed, so it is not known which rows") as refused:
        verify(recipe, *given)
    assert "--recipe-out" in refused.value.remedy
    # Nothing is drawn for the whole table, so nothing is missing.
    whole = released(PATIENTS, 1.0)
    recipe_fields = whole.plan.as_mapping()
    del recipe_fields["seed"]
    assert verify(recipe_fields, PATIENTS.frame, PATIENTS.levels, whole.files).holds
    assert verify(recipe | {"seed": seed.upper()}, *given).holds


@pytest.mark.parametrize("bad", [-1, True, 1.5, None, "", "xyz", "f" * 65, 1 << 256, [7]])
def test_what_is_no_seed_is_refused_and_not_repeated(bad: object) -> None:
    recipe = PATIENTS.plan().as_mapping() | {"seed": bad}
    with pytest.raises(BadPlan, match="seed is neither") as refused:
        verify(recipe, PATIENTS.frame, PATIENTS.levels, {"release.csv": b"age,zip,illness,note\n"})
    assert "fff" not in refused.value.full_text(show_values=True)


@pytest.mark.parametrize("seed", [0, 7, 31337, (1 << 128) - 1, "7"])
def test_a_sample_of_a_seed_that_can_be_found_does_not_hold(seed: object) -> None:
    result = released(PATIENTS, 0.9)
    recipe = result.plan.completed() | {"seed": seed}
    found = verify(recipe, PATIENTS.frame, PATIENTS.levels, result.files)
    assert "seed" in {check.name for check in found.broken}


def test_nobody_outside_knows_who_was_drawn() -> None:
    case = Case(
        columns={"q": ["a"] * 12 + ["b"] * 12, "s": list("xy") * 12},
        quasi=("q",),
        sensitive=("s",),
    )
    journalist = {a.attack: a for a in released(case, 0.5).attacks}["journalist"]
    assert journalist.worst == pytest.approx(1 / 12)
    assert not journalist.estimated
    stated = released(case, 0.5, population={"size": 1000})
    assert {a.attack: a for a in stated.attacks}["journalist"].estimated
    assert "journalist" not in {a.attack for a in released(case, 1.0).attacks}


def test_a_promise_about_the_public_still_asks_for_its_own_table() -> None:
    with pytest.raises(BadPlan, match="public"):
        released(PATIENTS, 0.9, models=[{"name": "delta-presence"}])
