"""A protected table: how each method makes it, what readers learn of it, and its files."""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from anon_core.base.concurrency import only_stopped
from anon_core.base.context import Context, now, part_of
from anon_core.base.errors import AnonError, BadPlan, Cancelled, clipped
from anon_core.base.terms import count, in_figures
from anon_core.data.values.formulas import neutralised
from anon_core.tables.audit import Audit, Implied, Interval, interval
from anon_core.tables.reader import Reader
from anon_core.tables.recipe import METHODS, SUPPRESSES, Method
from anon_core.tables.rounding import (
    adjusted,
    bounds_of_noise,
    bounds_of_rounded,
    bounds_of_small_cells,
    cell_chance,
    cell_key,
    controlled,
    noise_row,
    perturbed,
    perturbed_amount,
    random_rounding,
    record_keys,
    small_cells,
)
from anon_core.tables.suppressed import Judged, NotSafe, hide, refuse_unknown_cells
from anon_core.tables.suppression import Pattern
from anon_core.tables.system import Bounds, Number, shown_interval
from anon_core.tables.table import Table

#: What is published of every suppressed cell, primary or not.
SUPPRESSED = "×"

#: Seconds that go into what a reader learns of rounded or noisy counts, at most.
_SECONDS_OF_AUDIT = 10


Labels = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Publication:
    """A protected table as it is published, and what was proven of it.

    Attributes
    ----------
    texts : tuple of str
        What is published of each cell.
    pattern : Pattern or None
        For suppression.
    sums : tuple of Implied
        Sums of suppressed cells that are sensitive as one cell: they are protected as one.
    limits : Bounds or None
        What each number proves of the true count by itself, where counts were rounded or got noise.
    learned : mapping of int to Interval
        What everything published together proves of the sensitive cells then.
    changes : mapping of int to mapping of int to int
        By sensitive cell, how suppressed cells may move with it and keep every sum.
    """

    judged: Judged
    texts: tuple[str, ...]
    pattern: Pattern | None = None
    audit: Audit | None = None
    sums: tuple[Implied, ...] = ()
    limits: Bounds | None = None
    learned: Mapping[int, Interval] = field(default_factory=dict[int, Interval])
    notes: tuple[str, ...] = field(default=())
    changes: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])

    @property
    def proposals(self) -> dict[Labels, dict[Labels, int]]:
        """Changes of suppressed cells by their labels, for the second computation."""
        table, same = self.table, self.table.system.same
        alike: dict[int, list[int]] = {}
        for cell, first in enumerate(same):
            alike.setdefault(first, []).append(cell)

        def labels(cell: int) -> Labels:
            return tuple(
                axis.labels[n] for axis, n in zip(table.axes, table.nodes[cell], strict=True)
            )

        return {
            labels(cell): {
                labels(one): by
                for first, by in self.changes[same[cell]].items()
                for one in alike.get(first, ())
            }
            for cell in self.judged.findings
            if same[cell] in self.changes
        }

    @property
    def table(self) -> Table:
        """The table before protection."""
        return self.judged.table

    @property
    def suppressed(self) -> frozenset[int]:
        """Cells that are not published."""
        return frozenset() if self.pattern is None else self.pattern.cells

    @cached_property
    def uncertain(self) -> frozenset[int]:
        """Cells of which a reader proves an interval: suppressed, rounded or with bounded noise."""
        return self.suppressed if self.limits is None else frozenset(range(len(self.texts)))

    @cached_property
    def reader(self) -> Reader:
        """Someone who reads everything published, and knows the method."""
        return Reader(self.table.system, self.uncertain, self.limits or self.judged.bounds)

    def interval_of(self, cell: int, reader: Reader | None = None) -> Interval:
        """Return what a reader proves of an uncertain cell; counts that were changed are whole."""
        found = interval(reader or self.reader, cell)
        if self.limits is None:
            return found
        ends = [*found.least.values(), *found.greatest.values()]
        return replace(
            found,
            low=None if found.low is None else math.ceil(found.low),
            high=None if found.high is None else math.floor(found.high),
            exact=found.exact and all(Fraction(end).denominator == 1 for end in ends),
        )

    def rows(self) -> list[list[str]]:
        """Return the published table, a row a cell, with its header."""
        table = self.table
        head = [axis.column for axis in table.axes]
        value = self.judged.recipe.layout.value or "count"
        found = [[*head, value]]
        for cell, nodes in enumerate(table.nodes):
            labels = [axis.labels[n] for axis, n in zip(table.axes, nodes, strict=True)]
            found.append([*labels, self.texts[cell]])
        return found


def _suppressed(judged: Judged, context: Context | None) -> Publication:
    table, found = judged.table, hide(judged, context)
    hidden = found.pattern.cells
    texts = tuple(
        SUPPRESSED if cell in hidden else table.text(value)
        for cell, value in enumerate(table.values)
    )
    many = len(found.sums)
    notes = [
        f"{count(many, 'sum')} of suppressed cells would be sensitive as one cell, and "
        f"{'is' if many == 1 else 'are'} protected as one."
        if many
        else "",
        f"{len(judged.capped)} levels were cut down to what a reader knows anyway."
        if judged.capped
        else "",
    ]
    return Publication(
        judged=judged,
        texts=texts,
        pattern=found.pattern,
        audit=found.audit,
        sums=found.sums,
        notes=tuple(note for note in notes if note),
        changes=found.changes,
    )


def protect(judged: Judged, context: Context | None = None) -> Publication:
    """Protect a table as its recipe says.

    Raises
    ------
    Infeasible, NotFound
        If there is no such table, or none was found in time.
    NotSafe
        If the audit does not prove every sensitive cell safe.
    """
    method = judged.recipe.protection.method
    table = judged.table
    if method in SUPPRESSES:
        return _suppressed(judged, context)
    how = judged.recipe.protection
    seed = judged.recipe.seed
    if method == "none":
        texts = tuple(table.text(v) for v in table.values)
        note = "Every cell is published as it is, sensitive or not."
        return Publication(judged=judged, texts=texts, notes=(note,))
    if method == "adjust":
        return _adjusted(judged, context)
    if table.digits and table.counts:
        raise BadPlan(
            "Weighted counts have decimals, and rounding is for whole numbers.",
            remedy="Leave out the weight, or use suppression.",
        )
    values: Sequence[int]
    if method == "controlled-rounding":
        values, bound = controlled(
            table.system, how.base, steps=how.steps, seconds=how.seconds, context=context
        )
        limits = bounds_of_rounded(values, how.base, how.steps)
        distance = sum(abs(z - a) for z, a in zip(values, table.values, strict=True))
        notes = (
            f"Changes add up to {distance:,}; no rounded table has less than {bound:,}.",
            "Totals add up. What a reader learns is an interval around each value, or less.",
        )
    elif method == "cell-key":
        return _with_keys(judged, context)
    else:
        same = table.system.same
        draws = [cell_chance(seed, sorted(members)) for members in table.members]
        draws = [draws[first] for first in same]
        if method == "random-rounding":
            values = [
                random_rounding(v, how.base, d) for v, d in zip(table.values, draws, strict=True)
            ]
            limits = bounds_of_rounded(values, how.base)
            notes = ("Totals are rounded by themselves and do not add up.",)
        else:
            values = small_cells(table.system, how.base, draws)
            limits = bounds_of_small_cells(table.system, values, how.base)
            notes = ("Totals add up within this table, and differ from those of other tables.",)
    found = Publication(judged=judged, texts=tuple(map(str, values)), limits=limits, notes=notes)
    return _with_learned(found, context)


def refuse_bare(publication: Publication) -> None:
    """Refuse a table that publishes every cell, as it is, where some are sensitive.

    Raises
    ------
    NotSafe
    """
    found, table = publication.judged.findings, publication.table
    if publication.judged.recipe.protection.method == "none" and found:
        first = next(iter(found.values()))
        raise NotSafe(
            f"{in_figures(len(found), 'cell')} would be published and "
            f"{'is' if len(found) == 1 else 'are'} sensitive, such as "
            f"'{clipped(table.names[first.cell])}': {first.reason}.",
            remedy="Choose a method that protects them, or change the rules.",
        )


def _with_learned(publication: Publication, context: Context | None) -> Publication:
    """Work out what a reader learns of each sensitive cell, and say it, as far as time allows."""
    judged, limits = publication.judged, publication.limits
    assert limits is not None
    limits.refuse_false(publication.table.system, range(len(publication.texts)))
    seconds = min(judged.recipe.protection.seconds, _SECONDS_OF_AUDIT)
    until = time.monotonic() + seconds
    limited = replace(only_stopped(context), deadline=now() + seconds)
    reader = Reader(publication.table.system, publication.uncertain, limits, context=limited)
    learned: dict[int, Interval] = {}
    for at, cell in enumerate(judged.findings):
        if time.monotonic() > until:
            break
        if context is not None:
            context.report(at / len(judged.findings), "Auditing")
        learned[cell] = publication.interval_of(cell, reader)
    values, levels = publication.table.values, judged.needs
    near = [
        c for c, one in learned.items() if not levels[c].kept(int(values[c]), one.low, one.high)
    ]
    left = len(judged.findings) - len(learned)
    notes = (
        *publication.notes,
        f"A reader who knows the method learns {len(near):,} of {len(learned):,} sensitive cells "
        "more closely than their level."
        if learned
        else "",
        f"{count(left, 'sensitive cell')} could not be audited in time." if left else "",
    )
    return replace(publication, learned=learned, notes=tuple(note for note in notes if note))


def _adjusted(judged: Judged, context: Context | None) -> Publication:
    table, how = judged.table, judged.recipe.protection
    place, values = table.system.place, table.values
    refuse_unknown_cells(judged)
    kept = {place[name] for name in how.published}
    kept |= {cell for cell, own in enumerate(table.members) if not own}
    least = None if judged.recipe.known.signed else 0
    bounds = Bounds.of(table.system, lower=least).with_known(
        {cell: (values[cell], values[cell]) for cell in kept}
    )
    # Not capped: a cell that cannot fall by its level rises.
    needs = {cell: one.level for cell, one in judged.findings.items()}
    found, bound = adjusted(table.system, needs, bounds, seconds=how.seconds, context=context)
    distance = sum(abs(z - a) for z, a in zip(found, values, strict=True))
    notes = (
        f"Changes add up to {table.text(distance)}; no adjusted table has less than "
        f"{table.text(bound)}.",
        "Totals add up, and empty cells stay empty. Each sensitive cell is published at least its "
        "level off. What a reader learns who knows how cells were chosen is not proven.",
    )
    return Publication(judged=judged, texts=tuple(map(table.text, found)), notes=notes)


def _with_keys(judged: Judged, context: Context | None) -> Publication:
    table, how = judged.table, judged.recipe.protection
    variance = Fraction(str(how.variance))
    largest = how.noise * 2 + 1
    rows = [noise_row(n, how.noise, variance) for n in range(largest + 1)]
    keys = record_keys(judged.recipe.seed, table.people)
    texts: list[str] = []
    for cell, value in enumerate(table.values):
        key = cell_key(keys[one] for one in table.members[cell])
        if table.counts:
            texts.append(table.text(perturbed(value, key, rows)))
            continue
        top = max(table.contributions[cell].amounts, default=0)
        texts.append(table.text(round(perturbed_amount(value, top, Fraction(1, 10), key, rows))))
    note = (
        f"Each cell has noise of at most {how.noise}, and totals do not add up. Bounded noise "
        "gives a reader certain intervals."
    )
    found = Publication(judged=judged, texts=tuple(texts), notes=(note,))
    if not table.counts:
        return found  # the unit of an amount's noise is its largest contribution: no reader has it
    published = [int(text) for text in texts]
    # A count of 0 stays as it is, so any other number is of someone.
    some: dict[int, tuple[Number | None, Number | None]] = {
        cell: (1, None) for cell, z in enumerate(published) if z
    }
    limits = bounds_of_noise(published, how.noise).with_known(some)
    return _with_learned(replace(found, limits=limits), context)


# ---- methods side by side ----


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one method makes of a table.

    Attributes
    ----------
    error : AnonError or None
        Why there is no such table.
    hidden, changed : int
        Cells that are suppressed, and published with another value.
    loss : Fraction or None
        Suppressed values and absolute changes, as a share of all values; None if all are 0.
    additive : bool
        Whether totals are the sums of their published parts.
    close, audited : int or None
        Sensitive cells that a reader proves more closely than their level, and those that were
        audited in time; None: this method's readers are not worked out.
    narrowest : int, Fraction or None
        Width of the closest interval of a sensitive cell, in published units.
    seconds : float
        How long it took.
    recomputed : int
        Checks of the second computation that confirm it.
    """

    method: Method
    error: AnonError | None = None
    hidden: int = 0
    changed: int = 0
    loss: Fraction | None = None
    additive: bool = True
    close: int | None = None
    audited: int | None = None
    narrowest: Number | None = None
    seconds: float = 0.0
    recomputed: int = 0


def sides(
    judged: Judged,
    methods: Sequence[Method],
    recomputed: Callable[[Publication], int],
    context: Context | None = None,
) -> tuple[Side, ...]:
    """Protect one table by each method; one that finds no safe table says so at its place.

    Parameters
    ----------
    recomputed : callable
        The second computation of a published table: how many of its checks confirm it.
    """
    own, found = context or Context(), list[Side]()
    for at, method in enumerate(methods):
        own.report(at / len(methods), METHODS[method])
        how = replace(judged.recipe.protection, method=method)
        if not how.keeps_cells:
            how = replace(how, published=())
        begun = time.monotonic()
        try:
            one = replace(judged, recipe=replace(judged.recipe, protection=how))
            part = part_of(own, at / len(methods), (at + 1) / len(methods))
            done = protect(one, part)
            # The table as it is only shows what the others are for; it is refused by itself.
            confirmed = recomputed(done) if method != "none" else 0
        except Cancelled:
            raise
        except AnonError as error:
            found.append(Side(method=method, error=error, seconds=time.monotonic() - begun))
            continue
        found.append(
            replace(
                side_of(done),
                seconds=time.monotonic() - begun,
                recomputed=confirmed,
            )
        )
    return tuple(found)


def side_of(done: Publication) -> Side:
    """Return what a protected table loses, and what a reader still learns of sensitive cells."""
    table, hidden = done.table, done.suppressed
    unit = 10**table.digits
    shown = {c: Fraction(text) * unit for c, text in enumerate(done.texts) if c not in hidden}
    moved = [abs(value - table.values[c]) for c, value in shown.items()]
    whole = sum(abs(v) for v in table.values)
    lost = sum(moved) + sum(abs(table.values[c]) for c in hidden)
    known = _learned(done)
    needs, widths = done.judged.needs, list[Number]()
    close = 0
    for cell, one in (known or {}).items():
        close += not needs[cell].kept(table.values[cell], one.low, one.high)
        if one.low is not None and one.high is not None:
            widths.append(one.high - one.low)
    return Side(
        method=done.judged.recipe.protection.method,
        hidden=len(hidden),
        changed=sum(move != 0 for move in moved),
        loss=Fraction(lost, whole) if whole else None,
        additive=all(
            shown[r.parent] == sum(shown[c] for c in r.children)
            for r in table.system.relations
            if {r.parent, *r.children}.isdisjoint(hidden)
        ),
        close=None if known is None else close,
        audited=None if known is None else len(known),
        narrowest=table.number(min(widths)) if widths else None,
    )


def _learned(done: Publication) -> dict[int, Interval] | None:
    """Return what a reader proves of the sensitive cells; None where that is not worked out."""
    findings, values = done.judged.findings, done.table.values
    if done.audit is not None:
        return {
            one.cell: one.interval
            for one in done.audit.judgements
            if not one.reader and one.cell in findings
        }
    if done.limits is not None:
        return dict(done.learned)
    if done.judged.recipe.protection.method != "none":
        return None
    return {
        c: Interval(cell=c, low=values[c], high=values[c], exact=True, least={}, greatest={})
        for c in findings
    }


# ---- files ----


def files_of(publication: Publication) -> dict[str, bytes]:
    """Return the public files: the table as CSV and Excel, and what a reader is taken to know."""
    rows = publication.rows()
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    for row in rows:
        out.writerow([neutralised(cell) for cell in row])
    about = json.dumps(about_of(publication), ensure_ascii=False, indent=2) + "\n"
    return {
        "table.csv": text.getvalue().encode(),
        "table.xlsx": _workbook(publication, rows),
        "about.json": about.encode(),
    }


def about_of(publication: Publication) -> dict[str, Any]:
    """Return what may be said in public: the method, its symbol, and what a reader knows."""
    recipe = publication.judged.recipe
    known = recipe.known
    found: dict[str, Any] = {
        "method": METHODS[recipe.protection.method],
        "columns": list(recipe.layout.columns),
        "value": recipe.layout.value or "count",
    }
    if publication.pattern is not None:
        found["suppressed"] = SUPPRESSED
        found["reader knows"] = {
            "zeros are always printed": known.zeros_printed,
            "values can be negative": known.signed,
            "a single respondent may be reading": known.single_respondents,
        }
    elif recipe.protection.method.endswith("rounding") or recipe.protection.method == "small-cells":
        found["base"] = recipe.protection.base
    elif recipe.protection.method == "cell-key" and publication.limits is not None:
        found["largest noise"] = recipe.protection.noise
    return found


def report_of(publication: Publication) -> dict[str, Any]:
    """Return the internal report: which cells are sensitive and why, and what was proven."""
    judged, table = publication.judged, publication.table
    found: dict[str, Any] = {
        **about_of(publication),
        "cells": len(table.values),
        "sensitive": [
            {"cell": table.names[cell], "rule": one.rule, "why": one.reason}
            for cell, one in judged.findings.items()
        ],
        "notes": list(publication.notes),
    }
    limits = publication.limits
    if limits is not None:
        found["a reader proves"] = [
            {
                "cell": table.names[cell],
                "from itself": shown_interval(limits.lower[cell], limits.upper[cell]),
                "from everything": str(one),
                "exact": one.exact,
            }
            for cell, one in publication.learned.items()
        ]
    pattern = publication.pattern
    if pattern is not None and publication.audit is not None:
        found["suppression"] = {
            "primary": sorted(table.names[c] for c in pattern.primary),
            "secondary": sorted(table.names[c] for c in pattern.secondary),
            "cost": pattern.cost,
            "bound": pattern.bound,
            "optimal": pattern.optimal,
        }
        found["audit"] = {
            "safe": publication.audit.safe,
            "readers": publication.audit.readers,
            "sums": [
                {"total": table.names[one.total], "why": one.reason} for one in publication.sums
            ],
            "levels cut down": [table.names[c] for c in judged.capped],
        }
    return found


def _workbook(publication: Publication, rows: Sequence[Sequence[str]]) -> bytes:
    """Return the table as a sheet; one symbol for all suppressions, and no date of its making."""
    from datetime import datetime

    import xlsxwriter

    sink = io.BytesIO()
    book = xlsxwriter.Workbook(sink, {"in_memory": True, "strings_to_formulas": False})
    book.set_properties({"created": datetime(2000, 1, 1)})
    sheet = book.add_worksheet("table")
    digits = publication.table.digits
    number = book.add_format({"num_format": "#,##0" + ("." + "0" * digits if digits else "")})
    for at, row in enumerate(rows):
        for column, cell in enumerate(row):
            if at and column == len(row) - 1 and cell != SUPPRESSED and len(cell) < 16:
                sheet.write_number(at, column, float(cell), number)
            else:
                sheet.write_string(at, column, cell)
    sheet.freeze_panes(1, 0)
    book.close()
    return sink.getvalue()
