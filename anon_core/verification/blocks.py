"""Which columns the recipe says are published where, and which of them stay linked row by row."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.verification.tables import Promise

Block = tuple[str, ...]


def table_names(promise: Promise) -> tuple[str, ...]:
    """Return the names of the tables a recipe publishes."""
    return ("quasi", "sensitive") if promise.shape.tables == 2 else ("release",)


def group_name(columns: Sequence[str]) -> str:
    """Return the name of the column of group numbers, which no other column has."""
    name = "group"
    while name in columns:
        name += " number"
    return name


def parts(promise: Promise) -> dict[str, Block]:
    """Return the columns of each published table."""
    names = table_names(promise)
    return dict(
        zip(names, _by_role(promise) if len(names) == 2 else [promise.published], strict=True)
    )


def blocks(promise: Promise) -> tuple[Block, ...]:
    """Return the sets of columns that the recipe itself says stay linked row by row."""
    if not promise.permuted:
        return (promise.published,)
    if promise.shape.linked == "roles":
        return tuple(block for block in _by_role(promise) if block)
    linked = _linked_sets(promise)
    inside = [name for block in linked for name in block]
    return (*linked, *((name,) for name in promise.published if name not in inside))


def sets_are_formed(promise: Promise) -> bool:
    """Say whether the run formed the column sets, so that the recipe does not tell them."""
    return promise.shape.linked == "sets" and not promise.shape.sets


def _by_role(promise: Promise) -> tuple[Block, Block]:
    """Return the columns beside the quasi-identifiers, and those beside the sensitive columns."""
    with_sensitive = promise.shape.insensitive_with == "sensitive"
    second = [
        name
        for name in promise.published
        if name not in promise.quasi and (name in promise.sensitive or with_sensitive)
    ]
    return tuple(n for n in promise.published if n not in second), tuple(second)


def _linked_sets(promise: Promise) -> tuple[Block, ...]:
    """Return the sets of columns that are told, else the sensitive columns."""
    if promise.shape.linked != "sets":
        return ()
    if sets_are_formed(promise):
        sensitive = (n for n in promise.published if n in promise.sensitive)
        apart = tuple(n for n in sensitive if n not in promise.quasi)
        return (apart,) if apart else ()
    return tuple(tuple(n for n in s if n in promise.published) for s in promise.shape.sets)
