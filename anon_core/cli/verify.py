"""`verify`: recompute every privacy model from a published release."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.cli.key import declare_key, with_key
from anon_core.cli.output import (
    BROKEN,
    LEFT_OVER,
    NOT_FOUND,
    OK,
    note,
    remove_left_over,
    tell,
    write_json,
)

if TYPE_CHECKING:
    from anon_core.data.reading.stored import Stored


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("recipe", type=Path, help="the recipe the release was made with")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=Path, help="the private table")
    what.add_argument(
        "--release-only",
        action="store_true",
        help="check without the private table; what needs it is listed as not checked",
    )
    parser.add_argument(
        "--release",
        type=Path,
        required=True,
        help="folder with the release, or one of its files alone",
    )
    parser.add_argument(
        "--previous",
        type=Path,
        help="an earlier release of the same people: count whose value both reveal together",
    )
    parser.add_argument("--json", action="store_true", help="print the checks as one JSON object")
    declare_key(parser)
    parser.set_defaults(command=verify, reads_there=verifies_there)


def verifies_there(options: argparse.Namespace, stored: Stored) -> bool:
    """Return whether Parquet in object storage is read where it lies: where no run is repeated."""
    from anon_core.pipeline.verify.repeated_run import tells_more
    from anon_core.recipe.plan import read_plan

    return options.previous is None and not tells_more(read_plan(options.recipe))


def verify(options: argparse.Namespace) -> int:
    """Verify a release and tell each check; return the exit status."""
    from anon_core.pipeline.verify.verify_release import verify_release
    from anon_core.recipe.plan import read_plan

    if remove_left_over():
        sys.stderr.write(LEFT_OVER)
    plan = read_plan(options.recipe)
    key = plan.key if options.data is None else with_key(plan, options).key
    found = verify_release(
        options.recipe, options.data, options.release, previous=options.previous, key=key
    )
    note(found.notes)
    left = found.unchecked
    if options.json:
        from anon_core.base.installation import VERSION

        status = "broken" if found.broken else "not checked in full" if left else "holds"
        write_json({"schema": 1, "version": VERSION, "status": status, **found.as_json()})
    else:
        for check in found.checks:
            word = "holds " if check.holds else "BROKEN"
            tell(f"{word}  {check.name}: {check.sentence}")
        for check in left:
            tell(f"NOT CHECKED  {check.name}: {check.sentence}")
    if found.broken:
        return BROKEN
    return NOT_FOUND if left else OK
