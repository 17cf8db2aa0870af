"""An experiment that is under way, and what experiments of this session have come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput
from anon_core.teaching.experiments import Experiment, Report, Tables, carry_out, find_experiment
from anon_core.teaching.experiments.experiment import Size
from anon_core.teaching.experiments.points import Settings
from ui.state.work import jobs

JOB = "experiment"
#: Part of the address.
EXPERIMENT = "experiment"
_REPORTS, _NEXT, _ERROR, _NOTE, _FILES = (
    "experiments/reports",
    "experiments/next",
    "experiments/error",
    "experiments/note",
    "experiments/files",
)
#: How much longer a time box is where more time is asked for.
_LONGER = 4
#: Rows of a generated table on the pages; the source's own sizes are for the command line.
_MOST_ROWS = 60_000

#: Experiment, size, seed, and the tables that were handed over.
Key = tuple[str, Size, int, tuple[tuple[str, int], ...]]


def chosen() -> Experiment | None:
    """Return the experiment that the address names, if it names one.

    Raises
    ------
    BadInput
        If there is no such experiment.
    """
    id = st.query_params.get(EXPERIMENT, "")
    return find_experiment(id) if id else None


def choose(id: str) -> None:
    """Open an experiment; without a number, the list of all."""
    if id:
        st.query_params[EXPERIMENT] = id
    elif EXPERIMENT in st.query_params:
        del st.query_params[EXPERIMENT]


def report(experiment: Experiment, size: Size, seed: int) -> Report | None:
    """Return what an experiment has come to with these settings, under way or before."""
    key = _key(experiment, size, seed)
    coming = cast("dict[Key, Report]", st.session_state.get(_NEXT, {}))
    return coming.get(key) or _reports().get(key)


def last(experiment: Experiment) -> Report | None:
    """Return the largest that an experiment was run with in this session."""
    own = [r for (id, *_), r in _reports().items() if id == experiment.id]
    return max(own, key=lambda r: len(r.done), default=None)


def hand_over(files: Mapping[str, bytes]) -> None:
    """Take the tables that experiments are run on, by file name, instead of those before."""
    st.session_state[_FILES] = dict(files)


def _files() -> dict[str, bytes]:
    return st.session_state.get(_FILES, {})


def _key(experiment: Experiment, size: Size, seed: int) -> Key:
    sizes = tuple(sorted((name, len(content)) for name, content in _files().items()))
    return experiment.id, size, seed, sizes


def start(experiment: Experiment, size: Size, seed: int, *, longer: bool = False) -> None:
    """Carry out an experiment, or go on with it; an error is kept for `error`.

    Where it is to have more time, steps that were not decided in theirs are made again.

    Raises
    ------
    BadInput
        If another one is under way.
    """
    if is_running():
        raise BadInput("An experiment is under way.", remedy="Wait for it, or cancel it.")
    st.session_state.pop(_ERROR, None)
    st.session_state[_NOTE] = ""
    key = _key(experiment, size, seed)
    before = _reports().get(key)
    settings: Settings = replace(experiment.settings(size), seed=seed)
    kept = before.done if before is not None else ()
    if before is not None:
        settings = before.settings
    if longer:
        settings = replace(settings, seconds=_LONGER * settings.seconds)
        kept = tuple(one for one in kept if not one.timed_out)
    coming: dict[Key, Report] = {}
    st.session_state[_NEXT] = coming
    tables = Tables(files=_files(), most_rows=_MOST_ROWS if size == "small" else 0)

    def found(partial: Report) -> None:
        coming[key] = partial

    def work(context: Context) -> Report:
        return carry_out(experiment, settings, tables, context, kept=kept, found=found)

    jobs.start(JOB, f"Experiment {experiment.id}", work, page="pages/9_Experiments.py")


def settle() -> None:
    """Take over what an ended experiment came to; one that was stopped keeps what is finished."""
    job = jobs.collect(JOB)
    if job is None:
        return
    coming = cast("dict[Key, Report]", st.session_state.pop(_NEXT, {}))
    _reports().update(coming)
    if job.state == "failed":
        st.session_state[_ERROR] = job.error
    if job.state == "cancelled":
        many = sum(len(one.done) for one in coming.values())
        steps = "1 step" if many == 1 else f"{many} steps"
        st.session_state[_NOTE] = f"Stopped; {steps} of it are kept, and Continue goes on."


def is_running() -> bool:
    """Say whether an experiment is under way."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def error() -> AnonError | None:
    """Return what stopped the last experiment, until the next one starts."""
    return st.session_state.get(_ERROR)


def note() -> str:
    """Return what is to be said of the last experiment."""
    return str(st.session_state.get(_NOTE, ""))


def _reports() -> dict[Key, Report]:
    return st.session_state.setdefault(_REPORTS, {})
