"""The second pair of eyes: recompute every model from the published text alone.

It reads what is published, the recipe and the table with its own plain reader, groups the rows by
their texts, and measures again. Nothing of the code that made the release is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import listing
from anon_core.verification import registry
from anon_core.verification.files import release_files
from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.published import (
    PublishedTable,
    check_formulas,
    check_identifiers,
    check_order,
)
from anon_core.verification.files.reading import read_table
from anon_core.verification.files.reading_options import Reading, read_options
from anon_core.verification.files.recipe_files import named_path, read_hierarchies, read_plan
from anon_core.verification.files.spelling import check_spelling
from anon_core.verification.files.writing import check_presence, check_typed
from anon_core.verification.findings import Check, Verification, judged, many
from anon_core.verification.recipe import Levels, Terms, demand, is_guessable, read_terms, section
from anon_core.verification.rows import averages, coverage, groups, recipe_changes
from anon_core.verification.rows.changes import with_changes
from anon_core.verification.rows.groups import Grouped, Lines, Settled
from anon_core.verification.rows.membership import Witness
from anon_core.verification.rows.people import PublicPeople, read_public
from anon_core.verification.rows.permutation import check_permuted
from anon_core.verification.rows.tables import PrivateTable, read_of_rows
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.texts import LevelTable, Spelling

if TYPE_CHECKING:
    import pandas as pd

_AS_TEXT = Spelling(kind="text", neutralised=False)


def verify(
    recipe: Mapping[str, Any],
    private: pd.DataFrame | TextTable,
    levels: Levels,
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
    table = _as_read(private)
    people = None if public is None else _as_read(public)
    found: list[Verification] = []
    for variant in recipe_changes.at_each_level(recipe, levels):
        found.append(_verified(variant, table, levels, files, people, witness, key))
        if found[-1].holds:
            return found[-1]
    return min(found, key=lambda one: (len(one.broken), len(one.unchecked)))


def _as_read(table: pd.DataFrame | TextTable) -> TextTable:
    return table if isinstance(table, TextTable) else TextTable.of_frame(table)


def _verified(
    recipe: Mapping[str, Any],
    private: TextTable,
    levels: Levels,
    files: Mapping[str, Content],
    public: TextTable | None,
    witness: Witness | None = None,
    key: bytes = b"",
) -> Verification:
    """Recompute a recipe that names every level; see `verify`."""
    terms = read_terms(recipe, private.names, levels)
    whole = private
    terms, private, chosen = recipe_changes.chosen_rows(recipe, terms, private)
    if section(recipe, "data").get("rest", "outside") == "population":
        public = whole
    elif section(recipe, "data").get("benchmark", 0):
        public = recipe_changes.complete_rows(terms, private)
    every = len(private)
    private = recipe_changes.without_redacted(recipe, terms, private)
    terms, private, changed = with_changes(terms, private, key)
    levels = recipe_changes.relabelled(
        recipe, levels, lambda name: read_of_rows(terms, private, name).spelling
    )
    private, levels, left_out = recipe_changes.with_unseen(recipe, terms, private, levels)
    terms, private, levels = recipe_changes.at_levels(recipe, terms, private, levels)
    levels = {name: LevelTable(lines) for name, lines in levels.items()}
    export = section(recipe, "export")
    table = PrivateTable(terms, private, levels)
    published: dict[str, PublishedTable] = {}
    with ThreadPoolExecutor(1) as other:
        other.submit(len, table)  # its lines are counted while the release is read
        for name in groups.table_names(terms):
            found = release_files.read_checked(name, files, export, table)
            if isinstance(found, Check):
                return Verification(checks=(found,))
            published[name] = found
    first = next(iter(published.values()))

    def people(shown: Lines) -> PublicPeople | None:
        # Models go by all quasi-identifiers: where the public table or the release lacks one,
        # nobody is counted.
        if public is None or not set(terms.quasi) <= set(public.names):
            return None
        return read_public(public, table, shown) if shown.has(terms.quasi) else None

    def judge(parts: Mapping[str, Grouped]) -> list[Check]:
        return registry.judge_all(parts, table, cache(partial(people, first.lines)))

    def fails(classes: Grouped) -> tuple[npt.NDArray[np.bool_], Settled | None] | str:
        return registry.fails_alone(classes, table, cache(partial(people, classes.table)))

    with ThreadPoolExecutor(1) as other:
        formats = other.submit(release_files.check_formats, export, published, files)
        if terms.permuted:
            verification = check_permuted(published, table, judge, witness)
        else:
            verification = _check_whole(first, table, judge, fails, witness, other)
    more = averages.check_class_weights(
        recipe, terms, first.lines, table, files.get(release_files.CLASS_WEIGHTS)
    )
    more += [
        check_spelling(own, own.called(name), table, public) for name, own in published.items()
    ]
    more += [*formats.result(), *changed, *left_out, *chosen]
    more += registry.check_gates(recipe, first.rows, every)
    if terms.left_out:
        more.append(_check_left_out(terms, published))
    if terms.sample != 1:
        rows, before = table.rows, table.before_sampling
        sentence = (
            f"{rows} of {before} rows were drawn again from the recipe; what is published is true "
            "of these."
        )
        more.append(judged("sample", not rows, sentence, bound=before, reached=rows))
    by_chance = terms.drew or terms.permuted or terms.sample != 1 or terms.shape.rows == "drawn"
    if terms.seed is not None and by_chance:
        more.append(_check_seed(terms.seed))
    return verification.with_checks(more)


def _check_left_out(terms: Terms, published: Mapping[str, PublishedTable]) -> Check:
    """Check that what no role names is nowhere published."""
    shown = [n for n in terms.left_out if any(n in t.header for t in published.values())]
    named = "Column {} is" if len(terms.left_out) == 1 else "Columns {} are"
    wrong = f"Column {listing(shown)} is published, though no role of the recipe names it."
    kept = f"{named.format(listing(terms.left_out))} named by no role, and not published."
    return judged("left-out", shown, wrong, kept, column=shown[0] if shown else "")


def _check_seed(seed: int) -> Check:
    """Tell whether the seed is a secret: what was drawn from one that is found can be undone."""
    return judged(
        "seed",
        is_guessable(seed),
        "The seed is so short or so regular that it can be found by trying, so what was left to "
        "chance can be undone from the published file alone.",
        "What was left to chance was drawn from a seed of more than 128 bits.",
    )


def _check_whole(
    file: PublishedTable,
    table: PrivateTable,
    judge: Callable[[Mapping[str, Grouped]], Sequence[Check]],
    fails: coverage.Fails,
    witness: Witness | None,
    other: Executor,
) -> Verification:
    """Check a release whose rows stay whole; `other` carries out what takes long meanwhile."""
    terms, release = table.terms, file.lines
    averaged = averages.numbers_of(table) if terms.averaged else ()
    names = tuple(n for n in terms.quasi if n not in averaged)
    covered = other.submit(coverage.check_coverage, names, release, table)
    checks = [
        check_identifiers(terms, [file.header]),
        _check_columns(terms, file.header),
        _check_rows(release, table),
        *_check_suppression(release, table, fails),
        check_order(file.rank),
    ]
    if terms.neutralised:
        checks.append(check_formulas(file))
    checks += judge(groups.whole_classes(release))
    if terms.shape.levels == "one":
        checks.append(coverage.check_one_level(release, table))
    if terms.bounds:
        checks.append(coverage.check_level_bounds(release, table))
    if terms.links:
        checks.append(coverage.check_linked(release, table))
    if terms.averaged:
        checks += [
            *averages.check_averages(release, table),
            *averages.check_groups(file, table, witness),
        ]
    checks += covered.result()
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
    read: Callable[[Path, Reading], TextTable] = read_table,
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
    read : callable, optional
        Reads the table; for one who had `read_table` begin earlier.

    Raises
    ------
    BadInput
        If a file is not there or is not what it should be, or a run was stopped while it replaced
        the release.
    BadPlan, BadHierarchy
        As `verify` does.
    """
    recipe_path, release_folder = Path(recipe_path), Path(release_folder)
    release_files.refuse_unfinished(release_folder)
    recipe = read_plan(recipe_path, decided, seed)
    own = section(recipe, "data")
    private = read(Path(data_path), read_options(own))
    levels = read_hierarchies(recipe, recipe_path.parent)
    terms = read_terms(recipe, private.names, levels)
    named = [n for key in ("missing_in", "dates", "decimals") for n in own.get(key, ())]
    named += [one["column"] for one in recipe.get("confirmed", ())]
    gone = listing([n for n in named if n not in private.names])
    demand(not gone, f"The table has no column {gone}, which the recipe names.", "Use its table.")
    tables, export = groups.table_names(terms), section(recipe, "export")
    files = release_files.read_files(release_folder, tables, export)
    public = _public_table(recipe, terms, recipe_path)
    found = verify(recipe, private, levels, files, public, witness, key)
    there = check_presence(export, list(tables), files)
    cells = partial(release_files.read_release, files=files, quasi=(), spelling=lambda _: _AS_TEXT)
    there += check_typed(export, tables, release_folder, Path(data_path), cells)
    names = release_files.names_of_release(tables, export)
    return found.with_checks([*there, release_files.check_folder(release_folder, names)])


def _public_table(recipe: Mapping[str, Any], terms: Terms, recipe_path: Path) -> TextTable | None:
    """Read the public table a recipe names, where a model is about its people."""
    place = named_path(section(recipe, "population").get("file", ""), "The population table")
    if not place or not registry.looks_at_public(terms):
        return None
    # How the private file is parted and encoded says nothing about this one.
    own = read_options(section(recipe, "data"))
    reading = replace(own, separator="", encoding="", sheet="", header_row=0, labels=True)
    return read_table(recipe_path.parent / place, reading)


# ---- the checks ------------------------------------------------------------------------------


def _check_columns(terms: Terms, header: Sequence[str]) -> Check:
    expected = list(terms.published)
    extra = len([name for name in header if name not in expected])
    gone = [n for n in expected if n not in header]
    what = [f"{listing(gone)} not published"] if gone else []
    what += [many(extra, "column") + " too many"] if extra else []
    return judged(
        "columns",
        list(header) != expected,
        f"The published columns are not the recipe's: {', '.join(what)}."
        if what
        else "The published columns are repeated or not in the table's order.",
        f"The {len(expected)} published columns are those the recipe names for it.",
    )


def _check_rows(release: Lines, table: PrivateTable) -> Check:
    wrong = f"{release.rows} rows are published, but the table has only {table.rows}."
    kept = f"{release.rows} rows are published of {table.rows}."
    return judged(
        "rows", release.rows > table.rows, wrong, kept, bound=table.rows, reached=release.rows
    )


def _check_suppression(release: Lines, table: PrivateTable, fails: coverage.Fails) -> list[Check]:
    """Check how many rows are suppressed, and which, as far as that is not the technique's own."""
    terms = table.terms
    suppressed = max(table.rows - release.rows, 0)
    share = suppressed / table.rows if table.rows else 0.0
    missing = many(suppressed, "row", "is", "are")
    if terms.shape.rows == "drawn":
        sentence = (
            f"{missing} not published ({share:.2%}): not drawn, or of a class too small; the "
            "recipe sets no limit."
        )
        return [judged("suppression", False, sentence, bound=1, reached=share)]
    allowed = math.floor(terms.max_suppression * table.rows + Fraction(1, 10**9))
    most = terms.max_suppression
    which: Check | str = "the technique chooses them" if suppressed else ""
    if suppressed and terms.shape.levels == "one":
        which = coverage.check_suppressed(release, table, fails)
    sentence = f"{missing} suppressed ({share:.2%}); at most {allowed} may be ({float(most):.2%})."
    if isinstance(which, str) and which:
        sentence += f" Which rows these are is not checked: {which}."
    found = judged("suppression", suppressed > allowed, sentence, bound=most, reached=share)
    return [found, which] if isinstance(which, Check) else [found]


def _facts(release: Lines, table: PrivateTable) -> dict[str, float]:
    classes = release.classes
    sizes = np.empty(0, np.int64) if classes is None else groups.tally(classes, release.count)
    unique = float(np.count_nonzero(release.count == 1))
    return {**groups.facts_of(release.rows, table, sizes), "unique_over_all_columns": unique}
