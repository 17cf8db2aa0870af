"""The one place that compiles: a typed door to numba, so that a loop is declared in one word.

A loop that is not kept on the disk yet can run as the Python it is written in, while another
process compiles it: see `interpreting`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching
from numba.core.runtime.nrt import rtsys

from anon_core.base.file_lock import alone

# How compiled kernels are kept on disk, so that several processes can start at once.
#
# Numba reads the index of what is kept, adds a name and writes it again; of two first starts one
# would forget the other's entry, or both would give one name to different machine code. Here a
# lock goes around that, and what an index names is written before it.


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


Loop = TypeVar("Loop", bound=Callable[..., Any])

#: Cells of all arrays of a call up to which Python is quicker than waiting for machine code.
MOST_CELLS = 400_000
#: Seconds between two looks at the disk for one loop.
_LOOK_EVERY = 1.0
#: Seconds that a loop is interpreted in all; then machine code is worth waiting for.
_LONGEST = 2.0


class _Interpreting:
    """How many want loops interpreted that are not kept yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0


_INTERPRETING = _Interpreting()


def compiled(
    function: Loop,
    *,
    stand_in: Callable[..., Any] | None = None,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Loop:
    """Compile a loop: kept on disk, and without holding the interpreter's lock.

    It is kept next to the source, or where that is read-only in the user's folder for such files;
    ``NUMBA_CACHE_DIR`` names another place. Where none of them can be written, every process
    compiles it.

    Parameters
    ----------
    stand_in : callable, optional
        What runs while the loop is interpreted, to the same bits; the loop itself otherwise.
    around : callable, optional
        A context that compiling or loading the loop is put into.
    """
    try:
        loop: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba's word for: there is no place to keep it
        loop = numba.njit(nogil=True)(function)
    else:
        keep_in_order(loop)
    if hasattr(loop, "_compile_for_args"):  # not where compiling is switched off
        loop._compile_for_args = _door(loop, stand_in or function, around)
    return cast(Loop, loop)


@contextmanager
def interpreting() -> Generator[None]:
    """Run loops as Python for as long as the block lasts, where the disk does not keep them.

    What another process compiles meanwhile is taken within a second. A loop is compiled here where
    interpreting it would take longer: at a call with more than `MOST_CELLS` cells, or once it was
    interpreted for two seconds.
    """
    with _INTERPRETING.lock:
        _INTERPRETING.wanted += 1
    try:
        yield
    finally:
        with _INTERPRETING.lock:
            _INTERPRETING.wanted -= 1


def _door(
    loop: Any, instead: Callable[..., Any], around: Callable[[], AbstractContextManager[None]]
) -> Callable[..., Any]:
    """Return what numba asks for what to call, where it does not know the types of a call yet."""
    genuine = loop._compile_for_args
    look_at = spent = 0.0

    def prepared(*args: Any, **named: Any) -> Any:
        with around():
            return genuine(*args, **named)

    def interpreted(*args: Any) -> Any:
        nonlocal spent
        began = time.monotonic()
        with np.errstate(over="ignore"):  # hashes wrap round on purpose, as machine code does
            found = instead(*args)
        spent += time.monotonic() - began
        return found

    def door(*args: Any, **named: Any) -> Any:
        nonlocal look_at
        if not _INTERPRETING.wanted or spent > _LONGEST or _cells(args) > MOST_CELLS:
            return prepared(*args, **named)
        if time.monotonic() >= look_at:
            if is_kept(loop, args):
                return prepared(*args, **named)
            look_at = time.monotonic() + _LOOK_EVERY
        return interpreted

    return door


def _cells(args: tuple[Any, ...]) -> int:
    cells = 0
    for one in args:
        if isinstance(one, np.ndarray):
            cells += one.size
    return cells


def kept_in() -> Path | None:
    """Return the folder in which the loops of this folder are kept; None where they cannot be."""
    stats = getattr(compiled(_nothing), "stats", None)  # none where compiling is switched off
    place = None if stats is None else stats.cache_path
    return None if place is None else Path(place)


def _nothing() -> int:
    return 0
