"""Survey weights: worked examples by hand, through whole runs, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput, BadPlan, Infeasible
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.reidentification import individual_risk
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.column_statistics import column_statistics
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.knowledge.person_counts import class_weights
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import build_problem
from anon_core.techniques.attacks.individual_risk import IndividualRisk
from anon_core.techniques.models.k_map_by_size import shown_by_fewer
from anon_core.verification.checks import verify
from tests import naive
from tests.making import Case, random_case, weighted
from tests.often import times

ROWS = [
    ("F", "30", "1010", "18", "1", "flu"),
    ("F", "30", "1010", "45.5", "1", "flu"),
    ("M", "41", "1020", "39", "2", "cold"),
    ("M", "41", "1020", "17", "3", "flu"),
    ("M", "41", "1030", "541", "4", "asthma"),
    ("F", "52", "1030", "8", "4", "flu"),
    ("F", "52", "1030", "5", "5", "cold"),
    ("M", "52", "1020", "92", "6", "flu"),
]
NAMES = ("sex", "age", "zip", "weight", "home", "disease")
QUASI = ("sex", "age", "zip")
SURVEY = Case(
    columns={name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)},
    quasi=QUASI,
    sensitive=("disease",),
    identifier=("home",),
    weight="weight",
    kinds={"sex": "text", "age": "text", "zip": "text", "disease": "text", "weight": "number"},
)
EXPECTED_HOMES = 0.421653312
EACH = [
    0.028863356,
    0.028863356,
    0.032466112,
    0.032466112,
    0.01165448,
    0.119940424,
    0.119940424,
    0.049689984,
]


def released(case: Case = SURVEY, **given: Any) -> Result:
    plan = {
        "algorithm": {"name": "fixed-levels", "levels": dict.fromkeys(case.quasi, 0)},
        "models": [{"name": "maximum-risk", "risk": 1.0}],
        "attacks": [{"name": "individual-risk", "threshold": 0.1}],
    }
    return run(case.plan(**plan | given), case.dataset)


def risk(result: Result) -> dict[str, Any]:
    (found,) = (a for a in figures_of(result)["attacks"] if a["name"] == "individual-risk")
    return found


def with_weights(*weights: str | None) -> Case:
    return dataclasses.replace(SURVEY, columns={**SURVEY.columns, "weight": list(weights)})


def test_weights_of_each_class() -> None:
    """PE-01."""
    problem = SURVEY.problem()
    found = class_weights(problem)
    assert found is not None
    runs = problem.frequency.run[problem.frequency.row_key]
    assert found[runs].tolist() == [63.5, 63.5, 56, 56, 541, 13, 13, 92]
    assert problem.weighed_people == 765.5


@pytest.mark.parametrize(
    ("f", "p", "expected"),
    [
        (1, 0.1, 0.25584278811),
        (2, 0.1, 0.082684134654),
        (3, 0.1, 0.046368429483),
        (3, 0.5, 0.19314718056),
        (4, 0.05, 0.016281624612),
        (5, 0.01, 0.002491747769),
        (10, 0.2, 0.021695651787),
    ],
)
def test_the_risk_of_a_class(f: int, p: float, expected: float) -> None:
    """PE-02."""
    found = individual_risk(np.array([f]), np.array([f / p]))
    assert found == pytest.approx([expected], rel=1e-9)
    assert found == pytest.approx([naive.expected_inverse(f, p)], rel=1e-9)


def test_a_whole_population_is_counted() -> None:
    """PE-04."""
    assert individual_risk(np.array([1, 2, 5]), np.array([1.0, 2, 5])).tolist() == [1, 0.5, 0.2]


def test_many_classes_of_different_weights_are_those_of_the_series() -> None:
    rng = np.random.default_rng(41)
    sizes = rng.integers(1, 60, 200)
    weights = sizes * (1 + rng.exponential(20, 200))
    series = [
        naive.expected_inverse(int(f), float(f / w)) for f, w in zip(sizes, weights, strict=True)
    ]
    assert individual_risk(sizes, weights) == pytest.approx(series, rel=1e-9)
    # A row alone, of very many people: -log p · p / (1 - p).
    rare = individual_risk(np.array([1]), np.array([1e9]))
    assert rare == pytest.approx([2.0723265857669677e-08], rel=1e-12)


def test_merging_two_classes_raises_no_risk() -> None:
    rng = np.random.default_rng(43)
    sizes = rng.integers(1, 8, (2, 3000))
    weights = sizes * (1 + rng.exponential(10, (2, 3000)))
    both = individual_risk(sizes.sum(0), weights.sum(0))
    for own, weight in zip(sizes, weights, strict=True):
        assert np.all(both <= individual_risk(own, weight) * (1 + 1e-9))


def test_the_survey_as_it_is() -> None:
    """PE-06."""
    result = released()
    found = risk(result)
    (attack,) = (a for a in result.attacks if a.attack == "individual-risk")
    assert attack.per_class[result.row_group] == pytest.approx(EACH, abs=1e-9)
    assert found["succeeded"] == pytest.approx(0.423884248, abs=1e-9)
    assert found["rate"] == pytest.approx(0.052985531, abs=1e-9)
    assert found["worst"] == pytest.approx(0.119940424, abs=1e-9)
    assert found["raw"] == found["rate"]
    assert (found["at_risk"], found["estimated"]) == (2, True)
    assert found["baseline"] == pytest.approx(1 / 765.5)
    figures = figures_of(result)
    assert (figures["sum_of_weights"], figures["suppressed_weight_share"]) == (765.5, 0)


def test_counts_of_people_take_every_row_for_as_many() -> None:
    """Own questions about the survey, by hand: true people, and rows · 765.5 / 8."""
    own = [{"sex": ["M"]}, {"zip": ["1030"], "age": ["41"]}, {"disease": ["cold"]}]
    wanted = [(689.0, 4), (541.0, 1), (44.0, 2)]
    result = released(metrics=[{"name": "query-error", "own": own}])
    errors = [abs(true - rows * 765.5 / 8) / true for true, rows in wanted]
    also = result.measures["query-error"].also
    assert also["mean of people, by weights"] == pytest.approx(sum(errors) / 3)
    assert result.measures["query-error"].value == 0
    even = released(weighted(SURVEY, ["10"] * 8), metrics=[{"name": "query-error", "own": own}])
    assert even.measures["query-error"].also["mean of people, by weights"] == pytest.approx(0)


TENTH = weighted(
    Case(
        columns={"class": [f"f{f}" for f in range(1, 6) for _ in range(f)]},
        quasi=("class",),
        kinds={"class": "text"},
    ),
    ["10"] * 15,
)
FEWER = {
    5: (1.0, 0.152079093, 0.010758942, 0.000290782, 0.0),
    20: (1.0, 0.670279896, 0.340559792, 0.132958245, 0.040690891),
}


@pytest.mark.parametrize(("k", "stay"), [(5, (3, 4, 5)), (20, (5,))])
def test_pe_23_k_map_by_weights(k: int, stay: tuple[int, ...]) -> None:
    """Each class is a tenth of its people; classes of too few rows are removed."""
    found = shown_by_fewer(k, np.arange(1, 6), np.arange(1, 6) * 10.0)
    assert found == pytest.approx(FEWER[k], abs=1e-9)
    model = {"name": "k-map-by-size", "k": k, "weights": "w"}
    asked = {"name": "fixed-levels", "levels": {"class": 0}, "max_suppression": 1.0}
    result = released(TENTH, algorithm=asked, models=[model], attacks=[])
    assert sorted(result.class_sizes.tolist()) == list(stay)
    assert result.verdicts[0].reached == pytest.approx(max(FEWER[k][f - 1] for f in stay))
    (check,) = [c for c in result.verification.checks if c.name == "k-map-by-size"]
    assert (check.holds, check.reached) == (True, pytest.approx(result.verdicts[0].reached))
    lax = dict(result.recipe.completed()) | {"models": [{**model, "k": k + 1, "alpha": 1e-6}]}
    (stricter,) = [
        c for c in verify(lax, TENTH.frame, {}, dict(result.files)).checks
        if c.name == "k-map-by-size"
    ]  # fmt: skip
    assert stricter.outcome == "broken"


def test_merging_two_classes_makes_fewer_people_no_likelier() -> None:
    rng = np.random.default_rng(23)
    sizes = rng.integers(1, 8, (2, 3000))
    weights = sizes * (1 + rng.exponential(10, (2, 3000)))
    for k in (2, 5, 20):
        worse = np.maximum(*(shown_by_fewer(k, f, w) for f, w in zip(sizes, weights, strict=True)))
        both = shown_by_fewer(k, sizes.sum(0), weights.sum(0))
        passing = worse <= 0.05
        assert np.all(both[passing] <= 0.05)
        assert passing.any()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"weights": "w", "share": 0.1}, "Leave out share, or weights"),
        ({"weights": "class"}, "as a private column"),
        ({"weights": "w", "k": 2000}, "even all rows as one class"),
    ],
)
def test_k_map_by_weights_refuses(model: dict[str, Any], said: str) -> None:
    with pytest.raises((BadPlan, Infeasible)) as refused:
        released(TENTH, models=[{"name": "k-map-by-size", **model}])
    assert said in f"{refused.value.message} {refused.value.remedy}"


def test_the_size_alone_understates_the_risk() -> None:
    """PE-07."""
    f = np.array([2, 2, 2, 2, 1, 2, 2, 1])
    equal = individual_risk(f, f * 1531 / 16)
    assert equal[0] == pytest.approx(0.010052331, abs=1e-9)
    assert equal[4] == pytest.approx(0.048169903, abs=1e-9)
    assert equal.mean() == pytest.approx(0.019581724, abs=1e-9)


RISKS = ("maximum-risk", "average-risk", "share-at-risk")
LARGEST: dict[tuple[str, ...], float] = {
    (): 0.001490366,
    ("sex",): 0.017009408,
    ("age",): 0.028863356,
    ("zip",): 0.028863356,
    ("sex", "age"): 0.119940424,
    ("sex", "zip"): 0.119940424,
    ("age", "zip"): 0.119940424,
    QUASI: 0.119940424,
}


@pytest.mark.parametrize("columns", LARGEST)
def test_the_largest_risk_by_columns(columns: tuple[str, ...]) -> None:
    """PE-08, by the attack and by the privacy model."""
    levels = {name: int(name not in columns) for name in QUASI}
    exact = {"name": "fixed-levels", "levels": levels}
    largest = LARGEST[columns]
    assert risk(released(algorithm=exact))["worst"] == pytest.approx(largest, abs=1e-9)
    result = released(algorithm=exact, models=[by_weights("maximum-risk", largest + 1e-8)])
    assert result.verdicts[0].reached == pytest.approx(largest, abs=1e-9)
    assert checked(result).reached == pytest.approx(largest, abs=1e-9)
    with pytest.raises(Infeasible):
        released(algorithm=exact, models=[by_weights("maximum-risk", largest - 1e-6)])
    if largest > 0.05:
        with pytest.raises(Infeasible):
            released(algorithm=exact, models=[by_weights("maximum-risk", 0.05)])
    else:
        assert released(algorithm=exact, models=[by_weights("maximum-risk", 0.05)]).verdicts
    assert (largest <= 0.05) == (len(columns) < 2)


def by_weights(name: str, risk: float, **given: float) -> dict[str, Any]:
    return {"name": name, "risk": risk, "weights": "weight", **given}


def checked(result: Result) -> Any:
    """Return the second computation of the only privacy model, which holds."""
    name = result.plan.models[0].name
    (check,) = [c for c in result.verification.checks if c.name == name]
    assert check.holds
    return check


def test_the_search_goes_by_weights() -> None:
    result = released(models=[by_weights("maximum-risk", 0.05)], algorithm={"name": "optimal"})
    shown = [n for n in QUASI if len(set(result.tables["release"][n].to_pylist())) > 1]
    assert len(shown) == 1  # of two or three columns none meets it, and one loses less than none
    assert checked(result).reached == pytest.approx(LARGEST[tuple(shown)], abs=1e-9)
    (checks,) = [c for c in verified(result, 0.01).checks if c.name == "maximum-risk"]
    assert (checks.holds, checks.undecided) == (False, False)
    assert checks.rows
    assert all(b"541" not in content for content in result.files.values())


def verified(result: Result, risk: float) -> Any:
    recipe = result.plan.completed()
    models = [dict(recipe["models"][0]) | {"risk": risk}]
    return verify(recipe | {"models": models}, SURVEY.frame, {}, dict(result.files))


@pytest.mark.parametrize(
    ("most", "removed", "mean"),
    [(0.03, 3, 0.026862683), (0.05, 2, 0.030667233), (0.06, 0, 0.052985531)],
)
def test_the_riskiest_go_for_a_mean(most: float, removed: int, mean: float) -> None:
    """PE-09."""
    result = released(
        algorithm={
            "name": "fixed-levels", "levels": dict.fromkeys(QUASI, 0), "max_suppression": 1.0,
        },
        models=[by_weights("average-risk", most)],
    )  # fmt: skip
    assert result.release.suppressed == removed
    assert result.verdicts[0].reached == pytest.approx(mean, abs=1e-9)
    assert checked(result).reached == pytest.approx(mean, abs=1e-9)
    if removed:
        assert not next(c for c in verified(result, 0.02).checks if c.name == "average-risk").holds


@pytest.mark.parametrize(("share", "removed"), [(0.25, 0), (0.24, 2)])
def test_two_of_eight_are_at_risk(share: float, removed: int) -> None:
    result = released(
        algorithm={
            "name": "fixed-levels", "levels": dict.fromkeys(QUASI, 0), "max_suppression": 1.0,
        },
        models=[by_weights("share-at-risk", 0.1, share=share)],
    )  # fmt: skip
    assert result.release.suppressed == removed
    assert result.verdicts[0].reached == checked(result).reached == (0.0 if removed else 0.25)


@pytest.mark.parametrize("name", RISKS)
def test_a_risk_by_weights_is_refused_where_there_are_none(name: str) -> None:
    asked = by_weights(name, 0.2)
    with pytest.raises(BadPlan, match=r"'home', which has not the role weight; 'weight' has it"):
        released(models=[asked | {"weights": "home"}])
    none = dataclasses.replace(SURVEY, weight="", identifier=("home", "weight"))
    with pytest.raises(BadPlan, match="no column has it"):
        released(none, models=[asked])
    with pytest.raises(BadPlan, match="private column 'wheight', which the table lacks"):
        released(models=[asked | {"weights": "wheight"}])
    with pytest.raises(Infeasible, match=r"estimated risk of 0\.00149"):
        released(models=[asked | {"risk": 0.001}])
    people = dataclasses.replace(SURVEY, person="home", identifier=())
    if name == "maximum-risk":  # of each person once; here they have two weights
        with pytest.raises(BadInput, match="2 persons of 'home' have several weights"):
            released(people, models=[asked])
    else:
        with pytest.raises(BadPlan, match="counts rows"):
            released(people, models=[asked])
    with pytest.raises(BadPlan, match="averages"):
        released(models=[asked], algorithm={"name": "microaggregation"})


def test_a_class_is_held_against_the_population() -> None:
    """PE-12; the diseases are those of the example."""
    sick = ["flu", "flu", "cold", "flu", "asthma", "flu", "cold", "flu"]
    case = dataclasses.replace(SURVEY, columns={**SURVEY.columns, "disease": sick})
    reference = reference_of(case.problem())
    expected = {w: reference.weighed("disease", "weight") if w else reference.counts("disease")
            for w in (True, False)}  # fmt: skip
    shares = {
        w: {
            leaf: Fraction(int(rows), int(own.rows.sum()))
            for leaf, rows in zip(own.leaves, own.rows, strict=True)
            if rows
        }
        for w, own in expected.items()
    }
    assert shares[False] == {
        "asthma": Fraction(1, 8), "cold": Fraction(1, 4), "flu": Fraction(5, 8),
    }  # fmt: skip
    assert shares[True] == {
        "asthma": Fraction(1082, 1531), "cold": Fraction(88, 1531), "flu": Fraction(361, 1531),
    }  # fmt: skip
    for weights, first in (("", Fraction(3, 8)), ("weight", Fraction(1170, 1531))):
        asked = {"name": "t-closeness", "t": 1.0, **({"weights": weights} if weights else {})}
        result = released(case, models=[asked])
        own = result.verdicts[0].per_class[result.row_group[0]]
        assert own == pytest.approx(float(first), abs=1e-12)
        assert checked(result).reached == pytest.approx(result.verdicts[0].reached)
    # All rows as one class: half of all differences in share.
    whole = sum(abs(shares[True][leaf] - shares[False][leaf]) for leaf in shares[True]) / 2
    one = {"name": "fixed-levels", "levels": dict.fromkeys(QUASI, 1)}
    asked = {"name": "t-closeness", "weights": "weight"}
    result = released(case, algorithm=one, models=[asked | {"t": 0.6}])
    assert checked(result).reached == pytest.approx(float(whole))
    with pytest.raises(Infeasible):
        released(case, algorithm={"name": "optimal"}, models=[asked | {"t": 0.5}])
    with pytest.raises(BadPlan, match="has not the role weight"):
        released(case, models=[asked | {"weights": "home"}])


def test_the_short_form_is_never_below() -> None:
    """PE-03: p / (f − 1 + p), which others take for f > 2."""

    def short(f: int, p: float) -> float:
        return p / (f - 1 + p)

    values = [short(3, 0.1), short(3, 0.5), short(10, 0.2)]
    assert values == pytest.approx([0.047619048, 0.2, 0.02173913], abs=1e-9)
    ratio = {
        (f, p): short(f, p) / float(individual_risk(np.array([f]), np.array([f / p]))[0])
        for f in (3, 4, 5, 10)
        for p in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.9)
    }
    assert min(ratio.values()) >= 1
    assert max(ratio, key=lambda one: ratio[one]) == (3, 0.2)
    assert ratio[3, 0.2] == pytest.approx(1.0373, abs=1e-4)


def drawn_survey(rng: np.random.Generator, *, mean: float) -> tuple[Case, npt.NDArray[np.float64]]:
    """Draw a small table with the weights of its rows, as they are printed."""
    drawn = random_case(rng, rows=int(rng.integers(8, 25)), quasi=2)
    weights = (1 + rng.exponential(mean, len(drawn.rows))).round(2)
    case = weighted(drawn, (f"{w:g}" for w in weights))
    return case, np.array([float(w or 0) for w in case.columns["w"]])


@pytest.mark.often
@pytest.mark.parametrize(
    ("technique", "name"),
    [
        *itertools.product(("optimal", "mondrian", "top-down"), RISKS),
        ("local-recoding", "maximum-risk"),  # it asks each class to keep a mean, and may find none
    ],
)
def test_random_surveys_keep_a_risk_by_weights(technique: str, name: str) -> None:
    compared = loose = 0
    lax = technique in ("optimal", "local-recoding")
    share = {"share": 0.3} if name == "share-at-risk" else {}
    for number in range(times(7, share=2)):
        rng = np.random.default_rng([61, number])
        case, weights = drawn_survey(rng, mean=4)
        levels = {n: rows for n, rows in case.levels.items() if n in case.quasi}
        asked = {"name": name, "risk": 0.12, "weights": "w", **share}
        try:
            result = run(
                case.plan(
                    algorithm={"name": technique, **({"max_suppression": 0.3} if lax else {})},
                    models=[asked],
                    hierarchies={n: f"{n}.csv" for n in levels},
                ),
                case.dataset,
                levels,
            )
        except Infeasible:
            continue
        own = result.row_group
        groups = [np.flatnonzero(own == g) for g in range(int(own.max(initial=-1)) + 1)]
        each = np.concatenate(
            [
                np.full(len(g), naive.expected_inverse(len(g), len(g) / weights[g].sum()))
                for g in groups
                if len(g)
            ]
        )
        reached = {
            "maximum-risk": each.max(),
            "average-risk": each.mean(),
            "share-at-risk": (each > 0.12).mean(),
        }[name]
        assert result.verdicts[0].reached == pytest.approx(reached, rel=1e-8)
        assert reached <= share.get("share", 0.12) * (1 + 1e-9)
        assert result.verification.holds
        compared += 1
        loose += min(len(g) for g in groups if len(g)) < 1 / 0.12
    assert compared >= times(4, share=2)
    assert loose  # fewer rows are enough than without weights


@pytest.mark.often
def test_the_optimum_by_weights_is_that_of_every_node() -> None:
    """The least loss of all choices of levels, each tried by itself."""
    found = 0
    for number in range(times(5, share=2)):
        rng = np.random.default_rng([67, number])
        drawn = random_case(rng, rows=14, quasi=2)
        weights = (1 + rng.exponential(4, 14)).round(2)
        case = dataclasses.replace(
            drawn,
            columns={**drawn.columns, "w": [f"{w:g}" for w in weights]},
            kinds={**drawn.kinds, "w": "number"},
            weight="w",
        )
        levels = {n: rows for n, rows in case.levels.items() if n in case.quasi}
        heights = {n: len(case.levels[n][0]) - 1 if n in case.levels else 1 for n in case.quasi}
        for name in ("maximum-risk", "average-risk"):

            def ran(algorithm: dict[str, Any], name: str = name) -> float | None:
                plan = case.plan(  # noqa: B023 - called at once
                    algorithm={**algorithm, "max_suppression": 0.3},
                    models=[{"name": name, "risk": 0.12, "weights": "w"}],
                    hierarchies={n: f"{n}.csv" for n in levels},  # noqa: B023
                )
                try:
                    result = run(plan, case.dataset, levels)  # noqa: B023
                except Infeasible:
                    return None
                return result.measures["loss"].value

            each = [
                ran({"name": "fixed-levels", "levels": dict(zip(case.quasi, chosen, strict=True))})
                for chosen in itertools.product(*(range(heights[n] + 1) for n in case.quasi))
            ]
            best = min((loss for loss in each if loss is not None), default=None)
            optimum = ran({"name": "optimal", "metric": "loss"})
            assert (optimum is None) == (best is None)
            if best is not None:
                assert optimum == pytest.approx(best)
                found += 1
    assert found >= times(5, share=3)


def test_the_weight_that_is_suppressed() -> None:
    result = released(
        algorithm={
            "name": "fixed-levels", "levels": dict.fromkeys(QUASI, 0), "max_suppression": 1.0,
        },
        models=[{"name": "k-anonymity", "k": 2}],
    )  # fmt: skip
    figures = figures_of(result)
    assert figures["suppressed"] == 2
    assert figures["suppressed_weight_share"] == pytest.approx(float(1 - Fraction(265, 1531)))
    assert (risk(result)["attempted"], risk(result)["eligible"]) == (8, 6)
    assert risk(result)["succeeded"] == pytest.approx(sum(EACH[i] for i in (0, 1, 2, 3, 5, 6)))


def test_pe_13_statistics_by_weights_beside_those_of_rows() -> None:
    incomes = ["21", "23", "45", "47", "51", "39", "41", "38"]
    case = dataclasses.replace(
        SURVEY,
        columns={**SURVEY.columns, "disease": incomes},
        kinds={**SURVEY.kinds, "disease": "number", "age": "number"},
        levels={"age": [(a, f"{a[0]}0-{a[0]}9", "*") for a in ("30", "41", "52")]},
    )
    levels = {"sex": 0, "age": 0, "zip": 0}

    def statistics(column: str, **given: int) -> Any:
        plan = case.plan(
            algorithm={
                "name": "fixed-levels", "levels": {**levels, **given}, "max_suppression": 0.25,
            },
            models=[{"name": "k-anonymity", "k": 2}],
        )  # fmt: skip
        result = run(plan, case.dataset, case.levels)
        assert result.release.suppressed == 2
        return column_statistics(result, column)

    income = statistics("disease")
    before, after = income.before, income.after
    assert (before.mean.low, before.weight, after.weight) == (305 / 8, 765.5, 132.5)
    assert before.weighted_mean.low == pytest.approx(float(Fraction(71165, 1531)))
    assert after.weighted_mean.low == pytest.approx(float(Fraction(8991, 265)))
    assert after.weighted_mean.low == after.weighted_mean.high
    assert before.weight / after.weight == pytest.approx(float(Fraction(1531, 265)))
    # Of ranges only bounds are left; weights of rows 1 to 4, 6 and 7.
    ages = statistics("age", age=1)
    by = {30: 63.5, 40: 56.0, 50: 13.0}
    assert ages.after.weighted_mean.low == pytest.approx(
        (30 * by[30] + 41 * by[40] + 52 * by[50]) / 132.5
    )
    assert not statistics("sex").after.weighted_mean
    bare = dataclasses.replace(case, weight="")
    result = run(bare.plan(algorithm={"name": "optimal"}), bare.dataset, bare.levels)
    assert column_statistics(result, "disease").before.weight is None


def test_privacy_models_count_rows_whatever_their_weights() -> None:
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "t-closeness", "t": 0.95},
        {"name": "t-closeness", "t": 0.9},
    ]
    algorithm = {"name": "optimal", "max_suppression": 0.25}
    values = [
        released(case, models=models, algorithm=algorithm)
        for case in (SURVEY, with_weights(*"98765432"), dataclasses.replace(SURVEY, weight=""))
    ]
    one, other, without = ([(v.model, v.reached, v.bound) for v in r.verdicts] for r in values)
    assert one == other == without
    assert values[0].files == values[1].files
    assert all("weight" not in table.column_names for table in values[0].tables.values())


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (("18", "45.5", "39", "0.8", "541", "8", "5", "92"), "below 1"),
        (("18", "45.5", "39", "0", "541", "8", "5", "92"), "below 1"),
        (("18", "45.5", "39", "-2", "541", "8", "5", "92"), "below 1"),
        (("18", "45.5", "39", None, "541", "8", "5", "92"), "no value"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_row(
    weights: tuple[str | None, ...], found: str
) -> None:
    """PE-05, and PE-14's first."""
    with pytest.raises(BadInput, match=rf"{found}.*row 4.*at least 1") as refused:
        released(with_weights(*weights))
    assert refused.value.remedy


def test_a_text_is_no_weight() -> None:
    weights = ("18", "45.5", "39", "many", "541", "8", "5", "92")
    frame = pd.DataFrame({**SURVEY.columns, "weight": list(weights)}, dtype=object)
    table = Dataset.from_frame(frame, kinds={"age": "text", "zip": "text", "home": "text"})
    with pytest.raises(BadInput, match=r"read as text.*row 4.*at least 1"):
        SURVEY.roles.check(table)
    plan = SURVEY.plan(types={"age": "text", "zip": "text", "weight": "number"})
    with pytest.raises(AnonError):
        run(plan, Dataset.from_frame(frame))


def test_a_person_has_one_weight_and_counts_once() -> None:
    stays = Case(
        columns={
            "who": ["a", "a", "b", "c", "c", "d"],
            "age": ["1", "1", "1", "2", "2", "2"],
            "weight": ["10", "10", "4", "6", "6", "3"],
        },
        quasi=("age",),
        person="who",
        weight="weight",
        kinds={"who": "text", "age": "text", "weight": "number"},
    )
    two = [{"name": "k-anonymity", "k": 2}]
    result = released(stays, models=two)
    assert result.problem.weighed_people == 23
    found = risk(result)
    assert found["attempted"] == 4
    many, few = (naive.expected_inverse(2, 2 / whole) for whole in (14, 9))
    assert found["worst"] == pytest.approx(few)
    assert found["succeeded"] == pytest.approx(2 * many + 2 * few)
    several = ["10", "11", "4", "6", "6", "3"]
    other = dataclasses.replace(stays, columns={**stays.columns, "weight": several})
    with pytest.raises(BadInput, match=r"1 person of 'who' has several weights.*row 2"):
        released(other, models=two)


def test_a_household_is_found_with_any_of_its_people() -> None:
    """PE-10."""
    roles = dataclasses.replace(SURVEY.roles, identifier=(), household="home")
    problem = build_problem(SURVEY.dataset, roles)
    truth = truth_of(problem)
    (found,) = IndividualRisk().run(truth.raw, audience_of(problem), truth, Context())
    details = {row["chance to name"]: row for row in found.details[1].rows}
    assert details["any of a household"]["expected"] == pytest.approx(EXPECTED_HOMES, abs=1e-8)
    assert details["people by their household"]["expected"] == pytest.approx(0.608743992, abs=1e-8)
    assert details["people one by one"]["expected"] == pytest.approx(0.423884248, abs=1e-8)
    assert details["any of a household"]["worst"] == pytest.approx(0.130197061, abs=1e-8)
    members = truth.household_members
    assert members is not None
    assert sorted(members.weight.tolist()) == [13, 13, 56, 56, 63.5, 63.5, 92, 541]


def test_a_household_has_the_mean_of_its_weights() -> None:
    result = released(
        roles={"quasi": list(QUASI), "household": "home", "weight": "weight"},
        algorithm={"name": "fixed-levels", "levels": dict.fromkeys(QUASI, 1)},
        models=[{"name": "k-anonymity", "k": 2}],
    )
    total = 31.75 + 39 + 17 + 274.5 + 5 + 92
    assert result.problem.weighed_people == pytest.approx(total)
    assert risk(result)["worst"] == pytest.approx(naive.expected_inverse(6, 6 / total))
    assert any("mean of its people's weights" in c for c in result.cautions)


def test_a_weight_is_nothing_else_and_one_column() -> None:
    for role in ("quasi", "sensitive", "insensitive", "identifier"):
        with pytest.raises(BadPlan, match="is the weight of rows and also"):
            dataclasses.replace(SURVEY.roles, **{role: ("weight",)})
    with pytest.raises(BadPlan, match=r"\[roles\] weight is not the name"):
        SURVEY.plan(roles={"quasi": ["age"], "weight": ["weight"]})
    with pytest.raises(BadPlan, match="sample"):
        released(data={"sample": 0.5})


def test_the_sum_of_weights_is_compared_with_the_population() -> None:
    """PE-14's last."""
    cautions = released(population={"size": 1000}).cautions
    assert any("add up to 765.5, and the population is 1,000" in c for c in cautions)
    near = released(population={"size": 770}).cautions
    assert not any("add up to" in c for c in near)


def test_without_weights_the_attack_says_why() -> None:
    result = released(dataclasses.replace(SURVEY, weight="", identifier=("home", "weight")))
    assert "role weight" in result.not_run["individual-risk"]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("fnlwgt", ("77516", "83311", "215646"), "weight"),
        ("survey_weight", ("1.5", "20", "30"), "weight"),
        ("Hochrechnungsfaktor", ("12.5", "20", "30"), "weight"),
        ("weight", ("61", "80.5", "93"), "quasi"),  # of a body
        ("birth_weight", ("2900", "3500", "4100"), "quasi"),
        ("survey_weight", ("0.5", "1.2", "1.3"), "quasi"),
    ],
)
def test_what_is_suggested_as_weight(name: str, values: tuple[str, ...], role: str) -> None:
    rows = list(itertools.islice(itertools.cycle(values), 60))
    (found,) = suggest_roles(Dataset.from_frame(pd.DataFrame({name: rows}, dtype=object)))
    assert found.role == role


@pytest.mark.parametrize(
    ("other", "role"), [("stratum", "undecided"), ("hh_id", "undecided"), ("town", "quasi")]
)
def test_a_weight_in_a_survey_is_asked_about(other: str, role: str) -> None:
    rows = pd.DataFrame(
        {
            other: [f"k{n // 3:02}" for n in range(60)],
            "weight": ["61", "80.5", "93"] * 20,
        },
        dtype=object,
    )
    assert suggest_roles(Dataset.from_frame(rows))[1].role == role


@pytest.mark.often
@pytest.mark.parametrize(
    "technique",
    [
        "optimal",
        "mondrian",
        "cell-suppression",
        "top-down",
        "k-member",
        "local-recoding",
        "anatomy",
    ],
)
def test_random_surveys_have_the_risk_of_the_series(technique: str) -> None:
    compared = removed = parted = 0
    lax = technique in ("optimal", "local-recoding")
    for number in range(times(12, share=2)):
        rng = np.random.default_rng([59, number])
        case, weights = drawn_survey(rng, mean=20)
        by_values = [{"name": "frequency-l-diversity", "l": 2}]
        algorithm = {"name": technique, **({"max_suppression": 0.5} if lax else {})}
        levels = {name: rows for name, rows in case.levels.items() if name in case.quasi}
        try:
            result = run(
                case.plan(
                    algorithm=algorithm,
                    models=by_values
                    if technique == "anatomy"
                    else [{"name": "k-anonymity", "k": 2}],
                    hierarchies={name: f"{name}.csv" for name in levels},
                ),
                case.dataset,
                levels,
            )
        except Infeasible:
            continue
        if not result.release.grouping.whole_keys:  # which of equal rows go where is drawn
            found = class_weights(result.problem, result.release)
            assert found is not None
            assert found.sum() == pytest.approx(weights.sum())
            parted += 1
            continue
        shown = result.row_group >= 0
        own = result.row_group.tolist()
        f = Counter(o for o, here in zip(own, shown, strict=True) if here)
        total = {o: weights[[i for i, at in enumerate(own) if at == o]].sum() for o in f}
        naively = [naive.expected_inverse(f[o], f[o] / total[o]) for o in own if o >= 0]
        found = risk(result)
        assert found["succeeded"] == pytest.approx(sum(naively), rel=1e-8)
        assert found["worst"] == pytest.approx(max(naively, default=0.0), rel=1e-8)
        assert result.suppressed_weight == pytest.approx(weights[~shown].sum() / weights.sum())
        assert found["rate"] <= found["raw"] * (1 + 1e-9)
        compared += 1
        removed += bool((~shown).any())
    assert (parted if technique == "anatomy" else compared) >= times(4, share=2)
    assert removed or not lax


def test_the_weight_would_single_everyone_out() -> None:
    """PE-11: rows that are alone."""

    def alone(case: Case) -> int:
        return released(case).class_sizes.tolist().count(1)

    shown = dataclasses.replace(SURVEY, weight="", quasi=(*QUASI, "weight"))
    assert (alone(SURVEY), alone(shown)) == (2, 8)


def means(case: Case = SURVEY, **given: Any) -> dict[tuple[str, ...], Fraction]:
    result = released(case, export={"class_weights": True}, **given)
    header, *lines = result.all_files["weights.csv"].decode().splitlines()
    shown = [name for name in result.published.column_names if name in case.quasi]
    assert header.split(",") == [*shown, "rows", case.weight]
    (check,) = (c for c in result.verification.checks if c.name == "class-weights")
    assert check.holds
    assert lines == sorted(lines)
    return {tuple(line.split(",")[:-1]): Fraction(line.split(",")[-1]) for line in lines}


def test_the_mean_weight_of_each_class_is_published() -> None:
    """PE-11: class means keep the total."""
    found = means()
    assert found["F", "30", "1010", "2"] == Fraction(127, 4)
    assert found["M", "41", "1020", "2"] == 28
    assert found["F", "52", "1030", "2"] == Fraction(13, 2)
    assert sum(int(key[-1]) * mean for key, mean in found.items()) == Fraction(1531, 2)
    result = released(export={"class_weights": True})
    assert "2 rows without a row alike" in " ".join(result.cautions)
    assert "weights.csv" not in released().all_files


@pytest.mark.parametrize("technique", ["optimal", "mondrian"])
def test_mean_weights_are_those_of_a_plain_computation(technique: str) -> None:
    compared = 0
    for number in range(8):
        rng = np.random.default_rng(number)
        case = random_case(rng)
        many = len(next(iter(case.columns.values())))
        weights = [f"{w:.2f}" for w in 1 + rng.exponential(20, many)]
        given = {"algorithm": {"name": technique}, "export": {"class_weights": True}}
        plan = weighted(case, weights).plan(**given)
        try:
            result = run(plan, weighted(case, weights).dataset)
        except AnonError:
            continue
        lines = result.all_files["weights.csv"].decode().splitlines()[1:]
        classes = [np.flatnonzero(result.row_group == g) for g in set(result.row_group) - {-1}]
        own = sorted(float(sum(Fraction(weights[i]) for i in c) / len(c)) for c in classes)
        answer = sorted(float(line.rsplit(",", 1)[1]) for line in lines)
        assert answer == pytest.approx(own, abs=6e-7)
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda text: text.replace("31.75", "31.76"), "another mean weight"),
        (lambda text: text.replace("31.75", "31.750"), "byte for byte"),
        (lambda text: text.replace(",2,31.75", ",1,31.75"), "byte for byte"),
        (lambda text: "\n".join(text.splitlines()[:-1]) + "\n", "byte for byte"),
        (lambda text: "", "byte for byte"),
        (None, "missing"),
    ],
)
def test_another_mean_weight_breaks_the_release(change: Any, name: str) -> None:
    result = released(export={"class_weights": True})
    files = {n: f for n, f in result.all_files.items() if n.endswith(".csv")}
    text = files.pop("weights.csv").decode()
    if change is not None:
        files["weights.csv"] = change(text).encode()
    levels = {column: result.level_rows(column) for column in QUASI}
    recipe = result.recipe.completed()
    found = verify(recipe, SURVEY.frame, levels, files)
    assert name in " ".join(check.sentence for check in found.broken)
    unasked = verify({**recipe, "export": {}}, SURVEY.frame, levels, result.all_files)
    assert "not asked for" in " ".join(check.sentence for check in unasked.broken)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"export": {"class_weights": "yes"}}, "true and false"),
        ({"export": {"class_weights": True, "csv": False}}, "csv = false"),
        ({"export": {"class_weights": True}, "algorithm": {"name": "anatomy"}}, "whole rows"),
    ],
)
def test_mean_weights_without_classes_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadPlan, match=why):
        SURVEY.plan(**given)


def test_mean_weights_need_weights_of_rows() -> None:
    bare = dataclasses.replace(SURVEY, weight="")
    with pytest.raises(BadPlan, match="no column has the role weight"):
        bare.plan(export={"class_weights": True})
    several = dataclasses.replace(SURVEY, person="home", identifier=())
    with pytest.raises(BadPlan, match="several rows count as one"):
        several.plan(export={"class_weights": True})


def of_people(case: Case, person: str, **given: Any) -> Result:
    """Release a table in which a column distinguishes persons, with a bound on the largest risk."""
    plain = dataclasses.replace(case, identifier=(), person=person)
    return released(plain, **given)


def test_a_bound_by_weights_counts_each_person_once() -> None:
    """Every row twice, with its person: the estimates are those of one row a person."""
    names = [name for name in NAMES if name != "home"]
    twice = dataclasses.replace(
        SURVEY,
        columns={
            **{n: [v for v in SURVEY.columns[n] for _ in "ab"] for n in names},
            "who": [str(i) for i in range(len(ROWS)) for _ in "ab"],
        },
        identifier=(),
        person="who",
    )
    bound = {"name": "maximum-risk", "risk": 0.05, "weights": "weight"}
    levels = {"name": "fixed-levels", "levels": dict.fromkeys(QUASI, 0), "max_suppression": 0.25}
    one = released(models=[bound], algorithm=levels)
    found = released(twice, models=[bound], algorithm=levels)
    assert [v.reached for v in found.verdicts] == [v.reached for v in one.verdicts]
    assert found.release.suppressed == 2 * one.release.suppressed > 0
    assert found.verification.holds
    alone = released(twice, models=[{"name": "maximum-risk", "risk": 1.0, "weights": "weight"}])
    assert sorted(alone.verdicts[0].per_class)[-1] == pytest.approx(0.119940424, rel=1e-7)


def estimate(name: str, weights: list[float], *, by_weights: bool) -> float:
    """Return what a class of persons with these weights reaches, term by term."""
    people, weight = len(weights), sum(weights)
    if name == "maximum-risk":
        return naive_risk(people, weight) if by_weights else 1 / people
    drawn = min(people / weight, 1.0) if by_weights else 0.2
    at = [math.comb(5, x) * drawn**x * (1 - drawn) ** (5 - x) for x in range(6)]
    return sum(at[people:]) / sum(at[1:])


@pytest.mark.often
@pytest.mark.parametrize("name", ["maximum-risk", "k-map-by-size"])
@pytest.mark.parametrize("by_weights", [True, False])
@pytest.mark.parametrize("role", ["person", "household"])
def test_models_of_people_are_those_of_a_plain_computation(
    name: str, by_weights: bool, role: str
) -> None:
    bound = 0.05 if by_weights or name == "k-map-by-size" else 0.5
    given = {"risk": bound} if name == "maximum-risk" else {"k": 6, "alpha": bound}
    given |= {"weights": "w"} if by_weights else {} if "risk" in given else {"share": 0.2}
    compared = parted = 0
    for number in range(times(6, share=2)):
        rng = np.random.default_rng([7, number])
        rows = int(rng.integers(12, 40))
        whose = [str(p) for p in rng.integers(0, rows // 2, rows)]
        own = {w: f"{1 + rng.exponential(9):.2f}" for w in sorted(set(whose))}
        drawn = [f"{1 + rng.exponential(9):.2f}" for _ in whose]
        shown = drawn if role == "household" else [own[w] for w in whose]
        a, b = ([str(v) for v in rng.choice(3, rows, p=(0.6, 0.3, 0.1))] for _ in "ab")
        case = Case(
            columns={"a": a, "b": b, "whose": whose, "w": shown},
            quasi=("a", "b"),
            kinds={"a": "text", "b": "text", "w": "number"},
        )
        plan = case.plan(
            roles={"quasi": ["a", "b"], "weight": "w", role: "whose"},
            algorithm={"name": "fixed-levels", "levels": {"a": 0, "b": 0}, "max_suppression": 1.0},
            models=[{"name": name, **given}],
        )
        pairs = list(zip(shown, whose, strict=True))
        of = {w: float(np.mean([float(s) for s, v in pairs if v == w])) for w in set(whose)}
        inside: dict[tuple[str, str], set[str]] = {}
        for *cell, person in zip(a, b, whose, strict=True):
            inside.setdefault((cell[0], cell[1]), set()).add(person)
        stay = {
            cell
            for cell, people in inside.items()
            if estimate(name, [of[p] for p in people], by_weights=by_weights) <= bound
        }
        try:
            result = run(plan, case.dataset)
        except AnonError:
            assert not stay
            continue
        cells = [result.published.column(n).to_pylist() for n in "ab"]
        assert set(zip(*cells, strict=True)) == stay
        assert result.verification.holds
        compared += 1
        parted += len(stay) < len(inside)
    assert compared >= times(3, share=2)
    assert parted


def naive_risk(people: int, weight: float) -> float:
    """Σ C(j−1, f−1) p^f q^(j−f) / j, term by term."""
    p = min(people / weight, 1.0)
    term, total = p**people, 0.0
    for j in range(people, 4000):
        total += term / j
        term *= (1 - p) * j / (j - people + 1)
    return total


def test_a_bound_by_weights_of_people_is_refused_with_its_least() -> None:
    bound = {"name": "maximum-risk", "risk": 1e-4, "weights": "weight"}
    with pytest.raises(Infeasible, match="even all rows as one class"):
        of_people(SURVEY_OF_HOMES, "home", models=[bound])


SURVEY_OF_HOMES = dataclasses.replace(
    SURVEY, columns={**SURVEY.columns, "weight": ["10", "10", "20", "30", "40", "40", "50", "60"]}
)
