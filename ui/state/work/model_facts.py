"""What the table itself says of the models, before any run: ranges, refusals and examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.contracts.example_groups import Example, examples
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.nodes import rows_removable
from anon_core.pipeline.prepare import prepare
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem
from ui.state import state
from ui.state.work import jobs, running

JOB = "model-facts"
#: Seconds that a page waits for the table to be encoded; larger tables are described later.
_PATIENCE = 0.3
_JOB = "model_facts/job"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a table says of one privacy model.

    Attributes
    ----------
    allowed : sequence of Allowed
        What its parameters can be, for those that the table limits.
    refused : AnonError or None
        Why no release of the table keeps it as it is set.
    kept, broken : Example or None
        Made-up groups that keep it and break it.
    removable : int
        Rows that the technique may leave out.
    cautions : tuple of str
        What anyone who requires it should know of the table.
    """

    allowed: Sequence[Allowed] = ()
    refused: AnonError | None = None
    kept: Example | None = None
    broken: Example | None = None
    removable: int = 0
    cautions: tuple[str, ...] = ()


def problem(plan: Plan) -> Problem | None:
    """Return the table as techniques see it; None where it does not fit, or takes longer.

    It is encoded in a thread, and again only when something changes that it depends on.
    """
    of = _depends_on(plan)
    kept = cast(tuple[object, jobs.Job] | None, st.session_state.get(_JOB))
    if kept is None or kept[0] != of:
        kept = (of, jobs.start(JOB, "Looking at the table", _encoding(plan), limited=False))
        st.session_state[_JOB] = kept
    job = kept[1]
    job.wait(_PATIENCE)
    return cast(Problem, job.value) if job.state == "done" else None


def watch() -> None:
    """Say that the table is still being encoded, and run the page again once it is."""
    kept = cast(tuple[object, jobs.Job] | None, st.session_state.get(_JOB))
    if kept is None or kept[1].state != "running":
        return
    job = kept[1]

    @st.fragment(run_every=jobs.LOOK_EVERY)
    def drawn() -> None:
        if job.state != "running":
            st.rerun()
        st.caption("Looking at what the table allows …")

    drawn()


def facts(model: GroupModel, of: Problem, plan: Plan, place: int) -> Facts:
    """Return what the table says of the privacy model that is at a place of the plan."""
    removable = rows_removable(of, plan.algorithm)
    key = (of, model.name, model.as_mapping(), removable)
    return state.once(f"model-facts/{place}", key, lambda: _facts(model, of, removable))


def unfit(kind: type[GroupModel], of: Problem) -> str:
    """Return why a privacy model fits no sensitive column of the table; empty where it fits one.

    Asked of the privacy model as it is at first; what can be mended by a parameter is none.
    """
    names = [p.name for p in kind.parameters() if p.kind == "column"]
    reason = ""
    for column in of.sensitive if names else ("",):
        try:
            kind(**dict.fromkeys(names, column)).feasible(of)
        except AnonError as error:
            reason = reason or error.message
        else:
            return ""
    return reason


def _facts(model: GroupModel, of: Problem, removable: int) -> Facts:
    refused: AnonError | None = None
    try:
        model.check(of, removable)
    except AnonError as error:
        refused = error
    try:
        allowed = tuple(model.feasible(of, removable))
        kept, broken = examples(model, of)
    except AnonError:  # what `check` says already
        return Facts(refused=refused, removable=removable)
    return Facts(
        allowed=allowed,
        refused=refused,
        kept=kept,
        broken=broken,
        removable=removable,
        cautions=() if refused else model.cautions(of),
    )


def _encoding(plan: Plan) -> jobs.Work:
    table, people = running.inputs(plan)
    levels = {name: rows for name, rows in state.levels().items() if name in plan.hierarchies}

    def work(context: Context) -> Problem:
        return prepare(plan, table, levels, people)

    return work


def _depends_on(plan: Plan) -> object:
    data = state.dataset()
    mapping = plan.as_mapping()
    read = (
        *("data", "types", "roles", "sensitive_levels", "population", "seed", "export", "reuse"),
        *("labels", "redacted", "confirmed"),
    )
    chosen = {n: mapping.get(n) for n in read}
    trees = sorted({n for model in plan.models for n in model.needs_trees(plan.roles)})
    combined = any(model.needs_combined(plan.roles) for model in plan.models)
    levels = {name: state.level_fingerprint(name) for name in plan.hierarchies}
    return (data.fingerprint if data is not None else "", chosen, trees, combined, levels)
