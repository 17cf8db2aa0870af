"""Compiling ahead: started once per process by the first page, and looked at by who waits for it.

It is done by a process of its own, which keeps what it compiles on the disk. Compiled in a thread
of the dashboard, pages were drawn at a third of their usual speed meanwhile. Until it has ended,
small tables are worked on by interpreted loops, which gives the same bytes in a few seconds.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.installation import shipped
from anon_core.data.table import Dataset

#: Rows up to which loops are interpreted, not waited for. A run of 5,000 rows takes 1 to 5 s of
#: processor time then with most techniques, 30 with the slowest, and compiling takes 13 to 17.
MOST_ROWS = 10_000
#: Seconds between two looks at the process that compiles.
LOOK_EVERY = 1.0


@dataclass(kw_only=True, eq=False)
class Warming:
    """How far compiling ahead is.

    Attributes
    ----------
    compiling : bool
        Whether something has to be compiled, as after installation.
    ready : set of str
        Algorithms whose runs compile nothing any more.
    over : threading.Event
        Set once nothing is compiled ahead any more, whether it succeeded or not.
    process : subprocess.Popen or None
        What compiles, while it does.
    """

    compiling: bool = False
    ready: set[str] = field(default_factory=set[str])
    over: threading.Event = field(default_factory=threading.Event)
    process: subprocess.Popen[str] | None = None

    @property
    def under_way(self) -> bool:
        """Whether something is being compiled now."""
        return self.compiling and not self.over.is_set()

    def is_ready(self, needs: Collection[str]) -> bool:
        """Return whether runs of these algorithms need not wait."""
        return self.over.is_set() or self.ready.issuperset(needs)

    def ask_for(self, needs: Collection[str]) -> None:
        """Let what these algorithms need be compiled next: a run waits for it."""
        process = self.process
        if process is None or process.stdin is None:
            return
        with suppress(OSError, ValueError):  # it may have ended just now
            for name in set(needs) - self.ready:
                process.stdin.write(f"{name}\n")
            process.stdin.flush()

    def carry_out(self) -> None:
        """Compile ahead, in a thread that waits for the process; whatever happens, it ends."""
        from anon_core.pipeline.compilation import interpreting

        command = [sys.executable, "-m", "anon_core", "warm", "--give-way"]
        try:
            with (
                interpreting(),
                subprocess.Popen(
                    command,
                    cwd=shipped(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,  # it gives way to other sessions
                ) as process,
            ):
                self.process = process
                kept = self.follow(process.stdout or ())
            if not kept:
                self._here()
        except (OSError, AnonError):
            # Nothing is lost: anyone who needs a routine compiles it then.
            self.compiling = False
        finally:
            self.process = None
            self.over.set()

    def follow(self, lines: Iterable[str]) -> bool:
        """Take down what the process prints; say whether it can keep what it compiles."""
        from anon_core.pipeline.compilation import COMPILING, READY, UNKEPT

        kept = True
        for line in map(str.strip, lines):
            if line == UNKEPT:
                kept = False
            elif line == COMPILING:
                self.compiling = True
            elif line.startswith(READY):
                self.ready.add(line.removeprefix(READY))
        return kept

    def _here(self) -> None:
        """Compile in this process, since no other can hand over what it compiled."""
        from anon_core.pipeline.compilation import warm

        self.compiling = True
        warm(self.ready.add)


@st.cache_resource(show_spinner=False)
def begin() -> Warming:
    """Return the process's compiling ahead, started when it is first asked for.

    At its end the usual techniques are loaded into this process, so that the first run need not.
    """
    found = Warming()

    def work() -> None:
        from anon_core.pipeline.compilation import load

        found.carry_out()
        load()

    threading.Thread(target=work, daemon=True, name="warming").start()
    threading.Thread(target=_import_ahead, daemon=True, name="importing").start()
    return found


def _import_ahead() -> None:
    """Import what the pages after Start need, while the browser draws Start."""
    for name in ("pandas", "altair", "pandas.io.formats.style"):
        importlib.import_module(name)


def waits(table: Dataset | None) -> bool:
    """Say whether runs of this table wait for compiling; a small one is interpreted meanwhile."""
    return table is not None and table.rows > MOST_ROWS


def has_to_wait(table: Dataset | None) -> bool:
    """Say whether a run of this table has to wait now."""
    return waits(table) and begin().under_way


def line(table: Dataset | None) -> None:
    """Draw a quiet line while runs of the table that is open wait for compiling, else nothing."""
    found = begin()  # by the first page, so that it is over before anyone needs it
    if found.over.is_set() or not waits(table):
        return

    @st.fragment(run_every=LOOK_EVERY)
    def drawn() -> None:
        if found.under_way:
            st.caption("Preparing the fast routines (first start only) …")

    drawn()
