"""A program that loads no part of its libraries that a run and its verification never use.

numba asks for scipy's linear algebra, cffi and coverage when it is loaded or first used, Arrow for
pandas, and all of them do without; scipy copies the names of all that numpy has, its reader of
Fortran included. Together they take half a second and 60 MB, which a run of a second is mostly made
of. What is loaded stays, so that Python need not look for rubbish among it after every few hundred
objects.
"""

from __future__ import annotations

import gc
import sys
import threading
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any, NoReturn

#: What no kernel and no conversion of a run uses; each can still be imported by its name.
_UNUSED = frozenset(["scipy.linalg", "cffi", "coverage", "pandas"])
#: A part of numpy that is named, and used by nobody.
_NAMED = "f2py"

#: New objects after which Python looks for rubbish that refers to itself.
_OBJECTS = 100_000


def load_without_unused_parts() -> None:
    """Load numba and Arrow as though what is never used were not installed.

    Arrow then turns nothing into data frames for as long as the program lasts. Where other threads
    run, nothing is done, and what somebody has loaded before stays.
    """
    if threading.active_count() > 1:
        return
    collect_seldom()
    blind = _Blind()
    sys.meta_path.insert(0, blind)
    try:
        for part in ("numba.core.typing.cffi_utils", "numba.np.arraymath"):
            import_module(part)
        import pyarrow as pa

        pa.array([0])  # asks, once
    finally:
        sys.meta_path.remove(blind)
    import numpy as np

    if (whole := f"{np.__name__}.{_NAMED}") not in sys.modules:
        sys.modules[whole] = late = _Late(whole)
        setattr(np, _NAMED, late)


def collect_seldom() -> None:
    """Look for rubbish less often than Python does by itself: most of what is there stays."""
    gc.set_threshold(_OBJECTS, 50, 100)


class _Late(ModuleType):
    """A module that is loaded when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _Blind(MetaPathFinder):
    """A finder before all others, to which some modules are not there."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Let the other finders look, but for what is not to be found."""
        if fullname in _UNUSED:
            self._refuse(fullname)

    def _refuse(self, name: str) -> NoReturn:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
