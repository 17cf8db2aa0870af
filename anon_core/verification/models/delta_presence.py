"""δ-presence, recomputed: how sure it is that someone of the public table is in the private one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.findings import Check, Rows, judged, many, named
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Grouped, blocks, whole_classes
from anon_core.verification.rows.matching import TooLarge
from anon_core.verification.rows.people import PublicPeople, covered_people
from anon_core.verification.rows.tables import joined
from anon_core.verification.text.texts import Codes, Cover

# How many ways there are to fill one group with public people, counted plainly in whole numbers.
#
# Everyone of a type is alike in what the group shows. A filling takes some people of every type so
# that each published value is taken as often as it is published; all fillings are equally likely.


#: States beyond this are given up, and what was to be decided counts as not decided.
MOST_STATES = 400_000

Residual = tuple[int, ...]


def chances(
    types: Sequence[Sequence[int]], people: Sequence[int], shown: Sequence[int]
) -> list[Fraction] | None:
    """Return the chance of presence of one person of each type.

    Parameters
    ----------
    types : sequence of sequences of int
        Per type, the number of each published value that its people have.
    people : sequence of int
        People of each type.
    shown : sequence of int
        How often each value is published.

    Returns
    -------
    list of Fraction, or None
        None where nobody can fill the group.

    Raises
    ------
    TooLarge
        If there are more than `MOST_STATES` states.

    Examples
    --------
    >>> [str(c) for c in chances([(0, 2), (0, 3), (1, 3)], [1, 1, 1], [1, 1, 1, 1])]
    ['1', '0', '1']
    """
    least, most = [0] * len(types), list(people)
    if not _tighten(types, shown, least, most):
        return None
    taken = [Fraction(n) for n in least]
    for part in _parts(types, [j for j in range(len(types)) if least[j] < most[j]]):
        open_ = [shown[v] for v in range(len(shown))]
        for j, values in enumerate(types):
            for v in values:
                open_[v] -= least[j]
        means = _means(part, types, people, open_, least, most)
        if means is None:
            return None
        for j, mean in means.items():
            taken[j] = mean
    return [taken[j] / people[j] for j in range(len(types))]


def _tighten(
    types: Sequence[Sequence[int]], shown: Sequence[int], least: list[int], most: list[int]
) -> bool:
    """Narrow every type's bounds by what the others leave; return whether they fit together."""
    changed = True
    while changed:
        changed = False
        low, high = [0] * len(shown), [0] * len(shown)
        for j, values in enumerate(types):
            for v in values:
                low[v] += least[j]
                high[v] += most[j]
        if any(low[v] > shown[v] or high[v] < shown[v] for v in range(len(shown))):
            return False
        for j, values in enumerate(types):
            down = max([least[j], *(shown[v] - high[v] + most[j] for v in values)])
            up = min([most[j], *(shown[v] - low[v] + least[j] for v in values)])
            if down > up:
                return False
            changed |= (down, up) != (least[j], most[j])
            for v in values:  # the sums follow, so that one round never narrows too far
                low[v] += down - least[j]
                high[v] -= most[j] - up
            least[j], most[j] = down, up
    return True


def _parts(types: Sequence[Sequence[int]], free: Sequence[int]) -> list[list[int]]:
    """Return the types that share values, directly or through others, together."""
    of_value: dict[int, list[int]] = {}
    for j in free:
        for v in types[j]:
            of_value.setdefault(v, []).append(j)
    left, parts = set(free), list[list[int]]()
    while left:
        part, border = list[int](), [min(left)]
        left.discard(border[0])
        while border:
            j = border.pop()
            part.append(j)
            for v in types[j]:
                near = [i for i in of_value[v] if i in left]
                left.difference_update(near)
                border += near
        parts.append(sorted(part))
    return parts


def _order(part: Sequence[int], types: Sequence[Sequence[int]]) -> list[int]:
    """Order types so that values are finished early: those with fewest types left first."""
    waiting: dict[int, set[int]] = {}
    for j in part:
        for v in types[j]:
            waiting.setdefault(v, set()).add(j)
    order, begun = list[int](), set[int]()
    while waiting:
        value = min(waiting, key=lambda v: (len(waiting[v]), v not in begun, v))
        for j in sorted(waiting[value]):
            order.append(j)
            for v in types[j]:
                begun.add(v)
                waiting[v].discard(j)
        waiting = {v: some for v, some in waiting.items() if some}
    return order


def _means(
    part: Sequence[int],
    types: Sequence[Sequence[int]],
    people: Sequence[int],
    open_: Sequence[int],
    least: Sequence[int],
    most: Sequence[int],
) -> dict[int, Fraction] | None:
    """Return the expected people of every type of a part over all its fillings."""
    order = _order(part, types)
    place = {v: i for i, v in enumerate(sorted({v for j in part for v in types[j]}))}
    where = [[place[v] for v in types[j]] for j in order]
    room = [most[j] - least[j] for j in order]
    ways = [[comb(people[j], least[j] + y) for y in range(most[j] - least[j] + 1)] for j in order]
    after = [0] * len(place)  # what the types still to come can add to each value
    for mine, n in zip(where, room, strict=True):
        for v in mine:
            after[v] += n
    rest: list[list[int]] = []
    for mine, n in zip(where, room, strict=True):
        for v in mine:
            after[v] -= n
        rest.append([after[v] for v in mine])
    begin = tuple(open_[v] for v in sorted(place))
    layers: list[dict[Residual, int]] = [{begin: 1}]
    states = 0
    for step in range(len(order)):
        reached: dict[Residual, int] = {}
        for state, weight in layers[-1].items():
            for y, then in _moves(state, where[step], room[step], rest[step]):
                reached[then] = reached.get(then, 0) + weight * ways[step][y]
        states += len(reached)
        if states > MOST_STATES:
            raise TooLarge("The ways to fill a group are too many to be counted here.")
        layers.append(reached)
    whole = sum(layers[-1].values())
    if not whole:
        return None
    ahead = dict.fromkeys(layers[-1], 1)
    found: dict[int, Fraction] = {}
    for step in range(len(order) - 1, -1, -1):
        before: dict[Residual, int] = {}
        summed = 0
        for state, weight in layers[step].items():
            total = 0
            for y, then in _moves(state, where[step], room[step], rest[step]):
                through = ways[step][y] * ahead.get(then, 0)
                total += through
                summed += weight * through * y
            before[state] = total
        ahead = before
        found[order[step]] = least[order[step]] + Fraction(summed, whole)
    return found


def _moves(
    state: Residual, mine: Sequence[int], room: int, rest: Sequence[int]
) -> list[tuple[int, Residual]]:
    """Return how many people can be taken in a state, and what is then left of each value."""
    low = max([0, *(state[v] - r for v, r in zip(mine, rest, strict=True))])
    high = min([room, *(state[v] for v in mine)])
    found: list[tuple[int, Residual]] = []
    for y in range(low, high + 1):
        then = list(state)
        for v in mine:
            then[v] -= y
        found.append((y, tuple(then)))
    return found


# δ-presence, recomputed from the published texts and the public table.


@recomputes("delta-presence", forms=("whole", "permuted"), called="δ-presence", needs_public=True)
def delta_presence(evidence: Evidence) -> list[Check]:
    """Everyone of the public table is in the release with a chance within the bounds.

    Quasi-identifiers are whole, also next to sensitive columns that are permuted apart; or every
    column is permuted by itself within its group.
    """
    low, high = (evidence.number(key) for key in ("delta_min", "delta_max"))
    terms, people, grouped = evidence.terms, evidence.public, evidence.grouped
    rows = Rows()
    if evidence.form == "permuted" and terms.coarsened:
        found = _permuted(evidence, people)
    else:
        if evidence.form == "permuted":
            if not any(set(terms.quasi) <= set(block) for block in blocks(terms)):
                raise CannotTell("cells are exact and quasi-identifiers permuted separately")
            # By what the quasi-identifiers show, whatever group a row is in.
            grouped = whole_classes(grouped.table)["release"]
        found, wrong = _whole(grouped, people, low, high)
        rows = grouped.table.rows_of(wrong)
        if evidence.form == "whole":
            evidence.failing.append(wrong)
    least, most = min(found), max(found)
    between = f"chances of presence lie between {float(least):.4g} and {float(most):.4g}"
    asked = f"{float(low):g} to {float(high):g} were required"
    broken_low = least < low and most <= high
    where = f" {named(rows)}" if rows else ""  # who is in no class has no row
    check = judged(
        evidence.name,
        least < low or most > high,
        f"δ-presence is broken: {between}; {asked}{where}.",
        f"Recomputed from the published file and the public table: {between}; {asked}.",
        bound=float(low if broken_low else high),
        reached=float(least if broken_low else most),
    )
    return [replace(check, rows=rows.first)]


def _whole(
    grouped: Grouped, people: PublicPeople, low: Fraction, high: Fraction
) -> tuple[list[Fraction], npt.NDArray[np.bool_]]:
    """Return the chances |G ∩ T| / |G ∩ P| of all classes, and 0 where somebody is in none.

    And the lines of the classes whose chance is not within the bounds.
    """
    inside, times = covered_people(grouped, people)
    if np.any(times > 1):
        raise CannotTell("classes overlap, so that public people fit several")
    sizes = grouped.sizes
    if np.any(inside < sizes):
        raise _not_a_part(int(np.count_nonzero(inside < sizes)), "class")
    pairs = list(zip(sizes.tolist(), inside.tolist(), strict=True))
    chance = {pair: Fraction(*pair) for pair in set(pairs)}
    beyond = {pair for pair, own in chance.items() if not low <= own <= high}
    wrong = np.array([pair in beyond for pair in pairs], dtype=np.bool_)
    found = list(chance.values())
    return found if np.all(times == 1) else [*found, Fraction(0)], wrong[grouped.group]


def _permuted(evidence: Evidence, people: PublicPeople) -> list[Fraction]:
    """Return the chances of presence in groups whose columns are permuted apart."""
    grouped = evidence.grouped
    counted = [grouped.texts_in_groups(n) for n in evidence.terms.quasi]
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


def _places(cover: Cover, codes: Codes, size: int) -> Codes | None:
    """Return which of the texts covers each code, -1 for none; None where two overlap.

    Texts that cover the same are one value to an attacker who looks for people; they do not occur,
    since a release gives one cover one text.
    """
    place = np.full(size, -1, dtype=np.int64)
    for i, text in enumerate(codes.tolist()):
        for a, b in cover.runs[text]:
            if np.any(place[a : b + 1] >= 0):
                return None
            place[a : b + 1] = i
    return place


def _not_a_part(count: int, what: str) -> CannotTell:
    return CannotTell(
        f"the public people cannot fill {many(count, what)}; the table is not a part of them"
    )
