"""Work in threads: one task alongside a block, or parts of a whole in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from anon_core.base.context import Context


class _Either(threading.Event):
    """Set where itself is, or another."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


@contextmanager
def run_alongside(
    work: Callable[[Context], None], context: Context, *, threads: bool = True
) -> Generator[None]:
    """Do `work` while the block is carried out; both have ended at its end.

    Parameters
    ----------
    work : callable
        Given `context`, which is cancelled where the block raises.
    threads : bool
        Whether that is worth a thread; else `work` is done after the block.

    Raises
    ------
    Exception
        What the block raised, else what `work` raised.
    """
    if not threads:
        yield
        work(context)
        return
    stopped = _Either(context.cancel)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work, replace(context, cancel=stopped))
        try:
            yield
            done.result()
        except BaseException:
            stopped.set()
            raise


Part = TypeVar("Part")
Found = TypeVar("Found")


def ordered_map(
    work: Callable[[Part], Found], parts: Iterable[Part], threads: int
) -> Iterator[Found]:
    """Yield what `work` makes of parts, in their order.

    Parameters
    ----------
    work : callable
        Worth a thread where it lets others run meanwhile, as array operations do.
    parts : iterable
        Taken as they are worked on, so that only a few of what is made of them are held.
    """
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for part in parts:
                waiting.append(pool.submit(work, part))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:  # the caller takes no more
                one.cancel()
