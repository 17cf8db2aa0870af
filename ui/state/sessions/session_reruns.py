"""Runs of a session that was opened: carried out and verified again before they are shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError, Cancelled
from anon_core.base.registry import family
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from ui.state import pinning, release_context, results
from ui.state.work import jobs, running

JOB = "again"
_WAITING = "session/runs"
_SAID = "session/runs_said"


def hash_of(result: Result) -> str:
    """Return one SHA-256 of all files of a release, by name."""
    digest = hashlib.sha256()
    for name in sorted(result.files):
        digest.update(name.encode() + b"\x00" + hashlib.sha256(result.files[name]).digest())
    return digest.hexdigest()


def checked(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run of a session file.

    Raises
    ------
    AnonError, KeyError, TypeError
        If it is none.
    """
    Plan.from_mapping(saved["plan"])
    levels = {str(name): level_table(rows) for name, rows in saved["levels"].items()}
    letter = str(saved["letter"])
    if letter and letter not in pinning.LETTERS:
        raise KeyError(letter)
    return {
        "plan": saved["plan"],
        "levels": levels,
        "released": str(saved["released"]),
        "letter": letter,
        "made_of": saved["made_of"],
        "judgement": str(saved["judgement"]),
        "reasons": {str(k): str(v) for k, v in saved["reasons"].items()},
    }


def level_table(rows: object) -> list[list[str]]:
    """Return the rows of a level table from a session file.

    Raises
    ------
    TypeError
        If it is none.
    """
    found = [list(row) for row in cast(list[list[object]], rows)]
    if not all(isinstance(text, str) for row in found for text in row):
        raise TypeError("levels")
    return cast(list[list[str]], found)


def waiting() -> list[dict[str, Any]]:
    """Return the runs that were not carried out again yet; the last result has no letter."""
    return list(st.session_state.get(_WAITING, []))


def begin(runs: list[dict[str, Any]]) -> None:
    """Take over the runs of a session, and start to carry them out."""
    st.session_state[_WAITING] = runs
    st.session_state.pop(_SAID, None)
    if runs:
        start()


def start() -> None:
    """Carry out the runs that wait, one after another, in a thread."""
    plans: list[tuple[dict[str, Any], Plan, Any, Any, Any]] = []
    said: list[str] = []
    for saved in waiting():
        plan = Plan.from_mapping(saved["plan"])
        try:
            plans.append((saved, plan, *running.inputs(plan), running.earlier(plan)))
        except AnonError as error:
            said.append(f"{_name(saved)} waits: {error.message} {error.remedy}")
    st.session_state[_SAID] = said
    if not plans:
        return

    def work(context: Context) -> list[tuple[dict[str, Any], Result | AnonError]]:
        made: list[tuple[dict[str, Any], Result | AnonError]] = []
        for place, (saved, plan, table, people, earlier) in enumerate(plans):
            part = part_of(context, place / len(plans), (place + 1) / len(plans))
            try:
                result = run(
                    plan,
                    table,
                    saved["levels"],
                    population=people,
                    earlier=earlier,
                    context=part,
                )
                made.append((saved, result.on_disk()))
            except Cancelled:
                raise
            except AnonError as error:
                made.append((saved, error))
        return made

    jobs.start(JOB, "Carrying out again", work, needs=tuple(p.algorithm.name for _, p, *_ in plans))


def settle() -> None:
    """Take over what was carried out again; what was not goes on waiting."""
    job = jobs.collect(JOB)
    if job is None or job.state != "done":
        return
    said = list(st.session_state.get(_SAID, []))
    for saved, result in cast("list[tuple[dict[str, Any], Result | AnonError]]", job.value):
        if isinstance(result, AnonError):
            said.append(f"{_name(saved)} could not be carried out again: {result.message}")
            continue
        _keep(saved, result)
        if hash_of(result) != saved["released"]:
            said.append(
                f"{_name(saved)} differs from the saved run: the new release is verified, but it "
                "is another one. Review it before you rely on it."
            )
        st.session_state[_WAITING] = [one for one in waiting() if one is not saved]
    st.session_state[_SAID] = said


def is_under_way() -> bool:
    """Say whether runs of the session are being carried out again."""
    return jobs.current(JOB) is not None


def under_way() -> str:
    """Return which runs of the session are carried out again, or wait for it; empty if none."""
    left = waiting()
    if not left:
        return ""
    names = ", ".join(f"{_name(one)} ({_technique(one)})" for one in left)
    if is_under_way():
        return (
            f"Carried out and verified again after the session was opened: {names}. Results show "
            "here as soon as they are done; the sidebar says how far they are."
        )
    return f"Not carried out again yet: {names}. Results show here after that."


def said() -> list[str]:
    """Return what a person should know of the runs that were carried out again."""
    return list(st.session_state.get(_SAID, []))


def _keep(saved: Mapping[str, Any], result: Result) -> None:
    if saved["letter"]:
        pinning.put(saved["letter"], result)
    elif results.last() is None:  # nobody has run anything meanwhile
        made_of = saved["made_of"] or results.now()
        results.keep(result, made_of=cast(results.MadeOf, made_of))
    release_context.judge(result, saved["judgement"])
    for about, reason in saved["reasons"].items():
        release_context.give_reason(result, about, reason)


def _technique(saved: Mapping[str, Any]) -> str:
    return family("algorithm")[saved["plan"]["algorithm"]["name"]].title


def _name(saved: Mapping[str, Any]) -> str:
    return f"Pinned run {saved['letter']}" if saved["letter"] else "The last result"
