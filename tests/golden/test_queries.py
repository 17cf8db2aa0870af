"""Count queries and reconstruction errors of Li, He, Cao and Chen (2015)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.methods.bucketized.reconstruction import (
    anatomy_bound,
    anatomy_reconstruction,
    permutation_reconstruction,
    person_bound,
    person_error,
)
from anon_core.methods.queries.count_queries import Workload, asking, interval_length
from anon_core.methods.queries.query_answers import counts, estimates
from anon_core.pipeline.runner import run
from anon_core.release.grouping import group_runs
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_boxes
from anon_core.techniques.metrics.query_error import QueryError
from anon_core.techniques.metrics.reconstruction_error import ReconstructionError
from tests.making import Case, by_hand, sample_case

# Every age from 10 to 90 is a leaf, so that both conventions of the estimate can be distinguished.
CASE = sample_case(
    "li-microdata",
    {
        "Age": [(str(a), "*") for a in range(10, 91)],
        "Sex": [("F", "*"), ("M", "*")],
    },
)
PROBLEM = CASE.problem()
FIRST = ("Bob", "Alex", "Jane", "Lily", "Andy")
GROUPS = [0 if name in FIRST else 1 for name in CASE.columns["Name"]]


def question(age: tuple[str, str], sex: str, disease: str = "") -> Workload:
    leaf = {name: PROBLEM.hierarchies[name].code for name in ("Age", "Sex", "Disease")}
    asked = {
        "Age": (leaf["Age"][age[0]], leaf["Age"][age[1]]),
        "Sex": (leaf["Sex"][sex], leaf["Sex"][sex]),
    }
    if disease:
        asked["Disease"] = (leaf["Disease"][disease], leaf["Disease"][disease])
    return asking([asked])


# SELECT COUNT(*) WHERE Age IN [40, 70] AND Sex = F AND Disease = Flu
QUERY = question(("40", "70"), "F", "Flu")


def generalized() -> Release:
    """Table 2, with the paper's boxes [50-90] and [10-50]."""
    run_of_row = PROBLEM.frequency.run[PROBLEM.frequency.row_key]
    group = np.empty(len(PROBLEM.frequency.run_count), dtype=np.int64)
    group[run_of_row] = GROUPS
    vocabularies, cells = {}, {}
    for name, boxes in (("Age", [("50", "90"), ("10", "50")]), ("Sex", [("F", "M")] * 2)):
        hierarchy = PROBLEM.hierarchies[name]
        lo = np.array([hierarchy.code[low] for low, _ in boxes], dtype=np.int32)
        hi = np.array([hierarchy.code[high] for _, high in boxes], dtype=np.int32)
        vocabularies[name], cells[name] = of_boxes(hierarchy, "text", lo, hi, as_nodes=False)
    return one_block(PROBLEM, group_runs(PROBLEM.frequency, group, 2), vocabularies, cells)


def anatomy() -> Release:
    """Tables 3a and 3b: QIT and ST."""
    return by_hand(PROBLEM, GROUPS, (("Age", "Sex"), ("Disease",)))


def permuted() -> Release:
    """Tables 4 and 3b: PQT and PST; every column is permuted by itself."""
    return by_hand(PROBLEM, GROUPS, (("Age",), ("Sex",), ("Disease",)))


def answer(release: Release, query: Workload = QUERY, **given: str) -> float:
    [found] = estimates(release.view, PROBLEM.hierarchies, query, **given)  # type: ignore[arg-type]
    return float(found)


def test_p_01_the_table_answers_1() -> None:
    assert counts(PROBLEM, QUERY).tolist() == [1]


def test_p_02_boxes_answer_3_8_by_length_and_16_41_by_whole_years() -> None:
    assert answer(generalized(), spread="length") == pytest.approx(3 / 8, abs=1e-15)
    assert answer(generalized(), spread="leaves") == pytest.approx(16 / 41, abs=1e-15)


def test_p_03_anatomy_answers_two_fifths_and_one_half() -> None:
    assert answer(anatomy()) == pytest.approx(0.9, abs=1e-15)
    for group, term in ((0, 2 / 5), (1, 1 / 2)):
        alone = [0 if g == group else -1 for g in GROUPS]
        part = by_hand(PROBLEM, alone, (("Age", "Sex"), ("Disease",)))
        assert answer(part) == pytest.approx(term, abs=1e-15)


def test_p_04_permutation_answers_0_855_which_the_printed_terms_do_not_give() -> None:
    assert answer(permuted()) == pytest.approx(0.855, abs=1e-15)
    for group, term in ((0, 12 / 25), (1, 3 / 8)):
        alone = [0 if g == group else -1 for g in GROUPS]
        part = by_hand(PROBLEM, alone, (("Age",), ("Sex",), ("Disease",)))
        assert answer(part) == pytest.approx(term, abs=1e-15)
    assert Fraction(4, 5) * Fraction(3, 5) + Fraction(3, 5) * Fraction(2, 4) == Fraction(78, 100)


def test_p_10_bobs_disease_in_the_anatomy_is_a_point_query() -> None:
    known = answer(anatomy(), question(("65", "65"), "M"))
    assert known == pytest.approx(1.0, abs=1e-15)
    ill = answer(anatomy(), question(("65", "65"), "M", "Emphysema"))
    assert ill / known == pytest.approx(1 / 5, abs=1e-15)


def test_p_11_reconstruction_of_the_anatomy() -> None:
    found = anatomy_reconstruction(anatomy(), "Disease", 4)
    assert found.error == pytest.approx(7.0, abs=1e-12)
    assert found.per_group.tolist() == pytest.approx([4.0, 3.0])
    assert anatomy_bound(9, 4) == 27 / 4


def test_p_11_and_p_12_as_a_metric() -> None:
    whole, cut = anatomy(), permuted()
    found = ReconstructionError(least=4).measure(whole.problem, whole, Context())
    assert found.value == pytest.approx(7 / 9)
    assert found.also["RCE"] == pytest.approx(7)
    assert found.also["Anatomy's least, n(1 − 1/l)"] == pytest.approx(27 / 4)
    found = ReconstructionError().measure(cut.problem, cut, Context())
    assert found.also["RCE"] == pytest.approx(749 / 100)
    assert found.also["Li's least (theorem 2)"] == pytest.approx(3717 / 500)


def test_the_density_that_is_rebuilt_of_a_person() -> None:
    whole = anatomy()
    found = anatomy_reconstruction(whole, "Disease", 4)
    for entry, group in enumerate(found.group.tolist()):
        table = whole.view.block_of("Disease")
        rebuilt = found.delta[entry] * table.count[table.group == group]
        assert set(rebuilt.tolist()) == {[1 / 5, 1 / 4][group]}
        assert rebuilt.sum() == pytest.approx(1)


def test_p_12_reconstruction_of_the_permutation() -> None:
    found = permutation_reconstruction(permuted(), "Disease", 4)
    assert found.error == pytest.approx(749 / 100, abs=1e-12)
    assert found.bound == pytest.approx(3717 / 500, abs=1e-12)
    assert found.bound_holds
    assert found.error >= found.bound


def test_p_13_the_bound_fails_for_groups_of_2_l_rows() -> None:
    own, squares = np.full(8, 2), np.full(8, 4 * 2**2)
    assert person_error(np.full(8, 1 / 32), own, squares).mean() == 57 / 64
    [bound] = person_bound(np.array([1 / 32]), 4)
    assert bound == 241 / 256 > 57 / 64


@pytest.mark.parametrize(
    ("predicates", "printed", "length"),
    [(4, 49, 43), (5, 53, 49), (6, 56, 53), (7, 58, 56), (8, 60, 58)],
)
def test_p_15_interval_of_78_ages(predicates: int, printed: int, length: int) -> None:
    assert interval_length(78, 0.1, predicates) == length
    # What the paper prints counts the sensitive predicate twice.
    assert interval_length(78, 0.1, predicates + 1) == printed


def test_p_16_what_permutation_gains_it_gains_by_its_groups() -> None:
    """On the same groups it answers worse than Anatomy; groups of near rows make up for some."""
    draw = np.random.default_rng(16)
    rows = 400
    case = Case(
        columns={
            "age": [str(n) for n in draw.integers(20, 80, rows)],
            "hours": [str(n) for n in draw.integers(10, 60, rows)],
            "disease": [f"d{n}" for n in draw.integers(0, 12, rows)],
        },
        quasi=("age", "hours"),
        sensitive=("disease",),
        kinds={"age": "number", "hours": "number"},
    )
    metric = QueryError(queries=300, predicates=3, selectivity=0.1)
    error: dict[tuple[str, str], float] = {}
    for technique in ("anatomy", "permutation"):
        for groups in ("bisection", "anatomize"):
            plan = case.plan(
                algorithm={"name": technique, "partition": groups},
                models=[{"name": "frequency-l-diversity", "l": 4}],
            )
            result = run(plan, case.dataset, assess=False)
            measured = metric.measure(result.problem, result.release, Context())
            error[technique, groups] = measured.value
    assert error["anatomy", "bisection"] < error["permutation", "bisection"]
    assert error["anatomy", "anatomize"] < error["permutation", "anatomize"]
    assert error["permutation", "bisection"] < error["permutation", "anatomize"]
