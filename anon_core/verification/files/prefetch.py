"""Work done beside other work, in the threads that array operations leave free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, ParamSpec, TypeVar

#: Parts that are worked on at once; each takes several times its own size.
AT_ONCE = 2
Part = TypeVar("Part")
Found = TypeVar("Found")
Given = ParamSpec("Given")
#: Rows of a table from which a thread saves more than it costs to start.
WORTH_THREADS = 1 << 12


class _Here(Executor):
    """Work done where it is handed in, before anybody asks for it."""

    def submit(
        self, fn: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        """Do it now, and keep what it found or raised."""
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - raised where it is asked for
            done.set_exception(error)
        return done


def pool_for(rows: int, threads: int) -> Executor:
    """Return what does work beside other work where a table has many rows, and at once if few."""
    return ThreadPoolExecutor(threads) if rows >= WORTH_THREADS else _Here()


def ahead(work: Callable[[Part], Found], parts: Iterable[Part]) -> Iterator[Found]:
    """Yield what `work` makes of parts, in their order; a few parts are there at any time."""
    coming = iter(parts)
    first = list(islice(coming, 2))
    if len(first) < 2:  # there is nothing to be done beside it
        yield from map(work, first)
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting: deque[Future[Found]] = deque()
        for part in chain(first, coming):
            waiting.append(pool.submit(work, part))
            if len(waiting) > AT_ONCE:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
