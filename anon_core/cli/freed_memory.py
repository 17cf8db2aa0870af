"""Memory that a program has freed and takes again, without the system in between.

A run makes and drops arrays of megabytes by the thousand. By default each is asked of the system,
which hands it out page by page, all zero, and every thread keeps a store of its own: a quarter of
the processor time of a million rows goes there. One store for all threads, and freed memory that
is kept for a moment, take a third off that and a seventh off the memory at its largest.
"""

from __future__ import annotations

import os
from contextlib import suppress

#: Of Arrow's allocator: milliseconds until the system has freed memory back, and whether pages may
#: be large. Whoever has set them means it.
_ARROW = {"MIMALLOC_PURGE_DELAY": "100", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"}
#: Of glibc's, by the numbers of its `mallopt`: bytes from which an array is asked of the system
#: alone, bytes at the store's end that are kept, and stores.
_GLIBC = {-3: 1 << 25, -1: 1 << 27, -8: 1}


def keep_freed_memory() -> None:
    """Set it for as long as the program lasts; before Arrow is loaded and a thread begins."""
    for name, value in _ARROW.items():
        os.environ.setdefault(name, value)
    if any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return
    with suppress(ImportError, OSError, AttributeError, TypeError):  # another system, or library
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        for what, value in _GLIBC.items():
            mallopt(what, value)
