"""The choice of another model: first what it has to stop, then which published model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, counted_in_people, refuse_unsteered
from anon_core.contracts.model import GroupModel, Stops
from anon_core.release.problem import Problem
from ui.components.guard import handled
from ui.state import state
from ui.state.kept_fields import remembered
from ui.state.work import model_facts
from ui.state.work.fragments import once_opened
from ui.words.escaping import plain, what_is_this

_STOPS = "model_picker/stops"
#: In the order in which they are asked: what someone does, and what the models against it are.
QUESTIONS: dict[Stops, tuple[str, str]] = {
    "identity": (
        "Someone finds the person's row",
        "These models count the rows or people that look alike. They do not cover what those rows "
        "have in common.",
    ),
    "attribute": (
        "Someone learns the value",
        "These models cover the sensitive values inside a group: an attacker who finds a person's "
        "group should still not know their value.",
    ),
    "presence": (
        "Someone learns that they are in it",
        "These models hide whether a person is in the table at all, if that alone reveals "
        "something.",
    ),
}


def draw(
    present: Sequence[Mapping[str, Any]],
    technique: type[Algorithm],
    *,
    people: bool,
    sensitive: bool,
    of: Problem | None,
    person: str = "",
) -> None:
    """Draw the choice; what is chosen is added to the draft.

    Parameters
    ----------
    present : sequence of mapping
        The privacy models there are.
    technique : type of Algorithm
    people : bool
        Whether a public table is loaded.
    sensitive : bool
        Whether a column is sensitive.
    of : Problem or None
        The table, where it is known what fits it.
    person : str
        The column that distinguishes persons; empty where a row is a person.
    """
    known = _known()
    taken = {m["name"] for m in present}
    needed = [name for name in _made_by(technique) if name not in taken]
    for name in needed:  # what a technique cannot do without
        _offer(known[name], "")
    if _STOPS not in st.session_state:
        stopped = {known[name].aim.stops for name in taken if name in known}
        st.session_state[_STOPS] = next((s for s in QUESTIONS if s not in stopped), "identity")
    st.pills(
        "Another privacy model: what should it stop?",
        list(QUESTIONS),
        default=st.session_state[_STOPS],
        format_func=lambda stops: QUESTIONS[stops][0],
        required=True,
        wrap=True,
        **remembered(_STOPS),
    )
    stops = cast(Stops, st.session_state[_STOPS])
    st.caption(QUESTIONS[stops][1])
    first, more = offered(stops, technique)

    def each(names: Sequence[str]) -> None:
        for name in (n for n in names if n not in needed):
            why = hindrance(
                known[name], technique, people=people, sensitive=sensitive, person=person
            )
            if not why and name in taken and once(known[name]):
                why = "Already required."
            if not why and of is not None:
                why = model_facts.unfit(known[name], of)
            _offer(known[name], why)

    def of_its_own(name: str) -> bool:
        return known[name].scope.mechanism

    each([n for n in first if not of_its_own(n)])
    rest = [n for n in more if not of_its_own(n)]
    if rest:
        once_opened(
            f"More … ({len(rest)})",
            lambda: each(rest),
            name="Choices",
            key=f"model_picker/more/{stops}",
        )
    made = [n for n in (*first, *more) if of_its_own(n) and n not in needed]
    if made:
        with st.container(border=True, key="of-mechanism"):
            st.markdown("**Another kind of model: how a release is made**")
            ways = " or ".join(sorted(t.title for t in _techniques() if t.shape.mechanism))
            st.caption(
                "No table shows whether it holds, so it cannot be added to a search that looks "
                f"at the rows, nor compared with the other models. {plain(ways)} gives it for "
                "rows; counts with noise, at the foot of this page, give it for counts."
            )
            each(made)


def offered(stops: Stops, technique: type[Algorithm]) -> tuple[list[str], list[str]]:
    """Return the privacy models that stop something: the few offered first, and the others.

    Where columns are permuted separately, those made for groups come before them.
    """
    known = {name: kind for name, kind in _known().items() if kind.aim.stops == stops}

    instead = {
        n for n, kind in known.items() if technique.shape.permutes and kind.aim.replaces_whole_rows
    }
    few = [n for n, kind in known.items() if kind.aim.offered_at or n in instead]
    few.sort(key=lambda n: (n not in instead, known[n].aim.offered_at))
    rest = sorted((n for n in known if n not in few), key=lambda n: known[n].title.lower())
    return few, rest


def hindrance(
    model: type[GroupModel],
    technique: type[Algorithm],
    *,
    people: bool,
    sensitive: bool = True,
    person: str = "",
) -> str:
    """Return why a model can't be given with a technique and what is loaded, or an empty text."""
    others = _made_by(technique) if not model.scope.mechanism else {}
    try:
        refuse_unsteered(technique(), [model(), *(kind() for kind in others.values())])
        counted_in_people(technique(), [model()], person)
    except BadPlan as error:
        return error.message
    if model.scope.public and not people:
        return "Needs a public table: load one under Population, below."
    if not once(model) and not sensitive and model.aim.stops == "attribute":
        return "No column is marked as sensitive: mark one on Roles."
    return ""


def once(model: type[GroupModel]) -> bool:
    """Say whether a model a second time would say nothing new: it is of no column of its own."""
    return all(p.kind not in ("column", "columns") for p in model.parameters())


def _offer(kind: type[GroupModel], why: str) -> None:
    with st.container(border=True, key=f"offer-{kind.name}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(kind.title)}**", width="stretch")
            what_is_this(kind)
            st.button(
                "Add",
                key=f"add-{kind.name}",
                icon=":material/add:",
                disabled=bool(why),
                help=plain(why) if why else None,
                on_click=_add,
                args=(kind.name,),
            )
        st.markdown(plain(kind.summary))
        if why:
            st.caption(f":material/block: {plain(why)}")


@handled("Choices")
def _add(name: str) -> None:
    defaults = {p.name: p.plain(p.default) for p in family("model")[name].parameters()}
    state.update_draft(models=[*state.draft()["models"], {"name": name, **defaults}])


def _made_by(technique: type[Algorithm]) -> dict[str, type[GroupModel]]:
    """Return the privacy models about the way a release is made that only this way gives."""
    return {n: m for n, m in _known().items() if technique.shape.mechanism and m.scope.mechanism}


def _techniques() -> list[type[Algorithm]]:
    return [kind for kind in family("algorithm").values() if issubclass(kind, Algorithm)]


def _known() -> dict[str, type[GroupModel]]:
    found = family("model").items()
    return {name: kind for name, kind in found if issubclass(kind, GroupModel)}
