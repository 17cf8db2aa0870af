"""The second pair of eyes: recompute every promise from the published text alone.

It reads what is published, the recipe and the table with its own plain reader, groups the rows by
their texts, and measures again. Nothing of the code that made the release is used here.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import BadInput, BadPlan, listing
from . import match
from .averages import check_averages, numbers_of
from .consistency import CONSISTENCY, check_consistency
from .findings import MOST_ROWS, Check, Verification, many, named, numbers, undecided
from .levels import read_levels
from .match import TooLarge, beyond, covering_pairs, sole_text, text_runs, without_partner
from .permuted import check_permuted, table_names
from .presence import NAME as PRESENCE
from .presence import PublicPeople, check_presence, read_public
from .reading import read_bytes, read_table
from .tables import PrivateTable, Promise, PublishedTable, joined, read_promise, section
from .texts import Codes, Cover, PrivateColumn, read_cover
from .written import check_formulas, check_parquet, check_readable, check_shares


def verify(
    recipe: Mapping[str, Any],
    private: pd.DataFrame,
    levels: Mapping[str, Sequence[Sequence[str]]],
    files: Mapping[str, bytes],
    public: pd.DataFrame | None = None,
) -> Verification:
    """Recompute from the published text whether a release keeps what its recipe promises.

    Parameters
    ----------
    recipe : mapping
        The recipe's tables.
    private : pandas.DataFrame
        The table as it was read, before rows are dropped; its index plays no part.
    levels : mapping of str to sequence of sequences of str
        Level tables by column: value first, then one label a level.
    files : mapping of str to bytes
        The published files by name: ``release.csv``, or ``quasi.csv`` and ``sensitive.csv``; and
        the Parquet files beside them, where there are some.
    public : pandas.DataFrame, optional
        The public table as it was read, for promises about its people.

    Returns
    -------
    Verification
        Whatever is wrong with the release is a check that does not hold, never an exception.

    Raises
    ------
    BadPlan
        If recipe and table do not fit each other.
    BadHierarchy
        If a level table is ragged or gives a value two paths.
    """
    promise = read_promise(recipe, [str(name) for name in private.columns])
    table = PrivateTable(promise, private, levels)
    published: dict[str, PublishedTable] = {}
    for name in table_names(promise):
        if f"{name}.csv" not in files:
            sentence = f"The published file {name}.csv is missing."
            return Verification(checks=(Check(name="readable", holds=False, sentence=sentence),))
        try:
            found = PublishedTable(files[f"{name}.csv"], promise.quasi, table.spelling)
        except BadInput as error:
            broken = Check(name="readable", holds=False, sentence=error.message)
            return Verification(checks=(broken,))
        ragged = check_readable(found)
        if ragged is not None:
            return Verification(checks=(ragged,))
        published[name] = found
    people = None
    quasi = next(iter(published.values()))
    if public is not None and quasi.has(promise.quasi) and _names_presence(promise):
        people = read_public(promise, public, private, table, levels, quasi)
    verification = (
        check_permuted(promise, published, table, levels, people)
        if promise.permuted
        else _check_whole(promise, published["release"], table, levels, people)
    )
    beside = [
        check_parquet(release, files[f"{name}.parquet"], f"{name}.parquet")
        for name, release in published.items()
        if f"{name}.parquet" in files
    ]
    if promise.sample < 1:
        beside.append(_check_sample(table))
    return replace(verification, checks=(*verification.checks, *beside))


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


def _check_whole(
    promise: Promise,
    release: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    people: PublicPeople | None,
) -> Verification:
    """Check a release whose rows stay whole."""
    checks = [*_check_columns(promise, release.header), *_check_rows(promise, release, table)]
    checks.append(_check_order(release))
    if promise.neutralised:
        checks.append(check_formulas(release))
    for model in promise.models:
        if model.get("name") == PRESENCE and promise.averaged:
            checks.append(undecided(PRESENCE, "δ-presence of averages cannot be recomputed."))
        elif model.get("name") == PRESENCE:
            classes = release.classes
            checks.append(check_presence(model, promise, release, classes, people, linked=True))
        elif model.get("name") in CONSISTENCY:
            checks.append(check_consistency(model, promise, release, table, levels))
        else:
            checks.extend(_check_model(model, promise, release))
    names = promise.quasi
    if promise.averaged:
        checks.extend(check_averages(promise, release, table))
        names = tuple(n for n in promise.quasi if n not in numbers_of(promise, table))
    checks.extend(_check_coverage(names, promise, release, table, levels))
    return Verification(checks=tuple(checks), facts=_facts(release, table))


def verify_files(recipe_path: Path, data_path: Path, release_folder: Path) -> Verification:
    """Verify a release that lies in a folder, as the names given to `verify`.

    Parameters
    ----------
    recipe_path : Path
        The recipe (TOML); the paths of its hierarchies are relative to it.
    data_path : Path
        The table: CSV, plain or gzip, or Parquet.
    release_folder : Path

    Returns
    -------
    Verification

    Raises
    ------
    BadInput
        If a file is not there or is not what it should be.
    BadPlan, BadHierarchy
        As `verify` does.
    """
    recipe_path, release_folder = Path(recipe_path), Path(release_folder)
    try:
        recipe = tomllib.loads(read_bytes(recipe_path, "The recipe").decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadPlan(
            f"The recipe {recipe_path.name} is no valid TOML file.", remedy="Correct the file."
        ) from error
    data = section(recipe, "data")
    private = read_table(
        Path(data_path),
        separator=str(data.get("separator", "")),
        encoding=str(data.get("encoding", "")),
    )
    levels: dict[str, list[list[str]]] = {}
    for name, place in section(recipe, "hierarchies").items():
        content = read_bytes(recipe_path.parent / str(place), f"The hierarchy file of '{name}'")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"The hierarchy file of '{name}' is not UTF-8 text.", remedy="Save it as UTF-8."
            ) from error
        levels[name] = read_levels(text, name)
    promise = read_promise(recipe, [str(name) for name in private.columns])
    files: dict[str, bytes] = {}
    for name in table_names(promise):
        files[f"{name}.csv"] = read_bytes(release_folder / f"{name}.csv", "The published file")
        beside = release_folder / f"{name}.parquet"
        if beside.exists():
            files[beside.name] = read_bytes(beside, "The published file")
    return verify(recipe, private, levels, files, _public_table(recipe, promise, recipe_path))


def _names_presence(promise: Promise) -> bool:
    return any(model.get("name") == PRESENCE for model in promise.models)


def _public_table(
    recipe: Mapping[str, Any], promise: Promise, recipe_path: Path
) -> pd.DataFrame | None:
    """Read the public table a recipe names, where a promise is about its people."""
    place = str(section(recipe, "population").get("file", ""))
    if not place or not _names_presence(promise):
        return None
    return read_table(recipe_path.parent / place, separator="", encoding="")


# ---- the checks ------------------------------------------------------------------------------


def _check_columns(promise: Promise, header: Sequence[str]) -> list[Check]:
    shown = [n for n in promise.identifier if n in header]
    expected = list(promise.published)
    extra = len([name for name in header if name not in expected])
    gone = [n for n in expected if n not in header]
    if list(header) == expected:
        sentence = f"The {len(expected)} published columns are the table's without identifiers."
    elif gone or extra:
        what = [f"{listing(gone)} not published"] if gone else []
        what += [many(extra, "column") + " too many"] if extra else []
        sentence = f"The published columns are not the table's: {', '.join(what)}."
    else:
        sentence = "The published columns are repeated or not in the table's order."
    return [
        Check(
            name="identifiers",
            holds=not shown,
            column=shown[0] if shown else "",
            sentence=f"Identifier {listing(shown)} is published."
            if shown
            else "No identifier column is published.",
        ),
        Check(name="columns", holds=list(header) == expected, sentence=sentence),
    ]


def _check_rows(promise: Promise, release: PublishedTable, table: PrivateTable) -> list[Check]:
    hidden = table.rows - release.rows
    allowed = math.floor(promise.max_suppression * table.rows + Fraction(1, 10**9))
    share = max(hidden, 0) / table.rows if table.rows else 0.0
    bound = float(promise.max_suppression)
    within = hidden <= allowed
    return [
        Check(
            name="rows",
            holds=hidden >= 0,
            bound=float(table.rows),
            reached=float(release.rows),
            sentence=f"{release.rows} rows are published of {table.rows}."
            if hidden >= 0
            else f"{release.rows} rows are published, but the table has only {table.rows}.",
        ),
        Check(
            name="suppression",
            holds=within,
            bound=bound,
            reached=share,
            sentence=f"{many(max(hidden, 0), 'row', 'is', 'are')} hidden ({share:.2%}); at most "
            f"{allowed} may be ({bound:.2%}).",
        ),
    ]


def _check_order(release: PublishedTable) -> Check:
    wrong = numbers(release.out_of_order())
    return Check(
        name="order",
        holds=not wrong,
        rows=tuple(wrong[:MOST_ROWS]),
        sentence=f"{many(len(wrong), 'row', 'is', 'are')} not in canonical order {named(wrong)}; "
        "the order of the table could show."
        if wrong
        else "The rows are in canonical order, so the table's order does not show.",
    )


def _check_model(
    model: Mapping[str, Any], promise: Promise, release: PublishedTable
) -> list[Check]:
    name = str(model.get("name", ""))
    letter = {
        "k-anonymity": "k",
        "bucket-size": "k",
        "l-diversity": "l",
        "frequency-l-diversity": "l",
        "slicing-l-diversity": "l",
    }.get(name)
    if letter is None:
        sentence = f"'{name}' cannot be recomputed: it is not known here."
        return [undecided(name or "model", sentence)]
    bound = model.get(letter)
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not bound >= 1:
        return [undecided(name, f"{name} cannot be recomputed: {letter} is no number from 1 up.")]
    classes = release.classes
    if classes is None:
        return [undecided(name, f"{name} cannot be recomputed: quasi-identifiers are missing.")]
    if letter == "k":
        return [_check_k(name, float(bound), classes)]
    column = str(model.get("column", ""))
    columns = promise.protected(column)
    if not columns or not release.has(columns):
        which = f"column '{column}'" if column else "a sensitive column"
        return [undecided(name, f"{name} cannot be recomputed: it needs {which}.")]
    if name == "l-diversity":
        return [_check_l(float(bound), c, classes, release) for c in columns]
    # Of slicing's l-diversity this is what is enough: a mean over classes stays below.
    return [_check_frequency(name, float(bound), c, classes, release) for c in columns]


def _check_k(name: str, k: float, classes: Codes) -> Check:
    return _verdict(name, f"k = {k:g}", k, np.bincount(classes), classes, "rows", "")


def _check_l(
    l: float,  # noqa: E741 - the field's own letter
    column: str,
    classes: Codes,
    release: PublishedTable,
) -> Check:
    _, first = joined([classes, release.values(column)], release.rows)
    distinct = np.bincount(classes[first])
    return _verdict(
        "l-diversity", f"l = {l:g} for '{column}'", l, distinct, classes, "values", column
    )


def _check_frequency(
    name: str,
    l: float,  # noqa: E741 - the field's own letter
    column: str,
    classes: Codes,
    release: PublishedTable,
) -> Check:
    pair, first = joined([classes, release.values(column)], release.rows)
    return check_shares(l, column, classes, classes[first], np.bincount(pair), name=name)


def _verdict(
    name: str, what: str, bound: float, reached: Codes, classes: Codes, unit: str, column: str
) -> Check:
    """Compare what each class reaches with the bound."""
    if not len(reached):
        return Check(
            name=name,
            holds=True,
            bound=bound,
            column=column,
            sentence=f"No row is published, so {what} holds for nobody: there is nothing to find.",
        )
    small, least = reached < bound, int(reached.min())
    rows = numbers(small[classes])
    worst = "smallest" if unit == "rows" else "fewest"
    best = "smallest class" if unit == "rows" else "fewest in a class"
    return Check(
        name=name,
        holds=not rows,
        bound=bound,
        reached=float(least),
        column=column,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{what} is broken: {many(int(small.sum()), 'class', 'has', 'have')} fewer than "
        f"{bound:g} {unit}, the {worst} {least} {named(rows)}."
        if rows
        else f"Recomputed from the published file: {what} holds ({best} {least}).",
    )


def _check_coverage(
    names: Sequence[str],
    promise: Promise,
    release: PublishedTable,
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
    covers = [read_cover(n, table.columns[n], levels.get(n), release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        codes = release.codes_of(name)
        for texts, what in (
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that stand for different things on different levels"),
        ):
            rows = numbers(np.isin(codes, texts)) if texts else []
            if rows:
                broken.append(
                    Check(
                        name="coverage",
                        holds=False,
                        column=name,
                        rows=tuple(rows[:MOST_ROWS]),
                        sentence=f"Column '{name}' shows {what} {named(rows)}.",
                    )
                )
    if broken:
        return broken
    try:
        rows = numbers(_alone(names, promise, release, table, covers))
    except TooLarge as error:
        return [undecided("coverage", f"Coverage is not decided. {error.message}")]
    return [
        Check(
            name="coverage",
            holds=not rows,
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
            rows=tuple(rows[:MOST_ROWS]),
            sentence=f"{many(len(rows), 'published row', 'has', 'have')} no row of the table of "
            f"its own to be true of {named(rows)}."
            if rows
            else f"Each of the {release.rows} published rows is true of a row of the table of its "
            "own.",
        )
    ]


def _alone(
    names: Sequence[str],
    promise: Promise,
    release: PublishedTable,
    table: PrivateTable,
    covers: Sequence[Cover],
) -> npt.NDArray[np.bool_]:
    """Return which published rows have no row of the table of their own to be true of.

    Raises
    ------
    TooLarge
        If it can't be decided.
    """
    # What is published exactly, coded alike in both tables; a value the table lacks is 0.
    exact = [
        np.concatenate([table.codes(n), _table_codes(table.columns[n], release, n)]) + 1
        for n in promise.exact
    ]
    sizes = [table.columns[n].missing + 1 for n in names]
    runs = [cover.runs for cover in covers]
    sole = [sole_text(own, size) for own, size in zip(runs, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) == len(names) and table.rows <= 2 * match.MOST_PAIRS:
        # No two texts share a value: every row of the table can stand in one class only. Tables
        # beyond are left to what takes equal rows together, and gives up where it is too much.
        both = [
            np.concatenate([(text + 1)[table.codes(n)], release.codes_of(n) + 1])
            for n, text in zip(names, texts, strict=True)
        ]
        kind, _ = joined([*both, *exact], table.rows + release.rows)
        return beyond(kind[: table.rows], kind[table.rows :])
    columns = [text_runs(own, size) for own, size in zip(runs, sizes, strict=True)]
    classes, first = joined([release.codes_of(n) for n in names], release.rows)
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    coded = [table.codes(n) for n in names]
    point, first = joined(coded, table.rows)
    points = np.stack([codes[first] for codes in coded], axis=1)
    payload, _ = joined(exact, table.rows + release.rows)
    return without_partner(
        point,
        payload[: table.rows],
        classes,
        payload[table.rows :],
        *covering_pairs(points, boxes, columns),
    )


def _table_codes(column: PrivateColumn, release: PublishedTable, name: str) -> Codes:
    codes = [column.code_of_text(text) for text in release.texts_of(name)]
    return np.array(codes, dtype=np.int64)[release.codes_of(name)]


def _facts(release: PublishedTable, table: PrivateTable) -> dict[str, float]:
    sizes = np.bincount(release.classes) if release.classes is not None else np.empty(0, np.int64)
    joint, _ = joined(release.codes, release.rows)
    return {
        "rows": float(release.rows),
        "table_rows": float(table.rows),
        "suppressed": float(max(table.rows - release.rows, 0)),
        "classes": float(len(sizes)),
        "smallest_class": float(sizes.min()) if len(sizes) else 0.0,
        "unique_over_all_columns": float(np.count_nonzero(np.bincount(joint) == 1)),
    }
