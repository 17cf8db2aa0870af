"""Hierarchies as JSON: a tree of labels."""

from __future__ import annotations

import json
from typing import Any, cast

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.table import MISSING

#: A label (None for the top where the format does not name it) and what is under it.
Tree = tuple[str | None, list["Tree"]]
#: More levels than this are a mistake of the file rather than a hierarchy.
MOST_LEVELS = 100


def rows_of_tree(tree: Tree, name: str) -> list[list[str]]:
    """Return the level table of a tree, in its order; a value that hangs higher stays itself.

    Raises
    ------
    BadHierarchy
        If it is too deep.

    Examples
    --------
    >>> rows_of_tree(("*", [("A", [("a", [])]), ("b", [])]), "x")
    [['a', 'A', '*'], ['b', 'b', '*']]
    """
    paths: list[list[str]] = []
    stack: list[tuple[Tree, list[str]]] = [(tree, [])]
    while stack:
        (label, below), above = stack.pop()
        path = [label or "", *above]
        if len(path) > MOST_LEVELS:
            raise BadHierarchy(
                f"The hierarchy of '{name}' has more than {MOST_LEVELS} levels.",
                remedy="Use fewer; each should make values clearly coarser.",
            )
        if below:
            stack += [(node, path) for node in reversed(below)]
        else:
            paths.append(path)
    width = max(map(len, paths))
    return [[path[0]] * (width - len(path)) + path for path in paths]


def hierarchy_json(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as JSON that reads back as the same one.

    The missing value is left out: it hangs under the root by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.hierarchy import flat
    >>> from anon_core.data.column import encode
    >>> sex = encode("sex", np.array([0, 1], dtype=np.int32), ["F", "M"])
    >>> print(hierarchy_json(flat(sex)), end="")
    {
     "column": "sex",
     "tree": {
      "label": "*",
      "children": [
       "F",
       "M"
      ]
     }
    }
    """
    rows = [row for row in hierarchy.rows() if row[0] != MISSING]
    nodes: list[Any] = [row[0] for row in rows]
    labels = [list(row) for row in rows]
    for level in range(1, hierarchy.height + 1):
        groups: list[Any] = []
        before: str | None = None
        kept: list[list[str]] = []
        for node, row in zip(nodes, labels, strict=True):
            if row[level] != before:
                before = row[level]
                groups.append({"label": before, "children": []})
                kept.append(row)
            groups[-1]["children"].append(node)
        nodes, labels = groups, kept
    tree = nodes[0] if nodes else {"label": "*", "children": []}
    given = {"column": hierarchy.column, "tree": tree}
    return json.dumps(given, ensure_ascii=False, indent=1) + "\n"


def parse_json(text: str, name: str) -> list[list[str]]:
    """Read a hierarchy from JSON as a level table, the value first.

    Raises
    ------
    BadHierarchy
        If it is not JSON, or no tree of labels; names the line, or the way to the node.

    Examples
    --------
    >>> parse_json('{"tree": {"label": "*", "children": ["F", "M"]}}', "sex")
    [['F', '*'], ['M', '*']]
    """
    try:
        given = json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise BadHierarchy(
            f"Hierarchy file of '{name}', line {error.lineno}: no valid JSON ({error.msg}).",
            remedy="Correct the text at that place.",
        ) from error
    except RecursionError as error:
        raise _bad(name, [], f"more than {MOST_LEVELS} levels") from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise _bad(name, [], "a number of thousands of digits") from error
    tree = cast(dict[str, Any], given).get("tree") if isinstance(given, dict) else None
    if not isinstance(tree, dict):
        raise _bad(name, [], "there is no 'tree'")
    made = _tree(cast(object, tree), name, [])
    if not made[1]:
        raise _bad(name, [], "an empty group")
    return rows_of_tree(made, name)


def _tree(given: object, name: str, path: list[int]) -> Tree:
    if isinstance(given, str):
        if not given.strip():
            raise _bad(name, path, "an empty label")
        return given.strip(), []
    if len(path) > MOST_LEVELS:
        raise _bad(name, path[:3], f"more than {MOST_LEVELS} levels")
    node = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    label, children = node.get("label"), cast(object, node.get("children"))
    if not isinstance(label, str) or not label.strip():
        raise _bad(name, path, "a node has no label")
    if not isinstance(children, list) or not children:
        raise _bad(name, path, "an empty group" if children == [] else "a node has no children")
    below = [
        _tree(one, name, [*path, place])
        for place, one in enumerate(cast(list[object], children), start=1)
    ]
    return label.strip(), below


def _bad(name: str, path: list[int], what: str) -> BadHierarchy:
    where = f", child {' → '.join(map(str, path))}" if path else ""
    return BadHierarchy(
        f"Hierarchy file of '{name}'{where}: {what}.",
        remedy='A value is a text; a group is {"label": "...", "children": [...]}.',
    )
