"""Recommendations are carried out on the table before they are offered, in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.data.table import Dataset
from anon_core.explain.advice import trials as trying
from anon_core.explain.advice.countermeasures import Inputs
from anon_core.explain.advice.recommendations import Recommendation
from anon_core.explain.advice.trials import Offers, Trial
from anon_core.explain.text.tiles import Tile, tiles
from ui.state import confirmations, population_tables, state
from ui.state.work import jobs

JOB = "advice"
_JOB = "advice/job"
#: Seconds that a page waits for them; what takes longer is shown once it is there.
PATIENCE = 0.3
#: Whether recommendations are tried at all; tests of other parts of the page say no.
TRIES = True


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a recommendation came to, as Results would tell it.

    Attributes
    ----------
    worst : Tile
        The worst chance of picking a person, with the attacker whose it is.
    loss : Tile
    suppressed, rows : int
    """

    worst: Tile
    loss: Tile
    suppressed: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A recommendation that is worth offering; without figures where nothing could be tried."""

    one: Recommendation
    trial: Trial | None = None
    figures: Figures | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """What recommendations came to on the table.

    Attributes
    ----------
    shown : tuple of Offered
        Those that are offered, in order.
    order : str
        By what they are in order; empty where none was tried, or one is alone.
    refused : tuple of (Recommendation, AnonError)
        Those that were tried and release nothing.
    sample : int
        Rows that they were tried on, where these are not all; else 0.
    pending : bool
        Whether they are still being tried.
    untried : str
        Why none was tried; mostly empty.
    """

    shown: tuple[Offered, ...] = ()
    order: str = ""
    refused: tuple[tuple[Recommendation, AnonError], ...] = ()
    sample: int = 0
    pending: bool = False
    untried: str = ""


def of(
    found: Sequence[Recommendation], attacks: Sequence[Mapping[str, Any]], asked: object
) -> Found:
    """Return what came of trying recommendations on the present table, or that it still lasts.

    Parameters
    ----------
    found : sequence of Recommendation
    attacks : sequence of mappings
        The recipe's tables of attacks, as a recommendation sets them.
    asked : object
        What they are recommended for.
    """
    data = state.dataset()
    if data is None or not found:
        return Found()
    if not TRIES:
        return _as_they_are(found, "Not tried.")
    try:
        if state.undecided() or confirmations.waiting():
            return _as_they_are(
                found, "Not tried yet: first decide on every column, and confirm what was found."
            )
        base = {n: v for n, v in state.recipe().items() if n not in ("algorithm", "models")}
        base["attacks"] = list(attacks)
        key = (data.fingerprint, base, _marks(base), asked)
        kept = cast(tuple[object, jobs.Job] | None, st.session_state.get(_JOB))
        if kept is None or kept[0] != key:
            kept = st.session_state[_JOB] = (key, _begin(found, base))
    except AnonError as error:
        return _as_they_are(found, f"Not tried: {error.message}")
    job = kept[1]
    job.wait(PATIENCE)
    if job.state == "running":
        return replace(_as_they_are(found, ""), pending=True)
    if job.state == "done":
        return cast(Found, job.value)
    return _as_they_are(found, "Not tried: it was stopped.")


def watch() -> None:
    """Say that recommendations are being tried, and run the page again once they were."""
    job = cast(tuple[object, jobs.Job], st.session_state[_JOB])[1]
    on = tried_on()

    @st.fragment(run_every=jobs.LOOK_EVERY)
    def drawn() -> None:
        if job.state != "running":
            st.rerun()
        first = " once the fast routines are compiled, at the first start only" * job.prepares
        st.progress(
            job.share,
            text=f"**Trying on {on}**{first} … ({job.seconds:.0f} s) You can go on meanwhile.",
        )

    drawn()


def is_sampled() -> bool:
    """Say whether changes are tried on a sample of the table."""
    data = state.dataset()
    return data is not None and data.rows > trying.MOST_ROWS


def tried_on() -> str:
    """Return what changes are tried on, in words."""
    return f"a sample of {trying.MOST_ROWS:,} rows" if is_sampled() else "this table"


def _begin(found: Sequence[Recommendation], base: Mapping[str, Any]) -> jobs.Job:
    table, people, earlier = state.dataset(), _loaded("population"), _loaded("earlier")
    assert table is not None
    given = Inputs(dataset=table, levels=state.levels(), population=people, earlier=earlier)

    def recipe_of(one: Recommendation) -> Mapping[str, Any]:
        made = one.tables()
        return {**base, "algorithm": made["algorithm"], "models": made["models"]}

    def work(context: Context) -> Found:
        return _found(trying.worth_offering(found, recipe_of, given, context))

    needs = [one.algorithm.name for one in found]
    title = "Trying recommendations"
    return jobs.start(JOB, title, work, needs=needs, awaited=False, limited=False)


def _as_they_are(found: Sequence[Recommendation], why: str) -> Found:
    shown = tuple(Offered(one=one) for one, _ in trying.untried(found).shown)
    return Found(shown=shown, untried=why)


def _found(offers: Offers) -> Found:
    """Return what came of it in figures; the releases themselves are let go."""
    shown: list[Offered] = []
    for one, trial in offers.shown:
        if trial is None or trial.result is None:
            shown.append(Offered(one=one, trial=trial))
            continue
        worst, _, loss = tiles(trial.result)
        figures = Figures(
            worst=worst,
            loss=loss,
            suppressed=trial.result.release.suppressed,
            rows=trial.result.problem.rows,
        )
        shown.append(Offered(one=one, trial=replace(trial, result=None), figures=figures))
    return Found(
        shown=tuple(shown), order=offers.order, refused=offers.refused, sample=offers.sample
    )


def _loaded(part: str) -> Dataset | None:
    named = str(state.draft().get(part, {}).get("file", ""))
    kept = population_tables.find(named) if named else None
    return None if kept is None else kept.table


def _marks(base: Mapping[str, Any]) -> dict[str, str]:
    return {name: state.level_fingerprint(name) for name in base.get("hierarchies", {})}
