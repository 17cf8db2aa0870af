"""What is behind the tiles, kept separate: privacy models recomputed, thresholds, the judgement."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import streamlit as st

from anon_core.explain.text import checklist
from anon_core.explain.text import phrases as words
from anon_core.explain.text.tiles import certain, proven
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from ui.components.guard import handled
from ui.components.typed_text import keep_text
from ui.panels.results.drawers import round_ends_panel
from ui.state import release_context
from ui.state.result_view import facts
from ui.words.escaping import plain

_SIGNS = {
    "met": ":material/check:",
    "not met": ":material/close:",
    "no threshold": ":material/info:",
}


def note_of(result: Result) -> str:
    """Return the judgement written down for a result."""
    return release_context.judgement(result)


def draw(result: Result, *, key: str, reported: Collection[AttackResult] = ()) -> None:
    """Draw the three lines of a result; attacks that were reported before are left out.

    Parameters
    ----------
    result : Result
    key : str
    reported : collection of AttackResult
        Those whose chance is on the page already.
    """
    permuted = result.release.grouping.published
    with st.container(key=f"stack-verdicts-{key}"):
        first, second, third = st.columns(3, gap="small")
    with first.container(border=True, height="stretch"):
        st.markdown("**1 · Privacy models, recomputed**")
        _ticked(words.model_sentences(result))
        with st.popover("What else was recomputed", type="tertiary"):
            _ticked(words.other_checks(result))
    with second.container(border=True, height="stretch"):
        st.markdown("**2 · Your thresholds**")
        attacks = [a for a in words.in_order(result.attacks) if not any(a is t for t in reported)]
        weighed = [a for a in attacks if _needs_a_word(a)]
        if weighed:
            st.markdown("\n\n".join(_attack(attack, permuted=permuted) for attack in weighed))
        rest = len(attacks) - len(weighed)
        if rest:
            many = "attack" if rest == 1 else "attacks"
            st.caption(
                f"{rest} further {many}, without a threshold and certain of no one: under "
                "Details of Attacks, One by one."
            )
        _beyond(result)
        if result.cautions:
            st.markdown("\n\n".join(f":material/warning: {plain(c)}" for c in result.cautions))
        round_ends_panel.draw(result, key=key)
        undefined = facts(result).undefined
        if undefined:
            st.caption("\n\n".join(plain(f"Not run – {sentence}") for sentence in undefined))
    with third.container(border=True, height="stretch"):
        st.markdown("**3 · Your judgement**")
        st.caption(
            "You judge whether people are identifiable in this context: who gets the data, "
            "what they know, what keeps them from trying. What you write here goes into "
            "the report."
        )
        judgement(result, key=key)


def _ticked(sentences: Iterable[str]) -> None:
    """Draw sentences that hold as one element."""
    st.markdown("\n\n".join(f":material/check: {plain(sentence)}" for sentence in sentences))


def _attack(attack: AttackResult, *, permuted: bool) -> str:
    line = words.against_threshold(attack, permuted=permuted)
    doubtful = attack.undecided or attack.idle or certain(attack)
    sign = ":material/warning:" if doubtful else _SIGNS[line.standing]
    badge = ""
    if proven(attack) and line.standing == "no threshold":
        badge = " :red-badge[certain for someone]"
    return f"{sign} {_weighed(plain(line.sentence), line.standing)}{badge}"


def _needs_a_word(attack: AttackResult) -> bool:
    """Say whether an attack has a threshold, is certain of someone, or decided nothing."""
    return words.limited(attack) or certain(attack) or bool(attack.undecided) or attack.idle


def judgement(result: Result, *, key: str, height: int = 110) -> None:
    """Draw the field of the judgement; what is typed is kept even if the page is left at once."""
    place = f"judgement-{key}"
    st.session_state[place] = note_of(result)
    st.text_area(
        "Your judgement",
        key=place,
        label_visibility="collapsed",
        placeholder="For example: Released to the research unit under contract; …",
        height=height,
        on_change=_keep,
        args=(result, place),
    )
    keep_text(place, text=note_of(result))


@handled("Verdicts")
def _keep(result: Result, place: str) -> None:
    written = st.session_state.get(place)
    if written is not None:
        release_context.judge(result, str(written))


def _weighed(text: str, standing: words.Standing) -> str:
    """Set off the end of a sentence that says "not met", so that it cannot be overlooked."""
    if standing == "not met" and text.endswith("not met\\."):
        return text.removesuffix("not met\\.") + ":red-badge[not met]"
    return text


def _beyond(result: Result) -> None:
    """Say how many rows are unique over all published columns, with the mark that Export gives."""
    item = checklist.unlike(result)
    sign = ":material/warning:" if item.mark == "warning" else ":material/info:"
    st.markdown(f"{sign} {plain(item.sentence)}")
