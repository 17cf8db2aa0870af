"""Several rows about one person: classes are of persons, whatever counts rows is refused.

Everything is compared with plain counts over rows, made here from what was published of each row.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput, BadPlan, Infeasible, NotFound
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.attack import Attack
from anon_core.contracts.model import GroupModel
from anon_core.data.hierarchy.hierarchy_cache import prepared
from anon_core.data.profile import uniqueness
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.random_streams import drawn_for
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.similarity import Similarity
from anon_core.verification.checks import verify
from tests import naive
from tests.making import Case
from tests.often import often, times
from tests.strategies import cases, cells_of, reordered, repeated, with_column

COUNTING = [n for n, a in family("algorithm").items() if a.needs.counts_people]  # type: ignore[attr-defined]
ROWS_ONLY = [n for n in family("algorithm") if n not in COUNTING]
K = {"name": "k-anonymity"}
#: What somebody says who takes several rows of one person for several persons.
ROWS_ARE_PERSONS = [{"column": "who", "what": "repeats", "rows": 3_000}]


#: Thirty rows about eight people, some of whom have many.
STAYS = Case(
    columns={
        "q0": [f"v{i * i % 5}" for i in range(30)],
        "q1": [str(i % 4) for i in range(30)],
        "s0": [*"abcab"] * 6,
        "s1": [*"114"] * 10,
        "who": [f"p{min(i * i % 11, 7)}" for i in range(30)],
    },
    quasi=("q0", "q1"),
    sensitive=("s0", "s1"),
    kinds={"q0": "text", "q1": "number", "s0": "text", "s1": "number"},
    levels={"q0": [(f"v{i}", f"g{i // 2}", "*") for i in range(5)]},
    person="who",
)


def members(result: Result) -> list[list[int]]:
    """Return the rows of the table in each published class, by the run's own account of them."""
    found: dict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(result.row_group.tolist()):
        if group >= 0:
            found[group].append(row)
    return list(found.values())


def persons(case: Case, rows: Sequence[int]) -> set[str]:
    return {case.column("who")[i] for i in rows}


def share(case: Case, rows: Sequence[int], column: str) -> tuple[int, int]:
    """Return the persons who have the most common value, and those who have any."""
    having: dict[str, set[str]] = defaultdict(set)
    for i in rows:
        having[case.column(column)[i]].add(case.column("who")[i])
    return max(map(len, having.values())), len(persons(case, rows))


@pytest.mark.often
@pytest.mark.parametrize(
    ("name", "setting"),
    [(name, {}) for name in COUNTING]
    + [("mondrian", {"cuts": "relaxed"}), ("mondrian", {"cut_at": "best-gain"})]
    + [("datafly", {"max_suppression": 0.3}), ("samarati", {"max_suppression": 0.3})],
)
def test_every_released_class_has_k_persons(name: str, setting: dict[str, object]) -> None:
    released = 0

    @settings(max_examples=times(24))
    @given(case=repeated(rows=(16, 40), people=(7, 13)), k=st.integers(2, 4))
    def tried(case: Case, k: int) -> None:
        nonlocal released
        plan = case.plan(
            algorithm={"name": name, **setting}, models=[{**K, "k": k}, {"name": "l-diversity"}]
        )
        try:
            result = run(plan, case.dataset, case.levels, assess=False)
        except (Infeasible, NotFound):
            return
        released += 1
        for rows in members(result):
            assert len(persons(case, rows)) >= k
        smallest = min(len(persons(case, rows)) for rows in members(result))
        assert result.verdicts[0].reached == smallest
        assert result.verdicts[0].sentence.startswith(f"The smallest class has {smallest} people")

    tried()
    assert released


@pytest.mark.often
def test_the_best_levels_are_those_of_enumeration() -> None:
    proven = refused = fewer = 0

    @settings(max_examples=times(60))
    @given(case=repeated(), k=st.integers(2, 4), budget=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    def tried(case: Case, k: int, budget: float) -> None:
        nonlocal proven, refused, fewer
        rows, attributes = case.rows, case.attributes
        costs: dict[naive.Node, object] = {}
        for node in naive.every_node(attributes):
            every = naive.classes(rows, attributes, node)
            kept = naive.kept_classes(every, 1, [(case.column("who"), k)])
            gone = len(naive.removed_rows(every, kept))
            if kept and gone <= budget * len(rows) + 1e-9:
                covers = naive.covers_at(kept, attributes, node)
                costs[node] = naive.cost("loss", rows, attributes, covers)
        plan = case.plan(
            algorithm={"name": "optimal", "max_suppression": budget}, models=[{**K, "k": k}]
        )
        if not costs:
            with pytest.raises(Infeasible):
                run(plan, case.dataset, case.levels, assess=False)
            refused += 1
            return
        result = run(plan, case.dataset, case.levels, assess=False)
        least = min(costs.values())  # type: ignore[type-var]
        assert result.account.proven
        assert result.account.cost == pytest.approx(float(least))  # type: ignore[arg-type]
        proven += 1
        fewer += any(len(persons(case, rows)) < len(rows) for rows in members(result))

    tried()
    assert proven
    assert refused
    assert fewer  # else rows would do as well


@pytest.mark.often
def test_the_best_levels_for_shares_of_people_are_those_of_enumeration() -> None:
    proven = refused = 0

    @settings(max_examples=times(60))
    @given(case=repeated(people=(4, 19)), budget=st.sampled_from([0.0, 0.3, 1.0]))
    def tried(case: Case, budget: float) -> None:
        nonlocal proven, refused
        rows, attributes = case.rows, case.attributes
        costs: list[float] = []
        for node in naive.every_node(attributes):
            every = naive.classes(rows, attributes, node)
            kept = {
                cells: own
                for cells, own in every.items()
                for most, known in [share(case, own, "s0")]
                if most * 2 <= known
            }
            gone = len(naive.removed_rows(every, kept))
            if kept and gone <= budget * len(rows) + 1e-9:
                covers = naive.covers_at(kept, attributes, node)
                costs.append(float(naive.cost("loss", rows, attributes, covers)))
        model = {"name": "frequency-l-diversity", "l": 2, "column": "s0"}
        plan = case.plan(algorithm={"name": "optimal", "max_suppression": budget}, models=[model])
        if not costs:
            with pytest.raises(Infeasible):
                run(plan, case.dataset, case.levels, assess=False)
            refused += 1
            return
        result = run(plan, case.dataset, case.levels, assess=False)
        assert result.account.cost == pytest.approx(min(costs))
        proven += 1
        worst = [share(case, own, "s0") for own in members(result)]
        assert result.verdicts[0].reached == pytest.approx(min(n / most for most, n in worst))

    tried()
    assert proven
    assert refused


def test_a_threshold_that_is_just_met_is_met_by_persons_as_well() -> None:
    """A class of 20, whose chances of 1/20 add up to more than 1 one by one."""
    columns = {"q0": ["a"] * 20, "s0": ["x", "y"] * 10, "who": [f"p{i}" for i in range(20)]}
    kinds: dict[str, ColumnKind] = {"q0": "text", "s0": "text", "who": "text"}
    case = Case(columns=columns, quasi=("q0",), sensitive=("s0",), kinds=kinds, person="who")
    asked = [{"name": "marketer", "threshold": 0.05}]
    found = run(case.plan(models=[{**K, "k": 3}], attacks=asked), case.dataset, {})
    marketer = next(a for a in found.attacks if a.attack == "marketer")
    assert marketer.rate == 0.05
    assert marketer.at_risk == 0


@pytest.mark.often
def test_a_person_column_of_single_rows_changes_no_figure() -> None:
    @settings(max_examples=times(20))
    @given(case=cases(rows=(6, 30), quasi=(2, 2), missing=False))
    def tried(case: Case) -> None:
        single: list[str | None] = [f"p{i}" for i in range(len(case.rows))]
        case = dataclasses.replace(case, person="who")
        alone = dataclasses.replace(case, columns={**case.columns, "who": single})
        without = dataclasses.replace(alone, person="", identifier=("who",))
        models = [{**K, "k": 3}, {"name": "frequency-l-diversity", "l": 2, "column": "s0"}]
        for chosen in (models, models[:1]):
            algorithm = {"name": "optimal", "max_suppression": 0.3}
            try:
                expected = run(
                    without.plan(algorithm=algorithm, models=chosen), without.dataset, case.levels
                )
            except Infeasible:
                continue
            found = run(alone.plan(algorithm=algorithm, models=chosen), alone.dataset, case.levels)
            assert found.files == expected.files
            assert [v.reached for v in found.verdicts] == [v.reached for v in expected.verdicts]
            before = {(a.attack, a.column): a for a in expected.attacks}
            assert {a.attack for a in found.attacks} >= {"prosecutor", "marketer", "homogeneity"}
            for a in found.attacks:
                b = before[a.attack, a.column]
                for one, other in (
                    (a.rate, b.rate),
                    (a.raw, b.raw),
                    (a.worst, b.worst),
                    (a.baseline, b.baseline),
                    (a.at_risk, b.at_risk),
                    (a.attempted, b.attempted),
                    (a.eligible, b.eligible),
                ):
                    assert one == pytest.approx(other), a.attack

    tried()


def test_attacks_count_distinct_persons() -> None:
    # Two classes: A with p0 (3 rows) and p1, B with p1, p2 and p3. All of A have the flu.
    case = Case(
        columns={
            "age": ["20"] * 4 + ["40"] * 3,
            "illness": ["flu", "cold", "flu", "flu", "cold", "gout", "cold"],
            "who": ["p0", "p0", "p0", "p1", "p1", "p2", "p3"],
        },
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "text"},
        person="who",
    )
    result = run(case.plan(), case.dataset)
    found = {a.attack: a for a in result.attacks}
    prosecutor = found["prosecutor"]
    assert (prosecutor.attempted, prosecutor.eligible) == (4, 4)
    # p0 and p1 are one of two in A, p2 and p3 one of three in B.
    assert prosecutor.rate == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 / 3) / 4)
    assert prosecutor.worst == pytest.approx(1 / 2)
    assert prosecutor.at_risk == 4
    assert found["marketer"].rate == prosecutor.rate
    # Everyone of A has had the flu, p0 next to a cold; of B 2 of 3 a cold.
    homogeneity = found["homogeneity"]
    assert (homogeneity.succeeded, homogeneity.attempted) == (2, 4)
    inference = found["attribute-inference"]
    assert inference.succeeded == 3  # p0 and p1 by A, p1 and p3 by B
    assert inference.baseline == 3 / 4  # p0, p1 and p3 have had a cold
    # Everyone of A has had the flu, as 2 of 4 have; of B 1 of 3 the gout, as 1 of 4 have.
    skewness, belief = found["skewness"], found["probabilistic"]
    assert skewness.worst == pytest.approx(1 / 2)
    assert skewness.rate == pytest.approx((1 / 2 + 1 / 2 + 1 / 12 + 1 / 12) / 4)
    # p3 has had a cold, as 2 of 3 of B and 3 of 4 of all have.
    assert belief.rate == pytest.approx((1 / 2 + 1 / 2 + 1 / 12 - 1 / 12) / 4)
    assert (skewness.at_risk, belief.at_risk, belief.attempted) == (2, 2, 4)
    assert set(result.not_run) >= {"journalist", "fake-tuples", "membership", "background"}
    assert "one person has several" in result.not_run["membership"]


def test_a_belief_that_only_falls_is_not_said_to_grow() -> None:
    # Everyone has had both illnesses; each class shows one person with each.
    case = Case(
        columns={
            "age": ["20", "20", "40", "40"],
            "illness": ["flu", "cold", "cold", "flu"],
            "who": ["p0", "p1", "p0", "p1"],
        },
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "text"},
        person="who",
    )
    (found,) = (a for a in run(case.plan(), case.dataset).attacks if a.attack == "probabilistic")
    assert (found.rate, found.worst, found.at_risk) == (0, 0, 0)
    assert found.sentence == (
        "No class makes any value of 'illness' likelier than the whole release does."
    )


@often(60)
@given(
    case=repeated(rows=(5, 24), people=(2, 7)),
    numbers=st.lists(st.integers(0, 12), min_size=24, max_size=24),
    width=st.sampled_from([0.0, 0.2, 0.5]),
)
def test_what_values_have_in_common_is_certain_where_everyone_has_such_a_value(
    case: Case, numbers: list[int], width: float
) -> None:
    rows = len(case.rows)
    text: list[str | None] = [str(n) for n in numbers[:rows]]
    case = dataclasses.replace(
        case,
        columns={**{n: case.columns[n] for n in (*case.quasi, "who")}, "n": text},
        sensitive=("n",),
        kinds={**{n: k for n, k in case.kinds.items() if n in case.quasi}, "n": "number"},
    )
    # Values 0 to 12 in halves, and ranges of numbers.
    halves = [(str(i), "low" if i < 6 else "high", "*") for i in range(13)]
    classes: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i in range(rows):
        classes[tuple(case.columns[n][i] for n in case.quasi)].append(i)
    problem = case.problem()
    everyone, span = set(case.column("who")), max(numbers[:rows]) - min(numbers[:rows])
    tree = prepared(case.dataset.column("n"), halves)
    for levels in (None, tree):
        other = problem if levels is None else dataclasses.replace(problem, trees={"n": levels})
        sure: set[str] = set()
        highest = 0.0
        for own in classes.values():
            whom = persons(case, own)
            most = 0
            for first in {numbers[i] for i in own}:
                if levels is None:
                    here = [i for i in own if first <= numbers[i] <= first + width * span + 1e-9]
                else:
                    here = [i for i in own if (numbers[i] < 6) == (first < 6)]
                most = max(most, len(persons(case, here)))
            highest = max(highest, most / len(whom))
            sure |= whom if most == len(whom) else set()
        (found,) = Similarity(width=width).run(
            raw_view(other), audience_of(other), truth_of(other), Context()
        )
        assert (found.succeeded, found.attempted) == (len(sure), len(everyone))
        assert found.worst == pytest.approx(highest)


@pytest.mark.often
def test_who_is_alone_over_all_columns_is_counted_in_people() -> None:
    seen = 0

    @settings(max_examples=times(40))
    @given(case=repeated())
    def tried(case: Case) -> None:
        nonlocal seen
        try:
            result = run(case.plan(), case.dataset, case.levels, assess=False)
        except Infeasible:
            return
        says: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for place, own in enumerate(members(result)):
            for i in own:
                line = (place, *(case.columns[n][i] for n in ("s0", "s1")))
                says[line].add(case.column("who")[i])
        alone = set().union(*(w for w in says.values() if len(w) == 1))
        published = {w for whose in says.values() for w in whose}
        assert result.unique_of == (len(published), len(alone))
        figures = figures_of(result)
        assert figures["people"] == len(set(case.column("who")))
        assert figures["published_people"] == len(published)
        assert figures["smallest_class_people"] == min(
            len(persons(case, own)) for own in members(result)
        )
        seen += len(alone) < len(published)

    tried()
    assert seen


@often(80)
@given(case=repeated(quasi=(3, 3)))
def test_uniqueness_counts_people(case: Case) -> None:
    def alone(names: Sequence[str]) -> int:
        having: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for i, who in enumerate(case.column("who")):
            having[tuple(case.columns[n][i] for n in names)].add(who)
        return len(set().union(*(w for w in having.values() if len(w) == 1)))

    found = uniqueness(case.dataset, case.quasi, "who")
    assert (found.rows, found.counted) == (len(set(case.column("who"))), "people")
    assert found.unique == alone(case.quasi)
    for left_out in case.quasi:
        rest = [n for n in case.quasi if n != left_out]
        assert found.contribution[left_out] == found.unique - alone(rest)


def test_stays_of_few_patients_hide_nobody_in_few_people() -> None:
    """3,000 stays of some 1,700 patients: k = 5 of stays leaves classes of 3 patients."""
    rng = np.random.default_rng(515)
    often_ill = rng.dirichlet(np.full(2_000, 3.0))
    patient = rng.choice(2_000, 3_000, p=often_ill)
    born = rng.integers(1930, 2010, 2_000)[patient]
    columns: dict[str, list[str | None]] = {
        "who": [f"p{p}" for p in patient.tolist()],
        "born": [str(b) for b in born.tolist()],
        "sex": ["FM"[p % 2] for p in patient.tolist()],
        "zip": [str(100 + p % 7) for p in patient.tolist()],
        "illness": [str(v) for v in rng.choice(list("abcdef"), 3_000)],
    }
    stays = Case(
        columns=columns,
        quasi=("born", "sex", "zip"),
        sensitive=("illness",),
        kinds={"born": "number", "zip": "text", "sex": "text"},
        identifier=("who",),
    )
    patients = dataclasses.replace(stays, identifier=(), person="who")
    five, algorithm = [{**K, "k": 5}], {"name": "mondrian"}
    with pytest.raises(BadPlan, match="no column says whom a row is about"):
        run(stays.plan(algorithm=algorithm, models=five), stays.dataset, assess=False)
    as_rows = stays.plan(algorithm=algorithm, models=five, confirmed=ROWS_ARE_PERSONS)
    by_stay = run(as_rows, stays.dataset, assess=False)
    fewest = min(len(persons(stays, own)) for own in members(by_stay))
    assert by_stay.verification.holds
    assert fewest <= 3  # what five stays hide
    found = run(patients.plan(algorithm=algorithm, models=five), stays.dataset, assess=False)
    assert min(len(persons(stays, own)) for own in members(found)) >= 5
    recipe = verify(patients.plan(models=five).completed(), stays.frame, {}, by_stay.files)
    (check,) = [c for c in recipe.checks if c.name == "k-anonymity"]
    assert (check.holds, check.reached) == (False, fewest)


def test_a_population_is_of_people() -> None:
    case = STAYS
    total = len(set(case.column("who")))
    plan = dataclasses.replace(case.plan(), population_size=total)  # fewer than rows
    result = run(plan, case.dataset, case.levels)
    journalist = next(a for a in result.attacks if a.attack == "journalist")
    prosecutor = next(a for a in result.attacks if a.attack == "prosecutor")
    assert journalist.rate == pytest.approx(prosecutor.rate)  # everyone is in the table
    with pytest.raises(BadPlan, match=f"{total} persons"):
        run(dataclasses.replace(plan, population_size=total - 1), case.dataset, case.levels)


@pytest.mark.parametrize("name", ROWS_ONLY)
def test_a_technique_that_counts_rows_is_refused(name: str) -> None:
    case = STAYS
    with pytest.raises(BadPlan, match="counts rows"):
        run(case.plan(algorithm={"name": name}), case.dataset, case.levels)


@pytest.mark.parametrize("name", list(family("model")))
def test_a_promise_counts_people_or_is_refused(name: str) -> None:
    model = find("model", name)
    assert issubclass(model, GroupModel)
    if model.scope.counts_people:
        return
    case = STAYS
    with pytest.raises(BadPlan, match="counts rows"):
        run(case.plan(models=[{"name": name}]), case.dataset, case.levels)


def test_what_merges_refuses_shares_of_people() -> None:
    case = STAYS
    models = [{"name": "frequency-l-diversity", "l": 2, "column": "s0"}]
    for name in COUNTING:
        technique = find("algorithm", name)
        assert issubclass(technique, Algorithm)
        if technique.needs.merges:
            with pytest.raises(BadPlan, match="merges classes"):
                run(case.plan(algorithm={"name": name}, models=models), case.dataset, case.levels)


@pytest.mark.often
def test_the_second_computation_finds_too_few_persons() -> None:
    caught = 0

    @settings(max_examples=times(24))
    @given(case=repeated(rows=(8, 30), people=(3, 6)))
    def tried(case: Case) -> None:
        nonlocal caught
        # k rows in every class, no matter whose they are.
        rows = dataclasses.replace(case, person="", identifier=("who",))
        try:
            plan = rows.plan(models=[{**K, "k": 3}], confirmed=ROWS_ARE_PERSONS)
            released = run(plan, rows.dataset, case.levels, assess=False)
        except Infeasible:
            return
        fewest = min(len(persons(case, own)) for own in members(released))
        for k in range(2, 6):
            recipe = case.plan(models=[{**K, "k": k}]).completed()
            found = verify(recipe, case.frame, case.levels, released.files)
            (check,) = [c for c in found.checks if c.name == "k-anonymity"]
            assert check.holds == (fewest >= k)
            assert check.reached == fewest
            assert not check.undecided
            caught += not check.holds
            for l in range(2, 4):  # noqa: E741
                model = {"name": "frequency-l-diversity", "l": l, "column": "s0"}
                recipe = case.plan(models=[model]).completed()
                found = verify(recipe, case.frame, case.levels, released.files)
                (check,) = [c for c in found.checks if c.name == "frequency-l-diversity"]
                shares = [share(case, own, "s0") for own in members(released)]
                assert check.holds == all(most * l <= known for most, known in shares)

    tried()
    assert caught


def test_what_a_hidden_row_leaves_open_is_bounded_from_below() -> None:
    """Of five rows that fit a class of three lines, any three may be its own."""
    case = Case(
        columns={
            "age": ["20", "20", "20", "20", "20"],
            "illness": ["flu"] * 5,
            "who": ["p0", "p0", "p1", "p2", "p2"],
        },
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "text"},
        person="who",
    )
    fewest = min(
        len({case.columns["who"][i] for i in chosen})
        for chosen in itertools.combinations(range(5), 3)
    )
    assert fewest == 2
    files = {"release.csv": b"age,illness\n20,flu\n20,flu\n20,flu\n"}
    for k in (2, 3):
        given = case.plan(algorithm={"name": "optimal", "max_suppression": 1.0}, models=[
            {**K, "k": k}
        ])  # fmt: skip
        found = verify(given.completed(), case.frame, {}, files)
        (check,) = [c for c in found.checks if c.name == "k-anonymity"]
        assert check.holds == (k == 2)
        assert check.undecided == (k == 3)


@pytest.mark.often
def test_whose_value_is_missing_counts_on_neither_side() -> None:
    compared = 0

    @settings(max_examples=times(40))
    @given(case=repeated(rows=(8, 24), people=(5, 9)), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        nonlocal compared
        some = data.draw(cells_of([*"abcd", None, None], len(case.rows)))
        assume(any(some))
        case = with_column(case, "s0", some, alone=True)
        model = {"name": "frequency-l-diversity", "l": 2, "column": "s0"}
        algorithm = {"name": "optimal", "max_suppression": 1.0}
        try:
            plan = case.plan(algorithm=algorithm, models=[model])
            result = run(plan, case.dataset, case.levels, assess=False)
        except Infeasible:
            return
        for own in members(result):
            having: dict[str, set[str]] = defaultdict(set)
            for i in own:
                if (value := case.columns["s0"][i]) is not None:
                    having[value].add(case.column("who")[i])
            known = len(set().union(*having.values()))
            assert max(map(len, having.values())) * 2 <= known
            compared += known < len(persons(case, own))

    tried()
    assert compared


@pytest.mark.often
def test_what_cannot_be_told_of_overlapping_classes_is_said_plainly() -> None:
    count = 0

    @settings(max_examples=times(60))
    @given(case=repeated(rows=(20, 40), people=(6, 9), quasi=(3, 3)))
    def tried(case: Case) -> None:
        nonlocal count
        assume(len(set(case.column("who"))) >= 4)
        plan = case.plan(algorithm={"name": "k-member"}, models=[{**K, "k": 4}])
        with suppress(NotFound):
            run(plan, case.dataset, case.levels, assess=False)
            return
        count += 1
        with pytest.raises(NotFound, match="the independent check cannot confirm it") as refused:
            run(plan, case.dataset, case.levels, assess=False)
        assert "error of the workbench" not in str(refused.value)
        assert "do not overlap" in refused.value.remedy

    tried()
    assert count


def test_the_person_column_is_nowhere_in_the_release() -> None:
    case = STAYS
    result = run(case.plan(), case.dataset, case.levels)
    for content in result.files.values():
        assert b"who" not in content.split(b"\n")[0]
        assert b"p0" not in content
    shown = {name for block in result.release.view.blocks for name in block.columns}
    assert shown == {"q0", "q1", "s0", "s1"}
    assert set(audience_of(result.problem).hierarchies) == shown
    content = next(iter(result.files.values()))
    lines = content.decode().splitlines()
    text = "\n".join([lines[0] + ",who", *(line + ",p0" for line in lines[1:])]).encode() + b"\n"
    found = verify(result.plan.completed(), case.frame, case.levels, {"release.csv": text})
    assert not next(c for c in found.checks if c.name == "identifiers").holds


@pytest.mark.parametrize("name", COUNTING)
@often(12)
@given(case=repeated(rows=(9, 36)), data=st.data())
def test_how_persons_are_called_and_where_their_rows_stand_moves_no_byte(
    name: str, case: Case, data: st.DataObject
) -> None:
    """Numbers of patients grow with the day they first came: nothing may depend on their order."""
    names = sorted(set(case.column("who")))
    other_names = data.draw(st.permutations([f"x{i}" for i in range(len(names))]))
    called = dict(zip(names, other_names, strict=True))
    moved = data.draw(reordered(case))
    whose: list[str | None] = [called[str(who)] for who in moved.columns["who"]]
    other = dataclasses.replace(moved, columns={**moved.columns, "who": whose})
    plan = case.plan(algorithm={"name": name}, models=[{**K, "k": 3}])
    try:
        expected = run(plan, case.dataset, case.levels, assess=False)
    except (Infeasible, NotFound) as error:
        with pytest.raises(type(error)):
            run(plan, other.dataset, case.levels, assess=False)
        return
    found = run(plan, other.dataset, case.levels, assess=False)
    assert found.files == expected.files
    assert drawn_for(plan, found.problem) == drawn_for(plan, expected.problem)


def test_which_rows_one_person_has_and_how_often_a_row_is_there_change_what_is_drawn() -> None:
    plan = STAYS.plan()
    whose: list[str | None] = list(STAYS.columns["who"])
    swapped: list[str | None] = [whose[-1], *whose[1:-1], whose[0]]
    assert swapped != whose
    seen = {
        drawn_for(plan, prepare(plan, case.dataset, case.levels))
        for case in (
            STAYS,
            dataclasses.replace(STAYS, columns={**STAYS.columns, "who": swapped}),
            dataclasses.replace(STAYS, columns={n: [*c, c[0]] for n, c in STAYS.columns.items()}),
        )
    }
    assert len(seen) == 3


@pytest.mark.parametrize("name", list(family("attack")))
def test_an_attack_counts_people_or_is_not_run(name: str) -> None:
    case = STAYS
    attack = find("attack", name)
    assert issubclass(attack, Attack)
    if attack.needs.weights:
        weights: list[str | None] = ["3"] * len(case.rows)
        case = dataclasses.replace(
            case,
            columns={**case.columns, "w": weights},
            kinds={**case.kinds, "w": "number"},
            weight="w",
        )
    plan = dataclasses.replace(case.plan(attacks=[{"name": name}]), population_size=100)
    result = run(plan, case.dataset, case.levels)
    ran = [a for a in result.attacks if a.attack == name]
    assert bool(ran) == attack.needs.counts_people
    assert all(a.attempted == len(set(case.column("who"))) for a in ran)
    if not ran:
        assert "one person" in result.not_run[name]


def test_rows_of_nobody_and_samples_of_rows_are_refused() -> None:
    case = STAYS
    some = [None if i == 3 else who for i, who in enumerate(case.columns["who"])]
    gone = dataclasses.replace(case, columns={**case.columns, "who": some})
    with pytest.raises(BadInput, match="1 of 30 rows"):
        run(gone.plan(), gone.dataset, case.levels)
    with pytest.raises(BadPlan, match="sample"):
        run(case.plan(data={"sample": 0.5}), case.dataset, case.levels)
    with pytest.raises(BadPlan, match="also sensitive"):
        dataclasses.replace(case, sensitive=("s0", "who")).plan()
    with pytest.raises(AnonError):
        case.plan(roles={"quasi": ["q0"], "person": ["who"]})
