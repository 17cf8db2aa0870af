"""Work done in a thread of its own beside other work, and stopped where that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from anon_core.base.context import Context


class _Either(threading.Event):
    """Set where itself is, or another."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


@contextmanager
def beside(work: Callable[[Context], None], context: Context) -> Generator[None]:
    """Do `work` while the block is carried out; both have ended at its end.

    Parameters
    ----------
    work : callable
        Given `context`, which is cancelled where the block raises.
    context : Context

    Raises
    ------
    Exception
        What the block raised, else what `work` raised.
    """
    stopped = _Either(context.cancel)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work, replace(context, cancel=stopped))
        try:
            yield
            done.result()
        except BaseException:
            stopped.set()
            raise
