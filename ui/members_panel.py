"""Who of the public table is proven to be in the release: counted, and listed on demand."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from anon_core.attacks.membership import Membership
from anon_core.context import Context
from anon_core.frequency import dense_rank
from anon_core.membership.decide import UNKNOWN, YES
from anon_core.membership.members import find_members
from anon_core.problem import population_codes
from anon_core.table import Dataset
from ui import jobs, population
from ui.explain import plain
from ui.facts import Facts
from ui.shell import show_error
from ui.words import count

if TYPE_CHECKING:
    import pandas as pd

JOB = "members"
_KEPT = "members/listed"
_MOST_GROUPS = 5
_PROVEN = "proven to be in the table"
_OPEN = "not decided in time; treated as exposed"


def draw(facts: Facts) -> None:
    """Draw what the membership attack came to, and the list of those concerned once asked for."""
    result = facts.result
    attack = next((a for a in result.attacks if a.attack == Membership.name), None)
    if attack is None:
        return
    proven, exposed = int(attack.succeeded), attack.at_risk
    st.markdown(
        f"**{proven:,} of {attack.attempted:,}** public people are proven to be in the table; "
        f"**{exposed - proven:,}** were not decided in time and are treated as exposed."
    )
    if not exposed:
        return
    people = population.find(result.plan.population_file)
    if people is None:
        st.caption("To list them, load the population table again under Population on Run.")
        return
    _settle()
    kept = st.session_state.get(_KEPT)
    if kept is not None and kept[0] is result:
        _listed(cast("pd.DataFrame", kept[1]), facts)
        return
    job = jobs.current(JOB)
    if job is not None and job.state == "running":
        jobs.watch(JOB)
    elif st.button("List who they are", key="list-members"):
        table = people.table
        jobs.start(JOB, "Membership", lambda context: (result, listing(facts, table, context)))
        st.rerun()


def listing(facts: Facts, people: Dataset, context: Context) -> pd.DataFrame:
    """Return a row for each exposed person: row of the population table, standing, groups, values.

    Rows are counted from 1, without the header.
    """
    import pandas as pd

    result = facts.result
    problem = result.problem
    assert problem.population is not None
    assert problem.population.codes is not None
    attack = next(a for a in result.plan.all_attacks() if isinstance(a, Membership))
    boxed = replace(context, deadline=time.monotonic() + attack.seconds)
    members = find_members(result.release.view, problem.population, boxed)
    context.check()
    present, fits = members.present, members.fits
    own = np.stack(population_codes(people, problem.quasi, problem.hierarchies), axis=1)
    both = np.concatenate([problem.population.codes, own]) + np.int32(1)
    sizes = [int(both[:, d].max(initial=0)) + 1 for d in range(both.shape[1])]
    rank, _ = dense_rank(list(both.T), sizes)
    types = len(problem.population.codes)
    of_rank = np.empty(int(rank.max(initial=-1)) + 1, dtype=np.int64)
    of_rank[rank[:types]] = np.arange(types)
    kind = of_rank[rank[types:]]
    exposed = np.flatnonzero((present[kind] == YES) | ((present[kind] == UNKNOWN) & fits[kind]))
    joint = members.published.joint
    order = np.argsort(joint.types, kind="stable")
    starts = np.searchsorted(joint.types[order], np.arange(types + 1))
    groups = facts.numbers[joint.bucket[order]]

    def where(number: int) -> str:
        found = sorted(set(groups[starts[number] : starts[number + 1]].tolist()))
        named = ", ".join(f"{n}" for n in found[:_MOST_GROUPS])
        more = len(found) - _MOST_GROUPS
        return f"{named} and {more} more" if more > 0 else named

    frame = pd.DataFrame(
        {
            "row": exposed + 1,
            "standing": [_PROVEN if present[n] == YES else _OPEN for n in kind[exposed]],
            facts.noun[0]: [where(int(n)) for n in kind[exposed]],
        }
    )
    for name in problem.quasi:
        column = people.column(name)
        values = np.array([*column.values, ""], dtype=object)
        frame[f"{name} (population)"] = values[column.codes[exposed]]
    return frame


def _settle() -> None:
    """Take over a list that is ready."""
    job = jobs.collect(JOB)
    if job is None:
        return
    if job.state == "done":
        st.session_state[_KEPT] = job.value
    elif job.state == "cancelled":
        st.caption("The list was stopped.")
    elif job.error is not None:
        show_error(job.error)


def _listed(frame: pd.DataFrame, facts: Facts) -> None:
    sure = int((frame["standing"] == _PROVEN).sum())
    st.dataframe(frame, lazy=True, hide_index=True, key="members", height=300)
    st.caption(
        plain(
            f"{count(len(frame), 'person', 'people')} listed, {sure:,} of them proven. Rows are "
            "counted from 1 in the population table, without its header; the "
            f"{facts.noun[0]} is one the person fits."
        )
    )
