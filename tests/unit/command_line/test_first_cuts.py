"""A table whose distinct rows do not fit: cut in the engine, and the same release as in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anon_core.__main__ import main
from anon_core.job import memory_needs
from tests.unit.command_line.test_engines import _MODELS, _recipe, _table

TECHNIQUES: list[dict[str, object]] = [
    {"name": "mondrian"},
    {"name": "mondrian", "output": "node"},
    {"name": "mondrian", "output": "set"},
    {"name": "mondrian", "weights": {"age": 0.1, "zip": 2.0}},
]


def _room_to_cut(tuples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a run of 2 GB room for what classes show, and to cut so many tuples at a time."""
    monkeypatch.setattr(memory_needs.Needs, "room_to_cut", lambda _: tuples)
    fits = memory_needs.Needs.fits
    asked: list[int] = []

    def only_later(needs: memory_needs.Needs, tuples: int) -> bool:
        asked.append(tuples)
        return len(asked) > 1 and fits(needs, tuples)

    monkeypatch.setattr(memory_needs.Needs, "fits", only_later)


def _run(
    recipe: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    out = recipe.parent / f"out-{engine}"
    asked = ["run", str(recipe), "--data", str(recipe.parent / "t.csv"), "--out", str(out)]
    status = main([*asked, "--engine", engine, "--memory", "2GB", "--json"])
    told = capsys.readouterr()
    assert status == 0, told.err
    return json.loads(told.out), {file.name: file.read_bytes() for file in out.iterdir()}


@pytest.mark.parametrize("room", [15, 40, 100])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("models", [_MODELS[:1], _MODELS], ids=["k", "k-and-l"])
@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: "-".join(map(str, t)))
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
    alike = _run(recipe, "memory", capsys)
    with monkeypatch.context() as patch:
        _room_to_cut(room, patch)
        found = _run(recipe, "duckdb", capsys)
    assert found[1] == alike[1]
    told, whole = found[0], alike[0]
    assert told["counted_by_class"]
    assert any("first cuts were made in the engine" in text for text in told["cautions"])
    for name, value in told["metrics"].items():
        assert whole["metrics"][name] == pytest.approx(value, rel=1e-12), name
    assert {"loss", "ncp"} <= set(told["metrics"])
    attacks = {(a["name"], a["column"]): a for a in whole["attacks"]}
    assert told["attacks"]
    for own in told["attacks"]:
        other = attacks[own["name"], own["column"]]
        assert {**own, "raw": None} == {**other, "raw": None}
        assert own["raw"] <= other["raw"] + 1e-12
