"""Answers about a result, against what a plain walk over the rows says."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anon_core.base.errors import AnonError, BadPlan
from anon_core.base.registry import family
from anon_core.base.thresholds import least_size
from anon_core.explain.answers.choice_of_k import least_k, which_k
from anon_core.explain.answers.differences import figure_differences, plan_differences, what_changed
from anon_core.explain.answers.fitting import fitting, known_combinations
from anon_core.explain.answers.hidden_column import hidden_column, hidden_columns
from anon_core.explain.answers.known_columns import known_columns
from anon_core.explain.answers.larger_classes import best_cut, larger_than_asked
from anon_core.explain.answers.optimality import is_optimal
from anon_core.explain.answers.person import about_person, values_of
from anon_core.explain.answers.steps import chosen_node, classes_at, step_at
from anon_core.explain.answers.suppressed_row import suppressed_row, suppressed_rows
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.outcome import figure
from tests.making import PATIENTS, Case, random_case


def carried_out(case: Case, **more: Any) -> Result:
    named = {name: f"{name}.csv" for name in case.levels if name in case.quasi}
    plan = case.plan(hierarchies=named, **more)
    return run(plan, case.dataset, {n: case.levels[n] for n in named})


def by_levels(seed: int, k: int = 3, budget: float = 0.3) -> tuple[Case, Result]:
    """Return a drawn table and its optimal release; another seed where there is none."""
    for number in itertools.count(seed, 100):
        case = random_case(np.random.default_rng(number), rows=24, quasi=3, missing=False)
        try:
            return case, carried_out(
                case,
                algorithm={"name": "optimal", "max_suppression": budget},
                models=[{"name": "k-anonymity", "k": k}],
            )
        except AnonError:
            continue
    raise AssertionError


def cell(case: Case, name: str, value: str, level: int) -> str:
    """Return a value at a level by the level table itself."""
    if level == 0:
        return value
    for line in case.levels.get(name, []):
        if line[0] == value:
            return line[level]
    return "*"


def sizes_at(case: Case, node: Sequence[int]) -> list[int]:
    """Return, row by row, how many rows look alike at these levels."""
    rows = [
        tuple(cell(case, n, v, level) for n, v, level in zip(case.quasi, row, node, strict=True))
        for row in case.rows
    ]
    counted = Counter(rows)
    return [counted[row] for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_steps_count_what_a_walk_over_the_rows_counts(seed: int) -> None:
    case, result = by_levels(seed)
    heights = [h.height for h in result.problem.quasi_hierarchies]
    for node in itertools.product(*(range(h + 1) for h in heights)):
        sizes = sizes_at(case, node)
        step = step_at(result, node)
        assert step.removed == sum(s < 3 for s in sizes)
        assert step.smallest == min(sizes)
        own, counted = classes_at(result.problem, node)
        of_row = own[result.problem.frequency.run[result.problem.frequency.row_key]]
        assert counted[of_row].tolist() == sizes
        if step.removed == len(sizes):
            assert step.loss == 1.0
    chosen = chosen_node(result)
    assert chosen is not None
    assert step_at(result, chosen).loss == pytest.approx(result.measures["loss"].value)
    assert step_at(result, chosen).removed == result.release.suppressed


@pytest.mark.parametrize("seed", range(4))
def test_a_suppressed_row_is_told_its_class_and_what_would_keep_it(seed: int) -> None:
    case, result = by_levels(seed, k=4)
    node = chosen_node(result)
    assert node is not None
    for row in suppressed_rows(result).tolist():
        answer = suppressed_row(result, row)
        size = sizes_at(case, node)[row]
        assert f"a class of {size} row" in answer.sentence
        assert "k-anonymity blocks it" in answer.sentence
        for entry in answer.rows:
            place = case.quasi.index(str(entry["column"]))
            higher = [n + (d == place) for d, n in enumerate(node)]
            sizes = sizes_at(case, higher)
            assert entry["its class then"] == sizes[row]
            assert entry["keeps it"] == ("yes" if sizes[row] >= 4 else "no")
            assert entry["rows suppressed then"] == sum(s < 4 for s in sizes)
        keeping = [t for t in answer.rows if t["keeps it"] == "yes"]
        assert ("cheapest remedy" in answer.sentence) == bool(keeping)
    published = np.flatnonzero(result.row_group >= 0)
    if len(published):
        with pytest.raises(BadPlan, match="is published"):
            suppressed_row(result, int(published[0]))
    with pytest.raises(BadPlan, match="no row"):
        suppressed_row(result, 24)


@pytest.mark.parametrize("seed", range(4))
def test_one_step_finer_is_told_column_by_column(seed: int) -> None:
    case, result = by_levels(seed, k=2, budget=0.0)
    node = chosen_node(result)
    assert node is not None
    answer = larger_than_asked(result)
    smallest = min(sizes_at(case, node))
    if smallest == 2:
        assert "exactly what was asked for" in answer.sentence
        return
    assert f"the smallest class has {smallest} rows" in answer.sentence
    finer = [name for name, level in zip(case.quasi, node, strict=True) if level]
    assert [row["column"] for row in answer.rows] == finer
    for row in answer.rows:
        place = case.quasi.index(str(row["column"]))
        sizes = sizes_at(case, [n - (d == place) for d, n in enumerate(node)])
        assert row["rows that would have to go"] == sum(s < 2 for s in sizes)
        # The search is optimal by loss, so nothing finer can hold.
        assert sum(s < 2 for s in sizes) > 0


def test_a_hidden_column_is_told_what_one_step_finer_costs() -> None:
    met = 0
    for seed in range(6):
        case, result = by_levels(seed, k=5, budget=0.0)
        node = chosen_node(result)
        assert node is not None
        for name in hidden_columns(result):
            place = case.quasi.index(name)
            answer = hidden_column(result, name)
            values = dict.fromkeys(row[place] for row in case.rows)
            telling = [
                level
                for level in range(node[place])
                if len({cell(case, name, v, level) for v in values}) > 1
            ]
            if not telling:
                assert "nothing even unchanged" in answer.sentence
                continue
            met += 1
            sizes = sizes_at(case, [max(telling) if d == place else n for d, n in enumerate(node)])
            assert answer.rows[1]["rows that have to go"] == sum(s < 5 for s in sizes)
            assert answer.rows[0]["loss of cells"] == pytest.approx(result.measures["loss"].value)
        for name in set(case.quasi) - set(hidden_columns(result)):
            assert "is not suppressed" in hidden_column(result, name).sentence
    assert met
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        hidden_column(result, "s0")


@pytest.mark.parametrize("technique", ["mondrian", "bucketization"])
def test_where_no_level_is_chosen_the_answers_say_so(technique: str) -> None:
    model = "bucket-size" if technique == "bucketization" else "k-anonymity"
    case = random_case(np.random.default_rng(5), rows=27, quasi=2, missing=False)
    result = carried_out(case, algorithm={"name": technique}, models=[{"name": model, "k": 2}])
    assert chosen_node(result) is None
    answer = larger_than_asked(result)
    assert "exactly what was asked for" in answer.sentence or "Groups were formed" in answer.note
    for name in hidden_columns(result):
        assert "no single finer level" in hidden_column(result, name).note
    assert is_optimal(result).sentence.startswith("Nothing is proven")


@pytest.mark.parametrize("seed", range(20))
def test_the_best_cut_is_that_of_trying_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, counts = rng.integers(0, 5, 8).tolist(), rng.integers(1, 4, 8).tolist()
    best = 0
    for cut in set(values):
        low = sum(c for v, c in zip(values, counts, strict=True) if v < cut)
        best = max(best, min(low, sum(counts) - low))
    assert best_cut(values, counts) == best


def test_the_least_k_of_a_threshold() -> None:
    for k in range(1, 400):
        assert least_k(1 / k) == least_size(1 / k) == k
    for limit in (0.09, 0.2, 0.33, 0.0909, 0.999):
        k = least_k(limit)
        assert 1 / k <= limit < 1 / (k - 1)
        assert least_size(limit) == k
    with pytest.raises(BadPlan):
        least_k(0)


def test_which_k_marks_the_threshold() -> None:
    result = carried_out(PATIENTS)
    answer = which_k(result, 0.09)
    assert "needs k = 12" in answer.sentence
    assert "the smallest class has 3, which is not enough" in answer.sentence
    (marked,) = [row for row in answer.rows if "your threshold" in str(row["what it is"])]
    assert marked["k"] == 12
    assert all((row["within the threshold"] == "yes") == (row["k"] >= 12) for row in answer.rows)
    assert "needs k = 5" in which_k(result).sentence  # the plan's threshold is 0.2


def test_what_is_proven_is_said_and_nothing_else() -> None:
    best = carried_out(PATIENTS)
    assert best.account.proven
    assert is_optimal(best).sentence.startswith("Yes, among choices of one level per column")
    stopped = replace(best, account=replace(best.account, proven=False, cost=0.5, bound=0.4))
    assert "at most 0.1 (20.0%) could be gained" in is_optimal(stopped).sentence
    unknown = replace(best, account=replace(best.account, proven=False, bound=None))
    assert is_optimal(unknown).sentence.startswith("Nothing is proven")


def test_differences_of_plans_and_figures() -> None:
    two = carried_out(PATIENTS)
    three = carried_out(
        PATIENTS, algorithm={"name": "mondrian"}, models=[{"name": "k-anonymity", "k": 3}], seed=1
    )
    expected = {d.what: (d.before, d.now) for d in plan_differences(two.plan, three.plan)}
    assert expected["k-anonymity: k"] == (2, 3)
    titles = [family("algorithm")[name].title for name in ("optimal", "mondrian")]
    assert expected["Technique"] == tuple(titles)
    assert not any("seed" in name or "_" in name or "." in name for name in expected)
    for one in figure_differences(two, three):
        if one.what == "Loss":
            assert one.before == two.measures["loss"].value
            assert one.change == three.measures["loss"].value - two.measures["loss"].value
    assert f"Technique: {' → '.join(titles)}" in what_changed(two, three).sentence
    same = carried_out(PATIENTS)
    assert "byte for byte" in what_changed(two, same).sentence
    assert what_changed(None, two).sentence == "There is no run before this one."


def fits_by_hand(result: Result, known: dict[str, str]) -> list[int]:
    """Return the published rows whose cells cover what is known, read from the published table."""
    rows = result.published.to_pylist()
    found: list[int] = []
    for number, row in enumerate(rows):
        good = True
        for name, value in known.items():
            pool, tree = result.release.vocabularies[name], result.problem.hierarchies[name]
            at = pool.texts.index(row[name] or "")
            good &= pool.lo[at] <= tree.code[value] <= pool.hi[at]
        if good:
            found.append(number)
    return found


@pytest.mark.parametrize("technique", ["optimal", "mondrian"])
@pytest.mark.parametrize("seed", range(3))
def test_who_knows_columns_finds_the_rows_that_fit(technique: str, seed: int) -> None:
    rng = np.random.default_rng(seed + 40)
    case = random_case(rng, rows=20, quasi=2, missing=False, kinds=("text", "ordered"))
    result = carried_out(case, algorithm={"name": technique})
    rows = result.published.to_pylist()
    for columns in (case.quasi, case.quasi[:1]):
        leaves, people, _ = known_combinations(result.problem, columns)
        assert people.sum() == 20
        found = fitting(result, columns, leaves, "s0")
        assert found.exact
        for at, own in enumerate(leaves.tolist()):
            known = {
                n: result.problem.hierarchies[n].leaves[leaf]
                for n, leaf in zip(columns, own, strict=True)
            }
            hits = fits_by_hand(result, known)
            assert found.rows[at] == len(hits)
            shown = Counter(rows[hit]["s0"] for hit in hits)
            assert {v: c for v, c in zip(found.values, found.shown[at], strict=True) if c} == shown
            answer = about_person(result, known)
            if hits:
                assert answer.sentence.startswith(f"{len(hits)} row")
                top = shown.most_common(1)[0][1] / len(hits)
                shares = [
                    r["share of the rows that fit"] for r in answer.rows if r["column"] == "s0"
                ]
                assert shares[0] == pytest.approx(top)
        answer = known_columns(result, columns)
        fewest = min(found.rows)
        assert f"finds at least {figure(fewest)} rows that fit," in answer.sentence


@pytest.mark.parametrize("technique", ["permutation", "bucketization", "anatomy"])
def test_permuted_columns_are_averaged_over_all_ways_to_put_them_together(technique: str) -> None:
    case = Case(
        columns={"a": list("ppqqpq"), "b": list("xyxyxx"), "s0": list("uuvwvu")},
        quasi=("a", "b"),
        sensitive=("s0",),
    )
    result = carried_out(
        case,
        algorithm={"name": technique, "partition": "mondrian"},
        models=[{"name": "bucket-size", "k": 3}],
    )
    view = result.release.view
    assert view.group_size.max() == 3  # six ways to order each block
    leaves, _, _ = known_combinations(result.problem, case.quasi)
    found = fitting(result, case.quasi, leaves, "s0")
    for at, own in enumerate(leaves.tolist()):
        expected: Counter[int] = Counter()
        for group in range(len(view.group_size)):
            for value, rows in rows_by_hand(view, group, dict(zip(case.quasi, own, strict=True))):
                expected[value] += rows
        shown = {v: c for v, c in enumerate(found.shown[at].tolist()) if c > 1e-12}
        assert shown == pytest.approx({v: c for v, c in expected.items() if c > 1e-12})
        assert found.rows[at] == pytest.approx(sum(expected.values()))


def rows_by_hand(view: Any, group: int, known: dict[str, int]) -> list[tuple[int, float]]:
    """Put the blocks of one group together in every way, and count the rows that fit on average."""
    columns: list[list[dict[str, int]]] = []
    for block in view.blocks:
        rows: list[dict[str, int]] = []
        for own, codes, count in zip(
            block.group.tolist(), block.codes.tolist(), block.count.tolist(), strict=True
        ):
            if own == group:
                rows += [dict(zip(block.columns, codes, strict=True))] * count
        if block.columns:
            columns.append(rows)
    first, *others = columns
    total: Counter[int] = Counter()
    ways = 0
    for orders in itertools.product(*(itertools.permutations(o) for o in others)):
        ways += 1
        for place, row in enumerate(first):
            whole = dict(row)
            for order in orders:
                whole |= order[place]
            cells = [(view.vocabularies[n], whole[n], leaf) for n, leaf in known.items()]
            if all(pool.lo[code] <= leaf <= pool.hi[code] for pool, code, leaf in cells):
                total[whole["s0"]] += 1
    return [(value, count / ways) for value, count in total.items()]


def test_a_person_is_asked_about_by_row_or_by_values() -> None:
    result = carried_out(PATIENTS)
    known = values_of(result, 1)
    assert known == {"age": "20", "zip": "102"}
    answer = about_person(result, known, 1)
    assert "3 rows fit" in answer.sentence
    assert "This row is published." in answer.sentence
    assert "No one in the table has" in about_person(result, {"age": "99"}).sentence
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        about_person(result, {"illness": "flu"})
    with pytest.raises(BadPlan, match="Nothing is known"):
        about_person(result, {})
    with pytest.raises(BadPlan, match="not a sensitive column"):
        known_columns(result, ["age"], "age")
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        known_columns(result, ["illness"])


def test_a_person_typed_in_is_looked_for_by_what_ranges_cover() -> None:
    case = Case(
        columns={"age": ["20", "24", "30", "36"], "sex": list("mmff"), "s": list("uvww")},
        quasi=("age", "sex"),
        sensitive=("s",),
        kinds={"age": "number", "sex": "text", "s": "text"},
    )
    result = carried_out(
        case, algorithm={"name": "mondrian"}, models=[{"name": "k-anonymity", "k": 2}]
    )
    between = about_person(result, {"age": "33"})
    assert between.sentence.startswith("2 rows fit")
    assert "'s' is w for certain" in between.sentence
    assert "No one in the table has exactly these values" in between.sentence
    assert about_person(result, {"age": "99"}).sentence.startswith("No published row fits")
    own = about_person(result, {"age": "36", "sex": "f"})
    assert "In the table 1 row has exactly these values; 1 published." in own.sentence
    assert "No one in the table" in about_person(result, {"age": "36", "sex": "m"}).sentence
    with pytest.raises(BadPlan, match="as the table's columns are: 'age' is number") as refused:
        about_person(result, {"age": "old"})
    assert "old" not in str(refused.value)
