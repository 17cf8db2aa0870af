"""Is every published row true of a row of the table of its own, at levels that are allowed?

And are the rows that are not published those that a privacy model asks for?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.verification.findings import Check, Rows, many, named, undecided
from anon_core.verification.recipe import Terms, section
from anon_core.verification.rows.groups import Grouped, Lines, Settled, coded_alike, tally
from anon_core.verification.rows.matching import (
    TooLarge,
    beyond,
    covering,
    sole_text,
    without_partner,
)
from anon_core.verification.rows.tables import PrivateTable, joined
from anon_core.verification.text.labels import untrue
from anon_core.verification.text.texts import EVERYTHING, Codes, Cover, on_levels

# Does every column stand between the lowest and the highest level that the recipe allows?


def bounds_of(recipe: Mapping[str, Any], terms: Terms) -> dict[str, tuple[int, int | None]]:
    """Return lowest and highest level by column; None where the highest is open.

    Where the technique is asked for levels, both are the column's level; -1 is the top.

    Raises
    ------
    BadPlan
        If the recipe's [level_bounds] is not what it should be.
    """
    found: dict[str, tuple[int, int | None]] = {}
    for name, bounds in section(recipe, "level_bounds").items():
        ends = cast(Mapping[str, object], bounds) if isinstance(bounds, Mapping) else {}
        least, most = ends.get("least", 0), ends.get("most")
        whole = all(
            isinstance(end, int) and not isinstance(end, bool) and end >= 0
            for end in (least, 0 if most is None else most)
        )
        if name not in terms.quasi or not ends or set(ends) - {"least", "most"} or not whole:
            raise BadPlan(
                "The recipe's [level_bounds] holds something other than levels of "
                "quasi-identifiers.",
                remedy="Write column = { least = 1, most = 2 }.",
            )
        found[name] = (cast(int, least), cast("int | None", most))
    asked = cast(object, terms.algorithm.get("levels"))
    drawn = not asked and terms.algorithm.get("levels_epsilon")
    if not isinstance(asked, Mapping) or terms.shape.levels != "one" or drawn:
        return found
    levels = cast(Mapping[str, object], asked)
    for name in terms.quasi:
        _, most = found.get(name, (0, None))
        level = levels.get(name, -1 if most is None else most)
        if not isinstance(level, int) or isinstance(level, bool):
            raise BadPlan(
                f"The level of '{name}' in the recipe is {brief(level)}.",
                remedy="Write a whole number from 0 up.",
            )
        found[name] = (level, level)
    return found


def check_level_bounds(
    bounds: Mapping[str, tuple[int, int | None]],
    terms: Terms,
    release: Lines,
    table: PrivateTable,
) -> Check:
    """Check that each text of a bounded column is a label of a level within its bounds."""
    if not release.has(terms.quasi):
        return undecided("level-bounds", "Levels of columns cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    beyond: list[str] = []
    for name, (least, most) in bounds.items():
        column, texts = table.columns[name], release.texts_of(name)
        leaves, labels = table.level_sets(name)
        lowest = len(labels) if least == -1 else least
        highest = len(labels) if most in (None, -1) else most
        odd = np.array(
            [
                not any(
                    lowest <= level <= highest
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


def links_of(recipe: Mapping[str, Any], quasi: tuple[str, ...]) -> list[list[str]]:
    """Return the columns of which the others are blank where the first is.

    Raises
    ------
    BadPlan
        If the recipe's linked columns are no sets of quasi-identifiers.
    """
    linked = section(recipe, "algorithm").get("linked", [])
    sets = cast(Sequence[Any], linked) if isinstance(linked, list | tuple) else [None]
    found = [list(cast(Sequence[str], own)) for own in sets if isinstance(own, list | tuple)]
    if len(found) < len(sets) or any(set(own) - set(quasi) or len(own) < 2 for own in found):
        raise BadPlan(
            "The recipe's linked columns are not sets of quasi-identifiers.",
            remedy="Write linked = [['zip', 'city']].",
        )
    return found


def check_linked(
    links: Sequence[Sequence[str]], terms: Terms, release: Lines, table: PrivateTable
) -> Check:
    """Check that columns are at the top wherever the column that they follow is."""
    if not release.has(terms.quasi):
        return undecided("linked", "Linked columns cannot be compared.")

    def blank(name: str) -> npt.NDArray[np.bool_]:
        leaves, labels = table.level_sets(name)
        texts = release.texts_of(name)
        at = [on_levels(table.columns[name], leaves, labels, text) for text in texts]
        top = [
            0 not in own and (text == EVERYTHING or len(labels) in own)
            for text, own in zip(texts, at, strict=True)
        ]
        return np.array(top, dtype=np.bool_)[release.codes_of(name)]

    wrong = np.zeros(len(release), dtype=np.bool_)
    for first, *others in links:
        for name in others:
            # A column that says the same everywhere tells nothing, and has no blank.
            if len(np.unique(table.columns[name].codes)) > 1:
                wrong |= blank(first) & ~blank(name)
    found = release.rows_of(wrong)
    return Check(
        name="linked",
        holds=not wrong.any(),
        rows=found.first,
        sentence=f"A column that follows a blanked one is shown in {many(len(found), 'row')} "
        f"{named(found)}."
        if wrong.any()
        else f"Where {listing([own[0] for own in links])} is blanked, so are the columns that "
        "follow it.",
    )


def check_one_level(terms: Terms, release: Lines, table: PrivateTable) -> Check:
    """Check that some level of each hierarchy has all texts that its column shows.

    Anyone who may choose a level cell by cell can mark a person, though every cell is true.
    """
    if not release.has(terms.quasi):
        return undecided("levels", "Whether columns are at one level cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    mixed: list[str] = []
    for name in terms.quasi:
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
    terms: Terms,
    release: Lines,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    `names` are the quasi-identifiers whose cells cover values.
    """
    if not release.has(terms.published):
        return [undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    broken: list[Check] = []
    covers = [table.cover(n, release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        codes = release.codes_of(name)
        shown = release.texts_of(name)
        claimed = () if name in terms.label_names else levels.get(name, ())
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
        rows = release.last_rows_of(_alone(names, terms, release, table, covers))
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
            f"own.{_taken_for_names(terms)}",
        )
    ]


def _taken_for_names(terms: Terms) -> str:
    """Return which labels were not held against their values, beginning with a blank."""
    if not terms.label_names:
        return ""
    columns = ", ".join(f"'{name}'" for name in sorted(terms.label_names))
    return f" Labels of {columns} are names, as the recipe confirms: what they say is not checked."


def _alone(
    names: Sequence[str],
    terms: Terms,
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
    exact = partial(coded_alike, terms.exact, table, release)
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
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    point, first, pairs = covering(names, runs, table, boxes)
    # Everyone in the narrowest class they fit: where each published row then has a row of its own,
    # that is proven by counts alone, as large tables need it: a million rows take 0.2 GB less.
    values = [[sum(b - a + 1 for a, b in own) for own in cover.runs] for cover in covers]
    wide = [np.log(np.maximum(own, 1))[boxes[:, d]] for d, own in enumerate(values)]
    order = np.argsort(-np.sum(wide, axis=0)[pairs[1]], kind="stable")  # the last one stays
    of_point = np.zeros(len(first), dtype=np.int64)
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


# Are the rows that are suppressed those of classes that break a privacy model?


_WHICH = "suppressed-rows"
#: Choices of levels that are tried where the published texts are on several.
_MOST_CHOICES = 64
#: Given classes, it returns which break a model by themselves, and what a model about all classes
#: together says; or why that is unknown.
Fails = Callable[[Grouped], tuple[npt.NDArray[np.bool_], Settled | None] | str]


def check_suppressed(
    terms: Terms, release: Lines, table: PrivateTable, fails: Fails
) -> Check | str:
    """Check that whole classes are suppressed, and those alone that break a privacy model.

    Where every column is at one level, the levels say which rows are a class, and the privacy
    models which classes may stay: nothing is left to choose, so that no one can be marked by the
    suppression of others.

    Returns
    -------
    Check or str
        Or why which rows these are is unknown.
    """
    if not release.has(terms.published):
        return undecided(_WHICH, "Which rows were suppressed cannot be recomputed.")
    every = [_levels_shown(name, release, table) for name in terms.quasi]
    found: Check | str = undecided(_WHICH, "No levels say which rows were suppressed.")
    for node in islice(product(*every), _MOST_CHOICES):
        found = _suppressed_at(node, terms, release, table, fails)
        if isinstance(found, str) or found.holds:
            return found
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Level:
    """A column's values at one level of its hierarchy.

    Attributes
    ----------
    group_of : int64 array of shape (values + 1,)
        The group of each code of the private column; the last is the missing value's.
    group_shown : int64 array of shape (texts,)
        The group of each published text.
    texts : list of str, optional
        What each group is called; None at level 0, where a group is a value.
    """

    group_of: Codes
    group_shown: Codes
    texts: list[str] | None


def _levels_shown(name: str, release: Lines, table: PrivateTable) -> list[_Level]:
    """Return the levels on which every published text is; of those that part alike the lowest."""
    column, shown = table.columns[name], release.texts_of(name)
    own = column.codes_of_texts(shown)
    found: list[_Level] = []
    if not np.any(own < 0):
        every = np.arange(column.missing + 1)
        found.append(_Level(group_of=every, group_shown=own, texts=None))
    for under in table.level_sets(name)[1]:
        texts = [*under, ""]
        group_of = np.full(column.missing + 1, len(under), dtype=np.int64)
        for number, codes in enumerate(under.values()):
            group_of[list(codes)] = number
        places = {text: number for number, text in reversed(list(enumerate(texts)))}
        places_shown = np.array([places.get(text, -1) for text in shown], dtype=np.int64)
        if np.any(places_shown < 0) or any(
            _parts_alike(group_of, level.group_of) for level in found
        ):
            continue
        found.append(_Level(group_of=group_of, group_shown=places_shown, texts=texts))
    return found


def _parts_alike(one: Codes, other: Codes) -> bool:
    return np.array_equal(joined([one], len(one))[0], joined([other], len(other))[0])


def _suppressed_at(
    node: Sequence[_Level], terms: Terms, release: Lines, table: PrivateTable, fails: Fails
) -> Check | str:
    """Check which rows are suppressed where columns are at these levels."""
    both = (
        np.concatenate([level.group_of[table.codes(n)], level.group_shown[release.codes_of(n)]])
        for n, level in zip(terms.quasi, node, strict=True)
    )
    kind, _ = joined(both, len(table) + len(release))
    classes = int(kind.max(initial=-1)) + 1
    own = kind[: len(table)]
    there = tally(own, table.count, classes)
    shown = tally(kind[len(table) :], release.count, classes)
    parted = (shown > 0) & (shown < there)
    if parted.any():
        gone = int((there - shown)[parted].sum())
        return Check(
            name=_WHICH,
            holds=False,
            rows=release.rows_of(parted[kind[len(table) :]]).first,
            sentence=f"{many(gone, 'row', 'is', 'are')} suppressed of "
            f"{many(int(parted.sum()), 'class', 'that is', 'that are')} published otherwise; at "
            "one level whole classes stay or go.",
        )
    gone = (shown == 0) & (there > 0)
    judged = fails(_classes_of(own, gone[own], node, terms, release, table))
    if isinstance(judged, str):
        return judged
    broken, settled = judged
    which = np.unique(own[gone[own]])
    if settled is not None:  # it looks at all classes, those that are published as well
        judged = fails(_classes_of(own, there[own] > 0, node, terms, release, table))
        if isinstance(judged, str):
            return judged
        broken, settled = judged
        assert settled is not None  # a model is about all classes whichever these are
        which = np.unique(own)
        wrong = settled(~broken, shown[which] > 0)
    else:
        wrong = ~broken
    rows = int(there[which][wrong].sum())
    return Check(
        name=_WHICH,
        holds=not rows,
        bound=0.0,
        reached=float(rows),
        sentence=f"Other rows are suppressed than the privacy models ask for at the published "
        f"levels: {many(rows, 'row', 'is', 'are')} of classes of which they ask otherwise."
        if rows
        else f"Suppressed are the rows of {many(int(gone.sum()), 'class')} that the privacy models "
        "do not let stay, and no others.",
    )


def _classes_of(
    own: Codes,
    kept: npt.NDArray[np.bool_],
    node: Sequence[_Level],
    terms: Terms,
    release: Lines,
    table: PrivateTable,
) -> Grouped:
    """Return some lines of the table as they would be published, in their classes by number.

    Parameters
    ----------
    own : int64 array of shape (lines,)
        The class of each line of the table.
    kept : bool array of shape (lines,)
    """
    lines = np.flatnonzero(kept)
    levels = dict(zip(terms.quasi, node, strict=True))
    texts: list[list[str]] = []
    codes: list[Codes] = []
    for name in release.header:
        column, level = table.columns[name], levels.get(name)
        keys = table.codes(name)[lines]
        if level is not None and level.texts is not None:
            used, code = np.unique(level.group_of[keys], return_inverse=True)
            texts.append([level.texts[number] for number in used.tolist()])
        else:
            used, code = np.unique(keys, return_inverse=True)
            texts.append([column.text_of(number) for number in used.tolist()])
        codes.append(code.astype(np.int64))
    lines_shown = Lines(
        header=release.header,
        texts=texts,
        codes=codes,
        count=table.count[lines],
        quasi=release.quasi,
        spelling=lambda name: replace(table.spelling(name), neutralised=False),
        find=lambda wanted, count: Rows(),
    )
    _, group = np.unique(own[lines], return_inverse=True)
    return Grouped(table=lines_shown, columns=release.header, group=group.astype(np.int64))
