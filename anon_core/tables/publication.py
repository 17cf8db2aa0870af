"""A recipe carried out: the table is built, judged, protected, audited, compared, and written."""

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
from typing import Any, NamedTuple

from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError, BadPlan, Cancelled, Infeasible, listing, nearest
from anon_core.base.terms import count
from anon_core.data.reading.columns import Keeping
from anon_core.data.reading.row_filter import filtered
from anon_core.data.table import Dataset
from anon_core.data.values.formulas import neutralised
from anon_core.tables.audit import (
    MOST_PROGRAMS,
    Audit,
    Everyone,
    Implied,
    Insider,
    Interval,
    audit,
    implied,
    insiders_of,
    interval,
    members_of,
)
from anon_core.tables.product_moves import Moves, product_moves
from anon_core.tables.reader import Reader
from anon_core.tables.recipe import METHODS, SUPPRESSES, Method, TableRecipe
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
from anon_core.tables.sensitivity import Contributions, Finding, sensitive_cells
from anon_core.tables.suppression import Pattern, costs_of, suppress, with_sums
from anon_core.tables.system import Bounds, Level, Number, capped, refuse_levels, shown_interval
from anon_core.tables.table import Table, build

#: What is published of every suppressed cell, primary or not.
SUPPRESSED = "×"


#: Sums of suppressed cells that are protected as cells; a table that needs more is too fine.
MAX_SUMS = 200
#: Seconds that go into what a reader learns of rounded or noisy counts, at most.
_SECONDS_OF_AUDIT = 10


Labels = tuple[str, ...]


class NotSafe(AnonError):
    """A protected table that the audit does not prove safe; it is not written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """A table with its sensitive cells, before it is protected."""

    recipe: TableRecipe
    table: Table
    findings: Mapping[int, Finding]

    @cached_property
    def bounds(self) -> Bounds:
        """What a reader knows beforehand."""
        known = self.recipe.known
        lower = None if known.signed else 1 if known.zeros_printed else 0
        return Bounds.of(self.table.system, lower=lower)

    @cached_property
    def needs(self) -> dict[int, Level]:
        """The level of each sensitive cell, capped where the recipe says so."""
        found = {cell: one.level for cell, one in self.findings.items()}
        values, bounds = self.table.values, self.bounds
        if self.recipe.protection.levels == "cap":
            return {
                c: capped(level, values[c], bounds.lower[c], bounds.upper[c])
                for c, level in found.items()
            }
        return found

    @property
    def capped(self) -> tuple[int, ...]:
        """Cells whose level was cut down to what a reader knows anyway."""
        return tuple(c for c, one in self.findings.items() if one.level != self.needs[c])


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

    @property
    def uncertain(self) -> frozenset[int]:
        """Cells of which a reader proves an interval: suppressed, rounded or with bounded noise."""
        return self.suppressed if self.limits is None else frozenset(range(len(self.texts)))

    @cached_property
    def reader(self) -> Reader:
        """Someone who reads everything published, and knows the method."""
        return Reader(self.table.system, self.uncertain, self.limits or self.judged.bounds)

    def told(self, cell: int) -> Interval:
        """Return what a reader proves of an uncertain cell; counts that were changed are whole."""
        found = interval(self.reader, cell)
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


def counted(
    dataset: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> Dataset:
    """Return the rows that a recipe tabulates, of a table as it was read; twice changes nothing.

    Texts that a hierarchy lists are values, as in a release of rows.

    Raises
    ------
    BadPlan
        If the recipe asks for what only releases of rows have.
    """
    how, columns = recipe.data, recipe.layout.columns
    if how.rest == "population":
        raise BadPlan(
            "[data] rest is 'population', and a table of counts has none.", remedy="Leave rest out."
        )
    if how.draws:
        raise BadPlan(
            "[data] draws a sample, and a table counts every row.",
            remedy="Leave sample and benchmark out.",
        )
    kept = Keeping(
        data=how,
        types=recipe.types,
        coarsened=columns,
        hierarchies={name: levels[name] for name in columns if name in levels},
    )
    found = filtered(kept.table(dataset).with_kinds(recipe.types), how.where)
    return found.without_missing(columns) if how.missing == "drop" else found


def judge(
    dataset: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> Judged:
    """Build the table of a recipe from its rows, and find its sensitive cells."""
    table = build(counted(dataset, recipe, levels), recipe.layout, levels)
    findings = sensitive_cells(table.contributions, recipe.rules, recipe.who)
    return Judged(recipe=recipe, table=table, findings=findings)


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
        return _adjusted(judged)
    if table.digits and table.counts:
        raise BadPlan(
            "Weighted counts have decimals, and rounding is for whole numbers.",
            remedy="Leave out the weight, or use suppression.",
        )
    values: Sequence[int]
    if method == "controlled-rounding":
        values, bound = controlled(table.system, how.base, steps=how.steps, seconds=how.seconds)
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


def _with_learned(publication: Publication, context: Context | None) -> Publication:
    """Work out what a reader learns of each sensitive cell, and say it, as far as time allows."""
    judged, limits = publication.judged, publication.limits
    assert limits is not None
    limits.refuse_false(publication.table.system, range(len(publication.texts)))
    until = time.monotonic() + min(judged.recipe.protection.seconds, _SECONDS_OF_AUDIT)
    learned: dict[int, Interval] = {}
    for at, cell in enumerate(judged.findings):
        if time.monotonic() > until:
            break
        if context is not None:
            context.report(at / len(judged.findings), "Auditing")
        learned[cell] = publication.told(cell)
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


def _adjusted(judged: Judged) -> Publication:
    table, how = judged.table, judged.recipe.protection
    place, values = table.system.place, table.values
    _refuse_unknown_cells(judged)
    kept = {place[name] for name in how.published}
    kept |= {cell for cell, own in enumerate(table.members) if not own}
    least = None if judged.recipe.known.signed else 0
    bounds = Bounds.of(table.system, lower=least).with_known(
        {cell: (values[cell], values[cell]) for cell in kept}
    )
    # Not capped: a cell that cannot fall by its level rises.
    needs = {cell: one.level for cell, one in judged.findings.items()}
    found, bound = adjusted(table.system, needs, bounds, seconds=how.seconds)
    distance = sum(abs(z - a) for z, a in zip(found, values, strict=True))
    notes = (
        f"Changes add up to {table.text(distance)}; no adjusted table has less than "
        f"{table.text(bound)}.",
        "Totals add up, and empty cells stay empty. Each sensitive cell is published at least its "
        "level off. What a reader learns who knows how cells were chosen is not proven.",
    )
    return Publication(judged=judged, texts=tuple(map(table.text, found)), notes=notes)


def _refuse_unknown_cells(judged: Judged) -> None:
    """Refuse cells to publish that the table does not have."""
    table, names = judged.table, judged.recipe.protection.published
    unknown = [name for name in names if name not in table.system.place]
    if unknown:
        raise BadPlan(
            f"[protect] published names {listing(unknown)}; cells are such as "
            f"{listing(table.names[:3])}.",
            remedy=f"Name cells by their labels.{nearest(unknown[0], table.names)}",
        )


def _suppressed(judged: Judged, context: Context | None) -> Publication:
    table, recipe = judged.table, judged.recipe
    system = table.system
    _refuse_unknown_cells(judged)
    refuse_levels(system, judged.needs, judged.bounds)
    sums: dict[tuple[int, ...], Implied] = {}
    able = _movable(judged)
    begin = product_moves(
        table.axes, system, judged.needs, able.costs, able.slack, apart=able.apart, context=context
    )
    while True:
        pattern, proof, changes = _pattern(judged, tuple(sums), able, begin, context)
        open_sums = implied(system, pattern.cells, recipe.rules, table.members, recipe.who)
        if not open_sums:
            break
        more = {one.cells: one for one in open_sums if one.cells not in sums}
        if not more or len(sums) + len(more) > MAX_SUMS:
            one = open_sums[0]
            raise NotSafe(
                f"Suppressed cells of '{table.names[one.total]}' add up to a published number that "
                f"is sensitive itself ({one.reason}); nothing is published.",
                remedy="Use coarser categories.",
            )
        sums |= more
    if proof.exposed:
        one = proof.exposed[0]
        raise NotSafe(
            f"The audit does not prove '{system.with_sums(tuple(sums)).names[one.cell]}' safe from "
            f"{one.reader or 'a reader'}"
            f" ({one.answer}); nothing is published.",
            remedy="Give the search more seconds, use coarser categories, or say that no single "
            "respondent reads.",
        )
    texts = tuple(
        SUPPRESSED if cell in pattern.cells else table.text(value)
        for cell, value in enumerate(table.values)
    )
    notes = [
        f"{count(len(sums), 'sum')} of suppressed cells would be sensitive as one cell, and "
        f"{'is' if len(sums) == 1 else 'are'} protected as one."
        if sums
        else "",
        f"{len(judged.capped)} levels were cut down to what a reader knows anyway."
        if judged.capped
        else "",
    ]
    return Publication(
        judged=judged,
        texts=texts,
        pattern=pattern,
        audit=proof,
        sums=tuple(sums.values()),
        notes=tuple(note for note in notes if note),
        changes=changes,
    )


def _pattern(
    judged: Judged,
    sums: Sequence[Sequence[int]],
    able: _Movable,
    begin: Moves,
    context: Context | None,
) -> tuple[Pattern, Audit, Mapping[int, Mapping[int, int]]]:
    """Return suppressed cells, their audit, and known changes; sums of cells are kept as cells are.

    A sum is a cell that is never published; the pattern names the cells of the table alone.
    """
    table, recipe = judged.table, judged.recipe
    how, signed = recipe.protection, recipe.known.signed
    system, bounds = table.system.with_sums(sums), judged.bounds.with_sums(sums)
    members = (*table.members, *(members_of(cells, table.members) for cells in sums))
    together = [Contributions.of(map(abs, m.values())) for m in members[len(table.values) :]]
    needs = dict(judged.needs)
    for cell, one in sensitive_cells(together, recipe.rules, recipe.who).items():
        at = len(table.values) + cell
        # Nobody can be kept from what the limits of the parts say already.
        needs[at] = capped(one.level, system.values[at], bounds.lower[at], bounds.upper[at])
    costs = (*able.costs, *(0 for _ in sums))
    hidden = system.closed(needs)
    if sums:
        begin = _moves_of_sums(judged, sums, needs, able, begin, context)
    changes = {system.same[c]: with_sums(system, w.change) for c, w in begin.witnesses.items()}
    everyone = None if how.proves else _everyone(judged, members, bounds)
    insiders: tuple[Insider, ...] = ()
    pattern: Pattern | None = None

    def search() -> Pattern:
        return suppress(
            system,
            needs,
            bounds,
            costs,
            published=[system.place[name] for name in how.published],
            insiders=insiders,
            optimal=how.proves,
            seconds=how.seconds,
            context=context,
            start=begin,
            everyone=everyone,
        )

    if everyone is not None:
        try:
            pattern = search()
        except Infeasible:  # from each reader alone more cells can be hidden
            everyone = None
    for _ in range(4 if pattern is None else 0):
        # Further suppressions can leave further respondents alone.
        pattern = search()
        if not recipe.known.single_respondents:
            break
        grown = insiders_of(members, system.values, hidden | pattern.cells, signed=signed)
        if [one.name for one in grown] == [one.name for one in insiders] and not fresh(
            insiders, grown
        ):
            break
        insiders, hidden = grown, hidden | pattern.cells
    assert pattern is not None
    readers: tuple[Insider, ...] = ()
    if recipe.known.single_respondents:
        readers = insiders_of(members, system.values, pattern.cells, signed=signed)
    proof = audit(
        system,
        pattern.cells,
        needs,
        bounds,
        insiders=readers,
        everyone=everyone,
        changes=changes,
        context=context,
    )
    real = range(len(table.values))
    own = replace(
        pattern,
        primary=pattern.primary & frozenset(real),
        secondary=pattern.secondary & frozenset(real),
    )
    return own, proof, changes


def _everyone(
    judged: Judged, members: Sequence[Mapping[int, int]], bounds: Bounds
) -> Everyone | None:
    """Return all readers of a table at once, where each by themselves are too many to ask."""
    known, sole = judged.recipe.known, _sole(members)
    if not known.single_respondents or len(judged.needs) * (len(sole) + 1) <= MOST_PROGRAMS:
        return None
    values = judged.table.values
    more: dict[int, tuple[Number | None, Number | None]] = {}
    for cell, own in enumerate(members[: len(values)]):
        if len(own) == 1:
            more[cell] = (values[cell], values[cell])
        elif not known.signed and (parts := [own[one] for one in own.keys() & sole]):
            more[cell] = (min(max(parts), values[cell]), None)
    alone = frozenset(cell for cell, own in enumerate(members[: len(values)]) if len(own) == 1)
    return Everyone(bounds=bounds.with_known(more), outside=bounds, alone=alone)


def _sole(members: Sequence[Mapping[int, int]]) -> set[int]:
    """Return the respondents who are alone in some cell."""
    return {next(iter(own)) for own in members if len(own) == 1}


def _moves_of_sums(
    judged: Judged,
    sums: Sequence[Sequence[int]],
    needs: Mapping[int, Level],
    able: _Movable,
    begin: Moves,
    context: Context | None,
) -> Moves:
    """Return a pattern with moves of sums, too: one part moves, and no other part of the sum."""
    table, hidden = judged.table, set(begin.hidden)
    price = list(able.costs)
    for cell in hidden:
        price[cell] = -1  # suppressed already: see `product_moves`
    witnesses = dict(begin.witnesses)
    for number, cells in enumerate(sums, start=len(table.values)):
        if number not in needs:
            continue
        parts = (c for c in cells if c not in able.apart)  # the others, some reader knows
        for part in sorted(parts, key=lambda c: -able.slack[c])[:4]:
            found = product_moves(
                table.axes,
                table.system,
                {part: needs[number]},
                price,
                able.slack,
                apart=able.apart | (set(cells) - {part}),
                context=context,
            )
            if part in found.witnesses:
                witnesses[number] = found.witnesses[part]
                for cell in found.hidden - hidden:
                    price[cell] = -1
                hidden |= found.hidden
                break
    return Moves(hidden=frozenset(hidden), witnesses=witnesses, unserved=begin.unserved)


class _Movable(NamedTuple):
    """What suppressing each cell costs, how far it may fall, and which cells hide no others."""

    costs: Sequence[int]
    slack: Sequence[int]
    apart: set[int]


def _movable(judged: Judged) -> _Movable:
    """Return how cells may move so that it holds for every reader."""
    table, known, how = judged.table, judged.recipe.known, judged.recipe.protection
    respondents = [c.respondents for c in table.contributions]
    published = {table.system.place[name] for name in how.published}
    slack: list[int] = []
    sole = _sole(table.members) if known.single_respondents else set[int]()  # who may read
    far = 2 * sum(map(abs, table.values)) + 2
    for cell, (value, low) in enumerate(zip(table.values, judged.bounds.lower, strict=True)):
        least = None if low is None else math.ceil(low)
        own = table.members[cell]
        if sole and least is not None and len(own) > 1:  # who is alone knows the cell anyway
            least = max(least, max((own[one] for one in own.keys() & sole), default=0))
        slack.append(far if least is None else value - least)
    alone = {c for c, own in enumerate(table.members) if len(own) == 1}
    costs = costs_of(table.system, how.cost, respondents)
    return _Movable(costs, slack, published | alone if known.single_respondents else published)


def fresh(old: Sequence[Insider], new: Sequence[Insider]) -> bool:
    """Return whether someone knows of cells that they did not know of before."""
    return [set(one.known) for one in old] != [set(one.known) for one in new]


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
