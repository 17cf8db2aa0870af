"""Parts of an earlier release on the next table: where rows go, what goes, what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.data.table import Dataset
from anon_core.job.result import Result
from anon_core.job.runner import run
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


def carried(own: Case, share: float) -> Result:
    plan = own.plan(
        algorithm={"name": "earlier-parts", "max_suppression": share},
        earlier={"file": "october.csv"},
        reuse={"mode": "fixed"},
    )
    return run(plan, own.dataset, {}, earlier=Dataset.from_frame(OCTOBER))


def test_rows_go_where_the_earlier_parts_cover_them() -> None:
    """Of 35 no part says anything, and 41 would stand alone: both go, and the rest is verified."""
    own = november(21, 25, 28, 35, 41, 22)
    result = carried(own, 0.4)
    assert result.release.suppressed == 2
    shown = result.published.column("age").to_pylist()
    assert sorted(shown) == ["[21, 28]"] * 4  # the range of the rows of today
    assert verify(result.plan.completed(), own.frame, {}, result.files).holds
    assert not result.account.proven


def test_more_than_the_budget_is_refused_with_the_figures() -> None:
    with pytest.raises(Infeasible, match=r"1 stand in no part .* 1 in parts that do not keep"):
        carried(november(21, 25, 28, 35, 41, 22), 0.3)


RECIPE = """version = 3
[types]
age = "number"
[roles]
quasi = ["age"]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
cuts = "{cuts}"
[[models]]
name = "k-anonymity"
k = 4
"""


def test_what_mondrian_decided_is_carried_out_on_the_next_table(tmp_path: Path) -> None:
    recipe, decided = tmp_path / "recipe.toml", tmp_path / "decided.toml"
    recipe.write_text(RECIPE.format(cuts="strict"), encoding="utf-8")
    for month, first in (("october", 20), ("november", 21)):
        own = november(*(first + 3 * n % 37 for n in range(40)))
        own.frame.to_csv(tmp_path / f"{month}.csv", index=False)
    told = ["--data", str(tmp_path / "october.csv"), "--out", str(tmp_path / "out-october")]
    assert main(["run", str(recipe), *told, "--decided-out", str(decided)]) == 0
    text = decided.read_text(encoding="utf-8").replace("0.05", "0.5")
    assert "out-october/release.csv" in text
    assert "seed" not in text
    decided.write_text(text, encoding="utf-8")
    told = ["--data", str(tmp_path / "november.csv"), "--out", str(tmp_path / "out-november")]
    assert main(["run", str(decided), *told]) == 0
    assert main(["verify", str(decided), "--data", told[1], "--release", told[3]]) == 0
    recipe.write_text(RECIPE.format(cuts="relaxed"), encoding="utf-8")
    assert main(["run", str(recipe), *told, "--decided-out", str(tmp_path / "no.toml")]) == 1


def test_parts_are_decided_by_a_file() -> None:
    own = november(*range(20, 40))
    with pytest.raises(BadPlan, match="nobody said where it lies"):
        run(own.plan(algorithm={"name": "mondrian"}), own.dataset, {}).decided()
