"""Count queries against plain loops over rows and groups, on random tables and releases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.kernels import query_overlap as kernels
from anon_core.methods.queries import query_answers as answers
from anon_core.methods.queries.count_queries import Workload, asking, workload
from anon_core.methods.queries.query_answers import counts, estimates
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.metrics.query_error import QueryError
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import Case, by_hand, random_case
from tests.often import crossed

pytestmark = pytest.mark.kernels
SEEDS = st.integers(0, 10**9)
Blocks = tuple[tuple[str, ...], ...]


@pytest.fixture(params=["compiled", "plain"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the kernels as they are, and as the Python lines they are compiled from."""
    if request.param == "plain":
        for name in ("alone", "together"):
            monkeypatch.setattr(answers, name, plain(getattr(kernels, name)))


def plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return getattr(kernel, "py_func", kernel)


# ---- what is asked, and the twins ----------------------------------------------------------------


def drawn(seed: int) -> tuple[np.random.Generator, Case, list[int]]:
    """Return a random table with a group per row, some of them removed."""
    rng = np.random.default_rng([131, seed])
    case = random_case(rng, rows=int(rng.integers(4, 40)))
    group = rng.integers(0, 5, len(case.rows))
    group = np.unique(group, return_inverse=True)[1]
    group[rng.random(len(group)) < rng.choice([0.0, 0.2])] = -1
    return rng, case, group.tolist()


def layouts(case: Case) -> list[Blocks]:
    everything = (*case.quasi, *case.sensitive)
    return [
        (everything,),
        (case.quasi, case.sensitive),
        tuple((name,) for name in everything),
        ((*case.quasi[:1], *case.sensitive[:1]), (*case.quasi[1:], *case.sensitive[1:])),
    ]


def random_queries(rng: np.random.Generator, release: Release, queries: int = 12) -> Workload:
    """Ask about any number of columns, several sensitive ones included."""
    problem = release.problem
    asked: list[dict[str, tuple[int, int]]] = []
    for _ in range(queries):
        query: dict[str, tuple[int, int]] = {}
        for name in (*problem.quasi, *problem.sensitive):
            if rng.random() < 0.6:
                ends = np.sort(rng.integers(0, len(problem.hierarchies[name].leaves), 2))
                query[name] = int(ends[0]), int(ends[1])
        asked.append(query)
    return asking(asked)


def predicates(found: Workload, q: int) -> dict[str, tuple[int, int]]:
    return {
        found.columns[c]: (int(lo), int(hi))
        for c, lo, hi in zip(found.column[q], found.lo[q], found.hi[q], strict=True)
        if c >= 0
    }


def count_naive(case: Case, asked: Workload) -> list[int]:
    """Count the rows that meet every predicate, one by one."""
    problem = case.problem()
    leaves = {n: problem.hierarchies[n].leaves for n in (*case.quasi, *case.sensitive)}
    place = {n: [leaves[n].index(cell) for cell in case.column(n)] for n in leaves}
    found: list[int] = []
    for q in range(asked.queries):
        query = predicates(asked, q)
        rows = range(problem.rows)
        found.append(
            sum(all(lo <= place[n][r] <= hi for n, (lo, hi) in query.items()) for r in rows)
        )
    return found


def share(cover: tuple[int, int], asked: tuple[int, int]) -> Fraction:
    """Return the part of a cell's leaves that are asked for."""
    inside = [leaf for leaf in range(cover[0], cover[1] + 1) if asked[0] <= leaf <= asked[1]]
    return Fraction(len(inside), cover[1] - cover[0] + 1)


def estimate_naive(release: Release, asked: Workload) -> list[Fraction]:
    """Σ over groups of N · Π over blocks of the mean over rows of the overlap, by definition."""
    view = release.view
    found: list[Fraction] = []
    for q in range(asked.queries):
        query = predicates(asked, q)
        total = Fraction(0)
        for g, size in enumerate(view.group_size.tolist()):
            term = Fraction(size)
            for block in view.blocks:
                mean = Fraction(0)
                for entry in np.flatnonzero(block.group == g):
                    row = Fraction(int(block.count[entry]), size)
                    for name, code in zip(block.columns, block.codes[entry], strict=True):
                        if name in query:
                            v = view.vocabularies[name]
                            row *= share((int(v.lo[code]), int(v.hi[code])), query[name])
                    mean += row
                term *= mean
            total += term
        found.append(total)
    return found


def answer(release: Release, asked: Workload) -> list[float]:
    return estimates(release.view, release.problem.hierarchies, asked).tolist()


# ---- equality with them --------------------------------------------------------------------------


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("seed", range(25))
def test_exact_counts_equal_counting_rows(seed: int) -> None:
    rng, case, group = drawn(seed)
    asked = random_queries(rng, by_hand(case.problem(), group, layouts(case)[0]))
    assert counts(case.problem(), asked).tolist() == count_naive(case, asked)


@pytest.mark.usefixtures("loops")
@crossed("seed, layout", range(12), range(4), share=2)
def test_estimates_on_exact_cells_equal_the_definition(seed: int, layout: int) -> None:
    rng, case, group = drawn(seed)
    release = by_hand(case.problem(), group, layouts(case)[layout])
    asked = random_queries(rng, release)
    assert answer(release, asked) == pytest.approx(
        [float(x) for x in estimate_naive(release, asked)], abs=1e-12
    )


def coarsened(rng: np.random.Generator, release: Release) -> Release:
    """Raise each quasi-identifier of each class to a random level: cells of several levels mix."""
    vocabularies, cells = dict(release.vocabularies), dict(release.cells)
    for name, leaves in release.cells.items():
        hierarchy = release.problem.hierarchies[name]
        levels = [of_level(hierarchy, i) for i in range(hierarchy.height + 1)]
        offset = np.cumsum([0, *(len(v.lo) for v in levels)])
        level = rng.integers(0, len(levels), len(leaves))
        maps = np.stack([hierarchy.node(i) for i in range(len(levels))])
        cells[name] = (offset[level] + maps[level, leaves]).astype(np.int32)
        vocabularies[name] = type(levels[0])(
            column=name,
            texts=tuple(f"{i}:{t}" for i, v in enumerate(levels) for t in v.texts),
            lo=np.concatenate([v.lo for v in levels]),
            hi=np.concatenate([v.hi for v in levels]),
            level=np.concatenate([v.level for v in levels]),
        )
    return Release(
        problem=release.problem,
        grouping=release.grouping,
        vocabularies=vocabularies,
        cells=cells,
        blocks=release.blocks,
    )


@pytest.mark.usefixtures("loops")
@crossed("seed, layout, published", range(8), range(4), [True, False], share=2)
def test_estimates_on_coarsened_cells_equal_the_definition(
    seed: int, layout: int, published: bool
) -> None:
    rng, case, group = drawn(seed)
    exact = by_hand(case.problem(), group, layouts(case)[layout], published=published)
    release = coarsened(rng, exact)
    asked = random_queries(rng, release)
    assert answer(release, asked) == pytest.approx(
        [float(x) for x in estimate_naive(release, asked)], abs=1e-12
    )


# ---- what must hold ------------------------------------------------------------------------------


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_an_uncoarsened_release_of_whole_rows_answers_exactly(seed: int) -> None:
    rng, case, _ = drawn(seed)
    problem = case.problem()
    group = rng.integers(0, 3, problem.rows)
    group = np.unique(group, return_inverse=True)[1].tolist()
    release = by_hand(problem, group, layouts(case)[0], published=bool(rng.random() < 0.5))
    asked = random_queries(rng, release)
    assert answer(release, asked) == pytest.approx(counts(problem, asked).tolist(), abs=1e-9)
    assert QueryError(queries=20).measure(problem, release, Context()).value < 1e-9


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_anatomy_is_matches_times_the_share_of_the_value(seed: int) -> None:
    """S-132: Σ over groups of (matching quasi rows) · c(v) / N."""
    rng, case, group = drawn(seed)
    problem = case.problem()
    release = by_hand(problem, group, (case.quasi, *((s,) for s in case.sensitive)))
    hierarchy = problem.hierarchies["s0"]
    v = int(rng.integers(0, len(hierarchy.leaves)))
    query = {
        n: tuple(np.sort(rng.integers(0, len(problem.hierarchies[n].leaves), 2)).tolist())
        for n in case.quasi
    }
    expected = Fraction(0)
    for g in set(group) - {-1}:
        rows = [r for r, other in enumerate(group) if other == g]
        matching = [
            r
            for r in rows
            if all(
                lo <= problem.hierarchies[n].leaves.index(case.column(n)[r]) <= hi
                for n, (lo, hi) in query.items()
            )
        ]
        ill = sum(case.column("s0")[r] == hierarchy.leaves[v] for r in rows)
        expected += Fraction(len(matching) * ill, len(rows))
    [found] = answer(release, asking([{**query, "s0": (v, v)}]))
    assert found == pytest.approx(float(expected), abs=1e-12)


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_parts_of_the_sensitive_domain_add_up(seed: int) -> None:
    rng, case, group = drawn(seed)
    problem = case.problem()
    layout = layouts(case)[int(rng.integers(4))]
    release = coarsened(rng, by_hand(problem, group, layout))
    name = case.quasi[0]
    wide = len(problem.hierarchies[name].leaves)
    query = {name: tuple(np.sort(rng.integers(0, wide, 2)).tolist())}
    last = len(problem.hierarchies["s0"].leaves) - 1
    parts = [{**query, "s0": (v, v)} for v in range(last + 1)]
    *each, whole, unasked = answer(release, asking([*parts, {**query, "s0": (0, last)}, query]))
    assert sum(each) == pytest.approx(whole, abs=1e-9)
    assert whole == pytest.approx(unasked, abs=1e-9)
    everything = asking([{n: (0, len(problem.hierarchies[n].leaves) - 1) for n in case.quasi}])
    assert answer(release, everything) == pytest.approx([release.view.rows], abs=1e-9)


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_order_of_rows_never_matters(seed: int) -> None:
    rng, case, group = drawn(seed)
    order = rng.permutation(len(group)).tolist()
    columns = {n: [case.columns[n][r] for r in order] for n in case.columns}
    other = Case(
        columns=columns,
        quasi=case.quasi,
        sensitive=case.sensitive,
        kinds=case.kinds,
        levels=case.levels,
    )
    layout = layouts(case)[int(rng.integers(4))]
    one = by_hand(case.problem(), group, layout)
    two = by_hand(other.problem(), [group[r] for r in order], layout)
    asked = [
        workload(p, queries=15, generator=np.random.default_rng(seed))
        for p in (one.problem, two.problem)
    ]
    assert np.array_equal(asked[0].lo, asked[1].lo)
    assert answer(one, asked[0]) == answer(two, asked[1])
    assert np.array_equal(counts(one.problem, asked[0]), counts(two.problem, asked[1]))
    metric = QueryError(queries=15)
    first, second = (metric.measure(r.problem, r, Context()) for r in (one, two))
    assert (first.value, first.share, first.also) == (second.value, second.share, second.also)
    assert 0.0 <= first.share <= 1.0


@pytest.mark.parametrize("seed", range(10))
def test_mondrian_releases_equal_the_definition(seed: int) -> None:
    rng = np.random.default_rng([139, seed])
    case = random_case(rng, rows=30)
    release = Mondrian().run(case.problem(), [KAnonymity(k=3)], Context()).release
    asked = random_queries(rng, release)
    expected = [float(x) for x in estimate_naive(release, asked)]
    assert answer(release, asked) == pytest.approx(expected, abs=1e-12)
