"""δ-presence as a promise: what it needs, what it refuses, and how it is recomputed."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.contracts.group_stats import GroupStats
from anon_core.data.table import Dataset
from anon_core.methods.membership.exact_chances import exact_means
from anon_core.methods.membership.presence import (
    OPEN,
    OUTSIDE,
    WITHIN,
    Bounds,
    averages_break,
    judge,
)
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.private_reference import reference_of
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.verification.checks import verify
from tests.asked import measured
from tests.golden.test_toth import PRIVATE, PUBLIC
from tests.making import PATIENTS, Case, by_hand, random_case
from tests.membership_twin import listed, random_bucket
from tests.often import times
from tests.presence_cases import random_public

WIDE = {"name": "delta-presence", "delta_min": 0.1, "delta_max": 0.9}


def released(**promise: Any) -> Result:
    plan = PRIVATE.plan(models=[WIDE | promise])
    return run(plan, PRIVATE.dataset, PRIVATE.levels, population=PUBLIC.dataset, assess=False)


def recomputed(result: Result, public: pd.DataFrame | None, **changes: Any):  # type: ignore[no-untyped-def]
    recipe = {**result.plan.completed(), **changes}
    return verify(recipe, PRIVATE.frame, PRIVATE.levels, result.files, public)


# ---- bounds ---------------------------------------------------------------------------------


def test_bounds_are_the_decimals_as_written() -> None:
    """0.1 · 30 and 0.7 · 10 are a hair off in binary; whole people are not."""
    assert Bounds.of(0.1, 0.7).hold(np.array([3, 21]), np.array([30, 30])).all()
    assert not Bounds.of(0.1, 0.7).hold(np.array([2, 22]), np.array([30, 30])).any()
    assert Bounds.of(1 / 3, 1 / 3).admits(Fraction(str(1 / 3)))
    assert Bounds.of(0.0, 1.0).empty
    assert not Bounds.of(0.0, 0.99).empty


def test_bounds_that_cross() -> None:
    with pytest.raises(BadPlan, match=r"delta_min is 0\.6 and delta_max 0\.5") as refused:
        released(delta_min=0.6, delta_max=0.5)
    assert "at most delta_max" in refused.value.remedy


def test_too_few_of_the_public_people() -> None:
    with pytest.raises(Infeasible, match="8 of 10 public people") as refused:
        released(delta_min=0.85)
    assert refused.value.best == 0.8
    assert refused.value.best_of == "mean chance of presence"


@pytest.mark.parametrize("public", [None, 10])
def test_without_a_public_table(public: int | None) -> None:
    plan = PRIVATE.plan(models=[WIDE], **({"population": {"size": public}} if public else {}))
    with pytest.raises(BadPlan, match="δ-presence needs a public table") as refused:
        run(plan, PRIVATE.dataset, PRIVATE.levels, assess=False)
    assert ("size alone" in refused.value.message) == (public is not None)


def test_a_table_that_is_no_part_of_the_public_one() -> None:
    frame = PUBLIC.frame.copy()
    frame.loc[frame["Name"] == "Amanda", "Zip"] = "5372"
    frame.loc[frame["Name"] == "Ada", "Zip"] = "5371"
    plan = PRIVATE.plan(models=[WIDE])
    with pytest.raises(BadPlan, match=r"2 of 8 rows have no person of their own") as refused:
        run(
            plan,
            PRIVATE.dataset,
            PRIVATE.levels,
            population=Dataset.from_frame(frame, kinds=PUBLIC.kinds),
            assess=False,
        )
    assert "everyone of the table" in refused.value.remedy


def test_public_values_that_no_hierarchy_lists() -> None:
    """A ZIP code that the hierarchy does not list is covered by its root only."""
    frame = pd.concat([PUBLIC.frame, PUBLIC.frame.iloc[:3].assign(Zip="9999")])
    public = Dataset.from_frame(frame, kinds=PUBLIC.kinds)
    result = run(
        PRIVATE.plan(models=[WIDE]),
        PRIVATE.dataset,
        PRIVATE.levels,
        population=public,
        assess=False,
    )
    assert result.account.node == {"Zip": 1, "Age": 0}
    assert sorted(result.verdicts[0].per_class.tolist()) == [5 / 9, 3 / 4]  # three more of 25
    assert result.verification.holds


def test_a_row_without_a_person_of_its_own_is_found_from_the_files_alone() -> None:
    result = released()
    assert recomputed(result, PUBLIC.frame).holds
    mine = PRIVATE.frame.iloc[0]
    alike = (PUBLIC.frame[["Zip", "Age"]] == mine[["Zip", "Age"]]).all(axis=1)
    elsewhere = PUBLIC.frame.loc[~alike, ["Zip", "Age"]].iloc[-1]
    fewer = PUBLIC.frame.copy()
    fewer.loc[alike, ["Zip", "Age"]] = elsewhere.to_numpy()
    found = recomputed(result, fewer)
    assert not found.holds
    (check,) = [c for c in found.broken if c.name == "delta-presence"]
    assert "no person of their own" in check.sentence


AGES = ["20", "22", "28", "31", "34", "38"]


@pytest.mark.parametrize(("label", "value"), [("about 20", "25"), ("around 20", "29")])
def test_labels_beside_which_public_values_have_no_place_are_refused_at_first(
    label: str, value: str
) -> None:
    frame = pd.DataFrame({"age": ["20", "22", "40", "41"]})
    levels = [["20", label, "*"], ["22", label, "*"], ["40", "40-49", "*"], ["41", "40-49", "*"]]
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age"]},
            "algorithm": {"name": "optimal"},
            "models": [WIDE | {"delta_min": 0.0}],
            "labels": {"age": {"names": "rough ages"}},
        }
    )

    def public(*more: str) -> Dataset:
        return Dataset.from_frame(pd.DataFrame({"age": [*frame["age"], *frame["age"], *more]}))

    table = Dataset.from_frame(frame)
    with pytest.raises(BadPlan, match="1 value of 'age'") as refused:
        run(plan, table, {"age": levels}, population=public(value), assess=False)
    assert "as a range" in refused.value.remedy
    assert label not in refused.value.message
    # Between listed values of one group it is clear where a value is.
    assert run(
        plan, table, {"age": levels}, population=public("21"), assess=False
    ).verification.holds


@pytest.mark.parametrize(
    ("labels", "more", "chances"),
    [
        # The label holds 29, though no leaf is beyond it.
        (("20-29", "30-39"), ["21", "29", "35"], (3 / 5, 3 / 4)),
        (("young", "old"), ["21", "33", "35"], (3 / 4, 3 / 5)),
        # 30 lies in the gap between the leaves: in no group.
        (("young", "old"), ["21", "30", "35"], (3 / 4, 3 / 4)),
        (("[20, 30)", "[30, 40)"), ["21", "30", "39"], (3 / 4, 3 / 5)),
        (("< 30", ">= 30"), ["19", "30", "50"], (3 / 4, 3 / 5)),
    ],
)
def test_public_numbers_that_the_hierarchy_does_not_list(
    labels: tuple[str, str], more: list[str], chances: tuple[float, float]
) -> None:
    case = Case(
        columns={"age": list(AGES)},
        quasi=("age",),
        kinds={"age": "number"},
        levels={"age": [(a, labels[int(a) >= 30], "*") for a in AGES]},
    )
    public = Dataset.from_frame(pd.DataFrame({"age": AGES + more}, dtype=object))
    plan = case.plan(models=[{"name": "delta-presence", "delta_max": 0.75}])
    result = run(plan, case.dataset, case.levels, population=public, assess=False)
    assert result.account.node == {"age": 1}
    assert result.verdicts[0].per_class.tolist() == list(chances)
    (check,) = [c for c in result.verification.checks if c.name == "delta-presence"]
    assert (check.holds, check.reached) == (True, max(chances))


def test_averages_fit_nobody_of_a_public_table() -> None:
    plan = PRIVATE.plan(algorithm={"name": "microaggregation"}, models=[WIDE])
    with pytest.raises(BadPlan, match="not defined for averages"):
        run(plan, PRIVATE.dataset, PRIVATE.levels, population=PUBLIC.dataset, assess=False)


def test_a_search_that_does_not_count_people_is_told() -> None:
    with pytest.raises(BadPlan, match="does not count the public"):
        DeltaPresence().per_group(
            GroupStats(sizes=np.array([1]), histograms={}), reference_of(PATIENTS.problem())
        )


# ---- the verdict ----------------------------------------------------------------------------


def test_people_in_no_class_have_no_chance() -> None:
    """Jesper's combination is not in the table: exact classes leave him out for certain."""
    problem = PRIVATE.problem(PUBLIC.dataset)
    release = by_hand(problem, [0] * 8, (("Zip", "Age", "Salary"),), published=False)
    for low, state in ((0.0, "holds"), (0.01, "broken")):
        (verdict,) = DeltaPresence(delta_min=low, delta_max=1.0).measure(
            *measured(problem, release.view), Context()
        )
        assert verdict.state == state
        if state == "broken":
            assert (verdict.bound, verdict.reached) == (low, 0.0)


def test_chances_on_a_bound_are_counted_in_whole_numbers() -> None:
    rng = np.random.default_rng(211)
    close = 0
    for _ in range(150):
        problem, _ = random_bucket(rng, people=int(rng.integers(2, 8)), values=2)
        twin = listed(
            problem.codes.tolist(), problem.count.tolist(), [m.tolist() for m in problem.margins]
        )
        means = exact_means(problem.system)
        assert means is not None
        assert (
            tuple(m / n for m, n in zip(means, problem.count.tolist(), strict=True)) == twin.delta
        )
        low, high = min(twin.delta), max(twin.delta)
        for bounds, state in (
            (Bounds(low=low, high=high), "holds"),
            (Bounds(low=low + Fraction(1, 10**30), high=high), "broken"),
            (Bounds(low=low, high=high - Fraction(1, 10**30)), "broken"),
        ):
            if 0 < bounds.low <= bounds.high < 1:
                close += 1
                assert judge(problem, bounds, Context()).state == state
    assert close > 50


def test_what_cannot_be_counted_is_undecided() -> None:
    rng = np.random.default_rng(223)
    open_ = 0
    for _ in range(150):
        problem, _ = random_bucket(rng, people=9, values=3, blocks=3)
        found = judge(problem, Bounds.of(0.0, 0.999), Context(), max_states=1)
        counted = judge(problem, Bounds.of(0.0, 0.999), Context())
        assert counted.state != "undecided"
        sure = found.verdict != OPEN
        assert np.array_equal(found.verdict[sure], counted.verdict[sure])
        open_ += int((~sure).sum())
        if found.state == "undecided":
            assert OUTSIDE not in found.verdict
    assert open_ > 20
    assert {int(WITHIN), int(OPEN), int(OUTSIDE)} == {1, -1, 0}


@pytest.mark.often
def test_a_value_class_out_of_bounds_puts_someone_out_of_bounds() -> None:
    """S-114 by averaging: the people who show a value add up to its count."""
    rng = np.random.default_rng(227)
    broke = 0
    for _ in range(times(400, share=4)):
        problem, _ = random_bucket(rng, people=int(rng.integers(2, 8)), values=3)
        low, high = sorted(rng.choice([0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0], 2).tolist())
        bounds = Bounds.of(low, high)
        twin = listed(
            problem.codes.tolist(), problem.count.tolist(), [m.tolist() for m in problem.margins]
        )
        within = all(bounds.admits(d) for d in twin.delta)
        if averages_break(problem.system, bounds):
            broke += 1
            assert not within
        assert judge(problem, bounds, Context()).state == ("holds" if within else "broken")
    assert broke > times(100, share=4)


# ---- the search -----------------------------------------------------------------------------


@pytest.mark.often
def test_the_optimal_search_by_brute_force() -> None:
    """Every node's ratios by hand, with and without rows that may be suppressed."""
    rng = np.random.default_rng(229)
    found = refused = 0
    for _ in range(times(60, share=3)):
        case, public = random_public(rng, rows=8, more=8)
        low, high = sorted(rng.choice([0.0, 0.0, 0.3, 0.5, 0.7, 0.9], 2).tolist())
        budget = float(rng.choice([0.0, 0.3]))
        model = DeltaPresence(delta_min=low, delta_max=high)
        problem = case.problem(public)
        best = _cheapest(case, public, model, budget)
        plan = case.plan(
            algorithm={"name": "optimal", "max_suppression": budget},
            models=[{"name": "delta-presence", "delta_min": low, "delta_max": high}],
        )
        try:
            result = run(plan, case.dataset, case.levels, population=public, assess=False)
        except Infeasible:
            refused += 1
            assert best is None
            continue
        found += 1
        assert result.problem.rows == problem.rows
        assert best is not None
        assert result.account.cost == pytest.approx(best)
        assert result.verification.holds
    assert found > times(15, share=3)
    assert refused > times(10, share=3)


def one_word(own: str, everyone: str) -> tuple[Case, Dataset]:
    """Return a table of one column of letters, and a public table of it."""
    levels = {"q": [(v, "*") for v in sorted(set(own))]}
    case = Case(columns={"q": list(own)}, quasi=("q",), kinds={"q": "text"}, levels=levels)
    return case, dataclasses.replace(case, columns={"q": list(everyone)}).dataset


def test_a_class_removed_for_another_promise_breaks_a_lower_bound() -> None:
    """Removing b for its size would tell that nobody with b is in the table."""
    case, public = one_word("aab", "aaabb")
    plan = case.plan(
        algorithm={"name": "optimal", "max_suppression": 0.5},
        models=[
            {"name": "bucket-size", "k": 2},
            {"name": "delta-presence", "delta_min": 0.2, "delta_max": 0.9},
        ],
    )
    result = run(plan, case.dataset, case.levels, population=public, assess=False)
    assert result.account.node == {"q": 1}
    assert result.release.suppressed == 0


def test_the_search_ends_where_the_top_fails_and_a_lower_node_holds() -> None:
    case, public = one_word("aab", "aaaab")  # 3/5 is too much, a has 2/4, b is removed
    plan = case.plan(
        algorithm={"name": "optimal", "metric": "discernibility", "max_suppression": 0.5},
        models=[{"name": "delta-presence", "delta_min": 0.0, "delta_max": 0.5}],
    )
    reports = 0

    def count(share: float, stage: str) -> None:
        nonlocal reports
        reports += 1
        assert reports < 10_000, stage

    context = Context(progress=count)
    result = run(plan, case.dataset, case.levels, population=public, context=context, assess=False)
    assert result.account.node == {"q": 0}
    assert result.release.suppressed == 1


def _cheapest(case: Case, public: Dataset, model: DeltaPresence, budget: float) -> float | None:
    """Return the least mean loss over all nodes that keep the promise."""
    problem = case.problem(public)
    population = problem.population
    assert population is not None
    assert population.codes is not None
    assert population.tuple_count is not None
    rows = problem.frequency.codes[problem.frequency.row_key, : len(problem.quasi)]
    people = np.repeat(population.codes, population.tuple_count, axis=0)
    hierarchies = problem.quasi_hierarchies
    best: float | None = None
    for node in np.ndindex(*(h.height + 1 for h in hierarchies)):
        maps = [h.first_leaf[level] for h, level in zip(hierarchies, node, strict=True)]
        own = [tuple(int(m[v]) for m, v in zip(maps, r, strict=True)) for r in rows.tolist()]
        all_ = [tuple(int(m[v]) for m, v in zip(maps, r, strict=True)) for r in people.tolist()]
        bad = {
            cell
            for cell in set(all_)
            if not model.bounds.admits(Fraction(own.count(cell), all_.count(cell)))
        }
        removed = sum(cell in bad for cell in own)
        if bad and model.delta_min > 0:
            continue
        if removed > int(budget * len(own) + 1e-9) or removed == len(own):
            continue
        lost = 0.0
        for r, cell in zip(rows.tolist(), own, strict=True):
            for h, level, v in zip(hierarchies, node, r, strict=True):
                node_lo, node_hi = h.bounds(level)
                n = int(h.node(level)[v])
                width = int(node_hi[n] - node_lo[n])
                whole = max(len(h.leaves) - 1, 1)
                lost += 1.0 if cell in bad else width / whole
        lost /= len(own) * len(hierarchies)
        best = lost if best is None else min(best, lost)
    return best


# ---- the second computation ------------------------------------------------------------------


def test_it_is_recomputed_from_the_file_and_the_public_table() -> None:
    result = released()
    (check,) = [c for c in result.verification.checks if c.name == "delta-presence"]
    assert check.holds
    assert check.sentence.startswith("Recomputed from the published file and the public table")
    assert check.reached == 5 / 6
    assert recomputed(result, PUBLIC.frame).holds


def test_it_is_not_believed_without_the_public_table() -> None:
    result = released()
    bare = recomputed(result, None)
    assert [c.name for c in bare.broken] == ["delta-presence"]
    assert "no public table with all quasi-identifiers was given" in bare.broken[0].sentence
    assert bare.broken[0].sentence.endswith("Treated as broken.")
    smaller = recomputed(result, PUBLIC.frame[PUBLIC.frame["Name"] != "Clara"])
    assert [c.name for c in smaller.broken] == ["delta-presence"]  # 5 of 5 aged 25


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"delta_max": 0.8}, "δ-presence is broken: chances of presence lie between 0.75"),
        ({"delta_min": 0.76}, "δ-presence is broken"),
        ({"delta_max": "x"}, "delta_max is not a number"),
    ],
)
def test_another_promise_is_not_confirmed(change: dict[str, Any], words: str) -> None:
    found = recomputed(released(), PUBLIC.frame, models=[WIDE | change])
    assert [c.name for c in found.broken] == ["delta-presence"]
    assert words in found.broken[0].sentence


def test_a_public_table_without_the_columns() -> None:
    found = recomputed(released(), PUBLIC.frame.drop(columns="Age"))
    assert [c.name for c in found.broken] == ["delta-presence"]
    assert "no public table with all quasi-identifiers" in found.broken[0].sentence


def test_a_public_table_the_table_is_no_part_of() -> None:
    found = recomputed(released(), PUBLIC.frame.iloc[:4])
    assert "the table is not a part of them" in " ".join(c.sentence for c in found.broken)


@pytest.mark.parametrize("technique", ["bucketization", "anatomy"])
def test_exact_cells_that_stay_linked_are_classes_of_their_own(technique: str) -> None:
    """Of Ada's like there are two in the public table, and one is in the release."""
    partition = {} if technique == "bucketization" else {"partition": "mondrian"}
    plan = PATIENTS.plan(
        algorithm={"name": technique, **partition}, models=[{"name": "bucket-size", "k": 3}]
    )
    result = run(plan, PATIENTS.dataset, PATIENTS.levels, assess=False)
    more = pd.concat([PATIENTS.frame, PATIENTS.frame.iloc[[1, 3]]])
    for high, holds in ((0.9, False), (1.0, True)):
        promise = {"name": "delta-presence", "delta_min": 0.0, "delta_max": high}
        recipe = {**plan.completed(), "models": [promise]}
        found = verify(recipe, PATIENTS.frame, PATIENTS.levels, result.files, more)
        (check,) = [c for c in found.checks if c.name == "delta-presence"]
        assert (check.holds, check.reached) == (holds, 1.0)
    both = pd.concat([PATIENTS.frame] * 2)
    recipe = {**plan.completed(), "models": [WIDE | {"delta_min": 0.5, "delta_max": 0.5}]}
    found = verify(recipe, PATIENTS.frame, PATIENTS.levels, result.files, both)
    assert next(c for c in found.checks if c.name == "delta-presence").holds


def test_exact_cells_permuted_apart_are_not_recomputed() -> None:
    plan = PATIENTS.plan(
        algorithm={"name": "one-attribute-slicing", "partition": "mondrian"},
        models=[{"name": "bucket-size", "k": 3}],
    )
    result = run(plan, PATIENTS.dataset, PATIENTS.levels, assess=False)
    recipe = {**plan.completed(), "models": [WIDE]}
    found = verify(recipe, PATIENTS.frame, PATIENTS.levels, result.files, PATIENTS.frame)
    assert any("quasi-identifiers permuted separately" in c.sentence for c in found.broken)


def test_a_case_can_be_drawn_with_values_missing() -> None:
    """Missing values are a value of their own in both tables."""
    rng = np.random.default_rng(233)
    ran = 0
    for _ in range(12):
        case = random_case(rng, rows=12, quasi=2)
        doubles = Dataset.from_frame(pd.concat([case.frame, case.frame]), kinds=case.kinds)
        plan = dataclasses.replace(case).plan(models=[{"name": "delta-presence", "delta_max": 0.5}])
        assert run(
            plan, case.dataset, case.levels, population=doubles, assess=False
        ).verification.holds
        ran += 1
    assert ran == 12
