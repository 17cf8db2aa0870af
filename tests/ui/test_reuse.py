"""A decided recipe on the pages: said before the run, with gates and drift after it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.base.errors import InputChanged
from anon_core.base.secret import draw
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from tests.ui.sessions import EXPORT, RUN, carried_out, load, open_page, wait_for, words
from ui.export.bundle import decided, figures
from ui.state import earlier_figures, loading, population_tables, state
from ui.state.loading import Opened
from ui.state.work import running

GATES = [{"rows": 0.5}, {"metric": "loss", "most": 0.99}]


def decided_session() -> dict[str, Any]:
    """Return a session in which a decided recipe was opened, with the figures of its run."""
    held = load(accept=GATES)
    result = carried_out(held)
    with patch.object(st, "session_state", held):
        loading.open_recipe(Opened(name="decided.toml", content=decided(result).encode()))
        earlier_figures.keep("figures.json", json.loads(figures(result)))
    return held


def test_a_decided_recipe_is_said_carried_out_and_compared() -> None:
    held = decided_session()
    with patch.object(st, "session_state", held):
        plan = state.plan()
    assert plan.reuse.mode == "fixed"
    app = open_page(RUN, held)
    assert not app.exception
    text = words(app).replace("\\", "")
    assert "Decided levels, not searched" in text
    assert "Gate: At least 0.5 of the table" in text
    app.button(key="run").click().run()
    wait_for(app, running.JOB)
    assert not app.exception
    text = words(app)
    assert "**Gates**" in text
    assert "Since the earlier run" in text
    assert "0 new, 0 gone" in text


def test_a_missed_gate_is_told_and_nothing_is_released() -> None:
    held = decided_session()
    with patch.object(st, "session_state", held):
        state.update_draft(accept=[{"metric": "loss", "most": 0.0001}])
        held.pop("state/result", None)
    app = open_page(RUN, held)
    app.button(key="run").click().run()
    wait_for(app, running.JOB)
    assert "not a gate of the recipe" in words(app)
    assert "state/result" not in app.session_state


def test_the_decided_recipe_and_the_figures_are_on_export() -> None:
    held = load(seed=f"{draw():064x}")
    result = carried_out(held)
    again = Plan.from_toml(decided(result))
    assert again.reuse.mode == "fixed"
    assert again.seed != result.plan.seed
    app = open_page(EXPORT, held)
    assert not app.exception
    helps = {one.key: one.proto.help for one in app.get("download_button")}
    assert "The decisions of this run" in helps["get-decided.toml"]
    assert "next table's run" in helps["get-figures.json"]


def test_decided_parts_wait_for_the_very_release_that_they_were_decided_on() -> None:
    held = load(algorithm={"name": "mondrian"})
    result = carried_out(held)
    recipe = Opened(name="decided.toml", content=decided(result).encode())
    with patch.object(st, "session_state", held):
        assert "its parts cannot be carried out" in " ".join(loading.open_recipe(recipe))
    app = open_page(RUN, held)
    assert "no earlier release says which parts" in words(app)
    with patch.object(st, "session_state", app.session_state):
        assert set(state.draft()["earlier"]) == {"sha256"}  # kept until a release is loaded
    released = result.file("release.csv")
    with patch.object(st, "session_state", held):
        levels = {c: rows for c, rows in state.levels().items() if c in result.plan.hierarchies}
    for content, own in ((released, True), (released + released.splitlines(True)[-1], False)):
        with patch.object(st, "session_state", held):
            loading.open_recipe(recipe, [Opened(name="release.csv", content=content)])
            plan, table = state.plan(), population_tables.find(state.plan().earlier.file)
        assert table is not None
        with nullcontext() if own else pytest.raises(InputChanged, match="not the file"):
            assert run(plan, result.problem.dataset, levels, earlier=table.table).files


@pytest.mark.parametrize("content", [b'{"a": 1}', b'{"status": "released"}', b"[]", b"no JSON"])
def test_figures_that_are_none_are_refused_before_the_run(content: bytes) -> None:
    held = decided_session()
    kept = held["reuse/figures"]
    app = open_page(RUN, held)
    app.file_uploader(key="earlier-figures").upload("bad.json", content, "application/json").run()
    assert not app.exception
    (error,) = app.error
    assert "run --json" in error.value.replace("\\", "")
    assert "Compared with" not in " ".join(c.value for c in app.caption)
    assert app.session_state["reuse/figures"] == kept
