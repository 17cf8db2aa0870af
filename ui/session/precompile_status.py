"""Compiling ahead: started once per process by the first page, and looked at by who waits for it.

It is done by a process of its own, which keeps what it compiles on the disk. Compiled in a thread
of the dashboard, pages were drawn at a third of their usual speed meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.shipped import shipped

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
    """

    compiling: bool = False
    ready: set[str] = field(default_factory=set[str])
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def under_way(self) -> bool:
        """Whether something is being compiled now."""
        return self.compiling and not self.over.is_set()

    def is_ready(self, needs: Collection[str]) -> bool:
        """Return whether runs of these algorithms need not wait."""
        return self.over.is_set() or self.ready.issuperset(needs)

    def carry_out(self) -> None:
        """Compile ahead, in a thread that waits for the process; whatever happens, it ends."""
        command = [sys.executable, "-m", "anon_core", "warm"]
        try:
            with subprocess.Popen(
                command,
                cwd=shipped(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as process:
                kept = self.follow(process.stdout or ())
            if not kept:
                self._here()
        except (OSError, AnonError):
            # Nothing is lost: whoever needs a routine compiles it then.
            self.compiling = False
        finally:
            self.over.set()

    def follow(self, lines: Iterable[str]) -> bool:
        """Take down what the process tells; say whether it can keep what it compiles."""
        from anon_core.job.precompile import COMPILING, READY, UNKEPT

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
        from anon_core.job.precompile import warm

        self.compiling = True
        warm(self.ready.add)


@st.cache_resource(show_spinner=False)
def begin() -> Warming:
    """Return the process's compiling ahead, started when it is first asked for.

    At its end the usual techniques are loaded into this process, so that the first run need not.
    """
    found = Warming()

    def work() -> None:
        from anon_core.job.precompile import load

        found.carry_out()
        load()

    threading.Thread(target=work, daemon=True, name="warming").start()
    return found


def line() -> None:
    """Draw a quiet line while something is compiled, and nothing before and afterwards."""
    found = begin()
    if found.over.is_set():
        return

    @st.fragment(run_every=LOOK_EVERY)
    def drawn() -> None:
        if found.under_way:
            st.caption("Preparing the fast routines (first start only) …")

    drawn()
