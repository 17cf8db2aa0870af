"""The level tables that a recipe names, read from their files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadInput, BadPlan, clipped
from anon_core.verification.hierarchy_names import ALL, columns_named, files_of_folder
from anon_core.verification.levels import read_levels
from anon_core.verification.opening import MOST_TEXT_BYTES, read_bytes
from anon_core.verification.tables import section


def read_hierarchies(recipe: Mapping[str, Any], folder: Path) -> dict[str, list[list[str]]]:
    """Return the level tables by column; paths are relative to the folder of the recipe.

    Raises
    ------
    BadInput, BadPlan, BadHierarchy
    """
    levels: dict[str, list[list[str]]] = {}
    for name, place in _places(recipe, folder).items():
        what = f"The hierarchy file of '{clipped(name)}'"
        content = read_bytes(folder / named_path(place, what), what, MOST_TEXT_BYTES)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{what} is not UTF-8 text.", remedy="Save it as UTF-8.") from error
        levels[name] = read_levels(text, name)
    return levels


def _places(recipe: Mapping[str, Any], folder: Path) -> dict[str, object]:
    """Return where the hierarchy of each column lies; a folder stands for the files in it."""
    named: dict[str, object] = {**section(recipe, "hierarchies")}
    if ALL not in named:
        return named
    place = folder / named_path(named.pop(ALL), "The folder of hierarchies")
    roles = section(recipe, "roles")
    coarser = {*roles.get("quasi", []), *roles.get("sensitive", [])}
    for column, file in files_of_folder(place, columns_named(recipe)).items():
        if column in coarser:
            named.setdefault(column, os.path.relpath(file, folder))
    return named


def named_path(place: object, what: str) -> str:
    """Return a path as a recipe names it.

    Raises
    ------
    BadPlan
        If it is no text.
    """
    if not isinstance(place, str):
        raise BadPlan(f"{what} is named by something other than a text.", remedy="Quote the path.")
    return place
