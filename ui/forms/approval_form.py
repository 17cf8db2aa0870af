"""A second person's approval where people log in: asking for it, and deciding on what was asked."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.explain.report.context import Decision, ReleaseContext
from anon_core.explain.report.files import as_html, as_json, edition_of
from anon_core.pipeline.result import Result
from ui.components.clicks import clicked
from ui.components.downloads import download
from ui.components.guard import handled, show_error
from ui.journal import here
from ui.state import approvals
from ui.state import owner as whose
from ui.words.explain import plain

PANEL = "Reports that wait for your approval"


def signed(result: Result, context: ReleaseContext) -> ReleaseContext:
    """Return the context with the author that is logged in, and who approved exactly this.

    Without logins it stays as it is.
    """
    author = whose.person()
    if author is None:
        return context
    unsigned = _unsigned(context, author)
    found = approvals.of(author, _digest(result, unsigned))
    if found is None or found.outcome != "approved" or found.by is None:
        return unsigned
    decision: Decision = replace(unsigned.decision, approver=found.by.shown)
    return replace(unsigned, decision=decision)


def ask(result: Result, context: ReleaseContext) -> None:
    """Draw how the approval of this release stands, and send its report to a second person."""
    author = whose.person()
    if author is None:
        return
    unsigned = _unsigned(context, author)
    digest = _digest(result, unsigned)
    found = approvals.of(author, digest)
    with st.container(border=True):
        st.markdown("**A second person's approval**")
        st.caption(
            f"You are the author: {plain(author.shown)}. Somebody else approves under their own "
            "login. They are shown the internal report, and nothing else of your session. When "
            "anything in the report changes, the approval has to be asked for again."
        )
        if found is not None and found.by is not None:
            said = f": {plain(found.note)}" if found.note else "."
            tell = st.success if found.outcome == "approved" else st.error
            tell(f"{found.outcome.capitalize()} by {plain(found.by.shown)}{said}")
            return
        if found is not None:
            st.info(f"Waiting for {plain(found.approver)}. This page shows it when it is redrawn.")
            return
        to = st.text_input("Address that the second person logs in with", key="approval-to")
        if not clicked("Ask for approval", key="approval-ask", disabled=not to.strip()):
            return
        try:
            approvals.ask(
                author,
                to,
                title=unsigned.title,
                report=as_html(edition_of(result, unsigned)),
                digest=digest,
            )
        except AnonError as error:
            show_error(error)
            return
        here().note("ask")
        st.rerun()


def inbox() -> None:
    """Draw what waits for the decision of the person who is logged in."""
    person = whose.person()
    waiting = [] if person is None else approvals.waiting_for(person)
    if not waiting:
        return
    st.header(PANEL, anchor=False)
    for one in waiting:
        with st.container(border=True):
            st.markdown(f"**{plain(one.title)}**, by {plain(one.author.shown)}")
            download(
                "Internal report as HTML",
                one.report,
                file="report.html",
                mime="text/html",
                key=f"approval-read-{one.id}",
            )
            st.text_input("What you say of it", key=f"approval-note-{one.id}")
            with st.container(horizontal=True):
                for label, approved in (("Approve", True), ("Refuse", False)):
                    st.button(
                        label,
                        key=f"approval-{label}-{one.id}",
                        on_click=_decide,
                        args=(one.id, approved),
                    )


@handled(PANEL)
def _decide(request: str, approved: bool) -> None:
    person = whose.person()
    if person is None:
        return
    note = str(st.session_state.get(f"approval-note-{request}", ""))
    approvals.decide(person, request, approved=approved, note=note)
    here().note("approve" if approved else "refuse")


def _unsigned(context: ReleaseContext, author: whose.Person) -> ReleaseContext:
    """Return the context under its author's login, and approved by nobody."""
    return replace(context, decision=replace(context.decision, author=author.shown, approver=""))


def _digest(result: Result, context: ReleaseContext) -> str:
    return hashlib.sha256(as_json(edition_of(result, context)).encode()).hexdigest()
