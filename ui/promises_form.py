"""The promises of a run, each with its form, and what takes the place of one not defined."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anon_core.kinds import Algorithm, GroupModel
from anon_core.registry import family, find
from ui import state
from ui.explain import plain, what_is_this
from ui.forms import parameter_form
from ui.plan_words import made_for_shares, shares

_REPLACED = "promises_form/replaced"


def models(
    draft: dict[str, Any], sensitive: tuple[str, ...], technique: type[Algorithm]
) -> list[dict[str, Any]]:
    """Draw the promises, each with its form; return the recipe's tables.

    A promise that the technique cannot give is marked, with what can take its place.
    """
    known = {n: m for n, m in family("model").items() if issubclass(m, GroupModel)}
    present: list[dict[str, Any]] = draft["models"]
    found: list[dict[str, Any]] = []
    for place, model in enumerate(present):
        chosen = known.get(model["name"])
        if chosen is None:
            found.append(model)
            continue
        with st.container(border=True, key=f"model-{place}"):
            with st.container(
                horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
            ):
                st.markdown(f"**{plain(chosen.title)}**", width="content")
                st.button(
                    "Remove",
                    key=f"remove-model-{place}",
                    disabled=len(present) == 1,
                    help="A plan needs at least one promise." if len(present) == 1 else None,
                    on_click=_remove_model,
                    args=(place,),
                    type="tertiary",
                )
            st.markdown(plain(chosen.summary))
            if technique.permutes and chosen.needs_whole_rows:
                _not_defined(place, chosen, technique, present, bool(sensitive))
                found.append(model)
                continue
            with st.container(horizontal=True, vertical_alignment="bottom"):
                given = parameter_form(
                    chosen, model, key=f"run_form/model/{place}", sensitive=sensitive
                )
            what_is_this(chosen)
        found.append({"name": model["name"], **given})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        taken = {m["name"] for m in present}
        fit = [
            n
            for n, m in known.items()
            if fits(m, technique, bool(draft.get("population", {}).get("file")))
            and not (n in taken and once(m))
        ]
        if st.session_state.get("new-model") not in fit:
            st.session_state.pop("new-model", None)
        if fit:
            new = st.selectbox(
                "Another promise", fit, format_func=lambda n: known[n].title, key="new-model"
            )
            st.button("Add it", key="add-model", on_click=_add_model, args=(new,))
    return found


def fits(model: type[GroupModel], technique: type[Algorithm], people: bool) -> bool:
    """Say whether a promise is worth offering for a technique, with what is loaded."""
    if model.needs_public and not (technique.counts_public and people):
        return False
    return not (technique.permutes and model.needs_whole_rows)


def once(model: type[GroupModel]) -> bool:
    """Say whether a promise a second time would say nothing new: it is of no column of its own."""
    return all(p.kind != "column" for p in model.parameters())


def restore(technique: type[Algorithm]) -> None:
    """Bring back a promise about whole rows when a technique that can give it is chosen again."""
    kept = st.session_state.get(_REPLACED)
    if technique.permutes or kept is None:
        return
    present = state.draft()["models"]
    for place, model in enumerate(present):
        if model["name"] == kept["by"]:
            present[place] = kept["was"] | ({"k": model["k"]} if "k" in model else {})
            state.update_draft(models=present)
            break
    del st.session_state[_REPLACED]


def _not_defined(
    place: int,
    model: type[GroupModel],
    technique: type[Algorithm],
    present: list[dict[str, Any]],
    sensitive: bool,
) -> None:
    """Say that a promise is not defined for a technique, and offer what is, in one click."""
    st.warning(
        plain(
            f"Not defined for {technique.title}: it permutes columns apart, so no published row is "
            f"a person's, and {model.title} is about whole rows. Promise something of the groups "
            "instead; the present promise comes back with a technique that can keep it."
        )
    )
    taken = {m["name"] for m in present}
    known = family("model")
    instead = ["bucket-size", *(["frequency-l-diversity"] if sensitive else [])]
    with st.container(horizontal=True):
        for name in instead:
            if name in known and name not in taken:
                st.button(
                    f"Replace it with {known[name].title}",
                    key=f"replace-{place}-{name}",
                    on_click=_replace,
                    args=(place, name),
                )


def _replace(place: int, name: str) -> None:
    present = state.draft()["models"]
    was = present[place]
    values = {p.name: p.default for p in family("model")[name].parameters()}
    present[place] = {"name": name, **values} | ({"k": was["k"]} if "k" in values else {})
    st.session_state[_REPLACED] = {"was": was, "by": name}
    algorithm = state.draft()["algorithm"]
    state.update_draft(models=present, algorithm=algorithm | _groups_for(algorithm, present))


def _groups_for(algorithm: dict[str, Any], models: list[dict[str, Any]]) -> dict[str, str]:
    """Return what forms the groups instead, where the choice is made for a promise not given."""
    known = family("model")
    if any(shares(known[m["name"]]) for m in models if m["name"] in known):
        return {}
    return {
        p.name: "mondrian"
        for p in find("algorithm", algorithm["name"]).parameters()
        if p.options_of == "partitioner"
        and (chosen := algorithm.get(p.name, p.default))
        and made_for_shares(str(chosen))
    }


def _remove_model(place: int) -> None:
    present = state.draft()["models"]
    if len(present) > 1:
        del present[place]
        state.update_draft(models=present)


def _add_model(name: str) -> None:
    defaults = {p.name: p.default for p in family("model")[name].parameters()}
    state.update_draft(models=[*state.draft()["models"], {"name": name, **defaults}])
