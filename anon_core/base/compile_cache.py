"""How compiled kernels are kept on disk, so that several processes can start at once.

Numba reads the index of what is kept, adds a name and writes it again; of two first starts one
would forget the other's entry, or both would give one name to different machine code. Here a lock
goes around that, and what an index names is written before it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, cast

from numba.core import caching

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
    """Let a kernel that numba keeps on disk be kept under a lock."""
    cache: Any = getattr(kernel, "_cache", None)  # none where compiling is switched off
    file: Any = getattr(cache, "_cache_file", None)
    if file is not None:
        cache._cache_file = KeptFile(
            cache_path=file._cache_path,
            filename_base=cache._impl.filename_base,
            source_stamp=file._source_stamp,
        )


def is_kept(kernel: Any, args: tuple[Any, ...]) -> bool:
    """Say whether the machine code for a call of a kernel is on the disk; nothing is loaded."""
    cache = kernel._cache
    if not hasattr(cache, "_cache_file"):  # there is no place to keep it
        return False
    kernel.targetctx.refresh()
    kinds = tuple(kernel.typeof_pyval(one) for one in args)
    key = cache._index_key(kinds, kernel.targetctx.codegen())
    return key in cache._cache_file._load_index()


@contextmanager
def _by_itself(folder: str) -> Generator[None, None, None]:
    with ExitStack() as held:
        with suppress(OSError):  # a folder that can't be written needs no lock
            held.enter_context(alone(Path(folder) / "kernels.lock", wait=True))
        yield
