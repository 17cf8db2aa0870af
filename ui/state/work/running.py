"""Runs of the plan: started in a thread, collected once; the last good result stays until then."""

from __future__ import annotations

from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, Cancelled
from anon_core.data.table import Dataset
from anon_core.explain.advice.countermeasures import Inputs
from anon_core.explain.advice.fixes import Change
from anon_core.explain.advice.trials import mended, telling
from anon_core.explain.text.plan_words import not_defined
from anon_core.pipeline.input_tables import refuse_undecided
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from ui.state import confirmations, population_tables, result_view, results, state
from ui.state.work import background_points, jobs
from ui.state.work.first_figures import FirstFigures

JOB = "run"
_ERROR = "running/error"
_MADE_OF = "running/made_of"
_UNSEEN = "running/unseen"
_HELPS = "running/helps"
_FIRST = "running/first"
#: Seconds for which a page waits for a run before it draws how far the run is.
_WAIT = 0.9
#: Seconds for which it waits for the rest of a run whose first figures it has drawn.
_WAIT_FOR_REST = 1.5
#: The same where what is clicked meanwhile waits for the end of it.
_WAIT_A_MOMENT = 0.25
#: Seconds between two looks at a run that is waited for.
_LOOK_EVERY = 0.005


def start(*, shown: bool = False) -> None:
    """Carry out the present plan in a thread.

    Parameters
    ----------
    shown : bool
        Whether its first figures are drawn before it has ended; see `first_figures`.

    Raises
    ------
    AnonError
        If the choices contradict each other; nothing is started then.
    """
    plan = state.plan()
    table, people = inputs(plan)
    released = earlier(plan)
    levels = state.levels()
    own = {name: rows for name, rows in levels.items() if name in plan.hierarchies}
    given = Inputs(dataset=table, levels=levels, population=people, earlier=released)
    recipe, helps = state.recipe(), list[Change]()
    figures = FirstFigures()
    fit = encoding(table, people)
    known = background_points.found(plan) if shown else None

    def work(context: Context) -> Result:
        figures.cancel = context.cancel
        try:
            result = run(
                plan,
                table,
                own,
                population=people,
                earlier=released,
                context=context,
                fit=fit,
                first=figures.tell if shown else None,
                known=known,
            )
        except Cancelled:
            raise
        except AnonError as error:
            helps.extend(mended(recipe, error, given, context))
            raise
        if result.is_silent:
            helps.extend(telling(recipe, given, context))
        return result.on_disk()

    st.session_state.pop(_ERROR, None)
    st.session_state[_HELPS] = helps
    seen()
    st.session_state[_MADE_OF] = results.now()
    st.session_state[_FIRST] = figures
    results.show_first(None)
    jobs.start(JOB, "Run", work, page="pages/4_Run.py", needs=(plan.algorithm.name,))


def encoding(table: Dataset, people: Dataset | None) -> EncodedOnce:
    """Return what fits plans to the session's table, so that runs of one encoding share it."""
    levels = {name: state.level_fingerprint(name) for name in state.levels()}
    of = (table.fingerprint, levels, "" if people is None else people.fingerprint, state.roles())
    return state.once("encoded", of, EncodedOnce)


def go() -> None:
    """Show what the present choices come to: a run that the session keeps, or a new one.

    Raises
    ------
    AnonError
        If the choices contradict each other, or wait for an answer; nothing is started then.
    """
    plan = state.plan()
    refuse_unready(plan)
    kept = results.of_choices(state.fingerprint())
    # Files next to the table are known by name only, and another one may have been loaded since.
    if kept is not None and not plan.population_file and not plan.earlier.file:
        stop()
        st.session_state.pop(_ERROR, None)
        results.keep(kept.result, made_of=kept.made_of)
        return
    start(shown=True)


def stop() -> None:
    """Stop the run that is under way, of which nothing is shown any more."""
    job = jobs.current(JOB)
    results.show_first(None)
    if job is not None:
        job.cancel.set()
        jobs.collect(JOB)


def wait_for_figures() -> None:
    """Wait for the figures of a run that was just started, so that the page is drawn with them.

    A click that comes meanwhile ends the waiting, and the page is drawn for that one.
    """
    job, figures = jobs.current(JOB), _figures()
    if job is None or figures is None:
        return
    while job.seconds < _WAIT and figures.result is None and not job.wait(_LOOK_EVERY):
        st.session_state.get(_FIRST)  # Streamlit ends the script here where it is asked to
    settle()
    if figures.result is not None and is_running():
        seen()
        made_of = st.session_state.get(_MADE_OF)
        if made_of is not None:
            results.show_first(results.Kept(result=figures.result, made_of=made_of))


def drawn() -> None:
    """Let a run whose first figures are drawn go on."""
    figures = _figures()
    if figures is not None:
        figures.drawn()


def ends_soon() -> bool:
    """Wait a moment for the rest of a run; say whether it has ended."""
    job = jobs.current(JOB)
    return job is None or job.wait(_WAIT_A_MOMENT)


def wait_for_rest() -> None:
    """Let a run whose first figures are drawn go on, and draw the page again with what it comes to.

    To be called when the page is drawn. A run that takes longer is looked at now and then.
    """
    job, figures = jobs.current(JOB), _figures()
    if job is None or figures is None or results.first() is None:
        return
    figures.drawn()
    began = job.seconds
    while job.seconds - began < _WAIT_FOR_REST and not job.wait(_LOOK_EVERY):
        st.session_state.get(_FIRST)  # as above
    if job.state != "running":
        st.rerun()

    @st.fragment(run_every=jobs.LOOK_EVERY)
    def looked_at() -> None:
        if jobs.current(JOB) is not job or job.state != "running":
            st.rerun()

    looked_at()


def has_figures() -> bool:
    """Say whether a run that is under way has first figures."""
    figures = _figures()
    return is_running() and figures is not None and figures.result is not None


def _figures() -> FirstFigures | None:
    return st.session_state.get(_FIRST)


def refuse_unready(plan: Plan) -> None:
    """Refuse a plan that waits for someone's answer.

    Raises
    ------
    AnonError
        If a finding is not confirmed, a question of the data is open, or the secret can be guessed.
    """
    waiting = confirmations.waiting()
    if waiting:
        raise BadPlan(
            f"Confirm what was found before you run: {waiting[0].sentence}",
            remedy="Confirm or change it on Roles.",
        )
    data = state.dataset()
    if data is not None:
        refuse_undecided(plan, data)
    plan.refuse_guessable()
    undefined = not_defined(plan)
    if undefined:
        raise BadPlan(undefined)


def inputs(plan: Plan) -> tuple[Dataset, Dataset | None]:
    """Return the table and the population table a plan needs.

    Raises
    ------
    BadPlan
        If there is no table, or the population table is gone.
    """
    table = state.dataset()
    if table is None:
        raise BadPlan("There is no table yet.", remedy="Choose one on Start.")
    if not plan.population_file:
        return table, None
    found = population_tables.find(plan.population_file)
    if found is None:
        raise BadPlan(
            "The population table is no longer in this session.",
            remedy="Load it again under Population on Run, or state a size.",
        )
    return table, found.table


def earlier(plan: Plan) -> Dataset | None:
    """Return the earlier release that a plan names.

    Raises
    ------
    BadPlan
        If it is gone.
    """
    if not plan.earlier.file:
        return None
    found = population_tables.find(plan.earlier.file)
    if found is None:
        raise BadPlan(
            "The earlier release is no longer in this session.",
            remedy="Load it again under Attackers on Run.",
        )
    return found.table


def is_running() -> bool:
    """Say whether a run is under way."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def settle() -> None:
    """Take over what an ended run brought; an error or a stop leaves the last result as it is."""
    job = jobs.collect(JOB)
    if job is None:
        return
    first = results.first()
    results.show_first(None)
    if job.state != "cancelled" and first is None:
        st.session_state[_UNSEEN] = job
    if job.state == "done":
        result = cast(Result, job.value)
        if first is not None:
            result_view.carry(first.result, result)
        results.keep(result, made_of=st.session_state.get(_MADE_OF))
    elif job.state == "cancelled":
        st.session_state[_ERROR] = Cancelled(
            "The run was cancelled; nothing was released.",
            remedy="Your last result is still available." if results.last() is not None else "",
        )
    else:
        st.session_state[_ERROR] = job.error


def unseen() -> jobs.Job | None:
    """Return the run that ended since Run or Results was open last, to show on other pages."""
    return st.session_state.get(_UNSEEN)


def seen() -> None:
    """Say that what the last run came to was looked at."""
    st.session_state.pop(_UNSEEN, None)


def error() -> AnonError | None:
    """Return what stopped the last run, until the next one starts."""
    return st.session_state.get(_ERROR)


def forget_error() -> None:
    """Forget what stopped the last run: the choices it was made of are given up."""
    st.session_state.pop(_ERROR, None)


def helps() -> tuple[Change, ...]:
    """Return the changes that were tried after the last run was refused, and release something."""
    return tuple(st.session_state.get(_HELPS, ()))


def says_more() -> tuple[Change, ...]:
    """Return the changes with which a release that says nothing says something, each tried.

    They are known of the last run; of one that is shown again they are not.
    """
    ran, shown = st.session_state.get(_MADE_OF), results.made_of()
    known = ran is not None and shown is not None and ran["fingerprint"] == shown["fingerprint"]
    return helps() if known and error() is None else ()
