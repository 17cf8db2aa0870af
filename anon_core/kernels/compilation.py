"""The one door to machine code: a loop is declared in one word, and compiled at its first call.

The compiler is imported at that call, which takes longer than a small run needs otherwise. A loop
that has a twin in whole arrays runs as that until then. A loop that the disk does not keep yet can
run as the Python it is written in, while another process compiles it: see `interpreting`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from anon_core.base.context import clock_stopped

Function = TypeVar("Function", bound=Callable[..., Any])

#: Cells of all arrays of a call up to which Python is quicker than waiting for machine code.
MOST_CELLS = 400_000
#: Seconds between two looks at the disk for one loop.
_LOOK_EVERY = 1.0
#: Seconds that a loop is interpreted in all; then machine code is worth waiting for.
_LONGEST = 2.0
#: Processor seconds of loops in whole arrays in all: about what importing the compiler takes, and
#: loading what it has made.
_LONGEST_IN_ARRAYS = 0.4


class _Doing:
    """What this process does without machine code."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.interpreting = 0  # how many want loops interpreted that are not kept yet
        self.in_arrays = 0.0  # processor seconds


_DOING = _Doing()


class Loop:
    """A function that numba compiles, as soon as it is called with enough to do.

    Other loops can call it, and whatever numba knows of a compiled function can be asked of it.
    """

    def __init__(self, function: Callable[..., Any], in_arrays: Callable[..., Any] | None) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._in_arrays = in_arrays
        self._lock = threading.Lock()
        self._machine: Any = None

    def __call__(self, *args: Any) -> Any:
        """Run the loop."""
        if self._machine is None:
            instead = self._in_arrays
            if instead is not None and _is_little(args):
                began = time.thread_time()
                found = _quietly(instead, args)
                _DOING.in_arrays += time.thread_time() - began
                return found
            with clock_stopped():
                machine = self.machine
            return machine(*args)
        return self._machine(*args)

    @property
    def machine(self) -> Any:
        """What numba made of the function."""
        with self._lock:
            if self._machine is None:
                from anon_core.kernels.machine_code import of_function

                made = of_function(self.py_func)
                if hasattr(made, "_compile_for_args"):  # not where compiling is switched off
                    made._compile_for_args = _door(made, self._in_arrays or self.py_func)
                self._machine = made
        return self._machine

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another loop calls it."""
        return self.machine._numba_type_

    def __getattr__(self, name: str) -> Any:
        """Return what numba knows of it."""
        if name.startswith("__"):  # asked by Python of any object: nothing is compiled for that
            raise AttributeError(name)
        return getattr(self.machine, name)


def compiled(function: Function, *, in_arrays: Callable[..., Any] | None = None) -> Function:
    """Compile a loop: kept on disk, and without holding the interpreter's lock.

    It is kept next to the source, or where that is read-only in the user's folder for such files;
    ``NUMBA_CACHE_DIR`` names another place. Where none of them can be written, every process
    compiles it. No time box of a search counts what compiling and loading take.

    Parameters
    ----------
    in_arrays : callable, optional
        Does the same to the same bits, by a few operations on whole arrays. It runs until the
        compiler is imported, and while the loop is interpreted.
    """
    return cast(Function, Loop(function, in_arrays))


def use_machine_code() -> None:
    """Import the compiler now: from here on every loop runs as machine code."""
    from anon_core.kernels import machine_code as machine_code


@contextmanager
def interpreting() -> Generator[None]:
    """Run loops as Python for as long as the block lasts, where the disk does not keep them.

    What another process compiles meanwhile is taken within a second. A loop is compiled here where
    interpreting it would take longer: at a call with more than `MOST_CELLS` cells, or once it was
    interpreted for two seconds.
    """
    with _DOING.lock:
        _DOING.interpreting += 1
    try:
        yield
    finally:
        with _DOING.lock:
            _DOING.interpreting -= 1


def _is_little(args: tuple[Any, ...]) -> bool:
    """Say whether whole arrays do a call sooner than the compiler is imported."""
    return (
        "numba" not in sys.modules
        and _DOING.in_arrays < _LONGEST_IN_ARRAYS
        and _cells(args) <= MOST_CELLS
    )


def _door(loop: Any, instead: Callable[..., Any]) -> Callable[..., Any]:
    """Return what numba asks for what to call, where it does not know the types of a call yet."""
    from anon_core.kernels.machine_code import is_kept

    genuine = loop._compile_for_args
    look_at = spent = 0.0

    def prepared(*args: Any, **named: Any) -> Any:
        with clock_stopped():
            return genuine(*args, **named)

    def interpreted(*args: Any) -> Any:
        nonlocal spent
        began = time.monotonic()
        found = _quietly(instead, args)
        spent += time.monotonic() - began
        return found

    def door(*args: Any, **named: Any) -> Any:
        nonlocal look_at
        if not _DOING.interpreting or spent > _LONGEST or _cells(args) > MOST_CELLS:
            return prepared(*args, **named)
        if time.monotonic() >= look_at:
            if is_kept(loop, args):
                return prepared(*args, **named)
            look_at = time.monotonic() + _LOOK_EVERY
        return interpreted

    return door


def _quietly(instead: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with np.errstate(over="ignore"):  # hashes wrap round on purpose, as machine code does
        return instead(*args)


def _cells(args: tuple[Any, ...]) -> int:
    cells = 0
    for one in args:
        if isinstance(one, np.ndarray):
            cells += one.size
    return cells


def kept_in() -> Path | None:
    """Return the folder in which the loops of this folder are kept; None where they cannot be."""
    stats = getattr(cast(Any, compiled(_nothing)).machine, "stats", None)
    # None where compiling is switched off.
    place = None if stats is None else stats.cache_path
    return None if place is None else Path(place)


def _nothing() -> int:
    return 0
