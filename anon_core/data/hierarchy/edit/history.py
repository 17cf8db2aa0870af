"""The drafts of a hierarchy one after the other, so that every edit can be undone and redone.

Each draft is kept as the JSON text it was written as, once: a long history stays cheap to carry
along, and a draft that is taken back is exactly what it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.edit.draft import Draft, draft_of_dict

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
            "This is no history of a hierarchy.", remedy="Start again from the values."
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
                "This is no draft of a hierarchy.", remedy="Start again from the values."
            ) from error
        _remember(text, draft)
    return draft


def _remember(text: str, draft: Draft) -> None:
    _AT_HAND[text] = draft
    for old in list(_AT_HAND)[:-_MOST_AT_HAND]:
        _AT_HAND.pop(old, None)
