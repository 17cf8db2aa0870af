"""What only the person can say of a release: purpose, recipient, threats, and who decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.explain.report.context import (
    RELEASE_MODELS,
    Decision,
    EarlierRelease,
    ReleaseContext,
)
from ui.components.guard import show_error
from ui.state import release_context, session_owner
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

_EARLIER = ("Not stated", "There are none", "These are out")


def draw() -> None:
    """Draw the form; what is typed is kept field by field, and what is refused is named."""
    now = release_context.stated()
    release, threats, decision = st.tabs(["Release", "Threats and harm", "Decision"])
    with release:
        now = _release(now)
    with threats:
        now = _threats(now)
    with decision:
        now = _decision(now)
    release_context.state_it(now)


def _release(now: ReleaseContext) -> ReleaseContext:
    left, right = st.columns(2)
    title = left.text_input("Title", now.title, **remembered("ctx-title"))
    purpose = left.text_area("Purpose", now.purpose, **remembered("ctx-purpose"), height=80)
    recipient = right.text_input("Recipient", now.recipient, **remembered("ctx-recipient"))
    names = list(RELEASE_MODELS)
    model = right.selectbox(
        "Release model",
        names,
        index=None if now.model is None else names.index(now.model),
        format_func=RELEASE_MODELS.__getitem__,
        placeholder="Not stated",
        **remembered("ctx-model"),
    )
    controls = _lines(right, "Controls, one per line", now.controls, "ctx-controls")
    source = left.text_input(
        "Where the threshold comes from",
        now.threshold_source,
        **remembered("ctx-threshold"),
        placeholder="For example: guidance of the regulator",
    )
    earlier = _earlier(now)
    return replace(
        now,
        title=title,
        purpose=purpose,
        recipient=recipient,
        model=model,
        controls=controls,
        threshold_source=source,
        earlier_releases=earlier,
    )


def _earlier(now: ReleaseContext) -> tuple[EarlierRelease, ...] | None:
    known = now.earlier_releases
    place = 0 if known is None else 2 if known else 1
    said = st.radio(
        "Earlier releases of the same people",
        _EARLIER,
        index=place,
        horizontal=True,
        **remembered("ctx-earlier"),
    )
    if said == _EARLIER[0]:
        return None
    if said == _EARLIER[1]:
        return ()
    names = _lines(
        st, "Which, one per line", tuple(one.name for one in known or ()), "ctx-earlier-names"
    )
    if not names:  # none named is not none at all
        st.caption("Name them: until then, the report says that this is not stated.")
        return None
    before = {one.name: one for one in known or ()}
    return tuple(before.get(name, EarlierRelease(name=name)) for name in names)


def _threats(now: ReleaseContext) -> ReleaseContext:
    left, middle, right = st.columns(3)
    return replace(
        now,
        adversaries=_lines(left, "Who may try, one per line", now.adversaries, "ctx-adversaries"),
        outside_sources=_lines(
            middle, "What they could join, one per line", now.outside_sources, "ctx-sources"
        ),
        harms=_lines(right, "Harm to people, one per line", now.harms, "ctx-harms"),
    )


def _decision(now: ReleaseContext) -> ReleaseContext:
    known = now.decision
    left, middle, right = st.columns(3)
    author = known.author
    if (person := session_owner.person()) is not None:
        author = person.shown
        left.caption(f"Author: {plain(author)}, who is logged in.")
    else:
        author = left.text_input("Author", author, **remembered("ctx-author"))
    approver = left.text_input(
        "Approved by",
        known.approver,
        **remembered("ctx-approver"),
        help="A second person, who has looked at the checks and the reasons.",
    )
    expert = middle.text_input("Expert", known.expert, **remembered("ctx-expert"))
    qualification = middle.text_input(
        "The expert's qualification", known.qualification, **remembered("ctx-qualification")
    )
    date = right.text_input("Date", known.date, **remembered("ctx-date"), placeholder="2026-11-22")
    until = right.text_input(
        "Valid until", known.valid_until, **remembered("ctx-until"), placeholder="2027-11-22"
    )
    triggers = _lines(
        st, "What asks for a review, one per line", known.review_triggers, "ctx-triggers"
    )
    wanted = Decision(expert=expert, qualification=qualification, review_triggers=triggers)
    for field in (
        {"author": author},
        {"approver": approver},
        {"date": date.strip()},
        {"valid_until": until.strip()},
    ):
        try:
            wanted = replace(wanted, **field)
        except AnonError as error:  # the report is written without this one field
            show_error(error, where="Left out of the report")
    return replace(now, decision=wanted)


def _lines(where: Any, label: str, now: Sequence[str], key: str) -> tuple[str, ...]:
    text = where.text_area(label, "\n".join(now), **remembered(key), height=100)
    return tuple(line.strip() for line in text.splitlines() if line.strip())
