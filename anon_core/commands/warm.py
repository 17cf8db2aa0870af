"""`warm`: compile the fast routines once, so that no run has to wait for them."""

from __future__ import annotations

import argparse
import sys

from .output import OK


def warm(_options: argparse.Namespace) -> int:
    """Compile, and tell each step as it is done; return the exit status."""
    from ..job.precompile import tell_ahead

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()  # whoever started this waits for the line

    tell_ahead(write)
    return OK
