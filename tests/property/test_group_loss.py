"""Loss of the groups against the definition on sets of rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings

from anon_core.base.errors import Infeasible
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests import naive
from tests.making import Case
from tests.often import quarter as times
from tests.strategies import cases


def expected(case: Case, result: Result, metric: str) -> tuple[Fraction, list[Fraction]]:
    """Return the mean price of the groups' hulls, and that of every column."""
    groups: dict[int, list[int]] = {}
    for row, group in enumerate(result.row_group.tolist()):
        groups.setdefault(group, []).append(row)
    removed = len(groups.pop(-1, []))
    per_column: list[Fraction] = []
    for d, attribute in enumerate(case.attributes):
        column: Sequence[str] = [row[d] for row in case.rows]
        paid = Fraction(removed)
        for rows in groups.values():
            cover = naive.box(attribute, (column[i] for i in rows))
            paid += len(rows) * naive.price_of(metric, attribute, cover, column)
        per_column.append(paid / len(case.rows))
    return sum(per_column, Fraction(0)) / len(per_column), per_column


@pytest.mark.often
@pytest.mark.parametrize("name", ["one-attribute-slicing", "slicing"])
def test_permuted_groups_lose_their_hull(name: str) -> None:
    wide = 0

    @settings(max_examples=times(48))
    @given(case=cases(rows=(8, 40)))
    def tried(case: Case) -> None:
        nonlocal wide
        plan = case.plan(algorithm={"name": name}, models=[{"name": "bucket-size", "k": 3}])
        result = run(plan, case.dataset, case.levels)
        found = result.measures["group-loss"]
        mean, per_column = expected(case, result, "loss")
        assert found.value == pytest.approx(float(mean))
        assert list(found.per_column.values()) == pytest.approx([float(p) for p in per_column])
        ncp, _ = expected(case, result, "ncp")
        assert found.also == {"NCP of the groups": pytest.approx(float(ncp))}
        assert result.measures["loss"].value == 0
        wide += found.value > 0

    tried()
    assert wide > 6


@pytest.mark.often
@pytest.mark.parametrize("name", ["mondrian", "optimal"])
def test_where_rows_stay_whole_it_is_the_loss_of_the_cells(name: str) -> None:
    released = hidden = 0

    @settings(max_examples=times(48))
    @given(case=cases(rows=(8, 40)))
    def tried(case: Case) -> None:
        nonlocal released, hidden
        algorithm = {"name": name} | ({"max_suppression": 0.3} if name == "optimal" else {})
        try:
            result = run(case.plan(algorithm=algorithm), case.dataset, case.levels)
        except Infeasible:
            return
        released += 1
        hidden += result.release.suppressed > 0
        found, loss = result.measures["group-loss"], result.measures["loss"]
        assert found.value == pytest.approx(loss.value)
        assert found.per_column == pytest.approx(loss.per_column)
        assert found.per_class == pytest.approx(loss.per_class)
        assert found.also["NCP of the groups"] == pytest.approx(result.measures["ncp"].value)

    tried()
    assert released > 6
    assert name == "mondrian" or hidden > 1
