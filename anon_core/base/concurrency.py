"""Work in threads: one task alongside a block, parts in their order, programs one can stop."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Literal, TypeVar

from anon_core.base.context import Context, SoFar
from anon_core.base.errors import NotFound


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


# Programs that a person can stop: what is not solved at once goes on in a process of its own.
# HiGHS cannot be interrupted from Python, and a thread cannot be ended. A process can.

#: Seconds that a program is solved in this process; so long, at most, it runs on after a stop.
AT_ONCE = 1.0
#: Variables of a linear program that takes less time than a thread for it would.
_TINY = 500
_OUT_OF_TIME = 1
#: The other process: a program comes in, its solution goes out. It ends with this one.
_CHILD = """
import os, pickle, sys, threading
name, given = pickle.load(sys.stdin.buffer)
threading.Thread(target=lambda: (sys.stdin.buffer.read(1), os._exit(1)), daemon=True).start()
from scipy import optimize
done = pickle.dumps(getattr(optimize, name)(**given))
sys.stdout.buffer.write(done)
sys.stdout.buffer.flush()
os._exit(0)
"""


def solved(
    name: Literal["milp", "linprog"],
    context: Context,
    *,
    seconds: float | None = None,
    **given: Any,
) -> Any:
    """Return what `scipy.optimize` makes of a program; None where the person takes what there is.

    Parameters
    ----------
    seconds : float, optional
        Its time; without it, it has no end.
    given
        The function's arguments.

    Raises
    ------
    Cancelled
        If the person stops it. Within a second nothing computes any more.
    NotFound
        If the solver ends without an answer.
    """
    from scipy import optimize

    begun = time.monotonic()
    options = dict(given.pop("options", {}))
    first = AT_ONCE if seconds is None else min(AT_ONCE, seconds)

    def at_once() -> Any:
        own = {**options, "time_limit": first}
        return getattr(optimize, name)(**given, options=own)

    if name == "linprog" and len(given["c"]) <= _TINY:
        found = at_once()
        context.check()
        if context.enough():
            return None
    else:
        found = _awaited(at_once, context)
    if found is None or found.status != _OUT_OF_TIME:
        return found
    if seconds is not None:
        left = begun + seconds - time.monotonic()
        if left <= 0:
            return found
        options["time_limit"] = max(left, 0.1)
    program = pickle.dumps((name, {**given, "options": options}))
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:

        def elsewhere() -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):  # it ended before all was written: there is no answer
                process.stdin.write(program)
                process.stdin.flush()
            with suppress(EOFError):
                return pickle.load(process.stdout)
            raise NotFound(
                "The solver ended without an answer; nothing is published.",
                remedy="Use the heuristic, or coarser categories.",
            )

        try:
            return _awaited(elsewhere, context)
        finally:
            process.kill()


def only_stopped(context: Context | None) -> Context:
    """Return a context that a stop alone ends: there is nothing so far that could be taken."""
    own = context or Context()
    return replace(own, deadline=None, so_far=SoFar())


def _awaited(work: Callable[[], Any], context: Context) -> Any:
    """Return what work in a thread comes to; None where the person takes what there is."""
    done: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
        context.check()
        if context.enough():
            return None
    if failed:  # as if it had happened here
        raise failed[0]
    return done[0]
