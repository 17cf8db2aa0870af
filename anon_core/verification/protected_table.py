"""A protected table, recomputed from its published file, its recipe and the private rows.

Own parser, own sums, own rules: nothing of what made the table is used. A linear program only
proposes tables that a reader cannot rule out; each is checked here in whole numbers.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b, sha256
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from anon_core.base.errors import BadPlan, NotVerified
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.findings import Check
from anon_core.verification.rows.recipe_changes import rows_where
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.kinds import KINDS, kind_of
from anon_core.verification.text.texts import MISSING_TOKENS, PrivateColumn, read_private_column

Key = tuple[str, ...]
_HIDDEN = "×"
_TOTAL, _MISSING = "Total", "(missing)"
#: What no column is called.
NUMBER = "\0"
_ROUNDED = ("random-rounding", "controlled-rounding", "small-cells")


def verify_table(
    published: bytes,
    recipe: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
    changes: Mapping[Key, Mapping[Key, int]] | None = None,
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
    """
    table = cast(Mapping[str, Any], recipe["table"])
    if table.get("weight") and table.get("negatives") == "absolute":
        words = "Negative amounts with weights are not recomputed."
        return [Check(name="table", holds=False, sentence=words, undecided=True, unchecked=True)]
    agreed = _agreed(table, rows)
    recipe = {**recipe, "rules": [{**rule, "agreed": agreed} for rule in recipe.get("rules", [])]}
    names = list(table["columns"])
    shown = {key[:-1]: key[-1] for key in _read(published)}
    paths = {name: _paths(name, table, rows, levels) for name in names}
    cells, people, counted = _tabulated(names, table, rows, paths)
    if set(shown) != set(cells):
        words = "The published cells are not those of the recipe."
        return [Check(name="cells", holds=False, sentence=words)]
    method = recipe.get("protect", {}).get("method", "optimal")
    if method in _ROUNDED:
        return _rounded(shown, cells, names, paths, recipe["protect"])
    if method == "adjust":
        return _adjusted(shown, cells, people, counted, names, paths, recipe)
    if method == "cell-key":
        return [_keyed(shown, cells, people, recipe)]
    hidden = {key for key, text in shown.items() if text == _HIDDEN}
    wrong = [k for k, text in shown.items() if k not in hidden and Fraction(text) != cells[k]]
    found = [_check("values", not wrong, "Every published number is that of the rows.", len(wrong))]
    rules = recipe.get("rules", [])
    sensitive = {
        key: need
        for key, own in people.items()
        if (need := _need(own, rules, cells[key], counted.get(key)))
    }
    bare = [key for key in sensitive if key not in hidden]
    found.append(_check("sensitive cells", not bare, "No sensitive cell is published.", len(bare)))
    exposed = _exposed(shown, sensitive, cells, people, names, paths, recipe, changes or {})
    words = "Two tables that a reader cannot rule out keep each sensitive cell from being known."
    found.append(_check("protection", not exposed, words, len(exposed)))
    told = [
        total
        for total, parts in _sums(names, paths)
        if total not in hidden
        and len(within := [part for part in parts if part in hidden]) > 1
        and _need(
            _together(within, people),
            rules,
            sum((cells[part] for part in within), Fraction(0)),
            [x for part in within for x in counted[part]] if counted else None,
        )
    ]
    words = "No published sum of suppressed cells is sensitive as one cell."
    found.append(_check("sums", not told, words, len(told)))
    return found


def _together(
    keys: Sequence[Key], people: Mapping[Key, Mapping[str, Fraction]]
) -> dict[str, Fraction]:
    """Return what each respondent contributes to some cells together."""
    found: dict[str, Fraction] = {}
    for key in keys:
        for one, amount in people[key].items():
            found[one] = found.get(one, Fraction(0)) + amount
    return found


def refuse_broken(checks: Sequence[Check]) -> None:
    """Refuse a table that fails a check; what was not checked stays in its words.

    Raises
    ------
    NotVerified
    """
    for check in checks:
        if not check.holds and not check.unchecked:
            raise NotVerified(
                f"The second computation does not confirm the table: {check.sentence}",
                remedy="Nothing was written. Please report it with the recipe.",
            )


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
        texts = {cell.strip() for cell in table.column(name).told() if cell}
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
    texts: dict[str, list[str]] = {NUMBER: list(map(str, numbers))}
    for name in table.names:
        absent = {text.strip() for text in options.missing_of(name)} - kept(name)
        cells = [(cell or "").strip() for cell in table.column(name).told()]
        texts[name] = ["" if text in absent else text for text in cells]
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    if data.get("missing") == "drop":
        rows = [row for row in rows if all(row[name] for name in columns)]
    return rows


def _check(name: str, holds: bool, words: str, wrong: int) -> Check:
    return Check(
        name=name, holds=holds, sentence=words if holds else f"{words} Not so for {wrong} cells."
    )


def _read(content: bytes) -> list[Key]:
    lines = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    return [tuple(_plain(cell) for cell in line) for line in lines[1:]]


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" else cell


def _paths(
    name: str,
    table: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> dict[str, Key]:
    """Return the labels from the total down to each value, each node once."""
    lines = {line[0]: line for line in levels.get(name, [])}
    lines |= {v: [v, "*"] for row in rows if (v := row[name].strip()) not in lines}
    height = max(len(line) for line in lines.values()) - 1
    chosen = table.get("levels", {}).get(name, list(range(height)))
    found: dict[str, Key] = {}
    for value, line in lines.items():
        path = [_TOTAL]
        for level in sorted(chosen, reverse=True):
            label = str(line[level] if level < len(line) - 1 else line[0])
            if label == "":
                label = _MISSING
            if level < height and label != path[-1]:
                path.append(label)
        found[value] = tuple(path)
    return found


def _tabulated(
    names: Sequence[str],
    table: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    paths: Mapping[str, Mapping[str, Key]],
) -> tuple[dict[Key, Fraction], dict[Key, dict[str, Fraction]], dict[Key, list[Fraction]]]:
    """Return each cell's value, and what each respondent contributes to it, without weights.

    Where weights are expanded, also each contribution as often as its weight says; else nothing.
    """
    nodes = [dict.fromkeys(label for path in paths[n].values() for label in path) for n in names]
    one_row, none = _whole("1"), _whole("0")
    cells = dict.fromkeys(product(*nodes), none)
    people: dict[Key, dict[str, Fraction]] = {key: {} for key in cells}
    spread = table.get("weights") == "expanded"
    counted: dict[Key, list[Fraction]] = {key: [] for key in cells} if spread else {}
    who = table.get("holding") or table.get("respondent")
    for number, row in enumerate(rows):
        amount = _whole(row[table["value"]]) if table.get("value") else one_row
        weight = _whole(row[table["weight"]]) if table.get("weight") else one_row
        one = row[who] if who else row.get(NUMBER, str(number))
        for key in product(*(paths[n][row[n].strip()] for n in names)):
            cells[key] += amount * weight
            people[key][one] = people[key].get(one, none) + amount
            if spread:
                counted[key] += [amount] * int(weight)
    return {key: Fraction(value) for key, value in cells.items()}, people, counted


def _whole(text: str) -> Fraction:
    """Return a number; a whole one is added up as an int, which is faster and the same."""
    number = Fraction(text)
    return cast(Fraction, number.numerator) if number.denominator == 1 else number


def _agreed(table: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """Return the respondents all of whose rows say that they may be published."""
    who, waiver = table.get("holding") or table.get("respondent"), table.get("waiver")
    if not waiver:
        return frozenset()
    said = [
        (row[who] if who else row.get(NUMBER, str(number)), row[waiver])
        for number, row in enumerate(rows)
    ]
    return frozenset(one for one, _ in said) - {one for one, word in said if not word.strip()}


def _need(
    own: Mapping[str, Fraction],
    rules: Sequence[Mapping[str, Any]],
    value: Fraction,
    counted: Sequence[Fraction] | None = None,
) -> tuple[Fraction, int] | None:
    """Return how far a cell has to be hidden each way, and how wide; None where it is safe.

    Parameters
    ----------
    own : mapping of str to Fraction
        What each respondent contributes, without weights.
    value : Fraction
        Of the cell, with weights.
    counted : sequence of Fraction, optional
        Each contribution as often as its weight says, where rules go by these.
    """
    # Rules go by the size of what is contributed, whatever its sign.
    amounts = sorted(map(abs, own.values() if counted is None else counted), reverse=True)
    signed = any(x < 0 for x in own.values())
    whole = sum(amounts, Fraction(0)) if signed else value
    each, wide = Fraction(0), 0
    for rule in rules:
        name = rule["name"]
        if name == "threshold":
            wide = max(wide, int(0 < len(own) < rule["n"]))
        elif name == "zero-cells":
            wide = max(wide, int(bool(own) and not any(amounts)))
        elif name == "dominance":
            part = sum(amounts[: rule["m"]], Fraction(0))
            each = max(each, part * 100 / Fraction(str(rule["k"])) - whole)
        elif amounts:
            share = Fraction(str(rule["p"])) / Fraction(str(rule.get("q", 100)))
            bound = [abs(x) for one, x in own.items() if one not in rule["agreed"]]
            if counted is not None:
                bound = amounts
            if bound:  # of whom has not agreed, the largest is protected from the largest others
                others = list(amounts)
                others.remove(max(bound))
                rest = whole - max(bound) - sum(others[: int(rule.get("coalition", 1))])
                each = max(each, share * max(bound) - rest)
    return (each, wide) if each > 0 or wide else None


def _sums(
    names: Sequence[str], paths: Mapping[str, Mapping[str, Key]]
) -> Iterator[tuple[Key, list[Key]]]:
    """Yield every total with its parts."""
    below: list[dict[str, dict[str, None]]] = []
    for name in names:
        own: dict[str, dict[str, None]] = defaultdict(dict)
        for path in paths[name].values():
            for above, under in pairwise(path):
                own[above][under] = None
        below.append(own)
    nodes = [dict.fromkeys(label for path in paths[n].values() for label in path) for n in names]
    for at, own in enumerate(below):
        for key in product(*nodes):
            if parts := own.get(key[at]):
                yield key, [(*key[:at], part, *key[at + 1 :]) for part in parts]


def _exposed(
    shown: Mapping[Key, str],
    sensitive: Mapping[Key, tuple[Fraction, int]],
    cells: Mapping[Key, Fraction],
    people: Mapping[Key, Mapping[str, Fraction]],
    names: Sequence[str],
    paths: Mapping[str, Mapping[str, Key]],
    recipe: Mapping[str, Any],
    changes: Mapping[Key, Mapping[Key, int]],
) -> set[Key]:
    """Return the sensitive cells for which no two tables are found, for any reader."""
    hidden = {key for key, text in shown.items() if text == _HIDDEN}
    order = sorted(hidden)
    place = {key: at for at, key in enumerate(order)}
    sums: list[dict[int, int]] = []
    for total, parts in _sums(names, paths):
        row = {place[k]: 1 for k in parts if k in place}
        if total in place:
            row[place[total]] = -1
        if row:
            sums.append(row)
    reader = recipe.get("reader", {})
    digits = max(len(text.partition(".")[2]) for text in shown.values())
    unit = Fraction(1, 10**digits)
    signed = reader.get("signed", False)
    least = unit if reader.get("zeros_printed", True) else Fraction(0)
    cap = recipe.get("protect", {}).get("levels") == "cap"
    needs: dict[Key, tuple[Fraction, Fraction, Fraction]] = {}
    for key, (each, wide) in sensitive.items():
        need = max(each, unit) if each > 0 else Fraction(0)
        down = min(need, cells[key] - least) if cap and not signed else need
        needs[key] = need, down, wide * unit
    exposed = {key for key in needs if key not in place}
    alone: set[str] = set()
    if reader.get("single_respondents", True):
        alone = {next(iter(people[k])) for k in order if len(people[k]) == 1}
    least_known = None if signed else least
    proven = _proven(changes, hidden, needs, cells, people, names, paths, alone, least_known)
    if needs.keys() <= exposed | proven:
        return exposed
    readers: list[dict[Key, Fraction]] = [{}]
    readers += [{k: people[k][one] for k in order if one in people[k]} for one in sorted(alone)]
    size = float(max(map(abs, cells.values()), default=Fraction(0)))
    entries = [(at, column, entry) for at, row in enumerate(sums) for column, entry in row.items()]
    matrix = csr_array(
        ([e for _, _, e in entries], ([at for at, _, _ in entries], [c for _, c, _ in entries])),
        shape=(len(sums), len(order)),
    )
    for known in readers:
        low = [None if signed else float(least - cells[k]) for k in order]
        high: list[float | None] = [None] * len(order)
        for k, own in known.items():
            if len(people[k]) == 1:
                low[place[k]] = high[place[k]] = 0.0
            elif not signed:
                low[place[k]] = max(cast(float, low[place[k]]), float(own - cells[k]))
        for key, (need, down, wide) in needs.items():
            if key in exposed or key in proven or (key in known and len(people[key]) == 1):
                continue
            reach = [
                _reached(place[key], sign, sums, matrix, low, high, unit, size) for sign in (1, -1)
            ]
            if reach[0] < need or reach[1] < down or sum(reach) < wide:
                exposed.add(key)
    return exposed


def _proven(
    changes: Mapping[Key, Mapping[Key, int]],
    hidden: set[Key],
    needs: Mapping[Key, tuple[Fraction, Fraction, Fraction]],
    cells: Mapping[Key, Fraction],
    people: Mapping[Key, Mapping[str, Fraction]],
    names: Sequence[str],
    paths: Mapping[str, Mapping[str, Key]],
    alone: set[str],
    least: Fraction | None,
) -> set[Key]:
    """Return the sensitive cells that proposed changes keep from all readers at once.

    A change is one where only suppressed cells move and every total moves as its parts do. No cell
    falls below what any reader knows, and those with one respondent do not move, but the cell
    itself, which that respondent knows anyway.
    """
    wanted = {key for change in changes.values() for key in change}
    sums: dict[Key, list[tuple[Key, list[Key]]]] = {key: [] for key in wanted}
    for total, parts in _sums(names, paths) if wanted else ():
        for key in {total, *parts} & wanted:
            sums[key].append((total, parts))

    def room(key: Key, *, own: bool) -> Fraction | None:
        """Return how far a cell may fall; none where there is no limit."""
        if least is None:
            return None
        parts = [people[key][one] for one in people[key].keys() & alone if not own]
        return cells[key] - max(least, *parts) if parts else cells[key] - least

    found: set[Key] = set()
    for key, (up, down, wide) in needs.items():
        change = {k: n for k, n in changes.get(key, {}).items() if n}
        by = change.get(key, 0)
        if by < 1 or not change.keys() <= hidden:
            continue
        if any(
            sum(change.get(k, 0) for k in parts) != change.get(total, 0)
            for total, parts in {id(one[1]): one for k in change for one in sums[k]}.values()
        ):
            continue
        rise, fall = max(up, wide - down) / by, down / by
        kept = True
        for k, n in change.items():
            sole = len(people[k]) == 1 and not people[k].keys().isdisjoint(alone)
            if sole and k != key:
                kept = False
                break
            far, most = (fall * n if n > 0 else rise * -n), room(k, own=sole)
            kept = kept and (most is None or far <= most)
        if kept:
            found.add(key)
    return found


def _reached(
    k: int,
    sign: int,
    sums: Sequence[Mapping[int, int]],
    matrix: csr_array,
    low: Sequence[float | None],
    high: Sequence[float | None],
    unit: Fraction,
    size: float,
) -> Fraction:
    """Return how far a table takes a cell that a reader cannot rule out; it is checked exactly."""
    goal = np.zeros(len(low))
    goal[k] = -sign
    far = 1e6 + 10 * size
    box = [
        (-far if lo is None else lo, far if hi is None else hi)
        for lo, hi in zip(low, high, strict=True)
    ]
    found = linprog(
        goal, A_eq=cast(Any, matrix) if sums else None, b_eq=np.zeros(len(sums)) if sums else None,
        bounds=cast(Any, box),
    )  # fmt: skip
    if found.status != 0:
        return Fraction(0)
    for parts in (1, 12, 1000):
        moved = [
            Fraction(round(float(x) / float(unit) * parts), parts) * unit
            for x in np.asarray(found.x)
        ]
        kept = all(
            (lo is None or float(x) >= lo - 1e-12) and (hi is None or float(x) <= hi + 1e-12)
            for x, lo, hi in zip(moved, low, high, strict=True)
        )
        if kept and all(sum(moved[c] * e for c, e in row.items()) == 0 for row in sums):
            return sign * moved[k]
    return Fraction(0)


def _rounded(
    shown: Mapping[Key, str],
    cells: Mapping[Key, Fraction],
    names: Sequence[str],
    paths: Mapping[str, Mapping[str, Key]],
    protect: Mapping[str, Any],
) -> list[Check]:
    base, method = int(protect.get("base", 5)), protect["method"]
    values = {key: int(text) for key, text in shown.items()}
    found: list[Check] = []
    if method != "small-cells":
        wrong = [k for k, z in values.items() if z % base]
        found.append(_check("multiples", not wrong, f"Multiples of {base} alone.", len(wrong)))
        reach = base * (1 + int(protect.get("steps", 0)))
        far = [k for k, z in values.items() if abs(z - cells[k]) >= reach]
        found.append(_check("distance", not far, f"Each changed by less than {reach}.", len(far)))
    if method != "random-rounding":
        off = [k for k, parts in _sums(names, paths) if values[k] != sum(values[p] for p in parts)]
        found.append(_check("sums", not off, "Totals add up.", len(off)))
    return found


def _adjusted(
    shown: Mapping[Key, str],
    cells: Mapping[Key, Fraction],
    people: Mapping[Key, Mapping[str, Fraction]],
    counted: Mapping[Key, Sequence[Fraction]],
    names: Sequence[str],
    paths: Mapping[str, Mapping[str, Key]],
    recipe: Mapping[str, Any],
) -> list[Check]:
    """Return whether totals add up and sensitive cells are their level off; not what is least."""
    values = {key: Fraction(text) for key, text in shown.items()}
    off = [k for k, parts in _sums(names, paths) if values[k] != sum(values[p] for p in parts)]
    found = [_check("sums", not off, "Totals add up.", len(off))]
    rules = recipe.get("rules", [])
    near: list[Key] = []
    for key, own in people.items():
        need = _need(own, rules, cells[key], counted.get(key))
        change = abs(values[key] - cells[key])
        if need is not None and (not change or change < need[0]):
            near.append(key)
    words = "Each sensitive cell is published at least its level off."
    found.append(_check("levels", not near, words, len(near)))
    fixed = set(recipe["protect"].get("published", []))
    kept = [
        k
        for k, own in people.items()
        if not own or "|".join(label.replace("|", "/") for label in k) in fixed
    ]
    moved = [k for k in kept if values[k] != cells[k]]
    words = "Empty cells and those that have to be published are as they were."
    found.append(_check("kept cells", not moved, words, len(moved)))
    if not recipe.get("reader", {}).get("signed", False):
        below = [k for k, z in values.items() if z < 0]
        found.append(_check("negative", not below, "No value is below 0.", len(below)))
    return found


def _keyed(
    shown: Mapping[Key, str],
    cells: Mapping[Key, Fraction],
    people: Mapping[Key, Mapping[str, Fraction]],
    recipe: Mapping[str, Any],
) -> Check:
    """Return whether each cell has the noise that its records' keys say; the secret is needed."""
    if "seed" not in recipe:
        words = "Noise is drawn from a secret, which the recipe does not have."
        return Check(name="noise", holds=False, sentence=words, undecided=True, unchecked=True)
    given, protect = recipe["seed"], recipe["protect"]
    secret = int(given, 16) if isinstance(given, str) else int(given)
    base = sha256(str(secret).encode()).digest()
    most, variance = int(protect.get("noise", 2)), float(protect.get("variance", 1.05))
    rows = [_chances(count, most, variance) for count in range(most + 3)]
    keys = {
        one: int.from_bytes(blake2b(one.encode(), key=base, digest_size=8).digest(), "big")
        for one in {one for own in people.values() for one in own}
    }
    amounts = bool(recipe["table"].get("value"))
    digits = max(len(text.partition(".")[2]) for text in shown.values())
    wrong = 0
    for key, own in people.items():
        share = sum(keys[one] for one in own) % 2**64 / 2**64
        size, value = abs(cells[key]), cells[key]
        unit = Fraction(max(map(abs, own.values()), default=0)) / 10 if amounts else Fraction(1)
        steps = min(size / unit, Fraction(len(rows) - 1)) if unit else Fraction(0)
        below = int(steps)
        above, part = min(below + 1, len(rows) - 1), steps - below
        near = Fraction(1, 2 * 10**digits)
        # A key next to a limit of two chances belongs to either: these are not exact.
        wrong += not any(
            abs(Fraction(shown[key]) - value - unit * ((1 - part) * one + part * two)) <= near
            for one in _drawn(rows[below], share)
            for two in _drawn(rows[above], share)
        )
    words = "Every number is that of the rows with the noise of its records' keys."
    return _check("noise", not wrong, words, wrong)


def _drawn(row: Mapping[int, float], share: float) -> set[int]:
    """Return the noise whose part of 0 to 1 a key is in, or next to."""
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
