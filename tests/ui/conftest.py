"""A session of the dashboard for tests: as pages see it, and as plain calls see it."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from tests.ui.sessions import PATIENCE, compiles_nothing_ahead
from ui.state.work import advice_trials

# Each session asks every installed package whether it brings components, for the same answer: a
# seventh of the time of these tests.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# So does each page compile its own file at each drawing.
_compiled = cache(ScriptCache().get_bytecode)
ScriptCache.get_bytecode = lambda self, script_path: _compiled(script_path)
# A drawing describes a server that isn't there, and takes from it only what it has put there.
_server = app_test.MagicMock(spec=app_test.Runtime)


def _no_server(spec: type) -> object:
    """Return what a drawing takes for its server, as if nothing had been asked of it before."""
    assert spec is app_test.Runtime
    _server.reset_mock()
    return _server


app_test.MagicMock = _no_server
# For each value of a session that a test sets, Streamlit would log that there is no page.
logging.getLogger(script_run_context.__name__).setLevel(logging.ERROR)
# And it asks a thousand times a second whether all that a page has sent says that it is drawn.
_not_drawn_in_time = local_script_runner.require_widgets_deltas


def _drawn(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait until the page is drawn, asleep."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    if runner._script_thread.is_alive():
        _not_drawn_in_time(runner, 0)


local_script_runner.require_widgets_deltas = _drawn

APP = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture(autouse=True)
def warmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test start to compile ahead; tests of that put their own in its place."""
    compiles_nothing_ahead(monkeypatch)


@pytest.fixture(autouse=True)
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Run recommend without trying, which takes its time; tests of that lift the limit."""
    monkeypatch.setattr(advice_trials, "TRIES", False)


@pytest.fixture
def start() -> AppTest:
    """Return the dashboard at its start, nothing loaded."""
    return AppTest.from_file(str(APP), default_timeout=PATIENCE).run()


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the code under test a session of its own, without a page."""
    monkeypatch.setattr(st, "session_state", {})
