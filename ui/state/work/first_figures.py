"""First figures of a run: drawn while the rest is measured and its models are recomputed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from streamlit import runtime

from anon_core.pipeline.result import Result

#: Seconds that a run waits for its first figures to be drawn; after a change of page no one does.
_DRAWN_WITHIN = 1.5
#: Seconds until what is drawn has been sent: message by message, each of which would wait for its
#: turn once the second computation has begun.
_SENT_AFTER = 0.12
#: Seconds between two looks at whether the run was cancelled meanwhile.
_LOOK_EVERY = 0.02


@dataclass(kw_only=True, eq=False)
class FirstFigures:
    """What a run shows before its second computation, handed from its thread to the page's.

    Drawing and recomputing need the same processor, and the drawing goes first.

    Attributes
    ----------
    cancel : threading.Event
        The run's own.
    result : Result or None
        Pending; None until there are figures.
    """

    cancel: threading.Event = field(default_factory=threading.Event)
    result: Result | None = None
    _drawn: threading.Event = field(default_factory=threading.Event)

    def tell(self, result: Result) -> None:
        """Hand over the first figures, and wait until they are drawn; called by the run."""
        self.result = result
        until = time.monotonic() + _DRAWN_WITHIN
        while not (self.cancel.is_set() or time.monotonic() > until):
            if self._drawn.wait(_LOOK_EVERY):
                if runtime.exists():
                    self.cancel.wait(_SENT_AFTER)
                return

    def drawn(self) -> None:
        """Say that they are drawn."""
        self._drawn.set()
