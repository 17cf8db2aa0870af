"""Bytes of one array written into another, as compiled loops ask for it.

A loop over bytes stays one, since for all the compiler knows both arrays lie in one place. The
system's own copy is three times as fast for texts of a few letters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from anon_core.base.arrays import U8

_numba: Any = cast(Any, types)
_overload = cast(Callable[[object], Callable[[object], object]], overload)
_intrinsic = cast(Callable[[Any], Any], intrinsic)


def copy_bytes(into: U8, at: Any, source: U8, begin: Any, size: Any) -> None:
    """Write `size` bytes of `source` from `begin` on into another array from `at` on.

    Compiled, it looks at no end of either.
    """
    into[at : at + size] = source[begin : begin + size]


@_intrinsic
def _copied(_: object, into: Any, _at: object, source: Any, _begin: object, _size: object) -> Any:
    place = _numba.intp
    taken = _numba.void(into, place, source, place, place)

    def code(context: Any, builder: Any, signature: Any, given: Sequence[Any]) -> Any:
        def address(array: int) -> Any:
            made = context.make_array(signature.args[array])(context, builder, given[array])
            return builder.gep(made.data, [given[array + 1]])

        cast(Any, cgutils).raw_memcpy(builder, address(0), address(2), given[4], 1)
        return context.get_dummy_value()

    return taken, code


@_overload(copy_bytes)
def _compiled(into: Any, at: Any, source: Any, begin: Any, size: Any) -> Any:
    def copy(into: Any, at: Any, source: Any, begin: Any, size: Any) -> Any:
        _copied(into, at, source, begin, size)

    return copy
