"""Machine code of loops: compiled by numba and kept on disk, several processes at a time.

Numba reads the index of what is kept, adds a name and writes it again. Of two first starts, one
would forget the entry of the other, or both would give one name to different machine code. Here a
lock is around that, and what an index names is written before it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import caching
from numba.core.runtime.nrt import rtsys

from anon_core.base.file_lock import alone


class KeptFile(cast(type[Any], caching.IndexDataCacheFile)):
    """The index of one kernel's signatures and the files it names, one process at a time."""

    def save(self, key: object, data: object) -> None:
        """Keep the machine code of a signature; a process that is killed here leaves no lie."""
        with _by_itself(self._cache_path):
            names: dict[object, str] = self._load_index()
            taken = set(names.values())
            name = names.get(key) or next(
                n for n in map(self._data_name, count(1)) if n not in taken
            )
            self._save_data(name, data)
            if key not in names:
                self._save_index({**names, key: name})

    def _load_index(self) -> dict[object, str]:
        """Return what is kept; nothing where an older version kept types that are gone by now."""
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}

    def load(self, key: object) -> object:
        """Return the machine code of a signature, None where it is not kept."""
        with _by_itself(self._cache_path):
            return super().load(key)


def keep_in_order(kernel: object) -> None:
    """Lock the folder while numba keeps a kernel in it."""
    cache: Any = getattr(kernel, "_cache", None)  # none where compiling is switched off
    file: Any = getattr(cache, "_cache_file", None)
    if file is not None:
        cache.load_overload = partial(_load, cache)
        cache._cache_file = KeptFile(
            cache_path=file._cache_path,
            filename_base=cache._impl.filename_base,
            source_stamp=file._source_stamp,
        )


def _load(cache: Any, sig: object, context: Any) -> object:
    """Load the machine code of a signature; only where it is not kept, all that compiling needs.

    Numba imports that before, which takes longer than all else in a small run.
    """
    rtsys.initialize(context)  # what arrays that kernels make are counted by
    with cache._guard_against_spurious_io_errors():
        found = cache._load_overload(sig, context)
        if found is not None:
            return found
    context.refresh()
    return None


def is_kept(kernel: Any, args: tuple[Any, ...]) -> bool:
    """Say whether the machine code for a call of a kernel is on the disk; nothing is loaded."""
    cache = kernel._cache
    if not hasattr(cache, "_cache_file"):  # there is no place to keep it
        return False
    kinds = tuple(kernel.typeof_pyval(one) for one in args)
    key = cache._index_key(kinds, kernel.targetctx.codegen())
    return key in cache._cache_file._load_index()


@contextmanager
def _by_itself(folder: str) -> Generator[None, None, None]:
    with ExitStack() as held:
        with suppress(OSError):  # a folder that can't be written needs no lock
            held.enter_context(alone(Path(folder) / "kernels.lock", wait=True))
        yield


def of_function(function: Callable[..., Any]) -> Any:
    """Return what numba makes of a function; where nothing can be kept, every process compiles it.

    Where compiling is switched off, this is the function itself.
    """
    try:
        loop: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba's word for: there is no place to keep it
        return numba.njit(nogil=True)(function)
    keep_in_order(loop)
    return loop
