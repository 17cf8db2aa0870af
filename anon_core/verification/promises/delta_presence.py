"""δ-presence, recomputed from the published texts and the public table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.fillings import chances
from anon_core.verification.findings import Check, Rows, many, named
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Grouped, blocks
from anon_core.verification.rows.public_people import PublicPeople, covered_people
from anon_core.verification.rows.tables import Promise, joined
from anon_core.verification.text.texts import Codes, Cover


@recomputes("delta-presence", forms=("whole", "permuted"), called="δ-presence", needs_public=True)
def delta_presence(evidence: Evidence) -> list[Check]:
    """Everyone of the public table is in the release with a chance within the bounds.

    Quasi-identifiers are whole, also beside sensitive columns that are permuted apart; or every
    column is permuted by itself within its group.
    """
    low, high = (evidence.number(key) for key in ("delta_min", "delta_max"))
    promise, people = evidence.promise, evidence.public
    rows = Rows()
    if evidence.form == "whole":
        found, rows = _whole(evidence.grouped, people, promise, low, high)
    elif promise.coarsened:
        found = _permuted(evidence, people)
    elif any(set(promise.quasi) <= set(block) for block in blocks(promise)):
        found, rows = _whole(_by_cells(evidence), people, promise, low, high)
    else:
        raise CannotTell("cells are exact and quasi-identifiers permuted separately")
    least, most = min(found), max(found)
    holds = low <= least and most <= high
    between = f"chances of presence lie between {float(least):.4g} and {float(most):.4g}"
    asked = f"{float(low):g} to {float(high):g} were required"
    broken_low = not holds and most <= high
    where = f" {named(rows)}" if rows else ""  # whoever is in no class has no row
    return [
        Check(
            name=evidence.name,
            holds=holds,
            bound=float(low if broken_low else high),
            reached=float(least if broken_low else most),
            sentence=f"Recomputed from the published file and the public table: {between}; {asked}."
            if holds
            else f"δ-presence is broken: {between}; {asked}{where}.",
            rows=rows.first,
        )
    ]


def _by_cells(evidence: Evidence) -> Grouped:
    """Return the table of the quasi-identifiers by what they show, whatever group a row is in.

    Whoever looks for people finds all rows that show a person's values; groups tell nothing more.
    """
    part = evidence.grouped
    codes = [part.table.codes_of(name) for name in evidence.promise.quasi]
    return Grouped(table=part.table, columns=part.columns, group=joined(codes, len(part.group))[0])


def _whole(
    grouped: Grouped, people: PublicPeople, promise: Promise, low: Fraction, high: Fraction
) -> tuple[list[Fraction], Rows]:
    """Return the chances |G ∩ T| / |G ∩ P| of all classes, and 0 where somebody is in none.

    And the rows of the classes whose chance is not within the bounds.
    """
    inside, times = covered_people(promise, grouped, people)
    if np.any(times > 1):
        raise CannotTell("classes overlap, so that public people fit several")
    sizes = grouped.sizes
    if np.any(inside < sizes):
        raise _not_a_part(int(np.count_nonzero(inside < sizes)), "class")
    pairs = list(zip(sizes.tolist(), inside.tolist(), strict=True))
    chance = {pair: Fraction(*pair) for pair in set(pairs)}
    beyond = {pair for pair, own in chance.items() if not low <= own <= high}
    wrong = np.array([pair in beyond for pair in pairs], dtype=np.bool_)
    rows = grouped.table.rows_of(wrong[grouped.group])
    found = list(chance.values())
    return found if np.all(times == 1) else [*found, Fraction(0)], rows


def _permuted(evidence: Evidence, people: PublicPeople) -> list[Fraction]:
    """Return the chances of presence in groups whose columns are permuted apart."""
    grouped = evidence.grouped
    counted = [grouped.texts_in_groups(n) for n in evidence.promise.quasi]
    times = np.zeros(len(people.people), dtype=np.int64)
    found: set[Fraction] = set()
    broken = 0
    for which in range(len(grouped.sizes)):
        fitting = np.arange(len(people.people))
        places: list[Codes] = []
        shown: list[int] = []
        offset: list[int] = []
        for d, column in enumerate(counted):
            own = slice(int(column.start[which]), int(column.start[which + 1]))
            place = _places(people.covers[d], column.value[own], people.sizes[d] + 1)
            if place is None:
                raise CannotTell("covers of one column overlap inside a group")
            fitting = fitting[place[people.points[fitting, d]] >= 0]
            places.append(place)
            offset.append(len(shown))
            shown += column.count[own].tolist()
        times[fitting] += 1
        values = [place[people.points[fitting, d]] + offset[d] for d, place in enumerate(places)]
        kind, first = joined(values, len(fitting))
        count = np.bincount(kind, weights=people.people[fitting], minlength=len(first))
        types = np.stack([v[first] for v in values], axis=1).tolist()
        got = chances(types, count.astype(np.int64).tolist(), shown)
        if got is None:
            broken += 1
        else:
            found.update(got)
    if broken:
        raise _not_a_part(broken, "group")
    if np.any(times > 1):
        raise CannotTell("public people fit several groups")
    if np.any(times == 0):
        found.add(Fraction(0))
    return list(found)


def _places(cover: Cover, told: Codes, size: int) -> Codes | None:
    """Return which of the texts covers each code, -1 for none; None where two overlap.

    Texts that cover the same are one value to an attacker who looks for people; they do not occur,
    since a release gives one cover one text.
    """
    place = np.full(size, -1, dtype=np.int64)
    for i, text in enumerate(told.tolist()):
        for a, b in cover.runs[text]:
            if np.any(place[a : b + 1] >= 0):
                return None
            place[a : b + 1] = i
    return place


def _not_a_part(count: int, what: str) -> CannotTell:
    return CannotTell(
        f"the public people cannot fill {many(count, what)}; the table is not a part of them"
    )
