"""The one place that compiles: a typed door to numba, so that a loop is declared in one word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from .compile_cache import keep_in_order

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(function: Loop) -> Loop:
    """Compile a loop: kept on disk, and without holding the interpreter's lock.

    It is kept beside the source, or where that is read-only in the user's folder for such files;
    ``NUMBA_CACHE_DIR`` names another place. Where none of them can be written, it is compiled
    anew in every process.
    """
    try:
        loop: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba's word for: there is no place to keep it
        loop = numba.njit(nogil=True)(function)
    else:
        keep_in_order(loop)
    return cast(Loop, loop)


def kept_in() -> Path | None:
    """Return the folder in which the loops of this folder are kept; None where they cannot be."""
    stats = getattr(compiled(_nothing), "stats", None)  # none where compiling is switched off
    place = None if stats is None else stats.cache_path
    return None if place is None else Path(place)


def _nothing() -> int:
    return 0
