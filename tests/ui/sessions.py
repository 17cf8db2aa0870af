"""Sessions for page tests: a sample loaded, a plan drafted, a result there, without clicking."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from anon_core.base import secret
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from ui.forms.model_picker import QUESTIONS
from ui.forms.technique_picker import approach_of
from ui.state import pinning, results, state
from ui.state.work import jobs, precompile_status

# Seconds after which a test gives up on a page or a job, however busy the machine.
PATIENCE = 60

CHECKOUT = Path(__file__).resolve().parents[2]
RUN, RESULTS, COMPARE, EXPORT = (
    f"pages/{name}.py" for name in ("4_Run", "5_Results", "6_Compare", "7_Export")
)

#: Of every session that is loaded here: the same plan then has the same result in every test.
SEED = int.from_bytes(hashlib.sha256(b"sessions of page tests").digest())

#: The drawers of Run, all of which are open in tests.
DRAWERS = (
    "add-model",
    "attackers",
    "population",
    "earlier",
    "level-bounds",
    "sensitive-levels",
    "changes",
    "metrics",
    "advanced",
)
#: The drawer of Results with the tiles in full and what is behind them.
VERDICTS = "Verdicts and judgement"
#: The drawers of its panels.
CLASSES, METRICS, ATTACKS = (f"{name} in detail" for name in ("Classes", "Metrics", "Attacks"))


def compiles_nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages start no helper that compiles whatever a person may ask for next."""
    found = precompile_status.Warming()
    found.over.set()
    monkeypatch.setattr(precompile_status, "begin", lambda: found)


@cache
def table(name: str) -> Dataset:
    """Return a sample's table, read once: nobody can change it."""
    one = sample(name)
    kinds: Any = dict(one.types)
    return Dataset.from_frame(one.frame(), kinds=kinds, source=one.title)


def load(name: str = "toth-private", **draft: Any) -> dict[str, Any]:
    """Return a session's content with a sample loaded and tables of the draft replaced."""
    one, data = sample(name), table(name)
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held), patch.object(secret, "draw", lambda: SEED):
        state.set_dataset(
            data,
            roles=one.roles,
            left_out=one.roles.left_out(data),
            levels={c: read_levels(hierarchy_folder() / p, c) for c, p in one.hierarchies.items()},
            types=one.types,
            title=one.title,
            k=one.k,
        )
        if draft:
            state.update_draft(**draft)
    return held


#: What was carried out, with what it was carried out on; a result is never changed.
_CARRIED_OUT: list[tuple[Plan, Dataset, dict[str, LevelTable], Result]] = []


def result_of(plan: Plan, data: Dataset, levels: dict[str, LevelTable]) -> Result:
    """Carry out a plan, or return what it came to in a test before."""
    for *given, known in _CARRIED_OUT:
        if given[1] is data and (given[0], given[2]) == (plan, levels):
            return known
    found = run(plan, data, levels)
    _CARRIED_OUT.append((plan, data, levels, found))
    return found


def carried_out(held: dict[str, Any], *, pinned: int = 0) -> Result:
    """Run a session's plan, keep the result in it, and pin it as often as asked."""
    with patch.object(st, "session_state", held):
        plan = state.plan()
        levels = {c: rows for c, rows in state.levels().items() if c in plan.hierarchies}
        data = state.dataset()
        assert data is not None
        result = result_of(plan, data, levels)
        results.keep(result)
        for _ in range(pinned):
            pinning.pin(result)
    return result


def open_page(page: str, held: Mapping[str, Any], *, tab: str = "") -> AppTest:
    """Open a page of the dashboard in a session with this content; Results may show a drawer."""
    app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=PATIENCE)
    for stops in QUESTIONS:  # the promises that are folded up, too
        app.session_state[f"model_picker/more/{stops}"] = True
    for fold in DRAWERS:
        app.session_state[f"run/{fold}"] = True
    for key, value in held.items():  # what a test asks for goes before that
        app.session_state[key] = value
    if tab:
        app.session_state["drawer"] = tab
    app.switch_page(page)
    return app.run()


def told_to_a_fragment(app: AppTest, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next message go to a fragment, as a browser sends all changes of one moment."""
    storage = app._fragment_storage  # pyright: ignore[reportPrivateUsage]
    (found,) = storage.resolve_target([key])
    monkeypatch.setattr(local_script_runner, "RerunData", partial(RerunData, fragment_id=found))


def choose(app: AppTest, technique: str) -> AppTest:
    """Choose a technique on Run: first what may be changed, then the technique."""
    approach = next(c for c in app.button_group if c.key == "run_form/approach")
    wanted = approach_of(cast(type[Algorithm], find("algorithm", technique)))
    if approach.value != wanted:
        approach.set_value(wanted).run()
    return next(r for r in app.radio if r.key == "run_form/technique").set_value(technique).run()


def wait_for(app: AppTest, name: str, seconds: float = PATIENCE) -> AppTest:
    """Wait until a job of the session has ended, then run the page again."""
    held: dict[str, jobs.Job] = app.session_state["jobs"]
    deadline = time.monotonic() + seconds
    while name in held and held[name].state == "running":
        assert time.monotonic() < deadline, "the job did not end"
        held[name].wait(0.1)
    return app.run()


def words(app: AppTest) -> str:
    """Return everything a page says, as one text."""
    kinds = (app.markdown, app.caption, app.error, app.info, app.warning, app.subheader, app.title)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def tips(app: AppTest) -> str:
    """Return everything that a page's texts say in their tooltips, as one text."""
    shown = [str(element.proto.help) for element in (*app.markdown, *app.caption)]
    return "\n".join(shown).replace("\\", "")
