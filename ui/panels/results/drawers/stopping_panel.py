"""What would stop an attack on this table: changes of the plan, each measured, one click to take.

Nothing is said to help before it was attacked.
"""

from __future__ import annotations

import math

import streamlit as st

from anon_core.explain.advice.countermeasures import Tried, Verdict
from anon_core.explain.text.phrases import rows, share
from anon_core.explain.text.tiles import certain
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from ui.components.guard import handled, show_error
from ui.state import results
from ui.state.work import jobs, stopping
from ui.words.escaping import plain

_SIGNS: dict[Verdict, str] = {
    "stops it": ":green-badge[:material/check: stops it]",
    "less": ":orange-badge[:material/trending_down: less]",
    "no help": ":gray-badge[:material/close: no help]",
    "not tested": ":gray-badge[:material/help: not tested]",
    "no release": ":gray-badge[:material/block: no release]",
}


def draw(result: Result, attack: AttackResult) -> None:
    """Offer to try what would stop an attack, where it reaches someone, and list what was tried.

    Parameters
    ----------
    result : Result
        The last one.
    attack : AttackResult
        One of its attacks.
    """
    if not (attack.at_risk or attack.undecided or certain(attack)) or attack.idle:
        return
    key = f"{attack.attack}-{attack.column}"
    st.button(
        "What would stop it?",
        key=f"stop-{key}",
        icon=":material/shield:",
        disabled=stopping.is_running() or not results.is_current(),
        help="Tries changes of the plan on this table, and repeats the attack on each."
        if results.is_current()
        else "The table or the settings have changed. Run again first.",
        on_click=handled("Attacks")(stopping.start),
        args=(result, attack),
    )
    if stopping.is_about(result, attack):
        jobs.watch(stopping.JOB)
        failed = stopping.error()
        if failed is not None:
            show_error(failed)
    tried = stopping.tried(result, attack)
    if tried is None:
        return
    if not tried:
        st.caption(
            "Nothing was tried: no known change could help, or you cancelled before the first."
        )
        return
    st.caption(
        "Each change was carried out and verified on this table, and attacked again. "
        f"Without a change: {_reached(attack)}."
    )
    order = list(_SIGNS)
    best = sorted(tried, key=lambda one: (order.index(one.verdict(attack)), one.loss))
    for place, one in enumerate(best):
        _one(one, attack, f"{key}-{place}")


def _one(one: Tried, now: AttackResult, key: str) -> None:
    verdict = one.verdict(now)
    with st.container(border=True, key=f"tried-{key}", gap="xsmall"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
        ):
            st.markdown(f"**{plain(one.words)}** {_SIGNS[verdict]}", width="stretch")
            if one.plan is not None:
                st.button(
                    "Use this plan",
                    key=f"use-{key}",
                    on_click=handled("Attacks")(_use),
                    args=(one,),
                )
        st.caption(plain(_words(one)))


def _words(one: Tried) -> str:
    cost = ""
    if not math.isnan(one.loss):
        removed = f", {rows(one.suppressed)} suppressed" if one.suppressed else ""
        cost = f"{one.measure} {one.loss:.3g}{removed}."
    if one.attack is None:
        return f"{one.why} {cost} An attack that was not run proves nothing." if cost else one.why
    why = f" {one.why}" if one.why else ""
    return f"{_reached(one.attack)}. {cost}{why}"


def _reached(attack: AttackResult) -> str:
    open_ = f", {attack.undecided:,} not decided" if attack.undecided else ""
    return (
        f"{share(attack.rate)} on average, {share(attack.worst)} at worst, "
        f"{attack.at_risk:,} of {attack.attempted:,} at risk{open_}"
    )


def _use(one: Tried) -> None:
    stopping.use(one)
    st.session_state["stopping/go"] = True


def follow() -> None:
    """Go to Run after a plan was taken, where it is carried out."""
    if st.session_state.pop("stopping/go", False):
        st.switch_page("pages/4_Run.py")
