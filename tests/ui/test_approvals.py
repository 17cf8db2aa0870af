"""Approval under a login: a second person's, of exactly this report, and never the author's."""

from __future__ import annotations

from dataclasses import replace

import pytest
import streamlit as st

from anon_core.explain.report.context import Decision, ReleaseContext
from anon_core.pipeline.result import Result
from tests.ui.sessions import EXPORT, carried_out, load, open_page, words
from ui.forms import approval_form
from ui.state import approvals
from ui.state import owner as whose
from ui.state.owner import Person

ANA = Person(issuer="https://id", subject="1", name="Ana", email="ana@clinic.test")
BEN = Person(issuer="https://id", subject="2", name="Ben", email="Ben@clinic.test")
EVE = Person(issuer="https://id", subject="3", name="Eve", email="eve@clinic.test")


@pytest.fixture(autouse=True)
def emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "_ASKED", {})
    monkeypatch.setattr(st, "session_state", {})


@pytest.fixture(scope="module")
def result() -> Result:
    return carried_out(load())


def asked(to: str = "ben@clinic.test", digest: str = "d") -> approvals.Request:
    return approvals.ask(ANA, to, title="T", report="<p>", digest=digest)


def test_only_whom_it_was_sent_to_sees_it_and_decides() -> None:
    one = asked()
    assert [r.id for r in approvals.waiting_for(BEN)] == [one.id]
    assert not approvals.waiting_for(EVE)
    assert not approvals.waiting_for(ANA)
    with pytest.raises(approvals.NotAllowed, match="somebody else"):
        approvals.decide(EVE, one.id, approved=True)
    approvals.decide(BEN, one.id, approved=True, note="Fine.")
    found = approvals.of(ANA, "d")
    assert found is not None
    assert (found.outcome, found.by, found.note) == ("approved", BEN, "Fine.")
    with pytest.raises(approvals.NotAllowed, match="already"):
        approvals.decide(BEN, one.id, approved=False)


def test_an_author_cannot_approve() -> None:
    with pytest.raises(approvals.NotAllowed, match="cannot approve"):
        asked(" ANA@clinic.test ")
    one = asked()
    with pytest.raises(approvals.NotAllowed, match="cannot approve"):
        approvals.decide(replace(ANA, email=BEN.email), one.id, approved=True)
    with pytest.raises(approvals.NotAllowed, match="somebody else"):
        approvals.decide(replace(BEN, email=""), one.id, approved=True)


def test_the_report_names_logins_and_a_change_undoes_the_approval(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = ReleaseContext(decision=Decision(author="Somebody", approver="Somebody else"))
    assert approval_form.signed(result, typed) is typed
    monkeypatch.setattr(whose, "person", lambda: ANA)
    unsigned = approval_form.signed(result, typed)
    assert (unsigned.decision.author, unsigned.decision.approver) == (ANA.shown, "")
    digest = approval_form._digest(result, unsigned)
    approvals.decide(BEN, asked(digest=digest).id, approved=True)
    assert approval_form.signed(result, typed).decision.approver == BEN.shown
    changed = replace(typed, purpose="Another one")
    assert approval_form.signed(result, changed).decision.approver == ""
    monkeypatch.setattr(whose, "person", lambda: EVE)
    assert approval_form.signed(result, typed).decision.approver == ""


def test_from_asking_to_the_approver_on_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(approvals, "_ASKED", {})
    held = load()
    carried_out(held)
    logged_in = [ANA]
    monkeypatch.setattr(whose, "needs_login", lambda: True)
    monkeypatch.setattr(whose, "person", lambda: logged_in[0])
    monkeypatch.setattr(whose, "hosting", lambda: {"log": "off"})
    held["ending/of"] = ANA.key
    app = open_page(EXPORT, held)
    app.text_input(key="approval-to").input("ben@clinic.test").run()
    app.button(key="approval-ask").click().run()
    assert not app.exception
    assert "Waiting for ben" in words(app).replace("\\", "")

    logged_in[0] = BEN
    other = open_page("app.py", {"ending/of": BEN.key})
    (one,) = approvals.waiting_for(BEN)
    other.button(key=f"approval-Approve-{one.id}").click().run()
    assert not other.exception
    assert not approvals.waiting_for(BEN)

    logged_in[0] = ANA
    app.run()
    assert any("Approved by Ben" in told.value for told in app.success)
