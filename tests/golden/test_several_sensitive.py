"""Several sensitive columns: a table recomputed by hand, through a whole run.

In a class of two rows (a, x) and (b, y) each column shows two values, and who knows one value
of a person knows the other.
"""

from __future__ import annotations

import pytest

from anon_core.base.errors import Infeasible
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from tests.making import Case

PAIRED = [("q", "a", "x"), ("q", "b", "y")]
CROSSED = [("q", s, t) for s in "ab" for t in "xy"]


def published(rows: list[tuple[str, str, str]], model: dict[str, object]) -> Result:
    columns = {name: [row[d] for row in rows] for d, name in enumerate(("q", "s1", "s2"))}
    case = Case(columns=columns, quasi=("q",), sensitive=("s1", "s2"))  # type: ignore[arg-type]
    algorithm = {"name": "fixed-levels", "levels": {"q": 0}}
    return run(case.plan(algorithm=algorithm, models=[model]), case.dataset)


@pytest.mark.parametrize("name", ["l-diversity", "frequency-l-diversity", "entropy-l-diversity"])
def test_what_each_column_keeps_by_itself_is_broken_for_who_knows_the_other(name: str) -> None:
    alone = published(PAIRED, {"name": name, "l": 2})
    assert [v.state for v in alone.verdicts] == ["holds", "holds"]
    with pytest.raises(Infeasible):
        published(PAIRED, {"name": name, "l": 2, "others_known": True})


@pytest.mark.parametrize("name", ["l-diversity", "frequency-l-diversity", "entropy-l-diversity"])
def test_all_combinations_keep_it(name: str) -> None:
    result = published(CROSSED, {"name": name, "l": 2, "others_known": True})
    assert [(v.column, v.state, round(v.reached, 9)) for v in result.verdicts] == [
        ("s1", "holds", 2),
        ("s2", "holds", 2),
    ]
    assert result.verification.holds
    assert not any(column.startswith("\0") for column in result.published.column_names)


@pytest.mark.parametrize(("name", "linked"), [("anatomy", True), ("permutation", False)])
def test_the_second_computation_sees_which_columns_stay_linked(name: str, linked: bool) -> None:
    columns = {"q": ["p", "q"], "s1": ["a", "b"], "s2": ["x", "y"]}
    case = Case(columns=columns, quasi=("q",), sensitive=("s1", "s2"))  # type: ignore[arg-type]
    promise: dict[str, object] = {"name": "frequency-l-diversity", "l": 2}
    plan = case.plan(algorithm={"name": name, "partition": "mondrian"}, models=[promise])
    result = run(plan, case.dataset, assess=False)
    known = {**plan.completed(), "models": [{**promise, "others_known": True}]}
    found = verify(known, case.dataset.frame(), {}, result.files)
    checks = [check.holds for check in found.checks if check.name == "frequency-l-diversity"]
    assert checks == [not linked, not linked]
