"""δ-presence from techniques that do not count public people: found, or said not to be found."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import cast

import pytest

from anon_core.__main__ import main
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.cli.output import NOT_FOUND
from anon_core.contracts.algorithm import Algorithm
from anon_core.pipeline.post_check_search import sizes
from anon_core.pipeline.runner import Result, run
from tests.golden.test_toth import PRIVATE, PUBLIC
from tests.making import Case

BLIND = [
    name
    for name, kind in family("algorithm").items()
    if issubclass(kind, Algorithm)
    and not (kind.needs.counts_public or kind.shape.averages or kind.shape.mechanism)
]
BOUNDS = [(0.0, 0.9), (0.1, 0.95), (0.0, 1.0)]


def released(algorithm: str, low: float, high: float) -> Result:
    kind = cast(type[Algorithm], family("algorithm")[algorithm])
    settings = {"partition": "mondrian"} if kind.shape.permutes else {}
    promise = {"name": "delta-presence", "delta_min": low, "delta_max": high}
    plan = PRIVATE.plan(algorithm={"name": algorithm, **settings}, models=[promise])
    return run(plan, PRIVATE.dataset, PRIVATE.levels, population=PUBLIC.dataset, assess=False)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("algorithm", BLIND)
def test_what_is_released_keeps_it_and_what_is_not_is_not_called_impossible(
    algorithm: str, bounds: tuple[float, float]
) -> None:
    """All of Toth's eight of ten people as one class have 4/5, so no bound here is impossible."""
    refused: NotFound | None = None
    result: Result | None = None
    try:
        result = released(algorithm, *bounds)
    except NotFound as error:
        refused = error
    if refused is not None:
        assert not isinstance(refused, Infeasible)
        assert refused.message.startswith("Not found")
        assert "impossible" not in str(refused)
        assert bounds != (0.0, 1.0) or "cannot be recomputed" in refused.message
        return
    assert result is not None
    assert [v.state for v in result.verdicts] == ["holds"]
    (check,) = [c for c in result.verification.checks if c.name == "delta-presence"]
    assert check.holds
    assert check.reached is not None
    assert bounds[0] <= check.reached <= bounds[1]


def test_most_techniques_find_one() -> None:
    """Larger groups bring the share of everyone; only exact cells cannot hide who is there."""
    found: list[str] = []
    for name in BLIND:
        try:
            released(name, 0.0, 0.9)
        except NotFound:
            continue
        found.append(name)
    assert {"k-member", "local-recoding", "mondrian", "rtree", "single-dimension"} < set(found)


@pytest.mark.parametrize(
    "algorithm", [n for n, kind in family("algorithm").items() if kind.needs.merges_by_public]
)
def test_groups_are_merged_by_the_people_they_cover_and_not_by_rows(algorithm: str) -> None:
    """Three people of the register have each value: every row by itself is hidden among three."""
    values = ["1", "2", "10", "11"]
    case = Case(columns={"q": values}, quasi=("q",), kinds={"q": "number"})
    register = Case(columns={"q": values * 3}, quasi=("q",), kinds={"q": "number"}).dataset
    pairs = 2 if cast(type[Algorithm], family("algorithm")[algorithm]).shape.forms_ranges else 1
    for k, classes in ((3, 4), (4, pairs), (12, 1)):  # two cells that differ may only be blanked
        plan = case.plan(algorithm={"name": algorithm}, models=[{"name": "k-map", "k": k}])
        found = run(plan, case.dataset, population=register, assess=False)
        assert len(found.class_sizes) == classes
        assert found.verification.holds


def test_sizes_begin_small_and_end_with_everyone() -> None:
    for rows in (1, 2, 3, 17, 64):
        for begin in (True, False):
            tried = sizes(rows, begin=begin)
            assert tried == sorted(set(tried))
            assert tried[-1] == max(rows, 2)
            assert tried[0] == (2 if begin else 1)
            assert all(b <= 2 * a for a, b in itertools.pairwise(tried))


def test_the_command_line_has_a_status_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PRIVATE.frame.to_csv(tmp_path / "table.csv", index=False)
    PUBLIC.frame.to_csv(tmp_path / "people.csv", index=False)
    promise = {"name": "delta-presence", "delta_min": 0.0, "delta_max": 0.9}
    plan = PRIVATE.plan(
        algorithm={"name": "bucketization", "partition": "mondrian"},
        models=[promise],
        population={"file": "people.csv"},
    )
    (tmp_path / "recipe.toml").write_text(plan.as_toml())
    text = ["run", str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "table.csv")]
    assert main([*text, "--out", str(tmp_path / "out"), "--json"]) == NOT_FOUND
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == "not found"
    assert said["error"].startswith("Not found")
    assert said["best"] == 1.0
