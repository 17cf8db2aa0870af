"""The membership attack against a view: coarse cells, unknown values, time, and the estimate."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError, BadInput, BadPlan, Infeasible
from anon_core.data.table import Dataset
from anon_core.methods.membership.decisions import (
    UNKNOWN,
    YES,
    decide,
    find_members,
    hits,
    proven_by_raw,
)
from anon_core.methods.membership.equations_from_view import published_buckets
from anon_core.methods.membership.estimated_chances import estimate, interval
from anon_core.methods.membership.exact_chances import count, shares
from anon_core.methods.membership.joint_model import JointProblem
from anon_core.release.attack_result import MOST_GROUPS
from anon_core.release.ground_truth import truth_of
from anon_core.release.grouping import Grouping
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.knowledge.people import Population
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import Vocabulary
from anon_core.techniques.attacks.membership import Membership
from tests.asked import attacked
from tests.chances_twin import attribute_chance, lemma_value
from tests.making import Case, by_hand
from tests.membership_twin import assigned, random_bucket
from tests.often import times
from tests.slicing_twin import SlicedBucket, matching_buckets

KINDS = {"age": "number", "zip": "text"}


def drawn(rng: np.random.Generator, *, rows: int, people: int) -> tuple[Problem, list[int]]:
    """Draw a public table, a table of some of it, and a group per row."""
    public = pd.DataFrame(
        {
            "age": rng.integers(20, 24, people).astype(str),
            "zip": rng.choice(list("abc"), people),
        },
        dtype=object,
    )
    inside = public.iloc[np.sort(rng.choice(people, rows, replace=False))]
    case = Case(
        columns={n: inside[n].tolist() for n in ("age", "zip")} | {"illness": ["flu"] * rows},  # type: ignore[dict-item]
        quasi=("age", "zip"),
        sensitive=("illness",),
        kinds=KINDS,  # type: ignore[arg-type]
    )
    groups = sorted(rng.integers(0, 3, rows).tolist())
    number = {g: i for i, g in enumerate(dict.fromkeys(groups))}
    population = Dataset.from_frame(public, kinds=KINDS)  # type: ignore[arg-type]
    return case.problem(population), [number[g] for g in groups]


def own_tuples(problem: Problem) -> list[list[int]]:
    """Return the table's rows as the population's leaf numbers."""
    assert problem.population is not None
    codes = problem.frequency.codes[problem.frequency.row_key]
    places = [problem.population.place[name] for name in problem.quasi]
    return np.stack([p[codes[:, d]] for d, p in enumerate(places)], axis=1).tolist()


def test_the_view_gives_the_equations_of_its_buckets() -> None:
    rng = np.random.default_rng(20)
    for _ in range(60):
        problem, group = drawn(rng, rows=int(rng.integers(2, 7)), people=7)
        blocks = ((("age",), ("zip",)), (("age", "illness"), ("zip",)), (("age", "zip"),))
        release = by_hand(problem, group, blocks[int(rng.integers(3))] + (("illness",),))
        linked = release.view.whole_quasi() is not None
        population = problem.population
        assert population is not None
        assert population.codes is not None
        assert population.tuple_count is not None
        people = np.repeat(population.codes, population.tuple_count, axis=0)
        tuples = own_tuples(problem)
        values = [tuple(p) for p in people.tolist()]
        shown = [
            [[t[d] for t, at in zip(tuples, group, strict=True) if at == g] for d in range(2)]
            for g in range(max(group) + 1)
        ]
        if linked:
            values = [(v,) for v in values]  # type: ignore[misc]
            shown = [[list(zip(*bucket, strict=True))] for bucket in shown]  # type: ignore[misc]
        truth = assigned(values, shown)
        found = find_members(release.view, population, Context(), zero=True)
        first = np.cumsum(population.tuple_count) - population.tuple_count
        delta = [truth.delta_worlds[int(i)] for i in first]
        assert [p == YES for p in found.present] == [d == 1 for d in delta]
        assert [p == YES for p in found.decision.none_present] == [d == 0 for d in delta]
        assert found.undecided == 0
        by_assignments = [truth.delta_assignments[int(i)] for i in first]
        joint = found.published.joint
        counted = shares(joint, count(joint.system).mean)
        assert counted == pytest.approx([float(d) for d in by_assignments], abs=1e-12)
        # Who is named: the rows of those people, each with the buckets that show all they are.
        assert population.row_tuple is not None
        named = hits(found, population)
        kinds = population.row_tuple.tolist()
        assert named.row.tolist() == [r for r, kind in enumerate(kinds) if delta[kind] == 1]
        assert named.people == len(named.row)
        assert named.proven.all()
        for row, groups, many in zip(named.row, named.group, named.groups, strict=True):
            person = values[int(first[kinds[row]])]
            fit = [
                g
                for g, bucket in enumerate(shown)
                if all(value in column for value, column in zip(person, bucket, strict=True))
            ]
            assert groups[groups >= 0].tolist() == fit[:MOST_GROUPS]
            assert many == len(fit)


@pytest.mark.often
def test_single_buckets_and_known_solutions() -> None:
    rng = np.random.default_rng(21)
    for _ in range(times(30, share=3)):
        problem, group = drawn(rng, rows=12, people=20)
        release = by_hand(problem, group, (("age",), ("zip",), ("illness",)))
        assert problem.population is not None
        published = published_buckets(release.view, problem.population, Context())
        joint = published.joint
        # The rows' own buckets are a solution.
        tuples = own_tuples(problem)
        population = problem.population.codes
        assert population is not None
        known = np.zeros(len(joint.types), dtype=np.int64)
        place = {
            (int(g), *population[t].tolist()): i
            for i, (g, t) in enumerate(zip(joint.bucket, joint.types, strict=True))
        }
        for row, g in zip(tuples, group, strict=True):
            known[place[g, *row]] += 1
        seeded = JointProblem(
            types=joint.types,
            rows=joint.rows,
            bucket=joint.bucket,
            total=joint.total,
            count=joint.count,
            known_entries=known,
        )
        assert seeded.known is not None
        assert seeded.system.solves(seeded.known)
        assert np.array_equal(decide(joint).answer, decide(seeded).answer)
        for g in range(max(group) + 1):
            single, type_of = published.bucket(g)
            assert single.size == release.view.group_size[g]
            assert len(type_of) == np.count_nonzero(joint.bucket == g)
            assert decide(single).feasible


def boxed(problem: Problem, cells: list[tuple[int, int]], group: list[int]) -> Release:
    """Publish ages as leaf intervals, one per class, in the groups given."""
    exact = by_hand(problem, group, (("age",), ("zip",), ("illness",)))
    hierarchy = problem.hierarchies["age"]
    entries = sorted(set(cells))
    lo, hi = (np.array([c[i] for c in entries], dtype=np.int32) for i in (0, 1))
    vocabulary = Vocabulary(
        column="age",
        texts=tuple(f"[{hierarchy.leaves[a]}, {hierarchy.leaves[b]}]" for a, b in entries),
        lo=lo,
        hi=hi,
        level=np.full(len(entries), -1, dtype=np.int32),
    )
    rows = np.arange(problem.rows)
    return Release(
        problem=problem,
        grouping=Grouping(
            key=problem.frequency.row_key[np.argsort(problem.frequency.row_key, kind="stable")],
            member=np.argsort(problem.frequency.row_key, kind="stable"),
            count=np.ones(problem.rows, dtype=np.int64),
            group=np.array(group, dtype=np.int64),
            published=True,
        ),
        vocabularies={**exact.vocabularies, "age": vocabulary},
        cells={
            "age": np.array([entries.index(c) for c in cells], dtype=np.int32),
            "zip": problem.leaf_codes("zip")[rows],
        },
        blocks=exact.blocks,
    )


def people_aged(ages: list[str], public: list[str]) -> Problem:
    case = Case(
        columns={"age": list(ages), "zip": ["a"] * len(ages), "illness": ["flu"] * len(ages)},
        quasi=("age", "zip"),
        sensitive=("illness",),
        kinds=KINDS,  # type: ignore[arg-type]
    )
    frame = pd.DataFrame({"age": public, "zip": ["a"] * len(public)}, dtype=object)
    return case.problem(Dataset.from_frame(frame, kinds=KINDS))  # type: ignore[arg-type]


def test_disjoint_covers_are_decided() -> None:
    problem = people_aged(["20", "21", "30"], ["20", "21", "30", "30"])
    release = boxed(problem, [(0, 1), (0, 1), (2, 2)], [0, 0, 0])
    assert problem.population is not None
    found = find_members(release.view, problem.population, Context())
    assert not found.published.unclear.any()
    assert (found.proven, found.undecided) == (2, 0)


def test_overlapping_covers_in_a_bucket_are_undecided() -> None:
    problem = people_aged(["20", "21", "30"], ["20", "21", "30"])
    release = boxed(problem, [(0, 1), (1, 2), (2, 2)], [0, 0, 0])
    assert problem.population is not None
    found = find_members(release.view, problem.population, Context())
    assert found.published.unclear.tolist() == [True]
    assert (found.proven, found.undecided) == (0, 3)
    (result,) = Membership().run(*attacked(problem, release.view), Context())
    assert result.at_risk == 3
    assert result.worst == 1.0
    assert result.interval == (0.0, 1.0)
    assert "overlap" in result.sentence


def test_who_is_named_is_bounded_with_the_proven_first(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = people_aged(["20", "21", "30", "40"], ["20", "21", "30", "40", "20"])
    release = boxed(problem, [(0, 1), (1, 2), (2, 2), (3, 3)], [0, 0, 0, 1])
    monkeypatch.setattr("anon_core.methods.membership.decisions.MOST_HITS", 2)
    (result,) = Membership().run(*attacked(problem, release.view), Context())
    assert result.hits is not None
    assert (result.hits.people, result.at_risk) == (5, 5)
    assert result.hits.row.tolist() == [3, 0]
    assert result.hits.proven.tolist() == [True, False]
    assert result.hits.group[:, 0].tolist() == [1, 0]
    copied = pickle.loads(pickle.dumps(result.hits))
    assert copied.row.tolist() == result.hits.row.tolist()


def test_an_unclear_bucket_leaves_the_other_decided() -> None:
    problem = people_aged(["20", "21", "30", "40"], ["20", "21", "30", "40", "20"])
    release = boxed(problem, [(0, 1), (1, 2), (2, 2), (3, 3)], [0, 0, 0, 1])
    assert problem.population is not None
    found = find_members(release.view, problem.population, Context())
    assert found.published.unclear.tolist() == [True, False]
    assert (found.proven, found.undecided) == (1, 4)
    # Who fits both an unclear and a clear bucket is not called absent or open on half the facts.
    shared = boxed(problem, [(0, 1), (1, 2), (2, 2), (0, 3)], [0, 0, 0, 1])
    both = find_members(shared.view, problem.population, Context())
    assert both.doubtful.all()
    assert both.undecided + both.proven == 5


def test_a_value_only_the_public_table_has_lies_in_a_range() -> None:
    # The table has 20, 21 and 30; a public person aged 25 fits [21, 30] all the same.
    problem = people_aged(["20", "21", "30"], ["20", "21", "25", "30"])
    assert problem.population is not None
    ranged = boxed(problem, [(0, 0), (1, 2), (1, 2)], [0, 0, 0])
    found = find_members(ranged.view, problem.population, Context())
    assert (found.eligible, found.proven, found.undecided) == (4, 1, 0)
    exact = boxed(problem, [(0, 0), (1, 1), (2, 2)], [0, 0, 0])
    sharp = find_members(exact.view, problem.population, Context())
    assert (sharp.eligible, sharp.proven, sharp.undecided) == (3, 3, 0)


@pytest.mark.often
def test_ranges_with_public_values_in_them_are_decided_as_all_choices_say() -> None:
    rng = np.random.default_rng(24)
    mixed = 0
    for _ in range(times(60, share=3)):
        public = [(str(a), str(z)) for a, z in rng.integers([20, 0], [32, 2], (7, 2)).tolist()]
        inside = sorted(rng.choice(7, int(rng.integers(3, 6)), replace=False).tolist())
        ages = [public[i][0] for i in inside]
        case = Case(
            columns={"age": list(ages), "zip": [public[i][1] for i in inside]},
            quasi=("age", "zip"),
            kinds=KINDS,  # type: ignore[arg-type]
        )
        frame = pd.DataFrame({n: [p[d] for p in public] for d, n in enumerate(("age", "zip"))})
        problem = case.problem(Dataset.from_frame(frame, kinds=KINDS))  # type: ignore[arg-type]
        leaves = problem.hierarchies["age"].leaves
        cut = int(rng.integers(0, len(leaves)))
        ends = [e for e in ((0, cut - 1), (cut, len(leaves) - 1)) if e[0] <= e[1]]
        texts = [(float(leaves[a]), float(leaves[b])) for a, b in ends]

        def text(age: str, texts: list[tuple[float, float]] = texts) -> object:
            return next((t for t in texts if t[0] <= float(age) <= t[1]), age)

        rows = np.argsort(problem.frequency.row_key, kind="stable")
        cells = [
            next(e for e in ends if e[0] <= c <= e[1]) for c in problem.leaf_codes("age").tolist()
        ]
        group = np.sort(rng.integers(0, 2, len(inside)))
        group = np.unique(group, return_inverse=True)[1].tolist()
        release = boxed(problem, cells, group)
        shown = [
            [
                [text(ages[r]) for r in range(len(inside)) if group[r] == g],
                [public[inside[r]][1] for r in range(len(inside)) if group[r] == g],
            ]
            for g in range(max(group) + 1)
        ]
        truth = assigned([(text(a), z) for a, z in public], shown)
        population = problem.population
        assert population is not None
        assert population.row_tuple is not None
        found = find_members(release.view, population, Context(), zero=True)
        assert found.undecided == 0
        assert not found.published.unclear.any()
        for person, delta in zip(population.row_tuple.tolist(), truth.delta_worlds, strict=True):
            assert (found.present[person] == YES) == (delta == 1)
            assert (found.decision.none_present[person] == YES) == (delta == 0)
        mixed += len(rows) > 0 and any(
            a not in leaves and isinstance(text(a), tuple) for a, _ in public
        )
    assert mixed > times(10, share=3)


def test_no_time_leaves_everyone_exposed() -> None:
    rng = np.random.default_rng(23)
    problem, group = drawn(rng, rows=30, people=60)
    release = by_hand(problem, group, (("age",), ("zip",), ("illness",)))
    (late,) = Membership(seconds=0.0).run(*attacked(problem, release.view), Context())
    (done,) = Membership().run(*attacked(problem, release.view), Context())
    assert late.at_risk >= done.at_risk
    assert late.at_risk > 0
    assert late.interval is not None
    assert late.worst == 1.0
    assert "treated as exposed" in late.sentence
    (outer,) = Membership().run(*attacked(problem, release.view), Context(deadline=now() - 1))
    assert outer.at_risk == late.at_risk


def test_other_rows_behind_the_same_publication_change_no_answer() -> None:
    public = pd.DataFrame({"age": list("2233445"), "zip": list("abababa")}, dtype=object)
    found: list[tuple[object, ...]] = []
    for zips in ("abab", "baba", "abba"):  # ages 2 3 | 2 4, whatever the pairing was
        case = Case(
            columns={"age": list("2324"), "zip": list(zips), "illness": ["flu"] * 4},
            quasi=("age", "zip"),
            sensitive=("illness",),
            kinds=KINDS,  # type: ignore[arg-type]
        )
        problem = case.problem(Dataset.from_frame(public, kinds=KINDS))  # type: ignore[arg-type]
        release = by_hand(problem, [0, 0, 1, 1], (("age",), ("zip",), ("illness",)))
        (r,) = Membership().run(*attacked(problem, release.view), Context())
        found.append((r.succeeded, r.at_risk, r.worst, r.sentence, tuple(r.per_class)))
    assert found[0] == found[1] == found[2]


def test_it_asks_for_a_public_table() -> None:
    problem = people_aged(["20", "21"], ["20", "21"])
    bare = Problem(
        dataset=problem.dataset,
        roles=problem.roles,
        hierarchies=problem.hierarchies,
        frequency=problem.frequency,
        population=Population(size=9),
    )
    release = by_hand(problem, [0, 0], (("age",), ("zip",)))
    assert Membership().reason_not_applicable(release.view, audience_of(problem)) == ""
    assert "table of the population" in Membership().reason_not_applicable(
        release.view, audience_of(bare)
    )
    with pytest.raises(AnonError, match="table of the population"):
        Membership().run(*attacked(bare, release.view), Context())
    with pytest.raises(AnonError, match="public table itself"):
        published_buckets(release.view, Population(size=9), Context())
    assert proven_by_raw(truth_of(bare)) == 0
    with pytest.raises(BadPlan, match="seconds"):
        Membership(seconds=-1.0)


def test_everyone_published_is_everyone_proven() -> None:
    problem = people_aged(["20", "21"], ["20", "21"])
    release = by_hand(problem, [0, 0], (("age",), ("zip",)))
    (result,) = Membership().run(*attacked(problem, release.view), Context())
    assert (result.rate, result.baseline, result.raw, result.worst) == (1.0, 1.0, 1.0, 1.0)


def test_the_worst_chance_below_certainty_is_counted() -> None:
    problem = people_aged(["20", "21"], ["20", "20", "20", "21", "21"])
    release = by_hand(problem, [0, 0], (("age",), ("zip",)))
    (result,) = Membership().run(*attacked(problem, release.view), Context())
    assert result.at_risk == 0
    assert result.worst == pytest.approx(0.5)
    assert result.per_class == pytest.approx([2 / 5])


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_lies_near_the_count(seed: int) -> None:
    rng = np.random.default_rng([31, seed])
    problem, _ = random_bucket(rng, people=60, values=5, blocks=3)
    exact = count(problem.system)
    assert exact.counted.all()
    nothing = count(problem.system, max_states=1)
    context = Context(generator=np.random.default_rng(7))
    guess = estimate(problem.system, nothing, context, particles=300, runs=8)
    delta, near = shares(problem, exact.mean), shares(problem, guess.mean)
    assert np.abs(delta - near).max() < 0.1
    assert np.abs(delta - near).mean() < 0.02
    low, high = interval(problem, guess)
    assert np.mean((low <= delta + 1e-9) & (delta - 1e-9 <= high)) > 0.7
    assert np.array_equal(guess.estimated, ~nothing.counted)


def test_unthinned_particles_are_the_count() -> None:
    rng = np.random.default_rng(33)
    for _ in range(20):
        problem, _ = random_bucket(rng, people=16, values=3)
        exact, nothing = count(problem.system), count(problem.system, max_states=1)
        guess = estimate(problem.system, nothing, runs=2)
        assert guess.mean == pytest.approx(exact.mean, abs=1e-9)
        assert np.all(guess.error < 1e-9)


def test_an_estimate_without_time_is_none() -> None:
    problem, _ = random_bucket(np.random.default_rng(34), people=60, values=5, blocks=3)
    nothing = count(problem.system, max_states=1)
    guess = estimate(problem.system, nothing, Context(deadline=now() - 1))
    assert np.isnan(guess.mean[~nothing.counted]).all()
    assert not guess.estimated.any()


def test_impossible_groups_are_refused() -> None:
    with pytest.raises(BadInput, match="cannot publish"):
        lemma_value([3], 2)
    with pytest.raises(BadInput, match="empty"):
        attribute_chance({}, "flu")
    wide = SlicedBucket(columns=(tuple(range(9)), tuple(range(9))))
    with pytest.raises(Infeasible, match="81 tuples"):
        matching_buckets([wide], [], most=80)


def test_undecided_is_never_no() -> None:
    rng = np.random.default_rng(35)
    problem, group = drawn(rng, rows=30, people=60)
    release = by_hand(problem, group, (("age",), ("zip",), ("illness",)))
    assert problem.population is not None
    found = find_members(release.view, problem.population, Context(deadline=now() - 1))
    open_types = (found.present == UNKNOWN) & found.fits
    assert open_types.any()
    assert found.undecided == found.published.joint.count[open_types].sum()
