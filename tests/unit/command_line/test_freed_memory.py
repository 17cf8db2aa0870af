"""What the memory of a command is asked of, and who has the say in it."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace

import pytest

from anon_core.cli.freed_memory import keep_freed_memory

NAMES = ("MIMALLOC_PURGE_DELAY", "MIMALLOC_ALLOW_LARGE_OS_PAGES")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return what the C library is asked for, by a process in which nobody has set anything."""
    for name in [n for n in os.environ if n.startswith(("MALLOC_", "GLIBC_TUNABLES", *NAMES))]:
        monkeypatch.delenv(name)
    for name in NAMES:  # so that what is set here goes with the test
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    calls: list[tuple[int, int]] = []
    library = SimpleNamespace(mallopt=lambda what, value: calls.append((what, value)))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    return calls


def test_one_store_keeps_what_was_freed(asked: list[tuple[int, int]]) -> None:
    keep_freed_memory()
    assert dict(asked)[-8] == 1
    assert os.environ["MIMALLOC_PURGE_DELAY"] == "100"


def test_whoever_has_set_it_means_it(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    monkeypatch.setenv("MIMALLOC_PURGE_DELAY", "0")
    keep_freed_memory()
    assert not asked
    assert os.environ["MIMALLOC_PURGE_DELAY"] == "0"


def test_another_library_is_left_alone(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    keep_freed_memory()
    assert not asked
