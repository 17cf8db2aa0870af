"""The secret key of pseudonyms and shifted dates: from a file, the environment, or typed."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.errors import BadInput, clipped

if TYPE_CHECKING:
    from anon_core.recipe.plan import Plan

VARIABLE = "ANONYMITY_KEY"
#: More than 64 digits and the blanks around them have no place in its file.
_MOST_BYTES = 1 << 12


def declare_key(parser: argparse.ArgumentParser) -> None:
    """Declare the option of a command that may be asked for a key."""
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="file with the secret key of pseudonyms and shifted dates, 64 hexadecimal digits; "
        f"default: {VARIABLE}, or a prompt; the key is never stored",
    )


def with_key(plan: Plan, options: argparse.Namespace) -> Plan:
    """Return the plan with the key that its changes ask for; unchanged where none does.

    Raises
    ------
    BadInput
        If the file cannot be read.
    BadPlan
        If what it holds is no key.
    """
    from anon_core.methods.changes.keyed import parse_key

    if not any(one.change.effect.needs_key for one in plan.changes):
        return plan
    secret = _secret_text(getattr(options, "key_file", None))
    return replace(plan, key=parse_key(secret)) if secret else plan


def _secret_text(place: Path | None) -> str:
    from anon_core.base.bounded_reading import read_regular

    if place is not None:
        try:
            return read_regular(place, _MOST_BYTES).decode("utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(
                f"The key file {clipped(str(place))} cannot be read.",
                remedy="Give a text file with 64 hexadecimal digits.",
            ) from error
    if value := os.environ.get(VARIABLE, ""):
        return value
    if sys.stdin.isatty() and sys.stderr.isatty():
        return getpass.getpass("Secret key (64 hexadecimal digits, not shown): ", sys.stderr)
    return ""
