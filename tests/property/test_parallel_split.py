"""Cuts of packed tuples against the recursion on sets of rows."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadInput, Cancelled, Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.methods.partition.mondrian_cuts import strict_parts
from anon_core.methods.partition.parallel_split import Tuples, axes_of, cut
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import PATIENTS, Case, random_case
from tests.often import times
from tests.strategies import KINDS, cases

pytestmark = pytest.mark.kernels


@pytest.mark.often
@pytest.mark.parametrize("grain", [1, 10, 4096])
@pytest.mark.parametrize("quasi", [1, 3, 30])
def test_parts_are_those_of_the_recursion(
    quasi: int, grain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty attributes fill several words; a small grain hands every part to another thread."""
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.GRAIN", grain)
    monkeypatch.setattr("anon_core.methods.partition.parallel_split._SHARES", 1 << 20)
    cut_at_all = 0
    rows = (6, 24) if quasi == 30 else (6, 90)

    @settings(max_examples=times(20 if quasi == 30 else 64, share=4))
    @given(
        # Of numbers alone, the recursion finds parts in the order of the numbers.
        case=cases(rows=rows, quasi=(quasi, quasi), kinds=("number",), sensitive="abcd")
        | cases(rows=rows, quasi=(quasi, quasi), kinds=KINDS, sensitive="abcd"),
        least=st.integers(2, 4),
        asked=st.sampled_from(["size", "values", "shares"]),
        quarters=st.lists(st.integers(1, 7), min_size=quasi, max_size=quasi),
        trees=st.lists(st.booleans(), min_size=quasi, max_size=quasi),
    )
    def tried(case: Case, least: int, asked: str, quarters: list[int], trees: list[bool]) -> None:
        nonlocal cut_at_all
        numbers = {case.kinds[name] for name in case.quasi} == {"number"}
        models: list[GroupModel] = [BucketSize(k=least)]
        needs: list[tuple[list[str], int]] = []
        most: list[tuple[list[str], int]] = []
        if asked == "values":
            models.append(DistinctLDiversity(l=2, column="s0"))
            needs = [(case.column("s0"), 2)]
        if asked == "shares":
            models.append(FrequencyLDiversity(l=2, column="s1"))
            most = [(case.column("s1"), 2)]
        weights = [Fraction(w, 4) for w in quarters]
        attributes = [
            dataclasses.replace(a, tree=a.tree and tree)
            for a, tree in zip(case.attributes, trees, strict=True)
        ]
        problem = case.problem()
        size = max(m.least_size() for m in models)
        try:
            part = strict_parts(
                problem,
                models,
                Context(),
                by_tree=[a.tree for a in attributes],
                weights=np.array([float(w) for w in weights]),
            )
        except Infeasible:
            whole = range(problem.rows)
            assert not (naive.keeps(whole, size, needs) and naive.rare(whole, most))
            return
        of_rows = part[problem.frequency.run[problem.frequency.row_key]]
        found = [np.flatnonzero(of_rows == p).tolist() for p in range(part.max() + 1)]
        expected = naive.mondrian(case.rows, attributes, size, needs, most=most, weights=weights)
        if numbers:
            assert found == expected
        assert sorted(found) == sorted(expected)
        cut_at_all += len(found) > 1

    tried()
    assert cut_at_all > (1 if quasi == 30 else 6)


def tuples_of(count: list[int]) -> Tuples:
    none = np.empty(0, dtype=np.int64)
    return Tuples(
        codes=np.arange(len(count), dtype=np.int32)[:, None],
        count=np.array(count),
        sensitive=np.empty((len(count), 0), dtype=np.int32),
        values=(),
        distinct=none,
        share=none,
        least=2,
    )


def test_a_column_of_many_values_is_cut_in_halves_again_and_again() -> None:
    """More values than are weighed at a time; every row its own value, so sizes are known."""
    case = dataclasses.replace(
        PATIENTS,
        columns={"age": [str(v) for v in range(5000)]},
        identifier=(),
        quasi=("age",),
        sensitive=(),
        kinds={"age": "number"},
        levels={},
    )
    part = strict_parts(case.problem(), [BucketSize(k=3)], Context())
    assert np.all(np.diff(part) >= 0)
    sizes = [5000]
    while max(sizes) >= 6:
        sizes = [h for n in sizes for h in ([(n + 1) // 2, n // 2] if n >= 6 else [n])]
    assert np.bincount(part).tolist() == sizes


def test_more_rows_than_can_be_counted_are_refused() -> None:
    axes = axes_of(
        PATIENTS.problem().quasi_hierarchies[:1], [np.arange(2.0)], [False], [False], np.ones(1)
    )
    assert cut(tuples_of([2, 2]), axes, Context()).tolist() == [0, 1]
    with pytest.raises(BadInput, match="2,147,483,647 rows"):
        cut(tuples_of([1 << 30, 1 << 30]), axes, Context())


@dataclasses.dataclass(frozen=True, kw_only=True)
class LateAfter(Context):
    """A deadline that passes at the n-th look at the clock."""

    after: int
    looks: list[None] = dataclasses.field(default_factory=list[None])

    def out_of_time(self) -> bool:
        self.looks.append(None)
        return len(self.looks) > self.after


@pytest.mark.parametrize("after", [0, 1, 2, 5, 20, 1_000])
def test_what_others_still_hold_when_time_is_up_stays_as_it_is(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every part of a partition cut short is a union of parts of the whole one."""
    case = random_case(np.random.default_rng(47), rows=300, quasi=3, kinds=("number",))
    whole = strict_parts(case.problem(), [BucketSize(k=2)], Context())
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.GRAIN", 1)
    monkeypatch.setattr("anon_core.methods.partition.parallel_split._SHARES", 1 << 20)
    part = strict_parts(case.problem(), [BucketSize(k=2)], LateAfter(after=after))
    assert part.max() <= whole.max()
    assert all(len(set(part[whole == p].tolist())) == 1 for p in range(whole.max() + 1))
    assert (part.max() == 0) == (after == 0)
    assert (part.max() == whole.max()) or after < 1_000


def test_a_failing_report_stops_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.GRAIN", 1)
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.WORK", 1)
    case = random_case(np.random.default_rng(43), rows=200, quasi=3, kinds=("number",))
    context = Context()

    def stop(share: float, stage: str) -> None:
        if share > 0:
            context.cancel.set()

    with pytest.raises(Cancelled):
        strict_parts(case.problem(), [BucketSize(k=2)], dataclasses.replace(context, progress=stop))
