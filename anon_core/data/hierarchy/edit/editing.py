"""What can be done to a draft, one operation or many, and what can be undone.

Every operation refuses with `BadHierarchy` what would leave no hierarchy; drafts are values, so
that a refusal changes nothing and undoing is taking the one before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields
from typing import Any, cast

from anon_core.base.errors import BadHierarchy, listing
from anon_core.data.hierarchy.edit.draft import Draft, draft_of_dict
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


#: Edits that can be undone, and the letters they may take up; older ones are forgotten.
STEPS = 100
MOST_LETTERS = 32 * 2**20


@dataclass(frozen=True, kw_only=True)
class History:
    """A draft with what was before it and what was undone, each as JSON text.

    Attributes
    ----------
    past : tuple of str
        The oldest first; at most `STEPS`.
    future : tuple of str
        What was undone, the next one to be redone first.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.hierarchy import InsertLevel, apply, draft_of_values
    >>> from anon_core.data.column import encode
    >>> sex = draft_of_values(encode("sex", np.array([0, 1], dtype=np.int32), ["M", "F"]))
    >>> history = History.begin(sex).then(apply(sex, InsertLevel()))
    >>> history.undone().draft == sex
    True
    >>> history.undone().redone() == history
    True
    """

    present: str
    past: tuple[str, ...] = ()
    future: tuple[str, ...] = ()

    @classmethod
    def begin(cls, draft: Draft) -> History:
        """Return a history that begins with a draft."""
        return cls(present=_written(draft))

    @property
    def draft(self) -> Draft:
        """The draft as it is now.

        Raises
        ------
        BadHierarchy
            If the text is no draft.
        """
        return _read(self.present)

    def then(self, draft: Draft) -> History:
        """Return the history after an edit; what was undone is forgotten."""
        written = _written(draft)
        if written == self.present:
            return self
        past = (*self.past, self.present)[-STEPS:]
        while len(past) > 1 and sum(map(len, past)) > MOST_LETTERS:
            past = past[1:]
        return History(present=written, past=past)

    def undone(self) -> History:
        """Return the history one edit back; the same where there is none."""
        if not self.past:
            return self
        future = (self.present, *self.future)
        return History(present=self.past[-1], past=self.past[:-1], future=future)

    def redone(self) -> History:
        """Return the history with the last undone edit made again; the same where there is none."""
        if not self.future:
            return self
        past = (*self.past, self.present)
        return History(present=self.future[0], past=past, future=self.future[1:])

    def as_dict(self) -> dict[str, Any]:
        """Return the history as plain values; `history_of_dict` reads them again."""
        return {"present": self.present, "past": list(self.past), "future": list(self.future)}


def history_of_dict(plain: Mapping[str, Any]) -> History:
    """Read what `History.as_dict` wrote.

    Raises
    ------
    BadHierarchy
        If it is no history, or its present is no draft.
    """
    present = plain.get("present")
    past, future = (tuple(cast(list[object], plain.get(key, ()))) for key in ("past", "future"))
    if not isinstance(present, str) or not all(isinstance(one, str) for one in (*past, *future)):
        raise BadHierarchy(
            "This is not a history of a hierarchy.", remedy="Start again from the values."
        )
    _read(present)
    return History(
        present=present,
        past=cast(tuple[str, ...], past),
        future=cast(tuple[str, ...], future),
    )


#: Drafts by the text they were written as; a few, so that the present one is at hand.
_AT_HAND: dict[str, Draft] = {}
_MOST_AT_HAND = 16


def _written(draft: Draft) -> str:
    text = json.dumps(draft.as_dict(), ensure_ascii=False, separators=(",", ":"))
    _remember(text, draft)
    return text


def _read(text: str) -> Draft:
    draft = _AT_HAND.get(text)
    if draft is None:
        try:
            draft = draft_of_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise BadHierarchy(
                "This is not a draft of a hierarchy.", remedy="Start again from the values."
            ) from error
        _remember(text, draft)
    return draft


def _remember(text: str, draft: Draft) -> None:
    _AT_HAND[text] = draft
    for old in list(_AT_HAND)[:-_MOST_AT_HAND]:
        _AT_HAND.pop(old, None)
