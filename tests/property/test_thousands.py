"""Numbers with marks between thousands, through the whole way: each release is verified.

The second computation reads the table's own texts and finds the marks out by itself.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadHierarchy, BadInput
from anon_core.data.hierarchy.construction import from_rows
from anon_core.data.hierarchy.intervals import Cuts, cut
from anon_core.data.table import Dataset
from tests.making import Case

#: Marks between thousands, and before decimals.
STYLES = ((".", ","), (",", "."), (" ", ","), ("'", "."), ("\u202f", ","))
TECHNIQUES = (
    {"name": "optimal", "max_suppression": 0.5},
    {"name": "mondrian"},
    {"name": "microaggregation"},
    {"name": "microaggregation", "statistic": "median", "decimals": 0},
    {"name": "top-bottom-coding", "bottom": 0.3, "top": 0.3},
    {"name": "top-bottom-coding", "limits": {"pay": {"low": 1200, "high": 100000}}},
    {"name": "local-recoding", "max_suppression": 0.5},
    {"name": "anatomy"},
)


def written(style: tuple[str, str], rng: np.random.Generator, rows: int = 24) -> list[str]:
    """Draw numbers of every size, some whole; the first tells which marks are which."""
    swap = str.maketrans(dict(zip(",.", style, strict=True)))
    size = 10 ** rng.integers(0, 7, rows)
    numbers = (rng.integers(1, 12, rows) * size / 10).tolist()
    texts = [f"{n:,.2f}" if rng.random() < 0.5 else f"{round(n):,}" for n in numbers]
    return [text.translate(swap) for text in ["1,164.09", *texts[1:]]]


def table(pay: list[str], rng: np.random.Generator) -> Case:
    return Case(
        columns={
            "pay": [*pay],
            "gift": [*pay[::-1]],
            "ill": [str(i) for i in rng.permutation(len(pay)) % 4],
        },
        quasi=("pay",),
        sensitive=("ill",),
        kinds={},
    )


#: Nearly every row has a value of its own there, which nobody would publish unasked.
GIFTS_ARE_PUBLIC = [{"column": "gift", "what": "unique", "rows": 24}]


@pytest.mark.parametrize("algorithm", TECHNIQUES, ids=lambda a: str(a["name"]))
@pytest.mark.parametrize("style", STYLES, ids=["1.164,09", "1,164.09", "1 164,09", "'", "thin"])
def test_every_release_of_such_a_column_is_verified(
    style: tuple[str, str], algorithm: dict[str, object]
) -> None:
    rng = np.random.default_rng([7, ord(style[0]), ord(style[1])])
    case = table(written(style, rng), rng)
    data = case.dataset
    column = data.column("pay")
    assert column.kind == "number"
    ends = column.measure
    assert ends is not None
    half, quarter = (float(np.quantile(ends, share)) for share in (0.5, 0.25))
    levels = {"pay": cut(column, Cuts(levels=((quarter, half), (half,)), open_top=True))}
    models: list[dict[str, object]] = [{"name": "k-anonymity", "k": 2}]
    if algorithm["name"] == "anatomy":
        models = [{"name": "frequency-l-diversity", "l": 2}]
    for given in (levels, {}):
        if not given and algorithm["name"] in ("optimal", "local-recoding"):
            continue
        plan = case.plan(algorithm=algorithm, models=models, confirmed=GIFTS_ARE_PUBLIC)
        result = run(plan, data, given, assess=False)
        assert result.verification.holds
        if len(result.tables) == 1:
            gifts = [line["gift"] for line in csv.DictReader(io.StringIO(result.csv.decode()))]
            assert not any(style[0] in gift for gift in gifts)
            assert set(gifts) <= set(data.column("gift").values)


def test_the_rows_that_are_left_need_not_tell_what_the_marks_are() -> None:
    pay: list[str | None] = [*(["12.500", "1.164"] * 20), "1.164,09"]
    case = Case(
        columns={"pay": pay, "sex": [*(["F", "M"] * 20), None], "ill": ["a"] * 41},
        quasi=("pay", "sex"),
        sensitive=("ill",),
    )
    for data in ({"missing": "drop"}, {"missing": "drop", "sample": 0.5}):
        result = run(
            case.plan(algorithm={"name": "mondrian"}, data=data), case.dataset, assess=False
        )
        texts = {line["pay"] for line in csv.DictReader(io.StringIO(result.csv.decode()))}
        assert texts <= {"12500", "1164", "[1164, 12500]"}
        assert result.verification.holds


def test_the_command_line_runs_and_verifies_such_a_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    pay = written((".", ","), rng, 40)
    (tmp_path / "t.csv").write_text(
        "pay;ill\n" + "".join(f"{p};{'abc'[i % 3]}\n" for i, p in enumerate(pay))
    )
    (tmp_path / "r.toml").write_text(
        '[data]\nseparator = ";"\n[roles]\nquasi = ["pay"]\nsensitive = ["ill"]\n'
        '[algorithm]\nname = "mondrian"\n[[models]]\nname = "k-anonymity"\nk = 3\n'
    )
    places = [str(tmp_path / "r.toml"), "--data", str(tmp_path / "t.csv")]
    assert main(["run", *places, "--out", str(tmp_path / "out")]) == 0
    assert main(["verify", *places, "--release", str(tmp_path / "out")]) == 0


def test_a_population_may_have_marks_if_they_are_the_tables() -> None:
    pay = ["1.164,09", "12.500", "950", "12.500", "950", "1.164,09"]
    case = Case(columns={"pay": [*pay], "ill": [*"ababab"]}, quasi=("pay",), sensitive=("ill",))
    promise = {"name": "delta-presence", "delta_min": 0, "delta_max": 1}
    plan = case.plan(algorithm={"name": "mpalm"}, models=[promise])
    for more in ([], ["2.000,5"]):
        people = Dataset.from_frame(pd.DataFrame({"pay": [*pay, *more, "980", "12.500"]}))
        assert run(plan, case.dataset, {}, population=people, assess=False).verification.holds
    other = Dataset.from_frame(pd.DataFrame({"pay": ["12.500", "1164.5", "950"] * 3}))
    with pytest.raises(BadInput, match="mark thousands in one way"):
        run(plan, case.dataset, {}, population=other, assess=False)


def test_a_hierarchy_has_its_values_without_marks() -> None:
    case = Case(columns={"pay": ["1.164,09", "12.500"]}, quasi=("pay",))
    column = case.dataset.column("pay")
    built = from_rows(column, [("1164.09", "low", "*"), ("12500", "high", "*")])
    assert built.leaves == ("1164,09", "12500")
    with pytest.raises(BadHierarchy, match="without marks between thousands"):
        from_rows(column, [("1.164,09", "low", "*"), ("12.500", "high", "*")])
    assert replace(column, kind="text").thousands == "."
