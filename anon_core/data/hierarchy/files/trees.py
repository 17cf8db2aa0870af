"""A tree of labels as a level table, for the file formats that nest instead of listing paths."""

from __future__ import annotations

from anon_core.base.errors import BadHierarchy

#: A label (None for the top where the format does not name it) and what stands under it.
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
