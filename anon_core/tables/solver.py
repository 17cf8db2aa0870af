"""Programs that a person can stop: what is not solved at once goes on in a process of its own.

HiGHS cannot be interrupted from Python, and a thread cannot be ended. A process can.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from scipy import optimize

from anon_core.base.context import Context
from anon_core.base.errors import NotFound

#: Seconds that a program is solved in this process; so long, at most, it runs on after a stop.
AT_ONCE = 1.0
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
    begun = time.monotonic()
    options = dict(given.pop("options", {}))
    first = AT_ONCE if seconds is None else min(AT_ONCE, seconds)

    def at_once() -> Any:
        own = {**options, "time_limit": first}
        return getattr(optimize, name)(**given, options=own)

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
