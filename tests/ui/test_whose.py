"""Whose session it is: nobody's without logins, and nobody's until somebody logged in."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from anon_core.explain.report.context import Decision, ReleaseContext
from tests.ui.sessions import EXPORT, carried_out, load, open_page, words
from ui.state import release_context, session_owner


class _Secrets(dict[str, Any]):
    def load_if_toml_exists(self) -> bool:
        return bool(self)


AUTH = {"auth": {"client_id": "workbench"}}
ANA = {"is_logged_in": True, "iss": "https://id.example", "sub": "1", "name": "Ana", "email": "a@x"}


def _here(monkeypatch: pytest.MonkeyPatch, secrets: dict[str, Any], **user: Any) -> None:
    monkeypatch.setattr(st, "secrets", _Secrets(secrets))
    monkeypatch.setattr(st, "user", user)


def test_without_settings_it_is_ones_own_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    _here(monkeypatch, {}, **ANA)
    assert session_owner.person() is None
    assert not session_owner.needs_login()
    assert not session_owner.is_shared()


def test_several_people_may_share_a_host_without_logins(monkeypatch: pytest.MonkeyPatch) -> None:
    _here(monkeypatch, {"hosting": {"shared": True}})
    assert session_owner.is_shared()
    assert not session_owner.needs_login()


@pytest.mark.parametrize("lacking", ["is_logged_in", "iss", "sub"])
def test_who_is_not_told_is_nobody(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    _here(monkeypatch, AUTH, **{key: value for key, value in ANA.items() if key != lacking})
    assert session_owner.is_shared()
    assert session_owner.person() is None


def test_a_person_is_the_provider_and_its_name_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    _here(monkeypatch, AUTH, **ANA)
    ana = session_owner.person()
    assert ana is not None
    assert ana.shown == "Ana (a@x)"
    assert len(ana.key) == 64
    _here(monkeypatch, AUTH, **{**ANA, "iss": "https://other.example"})
    other = session_owner.person()
    assert other is not None
    assert other.key != ana.key


def test_an_unconfirmed_address_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _here(monkeypatch, AUTH, **ANA, email_verified=False)
    ana = session_owner.person()
    assert ana is not None
    assert ana.shown == "Ana"


def test_the_author_of_a_report_is_who_is_logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    held = load()
    result = carried_out(held)
    monkeypatch.setattr(st, "session_state", held)
    typed = ReleaseContext(decision=Decision(author="Somebody", approver="Somebody else"))
    release_context.state_it(typed)
    assert release_context.context_of(result, "").decision == typed.decision
    ana = session_owner.Person(
        issuer="https://id", subject="1", name="Ana", email="ana@clinic.test"
    )
    monkeypatch.setattr(session_owner, "person", lambda: ana)
    found = release_context.context_of(result, "").decision
    assert (found.author, found.approver) == (ana.shown, "")  # somebody else's approval is not hers
    release_context.state_it(ReleaseContext(decision=Decision(author=ana.shown, approver="Ben")))
    found = release_context.context_of(result, "").decision
    assert (found.author, found.approver) == (ana.shown, "Ben")


def test_with_logins_nobody_types_the_author(monkeypatch: pytest.MonkeyPatch) -> None:
    held = load()
    carried_out(held)
    ana = session_owner.Person(
        issuer="https://id", subject="1", name="Ana", email="ana@clinic.test"
    )
    monkeypatch.setattr(session_owner, "needs_login", lambda: True)
    monkeypatch.setattr(session_owner, "person", lambda: ana)
    monkeypatch.setattr(session_owner, "hosting", lambda: {"log": "off"})
    held["ending/of"] = ana.key
    app = open_page(EXPORT, held)
    assert not app.exception
    fields = {field.key for field in app.text_input}
    assert "ctx-approver" in fields
    assert "ctx-author" not in fields
    assert "who is logged in" in words(app)
