"""What an edit of a hierarchy did, in words: for those who cannot see it, and for messages."""

from __future__ import annotations

from anon_core.data.hierarchy import (
    Draft,
    Group,
    InsertLevel,
    MakeGroup,
    Move,
    Operation,
    Place,
    RemoveLevel,
    Rename,
    Reorder,
    Ungroup,
)


def effect(before: Draft, operation: Operation, after: Draft) -> str:
    """Return what an operation did."""
    if after == before:
        return "Nothing changed."
    match operation:
        case MakeGroup(level=level, nodes=nodes):
            made = new_group(before, after)
            label = "" if made is None else f" as {_quoted(made[1].label)} on level {made[0]}"
            return f"Grouped {_count(level, len(nodes))}{label}."
        case Move(level=level, nodes=nodes, onto=onto, to=to):
            return f"Moved {_count(level, len(nodes))} into {_quoted(_label(after, onto, to))}."
        case Rename(level=level, node=node):
            return f"Renamed to {_quoted(_label(after, level, node))}."
        case Ungroup(nodes=nodes):
            return f"Dissolved {_count(1, len(nodes))}."
        case Reorder(level=level, nodes=nodes):
            return f"Moved {_count(level, len(nodes))} to another place."
        case InsertLevel():
            return f"Added a level; there are {after.height - 1} below the top."
        case RemoveLevel():
            return f"Removed a level; there are {after.height - 1} below the top."
        case Place(values=values):
            return f"Placed {_count(0, len(values))}."
        case _:
            return "Done."


def went(way: str, before: Draft, after: Draft) -> str:
    """Return what undoing or redoing did."""
    if before == after:
        return f"There is nothing to {way}."
    return "Undone." if way == "undo" else "Redone."


def new_group(before: Draft, after: Draft) -> tuple[int, Group] | None:
    """Return the lowest group that an edit made, with its level; none that represents itself."""
    below = dict(enumerate(after.leaves))
    for level, groups in enumerate(after.levels[:-1], start=1):
        for group in groups:
            alone = len(group.children) == 1 and group.label == below[group.children[0]]
            if group.id >= before.next_id and not alone:
                return level, group
        below = {group.id: group.label for group in groups}
    return None


def _label(draft: Draft, level: int, number: int) -> str:
    return next((g.label for g in draft.levels[level - 1] if g.id == number), "")


def _count(level: int, count: int) -> str:
    word = "value" if level == 0 else "group"
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _quoted(label: str) -> str:
    return f"“{label if len(label) <= 60 else label[:57] + '…'}”"
