"""The second computation of models of sensitive values, against their definitions in fractions."""

from __future__ import annotations

from hypothesis import given

from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from tests.making import Case
from tests.often import often
from tests.property.test_spread_searches import PROMISES
from tests.strategies import numbered_cases


@often(24)
@given(case=numbered_cases())
def test_it_tells_what_keeps_a_promise_and_what_does_not(case: Case) -> None:
    """Exact quasi-identifiers are published; whether a promise holds is shown of each by itself."""
    algorithm = {"name": "fixed-levels", "levels": dict.fromkeys(case.quasi, 0)}
    easy = {"name": "entropy-l-diversity", "l": 1, "column": "s0"}
    plan = case.plan(algorithm=algorithm, models=[easy])
    levels = {n: [list(line) for line in lines] for n, lines in case.levels.items()}
    result = run(plan, case.dataset, levels, assess=False)
    values = [int(v) for v in case.column("s0")]
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, value in zip(case.rows, values, strict=True):
        groups.setdefault(tuple(row), []).append(value)
    recipe = plan.completed()
    frame = case.dataset.frame()
    for name, (asked, judge) in PROMISES.items():
        promise = {"name": name.split(",")[0], "column": "s0", **asked}
        found = verify({**recipe, "models": [promise]}, frame, levels, dict(result.files))
        check = next(c for c in found.checks if c.name == promise["name"])
        assert check.holds == all(judge(own, values) for own in groups.values()), (name, check)
