"""The hierarchies of a session while they are edited: one history a column, kept as plain JSON.

A draft that has a place for every value of the column is the column's hierarchy at once, so that a
run uses what is seen; one that lacks a place for some values waits until they have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import AnonError, BadHierarchy
from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from anon_core.data.hierarchy import (
    TOP,
    Draft,
    History,
    Rename,
    apply,
    draft_of_rows,
    draft_of_values,
    history_of_dict,
    operation_of,
    to_rows,
    unplaced,
)
from anon_core.data.hierarchy.label_truth import FalseLabel, false_labels, unread_labels
from anon_core.recipe.plan import LevelTable
from ui.state import state
from ui.words import edit_words

_KEY = "drafts"


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a session remembers of one column's draft.

    Attributes
    ----------
    history : History
    of : tuple of str
        Fingerprints of the table and of the level table that the draft belongs to.
    epoch : int
        Changes whenever the draft was changed by something else than the builder.
    rev : int
        The builder's last edit that was answered.
    said : str
        What the last edit did, in words.
    made : (int, int) or None
        Level and number of the group that the last edit made.
    error : mapping of str to object, or None
        Why the last edit was refused.
    """

    history: History
    of: tuple[str, str]
    epoch: int = 1
    rev: int = 0
    said: str = ""
    made: tuple[int, int] | None = None
    error: Mapping[str, Any] | None = field(default=None)


def work(column: Column) -> Work:
    """Return a column's draft, brought up to what was changed elsewhere since it was edited.

    Raises
    ------
    AnonError
        If the column's level table is no hierarchy of it.
    """
    kept = _kept(column.name)
    of = _belongs_to(column.name)
    if kept is not None and kept.of == of:
        return kept
    rows = state.levels().get(column.name)
    draft = draft_of_values(column) if rows is None else draft_of_rows(column, rows)
    if kept is None or kept.of[0] != of[0]:
        new = Work(history=History.begin(draft), of=of, epoch=1 if kept is None else kept.epoch + 1)
    else:
        new = Work(history=kept.history.then(draft), of=of, epoch=kept.epoch + 1)
    _keep(column.name, new)
    return new


def put(column: Column, rows: LevelTable) -> None:
    """Take over a level table from a file or a proposal; it may lack values, which are then placed.

    Raises
    ------
    AnonError
        If it is no hierarchy of the column; nothing changes then.
    """
    column = state.keeping({column.name: rows}).column(column)
    draft = draft_of_rows(column, rows)
    kept = work(column) if _has_fitting_levels(column) else _kept(column.name)
    history = History.begin(draft) if kept is None else kept.history.then(draft)
    epoch = 1 if kept is None else kept.epoch + 1
    _apply(column, Work(history=history, of=_belongs_to(column.name), epoch=epoch))


def edit(column: Column, asked: Mapping[str, Any]) -> None:
    """Carry out what the builder asks for; a refusal is kept for it to show.

    Parameters
    ----------
    column : Column
    asked : mapping
        The operation as plain values, with the builder's ``epoch`` and ``rev``.
    """
    now = work(column)
    plain = dict(asked)
    epoch, rev = plain.pop("epoch", None), plain.pop("rev", None)
    if epoch != now.epoch or not isinstance(rev, int) or rev <= now.rev:
        return  # an edit of something that is gone, or one that was answered already
    before = now.history.draft
    plainly = replace(now, rev=rev, said="", made=None, error=None)
    try:
        if plain.get("do") in ("undo", "redo"):
            history = now.history.undone() if plain["do"] == "undo" else now.history.redone()
            said = edit_words.went(plain["do"], before, history.draft)
            made = None
        else:
            operation = operation_of(plain)
            after = apply(before, operation)
            history = now.history.then(after)
            said = edit_words.effect(before, operation, after)
            new = edit_words.new_group(before, after)
            made = None if new is None else (new[0], new[1].id)
    except AnonError as error:
        refusal = {"message": error.message, "remedy": error.remedy, "values": list(error.values)}
        _keep(column.name, replace(plainly, error=refusal))
        return
    _apply(column, replace(plainly, history=history, said=said, made=made), going_on=True)


def rename(column: Column, level: int, label: str, new: str) -> None:
    """Give the group of that label another one, from outside of the builder; can be undone.

    Raises
    ------
    AnonError
        If there is no such group, or the label cannot be given.
    """
    now = work(column)
    before = now.history.draft
    groups = before.levels[level - 1] if 1 <= level <= before.height else ()
    found = next((group for group in groups if group.label == label), None)
    if found is None:
        raise BadHierarchy(
            f"There is no such group on level {level} any more.", remedy="Look at it again."
        )
    operation = Rename(level=level, node=found.id, label=new)
    after = apply(before, operation)
    history = now.history.then(after)
    said = edit_words.effect(before, operation, after)
    changed = replace(now, history=history, epoch=now.epoch + 1, rev=0, said=said, error=None)
    _apply(column, replace(changed, made=None), going_on=True)


def rename_untrue(column: Column) -> None:
    """Give every group whose label is not true of it a true one; one step to undo."""
    now = work(column)
    draft = before = now.history.draft
    while found := false_labels(to_rows(draft), column.kind):
        taken: set[tuple[int, str]] = set()
        for one in found:
            if (one.level, one.instead) in taken:
                continue  # its turn comes again
            taken.add((one.level, one.instead))
            node = next(g.id for g in draft.levels[one.level - 1] if g.label == one.label)
            draft = apply(draft, Rename(level=one.level, node=node, label=one.instead))
    renamed = sum(
        old.label != new.label
        for olds, news in zip(before.levels, draft.levels, strict=True)
        for old, new in zip(olds, news, strict=True)
    )
    history = now.history.then(draft)
    they = "it holds" if renamed == 1 else "they hold"
    said = f"Renamed {in_figures(renamed, 'group')} to what {they}."
    changed = replace(now, history=history, epoch=now.epoch + 1, rev=0, said=said, error=None)
    _apply(column, replace(changed, made=None), going_on=True)


def untrue(column: Column) -> list[FalseLabel]:
    """Return the labels of the draft that claim what not all of their values are."""
    history = work(column).history

    def find() -> list[FalseLabel]:
        return false_labels(to_rows(history.draft), column.kind)

    return state.once("untrue", (column.name, column.kind, history.present), find)


def unread(column: Column) -> list[str]:
    """Return the groups' labels of the draft that contain digits or dates and cannot be read."""
    history = work(column).history

    def find() -> list[str]:
        return unread_labels(to_rows(history.draft), column.kind)

    return state.once("unread", (column.name, column.kind, history.present), find)


def message(column: Column) -> dict[str, Any]:
    """Return what the builder draws, and what it says of its last edit.

    Raises
    ------
    AnonError
        If the column's level table is no hierarchy of it.
    """
    now = work(column)
    draft = now.history.draft
    return {
        **picture(draft, column),
        "epoch": now.epoch,
        "rev": now.rev,
        "undo": bool(now.history.past),
        "redo": bool(now.history.future),
        "said": now.said,
        "made": None if now.made is None else {"level": now.made[0], "id": now.made[1]},
        "error": now.error,
        "untrue": [[one.level, one.label] for one in untrue(column)],
    }


def picture(draft: Draft, column: Column) -> dict[str, Any]:
    """Return a draft as the builder reads it: depth first, with the rows of each value."""
    counts = dict(zip(column.values, column.counts.tolist(), strict=True))
    return {
        "column": draft.column,
        "kind": draft.kind,
        "leaves": draft.leaves,
        "rows": [counts.get(text, 0) for text in draft.leaves],
        "order": draft.order,
        "levels": [
            {
                "id": [group.id for group in groups],
                "label": [group.label for group in groups],
                "size": [len(group.children) for group in groups],
            }
            for groups in draft.levels
        ],
        "unplaced": [{"text": t, "rows": counts[t]} for t in unplaced(draft, column)],
    }


def all_kept() -> dict[str, Any]:
    """Return the drafts of all columns with their histories, as plain JSON; not to be edited."""
    return st.session_state.setdefault(_KEY, {})


def take_over(drafts: Mapping[str, Any]) -> None:
    """Put drafts from `all_kept` instead of the present ones."""
    st.session_state[_KEY] = dict(drafts)


def waiting(column: Column) -> tuple[str, ...]:
    """Return the values that the draft has no place for yet."""
    return unplaced(work(column).history.draft, column)


# ---- inside --------------------------------------------------------------------------------


def _apply(column: Column, new: Work, *, going_on: bool = False) -> None:
    """Keep a draft; where it has a place for every value, it is the column's hierarchy now."""
    draft = new.history.draft
    if not unplaced(draft, column):
        rows = None if _is_flat(draft, column) else to_rows(draft)
        state.set_levels(column.name, rows, going_on=going_on)
    _keep(column.name, replace(new, of=_belongs_to(column.name)))


def _is_flat(draft: Draft, column: Column) -> bool:
    """Return whether a draft is what a column without a hierarchy has."""
    return (
        draft.height == 1
        and draft.levels[0][0].label == TOP
        and len(draft.leaves) == len(column.values)
    )


def _has_fitting_levels(column: Column) -> bool:
    try:
        work(column)
    except AnonError:
        return False
    return True


def _belongs_to(name: str) -> tuple[str, str]:
    data = state.typed_dataset()
    return "" if data is None else data.fingerprint, state.level_fingerprint(name)


def _kept(name: str) -> Work | None:
    plain = cast(dict[str, dict[str, Any]], st.session_state.get(_KEY) or {}).get(name)
    if plain is None:
        return None
    made = plain["made"]
    return Work(
        history=history_of_dict(plain["history"]),
        of=(plain["of"][0], plain["of"][1]),
        epoch=plain["epoch"],
        rev=plain["rev"],
        said=plain["said"],
        made=None if made is None else (made[0], made[1]),
        error=plain["error"],
    )


def _keep(name: str, new: Work) -> None:
    present = dict(cast(dict[str, dict[str, Any]], st.session_state.get(_KEY) or {}))
    present[name] = {
        "history": new.history.as_dict(),
        "of": list(new.of),
        "epoch": new.epoch,
        "rev": new.rev,
        "said": new.said,
        "made": None if new.made is None else list(new.made),
        "error": new.error,
    }
    st.session_state[_KEY] = present
