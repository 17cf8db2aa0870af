"""What a session lets go: large results that nobody can go back to, and what was drawn of them."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.pipeline.result import Result
from tests.ui.sessions import RESULTS, carried_out, load, open_page
from ui.state import result_view, results, state


def held_by(one: object) -> list[Result]:
    """Return the results that something holds, itself or through others."""
    seen: set[int] = set()
    waiting: list[Any] = [one]
    found: list[Result] = []
    while waiting:
        here = waiting.pop()
        if id(here) in seen or isinstance(here, (ModuleType, FunctionType, type)):
            continue
        seen.add(id(here))
        if isinstance(here, Result):
            found.append(here)
        waiting += gc.get_referents(here)
    return found


def another(held: dict[str, Any], k: int) -> Result:
    with patch.object(st, "session_state", held):
        state.update_draft(models=[{"name": "k-anonymity", "k": k}])
    return carried_out(held)


def test_large_results_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST_ROWS", 16)  # two runs of eight rows
    monkeypatch.setattr(results, "STOOD", 0.0)  # A is the run before
    monkeypatch.setattr(result_view, "_LARGE", 0)
    held = load()
    made: list[Result] = []
    for k in (2, 3, 4, 5):
        made.append(another(held, k))
        app = open_page(RESULTS, held)
        assert not app.exception
        held |= {key: app.session_state[key] for key in ("facts", "charts")}
    assert [one.result for one in held[state.RUNS]] == made[-2:]
    assert {id(one.result) for one in held["facts"].values()} == {id(one) for one in made[-2:]}
    assert held["charts"]
    assert not held_by(held["charts"])
    assert held_by(held["facts"])  # the search for results finds some


def test_runs_of_small_tables_all_stay() -> None:
    held = load()
    made = [another(held, k) for k in (2, 3, 4)]
    assert [one.result for one in held[state.RUNS]] == made
