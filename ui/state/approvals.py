"""A second person's approval on a shared host: asked by one login, given or refused by another.

Requests are held by the process, in memory, until it ends: nothing lies on the disk. What is
approved is the internal report as it stood when it was asked for; once anything in it changes,
the approval does not count any more.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, replace
from typing import Literal

from anon_core.base.errors import AnonError
from ui.state.owner import Person

#: Requests that one author may have open at a time; the oldest goes first.
MOST = 20
_LOCK = threading.Lock()
_ASKED: dict[str, Request] = {}


class NotAllowed(AnonError):
    """Somebody wants to approve who may not."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One release that waits for a second person, or was decided.

    Attributes
    ----------
    id : str
    author : Person
    approver : str
        The address of whom it was sent to.
    title : str
    report : str
        The internal report as HTML, which is all that the approver is shown.
    digest : str
        Of what is approved.
    outcome : {'waiting', 'approved', 'refused'}
    by : Person or None
        Who decided.
    note : str
        What they said of it.
    """

    id: str
    author: Person
    approver: str
    title: str
    report: str
    digest: str
    outcome: Literal["waiting", "approved", "refused"] = "waiting"
    by: Person | None = None
    note: str = ""


def ask(author: Person, approver: str, *, title: str, report: str, digest: str) -> Request:
    """Send a report to a second person.

    Parameters
    ----------
    author : Person
    approver : str
        The address that they log in with.
    title, report, digest : str

    Raises
    ------
    NotAllowed
        If it is the author's own address, or none.
    """
    to = approver.strip().casefold()
    if "@" not in to:
        raise NotAllowed(
            "That is no address.", remedy="Give the address that the second person logs in with."
        )
    if to == author.email.casefold():
        raise NotAllowed(
            "An author cannot approve their own release.", remedy="Ask a second person."
        )
    made = Request(
        id=secrets.token_urlsafe(12),
        author=author,
        approver=to,
        title=title,
        report=report,
        digest=digest,
    )
    with _LOCK:
        mine = [one for one in _ASKED.values() if one.author.key == author.key]
        for old in [one for one in mine if one.digest == digest] + mine[: len(mine) - MOST + 1]:
            _ASKED.pop(old.id, None)
        _ASKED[made.id] = made
    return made


def waiting_for(person: Person) -> list[Request]:
    """Return what waits for a person's decision; nobody else sees it."""
    with _LOCK:
        return [
            one for one in _ASKED.values() if one.outcome == "waiting" and _may(person, one) is None
        ]


def of(author: Person, digest: str) -> Request | None:
    """Return the author's request about exactly this report."""
    with _LOCK:
        found = [
            one for one in _ASKED.values() if one.author.key == author.key and one.digest == digest
        ]
    return found[-1] if found else None


def decide(person: Person, request: str, *, approved: bool, note: str = "") -> None:
    """Take down what a second person decided, under their login.

    Raises
    ------
    NotAllowed
        If it is the author, or somebody it was not sent to, or it was decided already.
    """
    with _LOCK:
        one = _ASKED.get(request)
        why = "It is not there any more." if one is None else _may(person, one)
        if one is None or why is not None:
            raise NotAllowed(why or "", remedy="Ask the author to send the report again.")
        if one.outcome != "waiting":
            raise NotAllowed("It was decided already.")
        outcome = "approved" if approved else "refused"
        _ASKED[request] = replace(one, outcome=outcome, by=person, note=note.strip())


def _may(person: Person, one: Request) -> str | None:
    """Return why a person may not decide; None where they may."""
    if person.key == one.author.key:
        return "An author cannot approve their own release."
    if not person.email or person.email.casefold() != one.approver:
        return "It was sent to somebody else."
    return None
