"""The second pair of eyes: recompute every model from the published text alone.

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
from anon_core.verification.files.published import PublishedTable, check_formulas, check_identifiers
from anon_core.verification.files.reading import read_table
from anon_core.verification.files.reading_options import Reading, read_options
from anon_core.verification.files.recipe_files import named_path, read_hierarchies, read_recipe
from anon_core.verification.files.release_files import (
    CLASS_WEIGHTS,
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
from anon_core.verification.recipe import Terms, completed, is_guessable, read_terms, section
from anon_core.verification.registry import (
    check_gates,
    fails_alone,
    judge_all,
    looks_at_public,
)
from anon_core.verification.rows.averages import (
    check_averages,
    check_class_weights,
    check_groups,
    numbers_of,
)
from anon_core.verification.rows.changes import with_changes
from anon_core.verification.rows.coverage import (
    Fails,
    bounds_of,
    check_coverage,
    check_level_bounds,
    check_linked,
    check_one_level,
    check_suppressed,
    links_of,
)
from anon_core.verification.rows.groups import Grouped, Lines, Settled, table_names, tally
from anon_core.verification.rows.membership import Witness
from anon_core.verification.rows.people import PublicPeople, read_public
from anon_core.verification.rows.permutation import check_permuted
from anon_core.verification.rows.recipe_changes import (
    at_each_level,
    at_levels,
    chosen_rows,
    complete_rows,
    relabelled,
    with_unseen,
    without_redacted,
)
from anon_core.verification.rows.tables import PrivateTable, read_of_rows
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.texts import LevelTable

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
    """Recompute from the published text whether a release keeps what its recipe says.

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
        the files of other formats next to them, where there are some.
    public : pandas.DataFrame or TextTable, optional
        The public table as it was read, for models about its people.
    witness : Witness, optional
        What the run says of which row is where, to be checked: groups are not in the files.
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
    for variant in at_each_level(recipe, levels):
        found = _verified(variant, table, levels, files, people, witness, key)
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
    """Recompute a recipe that names every level; see `verify`."""
    terms = read_terms(recipe, private.names, levels)
    bounds = bounds_of(recipe, terms)
    links = links_of(recipe, terms.quasi)
    whole = private
    terms, private, chosen = chosen_rows(recipe, terms, private)
    if section(recipe, "data").get("rest", "outside") == "population":
        public = whole
    elif section(recipe, "data").get("benchmark", 0):
        public = complete_rows(terms, private)
    every = len(private)
    private = without_redacted(recipe, terms, private)
    terms, private, changed = with_changes(terms, private, key)
    levels = relabelled(recipe, levels, lambda name: read_of_rows(terms, private, name).spelling)
    private, levels, left_out = with_unseen(recipe, terms, private, levels)
    terms, private, levels = at_levels(recipe, terms, private, levels)
    levels = {name: LevelTable(lines) for name, lines in levels.items()}
    export = section(recipe, "export")
    table = PrivateTable(terms, private, levels)
    published: dict[str, PublishedTable] = {}
    for name in table_names(terms):
        found = read_checked(name, files, export, terms.quasi, table.spelling)
        if isinstance(found, Check):
            return Verification(checks=(found,))
        published[name] = found

    @cache
    def people() -> PublicPeople | None:
        quasi = next(iter(published.values())).lines
        # Models go by all quasi-identifiers: where the public table or the release lacks one,
        # nobody is counted.
        if public is None or not set(terms.quasi) <= set(public.names):
            return None
        if not quasi.has(terms.quasi):
            return None
        return read_public(terms, public, private, table, levels, quasi)

    def judged(parts: Mapping[str, Grouped]) -> list[Check]:
        return judge_all(terms, parts, table, levels, people)

    def fails(classes: Grouped) -> tuple[npt.NDArray[np.bool_], Settled | None] | str:
        if public is None or not set(terms.quasi) <= set(public.names):
            return fails_alone(terms, classes, table, levels, lambda: None)
        covered = partial(read_public, terms, public, private, table, levels, classes.table)
        return fails_alone(terms, classes, table, levels, cache(covered))

    if terms.permuted:
        verification = check_permuted(terms, published, table, judged, witness)
    else:
        release = published["release"]
        verification = _check_whole(
            terms, release, table, levels, judged, fails, witness, bounds, links
        )
    first = next(iter(published.values()))
    more = check_class_weights(recipe, terms, first.lines, table, files.get(CLASS_WEIGHTS))
    for name, own in published.items():
        file = own.called(name)
        if not own.file:
            more.append(check_writing(own, [file], files))
        more.append(check_spelling(terms, own, file, table, levels, public))
    more += [*check_other_formats(published, files), *changed, *left_out, *chosen]
    more += check_dialect(export, published, files)
    more += check_gates(recipe, first.rows, every)
    if terms.left_out:
        more.append(_check_left_out(terms, published))
    if terms.sample != 1:
        more.append(_check_sample(table))
    by_chance = terms.drew or terms.permuted or terms.sample != 1 or terms.shape.rows == "drawn"
    if terms.seed is not None and by_chance:
        more.append(_check_seed(terms.seed))
    return verification.with_checks(more)


def _check_left_out(terms: Terms, published: Mapping[str, PublishedTable]) -> Check:
    """Check that what no role names is nowhere published."""
    shown = [n for n in terms.left_out if any(n in t.header for t in published.values())]
    named = "Column {} is" if len(terms.left_out) == 1 else "Columns {} are"
    return Check(
        name="left-out",
        holds=not shown,
        column=shown[0] if shown else "",
        sentence=f"Column {listing(shown)} is published, though no role of the recipe names it."
        if shown
        else f"{named.format(listing(terms.left_out))} named by no role, and not published.",
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
    terms: Terms,
    file: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    judged: Callable[[Mapping[str, Grouped]], Sequence[Check]],
    fails: Fails,
    witness: Witness | None,
    bounds: Mapping[str, tuple[int, int | None]],
    links: Sequence[Sequence[str]],
) -> Verification:
    """Check a release whose rows stay whole."""
    release = file.lines
    checks = [
        *_check_columns(terms, file.header),
        *_check_rows(release, table),
        *_check_suppression(terms, release, table, fails),
    ]
    checks.append(_check_order(file))
    if terms.neutralised:
        checks.append(check_formulas(file))
    classes = release.classes
    whole = {}
    if classes is not None:
        whole["release"] = Grouped(table=release, columns=tuple(release.header), group=classes)
    checks += judged(whole)
    if terms.shape.levels == "one":
        checks.append(check_one_level(terms, release, table))
    if bounds:
        checks.append(check_level_bounds(bounds, terms, release, table))
    if links:
        checks.append(check_linked(links, terms, release, table))
    names = terms.quasi
    if terms.averaged:
        checks.extend(check_averages(terms, release, table))
        checks.extend(check_groups(terms, file, table, witness))
        names = tuple(n for n in terms.quasi if n not in numbers_of(terms, table))
    checks.extend(check_coverage(names, terms, release, table, levels))
    return Verification(checks=(), facts=_facts(release, table)).with_checks(checks)


def verify_files(
    recipe_path: Path,
    data_path: Path,
    release_folder: Path,
    *,
    seed: int | str | None = None,
    decided: Mapping[str, Any] | None = None,
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
    decided : mapping, optional
        The recipe's tables in full: what the recipe leaves out of technique and models, and what
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
    if decided is not None:
        recipe = completed(recipe, decided)
    private = read_table(Path(data_path), read_options(section(recipe, "data")))
    levels = read_hierarchies(recipe, recipe_path.parent)
    terms = read_terms(recipe, private.names, levels)
    tables = table_names(terms)
    export = section(recipe, "export")
    files = read_files(release_folder, tables, export)
    public = _public_table(recipe, terms, recipe_path)
    found = verify(recipe, private, levels, files, public, witness, key)
    names = [*file_names(tables, export), *names_of(list(tables)), *typed.names_of(tables)]
    names.append(CLASS_WEIGHTS)
    there = check_presence(export, list(tables), files)
    there += typed.check_typed(export, tables, release_folder, Path(data_path))
    return found.with_checks([*there, check_folder(release_folder, names)])


def _public_table(recipe: Mapping[str, Any], terms: Terms, recipe_path: Path) -> TextTable | None:
    """Read the public table a recipe names, where a model is about its people."""
    place = named_path(section(recipe, "population").get("file", ""), "The population table")
    if not place or not looks_at_public(terms):
        return None
    options = read_options(section(recipe, "data"))
    reading = Reading(
        dates=options.dates,
        decimals=options.decimals,
        missing=options.missing,
        missing_in=options.missing_in,
    )
    return read_table(recipe_path.parent / place, reading)


# ---- the checks ------------------------------------------------------------------------------


def _check_columns(terms: Terms, header: Sequence[str]) -> list[Check]:
    expected = list(terms.published)
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
        check_identifiers(terms, [header]),
        Check(name="columns", holds=list(header) == expected, sentence=sentence),
    ]


def _check_rows(release: Lines, table: PrivateTable) -> list[Check]:
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
    terms: Terms, release: Lines, table: PrivateTable, fails: Fails
) -> list[Check]:
    """Check how many rows are suppressed, and which, as far as that is not the technique's own."""
    suppressed = max(table.rows - release.rows, 0)
    share = suppressed / table.rows if table.rows else 0.0
    missing = many(suppressed, "row", "is", "are")
    if terms.shape.rows == "drawn":
        sentence = (
            f"{missing} not published ({share:.2%}): not drawn, or of a class too small; the "
            "recipe sets no limit."
        )
        return [Check(name="suppression", holds=True, bound=1.0, reached=share, sentence=sentence)]
    allowed = math.floor(terms.max_suppression * table.rows + Fraction(1, 10**9))
    bound = float(terms.max_suppression)
    which: Check | str = ""
    if suppressed:
        which = "the technique chooses them"
        if terms.shape.levels == "one":
            which = check_suppressed(terms, release, table, fails)
    sentence = f"{missing} suppressed ({share:.2%}); at most {allowed} may be ({bound:.2%})."
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
