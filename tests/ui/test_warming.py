"""Compiling ahead as the dashboard shows it, and who waits for it."""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError
from anon_core.cli import warm
from anon_core.data.table import Dataset
from anon_core.pipeline import compilation as core
from tests.ui.conftest import APP
from tests.ui.sessions import PATIENCE, words
from ui.state.work import precompile_status
from ui.state.work.precompile_status import Warming

LINE = "Preparing the fast routines"
GENUINE = precompile_status.begin  # before the fixture puts another in its place


class Process:
    """Represents the process that compiles: it says some lines and ends."""

    lines: tuple[str, ...] = ()

    def __init__(self, command: list[str], **more: Any) -> None:
        self.command = command
        self.stdout = iter(self.lines)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *given: object) -> None:
        self.stdout = iter(())


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> type[Process]:
    process = type("Saying", (Process,), {})
    monkeypatch.setattr(subprocess, "Popen", process)
    return process


def test_the_line_stands_while_something_is_compiled_and_never_else(
    monkeypatch: pytest.MonkeyPatch,
):
    found = Warming()
    monkeypatch.setattr(precompile_status, "begin", lambda: found)
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE).run()
    assert not app.exception
    assert LINE not in words(app)  # nobody knows yet whether there is anything to do
    found.compiling = True
    assert LINE not in words(app.run())  # no table is open, so nothing waits for it
    monkeypatch.setattr(precompile_status, "waits", lambda table: True)
    assert LINE in words(app.run())
    assert any(LINE in caption.value for caption in app.sidebar.caption)
    found.over.set()
    assert LINE not in words(app.run())


def test_what_the_process_tells_is_taken_down(says: type[Process]):
    says.lines = ("compiling\n", "ready optimal\n", "ready mondrian\n")
    found = Warming()
    found.carry_out()
    assert found.over.is_set()
    assert found.ready == {"optimal", "mondrian"}
    assert not found.under_way


def test_who_needs_what_is_ready_does_not_wait_for_the_rest():
    found = Warming(compiling=True)
    found.follow(["ready optimal"])
    assert found.under_way
    assert found.is_ready(["optimal"])
    assert not found.is_ready(["optimal", "mondrian"])
    found.over.set()
    assert found.is_ready(["optimal", "mondrian"])


def test_a_process_that_has_nothing_to_do_shows_nothing(says: type[Process]):
    found = Warming()
    found.carry_out()
    assert found.over.is_set()
    assert not found.compiling


def test_where_nothing_can_be_kept_it_is_compiled_here(
    says: type[Process], monkeypatch: pytest.MonkeyPatch
):
    says.lines = (core.UNKEPT + "\n",)
    found = Warming()
    seen: list[bool] = []

    def warm(settings: Any) -> None:
        seen.append(found.under_way)
        settings("optimal")

    monkeypatch.setattr(core, "warm", warm)
    found.carry_out()
    assert seen == [True]
    assert found.ready == {"optimal"}
    assert found.over.is_set()


@pytest.mark.parametrize("error", [OSError("no such program"), AnonError("No.", remedy="")])
def test_whatever_goes_wrong_nobody_waits_for_ever(
    monkeypatch: pytest.MonkeyPatch, error: Exception
):
    def refuse(*given: Any, **more: Any) -> Any:
        raise error

    monkeypatch.setattr(subprocess, "Popen", refuse)
    found = Warming()
    found.carry_out()
    assert found.over.is_set()
    assert found.is_ready(["optimal"])


def test_the_process_is_the_command_line_of_this_checkout(
    says: type[Process], monkeypatch: pytest.MonkeyPatch
):
    given: list[tuple[list[str], dict[str, Any]]] = []
    genuine = says.__init__

    def noted(self: Any, command: list[str], **more: Any) -> None:
        given.append((command, more))
        genuine(self, command, **more)

    monkeypatch.setattr(says, "__init__", noted)
    Warming().carry_out()
    ((command, more),) = given
    assert command[1:] == ["-m", "anon_core", "warm", "--give-way"]
    assert more["start_new_session"]
    assert (more["cwd"] / "anon_core" / "pipeline" / "compilation.py").is_file()


def test_the_process_ends_with_the_server_and_no_other_does(monkeypatch: pytest.MonkeyPatch):
    ended = threading.Event()
    waited: list[bool] = []

    def tell_ahead(write: object, wanted: object) -> None:
        waited.append(ended.wait(0.2 if waited else 30))

    monkeypatch.setattr(core, "tell_ahead", tell_ahead)
    monkeypatch.setattr(warm, "_give_way", lambda: None)
    monkeypatch.setattr(warm.os, "_exit", lambda status: ended.set())
    for arguments in (["--give-way"], []):
        ended.clear()
        monkeypatch.setattr(sys, "stdin", io.StringIO("mondrian\n"))  # the server has gone
        parser = argparse.ArgumentParser()
        warm.declare(parser)
        warm.warm(parser.parse_args(arguments))
    assert waited == [True, False]


def test_it_is_begun_once_a_process_and_loads_at_its_end(monkeypatch: pytest.MonkeyPatch):
    order: list[str] = []
    loaded = threading.Event()

    def load() -> None:
        order.append("loaded")
        loaded.set()

    monkeypatch.setattr(Warming, "carry_out", lambda self: order.append("compiled"))
    monkeypatch.setattr(core, "load", load)
    GENUINE.clear()
    try:
        assert GENUINE() is GENUINE()
        assert loaded.wait(30)
    finally:
        GENUINE.clear()
    assert order == ["compiled", "loaded"]


@pytest.mark.parametrize(("more", "waits"), [(0, False), (1, True)])
def test_only_a_large_table_waits_for_what_is_compiled(
    more: int, waits: bool, monkeypatch: pytest.MonkeyPatch
):
    found = Warming(compiling=True)
    monkeypatch.setattr(precompile_status, "begin", lambda: found)
    values = np.arange(precompile_status.MOST_ROWS + more).astype(str)
    table = Dataset.from_frame(pd.DataFrame({"number": values}))
    assert precompile_status.has_to_wait(table) == waits
    found.over.set()
    assert not precompile_status.has_to_wait(table)
    assert not precompile_status.has_to_wait(None)
