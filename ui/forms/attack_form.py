"""The attacks of a run: the threshold, what each may be told, and those that are run when asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.attack import Attack
from anon_core.job import thresholds

from ..session import state
from ..words.explain import plain, what_is_this
from .following import follow, place
from .parameter_forms import parameter_form

#: Thresholds that are in use, offered both ways because they differ: 1 in 11 is not quite 0.09.
_USUAL: dict[str, float] = {
    "1 in 2 (k = 2)": 0.5,
    "1 in 3 (k = 3)": 1 / 3,
    "0.33 (k = 4)": 0.33,
    "1 in 4 (k = 4)": 0.25,
    "1 in 5 (k = 5)": 0.2,
    "1 in 10 (k = 10)": 0.1,
    "1 in 11 (k = 11)": 1 / 11,
    "0.09 (k = 12)": 0.09,
    "1 in 20 (k = 20)": 0.05,
    "1 in 33 (k = 33)": 1 / 33,
}
_OTHER = "Another"


def attacks(
    draft: dict[str, Any], technique: type[Algorithm], *, public: bool
) -> list[dict[str, Any]]:
    """Draw the thresholds; return the tables of the attacks that differ from their defaults.

    Parameters
    ----------
    draft : dict of str to object
    technique : type of Algorithm
        Settings of attacks that it leaves nothing to do are kept, but not drawn.
    public : bool
        Whether there is a table of the population.
    """
    given = {a["name"]: a for a in draft.get("attacks", [])}
    known = {n: a for n, a in family("attack").items() if issubclass(a, Attack) and a.parameters()}
    personal = thresholds.personal()
    tables: dict[str, dict[str, Any]] = {}
    if personal:
        default = next(p.default for p in known[personal[0]].parameters() if p.name == "threshold")
        value = float(cast(float, given.get(personal[0], {}).get("threshold", default)))
        usual = next((t for t, v in _USUAL.items() if abs(v - value) < 1e-12), _OTHER)
        choices = [*_USUAL, _OTHER]
        words = st.selectbox(
            "Your threshold: the highest acceptable chance of picking a person",
            choices,
            index=place(choices, follow("threshold-usual", usual)),
            key="threshold-usual",
            help="Results compares the worst case with it. '1 in 11' is met by k = 11, '0.09' "
            "only by k = 12.",
        )
        if words == _OTHER:
            value = st.number_input(
                "Chance",
                min_value=0.0,
                max_value=1.0,
                value=follow("threshold-own", value),
                step=0.01,
                format="%g",
                key="threshold-own",
            )
        else:
            value = _USUAL[words]
        for name in personal:
            tables[name] = {"threshold": value}
    for name, attack in known.items():
        idle = (attack.needs_permuted and not technique.permutes) or (
            attack.needs_public and not public
        )
        if idle and name in given:
            tables[name] = {key: value for key, value in given[name].items() if key != "name"}
        elif not idle and name not in personal and attack.by_default:
            st.markdown(f"**{plain(attack.title)}**")
            tables[name] = dict(parameter_form(attack, given.get(name, {}), key="run_form/attack"))
            what_is_this(attack)
    return [
        *(
            {"name": name, **table}
            for name, table in tables.items()
            if table != {p.name: p.default for p in known[name].parameters()}
        ),
        *further_attacks(given),
    ]


def further_attacks(given: Mapping[str, Mapping[str, object]]) -> list[dict[str, Any]]:
    """Draw the attacks that a run carries out only where it is told to; return those chosen.

    Parameters
    ----------
    given : mapping of str to mapping
        The tables of the attacks that the session holds, by name.
    """
    known = {
        n: a for n, a in family("attack").items() if issubclass(a, Attack) and not a.by_default
    }
    if not known:
        return []
    chosen = st.multiselect(
        "Attack further with",
        list(known),
        default=follow("further-attacks", [n for n in known if n in given]),
        format_func=lambda n: known[n].title,
        key="further-attacks",
        help="These take their time. Results can run them afterwards, too.",
    )
    found: list[dict[str, Any]] = []
    for name in chosen:
        st.markdown(f"**{plain(known[name].title)}**")
        own = parameter_form(
            known[name],
            given.get(name, {}),
            key="run_form/attack",
            sensitive=state.roles().sensitive,
        )
        found.append({"name": name, **own})
        what_is_this(known[name])
    return found
