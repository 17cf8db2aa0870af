"""Survey weights: worked examples by hand, through whole runs, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput, BadPlan, Infeasible
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.reidentification import individual_risk
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.knowledge.person_counts import class_weights
from anon_core.release.problem import build_problem
from anon_core.techniques.attacks.individual_risk import IndividualRisk
from tests import naive
from tests.making import Case, random_case

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
    found = individual_risk(np.array([f]), np.array([f / p]))
    assert found == pytest.approx([expected], rel=1e-9)
    assert found == pytest.approx([naive.expected_inverse(f, p)], rel=1e-9)


def test_a_whole_population_is_counted() -> None:
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


def test_the_size_alone_understates_the_risk() -> None:
    f = np.array([2, 2, 2, 2, 1, 2, 2, 1])
    equal = individual_risk(f, f * 1531 / 16)
    assert equal[0] == pytest.approx(0.010052331, abs=1e-9)
    assert equal[4] == pytest.approx(0.048169903, abs=1e-9)
    assert equal.mean() == pytest.approx(0.019581724, abs=1e-9)


@pytest.mark.parametrize(
    ("columns", "largest"),
    [
        (("sex",), 0.017009408),
        (("age",), 0.028863356),
        (("zip",), 0.028863356),
        (("sex", "age"), 0.119940424),
        (("sex", "zip"), 0.119940424),
        (("age", "zip"), 0.119940424),
    ],
)
def test_the_largest_risk_by_columns(columns: tuple[str, ...], largest: float) -> None:
    levels = {name: int(name not in columns) for name in QUASI}
    result = released(algorithm={"name": "fixed-levels", "levels": levels})
    assert risk(result)["worst"] == pytest.approx(largest, abs=1e-9)


def test_one_class_is_the_sample_share_of_all() -> None:
    result = released(algorithm={"name": "fixed-levels", "levels": dict.fromkeys(QUASI, 1)})
    assert risk(result)["worst"] == pytest.approx(0.001490366, abs=1e-9)


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


def test_privacy_models_count_rows_whatever_their_weights() -> None:
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "t-closeness", "t": 0.95},
        {"name": "t-closeness", "t": 0.9},
    ]
    algorithm = {"name": "optimal", "max_suppression": 0.25}
    told = [
        released(case, models=models, algorithm=algorithm)
        for case in (SURVEY, with_weights(*"98765432"), dataclasses.replace(SURVEY, weight=""))
    ]
    one, other, without = ([(v.model, v.reached, v.bound) for v in r.verdicts] for r in told)
    assert one == other == without
    assert told[0].files == told[1].files
    assert all("weight" not in table.column_names for table in told[0].tables.values())


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
    roles = dataclasses.replace(SURVEY.roles, identifier=(), household="home")
    problem = build_problem(SURVEY.dataset, roles)
    truth = truth_of(problem)
    (found,) = IndividualRisk().run(truth.raw, audience_of(problem), truth, Context())
    told = {row["chance to name"]: row for row in found.details[1].rows}
    assert told["any of a household"]["expected"] == pytest.approx(EXPECTED_HOMES, abs=1e-8)
    assert told["people by their household"]["expected"] == pytest.approx(0.608743992, abs=1e-8)
    assert told["people one by one"]["expected"] == pytest.approx(0.423884248, abs=1e-8)
    assert told["any of a household"]["worst"] == pytest.approx(0.130197061, abs=1e-8)
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
    with pytest.raises(BadPlan, match=r"\[roles\] weight is no name"):
        SURVEY.plan(roles={"quasi": ["age"], "weight": ["weight"]})
    with pytest.raises(BadPlan, match="sample"):
        released(data={"sample": 0.5})


def test_the_sum_of_weights_is_compared_with_the_population() -> None:
    told = released(population={"size": 1000}).cautions
    assert any("add up to 765.5, and the population is 1,000" in c for c in told)
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
    for number in range(12):
        rng = np.random.default_rng([59, number])
        drawn = random_case(rng, rows=int(rng.integers(8, 25)), quasi=2)
        weights = (1 + rng.exponential(20, len(drawn.rows))).round(2)
        case = dataclasses.replace(
            drawn,
            columns={**drawn.columns, "w": [f"{w:g}" for w in weights]},
            kinds={**drawn.kinds, "w": "number"},
            weight="w",
        )
        weights = np.array([float(w or 0) for w in case.columns["w"]])
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
    assert (parted if technique == "anatomy" else compared) >= 4
    assert removed or not lax


def test_the_weight_would_single_everyone_out() -> None:
    def alone(case: Case) -> int:
        return released(case).class_sizes.tolist().count(1)

    shown = dataclasses.replace(SURVEY, weight="", quasi=(*QUASI, "weight"))
    assert (alone(SURVEY), alone(shown)) == (2, 8)
