"""Whom an attack names: people of the public table, with the groups they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from anon_core.base.registry import family
from anon_core.data.table import Dataset
from anon_core.release.attack_result import AttackResult, Hits
from ui.state import population_tables, state
from ui.state.result_view import Facts
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd

_PROVEN = "proven to be in the table"
_OPEN = "not decided in time; treated as exposed"


def draw(facts: Facts, attack: AttackResult) -> None:
    """Draw the list of people an attack names, where it names anyone."""
    hits = attack.hits
    if hits is not None and hits.people:
        title = plain(family("attack")[attack.attack].title)
        with st.expander(f"{title}: who they are", key=f"members-{attack.attack}"):
            _listed(facts, attack, hits)


def _listed(facts: Facts, attack: AttackResult, hits: Hits) -> None:
    people = population_tables.find(facts.result.plan.population_file)
    made_of = (id(hits), people.path if people is not None else "")
    frame = state.once(
        f"members/{attack.attack}",
        made_of,
        lambda: listing(facts, hits, people.table if people is not None else None),
    )
    st.dataframe(frame, lazy=True, hide_index=True, key=f"hits-{attack.attack}", height=300)
    beyond = f"{len(frame):,} of them are listed. " if len(frame) < hits.people else ""
    st.caption(
        plain(
            f"{attack.succeeded:,.0f} proven, {attack.undecided:,} not decided. "
            f"{beyond}Rows are counted from 1 in the population table, without its header; the "
            f"{facts.noun[0]} is one the person fits."
        )
    )
    if people is None:
        st.caption("To see their values, load the population table again under Population on Run.")


def listing(facts: Facts, hits: Hits, people: Dataset | None) -> pd.DataFrame:
    """Return a row for each listed person: row of the population table, standing, groups, values.

    Parameters
    ----------
    facts : Facts
    hits : Hits
    people : Dataset or None
        The population table, for the people's values.
    """
    import pandas as pd

    numbers = np.append(facts.numbers, 0)[hits.group]  # -1, a group less, takes the 0
    shown = np.sort(np.where(hits.group < 0, np.iinfo(np.int64).max, numbers), axis=1)
    known = (hits.group >= 0).sum(axis=1)
    where = [
        ", ".join(map(str, row[:n])) + (f" and {more} more" if more else "")
        for row, n, more in zip(
            shown.tolist(), known.tolist(), (hits.groups - known).tolist(), strict=True
        )
    ]
    frame = pd.DataFrame(
        {
            "row": hits.row + 1,
            "standing": np.where(hits.proven, _PROVEN, _OPEN),
            facts.noun[0]: where,
        }
    )
    if people is not None:
        for name in (n for n in facts.result.problem.quasi if n in people.names):
            column = people.column(name)
            values = np.array([*column.values, ""], dtype=object)
            frame[f"{name} (population)"] = values[column.codes[hits.row]]
    return frame
