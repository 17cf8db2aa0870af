"""Mondrian, strict and relaxed, against its recursion on sets of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.methods.partition.mondrian_cuts import relaxed_parts, rows_of_keys
from anon_core.pipeline.runner import run
from anon_core.release.release import Release
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import Case
from tests.often import often, times
from tests.strategies import cases, reordered


def parts_of(release: Release) -> set[frozenset[int]]:
    member = release.grouping.of_rows(release.problem.frequency, np.random.default_rng(0))
    return {frozenset(np.flatnonzero(member == c).tolist()) for c in range(member.max() + 1)}


def compare(case: Case, k: int, least: int) -> int:
    """Compare one partition; return its number of parts, 0 where the promises are out of reach."""
    models: list[GroupModel] = [KAnonymity(k=k)]
    needs: list[tuple[list[str], int]] = []
    if least:
        models.append(DistinctLDiversity(l=least))
        needs = [(case.column(name), least) for name in case.sensitive]
    problem = case.problem()
    if not naive.keeps(range(problem.rows), k, needs):
        with pytest.raises(Infeasible):
            Mondrian().run(problem, models, Context())
        return 0
    release = Mondrian().run(problem, models, Context()).release
    rows, attributes = case.rows, case.attributes
    expected = naive.mondrian(rows, attributes, max(k, least), needs)
    assert parts_of(release) == {frozenset(part) for part in expected}
    covers = naive.boxes(rows, attributes, expected)
    by_part = {frozenset(members): cells for cells, members in covers}
    member = release.grouping.of_rows(problem.frequency, np.random.default_rng(0))
    for c in range(release.grouping.classes):
        cells = by_part[frozenset(np.flatnonzero(member == c).tolist())]
        for name, attribute, cover in zip(case.quasi, attributes, cells, strict=True):
            vocabulary = release.vocabularies[name]
            code = release.cells[name][c]
            shown = attribute.leaves[vocabulary.lo[code] : vocabulary.hi[code] + 1]
            assert shown == cover
    for metric in ("loss", "ncp", "discernibility", "average-class-size"):
        value = find("metric", metric)().measure(problem, release, Context()).value  # type: ignore[attr-defined]
        assert value == pytest.approx(float(naive.cost(metric, rows, attributes, covers)), abs=1e-9)
    return len(expected)


@pytest.mark.often
@pytest.mark.parametrize("least", [0, 2, 3])
def test_the_partition_is_that_of_the_recursion(least: int) -> None:
    cut = 0

    @settings(max_examples=times(240, share=4))
    @given(case=cases(rows=(4, 60), sensitive="abcd"), k=st.integers(2, 4))
    def tried(case: Case, k: int) -> None:
        nonlocal cut
        cut += compare(case, k, least) > 1

    tried()
    assert cut > 20


@pytest.mark.often
@pytest.mark.parametrize("kind", ["text", "flat", "ordered", "number"])
def test_every_kind_of_column_alone(kind: str) -> None:
    cut = 0

    @settings(max_examples=times(100))
    @given(case=cases(rows=(10, 40), kinds=(kind,)))
    def tried(case: Case) -> None:
        nonlocal cut
        cut += compare(case, 3, 0) > 1

    tried()
    assert cut > 8


@pytest.mark.often
def test_work_is_handed_out_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the cancel button often must not change the result."""
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.WORK", 1)
    cut = 0

    @settings(max_examples=times(80))
    @given(case=cases(rows=(10, 50)))
    def tried(case: Case) -> None:
        nonlocal cut
        cut += compare(case, 2, 2) > 1

    tried()
    assert cut > 5


def drawn_rows(case: Case, seed: int) -> tuple[list[int], dict[int, int]]:
    """Return the key of every row in the order a run with this seed draws, and a row of each."""
    problem = case.problem()
    keys = np.random.default_rng(seed).permutation(rows_of_keys(problem)).tolist()
    return keys, {int(k): i for i, k in enumerate(problem.frequency.row_key)}


@pytest.mark.often
def test_relaxed_cuts_are_those_of_the_recursion() -> None:
    cut = parted = 0

    @settings(max_examples=times(200, share=4))
    @given(
        case=cases(rows=(6, 60), sensitive="abcd"),
        k=st.integers(2, 4),
        least=st.integers(2, 3),
        asked=st.sampled_from(["size", "values", "shares"]),
        seed=st.integers(0, 99),
    )
    def tried(case: Case, k: int, least: int, asked: str, seed: int) -> None:
        nonlocal cut, parted
        models: list[GroupModel] = [BucketSize(k=k)]
        needs: list[tuple[list[str], int]] = []
        most: list[tuple[list[str], int]] = []
        keys, row_of = drawn_rows(case, seed)
        values = [case.column("s0")[row_of[key]] for key in keys]
        if asked == "values":
            models, needs = [*models, DistinctLDiversity(l=least, column="s0")], [(values, least)]
        if asked == "shares":
            models, most = [*models, FrequencyLDiversity(l=2, column="s0")], [(values, 2)]
        least = max(m.least_size() for m in models)
        problem, context = case.problem(), Context(generator=np.random.default_rng(seed))
        try:
            buckets = relaxed_parts(problem, models, context)
        except Infeasible:
            whole = range(len(keys))
            assert not (naive.keeps(whole, least, needs) and naive.rare(whole, most))
            return
        rows = [case.rows[row_of[key]] for key in keys]
        expected = naive.mondrian(rows, case.attributes, least, needs, relaxed=True, most=most)
        found: dict[int, Counter[int]] = {}
        for key, group, count in zip(buckets.key, buckets.group, buckets.count, strict=True):
            found.setdefault(int(group), Counter())[int(key)] += int(count)
        ours = sorted(sorted(part.elements()) for part in found.values())
        assert ours == sorted(sorted(keys[i] for i in part) for part in expected)
        assert sum(sum(part.values()) for part in found.values()) == len(keys)
        cut += len(ours) > 1
        parted += len(buckets.key) > len(problem.frequency.count)

    tried()
    assert cut > 10
    assert parted > 5


@often(120)
@given(case=cases(rows=(10, 80), kinds=("number",), missing=False), seed=st.integers(0, 99))
def test_relaxed_parts_are_halves_where_nothing_but_size_is_asked(case: Case, seed: int) -> None:
    """A part of 2k rows or more whose quasi-identifiers differ is always cut (numbers only)."""
    context = Context(generator=np.random.default_rng(seed))
    buckets = relaxed_parts(case.problem(), [BucketSize(k=3)], context)
    frequency = case.problem().frequency
    for g in range(int(buckets.group.max()) + 1):
        mine = buckets.group == g
        alike = len(np.unique(frequency.run[buckets.key[mine]])) == 1
        assert buckets.count[mine].sum() >= 3
        assert buckets.count[mine].sum() < 6 or alike


@pytest.mark.often
def test_a_relaxed_release_verifies_and_the_order_of_rows_plays_no_part() -> None:
    """Classes of equal cells are one; overlapping ranges cover every row; seeds decide ties."""
    overlap = 0

    @settings(max_examples=times(48, share=4))
    @given(case=cases(rows=(8, 40), quasi=(2, 2)), seed=st.integers(0, 99), data=st.data())
    def tried(case: Case, seed: int, data: st.DataObject) -> None:
        nonlocal overlap
        plan = case.plan(algorithm={"name": "mondrian", "cuts": "relaxed"}, seed=seed)
        result = run(plan, case.dataset, case.levels, assess=False)
        assert result.verification.holds
        assert result.release.grouping.sizes.sum() == len(case.rows)
        cells = np.stack([result.release.cells[n] for n in case.quasi], axis=1)
        assert len(np.unique(cells, axis=0)) == len(cells)
        shuffled = data.draw(reordered(case))
        assert run(plan, shuffled.dataset, shuffled.levels, assess=False).files == result.files
        overlap += len(result.release.grouping.key) > len(result.problem.frequency.count)

    tried()
    assert overlap > 2


def test_ties_that_block_a_strict_cut_do_not_block_a_relaxed_one() -> None:
    """Seven of eight rows are alike."""
    case = Case(
        columns={"age": ["30"] * 7 + ["40"]},
        quasi=("age",),
        kinds={"age": "number"},
    )
    strict = Mondrian().run(case.problem(), [KAnonymity(k=4)], Context()).release
    relaxed = Mondrian(cuts="relaxed").run(case.problem(), [KAnonymity(k=4)], Context()).release
    assert strict.grouping.sizes.tolist() == [8]
    assert relaxed.grouping.sizes.tolist() == [4, 4]
    assert [relaxed.vocabularies["age"].texts[c] for c in relaxed.cells["age"]] == [
        "30",
        "[30, 40]",
    ]
