"""What the release is for, what must not be learned, who gets it: the techniques that suit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from anon_core.answers import which_k
from anon_core.base.errors import AnonError
from anon_core.base.registry import find
from anon_core.base.release_models import RELEASE_MODELS, USUAL_THRESHOLDS
from anon_core.contracts.model import GroupModel, Stops
from anon_core.contracts.serving import Purpose
from anon_core.job import thresholds
from anon_core.job.plan import Plan
from anon_core.suggest.facts import facts_of
from anon_core.suggest.recommend import MOST, Recommendation, recommended
from anon_core.suggest.request import CONCEALED, PURPOSES, Request
from anon_core.suggest.trying import Trial
from anon_core.words.phrases import chance
from anon_core.words.tiles import title_of

from ..components.guard import handled
from ..forms.following import follow
from ..session import advice_trials, asked, release_context, state
from ..session import population_tables as population
from ..words.explain import plain
from . import many_hierarchies_panel
from .shell import undo_button

PANEL = "Recommended"
#: Techniques that suit and may be tried, until as many as are shown were found good.
_SUITED = 8
_PURPOSE, _RECIPIENT, _HIDE = (asked.WIDGETS[p] for p in ("purpose", "recipient", "concealed"))


def draw() -> None:
    """Draw the three questions, and what is recommended from their answers."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader("What is it for?", anchor=False, width="content")
        undo_button(key="run/undo")
    request = _asked()
    if request is None:
        st.caption("Say what must not be learned; two or three techniques are then recommended.")
        return
    data = state.typed_dataset()
    if data is None:
        return
    file = population.find(str(state.draft()["population"].get("file", "")))
    people = file.table.rows if file is not None else 0
    levels = state.levels()
    of = (data.fingerprint, state.draft()["types"], state.roles(), _marks(), people)
    many_hierarchies_panel.offer(state.roles().quasi)
    facts = state.once("advice", of, lambda: facts_of(data, state.roles(), levels, people))
    suited = recommended(request, facts, _SUITED)
    attacks = _tables(suited[0])["attacks"] if suited else []
    came = advice_trials.of(suited, attacks, request)
    found, trials = _offered(suited, came)
    shared = [n for n in found[0].notes if all(n in one.notes for one in found)] if found else []
    st.caption(plain(" ".join([_threshold(request), *(f"{n[0].upper()}{n[1:]}" for n in shared)])))
    for obstacle in suited[0].obstacles if suited else ():
        st.warning(plain(obstacle))
    if came.pending:
        advice_trials.watch()
    elif came.untried and found:
        st.caption(plain(came.untried))
    for place, one in enumerate(found):
        card = _Card(one=one, place=place, trial=trials.get(place), pending=came.pending)
        _card(card, request, shared, len(facts.quasi))
    _not_offered(came, bool(found))
    if not suited:
        st.info(
            "No technique stops all of this on this table. Mark the columns that are sensitive on "
            "Roles, ask for less, or choose from all techniques below."
        )
    if "presence" in request.concealed and not people:
        st.caption("With a table of the population, below, techniques made for presence join in.")


def _offered(
    suited: Sequence[Recommendation], came: advice_trials.Found
) -> tuple[Sequence[Recommendation], dict[int, Trial]]:
    """Return what is offered: what releases and meets every threshold, else what releases at all.

    What was not tried is offered as it is, and said so.
    """
    if came.pending or came.untried:
        return suited[:MOST], {}
    released = [(one, trial) for one, trial in came.tried if trial.refused is None]
    good = [(one, trial) for one, trial in released if trial.good]
    shown = (good or released)[:MOST]
    return [one for one, _ in shown], {place: trial for place, (_, trial) in enumerate(shown)}


def _not_offered(came: advice_trials.Found, some: bool) -> None:
    """Say which techniques were tried and not offered, and why."""
    refused = [(one, trial.refused) for one, trial in came.tried if trial.refused is not None]
    if refused and not some:
        st.warning(
            "Nothing that suits finds a release of this table. Give columns a hierarchy, ask for "
            "less, or choose from all techniques below."
        )
    if refused:
        with st.expander(f"Tried and not offered: {len(refused)}"):
            st.markdown(
                "\n\n".join(
                    f"**{plain(one.algorithm.title)}** – {plain(error.message)}"
                    for one, error in refused
                )
            )


def _told(trial: Trial, one: Recommendation) -> str:
    """Return what a trial came to, in words."""
    lost = "" if trial.loss is None else f"Loss {trial.loss:.2f}. "
    sizes = {model.size_asked for model in one.models if model.size_asked}
    asked = f"Classes of {max(sizes):,} at least. " if sizes else ""
    if not trial.missed:
        return f"Tried on this table: {asked}{lost}Every threshold is met."
    named = ", ".join(
        f"{title_of(a)} ({chance(a.worst)} against {chance(a.threshold)})" for a in trial.missed
    )
    return f"Tried on this table: {asked}{lost}Misses the threshold of {named}."


def shortfall(plan: Plan) -> None:
    """Warn of a threshold that the promised k cannot meet, and offer the k that would."""
    found = which_k.shortfall(plan)
    if found is None:
        return
    st.warning(plain(found.sentence))
    st.button(
        f"Set k = {found.needed:,}",
        key="set-needed-k",
        on_click=_ask_for,
        args=(found.needed,),
    )


def _asked() -> Request | None:
    """Draw the questions and return what they say; None while nothing has to be hidden."""
    said = release_context.stated()
    known: dict[str, Purpose] = {words: purpose for purpose, words in PURPOSES.items()}
    begun: Purpose = known.get(said.purpose, asked.purpose())
    purpose, recipient = st.columns(2)
    for_what = purpose.selectbox(
        "The release is for",
        list(PURPOSES),
        index=list(PURPOSES).index(follow(_PURPOSE, begun)),
        format_func=PURPOSES.__getitem__,
        key=_PURPOSE,
    )
    asked.keep("purpose", for_what)
    models = list(RELEASE_MODELS)
    who = recipient.selectbox(
        "Who gets it",
        models,
        index=models.index(follow(_RECIPIENT, said.model or asked.recipient())),
        format_func=RELEASE_MODELS.__getitem__,
        key=_RECIPIENT,
    )
    asked.keep("recipient", who)
    usual: list[Stops] = ["identity", "attribute"] if state.roles().sensitive else ["identity"]
    hidden = st.pills(
        "What must not be learned of a person",
        list(CONCEALED),
        selection_mode="multi",
        default=follow(_HIDE, asked.concealed(usual)),
        format_func=CONCEALED.__getitem__,
        key=_HIDE,
        wrap=True,
    )
    asked.keep("concealed", list(hidden))
    if not hidden:
        return None
    return Request(purpose=for_what, concealed=tuple(hidden), recipient=who)


def _marks() -> dict[str, str]:
    return {name: state.level_fingerprint(name) for name in state.roles().quasi}


@dataclass(frozen=True, kw_only=True)
class _Card:
    """A recommendation as it is drawn: its place, what trying it came to, or that it lasts."""

    one: Recommendation
    place: int
    trial: Trial | None
    pending: bool


def _card(card: _Card, request: Request, shared: Sequence[str], quasi: int) -> None:
    """Draw one recommendation: what, why, what it promises, and the button that takes it over.

    Nothing can be taken over while it is tried; the card is there, so that nothing moves then.
    """
    one, place, trial = card.one, card.place, card.trial
    used = _is_used(one)
    with st.container(border=True, key=f"advice-{place}", gap="xsmall"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
        ):
            st.markdown(f"**{plain(one.algorithm.title)}**", width="content")
            st.button(
                "Trying …" if card.pending else "In use" if used else "Use this",
                key=f"use-{place}",
                type="secondary" if used or place else "primary",
                icon=":material/check:" if used and not card.pending else None,
                disabled=used or card.pending,
                help=f"Set {plain(one.algorithm.title)}, its promises and the threshold.",
                on_click=_use,
                args=(one, request),
            )
        st.markdown(plain(one.reason))
        promised = " ".join(model.in_words(quasi) for model in one.models)
        st.caption(plain(f"Promises: {promised}"))
        if trial is not None:
            sign = ":material/warning:" if trial.missed else ":material/check:"
            st.caption(f"{sign} {plain(_told(trial, one))}")
        for note in one.notes:
            if note not in shared:
                st.caption(plain(note))
        if one.asks_first:
            st.caption(f":material/front_hand: {plain(one.asks_first)}")


def _threshold(request: Request) -> str:
    """Return the threshold of the recommendations, beside the one that is set."""
    wanted, own = request.threshold, thresholds.own(state.draft().get("attacks", []))
    said = f"Threshold {wanted:g} of these recommendations: {request.threshold_source}."
    if own is None or abs(own - wanted) < 1e-12:
        return said
    return f"{said} Your threshold is {chance(own)} until you use one of them."


def _tables(one: Recommendation) -> dict[str, Any]:
    """Return the draft's tables; settings of attacks beside the threshold stay."""
    made = one.tables()
    present = {table["name"]: dict(table) for table in state.draft().get("attacks", [])}
    for table in made["attacks"]:
        attack = present.setdefault(table["name"], {"name": table["name"]})
        attack["threshold"] = table["threshold"]
        usual = {p.name: p.default for p in find("attack", table["name"]).parameters()}
        if all(usual[name] == value for name, value in attack.items() if name != "name"):
            del present[table["name"]]
    return {**made, "attacks": list(present.values())}


def _is_used(one: Recommendation) -> bool:
    """Say whether the draft is what is recommended."""
    draft, made = state.draft(), _tables(one)
    try:
        kind = find("algorithm", draft["algorithm"]["name"])
        given = {n: v for n, v in draft["algorithm"].items() if n != "name"}
        models = tuple(
            find("model", m["name"])(**{n: v for n, v in m.items() if n != "name"})
            for m in draft["models"]
        )
        same = kind(**given) == one.algorithm and models == one.models
    except AnonError:
        return False
    return same and _by_name(draft.get("attacks", [])) == _by_name(made["attacks"])


def _by_name(tables: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {table["name"]: table.get("threshold", -1.0) for table in tables}


@handled("Recommended")
def _use(one: Recommendation, request: Request) -> None:
    """Fill the plan, and state for the report what was said; the plan can be undone."""
    state.update_draft(**_tables(one))
    said = release_context.stated()
    ours = {"", *PURPOSES.values()}
    sources = {"", *(usual.source for usual in USUAL_THRESHOLDS.values())}
    release_context.state_it(
        replace(
            said,
            model=request.recipient,
            purpose=PURPOSES[request.purpose] if said.purpose in ours else said.purpose,
            threshold_source=request.threshold_source
            if said.threshold_source in sources
            else said.threshold_source,
        )
    )


@handled("Recommended")
def _ask_for(size: int) -> None:
    """Have every promise of a size ask for this one, where it asked for less."""
    tables: list[dict[str, Any]] = state.draft()["models"]
    for table in tables:
        parameter = cast(type[GroupModel], find("model", table["name"])).size_parameter
        if parameter:
            table[parameter] = max(int(table.get(parameter, 0)), size)
    state.update_draft(models=tables)
