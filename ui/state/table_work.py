"""The tables that are protected in this session: built once for each choice, protected by jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import streamlit as st

from anon_core.base import secret
from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError, Cancelled
from anon_core.data.reading import row_filter
from anon_core.data.table import Dataset
from anon_core.methods.queries.trackers import (
    Attempt,
    QueryBox,
    Refused,
    attempt,
    nameable,
)
from anon_core.pipeline.runner import texts_of
from anon_core.tables.differencing import Earlier, Together
from anon_core.tables.publication import (
    Publication,
    Side,
    files_of,
    protect,
    refuse_bare,
    sides,
)
from anon_core.tables.recipe import Method, TableRecipe
from anon_core.tables.sensitivity import sensitive_cells
from anon_core.tables.suppressed import Judged, counted
from anon_core.tables.table import build
from anon_core.verification.findings import Check
from anon_core.verification.protected_table import private_rows, refuse_broken, verify_table
from ui.state import state
from ui.state.work import jobs

Levels = Mapping[str, Sequence[Sequence[str]]]
#: The jobs of this page, and the page.
PROTECT, COMPARE = "protect-table", "compare-tables"
_PAGE = "pages/10_Tables.py"
#: Seconds that a click waits for its job: a small table is protected at once.
_AT_ONCE = 0.7
#: Stages of the second computation of a table.
_STAGES = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Out:
    """A table that is out already, with the hierarchies that it was made with."""

    published: Publication
    levels: Levels
    earlier: Earlier


@dataclass(frozen=True, kw_only=True, eq=False)
class Finished:
    """A protected table, what the second computation says of its file, and what was out before."""

    published: Publication
    checks: tuple[Check, ...]
    before: Out | None = None


_SEED, _DONE, _SIDES = "tables/seed", "tables/done", "tables/sides"
#: The table that is out already.
_OUT = "tables/out-already"


def seed() -> int:
    """Return the secret of this session's tables: the same choices round the same way again."""
    return cast(int, st.session_state.setdefault(_SEED, secret.draw()))


def tabulated(data: Dataset, recipe: TableRecipe, levels: Levels) -> Dataset:
    """Return the rows that a recipe tabulates, as the command does."""
    of = (data.fingerprint, recipe.layout.columns, repr((recipe.data, recipe.types)), repr(levels))
    return state.once("tables/rows", of, lambda: counted(data, recipe, levels))


def judged(data: Dataset, recipe: TableRecipe, levels: Levels) -> Judged:
    """Return the table with its sensitive cells; rows are looked at once for each layout."""
    of = (data.fingerprint, repr(recipe.layout), repr(sorted(levels.items())))
    table = state.once("tables/built", of, lambda: build(data, recipe.layout, levels))
    findings = sensitive_cells(table.contributions, recipe.rules, recipe.who)
    return Judged(recipe=recipe, table=table, findings=findings)


def start(data: Dataset, found: Judged, levels: Levels, *, together: bool = False) -> None:
    """Begin to protect a table and to recompute it from its file; what is quick ends at once.

    Where `together`, it is protected with the table that is out already.
    """
    before = _out() if together else None

    def work(context: Context) -> Finished:
        first = part_of(context, 0.0, 0.5)  # the other half is the second computation
        done = protect(found, first) if before is None else _both(before.earlier, found, first)
        refuse_bare(done)
        checks = _recomputed(done, data, levels, _stages(part_of(context, 0.5, 1.0)))
        return Finished(published=done, checks=checks, before=before)

    _begin(PROTECT, "Protecting the table", _DONE, _key(data, found.recipe), work)


def _stages(context: Context) -> Callable[[str], None]:
    """Return what reports each stage of a second computation, a step further than the last."""
    seen: dict[str, int] = {}

    def report(stage: str) -> None:
        at = seen.setdefault(stage, len(seen))
        context.report(min(at, _STAGES - 1) / _STAGES, stage)

    return report


def compare(data: Dataset, found: Judged, levels: Levels, methods: Sequence[Method]) -> None:
    """Begin to protect one table by several methods."""

    def work(context: Context) -> tuple[Side, ...]:
        def recomputed(done: Publication) -> int:
            checks = _recomputed(done, data, levels, lambda _: context.check())
            return sum(check.holds for check in checks)

        return sides(found, methods, recomputed, context)

    of = (*_key(data, found.recipe), tuple(methods))
    _begin(COMPARE, "Protecting the table by each method", _SIDES, of, work)


def _both(before: Earlier, found: Judged, context: Context) -> Publication:
    return Together(before, found).protected(context)


def put_out(finished: Finished, levels: Levels) -> None:
    """Take down that a table is out: later ones are looked at with it."""
    done = finished.published
    earlier = Earlier(judged=done.judged, suppressed=done.suppressed)
    out = Out(published=done, levels=levels, earlier=earlier)
    st.session_state[_OUT] = (state.dataset(), out)


def forget() -> None:
    """Forget the table that is out."""
    st.session_state.pop(_OUT, None)


def earlier() -> Earlier | None:
    """Return the table that is out, where it is of the table that is open."""
    out = _out()
    return None if out is None else out.earlier


def _out() -> Out | None:
    of, out = st.session_state.get(_OUT) or (None, None)
    return cast(Out | None, out) if of is state.dataset() else None


def together(out: Earlier, found: Judged) -> Together:
    """Return both tables as one system."""
    of = (id(out), found.table, found.recipe.rules, found.recipe.known)
    return state.once("tables/together", of, lambda: Together(out, found))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a query box says: an answer, or why not, and how it was asked after all."""

    answer: int | None = None
    refused: str = ""
    attempt: Attempt | None = None


def asked(data: Dataset, least: int, value: str, audits: bool, first: str, second: str) -> Asked:
    """Ask the session's query box; it remembers what it answered as long as it is the same.

    Raises
    ------
    BadPlan
        If a condition cannot be read.
    """
    of = (data.fingerprint, least, value, audits)
    box = state.once("tables/box", of, lambda: _box(data, least, value, audits))
    query = (of, first, second)
    return state.once("tables/asked", query, lambda: _asked(data, box, value, first, second))


def _box(data: Dataset, least: int, value: str, audits: bool) -> QueryBox:
    values = [1] * data.rows
    if value:
        column = data.column(value)
        numbers = [int(text) for text in column.values]
        values = [numbers[code] for code in column.codes.tolist()]
    return QueryBox(values=values, least=least, audits=audits)


def _asked(data: Dataset, box: QueryBox, value: str, first: str, second: str) -> Asked:
    sets = [(where.strip(), _chosen(data, where)) for where in (first, second) if where.strip()]
    ask = box.total if value else box.count
    chosen = frozenset.intersection(*(one for _, one in sets))
    try:
        return Asked(answer=ask(chosen, "q(C)"))
    except Refused as error:
        other = sets[1] if len(sets) > 1 else None
        tried = attempt(box, ask, sets[0], other, nameable(data))
        return Asked(refused=error.message, attempt=tried)


def _chosen(data: Dataset, where: str) -> frozenset[int]:
    return frozenset(np.flatnonzero(row_filter.chosen(data, where)).tolist())


def settle() -> None:
    """Take over what ended jobs came to."""
    for name, place in ((PROTECT, _DONE), (COMPARE, _SIDES)):
        job = jobs.collect(name)
        if job is None:
            continue
        of, _, _ = st.session_state[place]
        error = job.error
        if job.state == "cancelled":
            error = Cancelled(f"{job.title} was cancelled; nothing is published.")
        st.session_state[place] = (of, job.value if job.state == "done" else None, error)


def is_running(name: str) -> bool:
    """Say whether such a job is under way."""
    job = jobs.current(name)
    return job is not None and job.state == "running"


def finished(data: Dataset, recipe: TableRecipe) -> Finished | None:
    """Return what was protected last, where it is of these choices."""
    return cast(Finished | None, _kept(_DONE, _key(data, recipe)))


def compared(
    data: Dataset, recipe: TableRecipe, methods: Sequence[Method]
) -> tuple[Side, ...] | None:
    """Return how the methods compare, where that was worked out for these choices."""
    of = (*_key(data, recipe), tuple(methods))
    return cast(tuple[Side, ...] | None, _kept(_SIDES, of))


def error(name: str, data: Dataset, recipe: TableRecipe) -> AnonError | None:
    """Return what ended a job of these choices."""
    place = _DONE if name == PROTECT else _SIDES
    of, _, why = st.session_state.get(place) or ((), None, None)
    return cast(AnonError | None, why) if of[:2] == _key(data, recipe) else None


def _begin(name: str, title: str, place: str, of: Any, work: Callable[[Context], Any]) -> None:
    st.session_state[place] = (of, None, None)
    job = jobs.start(name, title, work, page=_PAGE)
    if job.wait(_AT_ONCE):
        settle()


def _kept(place: str, of: object) -> Any:
    key, value, _ = st.session_state.get(place) or (None, None, None)
    return value if key == of else None


def _recomputed(
    done: Publication, data: Dataset, levels: Levels, report: Callable[[str], None]
) -> tuple[Check, ...]:
    """Repeat a table's figures; what `report` raises ends that."""
    recipe = done.judged.recipe.as_mapping()
    rows = private_rows(texts_of(data), recipe, levels)
    content = files_of(done)["table.csv"]
    checks = verify_table(content, recipe, rows, levels, done.proposals, report)
    refuse_broken(checks)
    return tuple(checks)


def _key(data: Dataset, recipe: TableRecipe) -> tuple[str, str]:
    return data.fingerprint, recipe.as_toml()
