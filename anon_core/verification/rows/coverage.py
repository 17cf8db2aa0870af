"""Is every published row true of a row of the table of its own, at levels that are allowed?

And are the rows that are not published those that a privacy model asks for?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, product

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import listing
from anon_core.verification.findings import Check, Rows, broken, judged, many, named, undecided
from anon_core.verification.rows import matching
from anon_core.verification.rows.groups import Grouped, Lines, Settled, coded_alike, tally
from anon_core.verification.rows.tables import PrivateTable, joined
from anon_core.verification.text.labels import false_and_unread
from anon_core.verification.text.texts import EVERYTHING, Codes, Cover, on_levels

# Does every column stand between the lowest and the highest level that the recipe allows?


def check_level_bounds(release: Lines, table: PrivateTable) -> Check:
    """Check that each text of a bounded column is a label of a level within its bounds."""
    terms = table.terms
    if not release.has(terms.quasi):
        return undecided("level-bounds", "Levels of columns cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    odd: list[str] = []
    for name, (least, most) in terms.bounds.items():
        at = _levels_of(name, release, table)
        top = at.shape[1] - 1
        last = top if most in (None, -1) else most
        allowed = np.any(at[:, top if least == -1 else least : last + 1], axis=1)
        if not allowed.all():
            wrong |= ~allowed[release.codes_of(name)]
            odd.append(name)
    rows = release.rows_of(wrong)
    return judged(
        "level-bounds",
        rows,
        f"Column {listing(odd)} shows levels beyond the lowest or highest that the recipe allows, "
        f"in {many(len(rows), 'row')} {named(rows)}.",
        f"Column {listing(terms.bounds)}: every cell is at an allowed level.",
        column=odd[0] if odd else "",
    )


def _levels_of(name: str, release: Lines, table: PrivateTable) -> npt.NDArray[np.bool_]:
    """Return on which levels each published text is, shape (texts, levels); level 0 is values.

    A missing value is itself on every level below the top.
    """
    leaves, labels = table.level_sets(name)
    below, column = range(len(labels)), table.columns[name]
    found = [
        on_levels(column, leaves, labels, text) if text else below
        for text in release.texts_of(name)
    ]
    every = range(len(labels) + 1)
    marks = [[level in places for level in every] for places in found]
    return np.array(marks, dtype=np.bool_).reshape(len(found), len(labels) + 1)


def check_linked(release: Lines, table: PrivateTable) -> Check:
    """Check that columns are at the top wherever the column that they follow is."""
    terms = table.terms
    if not release.has(terms.quasi):
        return undecided("linked", "Linked columns cannot be compared.")

    def blank(name: str) -> npt.NDArray[np.bool_]:
        at, texts = _levels_of(name, release, table), release.texts_of(name)
        top = [
            text != "" and not own[0] and bool(text == EVERYTHING or own[-1])
            for text, own in zip(texts, at.tolist(), strict=True)
        ]
        return np.array(top, dtype=np.bool_)[release.codes_of(name)]

    wrong = np.zeros(len(release), dtype=np.bool_)
    for first, *others in terms.links:
        for name in others:
            # A column that says the same everywhere tells nothing, and has no blank.
            if len(np.unique(table.columns[name].codes)) > 1:
                wrong |= blank(first) & ~blank(name)
    rows = release.rows_of(wrong)
    return judged(
        "linked",
        rows,
        f"A column that follows a blanked one is shown in {many(len(rows), 'row')} {named(rows)}.",
        f"Where {listing([own[0] for own in terms.links])} is blanked, so are the columns that "
        "follow it.",
    )


def check_one_level(release: Lines, table: PrivateTable) -> Check:
    """Check that some level of each hierarchy has all texts that its column shows.

    Anyone who may choose a level cell by cell can mark a person, though every cell is true.
    """
    terms = table.terms
    if not release.has(terms.quasi):
        return undecided("levels", "Whether columns are at one level cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    mixed: list[str] = []
    for name in terms.quasi if len(release) else ():
        at = _levels_of(name, release, table)
        if not at.all(axis=0).any():
            codes = release.codes_of(name)
            wrong |= ~at[:, int(np.argmax(tally(codes, release.count, len(at)) @ at))][codes]
            mixed.append(name)
    found = release.rows_of(wrong)
    return judged(
        "levels",
        found,
        f"Column {listing(mixed)} shows several levels of its hierarchy, though the technique "
        f"publishes a column at one: {many(len(found), 'row', 'stands', 'stand')} at another than "
        f"most {named(found)}.",
        "Every quasi-identifier is published at one level of its hierarchy.",
        column=mixed[0] if mixed else "",
    )


# Is every published row of a release of whole rows true of a row of the table of its own?


def check_coverage(names: Sequence[str], release: Lines, table: PrivateTable) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    `names` are the quasi-identifiers whose cells cover values.
    """
    terms = table.terms
    if not release.has(terms.published):
        return [undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    odd: list[Check] = []
    covers = [table.cover(n, release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        shown = release.texts_of(name)
        claimed = () if name in terms.label_names else table.levels.get(name, ())
        false, unread = false_and_unread(claimed, table.columns[name].spelling, shown)
        for texts, what in (
            (
                [i for i, text in enumerate(shown) if text in false],
                "labels that claim a range or beginning not all of their values have",
            ),
            (
                [i for i, text in enumerate(shown) if text in unread],
                "labels that seem to state a number or a time, are written so that nothing can "
                "check them, and are not confirmed as names under [labels]",
            ),
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that mean different things on different levels"),
        ):
            if rows := release.rows_of(np.isin(release.codes_of(name), texts)):
                words = f"Column '{name}' shows {what} {named(rows)}."
                odd.append(broken("coverage", words, column=name, rows=rows))
    if odd:
        return odd
    try:
        rows = release.last_rows_of(_alone(names, release, table, covers))
    except matching.TooLarge as error:
        return [undecided("coverage", f"Coverage is not decided. {error.message}")]
    columns = ", ".join(f"'{name}'" for name in sorted(terms.label_names))
    names_alone = f" Labels of {columns} are names, as the recipe confirms: what they say is not "
    return [
        judged(
            "coverage",
            rows,
            f"{many(len(rows), 'published row', 'has', 'have')} no row of the table of its own to "
            f"be true of {named(rows)}.",
            f"Each of the {release.rows} published rows is true of a row of the table of its own."
            f"{f'{names_alone}checked.' if columns else ''}",
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
        )
    ]


def _alone(
    names: Sequence[str], release: Lines, table: PrivateTable, covers: Sequence[Cover]
) -> Codes:
    """Return how many rows of each line have no row of the table of their own to be true of.

    Raises
    ------
    TooLarge
        If it can't be decided.
    """
    exact = partial(coded_alike, table.terms.exact, table, release)
    every = len(table) + len(release)

    def left(keys: Iterable[Codes]) -> Codes:
        kind, _ = joined(keys, every)
        return matching.beyond(kind[: len(table)], table.count, kind[len(table) :], release.count)

    sizes = [table.columns[n].missing + 1 for n in names]
    runs = [cover.runs for cover in covers]
    sole = [matching.sole_text(own, size) for own, size in zip(runs, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) == len(names):
        # No two texts share a value: every row of the table can stand in one class only.
        both = (
            np.concatenate([(text + 1)[table.codes(n)], release.codes_of(n) + 1])
            for n, text in zip(names, texts, strict=True)
        )
        return left(chain(both, exact()))
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    point, first, pairs = matching.covering(names, runs, table, boxes)
    # Everyone in the narrowest class they fit: where each published row then has a row of its own,
    # that is proven by counts alone, as large tables need it: a million rows take 0.2 GB less.
    values = [[sum(b - a + 1 for a, b in own) for own in cover.runs] for cover in covers]
    wide = [np.log(np.maximum(own, 1))[boxes[:, d]] for d, own in enumerate(values)]
    order = np.argsort(-np.sum(wide, axis=0)[pairs[1]], kind="stable")  # the last one stays
    of_point = np.zeros(len(first), dtype=np.int64)
    of_point[pairs[0][order]] = pairs[1][order] + 1
    alone = left(chain([np.concatenate([of_point[point], classes + 1])], exact()))
    if not alone.any() or np.bincount(pairs[0]).max(initial=0) <= 1:
        return alone
    own, shown = np.split(joined(exact(), every)[0], [len(table)])
    return matching.without_partner(point, own, table.count, classes, shown, release.count, *pairs)


# Are the rows that are suppressed those of classes that break a privacy model?


_WHICH = "suppressed-rows"
#: Choices of levels that are tried where the published texts are on several.
_MOST_CHOICES = 64
#: Given classes, it returns which break a model by themselves, and what a model about all classes
#: together says; or why that is unknown.
Fails = Callable[[Grouped], tuple[npt.NDArray[np.bool_], Settled | None] | str]


def check_suppressed(release: Lines, table: PrivateTable, fails: Fails) -> Check | str:
    """Check that whole classes are suppressed, and those alone that break a privacy model.

    Where every column is at one level, the levels say which rows are a class, and the privacy
    models which classes may stay: nothing is left to choose, so that no one can be marked by the
    suppression of others.

    Returns
    -------
    Check or str
        Or why which rows these are is unknown.
    """
    if not release.has(table.terms.published):
        return undecided(_WHICH, "Which rows were suppressed cannot be recomputed.")
    every = [_levels_shown(name, release, table) for name in table.terms.quasi]
    found: Check | str = undecided(_WHICH, "No levels say which rows were suppressed.")
    for node in islice(product(*every), _MOST_CHOICES):
        found = _suppressed_at(node, release, table, fails)
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
        found.append(_Level(group_of=np.arange(column.missing + 1), group_shown=own, texts=None))
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
    node: Sequence[_Level], release: Lines, table: PrivateTable, fails: Fails
) -> Check | str:
    """Check which rows are suppressed where columns are at these levels."""
    both = (
        np.concatenate([level.group_of[table.codes(n)], level.group_shown[release.codes_of(n)]])
        for n, level in zip(table.terms.quasi, node, strict=True)
    )
    kind, _ = joined(both, len(table) + len(release))
    classes = int(kind.max(initial=-1)) + 1
    own = kind[: len(table)]
    there = tally(own, table.count, classes)
    shown = tally(kind[len(table) :], release.count, classes)
    parted = (shown > 0) & (shown < there)
    if parted.any():
        gone = int((there - shown)[parted].sum())
        return broken(
            _WHICH,
            f"{many(gone, 'row', 'is', 'are')} suppressed of "
            f"{many(int(parted.sum()), 'class', 'that is', 'that are')} published otherwise; at "
            "one level whole classes stay or go.",
            rows=release.rows_of(parted[kind[len(table) :]]),
        )
    gone = (shown == 0) & (there > 0)
    judgement = fails(_classes_of(own, gone[own], node, release, table))
    if isinstance(judgement, str):
        return judgement
    wrong, settled = ~judgement[0], judgement[1]
    which = np.unique(own[gone[own]])
    if settled is not None:  # it looks at all classes, those that are published as well
        judgement = fails(_classes_of(own, there[own] > 0, node, release, table))
        if isinstance(judgement, str):
            return judgement
        settled = judgement[1]
        assert settled is not None  # a model is about all classes whichever these are
        which = np.unique(own)
        wrong = settled(~judgement[0], shown[which] > 0)
    rows = int(there[which][wrong].sum())
    return judged(
        _WHICH,
        rows,
        "Other rows are suppressed than the privacy models ask for at the published levels: "
        f"{many(rows, 'row', 'is', 'are')} of classes of which they ask otherwise.",
        f"Suppressed are the rows of {many(int(gone.sum()), 'class')} that the privacy models do "
        "not let stay, and no others.",
        bound=0.0,
        reached=float(rows),
    )


def _classes_of(
    own: Codes,
    kept: npt.NDArray[np.bool_],
    node: Sequence[_Level],
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
    levels = dict(zip(table.terms.quasi, node, strict=True))
    texts: list[list[str]] = []
    codes: list[Codes] = []
    for name in release.header:
        column, level = table.columns[name], levels.get(name)
        shown = table.codes(name)[lines]
        if level is not None and level.texts is not None:
            shown = level.group_of[shown]
        used, code = np.unique(shown, return_inverse=True)
        text_of = level.texts.__getitem__ if level is not None and level.texts else column.text_of
        texts.append(list(map(text_of, used.tolist())))
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
