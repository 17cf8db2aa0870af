"""A zip that is opened on Start: what is in it, taken out without trusting it."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from anon_core.base.errors import AnonError, BadInput
from anon_core.data.reading import READABLE
from anon_core.recipe.plan import Plan
from ui.state.loading import Opened, named_among, text_of

#: Entries a zip may have, and bytes they may come to when unpacked.
MOST_ENTRIES = 500
MOST_UNPACKED = 512 * 2**20
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar", ".xz", ".bz2", ".zst")
_TABLES = tuple(f".{end}" for one in READABLE.values() for end in one.endings)
#: Written by Export for people; never read.
_NOT_OPENED = ("README.txt", "reproduce.py")


def unpacked(opened: Opened) -> tuple[Opened, ...]:
    """Return the files of a zip; any other file is returned as it is.

    Raises
    ------
    BadInput
        Naming the entry: too many or too large, encrypted, a link, another archive, a path that
        leads out of the zip, or a zip that is damaged.
    """
    if not opened.name.lower().endswith(".zip"):
        return (opened,)
    try:
        with zipfile.ZipFile(io.BytesIO(opened.content)) as packed:
            return _files(packed)
    except AnonError:  # which is a ValueError too
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError) as error:
        raise BadInput(
            "The zip is damaged, or packed in a format that is not supported.",
            remedy="Export it again, or unpack it and choose its files together.",
        ) from error


def _files(packed: zipfile.ZipFile) -> tuple[Opened, ...]:
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    if len(entries) > MOST_ENTRIES:
        raise BadInput(
            f"The zip has {len(entries):,} files; at most {MOST_ENTRIES} are read.",
            remedy="Open the zip that Export made.",
        )
    names: set[str] = set()
    for place, entry in enumerate(entries, start=1):
        what = _wrong(entry)
        if not what and entry.filename.lower() in names:
            what = "has the name of an earlier one"
        if what:
            raise BadInput(
                f"File {place} of the zip {what}.", remedy="Open the zip that Export made."
            )
        names.add(entry.filename.lower())
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise _too_large()
    found: list[Opened] = []
    left = MOST_UNPACKED
    for entry in entries:
        with packed.open(entry) as file:
            content = file.read(left + 1)  # a size that is stated may be a lie
        left -= len(content)
        if left < 0:
            raise _too_large()
        found.append(Opened(name=entry.filename, content=content))
    return tuple(found)


def _too_large() -> BadInput:
    return BadInput(
        f"The files of the zip come to more than {MOST_UNPACKED // 2**20} MiB.",
        remedy="Unpack it, and choose the recipe and its hierarchy files together.",
    )


def _wrong(entry: zipfile.ZipInfo) -> str:
    """Return what is wrong with an entry, as the end of a sentence; empty if nothing is."""
    name = entry.orig_filename
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or any(sign in name for sign in "\\:\0"):
        return "has a path that leads out of it"
    if len(name) > 300:
        return f"has a name of {len(name):,} characters; at most 300 are read"
    if entry.flag_bits & 1:
        return "is encrypted"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a link"
    if name.lower().endswith(_ARCHIVES):
        return "is another archive, and these are not opened"
    return ""


def table_of(recipe: Opened, files: Sequence[Opened]) -> Opened | None:
    """Return the private table, where exactly one file is a table that the recipe does not name.

    Raises
    ------
    BadPlan
        If it is no recipe.
    """
    plan = named_among(Plan.from_toml(text_of(recipe)), [one.name for one in files])
    named = {PurePosixPath(p).name for p in plan.files}
    found = [
        one
        for one in files
        if PurePosixPath(one.name).name not in (*named, *_NOT_OPENED)
        and one.name.lower().endswith(_TABLES)
    ]
    return found[0] if len(found) == 1 else None
