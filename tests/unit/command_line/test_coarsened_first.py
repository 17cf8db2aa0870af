"""A table whose distinct rows do not fit: searched from coarser levels on, and said so."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.engines import memory_needs
from anon_core.recipe.plan import read_plan
from tests.often import EVERY, crossed
from tests.unit.command_line.test_engines import _MODELS, _recipe, _table

SEARCHES: list[dict[str, object]] = [
    {"name": "optimal", "max_suppression": 0.1},
    {"name": "optimal", "max_suppression": 0.1, "metric": "generalization-height"},
    {"name": "optimal", "metric": "ncp"},
    {"name": "optimal", "max_suppression": 0.1, "metric": "discernibility"},
    {"name": "datafly", "max_suppression": 0.1},
    {"name": "samarati", "max_suppression": 0.1},
    {"name": "incognito", "max_suppression": 0.1},
]


def room_for(tuples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a run of 2 GB room for so many tuples of the four columns that are looked at."""
    rows = 240 * 40  # what its rows take at most
    a_code = (2 * 10**9 - memory_needs.BYTES_OF_ANY - rows) // (4 * tuples)
    monkeypatch.setattr(memory_needs, "BYTES_A_CODE", a_code)


def _run(
    folder: Path,
    technique: dict[str, object],
    engine: str,
    capsys: pytest.CaptureFixture[str],
    missing: str = "keep",
) -> tuple[dict[str, Any], dict[str, bytes]] | None:
    """Return what is shown and published; None where it is refused."""
    recipe = _recipe(folder, technique, missing)
    out = folder / "out"
    asked = ["run", str(recipe), "--data", str(folder / "t.csv"), "--out", str(out)]
    status = main([*asked, "--engine", engine, "--memory", "2GB", "--json"])
    printed = capsys.readouterr()
    if status:
        assert not out.exists(), printed.err
        return None
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    for file in out.iterdir():
        file.unlink()
    out.rmdir()
    return json.loads(printed.out), files


@crossed(
    "technique, seed",
    SEARCHES,
    [1, 2],
    share=2,
    ids=lambda one: "-".join(map(str, one.values())) if isinstance(one, dict) else str(one),
)
def test_it_is_the_release_of_the_levels_found_and_the_best_of_those_counted(
    tmp_path: Path,
    technique: dict[str, object],
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(seed).to_csv(tmp_path / "t.csv", index=False)
    with monkeypatch.context() as patch:
        room_for(60, patch)
        found = _run(tmp_path, technique, "duckdb", capsys, "drop" if seed == 1 else "keep")
    assert found is not None
    answer, files = found
    assert any("counted at coarser levels" in text for text in answer["cautions"])
    assert not answer["search"]["proven"]
    levels: dict[str, int] = answer["node"]
    floors = {name: answer["counted_from"].get(name, 0) for name in levels}
    assert any(floors.values())
    assert all(levels[n] >= floors[n] for n in levels)
    budget = technique.get("max_suppression", 0.0)

    def at(node: dict[str, int]) -> tuple[dict[str, Any], dict[str, bytes]] | None:
        named: dict[str, object] = {"name": "fixed-levels", "levels": node}
        missing = "drop" if seed == 1 else "keep"
        return _run(tmp_path, {**named, "max_suppression": budget}, "memory", capsys, missing)

    alike = at(levels)
    assert alike is not None
    assert alike[1] == files
    for name, value in answer["metrics"].items():
        assert alike[0]["metrics"][name] == value, name
    attacks = {(a["name"], a["column"]): a for a in alike[0]["attacks"]}
    assert answer["attacks"]
    for own in answer["attacks"]:
        other = attacks[own["name"], own["column"]]
        assert {**own, "raw": None} == {**other, "raw": None}
        assert own["raw"] <= other["raw"] + 1e-12  # the table as it is, at coarser levels
    if technique["name"] != "optimal":
        return
    metric = str(technique.get("metric", "loss"))
    share = answer["metric_shares"][metric]
    tops = dict.fromkeys(levels, 2)
    every = list(itertools.product(*(range(floors[n], tops[n] + 1) for n in levels)))
    for node in every if EVERY else every[seed::3]:
        other = at(dict(zip(levels, node, strict=True)))
        assert other is None or other[0]["metric_shares"][metric] >= share - 1e-12


@pytest.mark.parametrize("missing", ["drop", "keep"])
def test_levels_that_are_named_are_counted_at_once(
    tmp_path: Path,
    missing: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    named: dict[str, object] = {"name": "fixed-levels", "levels": {"job": 1, "age": 1, "zip": 1}}
    named["max_suppression"] = 1.0
    _table(3).to_csv(tmp_path / "t.csv", index=False)
    with monkeypatch.context() as patch:
        room_for(80, patch)
        found = _run(tmp_path, named, "duckdb", capsys, missing)
    alike = _run(tmp_path, named, "memory", capsys, missing)
    assert found is not None
    assert alike is not None
    assert found[1] == alike[1]
    assert found[0]["counted_from"] == {"age": 1, "job": 1, "zip": 1}


@pytest.mark.parametrize(
    ("technique", "room", "where"),
    [
        ({"name": "optimal", "transformation": "TS", "max_suppression": 0.9}, 60, ""),
        ({"name": "samarati", "check": "distance vectors"}, 60, ""),
        ({"name": "mondrian", "cut_at": "quartiles"}, 60, ""),
        # more sensitive values than that
        ({"name": "optimal", "max_suppression": 0.1}, 2, "at its most general level"),
        (
            {"name": "fixed-levels", "levels": {"job": 0, "age": 0, "zip": 0}},
            60,
            "at the levels that are named",
        ),
    ],
    ids=lambda given: str(given["name"]) if isinstance(given, dict) else str(given),
)
def test_what_coarser_levels_do_not_help_is_refused(
    tmp_path: Path,
    technique: dict[str, object],
    room: int,
    where: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, technique, "keep", _MODELS[:1])
    room_for(room, monkeypatch)
    out = tmp_path / "out"
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(out)]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB"]) != 0
    printed = capsys.readouterr().err
    assert "different combinations" in printed
    assert ("let a search raise levels" in printed) == (not where)
    assert where in printed
    assert not out.exists()


def test_a_column_that_a_promise_counts_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, SEARCHES[0], "keep")
    recipe.write_text(recipe.read_text().replace("\nsensitive = [", '\nsensitive = ["job", '))
    assert "job" in read_plan(recipe).roles.sensitive
    room_for(60, monkeypatch)
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o")]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB", "--json"]) == 0
    caution = " ".join(json.loads(capsys.readouterr().out)["cautions"])
    assert "coarser levels" in caution
    assert "'job' from" not in caution
    assert len(pd.read_csv(tmp_path / "o/release.csv"))


def test_a_promise_about_some_columns_is_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some: dict[str, object] = {"name": "k-anonymity", "k": 4, "columns": ["age", "job"]}
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, SEARCHES[0], "keep", (some,))
    room_for(60, monkeypatch)
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o")]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counted_from"]


@pytest.mark.parametrize(
    "technique",
    [
        {"name": "optimal", "list_minimal": True},
        {"name": "incognito", "max_suppression": 0.1},
        {"name": "samarati", "max_suppression": 0.1},
    ],
    ids=lambda given: str(given["name"]),
)
def test_no_choice_is_called_minimal_where_lower_ones_were_not_counted(
    tmp_path: Path,
    technique: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    whole = _run(tmp_path, technique, "duckdb", capsys)
    room_for(10, monkeypatch)
    found = _run(tmp_path, technique, "duckdb", capsys)
    assert whole is not None
    assert found is not None
    assert whole[0]["search"]["minimal_nodes"]
    assert found[0]["counted_from"]
    assert found[0]["search"]["minimal_nodes"] == []
    assert found[0]["search"]["locally_minimal_nodes"] == []
    assert found[0]["search"]["bound"] is None


def test_values_that_were_not_told_apart_are_not_told_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    room_for(60, monkeypatch)
    found = _run(tmp_path, SEARCHES[0], "duckdb", capsys)
    assert found is not None
    answer = found[0]
    assert answer["counted_from"]
    levels: dict[str, object] = {"name": "fixed-levels", "levels": answer["node"]}
    alike = _run(tmp_path, {**levels, "max_suppression": 0.1}, "memory", capsys)
    assert alike is not None
    assert set(answer["by_value"]) == {"age", "job", "zip", "illness"} - set(answer["counted_from"])
    for name, own in answer["by_value"].items():
        for kind, rows in own.items():
            for row, other in zip(rows, alike[0]["by_value"][name][kind], strict=True):
                assert row == pytest.approx(other)


@pytest.mark.parametrize("technique", [SEARCHES[0], SEARCHES[4]], ids=lambda t: str(t["name"]))
def test_where_none_is_found_finer_levels_are_said_to_be_open(
    tmp_path: Path,
    technique: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    diverse: dict[str, object] = {"name": "recursive-l-diversity", "c": 0.56, "l": 2}
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, technique, "keep", ({"name": "k-anonymity", "k": 200}, diverse))
    room_for(60, monkeypatch)
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o")]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB"]) != 0
    printed = capsys.readouterr().err
    assert "Not found" in printed
    assert "No choice of levels" not in printed
    assert "Give the run more memory, so that finer levels are counted" in printed
