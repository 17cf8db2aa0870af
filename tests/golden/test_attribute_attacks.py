"""Worked examples of attacks on sensitive values, from the plan through the release to the attack.

Samarati (2008), slides 59 to 64: K-18 Carol, K-19 Hellen, K-20 skewness, K-21 similarity; Li, He,
Cao and Chen (2015): P-08 and P-10; Aalborg group 3 (2022): A-04, A-06, A-07.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anon_core.base.context import Context
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.techniques.attacks.attribute_inference import AttributeInference
from tests.asked import attacked
from tests.making import Case, by_hand, sample_case

DAYS = ("63/03/13", "63/03/18", "64/04/12", "64/04/15", "64/09/13", "64/09/27")
PATIENTS = sample_case(
    "samarati",
    {
        "Race": [(r, "person") for r in ("asian", "black", "white")],
        "DOB": [(d, d[:5], d[:2], "*") for d in DAYS],
        "Sex": [("F", "*"), ("M", "*")],
        "ZIP": [(z, f"{z[:4]}*", "941**") for z in ("94138", "94139", "94141", "94142")],
    },
)
SLIDE_59 = [
    *("hypertension", "obesity", "chest pain", "obesity", "obesity"),
    *("short breath", "short breath", "chest pain", "short breath"),
]


def slides(disease: Sequence[str], **attack: object) -> Result:
    """Release the slides' table at the slides' levels."""
    case = Case(
        columns={**PATIENTS.columns, "Disease": list(disease)},
        quasi=("Race", "DOB", "Sex", "ZIP"),
        sensitive=("Disease",),
        kinds=PATIENTS.kinds,
        levels=PATIENTS.levels,
    )
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": {"Race": 0, "DOB": 2, "Sex": 0, "ZIP": 2}},
        **({"attacks": [attack]} if attack else {}),
    )
    return run(plan, case.dataset, case.levels)


def class_of(result: Result, row: int) -> int:
    """Return the class of a row of the table, as attacks number classes."""
    return int(result.row_group[row])


def found(result: Result, attack: str) -> AttackResult:
    (one,) = (a for a in result.attacks if a.attack == attack)
    return one


def test_k_18_carol() -> None:
    carols = 5  # row of the first black woman
    shown = slides(SLIDE_59)
    homogeneity = found(shown, "homogeneity")
    assert homogeneity.per_class[class_of(shown, carols)] == 1
    assert homogeneity.succeeded == 4
    assert {class_of(shown, r) for r in (3, 4, 5, 6)} == set(homogeneity.classes_hit.tolist())
    # E-21: with the diseases of slide 19 no class is homogeneous.
    other = slides([str(v) for v in PATIENTS.columns["Disease"]])
    assert found(other, "homogeneity").succeeded == 0


def test_k_19_hellen() -> None:
    hellen = 7  # row of the first white woman
    before = slides(SLIDE_59)
    assert found(before, "homogeneity").per_class[class_of(before, hellen)] == 0.5
    expected = {"name": "background", "ruled_out": 0, "knows": {"short breath": 0.0}}
    after = slides(SLIDE_59, **expected)
    known = found(after, "background")
    assert known.per_class[class_of(after, hellen)] == 1
    # Certain of the other white woman, who runs: it would be wrong of her, who is not eligible.
    assert known.eligible == 6
    # So is anyone who may rule out any one value, of everyone but the three of two values and more.
    any_one = found(before, "background")
    assert any_one.per_class[class_of(before, hellen)] == 1


def test_k_20_diabetes() -> None:
    classes = [["diabetes", "short breath", "diabetes", "diabetes"]]
    classes += [["flu"] * 4, ["cold"] * 4, ["flu", "cold", "gout", "diabetes"], ["gout"] * 4]
    case = Case(
        columns={
            "zip": [str(c) for c, own in enumerate(classes) for _ in own],
            "disease": [v for own in classes for v in own],
        },
        quasi=("zip",),
        sensitive=("disease",),
        kinds={"zip": "text", "disease": "text"},
    )
    result = run(case.plan(), case.dataset)
    skewness = found(result, "skewness")
    own = class_of(result, 0)
    assert skewness.per_class[own] == pytest.approx(0.55)
    (values,) = skewness.details
    (diabetes,) = (row for row in values.rows if row["value"] == "diabetes")
    assert diabetes == {
        "value": "diabetes",
        "of everyone": pytest.approx(0.2),
        "of a class, at most": pytest.approx(0.75),
        "times": pytest.approx(3.75),
    }
    assert own in skewness.classes_hit


def test_k_21_diseases_of_the_stomach() -> None:
    case = Case(
        columns={
            "zip": ["1"] * 3 + ["2"] * 3,
            "disease": ["stomach ulcer", "stomach ulcer", "gastritis", "flu", "gastritis", "cold"],
        },
        quasi=("zip",),
        sensitive=("disease",),
        kinds={"zip": "text", "disease": "text"},
        levels={
            "disease": [
                ("stomach ulcer", "stomach disease", "*"),
                ("gastritis", "stomach disease", "*"),
                ("flu", "other", "*"),
                ("cold", "other", "*"),
            ]
        },
    )
    result = run(case.plan(), case.dataset, case.levels)
    similarity = found(result, "similarity")
    assert similarity.per_class[class_of(result, 0)] == 1
    assert similarity.classes_hit.tolist() == [class_of(result, 0)]
    assert (similarity.succeeded, similarity.baseline) == (3, 0)
    assert found(result, "homogeneity").succeeded == 0
    # Without a hierarchy nothing says that they are alike.
    bare = run(case.plan(), case.dataset)
    assert "nothing says which values are alike" in bare.not_run["similarity"]


@pytest.mark.parametrize("permuted", [False, True])
def test_p_08_and_p_10_bobs_chance(permuted: bool) -> None:
    """E-02: permuting the quasi-identifiers too leaves it where it is, at 1 in 5."""
    case = sample_case("li-microdata", {})
    first = ("Bob", "Alex", "Jane", "Lily", "Andy")
    problem = case.problem()
    quasi = (("Age",), ("Sex",)) if permuted else (("Age", "Sex"),)
    groups = [0 if n in first else 1 for n in case.columns["Name"]]
    release = by_hand(problem, groups, (*quasi, ("Disease",)))
    (one,) = AttributeInference().run(*attacked(problem, release.view), Context())
    block = release.view.block_of("Disease")
    emphysema = release.view.vocabularies["Disease"].texts.index("Emphysema")
    (entry,) = (i for i, c in enumerate(block.codes[:, 0].tolist()) if c == emphysema)
    assert block.count[entry] == 1
    assert one.per_class[block.group[entry]] == pytest.approx(1 / 5)


def test_a_04_and_a_06_two_of_three() -> None:
    for diseases in ("ABBAAB", "AABBBA"):
        case = Case(
            columns={"class": list("111222"), "disease": list(diseases)},
            quasi=("class",),
            sensitive=("disease",),
            kinds={"class": "text", "disease": "text"},
        )
        result = run(case.plan(models=[{"name": "k-anonymity", "k": 3}]), case.dataset)
        assert found(result, "homogeneity").succeeded == 0
        assert found(result, "attribute-inference").worst == pytest.approx(2 / 3)
        # Ruling out one of two values leaves one.
        assert found(result, "background").at_risk == 6


def test_a_07_four_hundred_of_five_hundred() -> None:
    case = Case(
        columns={"class": ["1", "2"] * 250, "disease": ["A"] * 400 + ["B"] * 100},
        quasi=("class",),
        sensitive=("disease",),
        kinds={"class": "text", "disease": "text"},
    )
    result = run(case.plan(), case.dataset)
    assert found(result, "attribute-inference").baseline == pytest.approx(0.8)
    assert found(result, "skewness").rate == pytest.approx(0)
