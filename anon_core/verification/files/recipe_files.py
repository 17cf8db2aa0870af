"""The recipe and the level tables that it names, read from their files."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from anon_core.base.errors import BadHierarchy, BadInput, BadPlan, clipped
from anon_core.verification.files.bounded_reading import MOST_TEXT_BYTES, read_bytes
from anon_core.verification.files.csv_files import rows_of
from anon_core.verification.recipe import completed, demand, section

# The second computation's own reader of recipes.


_MOST_DOTS = 1000  # in a line; the parser takes longer for keys of more parts than anybody waits


def read_recipe(content: bytes, name: str) -> dict[str, Any]:
    """Return the tables of a recipe.

    Raises
    ------
    BadPlan
        If it is no TOML in UTF-8, or nothing that could be read with an end.
    """
    try:
        text = content.decode("utf-8-sig")
        if max(line.count(".") for line in text.split("\n")) > _MOST_DOTS:
            raise RecursionError
        tables = tomllib.loads(text)
        repr(tables)  # numbers of thousands of digits cannot be written, nor what nests too deep
    except (ValueError, RecursionError) as error:  # TOML's and UTF-8's errors are ValueErrors
        raise BadPlan(
            f"The recipe {name} is not valid TOML.", remedy="Correct the file."
        ) from error
    return tables


def read_plan(
    path: Path, decided: Mapping[str, Any] | None, seed: int | str | None = None
) -> dict[str, Any]:
    """Return the recipe of a file, with what a run decided where it leaves that out."""
    recipe = read_recipe(read_bytes(path, "The recipe", MOST_TEXT_BYTES), clipped(path.name))
    if seed is not None:
        recipe = {"seed": seed, **recipe}
    return recipe if decided is None else completed(recipe, decided)


# The second computation's own reader of hierarchy files: level tables, trees of lines, JSON.


Rows = list[list[str]]
#: A group's place: its level, where the file parts its lines by level, and its label.
_Node = tuple[int, str]
_ROOT: _Node = (0, "")
_MOST_LEVELS = 100


def read_levels(text: str, name: str) -> Rows:
    """Return the level table that a hierarchy file holds, the value first.

    Raises
    ------
    BadHierarchy
        If it is JSON or a tree of lines and cannot be read as such.

    Examples
    --------
    >>> read_levels("Root : A, b\\nA : a", "x") == [["a", "A", "*"], ["b", "b", "*"]]
    True
    """
    try:
        if re.match(r'\s*\{\s*"', text):
            return _padded(_paths_of(json.loads(text)["tree"], ()))
        lines = [line.strip() for line in text.split("\n")]
        if _is_tree(lines):
            return _padded(_paths_of_lines(lines))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' cannot be read.", remedy="Write it again."
        ) from error
    tables = {mark: [line for line in rows_of(text, mark) if line] for mark in (";", ",")}
    for rows in tables.values():  # the separator that gives every line one width and one top
        if len({(len(line), line[-1]) for line in rows}) == 1 and len(rows[0]) > 1:
            return rows
    if not any(cell.strip() for line in tables[";"] for cell in line):
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is empty.", remedy="Write one line for every value."
        )
    first = next((line for line in text.splitlines() if line.strip()), "")
    return tables[";" if ";" in first else ","]


def _padded(paths: list[tuple[str, ...]]) -> Rows:
    """Return paths from value to top as rows of one width; a value on high stays itself."""
    width = max(len(path) for path in paths)
    return [[path[0]] * (width - len(path)) + list(path) for path in paths]


def _paths_of(node: object, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(node, str):
        return [(node.strip(), *above)]
    if len(above) > _MOST_LEVELS:
        raise ValueError("too many levels")
    inner = cast(Mapping[str, Any], node)
    here = (str(inner["label"]).strip(), *above)
    return [path for child in inner["children"] for path in _paths_of(child, here)]


def _is_tree(lines: list[str]) -> bool:
    content = [line for line in lines if line and not line.startswith("#")]
    if not content or re.match(r'"(?:[^"]|"")*"\s*[;,]', content[0]):
        return False
    if any(re.match(r'(?:Root|"Root")\s*:', line) for line in content):
        return True
    if len({line.split(",")[-1].strip() for line in content}) < 2:
        return False
    form = r'(?:[^;,":]+\s:|"(?:[^"\\]|\\.)*"\s*:)\s*\S.*'
    return all(re.fullmatch(form, line) for line in content)


def _paths_of_lines(lines: list[str]) -> list[tuple[str, ...]]:
    children: dict[_Node, list[_Node]] = {}
    level, parted, top = 0, False, "*"
    for line in lines:
        if found := re.fullmatch(r"#\s*level\s+(\d+)", line):
            level, parted = int(found[1]), True
        elif found := re.fullmatch(r"#\s*top\s+(\".*\")", line):
            top = str(json.loads(found[1])).strip()
        elif line and not line.startswith("#"):
            labels = _labels_of(line)
            group = _ROOT if labels[0] is None else (level, labels[0])
            members = [(level - parted, cast(str, label)) for label in labels[1:]]
            children.setdefault(group, []).extend(members)
    inside = [child for members in children.values() for child in members]
    under = set(inside)
    if len(under) < len(inside):  # in two groups, or in itself: a way without an end
        raise ValueError("a label is under two groups")
    if _ROOT in children:
        start, above = _ROOT, (top,)
    else:
        (start,) = [group for group in children if group not in under]
        above = (start[1],)
    paths: list[tuple[str, ...]] = []
    stack = [(child, above) for child in reversed(children[start])]
    while stack:
        node, path = stack.pop()
        below = children.get(node, []) if node[0] > 0 or not parted else []
        if len(path) > _MOST_LEVELS:
            raise ValueError("too many levels")
        if not below:
            paths.append((node[1], *path))
        stack += [(child, (node[1], *path)) for child in reversed(below)]
    return paths


def _labels_of(line: str) -> list[str | None]:
    """Return the labels of ``group : member, member``; None for the bare word Root."""
    found: list[str | None] = []
    place, ends = 0, ":"
    while place <= len(line):
        rest = line[place:].lstrip()
        place = len(line) - len(rest)
        if rest.startswith('"'):
            label, stop = json.JSONDecoder().raw_decode(rest)
            found.append(str(label).strip())
            place += stop + (len(rest[stop:]) - len(rest[stop:].lstrip()))
            if place < len(line) and line[place] != ends:
                raise ValueError("no separator after a quoted label")
        else:
            apart = " : " if ends == ":" and " : " in rest else ends
            bare, _, _ = rest.partition(apart)
            place += len(bare) + (1 if apart == " : " else 0)
            found.append(None if bare.strip() == "Root" else bare.strip())
        place, ends = place + 1, ","
    if len(found) < 2 or "" in found or None in found[1:]:
        raise ValueError("a line without a group or a member")
    return found


# Which file of a folder is the hierarchy of which column, found again from the names alone.


_QUOTE = "Quote the path."
#: What represents every column without a file of its own.
ALL = "*"


def files_of_folder(place: Path, columns: Iterable[str]) -> Mapping[str, Path]:
    """Return the hierarchy file of each column that has one in a folder.

    Raises
    ------
    BadHierarchy
        If the folder cannot be read, or a file and a column do not belong to each other alone.
    """
    try:
        present = [one for one in place.iterdir() if one.is_file() and one.name[0] != "."]
        present = [one for one in present if one.name.lower()[-4:] in (".csv", ".txt")]
    except OSError as error:
        what = f"The folder {clipped(place.name)} cannot be read ({error.strerror})."
        raise BadHierarchy(what, remedy="Check the path; it is relative to the recipe.") from error
    free = set(columns)
    given: dict[str, Path] = {}
    for fits in (str.__eq__, _is_spelled_alike, _is_part):
        pairs = [(c, f) for c in sorted(free) for f in present if fits(c, f.stem)]
        if len({c for c, _ in pairs}) != len(pairs) or len({f for _, f in pairs}) != len(pairs):
            what = f"In the folder {clipped(place.name)} a file fits no column, or several."
            raise BadHierarchy(what, remedy="Name each file after one column.")
        given |= dict(pairs)
        free -= set(given)
        present = [one for one in present if one not in given.values()]
    return given


def columns_named(recipe: Mapping[str, Any]) -> list[str]:
    """Return every column that a role of a recipe names."""
    roles = section(recipe, "roles")
    columns = [n for role in roles.values() for n in (role if isinstance(role, list) else [role])]
    return [str(name) for name in dict.fromkeys(columns) if name]


def _is_spelled_alike(column: str, stem: str) -> bool:
    return _signs(column) != "" and _signs(column) == _signs(stem)


def _is_part(column: str, stem: str) -> bool:
    low = stem.casefold()
    cuts = [(low.find(word), word) for word in ("hierarchy", "hierarchies") if word in low]
    if not cuts or not _signs(column):
        return False
    first = min(place for place, _ in cuts)
    last = max(low.rfind(word) + len(word) for _, word in cuts)
    return _signs(column) in (_signs(low[:first]), _signs(low[last:]))


def _signs(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


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
    """Return where the hierarchy of each column lies; a folder means the files in it."""
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


def named_path(place: Any, what: str) -> str:
    """Return a path as a recipe names it.

    Raises
    ------
    BadPlan
        If it is not a text.
    """
    demand(isinstance(place, str), f"{what} is named by something other than a text.", _QUOTE)
    return str(place)
