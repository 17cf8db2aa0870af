"""What every model asks of a release, by its plain definition; and what a published text covers.

A release is here its classes: which values each covers, and who is in it. The second
computation of the workbench shares nothing with this, nor do the searches.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests import diversity_twin as twin
from tests import identity_twin, naive
from tests.everywhere import TREE, Trial

F = Fraction
Cells = tuple[frozenset[str], ...]
#: whether a class keeps a model: its values, those of the table, and what was asked.
Judge = Callable[[Sequence[int], Sequence[int], Mapping[str, Any]], bool]


@dataclass(frozen=True, kw_only=True)
class Class:
    """A class: what its cells cover, and its rows by number; a permuted group has no cells."""

    cells: Cells
    rows: tuple[int, ...]


Classes = Sequence[Class]


def exact(number: object) -> Fraction:
    return F(str(number))


def near(group: Sequence[int], asked: Mapping[str, Any]) -> int:
    relative = bool(asked.get("relative"))
    return twin.crowd(group, exact(asked["epsilon"]), relative=relative)


def disclosed_less(group: Sequence[int], table: Sequence[int], most: Decimal) -> bool:
    found = twin.disclosed(group, table)
    return found is not None and found < most


def alike(group: Sequence[int], table: Sequence[int], asked: Mapping[str, Any]) -> bool:
    surprising = asked.get("enhanced", True) and not twin.unsurprising(group, table)
    return twin.gain(group, table) <= exact(asked["beta"]) and not surprising


def close(group: Sequence[int], table: Sequence[int], asked: Mapping[str, Any]) -> bool:
    how = twin.ordered if asked.get("distance") == "ordered" else twin.equal
    return how(group, table) <= exact(asked["t"])


#: Promises about the sensitive values, or the size, of each class by itself.
BY_CLASS: Mapping[str, Judge] = {
    "alpha-k-anonymity": lambda g, _, a: (
        len(g) >= a["k"] and twin.most_share(g) <= exact(a["alpha"])
    ),
    "background-bound": lambda g, _, a: twin.bounded(g, exact(a["factor"])),
    "beta-likeness": alike,
    "bucket-size": lambda g, _, a: len(g) >= a["k"],
    "delta-disclosure": lambda g, t, a: disclosed_less(g, t, Decimal(str(a["delta"]))),
    "entropy-l-diversity": lambda g, _, a: twin.keeps_entropy(g, exact(a["l"])),
    "epsilon-m-anonymity": lambda g, _, a: exact(a["m"]) * near(g, a) <= len(g),
    "frequency-l-diversity": lambda g, _, a: twin.most_share(g) <= F(1, a["l"]),
    "k-e-anonymity": lambda g, _, a: twin.spread(g, a["k"], exact(a["e"])),
    "km-anonymity": lambda g, _, a: min(Counter(g).values()) >= a["k"],  # sets of one item
    "l-diversity": lambda g, _, a: len(set(g)) >= a["l"],
    "recursive-l-diversity": lambda g, _, a: twin.recursive(g, exact(a["c"]), a["l"]),
    "t-closeness": close,
}


def fits(person: Sequence[str], cells: Cells) -> bool:
    return all(value in cell for value, cell in zip(person, cells, strict=True))


def keeps(trial: Trial, classes: Classes, shown: Sequence[int] = ()) -> bool | None:
    """Say whether classes keep what a trial asks for; None where this twin cannot tell.

    Classes whose rows were suppressed are left out; without any, nothing is asked. Rows show the
    sensitive values of `shown`, or else their own.
    """
    if not classes:
        return None
    asked, rows, values = trial.asked, trial.case.rows, trial.values
    if trial.model in BY_CLASS:
        judge = BY_CLASS[trial.model]
        answer = shown or values
        return all(judge([answer[i] for i in c.rows], values, asked) for c in classes)
    if trial.model not in _KEEPS or not classes[0].cells:
        return None
    if trial.technique.shape.averages and (trial.people or trial.model not in _BY_SIZE):
        return None  # nobody fits an average for sure
    return _KEEPS[trial.model](trial, classes, rows)


def _k_anonymous(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    width, together = len(rows[0]), int(trial.asked.get("subsets", 0)) or len(rows[0])
    for columns in itertools.combinations(range(width), together):
        shown = Counter[Any]()
        for c in classes:
            shown[tuple(c.cells[d] for d in columns)] += len(c.rows)
        if any(n < trial.asked["k"] for n in shown.values()):
            return False
    return True


def _people(trial: Trial, c: Class) -> int:
    """Return among how many people anyone who is in a class is hidden."""
    return sum(fits(p, c.cells) for p in trial.people) if trial.people else len(c.rows)


def _k_map(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    return all(_people(trial, c) >= trial.asked["k"] for c in classes)


def _average(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    of = [(len(c.rows), _people(trial, c)) for c in classes]
    return identity_twin.mean_risk(of) <= exact(trial.asked["risk"])


def _maximum(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    return all(F(1, _people(trial, c)) <= exact(trial.asked["risk"]) for c in classes)


def _by_size(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    """Count all draws of k − 1 people, one by one, of which one at least is drawn."""
    share, alpha = exact(trial.asked["share"]), exact(trial.asked.get("alpha", 0.05))
    drawn = Counter[int]()
    for picks in itertools.product((0, 1), repeat=trial.asked["k"] - 1):
        drawn[sum(picks)] += math.prod(share if pick else 1 - share for pick in picks)
    some = sum(p for x, p in drawn.items() if x)
    smallest = min(len(c.rows) for c in classes)
    return smallest >= trial.asked["k"] or (
        sum(p for x, p in drawn.items() if x >= smallest) <= alpha * some
    )


def _share(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    risk = exact(trial.asked["risk"])
    risky = sum(len(c.rows) for c in classes if F(1, _people(trial, c)) > risk)
    return F(risky, sum(len(c.rows) for c in classes)) <= exact(trial.asked["share"])


def _pays(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    """Ask each class for B (1 − IL) > L/N where G/N > C, IL by products of leaves."""
    benefit, loss, gain, cost = (
        exact(trial.asked[name]) for name in ("benefit", "loss", "gain", "cost")
    )
    domain = math.prod(len(a.leaves) for a in trial.case.attributes)
    for c in classes:
        people, ways = _people(trial, c), math.prod(map(len, c.cells))
        lost = math.log(ways) / math.log(domain) if domain > 1 else 0.0
        attacked = loss / people if gain / people > cost else F(0)
        if float(benefit) * (1 - lost) - float(attacked) <= float(benefit) * 1e-9:
            return False
    return True


def _uniques(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    """Zayatz' estimate by counting samples: H(i), that one is drawn of a class of i people."""
    sizes = Counter(len(c.rows) for c in classes)
    n, people = sum(len(c.rows) for c in classes), trial.asked["people"]
    if not sizes[1]:
        return True
    one = {i: i * math.comb(people - i, n - 1) for i in sizes}
    found = F(sizes[1] ** 2 * one[1], n * sum(of * one[i] for i, of in sizes.items()))
    return found <= exact(trial.asked["share"])


def _present(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool | None:
    low, high = exact(trial.asked.get("delta_min", 0)), exact(trial.asked["delta_max"])
    for person in trial.people:
        own = [c for c in classes if fits(person, c.cells)]
        if len(own) > 1:
            return None  # chances of classes that overlap hang together
        chance = F(len(own[0].rows), _people(trial, own[0])) if own else F(0)
        if not low <= chance <= high:
            return False
    return True


def _personal(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    own = trial.case.column(trial.asked["column"])
    if trial.asked.get("level") != "guard":
        return all(identity_twin.own_holds(c.rows, [int(k) for k in own]) for c in classes)
    values, most = trial.case.column("s0"), exact(trial.asked["p"])
    lines: dict[str, Sequence[str]] = {line[0]: line for line in TREE}
    return all(identity_twin.guards_hold(c.rows, values, own, lines, most) for c in classes)


def _matches(trial: Trial, classes: Classes) -> list[list[int]]:
    """Return the published rows that each published person fits."""
    cells = [c.cells for c in classes for _ in c.rows]
    people = [trial.case.rows[i] for c in classes for i in c.rows]
    return [[j for j, cell in enumerate(cells) if fits(p, cell)] for p in people]


def _one_k(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    return all(len(own) >= trial.asked["k"] for own in _matches(trial, classes))


def _k_one(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    """Count the people of the table, also those whose row was suppressed."""
    return all(sum(fits(p, c.cells) for p in rows) >= trial.asked["k"] for c in classes)


def _global(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool:
    """Count the rows that some assignment of all rows to different people gives a person.

    By trying all: whose row was suppressed is not known.
    """
    cells = [c.cells for c in classes for _ in c.rows]
    fitting = [[i for i, p in enumerate(rows) if fits(p, cell)] for cell in cells]

    def completes(row: int, taken: frozenset[int], skip: int) -> bool:
        if row == len(cells):
            return True
        if row == skip:
            return completes(row + 1, taken, skip)
        return any(completes(row + 1, taken | {i}, skip) for i in fitting[row] if i not in taken)

    may = Counter(
        i for j, own in enumerate(fitting) for i in own if completes(0, frozenset({i}), j)
    )
    return all(may[i] >= trial.asked["k"] for c in classes for i in c.rows)


def _sliced(trial: Trial, classes: Classes, rows: Sequence[naive.Row]) -> bool | None:
    """Judge classes that nobody fits two of: there p(t, s) is a value's share."""
    if any(sum(fits(p, c.cells) for c in classes) > 1 for p in rows):
        return None
    shares = [twin.most_share([trial.values[i] for i in c.rows]) for c in classes]
    return all(share <= F(1, trial.asked["l"]) for share in shares)


#: Promises that sizes of classes decide, whatever their cells cover.
_BY_SIZE = (
    *("k-anonymity", "k-map-by-size", "average-risk", "maximum-risk", "share-at-risk"),
    "population-uniques",
)
_KEEPS: Mapping[str, Callable[[Trial, Classes, Sequence[naive.Row]], bool | None]] = {
    "average-risk": _average,
    "delta-presence": _present,
    "global-one-k-anonymity": _global,
    "k-anonymity": _k_anonymous,
    "k-k-anonymity": lambda t, c, r: _one_k(t, c, r) and _k_one(t, c, r),
    "k-map": _k_map,
    "k-map-by-size": _by_size,
    "k-one-anonymity": _k_one,
    "maximum-risk": _maximum,
    "one-k-anonymity": _one_k,
    "personalized": _personal,
    "population-uniques": _uniques,
    "profitability": _pays,
    "share-at-risk": _share,
    "slicing-l-diversity": _sliced,
}
