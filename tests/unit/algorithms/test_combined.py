"""CombinedAlg and MPALM from the command line, their verification, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan, NotFound
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from anon_core.verification.models import delta_presence as fillings
from tests.golden.test_toth import PRIVATE, PUBLIC
from tests.making import Case
from tests.membership_twin import listed, random_bucket

MODELS = [
    {"name": "delta-presence", "delta_min": 0.1, "delta_max": 0.9},
    {"name": "bucket-size", "k": 4},
]
COMBINED = {"name": "combined", "partition": "mondrian"}


def carried_out(**recipe: Any) -> Result:
    plan = PRIVATE.plan(**({"algorithm": COMBINED, "models": MODELS} | recipe))
    return run(plan, PRIVATE.dataset, PRIVATE.levels, population=PUBLIC.dataset, assess=False)


# ---- the second computation ------------------------------------------------------------------


def tampered(result: Result, change: Callable[[list[list[str]]], list[list[str]]]) -> set[str]:
    rows = change(list(csv.reader(io.StringIO(result.csv.decode()))))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    files = {"release.csv": text.getvalue().encode()}
    found = verify(result.plan.completed(), PRIVATE.frame, PRIVATE.levels, files, PUBLIC.frame)
    return {c.name for c in found.broken}


def with_cell(row: int, column: int, text: str) -> Callable[[list[list[str]]], list[list[str]]]:
    def change(rows: list[list[str]]) -> list[list[str]]:
        return [
            [text if (i, j) == (row, column) else cell for j, cell in enumerate(line)]
            for i, line in enumerate(rows)
        ]

    return change


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (with_cell(1, 2, "27"), "truth"),  # four people of 27: one too many
        (with_cell(1, 1, "5370"), "delta-presence"),  # overlaps 537* in one group
        (with_cell(1, 1, "nowhere"), "truth"),
        (with_cell(1, 3, "99k"), "truth"),
        (lambda rows: rows[:-1], "rows"),
        (lambda rows: [rows[0], *rows[:0:-1]], "order"),
    ],
)
def test_a_changed_file_is_found(
    change: Callable[[list[list[str]]], list[list[str]]], broken: str
) -> None:
    assert broken in tampered(carried_out(), change)


def test_without_the_public_table_nothing_is_believed() -> None:
    result = carried_out()
    found = verify(result.plan.completed(), PRIVATE.frame, PRIVATE.levels, result.files)
    assert [c.name for c in found.broken] == ["delta-presence"]


def test_the_plain_count_is_that_of_listing() -> None:
    rng = np.random.default_rng(401)
    for _ in range(300):
        problem, _ = random_bucket(rng, people=int(rng.integers(1, 9)), values=3)
        margins = [m.tolist() for m in problem.margins]
        offset = np.cumsum([0, *(len(m) for m in margins)])
        types = [[int(v + o) for v, o in zip(t, offset, strict=False)] for t in problem.codes]
        shown = [n for m in margins for n in m]
        found = fillings.chances(types, problem.count.tolist(), shown)
        twin = listed(problem.codes.tolist(), problem.count.tolist(), margins)
        assert found is not None
        assert tuple(found) == twin.delta


def test_too_many_fillings_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fillings, "MOST_STATES", 2)
    types = [(a, 3 + b) for a in range(3) for b in range(3)]
    with pytest.raises(fillings.TooLarge, match="too many to be counted"):
        fillings.chances(types, [2] * 9, [2, 2, 2, 2, 2, 2])
    assert fillings.chances([(0, 1)], [1], [2, 2]) is None  # nobody can fill it


# ---- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mpalm", "combined"])
def test_both_need_the_public_table(name: str) -> None:
    plan = PRIVATE.plan(algorithm={"name": name}, models=[{"name": "bucket-size", "k": 2}])
    with pytest.raises(BadPlan, match="needs a public table") as refused:
        run(plan, PRIVATE.dataset, PRIVATE.levels, assess=False)
    assert "population table" in refused.value.remedy


def test_groups_that_overlap_are_refused() -> None:
    """Groups by sensitive value say nothing of where people stand."""
    case = Case(
        columns={"a": list("112233"), "b": list("121212"), "s": list("uvuvuv")},
        quasi=("a", "b"),
        sensitive=("s",),
    )
    public = Dataset.from_frame(pd.concat([case.frame[["a", "b"]]] * 3))
    refused = list[NotFound]()
    for seed in range(8):
        plan = case.plan(
            seed=seed,
            algorithm={"name": "combined", "partition": "balanced"},
            models=[
                {"name": "delta-presence", "delta_max": 0.9},
                {"name": "frequency-l-diversity", "l": 2},
            ],
        )
        try:
            assert run(plan, case.dataset, population=public, assess=False).verification.holds
        except NotFound as error:
            refused.append(error)
    assert len(refused) > 2  # other seeds deal groups that do not overlap
    assert all("groups overlap" in error.message for error in refused)
    assert all("MPALM" in error.remedy for error in refused)


# ---- the command line ------------------------------------------------------------------------


def desk(folder: Path, algorithm: str, models: str, *, public: bool = True) -> list[str]:
    PRIVATE.frame.to_csv(folder / "table.csv", index=False)
    PUBLIC.frame.to_csv(folder / "public.csv", index=False)
    for column, rows in PRIVATE.levels.items():
        (folder / f"{column}.csv").write_text("\n".join(";".join(row) for row in rows))
    (folder / "recipe.toml").write_text(
        "[types]\nZip = 'ordered'\n"
        "[roles]\nidentifier = ['Name']\nquasi = ['Zip', 'Age']\nsensitive = ['Salary']\n"
        "[hierarchies]\nZip = 'Zip.csv'\nAge = 'Age.csv'\n"
        + ("[population]\nfile = 'public.csv'\n" if public else "")
        + f"[algorithm]\n{algorithm}\n{models}",
        encoding="utf-8",
    )
    return [str(folder / "recipe.toml"), "--data", str(folder / "table.csv")]


PROMISE = "[[models]]\nname = 'delta-presence'\ndelta_min = 0.1\ndelta_max = 0.9\n"


@pytest.mark.parametrize(
    "algorithm",
    ["name = 'mpalm'", "name = 'combined'", "name = 'optimal'"],
)
def test_run_and_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str], algorithm: str) -> None:
    given = desk(tmp_path, algorithm, PROMISE)
    out = tmp_path / "out"
    assert main(["run", *given, "--out", str(out)]) == 0
    assert "Recomputed from the published file and the public table" in capsys.readouterr().out
    assert main(["verify", *given, "--release", str(out)]) == 0
    public = PUBLIC.frame[PUBLIC.frame["Name"] != "Elizabeth"]
    public.to_csv(tmp_path / "public.csv", index=False)
    status = main(["verify", *given, "--release", str(out), "--json"])
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    broken = [c["name"] for c in printed["checks"] if not c["holds"]]
    assert (status == 0) == (not broken)
    assert set(broken) <= {"delta-presence"}


@pytest.mark.parametrize(
    ("models", "public", "status", "words"),
    [
        (PROMISE.replace("0.1", "0.95"), True, 1, "no chance is at least the one and at most"),
        (PROMISE, False, 1, "needs a public table"),
        (PROMISE.replace("0.9", "0.7"), True, 2, "8 of 10 public people"),
    ],
)
def test_what_the_command_line_refuses(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    models: str,
    public: bool,
    status: int,
    words: str,
) -> None:
    given = desk(tmp_path, "name = 'mpalm'", models, public=public)
    assert main(["run", *given, "--out", str(tmp_path / "out"), "--json"]) == status
    shown = capsys.readouterr()
    assert words in shown.err
    content = json.loads(shown.out)
    assert content["verified"] is False
    assert status != 2 or content["best"] == 0.8
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cuts", ["by-kind", "hierarchy", "values"])
def test_a_column_with_one_value_covers_public_values_by_its_label_only(cuts: str) -> None:
    columns: dict[str, list[str | None]] = {"town": ["a", "a"], "sex": ["f", "m"]}
    case = Case(columns=columns, quasi=("town", "sex"), kinds={"town": "text", "sex": "text"})
    everyone = Case(
        columns={"town": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]},
        quasi=case.quasi,
        kinds=case.kinds,
    )
    plan = case.plan(
        algorithm={"name": "mpalm", "cuts": cuts},
        models=[{"name": "delta-presence", "delta_min": 0.0, "delta_max": 0.5}],
    )
    result = run(plan, case.dataset, population=everyone.dataset, assess=False)
    header, *rows = csv.reader(io.StringIO(result.csv.decode()))
    assert header == ["town", "sex"]
    assert {row[0] for row in rows} == {"*"}
