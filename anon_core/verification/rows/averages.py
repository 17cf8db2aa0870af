"""Are published numbers averages of groups, recomputed from their texts?

From the files alone it can be checked only column by column: which rows form a group is not
published. Where it is known which row of the table is behind which published row, every
average is recomputed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import (
    Check,
    Rows,
    broken,
    judged,
    many,
    named,
    not_checked,
    numbers,
    undecided,
)
from anon_core.verification.recipe import Terms, demand, is_whole, section
from anon_core.verification.rows.groups import Grouped, Lines, codes_shown, tally
from anon_core.verification.rows.matching import text_runs
from anon_core.verification.rows.membership import Witness
from anon_core.verification.rows.people import behind
from anon_core.verification.rows.tables import PrivateTable
from anon_core.verification.text.kinds import number_of
from anon_core.verification.text.texts import EVERYTHING, Codes, PrivateColumn

Floats = npt.NDArray[np.float64]
_STATISTICS = ("mean", "median")
_EXACT = float(1 << 53)  # from here on floats leave whole numbers out


def numbers_of(table: PrivateTable) -> tuple[str, ...]:
    """Return the quasi-identifiers whose values averages replace: numbers."""
    return tuple(n for n in table.terms.quasi if table.columns[n].spelling.rules.averaged)


def check_averages(release: Lines, table: PrivateTable) -> list[Check]:
    """Check column by column what must hold of averages of groups, whichever groups they are.

    Means of groups spread no more than what they are the means of: the j largest never sum up to
    more than the j largest values, nor the j smallest to less than those. At least half of a
    group's values lie on either side of its median.
    """
    statistic = _statistic(table.terms)
    if not release.has(table.terms.published):
        return [undecided("averages", "Averages cannot be recomputed: columns are missing.")]
    if statistic is None:
        return [undecided("averages", "Averages cannot be recomputed: their kind is not given.")]
    found: list[Check] = []
    for name in numbers_of(table):
        column, own = table.columns[name], table.codes(name)
        codes, texts = release.codes_of(name), release.texts_of(name)
        shown, rows = _shown(texts), Rows()
        often = tally(codes, release.count, len(texts))
        kept = np.array([t not in ("", EVERYTHING) for t in texts], dtype=np.bool_)
        value = np.repeat(np.array(shown, dtype=np.float64)[kept], often[kept])
        has = own != column.missing
        published = np.repeat(_values(column)[own[has]], table.count[has])
        gaps = int(often[[t == "" for t in texts]].sum())
        if wrong := [i for i, s in enumerate(shown) if s is None]:
            rows = release.rows_of(np.isin(codes, wrong))
            what = f"Column '{name}' shows texts that are not numbers {named(rows)}."
        elif len(value) > len(published) or gaps > int(table.count[~has].sum()):
            what = f"Column '{name}' shows more numbers or gaps than it has."
        elif not _spread(statistic, value, published, _tolerance(table.terms, column, own)):
            what = (
                f"The published numbers of '{name}' are not {statistic}s of groups of the table's."
            )
        else:
            continue
        found.append(broken("averages", what, column=name, rows=rows))
    if found or not numbers_of(table):
        return found
    sentence = (
        "In every column of numbers the published ones spread no more than the table's, as "
        f"{statistic}s of groups do. Which rows form a group cannot be read from the publication."
    )
    return [judged("averages", False, sentence)]


def _spread(statistic: str, value: Floats, published: Floats, tolerance: float) -> bool:
    """Say whether published numbers of one column can be averages of the table's."""
    value, published = np.sort(value), np.sort(published)
    size = len(value)
    if statistic == "mean":
        room = tolerance * np.arange(1, size + 1)
        # Sums of the smallest and of the largest; rounding of the sums is far below the tolerance.
        low = np.cumsum(value) - np.cumsum(published[:size])
        high = np.cumsum(published[::-1][:size]) - np.cumsum(value[::-1])
        return bool(np.all(low >= -room) and np.all(high >= -room))
    # Of the values, at least half as many lie at or beyond each published number.
    above = len(published) - np.searchsorted(published, value - tolerance, side="left")
    below = np.searchsorted(published, value + tolerance, side="right")
    place = np.arange(size)
    return bool(np.all(2 * above >= size - place) and np.all(2 * below >= place + 1))


def check_groups(file: PublishedTable, table: PrivateTable, witness: Witness | None) -> list[Check]:
    """Recompute every average from the rows of the table that stand behind it.

    Parameters
    ----------
    witness : Witness or None
        What a run says of which row is behind which; the files do not tell it.
    """
    terms, averaged = table.terms, numbers_of(table)
    if not averaged:
        return []  # cells cover values then, as coverage tells
    if witness is None:
        return [
            not_checked(
                "groups",
                "Which rows form a class is not in the files, so whether each number is the "
                "average of its class was not recomputed.",
            )
        ]
    release, place = file.lines, witness.place
    classes = release.classes
    row = np.flatnonzero(place >= 0)
    paired = (
        release.has(terms.published)
        and witness.is_of(table, terms.published)
        and np.array_equal(np.sort(place[row]), np.arange(release.rows))
    )
    if not paired or classes is None:
        return [undecided("groups", "Which row is behind which published row is not given.")]
    behind = np.empty(release.rows, dtype=np.int64)
    behind[place[row]] = row
    found: list[Check] = []
    # Only who knows which row is behind which has to look at rows one by one.
    line = file.line_of_row
    for name in terms.published:
        column = table.columns[name]
        own = witness.own(table, name)[behind]
        shown, texts = release.codes_of(name)[line], release.texts_of(name)
        if name in averaged:
            wrong = _wrong_averages(terms, shown, texts, column, own, classes[line])
            what = f"an average of '{name}' that is not its group's"
        elif name in terms.quasi:
            cover = table.cover(name, texts)
            wrong = ~text_runs(cover.runs, column.missing + 1).covers(shown, own)
            wrong |= np.isin(shown, [*cover.unknown, *cover.ambiguous])
            what = f"a cell of '{name}' that does not cover the value behind it"
        else:
            wrong = codes_shown(name, table, release)[line] != own
            what = f"another value of '{name}' than the row behind it"
        if rows := numbers(wrong):
            few = many(len(rows), "published row", "has", "have")
            words = f"{few} {what} {named(rows)}."
            found.append(broken("groups", words, column=name, rows=rows))
    sentence = (
        f"Recomputed from the rows behind them: every published average of "
        f"{many(len(averaged), 'column')} is its class's, and all else is true of the row."
    )
    rows = release.rows
    return found or [judged("groups", False, sentence, bound=rows, reached=rows)]


def _wrong_averages(
    terms: Terms,
    codes: Codes,
    texts: Sequence[str],
    column: PrivateColumn,
    own: Codes,
    classes: Codes,
) -> npt.NDArray[np.bool_]:
    """Return which published rows show another number than the average of their class."""
    statistic = _statistic(terms)
    shown = _shown(texts)
    if statistic is None or any(s is None for s in shown):
        return np.ones(len(codes), dtype=np.bool_)
    import pandas as pd

    frame = pd.DataFrame({"class": classes, "value": np.append(_values(column), np.nan)[own]})
    grouped = frame.groupby("class")["value"]
    average = (grouped.mean() if statistic == "mean" else grouped.median()).to_numpy()[classes]
    gaps = grouped.count().to_numpy()[classes] < grouped.size().to_numpy()[classes]
    said = np.array(shown, dtype=np.float64)[codes]
    more = _decimals(terms, column, own)
    largest = float(np.nanmax(np.abs(frame["value"]), initial=0.0)) * 10.0**more * len(own)
    if more >= 0 and largest >= _EXACT:  # sums that floats round
        off = _off_exactly(statistic, codes, texts, column, own, classes, more)
    else:
        off = np.abs(said - average) > _tolerance(terms, column, own)
    nothing = np.array([t == "" for t in texts], dtype=np.bool_)[codes]
    whole = np.array([t == EVERYTHING for t in texts], dtype=np.bool_)[codes]
    none = np.isnan(average)
    # A gap represents gaps alone, and what hides a column for values and gaps together.
    return np.where(nothing, ~none, np.where(whole, none | ~gaps, none | gaps | off))


def _off_exactly(
    statistic: str,
    codes: Codes,
    texts: Sequence[str],
    column: PrivateColumn,
    own: Codes,
    classes: Codes,
    decimals: int,
) -> npt.NDArray[np.bool_]:
    """Return which published rows are off by more than rounding, reckoned in fractions."""
    from statistics import mean, median  # few releases have averages

    values: dict[int, list[Fraction]] = {}
    for group, code in zip(classes.tolist(), own.tolist(), strict=True):
        if code != column.missing:
            key = column.keys[code]
            number = Fraction(key) if isinstance(key, Decimal) else Fraction(0)
            values.setdefault(group, []).append(number)
    average = median if statistic == "median" else mean
    exact = {group: average(own) for group, own in values.items()}
    half = Fraction(1, 2 * 10**decimals)
    said = [number_of(text) for text in texts]
    off = (
        group not in exact
        or (number := said[code]) is None
        or abs(Fraction(number) - exact[group]) > half
        for group, code in zip(classes.tolist(), codes.tolist(), strict=True)
    )
    return np.fromiter(off, np.bool_, len(codes))


def _shown(texts: Sequence[str]) -> list[float | None]:
    """Return the number each text shows, NaN where it shows none on purpose, None where wrong."""
    found: list[float | None] = []
    for text in texts:
        number = number_of(text)
        hidden = text in ("", EVERYTHING)
        found.append(float("nan") if hidden else None if number is None else float(number))
    return found


def _values(column: PrivateColumn) -> Floats:
    """Return the number behind each code of a column of numbers."""
    return np.array(
        [float(k) if isinstance(k, Decimal) else np.nan for k in column.keys], dtype=np.float64
    )


def _statistic(terms: Terms) -> str | None:
    found = terms.algorithm.get("statistic", "mean")
    return str(found) if found in _STATISTICS else None


def decimals_of(table: PrivateTable, name: str) -> int:
    """Return how many decimals the averages of a column are published with."""
    return _decimals(table.terms, table.columns[name], table.codes(name))


def _tolerance(terms: Terms, column: PrivateColumn, own: Codes) -> float:
    """Return by how much rounding may move an average: half of its last decimal."""
    more = _decimals(terms, column, own)
    seen = (column.keys[code] for code in np.unique(own[own != column.missing]).tolist())
    largest = max((abs(float(k)) for k in seen if isinstance(k, Decimal)), default=0.0)
    return 0.5 * 10.0**-more + 1e-12 * largest if more >= 0 else 0.0


def _decimals(terms: Terms, column: PrivateColumn, own: Codes) -> int:
    """Return the decimals of averages: the most that a value has, and those the recipe adds.

    Below 0 where the recipe says nothing that can be.
    """
    more = terms.algorithm.get("decimals", 1)
    if not is_whole(more) or more > 6:
        return -1
    seen = [column.keys[code] for code in np.unique(own[own != column.missing]).tolist()]
    found = [-int(k.normalize().as_tuple().exponent) for k in seen if isinstance(k, Decimal)]
    return max([0, *found]) + int(more)


# The mean survey weight of each class, in a file of its own.


_WEIGHTS = "class-weights"
_SIX = re.compile(r"[1-9][0-9]*(\.[0-9]{0,5}[1-9])?")


def check_class_weights(
    recipe: Mapping[str, Any],
    terms: Terms,
    release: Lines,
    table: PrivateTable | None,
    content: Content | None,
) -> list[Check]:
    """Check that a file has one line for each class, with its rows and their mean weight.

    Parameters
    ----------
    recipe : mapping
        It says whether the file is published, and which column has the weights.
    table : PrivateTable or None
        Without it the weights are not known, and the means not checked.
    content : bytes or FileBytes or None
        The file; None where it is not there.

    Raises
    ------
    BadPlan
        If the recipe says neither true nor false, or names no weight.
    """
    weight = section(recipe, "roles").get("weight", "")
    asked = section(recipe, "export").get("class_weights", False)
    what = "The recipe's class_weights is unknown."
    demand(isinstance(asked, bool) and (weight or not asked), what, "Correct [export] and roles.")
    if content is None and not asked:
        return []
    words = "The file of the mean weights of classes "
    if content is None or not asked:
        odd = "is missing, which the recipe asks for" if asked else "is there, and not asked for"
        return [broken(_WEIGHTS, f"{words}{odd}.")]
    names = [column for column in release.header if column in terms.quasi]
    group = release.classes
    if group is None:
        return [undecided(_WEIGHTS, "Mean weights of classes cannot be recomputed: columns miss.")]
    sizes = tally(group, release.count)
    first = np.unique(group, return_index=True)[1]
    shown = [(release.texts_of(n), release.codes_of(n)[first].tolist()) for n in names]
    cells = [*zip(*([texts[code] for code in codes] for texts, codes in shown), strict=True)]
    try:
        lines = list(csv.reader(io.StringIO(content[:].decode()), strict=True))
    except (UnicodeDecodeError, csv.Error):
        lines = []
    said = {tuple(line[:-1]): line[-1] for line in lines[1:] if line}
    keys = [(*own, str(size)) for own, size in zip(cells, sizes.tolist(), strict=True)]
    rows = "rows"
    while rows in names:
        rows += " number"
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerow([*names, rows, weight])
    written.writerows((*key, said.get(key, "")) for key in sorted(keys))
    if text.getvalue().encode() != content[:] or not all(map(_SIX.fullmatch, said.values())):
        what = "is not, byte for byte, a line for each class in their order, with its rows and a"
        return [broken(_WEIGHTS, f"{words}{what} mean of at most six decimals.")]
    if table is None:
        sentence = "Mean weights of classes were not compared: the private table was not given."
        return [not_checked(_WEIGHTS, sentence)]
    grouped = Grouped(table=release, columns=release.header, group=group)
    return [_of_weights(weight, grouped, table, keys, said)]


def _of_weights(
    weight: str,
    grouped: Grouped,
    table: PrivateTable,
    keys: Sequence[tuple[str, ...]],
    said: Mapping[tuple[str, ...], str],
) -> Check:
    """Compare the means of a file with those of the rows of the table that are behind classes."""
    column = table.column(weight)
    found = None if column is None else behind(grouped, table, [column])
    if found is None or not found.sure.all():
        return undecided(
            _WEIGHTS,
            "Mean weights of classes cannot be recomputed: it is unclear which rows belong to "
            "which class.",
        )
    total = [Fraction(0)] * len(keys)
    counted = found.counted
    entries = zip(*(a.tolist() for a in (counted.owner, counted.value, counted.count)), strict=True)
    for owner, value, count in entries:
        (number,) = cast(tuple[object], counted.values[value])
        if not isinstance(number, Decimal):
            return undecided(_WEIGHTS, f"A cell of '{weight}' is not a number.")
        total[owner] += count * Fraction(number)
    half = Fraction(501, 10**9)  # of the last decimal, and of sums in floats
    sizes = [int(key[-1]) for key in keys]
    shown = [Fraction(said[key]) * n for key, n in zip(keys, sizes, strict=True)]
    off = [
        abs(own - sum_of_group) > half * n + sum_of_group / 10**12
        for own, n, sum_of_group in zip(shown, sizes, total, strict=True)
    ]
    wrong = f"{many(sum(off), 'class', 'has', 'have')} another mean weight than that of its rows."
    kept = f"Recomputed from the table: the mean weight of each of {many(len(keys), 'class')}."
    bound, reached = sum(total), sum(shown)
    return judged(_WEIGHTS, any(off), wrong, kept, column=weight, bound=bound, reached=reached)
