"""The privacy models of a run, each with its form, and what takes the place of one not defined."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from anon_core.base.errors import AnonError, Infeasible
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel, PrivacyModel
from anon_core.explain.text.plan_words import any_model, of_several, shares
from anon_core.methods.bucketized.permuted_release import made_for_shares
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem
from ui.charts.chart_frame import palette, show
from ui.charts.example_plot import example_chart
from ui.components.guard import handled, show_best
from ui.forms import allowed_range, model_picker
from ui.forms.model_picker import once
from ui.forms.parameter_forms import label_of, parameter_form, usual
from ui.state import state
from ui.state.work import model_facts, running
from ui.state.work.fragments import once_opened
from ui.words.escaping import explained, plain

_REPLACED = "models_form/replaced"
#: Pixels of a number's field.
_WIDE = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class Shown:
    """The privacy models as they are drawn.

    Attributes
    ----------
    tables : list of dict
        The recipe's tables.
    places : tuple of (int, place, place)
        Of those that can be given, by their place in the plan: where more can be drawn about them,
        and where what their drawer holds.
    more : place
        Below all of them.
    """

    tables: list[dict[str, Any]]
    places: tuple[tuple[int, DeltaGenerator, DeltaGenerator], ...]
    more: DeltaGenerator


def models(draft: dict[str, Any], sensitive: tuple[str, ...], technique: type[Algorithm]) -> Shown:
    """Draw the privacy models, each with its form.

    A privacy model that the technique cannot give is marked; see `instead`.
    """
    known = {n: m for n, m in family("model").items() if issubclass(m, GroupModel)}
    present: list[dict[str, Any]] = draft["models"]
    found: list[dict[str, Any]] = []
    places: list[tuple[int, DeltaGenerator, DeltaGenerator]] = []
    needed = len(present) == 1 and technique.needs.models
    for place, model in enumerate(present):
        chosen = known.get(model["name"])
        if chosen is None:
            found.append(model)
            continue
        with st.container(border=True, key=f"model-{place}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(
                    f"**{plain(chosen.title)}**", help=plain(chosen.summary), width="stretch"
                )
                can = not (technique.shape.permutes and chosen.scope.whole_rows)
                given = model
                inner = st.container()
                if can:
                    given, inner = _numbers(chosen, model, place, sensitive)
                else:  # the page says next to Run why, and offers what can take its place
                    st.caption(plain(f"not with {technique.title}"), width="content")
                st.button(
                    "Remove",
                    key=f"remove-model-{place}",
                    disabled=needed,
                    help="A plan needs at least one privacy model." if needed else None,
                    on_click=_remove_model,
                    args=(place,),
                    type="tertiary",
                )
            if not can:
                found.append(model)
                continue
            places.append((place, st.container(gap="xsmall"), inner))
        found.append({"name": model["name"], **given})
    return Shown(tables=found, places=tuple(places), more=st.container())


def _numbers(
    chosen: type[GroupModel], model: dict[str, Any], place: int, sensitive: tuple[str, ...]
) -> tuple[dict[str, Any], DeltaGenerator]:
    """Draw the numbers that a privacy model asks for, and a drawer with its other settings.

    Returns
    -------
    dict of str to object
        What all of its fields show.
    place
        In the drawer, for what the table says of it.
    """
    numbers = [
        p.name for p in chosen.parameters() if p.kind in ("integer", "number") and not p.quiet
    ]
    rest = [p for p in chosen.parameters() if p.name not in numbers]
    key = f"run_form/model/{place}"
    given: dict[str, Any] = {}
    if numbers:
        with st.container(key=f"numbers-{place}", width=_WIDE * len(numbers)):
            without = [p.name for p in rest]
            given = parameter_form(chosen, model, key=key, sensitive=sensitive, without=without)
    differ = [label_of(p) for p in rest if not usual(p, model)]
    # Which they are would push the last button to a line of its own.
    more = f"Settings · {len(differ)} changed" if differ else "Settings"
    note = f"Changed: {plain(', '.join(differ))}" if differ else None
    with st.popover(more, type="tertiary", key=f"model-more-{place}", help=note):
        explained(chosen)
        given |= parameter_form(chosen, model, key=key, sensitive=sensitive, without=numbers)
        inner = st.container()
    return {p.name: given[p.name] for p in chosen.parameters() if p.name in given}, inner


def table_limits(shown: Shown, technique: type[Algorithm]) -> None:
    """Draw below each model what the table allows it, and below all of them what can be added.

    To be called once the draft holds all choices: what can be had depends on rows that may be
    removed, and on the public table.
    """
    draft, sensitive = state.draft(), state.roles().sensitive
    plan: Plan | None = None
    of: Problem | None = None
    with suppress(AnonError):  # the page says next to the forms what is wrong
        plan = state.plan()
        of = model_facts.problem(plan)
    for place, where, inner in shown.places:
        if plan is not None and of is not None:
            _limit(plan.models[place], of, plan, place=place, where=where, inner=inner)

    def another() -> None:
        model_picker.draw(
            draft["models"],
            technique,
            people=bool(draft.get("population", {}).get("file")),
            sensitive=bool(sensitive),
            of=of,
            person=state.roles().unit,
        )

    with shown.more:
        once_opened("Add a privacy model", another, name="Choices", key="run/add-model")
        model_facts.watch()


def _limit(
    model: GroupModel,
    of: Problem,
    plan: Plan,
    *,
    place: int,
    where: DeltaGenerator,
    inner: DeltaGenerator,
) -> None:
    """Draw what the table says of one model: what is wrong in sight, the rest in its drawer."""
    found = model_facts.facts(model, of, plan, place)
    with where:
        if found.refused is not None and str(found.refused) != str(running.error()):
            st.warning(plain(f"{found.refused.message} {found.refused.remedy}".strip()))
            if isinstance(found.refused, Infeasible):
                show_best(found.refused, "Best possible")
        for caution in found.cautions:
            st.info(plain(caution))
        columns = [name for name in model.protects(of) if name in of.sensitive]
        if note := of_several(model, columns, len([n for n in of.sensitive if n not in of.quasi])):
            st.caption(plain(note))
    with inner:
        key = f"run_form/model/{place}"
        allowed_range.draw(type(model), found.allowed, key=key, removable=found.removable)
        if found.kept is not None or found.broken is not None:
            picture = st.expander(
                "A class that meets it, and one that does not",
                key=f"example-{place}",
                on_change="rerun",
            )
            if picture.open:  # drawn only where somebody looks
                with picture:
                    chart = example_chart(model, found.kept, found.broken, palette(), columns)
                    show(chart, key=f"example-{place}")


def restore(technique: type[Algorithm]) -> None:
    """Bring back a model about whole rows when a technique that can give it is chosen again."""
    kept = st.session_state.get(_REPLACED)
    if technique.shape.permutes or kept is None:
        return
    present = state.draft()["models"]
    for place, model in enumerate(present):
        if model["name"] == kept["by"]:
            present[place] = kept["was"] | _size_of(model, kept["was"]["name"])
            state.update_draft(models=present)
            break
    del st.session_state[_REPLACED]


def instead(plan: Plan) -> bool:
    """Offer in one click what can take the place of models about whole rows.

    Returns
    -------
    bool
        Whether the plan's technique permutes columns, and anything can.
    """
    if not plan.algorithm.shape.permutes:
        return False
    sensitive = bool(state.roles().sensitive)
    taken = {model.name for model in plan.models}
    offered = [
        (place, model, name, kind.title)
        for place, model in enumerate(plan.models)
        if model.scope.whole_rows
        for name, kind in family("model").items()
        if issubclass(kind, GroupModel)
        and kind.aim.replaces_whole_rows
        and name not in taken
        and (sensitive or once(kind))  # a column that is not there cannot be protected
    ]
    several = len({place for place, *_ in offered}) > 1
    with st.container(gap="xsmall"):
        for place, model, name, title in offered:
            st.button(
                plain(f"Replace {model.title if several else 'it'} with {title}"),
                key=f"replace-{place}-{name}",
                icon=":material/build:",
                on_click=_replace,
                args=(place, name),
                help=plain(f"{model.title} returns with a technique that supports it."),
            )
    return bool(offered)


@handled("Choices")
def _replace(place: int, name: str) -> None:
    present = state.draft()["models"]
    was = present[place]
    values = {p.name: p.default for p in family("model")[name].parameters()}
    present[place] = {"name": name, **values} | _size_of(was, name)
    st.session_state[_REPLACED] = {"was": was, "by": name}
    algorithm = state.draft()["algorithm"]
    state.update_draft(models=present, algorithm=algorithm | _groups_for(algorithm, present))


def _size_of(model: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the size of group that a model asks for as another one's parameter, if both do."""
    own, other = (
        cast(type[PrivacyModel], find("model", n)).size_parameter for n in (model["name"], name)
    )
    return {other: model[own]} if own in model and other else {}


def _groups_for(algorithm: dict[str, Any], models: list[dict[str, Any]]) -> dict[str, str]:
    """Return what forms the groups instead, where the choice is made for a model not given."""
    known = family("model")
    if any(shares(known[m["name"]]) for m in models if m["name"] in known):
        return {}
    return {
        p.name: any_model().name
        for p in find("algorithm", algorithm["name"]).parameters()
        if p.options_of == "partitioner"
        and made_for_shares(p.part(algorithm.get(p.name, p.default)))
    }


@handled("Choices")
def _remove_model(place: int) -> None:
    present = state.draft()["models"]
    if len(present) > 1:
        del present[place]
        state.update_draft(models=present)
