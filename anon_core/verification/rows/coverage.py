"""Is every published row true of a row of the table of its own, at levels that are allowed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.findings import Check, many, named, undecided
from anon_core.verification.recipe import Promise, section
from anon_core.verification.rows.groups import Lines, tally
from anon_core.verification.rows.matching import (
    TooLarge,
    beyond,
    covering_pairs,
    sole_text,
    text_runs,
    without_partner,
)
from anon_core.verification.rows.tables import PrivateTable, joined
from anon_core.verification.text.labels import untrue
from anon_core.verification.text.texts import Codes, Cover, on_levels

# Does every column stand between the lowest and the highest level that the recipe allows?


def bounds_of(
    recipe: Mapping[str, Any], quasi: tuple[str, ...]
) -> dict[str, tuple[int, int | None]]:
    """Return lowest and highest level by column; None where the highest is open.

    Raises
    ------
    BadPlan
        If the recipe's [level_bounds] is not what it should be.
    """
    found: dict[str, tuple[int, int | None]] = {}
    for name, told in section(recipe, "level_bounds").items():
        ends = cast(Mapping[str, object], told) if isinstance(told, Mapping) else {}
        least, most = ends.get("least", 0), ends.get("most")
        whole = all(
            isinstance(end, int) and not isinstance(end, bool) and end >= 0
            for end in (least, 0 if most is None else most)
        )
        if name not in quasi or not ends or set(ends) - {"least", "most"} or not whole:
            raise BadPlan(
                "The recipe's [level_bounds] holds something other than levels of "
                "quasi-identifiers.",
                remedy="Write column = { least = 1, most = 2 }.",
            )
        found[name] = (cast(int, least), cast("int | None", most))
    return found


def check_level_bounds(
    bounds: Mapping[str, tuple[int, int | None]],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
) -> Check:
    """Check that each text of a bounded column is a label of a level within its bounds."""
    if not release.has(promise.quasi):
        return undecided("level-bounds", "Levels of columns cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    beyond: list[str] = []
    for name, (least, most) in bounds.items():
        column, texts = table.columns[name], release.texts_of(name)
        leaves, labels = table.level_sets(name)
        highest = len(labels) if most is None else most
        odd = np.array(
            [
                not any(
                    least <= level <= highest
                    # A missing value is itself on every level below the top.
                    for level in (
                        on_levels(column, leaves, labels, text) if text else range(len(labels))
                    )
                )
                for text in texts
            ],
            dtype=np.bool_,
        )
        if odd.any():
            wrong |= odd[release.codes_of(name)]
            beyond.append(name)
    found = release.rows_of(wrong)
    return Check(
        name="level-bounds",
        holds=not beyond,
        column=beyond[0] if beyond else "",
        rows=found.first,
        sentence=f"Column {listing(beyond)} shows levels beyond the lowest or highest that the "
        f"recipe allows, in {many(len(found), 'row')} {named(found)}."
        if beyond
        else f"Column {listing(bounds)}: every cell is at an allowed level.",
    )


def check_one_level(promise: Promise, release: Lines, table: PrivateTable) -> Check:
    """Check that some level of each hierarchy has all texts that its column shows.

    Whoever may choose a level cell by cell can mark a person, though every cell is true.
    """
    if not release.has(promise.quasi):
        return undecided("levels", "Whether columns are at one level cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    mixed: list[str] = []
    for name in promise.quasi:
        column, texts = table.columns[name], release.texts_of(name)
        if not texts:
            continue
        leaves, labels = table.level_sets(name)
        # A missing value is itself on every level below the top.
        below = range(len(labels))
        at = np.array(
            [
                [level in places for level in range(len(labels) + 1)]
                if text
                else [level in below for level in range(len(labels) + 1)]
                for text in texts
                for places in (on_levels(column, leaves, labels, text),)
            ],
            dtype=np.bool_,
        ).reshape(len(texts), -1)
        if at.all(axis=0).any():
            continue
        codes = release.codes_of(name)
        rows = tally(codes, release.count, len(texts))
        wrong |= ~at[:, int(np.argmax(rows @ at))][codes]
        mixed.append(name)
    found = release.rows_of(wrong)
    return Check(
        name="levels",
        holds=not mixed,
        column=mixed[0] if mixed else "",
        rows=found.first,
        sentence=f"Column {listing(mixed)} shows several levels of its hierarchy, though the "
        f"technique publishes a column at one: {many(len(found), 'row', 'stands', 'stand')} at "
        f"another than most {named(found)}."
        if mixed
        else "Every quasi-identifier is published at one level of its hierarchy.",
    )


# Is every published row of a release of whole rows true of a row of the table of its own?


def check_coverage(
    names: Sequence[str],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    `names` are the quasi-identifiers whose cells cover values.
    """
    if not release.has(promise.published):
        return [undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    broken: list[Check] = []
    covers = [table.cover(n, release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        codes = release.codes_of(name)
        shown = release.texts_of(name)
        claimed = () if name in promise.label_names else levels.get(name, ())
        false = untrue(claimed, table.columns[name].spelling, shown)
        for texts, what in (
            (
                tuple(i for i, text in enumerate(shown) if text in false),
                "labels that claim a range or beginning not all of their values have",
            ),
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that mean different things on different levels"),
        ):
            rows = release.rows_of(np.isin(codes, texts))
            if rows:
                broken.append(
                    Check(
                        name="coverage",
                        holds=False,
                        column=name,
                        rows=rows.first,
                        sentence=f"Column '{name}' shows {what} {named(rows)}.",
                    )
                )
    if broken:
        return broken
    try:
        rows = release.last_rows_of(_alone(names, promise, release, table, covers))
    except TooLarge as error:
        return [undecided("coverage", f"Coverage is not decided. {error.message}")]
    return [
        Check(
            name="coverage",
            holds=not rows,
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
            rows=rows.first,
            sentence=f"{many(len(rows), 'published row', 'has', 'have')} no row of the table of "
            f"its own to be true of {named(rows)}."
            if rows
            else f"Each of the {release.rows} published rows is true of a row of the table of its "
            f"own.{_taken_for_names(promise)}",
        )
    ]


def _taken_for_names(promise: Promise) -> str:
    """Return which labels were not held against their values, beginning with a blank."""
    if not promise.label_names:
        return ""
    columns = ", ".join(f"'{name}'" for name in sorted(promise.label_names))
    return f" Labels of {columns} are names, as the recipe confirms: what they say is not checked."


def _alone(
    names: Sequence[str],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
    covers: Sequence[Cover],
) -> Codes:
    """Return how many rows of each line have no row of the table of their own to be true of.

    Raises
    ------
    TooLarge
        If it can't be decided.
    """

    def exact() -> Iterator[Codes]:  # coded alike in both tables; a value the table lacks is 0
        for n in promise.exact:
            told = table.columns[n].codes_of_texts(release.texts_of(n))[release.codes_of(n)]
            yield np.concatenate([table.codes(n), told]) + 1

    sizes = [table.columns[n].missing + 1 for n in names]
    runs = [cover.runs for cover in covers]
    sole = [sole_text(own, size) for own, size in zip(runs, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) == len(names):
        # No two texts share a value: every row of the table can stand in one class only.
        both = (
            np.concatenate([(text + 1)[table.codes(n)], release.codes_of(n) + 1])
            for n, text in zip(names, texts, strict=True)
        )
        kind, _ = joined(chain(both, exact()), len(table) + len(release))
        return beyond(kind[: len(table)], table.count, kind[len(table) :], release.count)
    columns = [text_runs(own, size) for own, size in zip(runs, sizes, strict=True)]
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    coded = [table.codes(n) for n in names]
    point, first = joined(coded, len(table))
    points = np.stack([codes[first] for codes in coded], axis=1)
    pairs = covering_pairs(points, boxes, columns)
    # Everyone in the narrowest class they fit: where each published row then has a row of its own,
    # that is proven by counts alone, as large tables need it: a million rows take 0.2 GB less.
    values = [[sum(b - a + 1 for a, b in own) for own in cover.runs] for cover in covers]
    wide = [np.log(np.maximum(own, 1))[boxes[:, d]] for d, own in enumerate(values)]
    order = np.argsort(-np.sum(wide, axis=0)[pairs[1]], kind="stable")  # the last one stays
    of_point = np.zeros(len(points), dtype=np.int64)
    of_point[pairs[0][order]] = pairs[1][order] + 1
    kind, _ = joined(
        chain([np.concatenate([of_point[point], classes + 1])], exact()), len(table) + len(release)
    )
    alone = beyond(kind[: len(table)], table.count, kind[len(table) :], release.count)
    if not alone.any() or np.bincount(pairs[0]).max(initial=0) <= 1:
        return alone
    payload, _ = joined(exact(), len(table) + len(release))
    return without_partner(
        point,
        payload[: len(table)],
        table.count,
        classes,
        payload[len(table) :],
        release.count,
        *pairs,
    )
