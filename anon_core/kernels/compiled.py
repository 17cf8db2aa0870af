"""The one place that compiles: a typed door to numba, so that a kernel is declared in one word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel: cached on disk, and without holding the interpreter's lock."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
