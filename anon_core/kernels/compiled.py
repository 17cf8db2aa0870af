"""The door by which kernels are compiled: no time box of a search counts what that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..base import compiling
from ..base.context import clock_stopped

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel as `compiling.compiled` does."""
    kernel: Any = compiling.compiled(function)
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
