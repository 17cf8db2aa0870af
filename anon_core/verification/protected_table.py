"""A protected table, recomputed from its published file, its recipe and the private rows.

Own parser, own sums, own rules: nothing of what made the table is used.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b, sha256
from itertools import product
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadPlan, NotVerified
from anon_core.verification import table_cells
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.findings import Check, tallied
from anon_core.verification.rows.recipe_changes import rows_where
from anon_core.verification.table_cells import Key, TableCells
from anon_core.verification.table_readers import protection
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.kinds import KINDS, kind_of
from anon_core.verification.text.texts import MISSING_TOKENS, PrivateColumn, read_private_column

_HIDDEN = "×"
_ROUNDED = ("random-rounding", "controlled-rounding", "small-cells")


def verify_table(
    published: bytes,
    recipe: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
    changes: Mapping[Key, Mapping[Key, int]] | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Check]:
    """Return what was recomputed of a table; what cannot be is undecided, and does not hold.

    Parameters
    ----------
    published : bytes
        The CSV file.
    recipe : mapping
        As it is written.
    rows : sequence of mapping of str to str
        The private rows.
    changes : mapping of cells to mapping of cells to int, optional
        By sensitive cell, how others may move with it. They are proposals, as those of a linear
        program are: each is checked, and what fails counts for nothing.
    report : callable, optional
        Called with what is recomputed, again and again; what it raises ends the work.
    """
    table = cast(Mapping[str, Any], recipe["table"])
    say = report or _silent
    say("Adding up the rows again")
    lines = _read(published)
    digits = max((len(line[-1].partition(".")[2]) for line in lines if line), default=0)
    cells = table_cells.tabulated(table, rows, levels, digits)
    shown = cells.texts(lines)
    if shown is None:
        words = "The published cells are not those of the recipe."
        return [Check(name="cells", holds=False, sentence=words)]
    method = recipe.get("protect", {}).get("method", "optimal")
    if method in _ROUNDED:
        return _rounded(shown, cells, recipe["protect"])
    rules = recipe.get("rules", [])
    if method == "adjust":
        return _adjusted(shown, cells, recipe)
    if method == "cell-key":
        return [_keyed(shown, cells, recipe)]
    hidden = np.array([text == _HIDDEN for text in shown], dtype=np.bool_)
    wrong = sum(
        not concealed and _number(text) != Fraction(int(value), cells.unit)
        for text, value, concealed in zip(shown, cells.values, hidden.tolist(), strict=True)
    )
    found = [tallied("values", wrong, "Every published number is that of the rows.")]
    say("Applying the rules again")
    sensitive = table_cells.sensitive_cells(cells.held, cells.values, rules, cells.unit)
    bare = sum(not hidden[cell] for cell in sensitive)
    found.append(tallied("sensitive cells", bare, "No sensitive cell is published."))
    say("Checking that sensitive cells stay hidden")
    found.append(protection(cells, hidden, sensitive, recipe, changes or {}, digits, say))
    say("Checking sums of suppressed cells")
    groups, values, among = table_cells.hidden_parts(cells, hidden)
    needed = len(
        table_cells.sensitive_cells(cells.held.together(groups, among), values, rules, cells.unit)
    )
    words = "No published sum of suppressed cells is sensitive as one cell."
    found.append(tallied("sums", needed, words))
    return found


def _silent(_words: str) -> None:
    """Report to no one."""


def refuse_broken(checks: Sequence[Check]) -> None:
    """Refuse a table that fails a check; what was not checked stays in its words.

    Raises
    ------
    NotVerified
    """
    for check in checks:
        if not check.holds and not check.unchecked:
            what = f"The second computation does not confirm the table: {check.sentence}"
            raise NotVerified(what, remedy="Nothing was written. Please report it with the recipe.")


def private_rows(
    table: TextTable, recipe: Mapping[str, Any], levels: Mapping[str, Sequence[Sequence[str]]]
) -> list[dict[str, str]]:
    """Return the rows that a recipe tabulates, by column; a missing value is empty.

    Under `NUMBER` each has its number in the file.

    Parameters
    ----------
    table : TextTable
        The private texts as they were read; what was left out already stays out.
    levels : mapping of str to level table
        What a hierarchy lists is a value, though it represents a missing one elsewhere.
    """
    data = cast(Mapping[str, Any], recipe.get("data", {}))
    columns = cast(Sequence[str], recipe["table"]["columns"])
    options, kinds = read_options(data), cast(Mapping[str, str], recipe.get("types", {}))
    unsaid = options.missing == MISSING_TOKENS
    found = set(data.get("kinds_found", []))

    def kept(name: str) -> set[str]:
        missing = {text.strip() for text in options.missing_of(name)} | {""}
        texts = {cell.strip() for cell in table.column(name).row_texts() if cell}
        kind = kinds.get(name) or kind_of(sorted(texts - missing))
        if not unsaid or name in options.missing_in or KINDS[kind].read is not None:
            return set()
        if name in columns and name in levels:
            return {line[0].strip() for line in levels[name] if line} - {""}
        return missing - {""} if name in kinds and name not in found else set()

    where = data.get("where", "")
    numbers: Sequence[int] = range(len(table))
    if where:

        def column(name: str) -> PrivateColumn:
            if name not in table.names:
                raise BadPlan(f"There is no column '{name}', which where names.")
            missing, own = options.missing_of(name), kept(name)
            return read_private_column(
                table.column(name), kinds.get(name), missing, kept=own, neutralised=False,
                ordered=False,
            )  # fmt: skip

        chosen = rows_where(where, column)
        table, numbers = table.kept(chosen), np.flatnonzero(chosen).tolist()
    texts: dict[str, list[str]] = {table_cells.NUMBER: list(map(str, numbers))}
    for name in table.names:
        absent = {text.strip() for text in options.missing_of(name)} - kept(name)
        cells = [(cell or "").strip() for cell in table.column(name).row_texts()]
        texts[name] = ["" if text in absent else text for text in cells]
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    if data.get("missing") == "drop":
        rows = [row for row in rows if all(row[name] for name in columns)]
    return rows


def _read(content: bytes) -> list[Key]:
    lines = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    return [tuple(_plain(cell) for cell in line) for line in lines[1:]]


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" else cell


def _number(text: str) -> Fraction | None:
    """Return a published number; none where the text is not a number."""
    try:
        return Fraction(text)
    except ValueError:
        return None


def _rounded(shown: Sequence[str], cells: TableCells, protect: Mapping[str, Any]) -> list[Check]:
    base, method = int(protect.get("base", 5)), protect["method"]
    values = np.array([int(text) for text in shown], dtype=object)
    true = cells.values.astype(object)
    found: list[Check] = []
    if method != "small-cells":
        wrong = int((values % base != 0).sum())
        found.append(tallied("multiples", wrong, f"Multiples of {base} alone."))
        reach = base * (1 + int(protect.get("steps", 0)))
        far = int((np.abs(values * cells.unit - true) >= reach * cells.unit).sum())
        found.append(tallied("distance", far, f"Each changed by less than {reach}."))
    if method != "random-rounding":
        found.append(tallied("sums", cells.off(values), "Totals add up."))
    return found


def _adjusted(shown: Sequence[str], cells: TableCells, recipe: Mapping[str, Any]) -> list[Check]:
    """Return whether totals add up and sensitive cells are their level off; not what is least."""
    values = np.array([int(Fraction(text) * cells.unit) for text in shown], dtype=object)
    found = [tallied("sums", cells.off(values), "Totals add up.")]
    change = np.abs(values - cells.values.astype(object))
    needs = table_cells.sensitive_cells(
        cells.held, cells.values, recipe.get("rules", []), cells.unit
    )
    near = sum(
        not change[cell] or change[cell] < each * cells.unit for cell, (each, _) in needs.items()
    )
    words = "Each sensitive cell is published at least its level off."
    found.append(tallied("levels", near, words))
    fixed = set(recipe["protect"].get("published", []))
    kept = cells.held.sizes == 0
    names = ("|".join(x.replace("|", "/") for x in key) for key in product(*(
        tree.labels for tree in cells.trees)))  # fmt: skip
    kept |= np.array([name in fixed for name in names], dtype=np.bool_)
    moved = int((kept & (change != 0)).sum())
    words = "Empty cells and those that have to be published are as they were."
    found.append(tallied("kept cells", moved, words))
    if not recipe.get("reader", {}).get("signed", False):
        found.append(tallied("negative", int((values < 0).sum()), "No value is below 0."))
    return found


def _keyed(shown: Sequence[str], cells: TableCells, recipe: Mapping[str, Any]) -> Check:
    """Return whether each cell has the noise that its records' keys say; the secret is needed."""
    if "seed" not in recipe:
        words = "Noise is drawn from a secret, which the recipe does not have."
        return Check(name="noise", holds=False, sentence=words, undecided=True, unchecked=True)
    given, protect = recipe["seed"], recipe["protect"]
    secret = int(given, 16) if isinstance(given, str) else int(given)
    base = sha256(str(secret).encode()).digest()
    most, variance = int(protect.get("noise", 2)), float(protect.get("variance", 1.05))
    rows = [_chances(count, most, variance) for count in range(most + 3)]
    keys = [
        int.from_bytes(blake2b(one.encode(), key=base, digest_size=8).digest(), "big")
        for one in cells.people
    ]
    digits = max(len(text.partition(".")[2]) for text in shown)
    wrong = 0
    for cell, text in enumerate(shown):
        own = cells.held.of(cell)
        share = sum(keys[one] for one in own) % 2**64 / 2**64
        value = Fraction(int(cells.values[cell]), cells.unit)
        unit = Fraction(1)
        if cells.amounts:
            unit = Fraction(max(map(abs, own.values()), default=0), 10 * cells.unit)
        steps = min(abs(value) / unit, Fraction(len(rows) - 1)) if unit else Fraction(0)
        below = int(steps)
        above, part = min(below + 1, len(rows) - 1), steps - below
        near = Fraction(1, 2 * 10**digits)
        # A key next to a limit of two chances belongs to either: these are not exact.
        wrong += not any(
            abs(Fraction(text) - value - unit * ((1 - part) * one + part * two)) <= near
            for one in _drawn(rows[below], share)
            for two in _drawn(rows[above], share)
        )
    words = "Every number is that of the rows with the noise of its records' keys."
    return tallied("noise", wrong, words)


def _drawn(row: Mapping[int, float], share: float) -> set[int]:
    """Return the noise whose part of 0 to 1 a key is in, or near."""
    found, total = set[int](), 0.0
    for value, chance in sorted(row.items()):
        if total - 1e-9 <= share <= total + chance + 1e-9 and chance > 0:
            found.add(value)
        total += chance
    return found


def _chances(count: int, most: int, variance: float) -> dict[int, float]:
    """Return the chances of each noise: mean 0, this variance, and else as even as can be."""
    if not count:
        return {0: 1.0}
    steps = np.array([v for v in range(-most, most + 1) if count + v == 0 or count + v > 1], float)
    if len(steps) == 3:
        moments = np.array([steps**0, steps, steps**2])
        chances = np.linalg.solve(moments, np.array([1.0, 0.0, variance]))
    else:
        tilt = np.zeros(2)  # of v and v²: Newton's method on a convex function
        chances = np.full(len(steps), 1 / len(steps))
        powers = np.array([steps, steps**2])
        for _ in range(200):
            chances = np.exp(tilt @ powers - (tilt @ powers).max())
            chances /= chances.sum()
            off = powers @ chances - np.array([0.0, variance])
            if np.abs(off).max() < 1e-13:
                break
            spread = (powers * chances) @ powers.T - np.outer(powers @ chances, powers @ chances)
            tilt -= np.clip(np.linalg.solve(spread, off), -1, 1)
    return {int(v): max(0.0, float(p)) for v, p in zip(steps, chances, strict=True)}
