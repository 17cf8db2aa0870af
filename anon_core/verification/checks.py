"""The second pair of eyes: recompute every promise from the published text alone.

It reads what is published, the recipe and the table with its own plain reader, groups the rows by
their texts, and measures again. Nothing of the code that made the release is used here.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import BadInput, BadPlan, listing
from .match import TooLarge, covering_pairs, text_runs, without_partner
from .reading import idle_dictionaries, read_bytes, read_csv_rows, read_parquet, read_table
from .tables import PrivateTable, Promise, PublishedTable, joined, read_promise, section
from .texts import Codes, PrivateColumn, is_formula, read_cover, text_of

#: Rows a check names.
MOST_ROWS = 20
_SHOWN_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was recomputed.

    Attributes
    ----------
    name : str
        ``columns``, ``k-anonymity``, ``coverage`` and so on.
    holds : bool
        False also where it could not be decided.
    bound, reached : float or None
        What was promised and what was found, where these are numbers.
    column : str
        The column concerned; empty where it is none or all.
    rows : tuple of int
        Rows of the release concerned, from 1 below the header, at most `MOST_ROWS`.
    sentence : str
        The finding in plain words; it holds no cell value.
    """

    name: str
    holds: bool
    sentence: str
    bound: float | None = None
    reached: float | None = None
    column: str = ""
    rows: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the check as plain values."""
        return {
            "name": self.name,
            "holds": self.holds,
            "bound": self.bound,
            "reached": self.reached,
            "column": self.column,
            "rows": list(self.rows),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Everything that was recomputed of one release.

    Attributes
    ----------
    checks : tuple of Check
    facts : mapping of str to float
        ``rows``, ``table_rows``, ``suppressed``, ``classes``, ``smallest_class`` and
        ``unique_over_all_columns``: how many published rows no other row equals.
    """

    checks: tuple[Check, ...]
    facts: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)

    def as_json(self) -> dict[str, Any]:
        """Return the verification as plain values."""
        return {
            "holds": self.holds,
            "checks": [check.as_json() for check in self.checks],
            "facts": dict(self.facts),
        }


def verify(
    recipe: Mapping[str, Any],
    private: pd.DataFrame,
    levels: Mapping[str, Sequence[Sequence[str]]],
    release_csv: bytes,
    parquet: bytes | None = None,
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
    release_csv : bytes
        The published CSV file.
    parquet : bytes, optional
        The Parquet file beside it.

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
    try:
        release = PublishedTable(release_csv, promise.quasi, table.spelling)
    except BadInput as error:
        return Verification(checks=(Check(name="readable", holds=False, sentence=error.message),))
    if release.ragged:
        what = _many(len(release.ragged), "published row", "differs", "differ")
        check = Check(
            name="readable",
            holds=False,
            rows=tuple(release.ragged[:MOST_ROWS]),
            sentence=f"{what} in length from the header {_named(release.ragged)}.",
        )
        return Verification(checks=(check,))
    checks = [*_check_columns(promise, release.header), *_check_rows(promise, release, table)]
    checks.append(_check_order(release))
    if promise.neutralised:
        checks.append(_check_formulas(release))
    for model in promise.models:
        checks.extend(_check_model(model, promise, release))
    checks.extend(_check_coverage(promise, release, table, levels))
    if parquet is not None:
        checks.append(_check_parquet(release, parquet))
    return Verification(checks=tuple(checks), facts=_facts(release, table))


def verify_files(recipe_path: Path, data_path: Path, release_folder: Path) -> Verification:
    """Verify a release that lies in a folder as ``release.csv``, maybe with ``release.parquet``.

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
        first = next((line for line in text.splitlines() if line.strip()), "")
        lines = read_csv_rows(text, ";" if ";" in first else ",")
        levels[name] = [line for line in lines if line]
    beside = release_folder / "release.parquet"
    return verify(
        recipe,
        private,
        levels,
        read_bytes(release_folder / "release.csv", "The published file"),
        read_bytes(beside, "The published file") if beside.exists() else None,
    )


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
        what += [_many(extra, "column") + " too many"] if extra else []
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
            sentence=f"{_many(max(hidden, 0), 'row', 'is', 'are')} hidden ({share:.2%}); at most "
            f"{allowed} may be ({bound:.2%}).",
        ),
    ]


def _check_order(release: PublishedTable) -> Check:
    wrong = _numbers(release.out_of_order())
    return Check(
        name="order",
        holds=not wrong,
        rows=tuple(wrong[:MOST_ROWS]),
        sentence=f"{_many(len(wrong), 'row', 'is', 'are')} not in canonical order {_named(wrong)}; "
        "the order of the table could show."
        if wrong
        else "The rows are in canonical order, so the table's order does not show.",
    )


def _check_formulas(release: PublishedTable) -> Check:
    wrong = np.zeros(release.rows, dtype=np.bool_)
    for codes, texts in zip(release.codes, release.texts, strict=True):
        wrong |= np.array([is_formula(t) for t in texts], dtype=np.bool_)[codes]
    rows = _numbers(wrong)
    return Check(
        name="formulas",
        holds=not rows,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{_many(len(rows), 'row', 'has', 'have')} a cell that a spreadsheet could "
        f"execute {_named(rows)}."
        if rows
        else "No cell starts like a formula.",
    )


def _check_model(
    model: Mapping[str, Any], promise: Promise, release: PublishedTable
) -> list[Check]:
    name = str(model.get("name", ""))
    recompute = {"k-anonymity": _check_k, "l-diversity": _check_l}.get(name)
    if recompute is None:
        sentence = f"'{name}' cannot be recomputed: it is not known here."
        return [_undecided(name or "model", sentence)]
    letter = name[0]
    bound = model.get(letter)
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not bound >= 1:
        return [_undecided(name, f"{name} cannot be recomputed: {letter} is no number from 1 up.")]
    classes = release.classes
    if classes is None:
        return [_undecided(name, f"{name} cannot be recomputed: quasi-identifiers are missing.")]
    return recompute(float(bound), str(model.get("column", "")), classes, promise, release)


def _check_k(
    k: float, column: str, classes: Codes, promise: Promise, release: PublishedTable
) -> list[Check]:
    sizes = np.bincount(classes)
    return [_verdict("k-anonymity", f"k = {k:g}", k, sizes, classes, "rows", "")]


def _check_l(
    l: float,  # noqa: E741 - the field's own letter
    column: str,
    classes: Codes,
    promise: Promise,
    release: PublishedTable,
) -> list[Check]:
    columns = (column,) if column else promise.sensitive
    if not columns or not release.has(columns):
        which = f"column '{column}'" if column else "a sensitive column"
        return [_undecided("l-diversity", f"l-diversity cannot be recomputed: it needs {which}.")]
    checks: list[Check] = []
    for name in columns:
        _, first = joined([classes, release.values(name)], release.rows)
        distinct = np.bincount(classes[first])
        what = f"l = {l:g} for '{name}'"
        checks.append(_verdict("l-diversity", what, l, distinct, classes, "values", name))
    return checks


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
    rows = _numbers(small[classes])
    worst = "smallest" if unit == "rows" else "fewest"
    best = "smallest class" if unit == "rows" else "fewest in a class"
    return Check(
        name=name,
        holds=not rows,
        bound=bound,
        reached=float(least),
        column=column,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{what} is broken: {_many(int(small.sum()), 'class', 'has', 'have')} fewer than "
        f"{bound:g} {unit}, the {worst} {least} {_named(rows)}."
        if rows
        else f"Recomputed from the published file: {what} holds ({best} {least}).",
    )


def _check_coverage(
    promise: Promise,
    release: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    """
    classes = release.classes
    if classes is None or not release.has(promise.published):
        return [_undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    broken: list[Check] = []
    covers = [
        read_cover(n, table.columns[n], levels.get(n), release.texts_of(n)) for n in promise.quasi
    ]
    for name, cover in zip(promise.quasi, covers, strict=True):
        codes = release.codes_of(name)
        for texts, what in (
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that stand for different things on different levels"),
        ):
            rows = _numbers(np.isin(codes, texts)) if texts else []
            if rows:
                broken.append(
                    Check(
                        name="coverage",
                        holds=False,
                        column=name,
                        rows=tuple(rows[:MOST_ROWS]),
                        sentence=f"Column '{name}' shows {what} {_named(rows)}.",
                    )
                )
    if broken:
        return broken
    columns = [
        text_runs(cover.runs, table.columns[n].missing + 1)
        for n, cover in zip(promise.quasi, covers, strict=True)
    ]
    first = np.unique(classes, return_index=True)[1]
    boxes = np.stack([release.codes_of(n)[first] for n in promise.quasi], axis=1)
    quasi = [table.codes(n) for n in promise.quasi]
    point, first = joined(quasi, table.rows)
    points = np.stack([codes[first] for codes in quasi], axis=1)
    # What is published exactly, coded alike in both tables; a value the table lacks is 0.
    exact = [
        np.concatenate([table.codes(n), _table_codes(table.columns[n], release, n)]) + 1
        for n in promise.exact
    ]
    payload, _ = joined(exact, table.rows + release.rows)
    try:
        alone = without_partner(
            point,
            payload[: table.rows],
            classes,
            payload[table.rows :],
            *covering_pairs(points, boxes, columns),
        )
    except TooLarge as error:
        return [_undecided("coverage", f"Coverage is not decided. {error.message}")]
    rows = _numbers(alone)
    return [
        Check(
            name="coverage",
            holds=not rows,
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
            rows=tuple(rows[:MOST_ROWS]),
            sentence=f"{_many(len(rows), 'published row', 'has', 'have')} no row of the table of "
            f"its own to be true of {_named(rows)}."
            if rows
            else f"Each of the {release.rows} published rows is true of a row of the table of its "
            "own.",
        )
    ]


def _table_codes(column: PrivateColumn, release: PublishedTable, name: str) -> Codes:
    codes = [column.code_of_text(text) for text in release.texts_of(name)]
    return np.array(codes, dtype=np.int64)[release.codes_of(name)]


def _check_parquet(release: PublishedTable, content: bytes) -> Check:
    name = "parquet"
    try:
        frame = read_parquet(content, "release.parquet", every=True)
    except BadInput as error:
        return Check(name=name, holds=False, sentence=error.message)
    if list(frame.columns) != release.header or len(frame) != release.rows:
        return Check(
            name=name,
            holds=False,
            sentence="The Parquet file has other columns or more or fewer rows than the CSV file.",
        )
    idle = idle_dictionaries(content)
    if idle:
        return Check(
            name=name,
            holds=False,
            sentence=f"The Parquet file's dictionary of {listing(idle)} holds values that stand in "
            "no published row.",
        )
    wrong = np.zeros(release.rows, dtype=np.bool_)
    for place, column in enumerate(release.header):
        spelling = release.spelling(column)
        codes, values = pd.factorize(frame.iloc[:, place])
        texts = ["", *(text_of(value) for value in values)]  # code -1 is null, an empty cell
        pairs = release.codes[place] * len(texts) + codes + 1
        unlike = [
            pair
            for pair in np.unique(pairs).tolist()
            if spelling.key(release.texts[place][pair // len(texts)])
            != spelling.key(texts[pair % len(texts)])
        ]
        wrong |= np.isin(pairs, unlike)
    rows = _numbers(wrong)
    return Check(
        name=name,
        holds=not rows,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{_many(len(rows), 'row', 'differs', 'differ')} between the Parquet and the CSV "
        f"file {_named(rows)}."
        if rows
        else "The Parquet file holds the same rows in the same order.",
    )


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


def _undecided(name: str, sentence: str) -> Check:
    return Check(name=name, holds=False, sentence=f"{sentence} Treated as broken.")


def _numbers(marked: npt.NDArray[np.bool_]) -> list[int]:
    """Return the rows that are marked, counted from 1."""
    return (np.flatnonzero(marked) + 1).tolist()


def _named(rows: Sequence[int]) -> str:
    shown = ", ".join(str(row) for row in rows[:_SHOWN_ROWS])
    more = f" and {len(rows) - _SHOWN_ROWS} more" if len(rows) > _SHOWN_ROWS else ""
    return f"({'row' if len(rows) == 1 else 'rows'} {shown}{more})"


def _many(count: int, what: str, one: str = "", several: str = "") -> str:
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{count} {f'{what} {one}' if count == 1 else f'{plural} {several}'}".rstrip()
