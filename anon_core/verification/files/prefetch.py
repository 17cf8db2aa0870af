"""Parts of a file worked on beside each other, in the threads that array operations leave free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

#: Parts that are worked on at once; each takes several times its own size.
AT_ONCE = 2
Part = TypeVar("Part")
Found = TypeVar("Found")


def ahead(work: Callable[[Part], Found], parts: Iterable[Part]) -> Iterator[Found]:
    """Yield what `work` makes of parts, in their order; a few parts are there at any time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting: deque[Future[Found]] = deque()
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > AT_ONCE:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
