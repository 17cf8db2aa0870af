"""Strict Mondrian against its recursion on sets of rows."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.algorithms.mondrian import Mondrian
from anon_core.context import Context
from anon_core.errors import Infeasible
from anon_core.kinds import GroupModel
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.l_diversity import DistinctLDiversity
from anon_core.registry import find
from anon_core.release import Release
from tests import naive
from tests.making import Case, random_case


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


@pytest.mark.parametrize("least", [0, 2, 3])
@pytest.mark.parametrize("chunk", range(5))
def test_the_partition_is_that_of_the_recursion(chunk: int, least: int) -> None:
    rng = np.random.default_rng([2006, chunk, least])
    cut = 0
    for _ in range(50):
        case = random_case(rng, rows=int(rng.integers(4, 60)))
        cut += compare(case, int(rng.integers(2, 5)), least) > 1
    assert cut > 20


@pytest.mark.parametrize("kind", ["text", "flat", "ordered", "number"])
def test_every_kind_of_column_alone(kind: str) -> None:
    rng = np.random.default_rng(13)
    cut = 0
    for _ in range(40):
        case = random_case(rng, rows=40, kinds=(kind,))
        cut += compare(case, 3, 0) > 1
    assert cut > 10


def test_work_is_handed_out_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the cancel button often must not change the result."""
    monkeypatch.setattr("anon_core.partition._WORK", 1)
    rng = np.random.default_rng(17)
    for _ in range(30):
        compare(random_case(rng, rows=50), 2, 2)
