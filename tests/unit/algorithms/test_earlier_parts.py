"""Parts of an earlier release on the next table: where rows go, what goes, what is refused."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tomli_w

from anon_core.__main__ import main
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.data.table import Dataset
from anon_core.methods.matching import composition as composed
from anon_core.methods.matching.composition import Classes
from anon_core.methods.matching.cut_tree import cuts_between
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from tests.making import Case

OCTOBER = pd.DataFrame({"age": ["[20, 29]"] * 3 + ["[40, 49]"] * 3, "ill": list("aababb")})


def november(*ages: int) -> Case:
    return Case(
        columns={"age": [str(age) for age in ages], "ill": [f"v{n % 3}" for n in range(len(ages))]},
        quasi=("age",),
        sensitive=("ill",),
        kinds={"age": "number", "ill": "text"},
    )


def carried(own: Case, earlier: pd.DataFrame = OCTOBER, **algorithm: object) -> Result:
    plan = own.plan(
        algorithm={"name": "earlier-parts", **algorithm},
        earlier={"file": "october.csv"},
        reuse={"mode": "fixed"},
    )
    return run(plan, own.dataset, {}, earlier=Dataset.from_frame(earlier))


def shown(result: Result) -> list[str]:
    assert verify(result.plan.completed(), result.problem.dataset.frame(), {}, result.files).holds
    return sorted(result.published.column("age").to_pylist())


def test_a_row_between_parts_goes_to_the_nearer_one_and_small_parts_are_joined() -> None:
    """Of 33 and 36 no part says anything; 41 would stand alone were 36 not next to it."""
    own = november(21, 25, 28, 33, 36, 41, 22)
    result = carried(own)
    assert not result.release.suppressed
    assert shown(result) == ["[21, 33]"] * 5 + ["[36, 41]"] * 2  # ranges of the rows of today
    assert not result.account.proven
    assert shown(carried(november(21, 25, 28, 41))) == ["[21, 41]"] * 4


def test_small_parts_are_removed_within_the_budget() -> None:
    own = november(21, 25, 28, 22, 41)
    result = carried(own, small="remove", max_suppression=0.2)
    assert (result.release.suppressed, shown(result)) == (1, ["[21, 28]"] * 4)
    with pytest.raises(Infeasible, match=r"1 of 5 rows would have to go: 1 of parts .* At most 0"):
        carried(own, small="remove", max_suppression=0.1)
    with pytest.raises(BadPlan, match="small parts are joined, so no row is removed") as refused:
        carried(own, max_suppression=0.2)
    assert "Set small to 'remove'" in refused.value.remedy


def test_where_parts_overlap_a_row_goes_to_the_first_that_covers_it() -> None:
    """What none covers is a part of its own, and joined with the nearest."""
    earlier = pd.DataFrame({"age": ["[20, 40]", "[30, 50]"] * 2, "ill": list("abab")})
    own = november(21, 22, 34, 35, 48, 49, 60)
    assert shown(carried(own, earlier)) == ["[21, 35]"] * 4 + ["[48, 60]"] * 3
    lost = carried(own, earlier, small="remove", max_suppression=0.2)
    assert (lost.release.suppressed, shown(lost)[-1]) == (1, "[48, 49]")


def test_parts_of_another_table_are_refused() -> None:
    with pytest.raises(Infeasible, match="of another table"):
        carried(november(61, 62, 63))


def parts_by_cuts(rng: np.random.Generator, points: list[list[int]]) -> list[list[list[int]]]:
    """Return points in parts, cut at places that are drawn, with equal values on one side."""
    d = int(rng.integers(len(points[0])))
    at = int(rng.choice([p[d] for p in points]))
    sides = [[p for p in points if p[d] <= at], [p for p in points if p[d] > at]]
    if len(points) < 4 or not all(sides):
        return [points]
    return parts_by_cuts(rng, sides[0]) + parts_by_cuts(rng, sides[1])


def test_boxes_of_strict_cuts_are_cut_apart_again() -> None:
    """Every box ends at a node of its own, with both of its corners; overlapping ones share it."""
    rng = np.random.default_rng(3)
    parts = parts_by_cuts(rng, rng.integers(0, 9, (150, 3)).tolist())
    low = np.array([np.min(part, axis=0) for part in parts])
    high = np.array([np.max(part, axis=0) for part in parts])
    size = np.array([len(part) for part in parts])
    tree = cuts_between(low, high, size)
    assert len(parts) > 20
    assert len(set(tree.node.tolist())) == len(parts)
    for corner in (low, high):
        assert tree.last(corner.astype(np.int32), Context()).tolist() == tree.node.tolist()
    one, other = np.array([[0, 0], [3, 2]]), np.array([[5, 5], [8, 8]])
    assert cuts_between(one, other, np.ones(2, dtype=np.int64)).column.tolist() == [-1]
    # [0, 3] and [3, 8] are cut at 3, unless nothing may be shared.
    touching = np.array([[0], [3]]), np.array([[3], [8]]), np.ones(2, dtype=np.int64)
    assert cuts_between(*touching).at.tolist()[0] == 3
    assert cuts_between(*touching, shared=False).column.tolist() == [-1]


@pytest.mark.parametrize("more", [[], [(0, 3), (1, 1), (1, 2)]])
def test_people_fit_the_same_classes_with_cuts_and_without(
    more: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 12, (200, 2)).astype(np.int32)
    texts = [(0, 3), (4, 4), (5, 6), (7, 11)]
    cover = np.array([[a <= leaf <= b and leaf != 9 for leaf in range(12)] for a, b in texts])
    cells = np.array([(a, b) for a in range(4) for b in range(4)][3:] + more, dtype=np.int32)
    nothing = np.empty(0, dtype=np.int64)
    classes = Classes(
        places=(1, 0),
        cover=[cover, cover],
        cells=cells,
        pool=np.arange(len(cells)) // 2,
        rows=np.ones(len(cells), dtype=np.int64),
        entry=nothing,
        value=nothing.astype(np.int32),
        count=nothing,
    )
    plain = [np.stack(pair) for pair in classes.fitting(people, Context())]
    monkeypatch.setattr(composed, "_CELLS", 100)
    quick = np.concatenate([np.stack(pair) for pair in classes.fitting(people, Context())], axis=1)
    assert (np.diff(quick[0]) >= 0).all()
    assert sorted(quick.T.tolist()) == sorted(np.concatenate(plain, axis=1).T.tolist())


RECIPE = """version = 3
[types]
age = "number"
[roles]
quasi = ["age"]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
cuts = "relaxed"
[export]
csv = false
[[models]]
name = "k-anonymity"
k = 4
"""


def test_what_mondrian_decided_is_carried_out_on_the_next_table(tmp_path: Path) -> None:
    recipe, decided = tmp_path / "recipe.toml", tmp_path / "decided.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    for month, first in (("october", 20), ("november", 21)):
        own = november(*(first + 3 * n % 37 for n in range(40)))
        own.frame.to_csv(tmp_path / f"{month}.csv", index=False)
    content = ["--data", str(tmp_path / "october.csv"), "--out", str(tmp_path / "out-october")]
    assert main(["run", str(recipe), *content, "--decided-out", str(decided)]) == 0
    text = decided.read_text(encoding="utf-8")
    assert "out-october/release.parquet" in text
    assert "seed" not in text
    content = ["--data", str(tmp_path / "november.csv"), "--out", str(tmp_path / "out-november")]
    assert main(["run", str(decided), *content]) == 0
    assert main(["verify", str(decided), "--data", content[1], "--release", content[3]]) == 0
    # No other file is taken for the release that was decided on, and it is not written over.
    assert main(["run", str(decided), *content[:3], str(tmp_path / "out-october")]) == 1
    earlier = tmp_path / "out-october" / "release.parquet"
    shutil.copy(tmp_path / "out-november" / "release.parquet", earlier)
    assert main(["run", str(decided), *content]) == 4
    nowhere = tomllib.loads(text)
    del nowhere["earlier"]
    decided.write_text(tomli_w.dumps(nowhere), encoding="utf-8")
    assert main(["run", str(decided), *content]) == 1


def test_parts_are_decided_by_a_file() -> None:
    own = november(*range(20, 40))
    with pytest.raises(BadPlan, match="its file is not given"):
        run(own.plan(algorithm={"name": "mondrian"}), own.dataset, {}).decided()
