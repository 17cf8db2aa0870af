"""The attacks of a run: the threshold, the settings of each, and those run on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.attack import Attack
from anon_core.pipeline.measure import thresholds
from ui.forms.draft_sync import follow, place
from ui.forms.parameter_forms import filled, further_forms, parameter_form
from ui.state import state
from ui.state.work.fragments import folded
from ui.words.escaping import changed, plain, what_is_this

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
    """Draw the threshold, and a drawer with each attacker; return what differs from the defaults.

    Parameters
    ----------
    draft : dict of str to object
    technique : type of Algorithm
        Settings of attacks that it leaves nothing to do are kept, but not drawn.
    public : bool
        Whether there is a table of the population.
    """
    tables = threshold(draft)
    rest = folded(
        lambda now: f"Attackers · {changed(_differ(now))}",
        lambda: _each(state.draft(), technique, public=public),
        lambda: held(state.draft()),
        key="run/attackers",
    )
    return [*tables, *rest]


def held(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of the attackers in the drawer where no one changes anything."""
    known, personal = _known(), thresholds.personal()
    found: list[dict[str, Any]] = []
    for table in draft.get("attacks", []):
        name = str(table["name"])
        if name in personal or name not in known:
            continue
        own = filled(known[name], {key: value for key, value in table.items() if key != "name"})
        if not known[name].use.by_default or own != filled(known[name], {}):
            found.append({"name": name, **own})
    return found


def _differ(draft: dict[str, Any]) -> list[str]:
    """Return the attackers that differ from the default by more than the one threshold."""
    known, own = _known(), thresholds.own(draft.get("attacks", []))
    return [
        known[table["name"]].title
        for table in held(draft)
        if table.get("threshold") != own
        or not known[table["name"]].use.by_default
        or filled(known[table["name"]], {"threshold": own}).items()
        != {key: value for key, value in table.items() if key != "name"}.items()
    ]


def _known() -> dict[str, type[Attack]]:
    found = family("attack").items()
    return {
        n: a for n, a in found if issubclass(a, Attack) and (a.parameters() or not a.use.by_default)
    }


def threshold_held(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of the attacks that take the threshold, where no one changes it."""
    return _limited_to(_threshold_of(draft)) if thresholds.personal() else []


def _threshold_of(draft: dict[str, Any]) -> float:
    given = {a["name"]: a for a in draft.get("attacks", [])}
    first = thresholds.personal()[0]
    default = next(p.default for p in _known()[first].parameters() if p.name == "threshold")
    return float(cast(float, given.get(first, {}).get("threshold", default)))


def _limited_to(value: float) -> list[dict[str, Any]]:
    """Return the tables of the attacks whose own threshold is another one."""
    known, personal = _known(), thresholds.personal()
    defaults = {n: {p.name: p.default for p in known[n].parameters()} for n in personal}
    others = [name for name in personal if defaults[name]["threshold"] != value]
    return [{"name": name, "threshold": value} for name in others]


def threshold(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Draw the choice of a threshold; return the tables of the attacks that take it."""
    if not thresholds.personal():
        return []
    value = _threshold_of(draft)
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
    return _limited_to(value)


def _each(
    draft: dict[str, Any], technique: type[Algorithm], *, public: bool
) -> list[dict[str, Any]]:
    """Draw the settings of every attacker; return the tables that differ from the defaults."""
    given = {a["name"]: a for a in draft.get("attacks", [])}
    known, personal = _known(), thresholds.personal()
    tables: dict[str, dict[str, Any]] = {}
    for name, attack in known.items():
        idle = (attack.needs.permuted and not technique.shape.permutes) or (
            attack.needs.public and not public
        )
        if name in personal or not attack.use.by_default:
            continue
        if idle and name in given:
            tables[name] = {key: value for key, value in given[name].items() if key != "name"}
        elif not idle:
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
    """Draw the attacks that a run carries out only where it is asked to; return those chosen.

    Parameters
    ----------
    given : mapping of str to mapping
        The tables of the attacks that the session holds, by name.
    """
    known = {
        n: a for n, a in family("attack").items() if issubclass(a, Attack) and not a.use.by_default
    }
    return further_forms(
        known,
        given,
        kind="attack",
        label="Attack further with",
        help="Slow. You can also run them later, on Results.",
    )
