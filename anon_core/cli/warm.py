"""`warm`: compile the fast routines once, so that no run has to wait for them."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

from anon_core.cli.output import OK


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the option, and say what carries out the command."""
    parser.add_argument(
        "--give-way",
        action="store_true",
        help="let other processes go first, and end when the standard input ends",
    )
    parser.set_defaults(command=warm)


def warm(options: argparse.Namespace) -> int:
    """Compile, and tell each step as it is done; return the exit status.

    A line of the standard input names a technique that someone waits for: it is next.
    """
    from anon_core.pipeline.compilation import tell_ahead

    asked: deque[str] = deque()

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()  # the dashboard waits for the line

    def listen() -> None:
        with suppress(OSError, ValueError):  # there may be no input, or it was closed
            asked.extend(line.strip() for line in sys.stdin)
        if options.give_way:  # the server that waits for it has ended
            os._exit(OK)

    if options.give_way:
        _give_way()
    if not sys.stdin.isatty():
        threading.Thread(target=listen, daemon=True).start()
    tell_ahead(write, lambda: asked.popleft() if asked else "")
    return OK


def _give_way() -> None:
    """Let pages, and the browser in front of them, have the processor first."""
    with suppress(AttributeError, OSError):  # not where a system has no such priorities
        os.nice(19)
        # Linux weighs sessions first, then the processes in each.
        if os.getsid(0) == os.getpid():
            Path("/proc/self/autogroup").write_text("19", encoding="ascii")
