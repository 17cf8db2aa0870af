"""This release beside an earlier one of the same people, recomputed from both files.

A promise that each keeps is not kept by both together: of each person the values are left that the
classes of both allow (Ganta, Kasiviswanathan and Smith 2008, doi 10.1145/1401890.1401926).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from ..base.errors import BadInput
from .findings import Check, undecided
from .lines import Lines
from .match import TooLarge, covering_pairs, text_runs
from .opening import Content, FileBytes
from .published import PublishedTable
from .tables import PrivateTable, Promise, joined
from .texts import Codes, Key, Runs, members_of

_NAME = "previous"


def previous_file(place: Path) -> Content:
    """Return the published file of an earlier release: the file, or ``release.csv`` of a folder.

    Raises
    ------
    BadInput
        If there is none.
    """
    file = place / "release.csv" if place.is_dir() else place
    if not file.is_file():
        raise BadInput(
            "The earlier release has no table whose rows are whole: there is no release.csv.",
            remedy="Name its folder, or the CSV file that was published.",
        )
    return FileBytes(file, "The earlier release")


def check_previous(
    promise: Promise, release: Lines | None, table: PrivateTable, content: Content
) -> list[Check]:
    """Count whose sensitive value is certain from both releases and from neither alone.

    Everyone of the table is taken to stand in both with the values they have now: where some do
    not, fewer are certain.

    Parameters
    ----------
    promise : Promise
    release : Lines or None
        This release; None where its columns are permuted apart.
    table : PrivateTable
    content : bytes or FileBytes
        The earlier release, a CSV file.
    """
    if release is None or promise.averaged or not release.has(promise.published):
        return [undecided(_NAME, "Only whole rows whose cells cover values can be laid together.")]
    if promise.person:
        return [undecided(_NAME, "A person may have several rows, and none says which.")]
    try:
        earlier = PublishedTable(content, promise.quasi, table.spelling).lines
    except BadInput as error:
        return [undecided(_NAME, f"The earlier release cannot be read. {error.message}")]
    quasi = tuple(n for n in promise.quasi if earlier.has((n,)))
    columns = [n for n in promise.sensitive if n not in promise.quasi and earlier.has((n,))]
    if not quasi or not columns:
        what = "quasi-identifier" if not quasi else "sensitive column"
        return [undecided(_NAME, f"The earlier release has no {what} of this one.")]
    point, first = joined([table.codes(n) for n in promise.quasi], len(table))
    try:
        here = _fitting(promise.quasi, promise, release, table, first)
        there = _fitting(quasi, promise, earlier, table, first)
    except BadInput as error:
        return [undecided(_NAME, error.message)]
    except TooLarge as error:
        return [undecided(_NAME, f"Who fits which class is not decided. {error.message}")]
    return [_of_column(name, (release, here), (earlier, there), table, point) for name in columns]


def _fitting(
    names: tuple[str, ...], promise: Promise, shown: Lines, table: PrivateTable, first: Codes
) -> tuple[Codes, Codes, Codes]:
    """Return pairs of people and classes that fit, and the class of each line.

    Raises
    ------
    BadInput
        If nothing explains a text.
    TooLarge
        If there are too many pairs.
    """
    runs = [
        text_runs(_covers(name, shown.texts_of(name), table), table.columns[name].missing + 1)
        for name in names
    ]
    group, of_class = joined([shown.codes_of(n) for n in names], len(shown))
    boxes = np.stack([shown.codes_of(n)[of_class] for n in names], axis=1)
    coded = [table.codes(n)[first] for n in names]
    distinct, own = joined(coded, len(first))
    points = np.stack([codes[own] for codes in coded], axis=1)
    which, box = covering_pairs(points, boxes, runs)
    # A point of the columns that both have stands for everybody who is alike in these.
    order = np.argsort(which, kind="stable")
    begin = np.searchsorted(which[order], np.arange(len(own) + 1))
    size = np.diff(begin)[distinct]
    who = np.repeat(np.arange(len(first)), size)
    within = np.arange(len(who)) - np.repeat(np.cumsum(size) - size, size)
    return who, box[order[np.repeat(begin[distinct], size) + within]], group


def _covers(name: str, texts: list[str], table: PrivateTable) -> tuple[Runs, ...]:
    """Return which of today's values each text of a column stands for: none, where it is older.

    Raises
    ------
    BadInput
        If nothing explains a text.
    """
    column, cover = table.columns[name], table.cover(name, texts)
    leaves = table.level_sets(name)[0]
    runs = list(cover.runs)
    dark = len(cover.ambiguous)
    for place in cover.unknown:
        members = members_of(texts[place])
        if not column.spelling.measured and members is not None:
            codes = sorted({column.code_of_text(m) for m in members} - {-1})
            runs[place] = tuple((code, code) for code in codes)
        else:
            number = not isinstance(column.spelling.key(texts[place]), str)
            dark += not number if column.spelling.measured else bool(leaves)
    if dark:
        raise BadInput(
            f"What {dark} of the texts of '{name}' stand for does not follow from the recipe's "
            "hierarchy."
        )
    return tuple(runs)


def _of_column(
    name: str,
    this: tuple[Lines, tuple[Codes, Codes, Codes]],
    earlier: tuple[Lines, tuple[Codes, Codes, Codes]],
    table: PrivateTable,
    point: Codes,
) -> Check:
    """Count for one sensitive column; the check holds where nobody is certain only from both."""
    left = [_candidates(lines, name, pairs) for lines, pairs in (this, earlier)]
    column = table.columns[name]
    own = table.codes(name)
    keys: tuple[Key | None, ...] = (*column.keys, None)
    nobody: frozenset[Key | None] = frozenset()
    certain = only = fits = 0
    for who, code, rows in zip(point.tolist(), own.tolist(), table.count.tolist(), strict=True):
        value = keys[code] if code < len(column.keys) else None
        here, there = (one.get(who, nobody) for one in left)
        fits += rows * bool(here and there)
        if value is None or here & there != frozenset((value,)):
            continue
        certain += rows
        only += rows * (len(here) > 1 and len(there) > 1)
    return Check(
        name=_NAME,
        holds=not only,
        column=name,
        bound=0.0,
        reached=float(only),
        sentence=f"Beside the earlier release, the value of '{name}' is certain for {certain:,} of "
        f"{table.rows:,} people, and for {only:,} of them from neither release alone; "
        f"{fits:,} fit both. Everyone is taken to stand in both as they are now.",
    )


def _candidates(
    lines: Lines, name: str, pairs: tuple[Codes, Codes, Codes]
) -> dict[int, frozenset[Key | None]]:
    """Return the values of all classes that each person fits."""
    who, box, group = pairs
    codes, keys = lines.keyed(name)
    in_class: dict[int, set[Key | None]] = defaultdict(set)
    for own, code in zip(group.tolist(), codes.tolist(), strict=True):
        in_class[own].add(keys[code])
    of_class = {own: frozenset(values) for own, values in in_class.items()}
    found: dict[int, frozenset[Key | None]] = {}
    for person, own in zip(who.tolist(), box.tolist(), strict=True):
        held = of_class[own]
        found[person] = found[person] | held if person in found else held
    return found
