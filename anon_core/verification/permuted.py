"""Checks of releases that publish exact values in groups and permute columns apart inside them.

The permutation cannot be undone from the publication, and neither can the assignment of rows to
groups; what can be recomputed is that nothing was changed, added or left out, and that the groups
as they are published keep what was promised of groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..errors import listing
from .coarsened import check_coarsened
from .findings import MOST_ROWS, Check, Verification, many, named, numbers, undecided
from .match import TooLarge, beyond
from .presence import NAME as PRESENCE
from .presence import PublicPeople, check_presence
from .sliced import Shown, check_posteriors
from .tables import COARSENED, PrivateTable, Promise, PublishedTable, joined, numbered
from .texts import Codes
from .written import check_formulas, check_shares

Block = tuple[str, ...]


def table_names(promise: Promise) -> tuple[str, ...]:
    """Return the names of the tables a recipe publishes."""
    return ("quasi", "sensitive") if _algorithm(promise) in _TWO_TABLES else ("release",)


_TWO_TABLES = ("anatomy", "permutation")
_EVERY_COLUMN_ALONE = ("permutation", "one-attribute-slicing", "slicing", *COARSENED)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouped:
    """One published table with its column of group numbers, which were found to be 1 to g."""

    table: PublishedTable
    columns: Block
    group: Codes
    coded: dict[Block, tuple[Codes, Codes]] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Codes:
        """Rows per group, shape (groups,)."""
        return np.bincount(self.group)

    @cached_property
    def rank(self) -> Codes:
        """Place of every row among the distinct rows in order of their texts, shape (rows,)."""
        place = np.zeros(self.table.rows, dtype=np.int64)
        for name in self.columns:
            texts = self.table.texts[self.table.header.index(name)]  # as they are printed
            order = {text: i for i, text in enumerate(sorted(texts))}
            ranked = np.array([order[text] for text in texts], dtype=np.int64)
            both = place * len(texts) + ranked[self.table.codes_of(name)]
            place = numbered(both, (int(place.max(initial=0)) + 1) * len(texts))
        return place


def check_permuted(
    promise: Promise,
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    people: PublicPeople | None = None,
) -> Verification:
    """Recompute what a permuted release keeps of its recipe's promises."""
    parts = _parts(promise)
    group = _group_name(promise.published)
    checks = [
        _check_identifiers(promise, published),
        *(_check_columns(name, published[name], (group, *parts[name])) for name in published),
        *(_check_rows(name, published[name], table) for name in published),
    ]
    if promise.neutralised:
        checks += [check_formulas(found) for found in published.values()]
    if any(list(published[n].header) != [group, *parts[n]] for n in published):
        checks.append(undecided("groups", "Nothing more can be recomputed: columns differ."))
        return Verification(checks=tuple(checks), facts=_facts(published, table, None))
    grouped: dict[str, Grouped] = {}
    for name, found in published.items():
        number = _numbers_of(found, group)
        if number is None:
            checks.append(
                Check(
                    name="groups",
                    holds=False,
                    sentence=f"The column '{group}' of {name}.csv does not count 1, 2, 3 … without "
                    "gaps.",
                )
            )
            return Verification(checks=tuple(checks), facts=_facts(published, table, None))
        grouped[name] = Grouped(table=found, columns=parts[name], group=number)
    checks.append(_check_groups(grouped))
    orders = [_check_order(name, found) for name, found in grouped.items()]
    checks += orders
    if all(order.holds for order in orders) and _same_sizes(grouped):
        checks.append(_check_numbering(grouped))
    for model in promise.models:
        if model.get("name") == PRESENCE and _algorithm(promise) in COARSENED:
            (found,) = grouped.values()
            release, number = found.table, found.group
            checks.append(check_presence(model, promise, release, number, people, linked=False))
        else:
            checks += _check_model(model, promise, grouped, table)
    if _algorithm(promise) in COARSENED:
        checks += check_coarsened(promise, next(iter(grouped.values())).table, table, levels)
    else:
        checks += _check_truth(promise, grouped, table)
    return Verification(checks=tuple(checks), facts=_facts(published, table, grouped))


# ---- what the recipe says ------------------------------------------------------------------------


def _algorithm(promise: Promise) -> str:
    return str(promise.algorithm.get("name", ""))


def _group_name(columns: Sequence[str]) -> str:
    name = "group"
    while name in columns:
        name += " number"
    return name


def _by_role(promise: Promise) -> tuple[Block, Block]:
    """Return the columns beside the quasi-identifiers, and those beside the sensitive columns."""
    with_sensitive = (
        _algorithm(promise) != "permutation"
        and promise.algorithm.get("insensitive_with", "quasi") == "sensitive"
    )
    second = [
        name
        for name in promise.published
        if name not in promise.quasi and (name in promise.sensitive or with_sensitive)
    ]
    return tuple(n for n in promise.published if n not in second), tuple(second)


def _parts(promise: Promise) -> dict[str, Block]:
    """Return the columns of each published table."""
    names = table_names(promise)
    return dict(
        zip(names, _by_role(promise) if len(names) == 2 else [promise.published], strict=True)
    )


def _blocks(promise: Promise) -> tuple[Block, ...]:
    """Return the sets of columns that the recipe itself says stay linked row by row."""
    if _algorithm(promise) not in _EVERY_COLUMN_ALONE:
        return tuple(block for block in _by_role(promise) if block)
    linked = _linked_sets(promise)
    inside = [name for block in linked for name in block]
    return (*linked, *((name,) for name in promise.published if name not in inside))


def _sets_are_formed(promise: Promise) -> bool:
    """Say whether the run formed the column sets, so that the recipe does not tell them."""
    written = str(promise.algorithm.get("sets", "")).strip()
    return _algorithm(promise) == "slicing" and not written


def _linked_sets(promise: Promise) -> tuple[Block, ...]:
    """Return slicing's column sets: those written by hand, else the sensitive columns."""
    if _algorithm(promise) != "slicing":
        return ()
    if _sets_are_formed(promise):
        sensitive = (n for n in promise.published if n in promise.sensitive)
        apart = tuple(n for n in sensitive if n not in promise.quasi)
        return (apart,) if apart else ()
    written = str(promise.algorithm.get("sets", ""))
    sets = [[n.strip() for n in part.split("+")] for part in written.split("|")]
    return tuple(tuple(n for n in part if n in promise.published) for part in sets if any(part))


# ---- the checks ----------------------------------------------------------------------------------


def _check_identifiers(promise: Promise, published: Mapping[str, PublishedTable]) -> Check:
    shown = [n for n in promise.identifier if any(n in t.header for t in published.values())]
    return Check(
        name="identifiers",
        holds=not shown,
        column=shown[0] if shown else "",
        sentence=f"Identifier {listing(shown)} is published."
        if shown
        else "No identifier column is published.",
    )


def _check_columns(name: str, release: PublishedTable, expected: Block) -> Check:
    holds = tuple(release.header) == expected
    return Check(
        name="columns",
        holds=holds,
        sentence=f"{name}.csv has the group number and the {len(expected) - 1} columns it should."
        if holds
        else f"The columns of {name}.csv are not {listing(expected)}, in this order.",
    )


def _check_rows(name: str, release: PublishedTable, table: PrivateTable) -> Check:
    return Check(
        name="rows",
        holds=release.rows == table.rows,
        bound=float(table.rows),
        reached=float(release.rows),
        sentence=f"{name}.csv has {release.rows} rows of {table.rows}; none may be hidden.",
    )


def _numbers_of(release: PublishedTable, column: str) -> Codes | None:
    """Return every row's group, counted from 0; None where the numbers are not 1 to g."""
    texts = release.texts_of(column)
    place = {str(i + 1): i for i in range(len(texts))}
    if any(text not in place for text in texts):
        return None
    return np.array([place[t] for t in texts], dtype=np.int64)[release.codes_of(column)]


def _same_sizes(grouped: Mapping[str, Grouped]) -> bool:
    first, *rest = grouped.values()
    return all(np.array_equal(first.sizes, other.sizes) for other in rest)


def _check_groups(grouped: Mapping[str, Grouped]) -> Check:
    groups = len(next(iter(grouped.values())).sizes)
    if not _same_sizes(grouped):
        sentence = "The groups of the two tables do not have the same numbers of rows."
        return Check(name="groups", holds=False, sentence=sentence)
    where = ", each with as many rows in both tables" if len(grouped) > 1 else ""
    sentence = f"{many(groups, 'group', 'is', 'are')} numbered without gaps{where}."
    return Check(name="groups", holds=True, sentence=sentence)


def _check_order(name: str, found: Grouped) -> Check:
    step = np.diff(found.group)
    below = (step < 0) | ((step == 0) & (np.diff(found.rank) < 0))
    wrong = numbers(np.concatenate([np.zeros(min(len(found.group), 1), np.bool_), below]))
    return Check(
        name="order",
        holds=not wrong,
        rows=tuple(wrong[:MOST_ROWS]),
        sentence=f"{many(len(wrong), 'row', 'is', 'are')} not in canonical order in {name}.csv "
        f"{named(wrong)}; the order of the table could show."
        if wrong
        else f"The rows of {name}.csv are in canonical order, so the table's order does not show.",
    )


def _check_numbering(grouped: Mapping[str, Grouped]) -> Check:
    """Check that groups are numbered by what they say: by the first table, then by the second."""
    sizes = next(iter(grouped.values())).sizes
    step = np.zeros(max(len(sizes) - 1, 0), dtype=np.int64)
    for found in grouped.values():
        step = np.where(step == 0, _steps(found.rank, sizes), step)
    wrong = (np.flatnonzero(step < 0) + 2).tolist()
    return Check(
        name="numbering",
        holds=not wrong,
        sentence=f"{many(len(wrong), 'group', 'is', 'are')} not numbered by content, the first is "
        f"group {wrong[0]}; the order of the table could show."
        if wrong
        else "The groups are numbered by what they say, so the table's order does not show.",
    )


def _steps(rank: Codes, sizes: Codes) -> Codes:
    """Compare every group with the one before it, row by row: above 0 where it is greater.

    Where one is the other's beginning, the longer is greater; shape (groups - 1,).
    """
    shared = np.minimum(sizes[:-1], sizes[1:])
    start = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(shared)), shared)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(shared) - shared, shared)
    apart = rank[start[1:][owner] + nth] - rank[start[:-1][owner] + nth]
    differs = np.flatnonzero(apart)
    which, first = np.unique(owner[differs], return_index=True)
    step = sizes[1:] - sizes[:-1]
    step[which] = apart[differs[first]]
    return step


def _check_model(
    model: Mapping[str, object],
    promise: Promise,
    grouped: Mapping[str, Grouped],
    table: PrivateTable,
) -> list[Check]:
    name = str(model.get("name", ""))
    letter = {
        "bucket-size": "k",
        "frequency-l-diversity": "l",
        "l-diversity": "l",
        "slicing-l-diversity": "l",
    }.get(name)
    if letter is None:
        sentence = f"'{name}' cannot be recomputed where columns are permuted apart."
        return [undecided(name or "model", sentence)]
    bound = model.get(letter)
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        what = f"{name} cannot be recomputed: {letter} is no whole number from 1 up."
        return [undecided(name, what)]
    first = next(iter(grouped.values()))
    if name == "bucket-size":
        small = first.sizes < bound
        return [_verdict(name, f"bucket size k = {bound}", bound, first.sizes, small, "rows", "")]
    column = str(model.get("column", ""))
    columns = promise.protected(column)
    if not columns:
        return [undecided(name, f"{name} cannot be recomputed: no column is sensitive.")]
    if name == "slicing-l-diversity":
        return [_check_posteriors(name, bound, c, promise, grouped, table) for c in columns]
    return [_check_values(name, bound, c, promise, grouped) for c in columns]


def _check_values(
    name: str, bound: int, column: str, promise: Promise, grouped: Mapping[str, Grouped]
) -> Check:
    """Check a promise about the values of one sensitive column in every group."""
    if column not in promise.sensitive or column in promise.quasi:
        return undecided(name, f"{name} cannot be recomputed: '{column}' is not sensitive only.")
    linked = next((b for b in _blocks(promise) if column in b), ())
    if any(n in promise.quasi for n in linked):
        what = f"'{column}' stays linked to {listing([n for n in linked if n in promise.quasi])}"
        return undecided(name, f"{name} of groups says nothing: {what}.")
    found = next(g for g in grouped.values() if column in g.columns)
    pair, first = joined([found.group, found.table.values(column)], found.table.rows)
    group_of_pair, count = found.group[first], np.bincount(pair)
    if name == "l-diversity":
        distinct = np.bincount(group_of_pair)
        what = f"l = {bound} for '{column}'"
        return _verdict(name, what, bound, distinct, distinct < bound, "values", column)
    return check_shares(bound, column, found.group, group_of_pair, count)


def _check_posteriors(
    name: str,
    bound: int,
    column: str,
    promise: Promise,
    grouped: Mapping[str, Grouped],
    table: PrivateTable,
) -> Check:
    """Check that no sensitive value is likelier than 1/l over all groups a person may be in."""
    if column not in promise.sensitive or column in promise.quasi:
        return undecided(name, f"{name} cannot be recomputed: '{column}' is not sensitive only.")
    if any(found.table.rows != table.rows for found in grouped.values()):
        return undecided(name, f"{name} cannot be recomputed: not every row is published.")
    source = next(g for g in grouped.values() if column in g.columns)
    values = source.table.values(column)
    if _sets_are_formed(promise) or _algorithm(promise) in COARSENED:
        # Which quasi-identifiers stay linked is not told, or cells are coarse: each group has to
        # keep it by itself.
        pair, first = joined([source.group, values], source.table.rows)
        return check_shares(
            bound, column, source.group, source.group[first], np.bincount(pair), name=name
        )
    own = next((b for b in _blocks(promise) if column in b), ())
    quasi = tuple(n for n in own if n in promise.quasi)
    star = _shown(quasi, source, grouped, table)
    others = [
        _shown(tuple(n for n in block if n in promise.quasi), source, grouped, table)
        for block in _blocks(promise)
        if block != own and any(n in promise.quasi for n in block)
    ]
    try:
        found = check_posteriors(bound, star, values, others, source.sizes)
    except TooLarge as error:
        return undecided(name, f"{name} is not decided. {error.message}")
    return Check(
        name=name,
        holds=not found.broken,
        bound=float(bound),
        reached=1.0 / found.worst if found.worst else float(bound),
        column=column,
        sentence=f"l = {bound} for '{column}' is broken: over all groups a person may be in, a "
        f"value has a chance of {found.worst:.3g}, above 1/{bound}."
        if found.broken
        else f"Recomputed from the published file: over all groups a person may be in, no value of "
        f"'{column}' is likelier than 1/{bound} ({found.worst:.3g} at most).",
    )


def _shown(
    quasi: Block, source: Grouped, grouped: Mapping[str, Grouped], table: PrivateTable
) -> Shown:
    if not quasi:
        return Shown(
            own=np.zeros(table.rows, np.int64),
            shown=np.zeros(source.table.rows, np.int64),
            group=source.group,
        )
    own, shown, found = _coded(quasi, grouped, table)
    return Shown(own=own, shown=shown, group=found.group)


def _verdict(
    name: str,
    what: str,
    bound: int,
    reached: Codes,
    broken: npt.NDArray[np.bool_],
    unit: str,
    column: str,
) -> Check:
    least = int(reached.min()) if len(reached) else bound
    count = int(broken.sum())
    return Check(
        name=name,
        holds=not count,
        bound=float(bound),
        reached=float(least),
        column=column,
        sentence=f"{what} is broken: {many(count, 'group', 'has', 'have')} fewer than {bound} "
        f"{unit}, first group {int(np.flatnonzero(broken)[0]) + 1} with "
        f"{int(reached[broken][0])}."
        if count
        else f"Recomputed from the published file: {what} holds (fewest in a group {least}).",
    )


# ---- is it true ----------------------------------------------------------------------------------


def _check_truth(
    promise: Promise, grouped: Mapping[str, Grouped], table: PrivateTable
) -> list[Check]:
    """Check that every set of linked columns holds exactly the table's rows."""
    if any(found.table.rows != table.rows for found in grouped.values()):
        return [undecided("truth", "Whether the values are the table's cannot be recomputed.")]
    blocks = _blocks(promise)
    broken = [check for block in blocks if (check := _check_block(block, grouped, table))]
    if broken:
        return broken
    wide = [block for block in blocks if len(block) > 1]
    linked = (
        f"; the columns {' and of '.join(listing(block) for block in wide)} also row by row"
        if wide
        else ""
    )
    not_told = (
        " Which other columns stay linked is not in the recipe and was not recomputed."
        if _sets_are_formed(promise)
        else ""
    )
    checks = [
        Check(
            name="truth",
            holds=True,
            bound=float(table.rows),
            reached=float(table.rows),
            sentence=f"Every column holds exactly the table's {table.rows} values{linked}."
            f"{not_told} Which rows form a group cannot be read from the publication.",
        )
    ]
    if len(blocks) == 2:
        one, other = blocks
        checks += [
            check
            for known, beside in ((one, other), (other, one))
            if (check := _check_membership(known, beside, grouped, table))
        ]
    return checks


def _coded(
    block: Block, grouped: Mapping[str, Grouped], table: PrivateTable
) -> tuple[Codes, Codes, Grouped]:
    """Return the tuples of linked columns, coded alike: of the table's rows and the published."""
    found = next(g for g in grouped.values() if block[0] in g.columns)
    if block not in found.coded:
        both: list[Codes] = []
        for name in block:
            column = table.columns[name]
            told = np.array([column.code_of_text(t) for t in found.table.texts_of(name)], np.int64)
            shown = told[found.table.codes_of(name)]
            both.append(np.concatenate([table.codes(name), shown]) + 1)
        joint, _ = joined(both, table.rows + found.table.rows)
        found.coded[block] = joint[: table.rows], joint[table.rows :]
    return *found.coded[block], found


def _check_block(block: Block, grouped: Mapping[str, Grouped], table: PrivateTable) -> Check | None:
    own, shown, _ = _coded(block, grouped, table)
    # As many rows are published as the table has, so what none is too many of is not missing.
    rows = numbers(beyond(own, shown))
    if not rows:
        return None
    return Check(
        name="truth",
        holds=False,
        column=block[0] if len(block) == 1 else "",
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{many(len(rows), 'published row', 'shows', 'show')} values of {listing(block)} "
        f"that the table does not have, or not so often {named(rows)}.",
    )


def _check_membership(
    known: Block, other: Block, grouped: Mapping[str, Grouped], table: PrivateTable
) -> Check | None:
    """Check groups against people who can stand in one group only.

    Where a tuple of `known` is published in one group only, all its rows stand there, and the
    group must show their values of `other`.
    """
    own, shown, found = _coded(known, grouped, table)
    values, told, beside = _coded(other, grouped, table)
    groups = len(found.sizes)
    low = np.full(int(own.max(initial=-1)) + 1, groups, dtype=np.int64)
    high = np.full(len(low), -1, dtype=np.int64)
    np.minimum.at(low, shown, found.group)
    np.maximum.at(high, shown, found.group)
    settled = (low == high)[own]
    place = low[own[settled]]
    wide = int(max(values.max(initial=-1), told.max(initial=-1))) + 1
    needed, needs = np.unique(place * wide + values[settled], return_counts=True)
    offered, offers = np.unique(beside.group * wide + told, return_counts=True)
    at = np.minimum(np.searchsorted(offered, needed), max(len(offered) - 1, 0))
    has = np.where(offered[at] == needed, offers[at], 0) if len(offered) else np.zeros(len(needed))
    wrong = np.unique(needed[has < needs] // max(wide, 1)) + 1
    if not len(wrong):
        return None
    return Check(
        name="membership",
        holds=False,
        sentence=f"{many(len(wrong), 'group', 'lacks', 'lack')} values of {listing(other)} of "
        f"people who can stand nowhere else, first group {wrong[0]}.",
    )


def _facts(
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    grouped: Mapping[str, Grouped] | None,
) -> dict[str, float]:
    first = next(iter(published.values()))
    sizes = next(iter(grouped.values())).sizes if grouped else np.empty(0, dtype=np.int64)
    facts = {
        "rows": float(first.rows),
        "table_rows": float(table.rows),
        "suppressed": float(max(table.rows - first.rows, 0)),
        "classes": float(len(sizes)),
        "smallest_class": float(sizes.min()) if len(sizes) else 0.0,
    }
    if grouped and len(grouped) == 1:
        rank = next(iter(grouped.values())).rank
        facts["unique_over_all_columns"] = float(np.count_nonzero(np.bincount(rank) == 1))
    return facts
