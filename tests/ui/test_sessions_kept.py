"""A session is saved and restored whole; what is restored is verified, and nothing is lost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError, BadInput, InputChanged
from anon_core.data.reading import DataOptions
from anon_core.data.roles.roles import Roles
from tests.ui.sessions import (
    COMPARE,
    EXPORT,
    PATIENCE,
    RESULTS,
    carried_out,
    load,
    open_page,
    words,
)
from ui.state import (
    loading,
    noise_budget,
    pinning,
    release_context,
    release_context_answers,
    results,
    session_owner,
    state,
)
from ui.state.sessions import kept_sessions, session_file, session_reruns
from ui.state.work import jobs

CSV = b"age;town;ill\n30;A;x\n31;A;y\n30;B;x\n31;B;y\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(kept_sessions.FOLDER_VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept" / "own"


def worked() -> dict[str, Any]:
    """Return a session with a result, a pinned run of another plan, and words on both."""
    held = load("toth-private")
    pinned = carried_out(held, pinned=1)
    with patch.object(st, "session_state", held):
        release_context.judge(pinned, "Too coarse.")
        state.update_draft(models=[{"name": "k-anonymity", "k": 3}])
    last = carried_out(held)
    with patch.object(st, "session_state", held):
        release_context.judge(last, "Fit for the register.")
        release_context_answers.keep("purpose", "teaching")
        release_context_answers.keep("concealed", ["presence"])
        release_context.give_reason(last, "uniqueness", "Under contract.")
    return held


def settled() -> None:
    job = jobs.current(session_reruns.JOB)
    assert job is not None
    assert job.wait(60)
    session_reruns.settle()


def test_a_session_comes_back_whole_with_verified_results(monkeypatch: pytest.MonkeyPatch) -> None:
    held = worked()
    with patch.object(st, "session_state", held):
        content = session_file.as_bytes(session_file.content())
        wanted = (state.plan(), state.levels(), state.left_out())
        files = results.last().files  # type: ignore[union-attr]
        pinned = [(pin.letter, pin.title, pin.result.files) for pin in pinning.pins()]
    monkeypatch.setattr(st, "session_state", {})
    loading.load_sample("toth-private")
    state.set_roles(Roles())
    session_file.restore(session_file.parse(content))
    assert (state.plan(), state.levels(), state.left_out()) == wanted
    assert results.last() is None  # nothing is shown before it was verified
    assert not pinning.pins()
    settled()
    last = results.last()
    assert last is not None
    assert last.files == files
    assert results.is_current()
    assert release_context.judgement(last) == "Fit for the register."
    assert release_context_answers.answers() == {"purpose": "teaching", "concealed": ["presence"]}
    assert release_context.reasons(last) == {"uniqueness": "Under contract."}
    assert [(pin.letter, pin.title, pin.result.files) for pin in pinning.pins()] == pinned
    assert release_context.judgement(pinning.pins()[0].result) == "Too coarse."
    assert session_reruns.said() == []
    assert state.undo_dataset()  # nor is what stood there before lost


def test_a_run_that_comes_out_otherwise_is_told(session: None) -> None:
    held = worked()
    with patch.object(st, "session_state", held):
        whole = session_file.content()
    whole["runs"] = [{**whole["runs"][0], "released": "0" * 64}]
    loading.load_sample("toth-private")
    session_file.restore(session_file.parse(json.dumps(whole).encode()))
    settled()
    assert "differs from the saved run" in session_reruns.said()[0]


def test_what_was_not_carried_out_again_is_saved_again(session: None) -> None:
    held = worked()
    with patch.object(st, "session_state", held):
        whole = session_file.content()
    loading.load_sample("toth-private")
    with patch.object(session_reruns, "start"):
        session_file.restore(whole)
    assert session_file.content()["runs"] == session_reruns.waiting() == whole["runs"]


def test_a_changed_table_is_refused_and_nothing_changes(session: None) -> None:
    options = DataOptions.from_mapping({})
    loading.load_file(loading.Opened(name="people.csv", content=CSV), options)
    content = session_file.as_bytes(session_file.content())
    loading.load_file(
        loading.Opened(name="people.csv", content=CSV.replace(b"B;y", b"B;x")), options
    )
    before = state.fingerprint()
    with pytest.raises(InputChanged, match="not the one the session was saved with"):
        session_file.restore(session_file.parse(content))
    assert state.fingerprint() == before
    session_file.restore(session_file.parse(content), CSV)
    assert state.fingerprint() != before


def test_a_file_read_otherwise_is_read_as_the_session_read_it(session: None) -> None:
    file = loading.Opened(name="people.csv", content=CSV)
    loading.load_file(file, DataOptions.from_mapping({"missing_values": ["x"]}))
    content = session_file.as_bytes(session_file.content())
    loading.load_file(file, DataOptions.from_mapping({}))
    session_file.restore(session_file.parse(content))
    data = state.dataset()
    assert data is not None
    assert data.column("ill").values == ("y",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "was saved in form 2"),
        ({"format": "x"}, "not a session file"),
        ({"choices": 3}, "is damaged"),
        ({"choices": {}}, "is damaged"),
        ({"runs": [{}]}, "is damaged"),
        ({"drafts": {"Age": {"history": 1}}}, "is damaged"),
        ({"spent": {"t": [[1]]}}, "is damaged"),
    ],
)
def test_other_versions_and_damage_are_told(
    session: None, change: dict[str, Any], says: str
) -> None:
    loading.load_sample("toth-private")
    whole = {**session_file.content(), **change}
    before = state.choices()
    with pytest.raises(BadInput, match=says):
        session_file.restore(session_file.parse(json.dumps(whole).encode()))
    assert state.choices() is before


def test_what_counts_have_spent_is_not_forgotten(session: None) -> None:
    noise_budget.take_over({"t": ((1.0, 0.0), (0.5, 1e-6))})
    loading.load_sample("toth-private")
    answer = noise_budget.checked(session_file.content()["spent"])
    st.session_state.clear()
    noise_budget.take_over(answer)
    assert noise_budget.of("t").epsilon == 1.5
    noise_budget.take_over({"t": ((0.1, 0.0),)})
    assert noise_budget.of("t").epsilon == 1.5


# ---- on this machine -----------------------------------------------------------------------


def fresh(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Begin a session of its own, with an address."""
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    return address


def test_loading_the_page_again_brings_the_session_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = fresh(monkeypatch)
    loading.load_file(loading.Opened(name="people.csv", content=CSV), DataOptions.from_mapping({}))
    state.set_roles(Roles(quasi=("age",)))
    kept_sessions.save()
    assert kept_sessions.is_kept()
    wanted, name = state.fingerprint(), address["session"]
    assert (place / name).stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (place / name).iterdir())

    fresh(monkeypatch)["session"] = name
    assert "restored" in kept_sessions.restore_named()
    assert state.fingerprint() == wanted
    assert not state.can_undo_dataset()
    kept_sessions.delete_all()
    kept_sessions.save()
    assert not place.exists()
    assert not kept_sessions.is_kept()


def test_two_tabs_never_overwrite_each_other(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = fresh(monkeypatch)
    loading.load_sample("toth-private")
    kept_sessions.save()
    first, name = dict(st.session_state), address["session"]
    fresh(monkeypatch)["session"] = name
    kept_sessions.restore_named()
    with patch.object(st, "session_state", first):
        state.update_draft(models=[{"name": "k-anonymity", "k": 4}])
        kept_sessions.save()
    state.update_draft(models=[{"name": "k-anonymity", "k": 2}])
    kept_sessions.save()
    found = [
        json.loads((place / k.name / "session.json").read_bytes()) for k in kept_sessions.listed()
    ]
    assert sorted(one["choices"]["draft"]["models"][0]["k"] for one in found) == [2, 4]


def test_killed_between_two_renames_the_older_state_is_there(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = fresh(monkeypatch)
    loading.load_file(loading.Opened(name="people.csv", content=CSV), DataOptions.from_mapping({}))
    kept_sessions.save()
    wanted, name = state.fingerprint(), address["session"]
    loading.load_file(
        loading.Opened(name="more.csv", content=CSV * 2), DataOptions.from_mapping({})
    )
    for renames in (0, 1):
        done: list[Path] = []

        def rename(self: Path, to: Path) -> Path:
            if len(done) == renames:  # noqa: B023 - read at once
                raise KeyboardInterrupt
            done.append(to)  # noqa: B023
            self.rename(to)
            return to

        with patch.object(Path, "replace", rename), pytest.raises(KeyboardInterrupt):
            kept_sessions.save()
        held = dict(st.session_state)
        with patch.object(st, "session_state", {}):
            st.query_params["session"] = name
            kept_sessions.restore_named()
            assert state.fingerprint() == wanted
            writer = st.session_state["session/writer"]
        st.session_state.update(held | {"session/writer": writer})
    kept_sessions.save()
    assert [kept.title for kept in kept_sessions.listed()] == ["more.csv"]
    assert len(list((place / name).glob("table-*"))) == 1


def test_each_login_has_a_folder_and_a_shared_host_none(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_owner, "is_shared", lambda: True)
    monkeypatch.setattr(session_owner, "person", lambda: None)
    assert kept_sessions.folder() is None
    ada, bob = (session_owner.Person(issuer="i", subject=name) for name in ("ada", "bob"))
    found = []
    for one in (ada, bob):
        monkeypatch.setattr(session_owner, "person", lambda one=one: one)
        found.append(kept_sessions.folder())
    assert found == [place.parent / ada.key, place.parent / bob.key]


def test_a_name_that_leads_out_of_the_folder_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh(monkeypatch)["session"] = "../own"
    place.mkdir(parents=True)
    assert kept_sessions.restore_named() == ""
    with pytest.raises(AnonError):
        kept_sessions.restore("..")
    kept_sessions.delete("..")
    assert place.exists()


def test_start_opens_a_session_file_and_lists_what_is_kept(place: Path, start: AppTest) -> None:
    held = worked()
    with patch.object(st, "session_state", held):
        content = session_file.as_bytes(session_file.content())
    uploader = next(u for u in start.file_uploader if u.key.startswith("start/upload/"))
    app = uploader.upload("it.session.json", content, "application/json").run()
    assert not app.exception
    assert "which is not loaded" in words(app)
    app.button(key="start/sample/toth-private").click().run()
    assert not app.exception
    assert "its 2 runs are carried out" in words(app)
    deadline = time.monotonic() + PATIENCE
    while session_reruns.JOB in app.session_state["jobs"] and time.monotonic() < deadline:
        app.run()
    assert len(app.session_state["state/pins"]) == 1
    assert app.session_state["state/result"] is not None
    assert str(place) in words(app)
    page = open_page("app.py", {})
    assert not page.exception
    opens = page.button(key=f"session/open/{app.session_state[kept_sessions._ID]}")
    assert "was restored" in words(opens.click().run())


def test_a_session_whose_runs_wait_says_so(session: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(plan: object) -> None:
        raise AnonError("The population table is not loaded.", remedy="Load it.")

    held = worked()
    with patch.object(st, "session_state", held):
        content = session_file.as_bytes(session_file.content())
    monkeypatch.setattr(session_reruns.running, "inputs", lacking)
    loading.load_sample("toth-private")
    said = session_file.restore(session_file.parse(content))
    assert said.endswith(f"its {len(session_reruns.waiting())} runs wait.")
    assert "waits: The population table is not loaded." in session_reruns.said()[0]


@pytest.mark.parametrize("page", [RESULTS, EXPORT, COMPARE])
def test_what_is_carried_out_again_is_told_where_it_will_show(page: str) -> None:
    held = worked()
    with patch.object(st, "session_state", held):
        runs = session_file.content()["runs"]
    app = open_page(page, {**load(), session_reruns._WAITING: runs})
    answer = words(app).replace("\\", "")
    assert "Not carried out again yet: The last result (" in answer
    assert "No result yet" not in answer
    assert app.button(key="page/again").label == "Carry out again"
    with (
        patch.object(
            session_reruns.jobs,
            "current",
            lambda name: object() if name == session_reruns.JOB else None,
        ),
        patch.object(st, "session_state", {session_reruns._WAITING: runs}),
    ):
        assert session_reruns.under_way().startswith("Carried out and verified again")


def test_a_run_that_is_carried_out_again_has_the_figures_that_it_had(session: None) -> None:
    held = load("hospital", algorithm={"name": "mondrian", "output": "node"})
    result = carried_out(held)
    with patch.object(st, "session_state", held):
        content = session_file.as_bytes(session_file.content())
    loading.load_sample("hospital")
    session_file.restore(session_file.parse(content))
    settled()
    again_ = results.last()
    assert again_ is not None
    assert again_ is not result
    assert [(a.attack, a.column, a.rate, a.worst, a.at_risk) for a in again_.attacks] == [
        (a.attack, a.column, a.rate, a.worst, a.at_risk) for a in result.attacks
    ]
