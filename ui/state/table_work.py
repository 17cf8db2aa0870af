"""The table that is being protected in this session: built once for each choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from anon_core.base import secret
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import texts_of
from anon_core.tables.audit import Interval
from anon_core.tables.publication import Judged, Publication, files_of, judge, protect
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.sensitivity import sensitive_cells
from anon_core.tables.table import build
from anon_core.verification.findings import Check
from anon_core.verification.protected_table import refuse_broken, rows_of, verify_table
from ui.state import state


@dataclass(frozen=True, kw_only=True, eq=False)
class Finished:
    """A protected table, and what the second computation says of its file."""

    published: Publication
    checks: tuple[Check, ...]


_SEED, _DONE = "tables/seed", "tables/done"


def seed() -> int:
    """Return the secret of this session's tables: the same choices round the same way again."""
    return cast(int, st.session_state.setdefault(_SEED, secret.draw()))


def judged(
    data: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> Judged:
    """Return the table with its sensitive cells; rows are looked at once for each layout."""
    of = (data.fingerprint, repr(recipe.layout), repr(sorted(levels.items())))
    table = state.once("tables/built", of, lambda: build(data, recipe.layout, levels))
    findings = sensitive_cells(table.contributions, recipe.rules, recipe.who)
    return Judged(recipe=recipe, table=table, findings=findings)


def finish(
    data: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> None:
    """Protect the table of a recipe, recompute it from its file, and keep both.

    Raises
    ------
    NotVerified
        If the second computation does not confirm it; nothing is kept then.
    """
    found = protect(judge(data, recipe, levels))
    rows = rows_of(texts_of(data))
    checks = verify_table(files_of(found)["table.csv"], recipe.as_mapping(), rows, levels)
    refuse_broken(checks)
    st.session_state[_DONE] = (_key(data, recipe), Finished(published=found, checks=tuple(checks)))


def done(data: Dataset, recipe: TableRecipe) -> Publication | None:
    """Return what was protected last, where it is of these choices."""
    found = _finished(data, recipe)
    return None if found is None else found.published


def checks(data: Dataset, recipe: TableRecipe) -> tuple[Check, ...]:
    """Return what the second computation says of it; none before it was protected."""
    found = _finished(data, recipe)
    return () if found is None else found.checks


def _finished(data: Dataset, recipe: TableRecipe) -> Finished | None:
    kept = cast(tuple[Any, Finished] | None, st.session_state.get(_DONE))
    return kept[1] if kept is not None and kept[0] == _key(data, recipe) else None


def told(publication: Publication, cell: int) -> Interval:
    """Return what an outsider can tell of an uncertain cell, worked out when it is asked for."""
    return publication.told(cell)


def _key(data: Dataset, recipe: TableRecipe) -> tuple[str, str]:
    return data.fingerprint, recipe.as_toml()
