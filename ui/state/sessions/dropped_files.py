"""What was dropped on Start: tables, recipes, sessions and zips, distinguished by content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anon_core.base.errors import BadInput, listing
from anon_core.data.reading import READABLE, file_kind
from ui.state.loading import Opened
from ui.state.sessions import archives, session_file

#: What is accepted, for people.
ACCEPTED = (
    f"a table ({', '.join(title for one in READABLE.values() for title in one.titles)}), "
    "a recipe (TOML), a session, or a zip of these"
)
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
#: A recipe says which columns have which role.
_RECIPE = re.compile(r"^\s*\[\[?(roles|algorithm|models)\]\]?\s*$", re.MULTILINE)
#: Bytes that are looked at, and those that no text has.
_LOOKED_AT = 64 * 1024
_NO_TEXT = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """The files by what they are, those of zips among them.

    Attributes
    ----------
    sessions, recipes, others : tuple of Opened
        Others are tables, and the hierarchies that a recipe names.
    """

    sessions: tuple[Opened, ...] = ()
    recipes: tuple[Opened, ...] = ()
    others: tuple[Opened, ...] = ()


def files_by_kind(files: Sequence[Opened]) -> Dropped:
    """Return the files by what they are.

    Raises
    ------
    BadInput
        If a file is none of what is accepted, or a zip cannot be taken to pieces.
    """
    sessions: list[Opened] = []
    recipes: list[Opened] = []
    others: list[Opened] = []
    unknown: list[str] = []
    for file in files:
        for one in archives.unpacked(_as_zip(file)):
            if session_file.is_session(one.name, one.content):
                sessions.append(one)
            elif _is_recipe(one):
                recipes.append(one)
            elif _is_known(one):
                others.append(one)
            elif one.name == file.name:  # what else a zip holds is no matter
                unknown.append(one.name)
    if unknown:
        raise BadInput(
            f"{listing(unknown)} cannot be opened here; allowed: {ACCEPTED}.",
            remedy="Choose other files; nothing was changed.",
        )
    return Dropped(sessions=tuple(sessions), recipes=tuple(recipes), others=tuple(others))


def _as_zip(file: Opened) -> Opened:
    """Return a zip under a name that says so; a workbook is packed the same way, and is none."""
    packed = file.content.startswith(_ZIP) and file_kind(file.content) == "text"
    named = file.name.lower().endswith(".zip")
    return replace(file, name=f"{file.name}.zip") if packed and not named else file


def _is_recipe(one: Opened) -> bool:
    if one.name.lower().endswith(".toml"):
        return True
    start = one.content[:_LOOKED_AT].decode("utf-8", errors="replace")
    return file_kind(one.content) == "text" and _RECIPE.search(start) is not None


def _is_known(one: Opened) -> bool:
    """Return whether a file may be a table or a hierarchy: a known format, or a text."""
    if file_kind(one.content) != "text" or one.content.startswith(_GZIP):
        return True
    start = one.content[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):  # text of two bytes a letter
        return True
    return start.translate(None, _NO_TEXT) == start
