"""The drafts of a hierarchy one after the other, so that every edit can be undone and redone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BadHierarchy
from .draft import Draft, draft_of_dict

#: Edits that can be undone; older ones are forgotten.
STEPS = 100


@dataclass(frozen=True, kw_only=True)
class History:
    """A draft with what was before it and what was undone.

    Attributes
    ----------
    present : Draft
    past : tuple of Draft
        The oldest first; at most `STEPS`.
    future : tuple of Draft
        What was undone, the next one to be redone first.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.hierarchy import InsertLevel, apply, draft_of_values
    >>> from anon_core.table import encode
    >>> sex = draft_of_values(encode("sex", np.array([0, 1], dtype=np.int32), ["M", "F"]))
    >>> history = History(present=sex).then(apply(sex, InsertLevel()))
    >>> history.undone().present == sex
    True
    >>> history.undone().redone() == history
    True
    """

    present: Draft
    past: tuple[Draft, ...] = ()
    future: tuple[Draft, ...] = ()

    def then(self, draft: Draft) -> History:
        """Return the history after an edit; what was undone is forgotten."""
        if draft == self.present:
            return self
        return History(present=draft, past=(*self.past, self.present)[-STEPS:])

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
        """Return the history as plain values that JSON can write."""
        return {
            "present": self.present.as_dict(),
            "past": [draft.as_dict() for draft in self.past],
            "future": [draft.as_dict() for draft in self.future],
        }


def history_of_dict(plain: Mapping[str, Any]) -> History:
    """Read what `History.as_dict` wrote.

    Raises
    ------
    BadHierarchy
        If it is no history of drafts.
    """
    try:
        present, past, future = plain["present"], plain["past"], plain["future"]
    except KeyError as error:
        raise BadHierarchy(
            "This is no history of a hierarchy.", remedy="Start again from the values."
        ) from error
    return History(
        present=draft_of_dict(present),
        past=tuple(draft_of_dict(one) for one in past),
        future=tuple(draft_of_dict(one) for one in future),
    )
