"""Parts worked on beside each other in threads, and handed on in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Found = TypeVar("Found")


def in_order(work: Callable[[Part], Found], parts: Iterable[Part], threads: int) -> Iterator[Found]:
    """Yield what `work` makes of parts, in their order.

    Parameters
    ----------
    work : callable
        Worth a thread where it lets others run meanwhile, as array operations do.
    parts : iterable
        Taken as they are worked on, so that only a few of what is made of them are held.
    threads : int
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
            for one in waiting:  # nobody wants them any more
                one.cancel()
