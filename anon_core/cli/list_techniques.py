"""`list`: every algorithm, privacy model, metric and attack with its parameters."""

from __future__ import annotations

import argparse
import sys
from typing import Any, cast

from anon_core.base.registry import FAMILIES, family
from anon_core.cli.output import OK, write_json


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=list_techniques)


def list_techniques(options: argparse.Namespace) -> int:
    """List all techniques, as text or as JSON; return the exit status."""
    known = {
        which: [
            {
                "name": technique.name,
                "title": technique.title,
                "summary": technique.summary,
                "formula": technique.formula,
                "source": technique.source,
                "parameters": [p.as_json() for p in technique.parameters()],
            }
            for technique in family(which).values()
        ]
        for which in FAMILIES
    }
    if options.json:
        from anon_core.base.installation import VERSION

        found = {f"{which}s": techniques for which, techniques in known.items()}
        write_json({"schema": 1, "version": VERSION, **found})
        return OK
    for which, found in known.items():
        sys.stdout.write(f"{which}s\n")
        for technique in found:
            sys.stdout.write(f"  {technique['name']}: {technique['summary']}\n")
            for p in cast(list[dict[str, Any]], technique["parameters"]):
                sys.stdout.write(f"      {p['name']} (default {p['default']!r}): {p['help']}\n")
    return OK
