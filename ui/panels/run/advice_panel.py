"""What the release is for, what must not be learned, who gets it: the techniques that suit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from anon_core.base.errors import AnonError
from anon_core.base.registry import find
from anon_core.base.terms import LOSS, WORST_CHANCE
from anon_core.base.thresholds import RELEASE_MODELS, USUAL_THRESHOLDS
from anon_core.contracts.algorithm import Purpose
from anon_core.contracts.model import GroupModel, Stops
from anon_core.explain.advice.recommendations import (
    CONCEALED,
    PURPOSES,
    Recommendation,
    Request,
    recommended,
)
from anon_core.explain.advice.table_facts import facts_of
from anon_core.explain.advice.trials import Trial
from anon_core.explain.answers import choice_of_k as which_k
from anon_core.explain.text.phrases import chance, share
from anon_core.explain.text.plan_words import numbers_asked
from anon_core.explain.text.tiles import title_of
from anon_core.pipeline.measure import thresholds
from anon_core.recipe.plan import Plan
from ui.components.guard import handled
from ui.forms.draft_sync import follow
from ui.forms.technique_picker import APPROACHES, approach_of
from ui.panels.hierarchies import many_hierarchies_panel
from ui.panels.page_frame import undo_button
from ui.state import population_tables, release_context, release_context_answers, state
from ui.state.work import advice_trials
from ui.state.work.advice_trials import Figures, Offered
from ui.words.escaping import plain

PANEL = "Recommended"
#: Techniques that suit and may be tried, until as many as are shown were found good.
_SUITED = 8
#: The table's columns: name, worst chance, loss, suppressed, and the button.
_WIDE = (2.6, 1.3, 0.8, 1.3, 1.25)
_HEADS = (WORST_CHANCE, LOSS, "Suppressed")
_PURPOSE, _RECIPIENT, _HIDE = (
    release_context_answers.WIDGETS[p] for p in ("purpose", "recipient", "concealed")
)


def draw() -> None:
    """Draw the three questions, and what is recommended from their answers."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader("Purpose", anchor=False, width="content")
        undo_button(key="run/undo")
    request = _asked()
    if request is None:
        st.caption("State what must not be learned to get two or three recommendations.")
        return
    data = state.released_dataset()
    if data is None:
        return
    file = population_tables.find(str(state.draft()["population"].get("file", "")))
    people = file.table.rows if file is not None else 0
    levels = state.levels()
    of = (data.fingerprint, state.draft()["types"], state.roles(), _marks(), people)
    many_hierarchies_panel.offer(state.roles().quasi)
    facts = state.once("advice", of, lambda: facts_of(data, state.roles(), levels, people))
    suited = recommended(request, facts, _SUITED)
    attacks = _tables(suited[0])["attacks"] if suited else []
    came = advice_trials.of(suited, attacks, request)
    found = [offered.one for offered in came.shown]
    shared = [n for n in found[0].notes if all(n in one.notes for one in found)] if found else []
    for obstacle in suited[0].obstacles if suited else ():
        st.warning(plain(obstacle))
    if found:
        _table(came, request, shared, len(facts.quasi))
    _not_offered(came)
    if not suited:
        marked = "" if state.roles().sensitive else "Mark the columns that are sensitive on Roles. "
        st.info(
            f"No technique stops all of this on this table. {marked}Ask for less, or choose from "
            "all techniques below."
        )
    if "presence" in request.concealed and not people:
        st.caption("Load a population table below to include techniques made for presence.")


def _table(came: advice_trials.Found, request: Request, shared: Sequence[str], quasi: int) -> None:
    """Draw what is offered, one line each: its name, its three figures, and what takes it over."""
    tried = "Tried on this table"
    if came.sample:
        tried = f"Tried on a sample of {came.sample:,} rows"
    if came.untried:
        tried = "Recommended"
    why = " ".join([_threshold(request), *(f"{n[0].upper()}{n[1:]}" for n in shared)])
    if came.sample:
        why += " The sample is random. The whole table usually loses less; Run shows its figures."
    with st.container(border=True, key="advice", gap="xsmall"):
        if came.pending:  # as high as the heads of the figures that come
            advice_trials.watch()
        else:
            head = st.columns(_WIDE, vertical_alignment="bottom", gap="small")
            order = f"  \n:small[{came.order}]" if came.order else ""
            head[0].markdown(f"**{tried}**{order}", help=plain(why))
            for column, word in zip(head[1:], _HEADS, strict=False):
                column.caption(word)
        for place, offered in enumerate(came.shown):
            _line(offered, place, request, shared, quasi, pending=came.pending)
        if came.untried:
            st.caption(plain(came.untried))


def _not_offered(came: advice_trials.Found) -> None:
    """Say which techniques were tried and not offered, and why."""
    if came.refused and not came.shown:
        st.warning(
            "No suitable technique finds a release of this table. Give columns a "
            "hierarchy, ask for less, or choose from all techniques below."
        )
    if came.refused:
        with st.expander(f"Tried and not offered: {len(came.refused)}"):
            st.markdown(
                "\n\n".join(
                    f"**{plain(one.algorithm.title)}** – {plain(error.message)}"
                    for one, error in came.refused
                )
            )


def shortfall(plan: Plan) -> None:
    """Warn of a threshold that the required k cannot meet, and offer the k that would."""
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
    begun: Purpose = known.get(said.purpose, release_context_answers.purpose())
    purpose, recipient = st.columns(2)
    for_what = purpose.selectbox(
        "The release is for",
        list(PURPOSES),
        index=list(PURPOSES).index(follow(_PURPOSE, begun)),
        format_func=PURPOSES.__getitem__,
        key=_PURPOSE,
    )
    release_context_answers.keep("purpose", for_what)
    models = list(RELEASE_MODELS)
    who = recipient.selectbox(
        "Who gets it",
        models,
        index=models.index(follow(_RECIPIENT, said.model or release_context_answers.recipient())),
        format_func=RELEASE_MODELS.__getitem__,
        key=_RECIPIENT,
    )
    release_context_answers.keep("recipient", who)
    usual: list[Stops] = ["identity", "attribute"] if state.roles().sensitive else ["identity"]
    hidden = st.pills(
        "What must not be learned of a person",
        list(CONCEALED),
        selection_mode="multi",
        default=follow(_HIDE, release_context_answers.concealed(usual)),
        format_func=CONCEALED.__getitem__,
        key=_HIDE,
        wrap=True,
    )
    release_context_answers.keep("concealed", list(hidden))
    if not hidden:
        return None
    return Request(purpose=for_what, concealed=tuple(hidden), recipient=who)


def _marks() -> dict[str, str]:
    return {name: state.level_fingerprint(name) for name in state.roles().quasi}


def _line(
    offered: Offered,
    place: int,
    request: Request,
    shared: Sequence[str],
    quasi: int,
    *,
    pending: bool,
) -> None:
    """Draw one recommendation: what, its figures, and the button that takes it over.

    Nothing can be taken over while it is tried; the line is there, so that nothing moves then.
    """
    one, figures = offered.one, offered.figures
    used = _is_used(one)
    with st.container(key=f"advice-{place}"):
        name, worst, loss, gone, button = st.columns(
            _WIDE, vertical_alignment="center", gap="small"
        )
        name.markdown(
            f"**{plain(one.algorithm.title)}**  \n:small[{plain(' · '.join(_numbers(one)))}]",
            help=_about(offered, shared, quasi),
        )
        if figures is not None and offered.trial is not None:
            _figures(offered.trial, figures, worst, loss, gone)
        button.button(
            "In use" if used and not pending else "Use this",
            key=f"use-{place}",
            icon=":material/check:" if used and not pending else None,
            disabled=used or pending,
            help=f"Set {plain(one.algorithm.title)}, its privacy models and the threshold.",
            on_click=_use,
            args=(one, request),
            width="stretch",
        )
        if offered.trial is not None and offered.trial.missed:
            st.caption(f":material/warning: {plain(_missed(offered.trial))}")
        if one.asks_first:
            st.caption(f":material/front_hand: {plain(one.asks_first)}")


def _figures(
    trial: Trial,
    figures: Figures,
    worst: DeltaGenerator,
    loss: DeltaGenerator,
    gone: DeltaGenerator,
) -> None:
    sign = ":material/warning: " if trial.missed else ""
    worst.markdown(f"{sign}{plain(figures.worst.figure.partition(' (')[0])}")
    loss.markdown(plain(figures.loss.figure))
    of = f" ({share(figures.suppressed / figures.rows)})" if figures.suppressed else ""
    gone.markdown(plain(f"{figures.suppressed:,}{of}"))


def _numbers(one: Recommendation) -> list[str]:
    """Return the numbers asked for; those of one letter with the columns they are of."""
    asked = [(model, *number) for model in one.models for number in numbers_asked([model])]
    letters = Counter(name for _, name, _ in asked)
    parts: list[str] = []
    for model, name, value in asked:
        column = model.as_mapping().get("column", "")
        of = f"\u00a0({column})" if column and letters[name] > 1 else ""
        parts.append(f"{name}\u00a0=\u00a0{value:,}{of}")
    return parts


def _about(offered: Offered, shared: Sequence[str], quasi: int) -> str:
    """Return why one is recommended, what it guarantees, and what else is to be known of it."""
    one, figures = offered.one, offered.figures
    way = APPROACHES[approach_of(type(one.algorithm))][0]
    required = " ".join(model.in_words(quasi) for model in one.models)
    parts = [f"{way}. {one.reason}", required]
    parts += [note for note in one.notes if note not in shared]
    if figures is not None and offered.trial is not None:
        parts.append(f"Worst chance: {figures.worst.figure}, {figures.worst.attacker}.")
        if not offered.trial.missed:
            parts.append("Every threshold is met.")
    return "\n\n".join(plain(part) for part in parts)


def _missed(trial: Trial) -> str:
    named = ", ".join(
        f"{title_of(a)} ({chance(a.worst)} against {chance(a.threshold)})" for a in trial.missed
    )
    return f"Misses the threshold of {named}."


def _threshold(request: Request) -> str:
    """Return the threshold of the recommendations, next to the one that is set."""
    wanted, own = request.threshold, thresholds.own(state.draft().get("attacks", []))
    said = f"Threshold {wanted:g} of these recommendations: {request.threshold_source}."
    if own is None or abs(own - wanted) < 1e-12:
        return said
    return f"{said} Your threshold is {chance(own)} until you use one of them."


def _tables(one: Recommendation) -> dict[str, Any]:
    """Return the draft's tables; settings of attacks next to the threshold stay."""
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
    """Have every privacy model of a size ask for this one, where it asked for less."""
    tables: list[dict[str, Any]] = state.draft()["models"]
    for table in tables:
        parameter = cast(type[GroupModel], find("model", table["name"])).size_parameter
        if parameter:
            table[parameter] = max(int(table.get(parameter, 0)), size)
    state.update_draft(models=tables)
