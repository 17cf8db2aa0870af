"""An earlier release of the same people: its published table, and who of the table stood in it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anon_core.base.errors import AnonError
from ui.components.guard import show_error
from ui.forms.draft_sync import follow, place
from ui.state import population_tables
from ui.words.escaping import plain

_WHO = {
    "unknown": "Overlap unknown",
    "all": "Everyone in this table was in it",
    "grown": "Everyone in it is also in this table",
}


def earlier(draft: dict[str, Any], *, where: str = "run") -> dict[str, Any]:
    """Draw the choice of an earlier release; return the recipe's table, empty for none."""
    present: dict[str, Any] = draft.get("earlier") or {}
    found = population_tables.find(str(present.get("file", "")))
    file = st.file_uploader(
        "An earlier release of the same people, as it was published (CSV or Parquet)",
        type=["csv", "gz", "parquet"],
        key=f"{where}-earlier-file",
        help="Someone with both releases can rule out every value that either excludes.",
    )
    if file is not None:
        try:
            found = population_tables.add(file.name, file.getvalue(), "earlier")
        except AnonError as error:
            show_error(error, where=file.name)
            return {}
    if found is None:
        return _decided(draft)
    st.caption(f"Loaded: {plain(found.title)}, {found.table.rows:,} published rows.")
    names = list(_WHO)
    now = str(present.get("people", "unknown"))
    key = f"{where}-earlier-people"
    people = st.radio(
        "Who is in both",
        names,
        index=place(names, follow(key, now)),
        format_func=lambda name: _WHO[name],
        key=key,
        help="If you do not state it, the result is an upper bound.",
    )
    if st.checkbox("Leave it out", key=f"{where}-earlier-out"):
        return {}
    return {"file": found.path, "people": people, **_decided(draft)}


def held(draft: dict[str, Any]) -> dict[str, Any]:
    """Return what `earlier` returns where no one changes anything."""
    present: dict[str, Any] = draft.get("earlier") or {}
    found = population_tables.find(str(present.get("file", "")))
    if found is None:
        return _decided(draft)
    people = str(present.get("people", "unknown"))
    return {"file": found.path, "people": people, **_decided(draft)}


def release_title(draft: dict[str, Any]) -> str:
    """Return what is on the drawer: which release it is."""
    present: dict[str, Any] = draft.get("earlier") or {}
    found = population_tables.find(str(present.get("file", "")))
    return "none" if found is None else found.title


def _decided(draft: dict[str, Any]) -> dict[str, Any]:
    """Return what identifies the release of a decided recipe: no other one will do."""
    present: dict[str, Any] = draft.get("earlier") or {}
    fixed = (draft.get("reuse") or {}).get("mode") == "fixed" and bool(present.get("sha256"))
    return {"sha256": present["sha256"]} if fixed else {}
