"""What can be done to a draft: a model and an operation in, a new model out.

Every operation refuses with `BadHierarchy` what would leave no hierarchy; drafts are values, so
that a refusal changes nothing and undoing is taking the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from typing import Any, cast

from anon_core.base.errors import BadHierarchy, listing
from anon_core.data.hierarchy.edit.draft import Draft
from anon_core.data.hierarchy.edit.operations import (
    InsertLevel,
    MakeGroup,
    Move,
    Operation,
    Place,
    RemoveLevel,
    Rename,
    Reorder,
    Ungroup,
)
from anon_core.data.hierarchy.edit.shaping import Shape

_OPERATIONS: Mapping[str, type[Operation]] = {
    one.do: one
    for one in (MakeGroup, Move, Rename, Ungroup, Reorder, InsertLevel, RemoveLevel, Place)
}


def apply(draft: Draft, operation: Operation) -> Draft:
    """Return the draft after an operation; the draft given stays as it is.

    Raises
    ------
    BadHierarchy
        If the operation does not fit the draft, or would leave no hierarchy.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.hierarchy import draft_of_values, to_rows
    >>> from anon_core.data.column import encode
    >>> pets = draft_of_values(encode("pet", np.arange(3, dtype=np.int32), ["Cat", "Dog", "Fly"]))
    >>> draft = apply(pets, MakeGroup(level=0, nodes=(0, 1), label="Mammal"))
    >>> to_rows(draft)
    [('Cat', 'Mammal', '*'), ('Dog', 'Mammal', '*'), ('Fly', 'Fly', '*')]
    >>> apply(draft, Rename(level=1, node=99, label="Pet"))
    Traceback (most recent call last):
    anon_core.base.errors.BadHierarchy: The hierarchy of 'pet' has no such group...
    """
    shape = Shape(draft)
    order_may_change = operation.edit(shape)
    return shape.done(order_may_change=order_may_change)


def operation_of(plain: Mapping[str, Any]) -> Operation:
    """Read an operation from plain values: its name under ``do``, then its fields.

    Raises
    ------
    BadHierarchy
        If it is none, or a field is missing, unknown or of another type.

    Examples
    --------
    >>> operation_of({"do": "rename", "level": 1, "node": 4, "label": "Europe"})
    Rename(level=1, node=4, label='Europe')
    """
    kind = _OPERATIONS.get(str(plain.get("do")))
    if kind is None:
        raise BadHierarchy(
            "There is no such operation.", remedy=f"Use one of {listing(_OPERATIONS)}."
        )
    given = {key: value for key, value in plain.items() if key != "do"}
    known = {field.name: field for field in fields(kind)}
    needed = {name for name, field in known.items() if field.default is NO_DEFAULT}
    if not needed <= given.keys() <= known.keys():
        raise BadHierarchy(
            f"The operation '{kind.do}' has the fields {listing(known)}.",
            remedy=f"Give at least {listing(sorted(needed)) or 'none'}.",
        )
    return kind(**{name: _typed(known[name].type, value, name) for name, value in given.items()})


def _typed(declared: object, value: object, name: str) -> object:
    """Return a field's value as its declared type, or refuse it."""
    if declared == "tuple[int, ...]" and isinstance(value, list | tuple):
        items = tuple(cast(Sequence[object], value))
        if all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            return items
    elif declared == "tuple[str, ...]" and isinstance(value, list | tuple):
        items = tuple(cast(Sequence[object], value))
        if all(isinstance(item, str) for item in items):
            return items
    elif (
        (declared == "int" and isinstance(value, int) and not isinstance(value, bool))
        or (declared == "str" and isinstance(value, str))
        or (declared == "bool" and isinstance(value, bool))
    ):
        return value
    raise BadHierarchy(
        f"The field '{name}' of the operation is not of its type.", remedy="Give it as declared."
    )
