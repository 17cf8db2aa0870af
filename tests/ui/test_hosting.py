"""A host that several people share: limits, and a journal that holds no value of a table."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import BadInput, BadPlan
from anon_core.base.registry import family
from anon_core.data.reading import DataOptions
from tests.ui.sessions import PATIENCE
from ui.components.guard import handled
from ui.state import limits, loading, session_owner, state
from ui.state.sessions import session_end
from ui.state.work import jobs

CELL = "Xanthogranuloma"
TABLE = loading.Opened(name=f"{CELL}.csv", content=f"age,{CELL}\n30,{CELL}\n31,{CELL}\n".encode())


class _Secrets(dict[str, Any]):
    def load_if_toml_exists(self) -> bool:
        return True


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, log: Path) -> dict[str, Any]:
    """Share the host between people without logins, with a journal in a file."""
    text: dict[str, Any] = {"shared": True, "log": str(log), "most_runs": 1}
    monkeypatch.setattr(st, "secrets", _Secrets(hosting=text))
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(limits, "_AT_WORK", {})
    session_owner.note_what_happens()
    return text


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_table_larger_than_the_host_takes_is_refused(settings: dict[str, Any]) -> None:
    settings["most_rows"] = 1
    with pytest.raises(limits.TooMuch, match="2 rows; this host takes at most 1"):
        loading.load_file(TABLE, DataOptions())
    settings |= {"most_rows": 2, "most_megabytes": 1}
    loading.load_file(TABLE, DataOptions())
    large = loading.Opened(name="large.csv", content=b"a\n" + b"1\n" * 2**19)
    with pytest.raises(limits.TooMuch, match="at most 1 MB"):
        loading.load_file(large, DataOptions())
    assert state.dataset_title() == TABLE.name
    assert limits.megabytes() == 1


def test_a_setting_that_is_none_is_not_taken_for_no_limit(settings: dict[str, Any]) -> None:
    settings["most_rows"] = "many"
    with pytest.raises(BadPlan, match="most_rows"):
        limits.check_rows(1)


def test_one_person_does_so_much_at_a_time_and_another_is_free(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()

    def work(_: Context) -> None:
        hold.wait(10)

    first = jobs.start("run", "Run", work)
    with pytest.raises(limits.TooMuch, match="as this host allows: 1"):
        jobs.start("sweep", "Sweep", work)
    jobs.start("facts", "Looking", work, limited=False)
    mine = st.session_state
    monkeypatch.setattr(st, "session_state", {})
    jobs.start("run", "Run", work)
    hold.set()
    monkeypatch.setattr(st, "session_state", mine)
    assert first.wait(PATIENCE)
    assert jobs.start("sweep", "Sweep", work).wait(PATIENCE)


def test_the_journal_says_what_happened_and_no_value(settings: dict[str, Any], log: Path) -> None:
    loading.load_file(TABLE, DataOptions())

    def fails(_: Context) -> None:
        raise BadInput(f"There is {CELL}.", values=(CELL,))

    def breaks(_: Context) -> None:
        raise RuntimeError(CELL)

    technique = next(iter(family("algorithm")))
    for work in (lambda _: None, fails, breaks):
        assert jobs.start("run", CELL, work, needs=(technique,)).wait(PATIENCE)
    assert jobs.start("run", CELL, fails, needs=(CELL,)).wait(PATIENCE)

    @handled()
    def click() -> None:
        raise ValueError(CELL)

    click()
    text = log.read_text()
    assert CELL not in text
    answer = lines(log)
    assert [one["event"] for one in answer] == ["open", *["work"] * 4, "error"]
    assert answer[0]["rows"] == 2
    assert [one.get("outcome") for one in answer[1:5]] == ["done", *["failed"] * 3]
    assert [one.get("error") for one in answer[2:]] == [
        "BadInput",
        "BrokenDown",
        "BadInput",
        "ValueError",
    ]
    assert [one.get("technique") for one in answer[1:5]] == [technique] * 3 + [None]


def test_on_ones_own_computer_nothing_is_noted(
    settings: dict[str, Any], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "secrets", _Secrets())
    session_owner.note_what_happens()
    loading.load_file(TABLE, DataOptions())
    jobs.start("run", "Run", lambda _: None).wait(PATIENCE)
    assert not log.exists()


def test_a_session_of_another_person_is_let_go_of(settings: dict[str, Any]) -> None:
    assert session_end.keep_only("ana")
    loading.load_file(TABLE, DataOptions())
    hold = threading.Event()
    job = jobs.start("run", "Run", lambda _: hold.wait(10))
    assert not session_end.keep_only("ana")
    assert state.dataset() is not None
    assert session_end.keep_only("ben")
    assert state.dataset() is None
    assert job.state == "cancelled"
    hold.set()
