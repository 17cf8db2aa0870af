"""What a release's folder must hold: the files of the release and nothing else.

Tables of two releases tell more together than either alone, so a file that nobody verified breaks
the release. A replacement that was stopped half way is named before anything is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from anon_core.base.errors import BadInput, clipped, listing
from anon_core.verification.findings import Check

#: What the command line calls the hidden stage of a folder, beside it or inside.
STAGE = ".anonymity-workbench"


def refuse_unfinished(folder: Path) -> None:
    """Refuse a folder whose release was being replaced when the run was stopped.

    Raises
    ------
    BadInput
    """
    try:
        place = Path(os.path.realpath(folder))
    except ValueError as error:  # a character that no path may hold
        raise BadInput(
            f"{clipped(str(folder))} is no path to a folder.", remedy="Check its spelling."
        ) from error
    stages = [place / STAGE]
    if place.name:
        stages.append(place.with_name(f".{place.name}{STAGE}"))
    if any((stage / "old").is_dir() for stage in stages):
        raise BadInput(
            f"A run was stopped while it replaced the release in {folder}: files of it are missing "
            "or not those that belong together.",
            remedy="Run a recipe into this folder again: the earlier release is put back first.",
        )


def check_folder(folder: Path, names: Iterable[str]) -> Check:
    """Check that a folder holds no other files than those of the release."""
    known = tuple(names)
    others = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name not in known or entry.is_symlink() or not entry.is_file()
    )
    return Check(
        name="files",
        holds=not others,
        sentence=f"The folder holds {listing(others)}, which is no file of this release. Together "
        "with it these may reveal more than the privacy models allow; remove them."
        if others
        else "The folder holds the files of this release and nothing else.",
    )
