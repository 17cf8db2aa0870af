"""`verify`: recompute every promise from a published release."""

from __future__ import annotations

import argparse

from .output import BROKEN, OK, note, tell, write_json


def verify(options: argparse.Namespace) -> int:
    """Verify a release and tell each check; return the exit status."""
    from ..job.verify_release import verify_release

    found = verify_release(options.recipe, options.data, options.release)
    note(found.notes)
    if options.json:
        from ..job.version import VERSION

        status = "holds" if found.holds else "broken"
        write_json({"schema": 1, "version": VERSION, "status": status, **found.as_json()})
    else:
        for check in found.checks:
            word = "holds " if check.holds else "BROKEN"
            tell(f"{word}  {check.name}: {check.sentence}")
    return OK if found.holds else BROKEN
