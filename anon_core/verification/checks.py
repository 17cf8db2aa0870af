"""The second pair of eyes: recompute every promise from the published text alone.

It reads what is published, the recipe and the table with its own plain reader, groups the rows by
their texts, and measures again. Nothing of the code that made the release is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import clipped, listing
from anon_core.verification.files import statistics_files as typed
from anon_core.verification.files.bounded_reading import MOST_TEXT_BYTES, Content, read_bytes
from anon_core.verification.files.published import PublishedTable, check_formulas
from anon_core.verification.files.reading import read_table
from anon_core.verification.files.reading_options import Reading, read_options
from anon_core.verification.files.recipe_files import named_path, read_hierarchies, read_recipe
from anon_core.verification.files.release_files import (
    check_folder,
    check_other_formats,
    check_writing,
    file_names,
    read_checked,
    read_files,
    refuse_unfinished,
)
from anon_core.verification.files.spelling import check_spelling
from anon_core.verification.files.writing import check_dialect, check_presence, names_of
from anon_core.verification.findings import Check, Verification, many, named
from anon_core.verification.recipe import Promise, completed, is_guessable, read_promise, section
from anon_core.verification.registry import (
    check_gates,
    fails_alone,
    judge_all,
    looks_at_public,
)
from anon_core.verification.rows.averages import check_averages, check_groups, numbers_of
from anon_core.verification.rows.changes import with_changes
from anon_core.verification.rows.coverage import (
    Fails,
    bounds_of,
    check_coverage,
    check_level_bounds,
    check_one_level,
    check_suppressed,
)
from anon_core.verification.rows.groups import Grouped, Lines, Settled, table_names, tally
from anon_core.verification.rows.membership import Witness
from anon_core.verification.rows.people import PublicPeople, read_public
from anon_core.verification.rows.permuted import check_permuted
from anon_core.verification.rows.recipe_changes import (
    at_each_level,
    at_levels,
    chosen_rows,
    relabelled,
    with_unseen,
    without_redacted,
)
from anon_core.verification.rows.tables import PrivateTable
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.texts import LevelTable, Spelling, read_private_column

if TYPE_CHECKING:
    import pandas as pd


def verify(
    recipe: Mapping[str, Any],
    private: pd.DataFrame | TextTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    files: Mapping[str, Content],
    public: pd.DataFrame | TextTable | None = None,
    witness: Witness | None = None,
    key: bytes = b"",
) -> Verification:
    """Recompute from the published text whether a release keeps what its recipe promises.

    Parameters
    ----------
    recipe : mapping
        The recipe's tables.
        Where it searches the level of a sensitive column, the least is taken at which all holds.
    private : pandas.DataFrame or TextTable
        The table as it was read, before rows are dropped; its index plays no part.
    levels : mapping of str to sequence of sequences of str
        Level tables by column: value first, then one label a level.
    files : mapping of str to bytes or FileBytes
        The published files by name: ``release.csv``, or ``quasi.csv`` and ``sensitive.csv``; and
        the files of other formats beside them, where there are some.
    public : pandas.DataFrame or TextTable, optional
        The public table as it was read, for promises about its people.
    witness : Witness, optional
        What the run says of which row stands where, to be checked: groups are not in the files.
    key : bytes, optional
        The secret key of pseudonyms and shifted dates.

    Returns
    -------
    Verification
        Whatever is wrong with the release is a check that does not hold, never an exception. What
        nobody could check is named as that.

    Raises
    ------
    BadPlan
        If recipe and table do not fit each other.
    BadHierarchy
        If a level table is ragged or gives a value two paths.
    """
    nearest: Verification | None = None
    table = _as_read(private)
    people = None if public is None else _as_read(public)
    for told in at_each_level(recipe, levels):
        found = _verified(told, table, levels, files, people, witness, key)
        if found.holds:
            return found
        if nearest is None or _wrong(found) < _wrong(nearest):
            nearest = found
    assert nearest is not None
    return nearest


def _wrong(found: Verification) -> tuple[int, int]:
    return len(found.broken), len(found.unchecked)


def _as_read(table: pd.DataFrame | TextTable) -> TextTable:
    return table if isinstance(table, TextTable) else TextTable.of_frame(table)


def _verified(
    recipe: Mapping[str, Any],
    private: TextTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    files: Mapping[str, Content],
    public: TextTable | None,
    witness: Witness | None = None,
    key: bytes = b"",
) -> Verification:
    """Recompute what a recipe promises that names every level; see `verify`."""
    promise = read_promise(recipe, private.names, levels)
    bounds = bounds_of(recipe, promise.quasi)
    whole = private
    promise, private, chosen = chosen_rows(recipe, promise, private)
    if section(recipe, "data").get("rest", "outside") == "population":
        public = whole
    every = len(private)
    private = without_redacted(recipe, promise, private)
    promise, private, changed = with_changes(promise, private, key)
    levels = relabelled(recipe, levels, partial(_spelling, promise, private))
    private, levels, left_out = with_unseen(recipe, promise, private, levels)
    promise, private, levels = at_levels(recipe, promise, private, levels)
    levels = {name: LevelTable(lines) for name, lines in levels.items()}
    export = section(recipe, "export")
    table = PrivateTable(promise, private, levels)
    published: dict[str, PublishedTable] = {}
    for name in table_names(promise):
        found = read_checked(name, files, export, promise.quasi, table.spelling)
        if isinstance(found, Check):
            return Verification(checks=(found,))
        published[name] = found

    @cache
    def people() -> PublicPeople | None:
        quasi = next(iter(published.values())).lines
        # Promises go by all quasi-identifiers: where the public table or the release lacks one,
        # nobody is counted.
        if public is None or not set(promise.quasi) <= set(public.names):
            return None
        if not quasi.has(promise.quasi):
            return None
        return read_public(promise, public, private, table, levels, quasi)

    def judged(parts: Mapping[str, Grouped]) -> list[Check]:
        return judge_all(promise, parts, table, levels, people)

    def fails(classes: Grouped) -> tuple[npt.NDArray[np.bool_], Settled | None] | str:
        if public is None or not set(promise.quasi) <= set(public.names):
            return fails_alone(promise, classes, table, levels, lambda: None)
        covered = partial(read_public, promise, public, private, table, levels, classes.table)
        return fails_alone(promise, classes, table, levels, cache(covered))

    if promise.permuted:
        verification = check_permuted(promise, published, table, judged, witness)
    else:
        release = published["release"]
        verification = _check_whole(promise, release, table, levels, judged, fails, witness, bounds)
    more: list[Check] = []
    for name, own in published.items():
        file = own.called(name)
        if not own.file:
            more.append(check_writing(own, files[file], file))
        more.append(check_spelling(promise, own, file, table, levels, public))
    more += [*check_other_formats(published, files), *changed, *left_out, *chosen]
    more += check_dialect(export, published, files)
    more += check_gates(recipe, next(iter(published.values())).rows, every)
    if promise.left_out:
        more.append(_check_left_out(promise, published))
    if promise.sample < 1:
        more.append(_check_sample(table))
    by_chance = (
        promise.drew or promise.permuted or promise.sample < 1 or promise.shape.rows == "drawn"
    )
    if promise.seed is not None and by_chance:
        more.append(_check_seed(promise.seed))
    return verification.with_checks(more)


def _spelling(promise: Promise, private: TextTable, column: str) -> Spelling:
    """Return how the private cells of a column are read."""
    cells, kind = private.column(column), promise.kinds.get(column)
    missing = promise.missing_of(column)
    return read_private_column(cells, kind, missing, neutralised=False, ordered=False).spelling


def _check_left_out(promise: Promise, published: Mapping[str, PublishedTable]) -> Check:
    """Check that what no role names is nowhere published."""
    shown = [n for n in promise.left_out if any(n in t.header for t in published.values())]
    named = "Column {} is" if len(promise.left_out) == 1 else "Columns {} are"
    return Check(
        name="left-out",
        holds=not shown,
        column=shown[0] if shown else "",
        sentence=f"Column {listing(shown)} is published, though no role of the recipe names it."
        if shown
        else f"{named.format(listing(promise.left_out))} named by no role, and not published.",
    )


def _check_sample(table: PrivateTable) -> Check:
    """Tell of the draw; what is published is checked against the rows that it drew."""
    return Check(
        name="sample",
        holds=table.rows > 0,
        bound=float(table.before_sampling),
        reached=float(table.rows),
        sentence=f"{table.rows} of {table.before_sampling} rows were drawn again from the recipe; "
        "what is published is true of these.",
    )


def _check_seed(seed: int) -> Check:
    """Tell whether the seed is a secret: what was drawn from one that is found can be undone."""
    holds = not is_guessable(seed)
    return Check(
        name="seed",
        holds=holds,
        sentence="What was left to chance was drawn from a seed of more than 128 bits."
        if holds
        else "The seed is so short or so regular that it can be found by trying, so what was left "
        "to chance can be undone from the published file alone.",
    )


def _check_whole(
    promise: Promise,
    file: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    judged: Callable[[Mapping[str, Grouped]], Sequence[Check]],
    fails: Fails,
    witness: Witness | None,
    bounds: Mapping[str, tuple[int, int | None]],
) -> Verification:
    """Check a release whose rows stay whole."""
    release = file.lines
    checks = [
        *_check_columns(promise, file.header),
        *_check_rows(promise, release, table),
        *_check_suppression(promise, release, table, fails),
    ]
    checks.append(_check_order(file))
    if promise.neutralised:
        checks.append(check_formulas(file))
    classes = release.classes
    whole = {}
    if classes is not None:
        whole["release"] = Grouped(table=release, columns=tuple(release.header), group=classes)
    checks += judged(whole)
    if promise.shape.levels == "one":
        checks.append(check_one_level(promise, release, table))
    if bounds:
        checks.append(check_level_bounds(bounds, promise, release, table))
    names = promise.quasi
    if promise.averaged:
        checks.extend(check_averages(promise, release, table))
        checks.extend(check_groups(promise, file, table, witness))
        names = tuple(n for n in promise.quasi if n not in numbers_of(promise, table))
    checks.extend(check_coverage(names, promise, release, table, levels))
    return Verification(checks=(), facts=_facts(release, table)).with_checks(checks)


def verify_files(
    recipe_path: Path,
    data_path: Path,
    release_folder: Path,
    *,
    seed: int | str | None = None,
    told: Mapping[str, Any] | None = None,
    witness: Witness | None = None,
    key: bytes = b"",
) -> Verification:
    """Verify a release that lies in a folder, as the names given to `verify`.

    Parameters
    ----------
    recipe_path : Path
        The recipe (TOML); the paths of its hierarchies are relative to it.
    data_path : Path
        The table: CSV, plain or gzip, or Parquet.
    release_folder : Path
        It holds the files of the release and nothing else.
    seed : int or str, optional
        The secret a run has drawn, where the recipe leaves it out; a sample is drawn again with it.
    told : mapping, optional
        The recipe's tables in full: what the recipe leaves out of technique and promises, and what
        the release looks like.
    key : bytes, optional
        See `verify`.

    Raises
    ------
    BadInput
        If a file is not there or is not what it should be, or a run was stopped while it replaced
        the release.
    BadPlan, BadHierarchy
        As `verify` does.
    """
    recipe_path, release_folder = Path(recipe_path), Path(release_folder)
    refuse_unfinished(release_folder)
    content = read_bytes(recipe_path, "The recipe", MOST_TEXT_BYTES)
    recipe = read_recipe(content, clipped(recipe_path.name))
    if seed is not None:
        recipe = {"seed": seed, **recipe}
    if told is not None:
        recipe = completed(recipe, told)
    private = read_table(Path(data_path), read_options(section(recipe, "data")))
    levels = read_hierarchies(recipe, recipe_path.parent)
    promise = read_promise(recipe, private.names, levels)
    tables = table_names(promise)
    export = section(recipe, "export")
    files = read_files(release_folder, tables, export)
    public = _public_table(recipe, promise, recipe_path)
    found = verify(recipe, private, levels, files, public, witness, key)
    names = [*file_names(tables, export), *names_of(list(tables)), *typed.names_of(tables)]
    there = check_presence(export, list(tables), files)
    there += typed.check_typed(export, tables, release_folder, Path(data_path))
    return found.with_checks([*there, check_folder(release_folder, names)])


def _public_table(
    recipe: Mapping[str, Any], promise: Promise, recipe_path: Path
) -> TextTable | None:
    """Read the public table a recipe names, where a promise is about its people."""
    place = named_path(section(recipe, "population").get("file", ""), "The population table")
    if not place or not looks_at_public(promise):
        return None
    told = read_options(section(recipe, "data"))
    reading = Reading(
        dates=told.dates,
        decimals=told.decimals,
        missing=told.missing,
        missing_in=told.missing_in,
    )
    return read_table(recipe_path.parent / place, reading)


# ---- the checks ------------------------------------------------------------------------------


def _check_columns(promise: Promise, header: Sequence[str]) -> list[Check]:
    shown = [n for n in promise.identifier if n in header]
    expected = list(promise.published)
    extra = len([name for name in header if name not in expected])
    gone = [n for n in expected if n not in header]
    if list(header) == expected:
        sentence = f"The {len(expected)} published columns are those the recipe names for it."
    elif gone or extra:
        what = [f"{listing(gone)} not published"] if gone else []
        what += [many(extra, "column") + " too many"] if extra else []
        sentence = f"The published columns are not the recipe's: {', '.join(what)}."
    else:
        sentence = "The published columns are repeated or not in the table's order."
    return [
        Check(
            name="identifiers",
            holds=not shown,
            column=shown[0] if shown else "",
            sentence=f"Identifier {listing(shown)} is published."
            if shown
            else "No identifier column is published as it is."
            if promise.shown
            else "No identifier column is published.",
        ),
        Check(name="columns", holds=list(header) == expected, sentence=sentence),
    ]


def _check_rows(promise: Promise, release: Lines, table: PrivateTable) -> list[Check]:
    suppressed = table.rows - release.rows
    return [
        Check(
            name="rows",
            holds=suppressed >= 0,
            bound=float(table.rows),
            reached=float(release.rows),
            sentence=f"{release.rows} rows are published of {table.rows}."
            if suppressed >= 0
            else f"{release.rows} rows are published, but the table has only {table.rows}.",
        )
    ]


def _check_suppression(
    promise: Promise, release: Lines, table: PrivateTable, fails: Fails
) -> list[Check]:
    """Check how many rows are suppressed, and which, as far as that is not the technique's own."""
    suppressed = max(table.rows - release.rows, 0)
    share = suppressed / table.rows if table.rows else 0.0
    told = many(suppressed, "row", "is", "are")
    if promise.shape.rows == "drawn":
        sentence = (
            f"{told} not published ({share:.2%}): not drawn, or of a class too small; the recipe "
            "sets no limit."
        )
        return [Check(name="suppression", holds=True, bound=1.0, reached=share, sentence=sentence)]
    allowed = math.floor(promise.max_suppression * table.rows + Fraction(1, 10**9))
    bound = float(promise.max_suppression)
    which: Check | str = ""
    if suppressed:
        which = "the technique chooses them"
        if promise.shape.levels == "one":
            which = check_suppressed(promise, release, table, fails)
    sentence = f"{told} suppressed ({share:.2%}); at most {allowed} may be ({bound:.2%})."
    if isinstance(which, str) and which:
        sentence += f" Which rows these are is not checked: {which}."
    found = Check(
        name="suppression",
        holds=suppressed <= allowed,
        bound=bound,
        reached=share,
        sentence=sentence,
    )
    return [found, which] if isinstance(which, Check) else [found]


def _check_order(release: PublishedTable) -> Check:
    wrong = release.wrong_order
    return Check(
        name="order",
        holds=not wrong,
        rows=wrong.first,
        sentence=f"{many(len(wrong), 'row', 'is', 'are')} not in canonical order {named(wrong)}; "
        "the order of the table could show."
        if wrong
        else "The rows are in canonical order, so the table's order does not show.",
    )


def _facts(release: Lines, table: PrivateTable) -> dict[str, float]:
    classes = release.classes
    sizes = np.empty(0, np.int64) if classes is None else tally(classes, release.count)
    return {
        "rows": float(release.rows),
        "table_rows": float(table.rows),
        "suppressed": float(max(table.rows - release.rows, 0)),
        "classes": float(len(sizes)),
        "smallest_class": float(sizes.min()) if len(sizes) else 0.0,
        "unique_over_all_columns": float(np.count_nonzero(release.count == 1)),
    }
