"""A table whose distinct rows do not fit: cut in the engine, and the same release as in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anon_core.__main__ import main
from anon_core.engines import memory_needs
from tests.often import crossed
from tests.unit.command_line.test_engines import _MODELS, _recipe, _table

TECHNIQUES: list[dict[str, object]] = [
    {"name": "mondrian"},
    {"name": "mondrian", "output": "node"},
    {"name": "mondrian", "output": "set"},
    {"name": "mondrian", "weights": {"age": 0.1, "zip": 2.0}},
]


def room_to_cut(tuples: int, monkeypatch: pytest.MonkeyPatch, keys: int = 1000) -> None:
    """Leave a run room for so many keys of classes, and to cut so many tuples at a time."""
    monkeypatch.setattr(memory_needs.Needs, "room_to_cut", lambda _: tuples)
    asked: list[int] = []

    def fits(_: memory_needs.Needs, tuples: int) -> bool:
        if not tuples:  # rows alone
            return True
        asked.append(tuples)
        return len(asked) > 1 and tuples <= keys

    monkeypatch.setattr(memory_needs.Needs, "fits", fits)


def _run(
    recipe: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    out = recipe.parent / f"out-{engine}"
    asked = ["run", str(recipe), "--data", str(recipe.parent / "t.csv"), "--out", str(out)]
    status = main([*asked, "--engine", engine, "--memory", "2GB", "--json"])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    return json.loads(printed.out), {file.name: file.read_bytes() for file in out.iterdir()}


#: What is shown and published in memory, however much room there is for an engine.
_IN_MEMORY: dict[tuple[str, int, int], tuple[dict[str, Any], dict[str, bytes]]] = {}


@crossed(
    "technique, models, seed, room",
    TECHNIQUES,
    [_MODELS[:1], _MODELS],
    [1, 2],
    [15, 40, 100],
    share=4,
    ids=lambda one: "-".join(map(str, one)) if isinstance(one, dict | tuple) else str(one),
)
def test_it_is_the_release_of_memory(
    tmp_path: Path,
    technique: dict[str, object],
    models: tuple[dict[str, object], ...],
    seed: int,
    room: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(seed).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, technique, "drop" if seed == 1 else "keep", models)
    of = (str(technique), len(models), seed)
    if of not in _IN_MEMORY:
        _IN_MEMORY[of] = _run(recipe, "memory", capsys)
    alike = _IN_MEMORY[of]
    with monkeypatch.context() as patch:
        room_to_cut(room, patch)
        found = _run(recipe, "duckdb", capsys)
    assert found[1] == alike[1]
    values, whole = found[0], alike[0]
    assert values["counted_by_class"]
    assert any("first cuts were made in the engine" in text for text in values["cautions"])
    for name, value in values["metrics"].items():
        assert whole["metrics"][name] == pytest.approx(value, rel=1e-12), name
    assert {"loss", "ncp"} <= set(values["metrics"])
    attacks = {(a["name"], a["column"]): a for a in whole["attacks"]}
    assert values["attacks"]
    for own in values["attacks"]:
        other = attacks[own["name"], own["column"]]
        assert {**own, "raw": None} == {**other, "raw": None}
        assert own["raw"] <= other["raw"] + 1e-12


def test_a_sensitive_column_that_no_promise_is_about_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    room_to_cut(40, monkeypatch)
    for models, measured in ((_MODELS[:1], False), (_MODELS, True)):
        recipe = _recipe(tmp_path, {"name": "mondrian"}, "drop", models)
        printed, _ = _run(recipe, "duckdb", capsys)
        assert any(own["column"] == "illness" for own in printed["attacks"]) == measured
        said = any("learned of 'illness' was not measured" in text for text in printed["cautions"])
        assert said != measured


@pytest.mark.parametrize(
    ("room", "keys", "words"),
    [
        (3, 1000, "distinct rows satisfies the privacy models, and"),
        (40, 20, "even where the rows of a class are alike"),
    ],
)
def test_what_does_not_fit_all_the_same_is_refused(
    tmp_path: Path,
    room: int,
    keys: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, {"name": "mondrian"}, "keep", _MODELS)
    room_to_cut(room, monkeypatch, keys=keys)
    out = tmp_path / "out"
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(out)]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB"]) != 0
    assert words in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    "technique",
    [
        {"name": "mondrian", "cuts": "relaxed"},
        {"name": "mondrian", "cut_at": "best-gain"},
    ],
    ids=["relaxed", "best-gain"],
)
def test_other_cuts_need_all_tuples(
    tmp_path: Path,
    technique: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = _recipe(tmp_path, technique, "keep")
    room_to_cut(40, monkeypatch, keys=20)
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
    assert main([*asked, "--engine", "duckdb", "--memory", "2GB"]) != 0
    assert "different combinations" in capsys.readouterr().err
