"""Microaggregation: groups against plain loops, releases by their own texts, and by hand."""

from __future__ import annotations

import csv
import io
import statistics
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, Cancelled, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack
from anon_core.methods.clusters.cluster_rows import average_vectors, standardised
from anon_core.methods.queries.query_answers import overlap
from anon_core.pipeline.measure.column_statistics import Bounded, column_statistics
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.knowledge.audience import audience_of
from anon_core.techniques.algorithms.microaggregation import Microaggregation, medians
from anon_core.techniques.metrics.group_loss import GroupLoss
from anon_core.techniques.metrics.loss import Loss
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from anon_core.techniques.metrics.squared_error import SquaredError
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.verification.checks import verify
from tests import naive
from tests.asked import attacked
from tests.making import PATIENTS, Case
from tests.often import often, times
from tests.strategies import cases, reordered

pytestmark = pytest.mark.kernels


def numbers(values: list[str | None], *more: list[str]) -> Case:
    columns = {"x": values} | {f"y{i}": own for i, own in enumerate(more)}
    return Case(
        columns=columns,  # type: ignore[arg-type]
        quasi=tuple(columns),
        kinds=dict.fromkeys(columns, "number"),
    )


def released(case: Case, k: int, *, assess: bool = False, **given: object) -> Result:
    plan = case.plan(
        algorithm={"name": "microaggregation", **given}, models=[{"name": "k-anonymity", "k": k}]
    )
    return run(plan, case.dataset, case.levels, assess=assess)


def cells(result: Result) -> list[list[str]]:
    return list(csv.reader(io.StringIO(result.csv.decode())))[1:]


@often(300)
@given(
    lines=st.lists(
        st.tuples(*[st.integers(-200, 200)] * 3, st.integers(1, 3)), min_size=1, max_size=39
    ),
    wide=st.integers(1, 3),
    alone=st.booleans(),
    k=st.integers(2, 5),
)
def test_groups_are_those_of_plain_loops(
    lines: list[tuple[int, int, int, int]], wide: int, alone: bool, k: int
) -> None:
    points = np.array([line[:wide] for line in lines]) / 64  # sums of these are exact
    count = np.array([1 if alone else line[3] for line in lines])
    assume(int(count.sum()) >= k)
    found = average_vectors(points, count, k, Context())
    groups = [np.flatnonzero(found == g).tolist() for g in range(int(found.max()) + 1)]
    expected = naive.mdav(points.tolist(), count.tolist(), k)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, expected))
    if count.max() == 1:
        assert all(k <= len(g) <= 2 * k - 1 for g in groups)


def test_by_hand() -> None:
    """The mean is 17; 50 is farthest and takes 40, then 1 is farthest from 50 and takes 2."""
    case = numbers(["1", "2", "4", "5", "40", "50"])
    found = average_vectors(
        standardised(case.problem(), np.ones(1)), np.ones(6, dtype=np.int64), 2, Context()
    )
    assert found.tolist() == [1, 1, 2, 2, 0, 0]
    result = released(case, 2, assess=True)
    assert [c[0] for c in cells(result)] == ["1.5", "1.5", "4.5", "4.5", "45.0", "45.0"]
    squares = sum((v - 17) ** 2 for v in (1, 2, 4, 5, 40, 50))
    assert result.measures["squared-error"].value == pytest.approx(51 / squares)
    # Of each group's hull: (1 + 1 + 10) / 3 of 49; of 6 leaves two are covered.
    assert result.measures["ncp"].value == pytest.approx((1 + 1 + 10) / 3 / 49)
    assert result.measures["loss"].value == pytest.approx(1 / 5)


@often(200)
@given(
    lines=st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 8)), min_size=1, max_size=12
    )
)
def test_medians_of_weighted_groups(lines: list[tuple[int, int, int]]) -> None:
    group, count, value = (np.array(own) for own in zip(*lines, strict=True))
    found = medians(group, count, value.astype(np.float64), 4)
    for g in range(4):
        own = [v for h, n, v in lines if h == g for _ in range(n)]
        assert (np.isnan(found[g])) if not own else found[g] == statistics.median(own)


@pytest.mark.often
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_every_published_number_is_the_average_of_its_class(statistic: str) -> None:
    averaged = 0

    @settings(max_examples=times(120))
    @given(
        case=cases(rows=(6, 30), kinds=("text", "number")),
        k=st.integers(2, 5),
        decimals=st.integers(0, 2),
    )
    def tried(case: Case, k: int, decimals: int) -> None:
        nonlocal averaged
        result = released(case, k, statistic=statistic, decimals=decimals, weights={"q0": 3})
        assert result.verification.holds
        checks = {c.name for c in result.verification.checks}
        has_numbers = any(case.kinds[name] == "number" for name in case.quasi)
        assert ({"groups", "averages"} <= checks) == has_numbers
        assert result.class_sizes.min() >= k
        assert result.release.suppressed == 0
        texts = [tuple(row) for row in cells(result)]
        classes: dict[int, list[int]] = defaultdict(list)
        for row, group in enumerate(result.row_group.tolist()):
            classes[group].append(row)
        width = len(case.quasi)
        published = sorted(t[:width] for t in texts)
        assert min(published.count(t) for t in published) >= k
        expected = {int(result.member[i]): t for i, t in enumerate(texts)}
        for group, members in classes.items():
            for d, name in enumerate(case.quasi):
                if case.kinds[name] != "number":
                    continue
                own = [case.columns[name][i] for i in members]
                present = [float(v) for v in own if v is not None]
                text = expected[group][d]
                if not present:
                    assert text == ""
                elif len(present) < len(own):
                    assert text == "*"
                else:
                    right = (
                        statistics.fmean(present)
                        if statistic == "mean"
                        else (statistics.median(present))
                    )
                    assert abs(float(text) - right) <= 0.5 * 10**-decimals + 1e-9
                    averaged += 1

    tried()
    assert averaged > 30


@often(32)
@given(case=cases(rows=(4, 25)), data=st.data())
def test_the_order_of_rows_does_not_matter(case: Case, data: st.DataObject) -> None:
    other = data.draw(reordered(case))
    assert released(case, 3).csv == released(other, 3).csv


@often(40)
@given(case=cases(rows=(4, 40)))
def test_promises_beyond_k_merge_groups(case: Case) -> None:
    plan = case.plan(
        algorithm={"name": "microaggregation"},
        models=[
            {"name": "k-anonymity", "k": 3},
            {"name": "l-diversity", "l": 2, "column": "s0"},
        ],
    )
    try:
        assert run(plan, case.dataset, case.levels, assess=False).verification.holds
    except Infeasible:
        assert len(set(case.column("s0"))) < 2


def test_one_text_has_one_cover_and_losses_are_the_classes_own() -> None:
    """Both groups publish the mean 10; an attacker can't tell them apart by x, only by y."""
    case = numbers(["10", "10", "5", "15"], ["0", "0", "90", "90"])
    result = released(case, 2, weights={"y0": 9})
    pool = result.release.vocabularies["x"]
    assert pool.texts == ("10.0",)
    assert (pool.lo.tolist(), pool.hi.tolist()) == ([0], [2])
    found = CertaintyPenalty().measure(result.problem, result.release, Context())
    assert found.per_column["x"] == pytest.approx(0.5)
    for metric in (Loss(), GroupLoss()):
        measured = metric.measure(result.problem, result.release, Context())
        assert measured.per_column["x"] == 0.5
    assert result.release.replaced == ("x", "y0")


def test_an_analyst_counts_what_is_shown() -> None:
    case = numbers(["1", "2", "40", "50", None, None])
    result = released(case, 2)
    hierarchy, pool = result.problem.hierarchies["x"], result.release.vocabularies["x"]
    assert pool.texts == ("1.5", "45.0", "")
    low, high = np.array([0, 1, 1, 4], np.int32), np.array([1, 2, 4, 4], np.int32)
    assert overlap(hierarchy, pool, low, high).tolist() == [
        [1, 0, 0],
        [0, 0, 0],
        [0, 1, 1],
        [0, 0, 1],
    ]


@pytest.mark.parametrize("people", ["size", "sample"])
def test_nobody_of_a_population_is_matched_to_averages(people: str) -> None:
    """The prosecutor's chance stays; who else might be meant is not shown by what a mean covers."""
    case = numbers([str(v) for v in range(12)])
    plan = case.plan(
        algorithm={"name": "microaggregation"},
        models=[{"name": "k-anonymity", "k": 3}],
        population={"size": 50} if people == "size" else {},
        data={"sample": 0.75} if people == "sample" else {},
    )
    result = run(plan, case.dataset)
    assert result.problem.population is not None
    assert {a.attack for a in result.attacks} == {"prosecutor", "uniqueness"}
    view = result.release.view
    for name in ("journalist", "marketer", "membership"):
        attack = find("attack", name)()
        assert isinstance(attack, Attack)
        reason = attack.reason_not_applicable(view, audience_of(result.problem))
        assert reason.startswith("It needs")
        assert "average" in reason or (name, people) == ("membership", "size")
        with pytest.raises(AnonError):
            attack.run(*attacked(result.problem, view), Context())


def test_squared_error_of_other_releases() -> None:
    case = numbers(["1", "3", "11", "13"])
    plan = case.plan(algorithm={"name": "mondrian"})
    result = run(plan, case.dataset, case.levels)
    assert result.measures["squared-error"].value == pytest.approx(4 / (36 + 16 + 16 + 36))
    words = Case(columns={"q": list("aabb")}, quasi=("q",), kinds={"q": "text"})
    assert SquaredError().reason_not_applicable(words.problem()).startswith("It needs")
    other = run(words.plan(), words.dataset)
    assert "squared-error" not in other.measures
    with pytest.raises(AnonError, match="needs a quasi-identifier of numbers"):
        SquaredError().measure(other.problem, other.release, Context())


def test_small_tables_wrong_weights_and_cancelling() -> None:
    problem = PATIENTS.problem()
    with pytest.raises(Infeasible, match="need at least 9 rows"):
        Microaggregation().run(problem, [KAnonymity(k=9)], Context())
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        Microaggregation(weights={"nothing": 2}).run(problem, [KAnonymity(k=2)], Context())
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        Microaggregation().run(problem, [KAnonymity(k=2)], context)


@pytest.mark.often
@pytest.mark.parametrize("statistic", ["mean", "median"])
@settings(max_examples=times(30))
@given(
    whole=st.lists(st.integers(-(10**17), 10**17), min_size=4, max_size=12, unique_by=float),
    shift=st.sampled_from([0, 2]),
)
def test_averages_of_numbers_beyond_floats_are_exact(
    statistic: str, whole: list[int], shift: int
) -> None:
    """Of whole numbers beyond 2^53, and of as many digits with decimals."""
    texts = [format(Decimal(n).scaleb(-shift), "f") for n in whole]
    case = Case(
        columns={"q0": list(texts), "s0": ["a"] * len(texts)},
        quasi=("q0",),
        sensitive=("s0",),
        kinds={"q0": "number", "s0": "text"},
    )
    result = released(case, 2, statistic=statistic, decimals=1)
    assert result.verification.holds
    classes: dict[int, list[Fraction]] = defaultdict(list)
    for text, group in zip(texts, result.row_group.tolist(), strict=True):
        classes[group].append(Fraction(text))
    average = statistics.mean if statistic == "mean" else statistics.median
    expected = sorted(average(own) for own in classes.values() for _ in own)
    shown = sorted(Fraction(row[0]) for row in cells(result))
    half = Fraction(1, 2 * 10 ** (1 + shift))
    assert all(abs(a - b) <= half for a, b in zip(shown, expected, strict=True))
    column = column_statistics(result, "q0").before
    assert column.maximum is not None
    if max(abs(n) for n in whole) >= 2**53 * 10**shift:
        assert Fraction(column.maximum.low) == max(map(Fraction, texts)) or shift
        assert column.mean is not None
        assert column.mean.low == pytest.approx(float(statistics.mean(map(Fraction, texts))))


def test_an_average_off_by_one_in_seventeen_digits_is_refused() -> None:
    texts = ["90071992547409931", "90071992547409971", "90071992547410011", "12", "13", "17"]
    case = Case(
        columns={"q0": texts, "s0": list("aabbcc")},
        quasi=("q0",),
        sensitive=("s0",),
        kinds={"q0": "number", "s0": "text"},
    )
    result = released(case, 3)
    assert result.files["release.csv"].count(b"90071992547409971.0") == 3
    assert column_statistics(result, "q0").before.maximum == Bounded(
        low=int(texts[2]), high=int(texts[2])
    )
    changed = result.files["release.csv"].replace(b"09971.0", b"09972.0")
    found = verify(
        result.recipe.completed(),
        case.dataset.frame(),
        {},
        {"release.csv": changed},
        witness=result.witness,
    )
    assert [c.name for c in found.broken] == ["groups"]
