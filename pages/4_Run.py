"""Run: what is required, how it is reached, and the run itself."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError, Cancelled, Infeasible, NotFound
from anon_core.base.terms import PRIVACY_MODELS
from anon_core.contracts.algorithm import met_first
from anon_core.explain.answers.differences import plan_differences
from anon_core.explain.text.phrases import few, model_sentences, outcome, says_nothing
from anon_core.explain.text.plan_words import intentions, not_defined, out_of_reach
from anon_core.pipeline.input_tables import refuse_undecided
from anon_core.pipeline.result import Result
from ui.components import hotkey
from ui.components.clicks import clicked
from ui.components.guard import handled, panel, show_best, show_error
from ui.forms import (
    attack_form,
    changes_form,
    earlier_form,
    level_bounds,
    models_form,
    run_form,
    sensitive_levels,
    technique_picker,
)
from ui.panels.page_frame import next_step, page
from ui.panels.run import advice_panel, cost_panel, counts_panel, fixes_panel, reuse_panel
from ui.state import confirmations, population_tables, results, state
from ui.state.sessions import kept_sessions
from ui.state.work import jobs, precompile_status, running
from ui.state.work.fragments import folded, labels_are_old
from ui.words.escaping import changed, plain

#: Settings that are named where they have changed since the last result.
_NAMED = 3
#: The column with the button stays in view while the forms scroll.
_LOOK = """<style>
@media (min-width: 1001px) {
  [data-testid="stColumn"]:has(.st-key-run-side) > div {height: 100%;}
  div:has(> .st-key-run-side) {position: sticky; top: 4rem;}
}
</style>"""


def choices() -> None:
    """Draw every form and write what they show into the draft."""
    data, roles = state.dataset(), state.roles()
    rows = data.rows if data is not None else 1
    advice_panel.draw()
    draft = state.draft()
    st.subheader(PRIVACY_MODELS, anchor=False)
    chosen = technique_picker.chosen(draft["algorithm"].get("name", met_first()[0]))
    required = models_form.models(draft, roles.sensitive, chosen)
    models = required.tables
    st.subheader("Technique", anchor=False)
    algorithm = run_form.technique(draft)
    st.subheader("Attackers", anchor=False)
    with st.container(key="run-drawers", gap="xsmall"):
        # Whether there is a table of the population decides what can be set above it.
        settings = st.container(gap="xsmall")
        people = folded(
            lambda now: f"Population · {plain(run_form.people_title(now))}",
            lambda: run_form.people(state.draft(), rows),
            lambda: run_form.people_held(state.draft(), rows),
            key="run/population",
        )
        released = folded(
            lambda now: (
                f"An earlier release of the same people · {plain(earlier_form.release_title(now))}"
            ),
            lambda: earlier_form.earlier(state.draft()),
            lambda: earlier_form.held(state.draft()),
            key="run/earlier",
        )
        with settings:
            attacks = attack_form.attacks(
                draft,
                technique_picker.chosen(algorithm["name"]),
                public=bool(people.get("file")),
            )
        between = level_bounds.draw(draft, run_form.as_set(algorithm))
        published = sensitive_levels.draw()
        made = changes_form.draw()
        metrics = folded(
            lambda now: f"Metrics · {changed(run_form.metrics_changed(now, models))}",
            lambda: run_form.metrics(state.draft(), models),
            lambda: run_form.metrics_held(state.draft(), models),
            key="run/metrics",
        )
        export = folded(
            lambda now: (
                f"Advanced: secret seed, formulas{', mean weights' * bool(roles.weight)} · "
                f"{changed(run_form.advanced_changed(now))}"
            ),
            lambda: run_form.advanced(state.draft()),
            lambda: {"formulas": "neutralise", **state.draft()["export"]},
            key="run/advanced",
        )
    again: dict[str, str] = draft.get("reuse") or {}
    technique = technique_picker.chosen(algorithm["name"])
    searches = not technique.needs.levels_parameter and not technique.needs.earlier_parts
    if searches and again.get("mode") == "fixed":  # another technique was chosen
        again = {**again, "mode": "search"}
    has_changed = state.settle_draft(
        reuse=again,
        models=models,
        level_bounds=between,
        sensitive_levels=published,
        changes=made,
        algorithm=algorithm,
        metrics=metrics,
        attacks=attacks,
        population=people,
        earlier=released,
        export=export,
    )
    if has_changed and labels_are_old():
        st.rerun()
    models_form.table_limits(required, technique_picker.chosen(algorithm["name"]))


def what_will_happen() -> bool:
    """Say what the present choices will do; return whether they can be carried out."""
    data = state.dataset()
    if state.notes():
        lines = "\n".join(f"- {plain(note)}" for note in state.notes())
        st.info(
            f"The recipe that was opened is of an older version:\n\n{lines}",
            icon=":material/update:",
        )
    undecided = state.undecided()
    if undecided:
        named = few([plain(name) for name in undecided])
        st.warning(
            f"These columns have no role yet: {named}. Give each a role or leave it out to "
            "enable Run.",
            icon=":material/help:",
        )
        next_step("pages/2_Roles.py", "Decide on Roles")
        return False
    try:
        plan = state.plan()
    except AnonError as error:
        show_error(error)
        fixes_panel.of_plan(error)
        return False
    try:
        if data is not None:
            refuse_undecided(plan, data)
    except AnonError as error:
        show_error(error)
        next_step("pages/1_Data.py", "Set it on Data")
        return False
    waiting = confirmations.waiting()
    if waiting:
        lines = "\n".join(f"- {plain(one.sentence)}" for one in waiting)
        st.warning(
            f"Confirm or fix these findings to enable Run:\n\n{lines}",
            icon=":material/front_hand:",
        )
        next_step("pages/2_Roles.py", "Review it on Roles")
        return False
    if data is not None:
        how, required, rows = intentions(plan, data)
        lines = "\n".join(f"- {plain(sentence)}" for sentence in required)
        sentences = (plain(" ".join(how)), lines, plain(" ".join(rows)))
        st.markdown("\n\n".join(part for part in sentences if part))
        reuse_panel.before(plan)
    advice_panel.shortfall(plan)
    try:
        plan.refuse_guessable()
    except AnonError as error:
        show_error(error)
        st.button("Draw a new secret", key="draw-secret", on_click=handled("Run")(state.draw_seed))
        return False
    undefined = not_defined(plan)
    if undefined:
        st.warning(plain(undefined))
        if not models_form.instead(plan):
            fixes_panel.of_plan()
        return False
    people = population_tables.find(plan.population_file) if plan.population_file else None
    if data is not None and people is not None:
        beyond = out_of_reach(plan, data.rows, people.table.rows)
        if beyond:
            st.warning(plain(beyond))
    return True


def what_went_wrong() -> None:
    """Draw what stopped the last run."""
    error = running.error()
    if isinstance(error, Cancelled):
        st.info(plain(f"{error.message} {error.remedy}".strip()))
    elif error is not None:
        show_error(error)
        fixes_panel.of_run(error)
        if isinstance(error, Infeasible | NotFound):
            show_best(error, "Best value reached")


def _changed(result: Result) -> str:
    """Return which settings differ from those of a result, where the present ones make a plan."""
    try:
        found = plan_differences(result.plan, state.plan())
    except AnonError:
        return ""
    named = [plain(one.what) for one in found[:_NAMED]]
    return f": {', '.join(named)}{' …' if len(found) > _NAMED else ''}" if named else ""


def last_outcome() -> None:
    """Draw what the last run that ended well came to."""
    result = results.last()
    if result is None:
        return
    with st.container(border=True, key="outcome"):
        if running.error() is not None:
            st.markdown("**Your last result is still available**")
        elif results.is_current():
            nothing = ", but it says nothing" if says_nothing(result) else ""
            st.markdown(f"**Released** in {result.took:.1f} s{nothing}")
        else:
            st.markdown(f"**The last result** (settings have changed since{_changed(result)})")
        sentences = (*model_sentences(result), outcome(result))
        st.markdown("\n\n".join(plain(sentence) for sentence in sentences))
        reuse_panel.after(result)
        next_step("pages/5_Results.py", "See the results")


def run_button(*, ready: bool) -> None:
    """Draw the button that carries the plan out."""
    if clicked(
        "Run",
        type="primary",
        key="run",
        shortcut="Ctrl+Enter",
        disabled=not ready or running.is_running(),
        width="stretch",
    ):
        try:
            running.start()
        except AnonError as error:
            show_error(error)
        else:
            st.rerun()


running.settle()
if page("Run", "▶️", needs="roles"):
    with st.container(key="stack-run"):
        left, right = st.columns([5, 3], gap="large")
    with right, st.container(key="run-side"):
        st.subheader("What this will do", anchor=False)
        sentence, button, under_way = st.container(), st.container(), st.container()
        cost = st.container()
        # Drawn before the forms, so that a stopped run is seen to have stopped at once.
        with under_way, panel("The run"):
            jobs.watch(running.JOB)
            if not running.is_running() and precompile_status.has_to_wait(state.dataset()):
                st.caption(
                    "You can start now. The first run begins once its routines are compiled."
                )
            what_went_wrong()
        came_to = st.container()
        # Last, since what cannot be seen takes up a line's distance all the same.
        hotkey.runs_anywhere()
        st.html(_LOOK)
    with left, panel("Choices"):
        choices()
        kept_sessions.save()  # what was typed is in the draft now
    ready = False
    with sentence, panel("What this will do"):
        ready = what_will_happen()
    with button, panel("Run"):
        run_button(ready=ready)
    with cost, panel(cost_panel.PANEL):
        cost_panel.draw(ready=ready)
    with came_to, panel("The last result"):
        last_outcome()
    with panel(counts_panel.PANEL):
        counts_panel.draw()
