"""Checks of releases that publish exact values in groups and permute columns apart inside them.

The permutation cannot be undone from the publication, and neither can the assignment of rows to
groups; what can be recomputed is that nothing was changed, added or left out, that the groups as
they are published keep what was asked for of groups, and that they can be made of the table's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from anon_core.base.errors import listing
from anon_core.verification.files.published import (
    PublishedTable,
    check_formulas,
    check_identifiers,
    check_order,
)
from anon_core.verification.findings import (
    Check,
    Verification,
    broken,
    judged,
    many,
    named,
    not_checked,
    undecided,
)
from anon_core.verification.recipe import Terms
from anon_core.verification.rows.groups import (
    Block,
    Grouped,
    Lines,
    blocks,
    coded,
    facts_of,
    group_name,
    parts,
    sets_are_formed,
    tally,
)
from anon_core.verification.rows.matching import TooLarge, beyond, covering, without_partner
from anon_core.verification.rows.membership import Witness, can_stand, check_witness, parts_of
from anon_core.verification.rows.tables import PrivateTable, joined, stretched
from anon_core.verification.text.texts import Codes

# Is a release true whose cells are coarsened and whose columns are permuted apart?


def check_coarsened(release: Lines, table: PrivateTable) -> list[Check]:
    """Check column by column that every cell is true of a row of the table of its own.

    Which rows form a group cannot be read from the publication.
    """
    if release.rows != table.rows or not release.has(table.terms.published):
        return [undecided("truth", "Whether the cells are true cannot be recomputed.")]
    found = [_check_column(name, release, table) for name in table.terms.published]
    sentence = (
        f"In every column each of the {table.rows} cells is true of a row of the table of its "
        "own. Which rows form a group cannot be read from the publication."
    )
    return [check for check in found if check] or [_true(table, sentence)]


def _true(table: PrivateTable, sentence: str) -> Check:
    return judged("truth", False, sentence, bound=table.rows, reached=table.rows)


def _check_column(name: str, release: Lines, table: PrivateTable) -> Check | None:
    column = table.columns[name]
    texts, codes = release.texts_of(name), release.codes_of(name)
    if name in table.terms.quasi:
        cover = table.cover(name, texts)
        runs, unclear = cover.runs, [*cover.unknown, *cover.ambiguous]
        if unclear:
            rows = release.rows_of(np.isin(codes, unclear))
            what = f"Column '{name}' shows texts without one clear meaning {named(rows)}."
            return broken("truth", what, column=name, rows=rows)
    else:
        values = [column.code_of_text(text) for text in texts]
        runs = tuple(((code, code),) if code >= 0 else () for code in values)
    shown, text = joined([codes], len(release))
    try:
        point, _, pairs = covering((name,), (runs,), table, codes[text][:, None])
        none, nothing = np.zeros_like(point), np.zeros_like(shown)
        alone = without_partner(point, none, table.count, shown, nothing, release.count, *pairs)
    except TooLarge as error:
        return undecided("truth", f"Whether '{name}' is true is not decided. {error.message}")
    rows = release.last_rows_of(alone)
    few = many(len(rows), "published row", "has", "have")
    what = f"{few} a cell of '{name}' that is true of no row of its own {named(rows)}."
    return broken("truth", what, column=name, rows=rows) if rows else None


def check_permuted(
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    judge: Callable[[Mapping[str, Grouped]], Sequence[Check]],
    witness: Witness | None = None,
) -> Verification:
    """Recompute what a permuted release keeps of its recipe's models.

    `judge` recomputes these of the published tables in groups, `witness` is what a run says of
    who is in which.
    """
    terms, columns = table.terms, parts(table.terms)
    group = group_name(terms.published)
    checks = [
        check_identifiers(terms, (one.header for one in published.values())),
        *(_check_columns(name, published[name], (group, *columns[name])) for name in published),
        *(_check_rows(name, published[name], table) for name in published),
    ]
    if terms.neutralised:
        checks += [check_formulas(found) for found in published.values()]
    if any(list(published[n].header) != [group, *columns[n]] for n in published):
        checks.append(undecided("groups", "Nothing more can be recomputed: columns differ."))
        return Verification(checks=tuple(checks), facts=_facts(published, table, None))
    grouped: dict[str, Grouped] = {}
    for name, found in published.items():
        number = numbers_of(found.lines, group)
        if number is None:
            what = f"The column '{group}' of {found.called(name)} does not count 1, 2, 3 …"
            checks.append(broken("groups", f"{what} without gaps."))
            return Verification(checks=tuple(checks), facts=_facts(published, table, None))
        grouped[name] = Grouped(table=found.lines, columns=columns[name], group=number)
    checks.append(_check_groups(grouped))
    orders: list[Check] = []
    ranks: list[Codes] = []  # of each table's rows, within their groups
    for name, found in grouped.items():
        line, wide = published[name].line_of_row, int(found.rank.max(initial=0)) + 1
        in_all = (found.group * wide + found.rank)[line]
        orders.append(check_order(in_all, published[name].called(name)))
        ranks.append(found.rank[line])
    checks += orders
    first = next(iter(grouped.values()))
    if all(order.holds for order in orders) and _same_sizes(grouped):
        checks.append(_check_numbering(ranks, first.sizes))
    checks += judge(grouped)
    if terms.coarsened:
        checks += [*check_coarsened(first.table, table), *check_boxes(terms, first.table)]
    else:
        checks += _check_truth(grouped, table)
    if all(check.holds for check in checks if check.name in ("groups", "rows", "truth")):
        checks.append(_check_membership(grouped, published, table, witness))
    found = Verification(checks=(), facts=_facts(published, table, grouped))
    return found.with_checks(checks)


# ---- the checks ----------------------------------------------------------------------------------


def _check_columns(name: str, release: PublishedTable, expected: Block) -> Check:
    many = len(expected) - 1
    return judged(
        "columns",
        tuple(release.header) != expected,
        f"The columns of {release.called(name)} are not {listing(expected)}, in this order.",
        f"{release.called(name)} has the group number and the "
        f"{'one column' if many == 1 else f'{many} columns'} it should.",
    )


def _check_rows(name: str, release: PublishedTable, table: PrivateTable) -> Check:
    rows, every = release.rows, table.rows
    sentence = f"{release.called(name)} has {rows} rows of {every}; none may be hidden."
    return judged("rows", rows != every, sentence, bound=every, reached=rows)


def numbers_of(release: Lines, column: str) -> Codes | None:
    """Return every line's group, counted from 0; None where the numbers are not 1 to g."""
    texts = release.texts_of(column)
    number = {str(place + 1): place for place in range(len(texts))}
    numbers = np.array([number.get(text, -1) for text in texts], dtype=np.int64)
    return numbers[release.codes_of(column)] if texts and numbers.min() >= 0 else None


def _same_sizes(grouped: Mapping[str, Grouped]) -> bool:
    first, *rest = grouped.values()
    return all(np.array_equal(first.sizes, other.sizes) for other in rest)


def _check_groups(grouped: Mapping[str, Grouped]) -> Check:
    groups = len(next(iter(grouped.values())).sizes)
    if not _same_sizes(grouped):
        first, *rest = (own.sizes for own in grouped.values())
        wide = max(groups, *(len(other) for other in rest))
        sizes = [np.pad(own, (0, wide - len(own))) for own in (first, *rest)]
        differ = np.flatnonzero(np.any(np.stack(sizes) != sizes[0], axis=0))
        return broken(
            "groups",
            "The groups of the two tables do not have the same numbers of rows: "
            f"{many(len(differ), 'group', 'differs', 'differ')}, first group {int(differ[0]) + 1}.",
        )
    where = ", each with as many rows in both tables" if len(grouped) > 1 else ""
    sentence = f"{many(groups, 'group', 'is', 'are')} numbered without gaps{where}."
    return judged("groups", False, sentence)


def _check_numbering(ranks: Sequence[Codes], sizes: Codes) -> Check:
    """Check that groups are numbered by what they say: by the first table, then by the second."""
    step = np.zeros(max(len(sizes) - 1, 0), dtype=np.int64)
    for rank in ranks:
        step = np.where(step == 0, _steps(rank, sizes), step)
    wrong = np.flatnonzero(step < 0) + 2
    return judged(
        "numbering",
        len(wrong),
        f"{many(len(wrong), 'group', 'is', 'are')} not numbered by content, the first is group "
        f"{wrong.min(initial=len(sizes))}; the order of the table could show.",
        "The groups are numbered by what they say, so the table's order does not show.",
    )


def _steps(rank: Codes, sizes: Codes) -> Codes:
    """Compare every group with the one before it, row by row: above 0 where it is greater.

    Where one is the other's beginning, the longer is greater; shape (groups - 1,).
    """
    shared = np.minimum(sizes[:-1], sizes[1:])
    start = np.cumsum(sizes) - sizes
    owner, nth = stretched(np.zeros_like(shared), shared)
    apart = rank[start[1:][owner] + nth] - rank[start[:-1][owner] + nth]
    differs = np.flatnonzero(apart)
    which, first = np.unique(owner[differs], return_index=True)
    step = sizes[1:] - sizes[:-1]
    step[which] = apart[differs[first]]
    return step


def check_boxes(terms: Terms, lines: Lines) -> list[Check]:
    """Check that enough rows show each combination of quasi-identifiers, in whatever groups."""
    least = terms.shape.least_box
    if not least:
        return []
    own = [lines.codes_of(name) for name in terms.quasi]
    rows = tally(joined(own, len(lines.count))[0], lines.count)
    few = int(np.count_nonzero(rows < least))
    wrong = f"{many(few, 'box', 'has', 'have')} fewer than {least} rows."
    kept = f"Every box of quasi-identifiers has {least} rows or more, over all groups."
    reached = float(rows.min()) if len(rows) else 0.0
    return [judged("boxes", few, wrong, kept, bound=least, reached=reached)]


# ---- is it true ----------------------------------------------------------------------------------


def _check_truth(grouped: Mapping[str, Grouped], table: PrivateTable) -> list[Check]:
    """Check that every set of linked columns holds exactly the table's rows."""
    if any(found.table.rows != table.rows for found in grouped.values()):
        return [undecided("truth", "Whether the values are the table's cannot be recomputed.")]
    linked = blocks(table.terms)
    odd = [check for block in linked if (check := _check_block(block, grouped, table))]
    wide = " and of ".join(listing(block) for block in linked if len(block) > 1)
    by_row = f"; the columns {wide} also row by row" if wide else ""
    unknown = (
        " Which other columns stay linked is not in the recipe and was not recomputed."
        if sets_are_formed(table.terms)
        else ""
    )
    sentence = (
        f"Every column holds exactly the table's {table.rows} values{by_row}.{unknown} Which rows "
        "form a group cannot be read from the publication."
    )
    return odd or [_true(table, sentence)]


def _check_block(block: Block, grouped: Mapping[str, Grouped], table: PrivateTable) -> Check | None:
    own, shown, found = coded(block, grouped, table)
    # As many rows are published as the table has, so what none is too many of is not missing.
    rows = found.table.last_rows_of(beyond(own, table.count, shown, found.table.count))
    sentence = (
        f"{many(len(rows), 'published row', 'shows', 'show')} values of {listing(block)} that the "
        f"table does not have, or not so often {named(rows)}."
    )
    column = block[0] if len(block) == 1 else ""
    return broken("truth", sentence, column=column, rows=rows) if rows else None


def _check_membership(
    grouped: Mapping[str, Grouped],
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    witness: Witness | None,
) -> Check:
    """Check that everyone is in a group with all their parts.

    A run says which group that is; from the files alone it has to be possible.
    """
    sizes = next(iter(grouped.values())).sizes
    try:
        if witness is not None:
            return check_witness(grouped, next(iter(published.values())), table, witness)
        possible, why = can_stand(parts_of(grouped, table), table.count, len(sizes))
    except TooLarge as error:
        possible, why = None, error.message
    if possible is None:
        return not_checked(
            "membership",
            f"Whether everyone fits a group that shows all their values is not decided. "
            f"{why} With the recipe that the run completed the groups are formed again.",
        )
    return judged(
        "membership",
        not possible,
        "The groups cannot be made of the table's rows, each of which has to be in a group that "
        f"shows all its values. {why}",
        f"Each of the {table.rows} rows of the table fits a group that shows all its values, and "
        "no group shows more.",
        bound=float(table.rows),
    )


def _facts(
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    grouped: Mapping[str, Grouped] | None,
) -> dict[str, float]:
    first = next(iter(published.values()))
    sizes = next(iter(grouped.values())).sizes if grouped else np.empty(0, dtype=np.int64)
    facts = facts_of(first.rows, table, sizes)
    if grouped and len(grouped) == 1:
        found = next(iter(grouped.values()))
        rank, lines = found.rank, found.table
        facts["unique_over_all_columns"] = float(np.count_nonzero(tally(rank, lines.count) == 1))
    return facts
