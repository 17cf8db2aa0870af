"""`counts`: publish counts with noise instead of rows."""

from __future__ import annotations

import argparse
import sys

from anon_core.cli.output import OK, write_json
from anon_core.counts import command


def counts(options: argparse.Namespace) -> int:
    """Publish counts and tell of them; return the exit status."""
    found, lines = command.carry_out(options)
    if options.json:
        from anon_core.base.version import VERSION

        write_json({"schema": 1, "version": VERSION, "status": "released", **found.as_json()})
        return OK
    for line in lines:
        sys.stdout.write(line + "\n")
    return OK
