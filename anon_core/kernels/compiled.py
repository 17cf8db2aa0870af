"""The one place that compiles: a typed door to numba, so that a kernel is declared in one word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from ..base.context import clock_stopped
from .compile_cache import keep_in_order

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel: kept on disk, and without holding the interpreter's lock.

    It is kept beside the source, or where that is read-only in the user's folder for such files;
    ``NUMBA_CACHE_DIR`` names another place. Where none of them can be written, it is compiled
    anew in every process.
    """
    try:
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba's word for: there is no place to keep it
        kernel = numba.njit(nogil=True)(function)
    else:
        keep_in_order(kernel)
    prepare = getattr(kernel, "_compile_for_args", None)  # none where compiling is switched off
    if prepare is not None:
        kernel._compile_for_args = _untimed(prepare)
    return cast(Kernel, kernel)


def _untimed(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what compiles or loads a kernel out of every time box."""

    def prepared(*args: Any, **named: Any) -> Any:
        with clock_stopped():
            return prepare(*args, **named)

    return prepared


def kept_in() -> Path | None:
    """Return the folder in which compiled kernels are kept; None where they cannot be."""
    stats = getattr(compiled(_nothing), "stats", None)  # none where compiling is switched off
    place = None if stats is None else stats.cache_path
    return None if place is None else Path(place)


def _nothing() -> int:
    return 0
