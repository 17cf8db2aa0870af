"""How many people of the population share each published class, and linking rows to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, listing
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import TOP, Hierarchy, unclear_places
from anon_core.kernels.overlap import covered
from anon_core.methods.matching.fitting_rows import fits, least_of_fitting, rows_fitting
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.problem import Problem
from anon_core.release.release import Persons, View

#: Why rows cannot be matched as a whole.
APART = "Quasi-identifiers are permuted separately, so no row matches a person as a whole."
#: Why no one is counted among the population by averages.
AVERAGED = (
    "It needs cells that cover values: an average matches no person of a population for sure. The "
    "prosecutor's chance bounds what a link can reach."
)
_RAW: WeakKeyDictionary[Audience, WeakKeyDictionary[Truth, float]] = WeakKeyDictionary()
_PAIRS = 1 << 25  # classes and public tuples compared between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicPeople:
    """A public table that holds everyone of the released one (T ⊆ P), both as the public's leaves.

    Attributes
    ----------
    hierarchies : tuple of Hierarchy
        The quasi-identifiers' with the public table's further values; levels as the table's.
    codes : int32 array of shape (tuples, quasi)
        Distinct quasi tuples of the people whom a cell can cover.
    count : int64 array of shape (tuples,)
    beyond : int
        People whom no cell can cover.
    place : tuple of int32 arrays of shape (leaves of the table's hierarchy,)
        Where the table's own leaves are among those of `hierarchies`; ascending.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    beyond: int
    place: tuple[npt.NDArray[np.int32], ...]

    @property
    def size(self) -> int:
        """Number of people."""
        return int(self.count.sum()) + self.beyond


def public_people(population: Population | None, people: FrequencySet, owner: str) -> PublicPeople:
    """Return the people of the public table.

    Parameters
    ----------
    people : FrequencySet
        Everyone of the private table.
    owner : str
        Who asks, for messages.

    Raises
    ------
    BadPlan
        If there is no public table, it lacks a quasi-identifier, or a row of the table has no
        person of its own in it.
    """
    if population is None or population.codes is None or population.tuple_count is None:
        only = " Its size alone does not say who is in it." if population is not None else ""
        raise BadPlan(
            f"{owner} needs a public table: everyone of whom an attacker asks whether they are in "
            f"the released one.{only}",
            remedy="Name a population table that has the quasi-identifiers, under [population] "
            "file.",
        )
    if population.lacking:
        raise BadPlan(
            f"{owner} is defined by all quasi-identifiers, and the population table has no "
            f"{listing(population.lacking)}: by the others alone more people fit, and the model "
            "would not hold against an attacker who knows the rest.",
            remedy="Add the column to the population table. Or remove the model: attacks "
            "with the population table use the columns that it has.",
        )
    quasi = people.columns[: people.quasi]
    wide = tuple(population.hierarchies[name] for name in quasi)
    place = tuple(population.place[name] for name in quasi)
    covered = np.all(population.codes >= 0, axis=1)
    codes, count = population.codes[covered], population.tuple_count[covered]
    own = np.stack([p[c] for p, c in zip(place, people.run_codes.T, strict=True)], 1)
    both = np.concatenate([own, codes])
    rank, first = dense_rank(list(both.T), [len(h.leaves) for h in wide])
    room = np.bincount(rank[len(own) :], weights=count, minlength=len(first)).astype(np.int64)
    short = people.run_count - room[rank[: len(own)]]
    if np.any(short > 0):
        raise BadPlan(
            f"{int(short[short > 0].sum())} of {people.rows} rows have no person of their own in "
            "the public table, so the table is not a part of it.",
            remedy="Give a public table that holds everyone of the table, with the same values.",
        )
    return PublicPeople(
        hierarchies=wide,
        codes=codes,
        count=count,
        beyond=int(population.tuple_count[~covered].sum()),
        place=place,
    )


def refuse_unclear(problem: Problem, owner: str) -> None:
    """Refuse public values of which no one can tell in which group they are.

    Raises
    ------
    BadPlan
    """
    people = problem.population
    for name in problem.quasi if people is not None and people.hierarchies else ():
        assert people is not None
        hierarchy, wide = problem.hierarchies[name], people.hierarchies[name]
        if hierarchy.measure is None:
            continue
        assert wide.measure is not None
        only = np.ones(len(wide.leaves), dtype=np.bool_)
        only[people.place[name]] = False
        only &= ~np.isnan(wide.measure)
        kind = problem.dataset.column(name).kind
        count = int(np.count_nonzero(unclear_places(hierarchy, kind, wide.measure[only])))
        if count:
            raise BadPlan(
                f"{owner}: the public table has {count} "
                f"{'value' if count == 1 else 'values'} of '{name}' that the hierarchy does not "
                "list. A group next to them has a label with a figure but no range, so it "
                "is unclear on which side of the group they belong.",
                remedy="List the values in the hierarchy, or write the label as a range, such as "
                "20-29.",
            )


def people_or_rows(
    view: View, audience: Audience, persons: Persons, context: Context
) -> tuple[npt.NDArray[np.int64], bool]:
    """Return how many could be behind a row of each class, and whether people were counted.

    They are the people of the population table who fit the class, or its rows where there is no
    such table, where it lacks a quasi-identifier, or where averages fit no one for sure.
    """
    people = audience.population
    if people is None or not people.complete or view.averaged:
        return persons.sizes, False
    counted = people_of_classes(people, view, persons, context)
    return np.maximum(counted, persons.sizes), True


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationRisk:
    """Chance of picking the right person in the population, per class.

    Attributes
    ----------
    chance : float64 array of shape (classes,)
        1/F where the population is counted, its posterior mean where only its size is known.
    size : int
        People in the population.
    unmatched : int
        Classes that no person of the population table fits, so that the table is not a sample of
        it; they are counted with their size in the release.
    bounded : bool
        Whether classes were too many to say who fits several, so that chances are upper bounds.
    """

    chance: npt.NDArray[np.float64]
    estimated: bool
    size: int
    unmatched: int = 0
    bounded: bool = False


def population_risk(
    view: View,
    persons: Persons,
    audience: Audience,
    truth: Truth,
    context: Context,
    crowd: Crowd | None = None,
) -> PopulationRisk:
    """Return the chance per class, from a population table, its stated size, or the table itself.

    With a stated size N the people F who fit a class in the population are unknown; given the f of
    the table who do and the sampling share π = n/N, F is taken as negative binomial, and the chance
    is E[1/F | f] (Benedetti and Franconi 1998). Where classes do not overlap, f is the class's
    size. Everybody fits a class whose cells all say nothing, so that its chance is 1/N.

    Where a `crowd` distinguishes persons, they are counted instead of rows. Of those who fit
    several classes only the ones who are in a class are then counted, so chances are none too low.
    """
    sizes = persons.sizes if crowd is None else crowd.sizes
    everyone = truth.rows if crowd is None else crowd.total
    population = audience.population
    if population is None or population.codes is None or population.tuple_count is None:
        found = fits(truth.frequency, view, persons, context)
        own = found.people_of_row if crowd is None else sizes
        if population is None:
            chance, size, estimated = 1.0 / own, everyone, False
        else:
            chance, size = expected_inverse(own, everyone / population.size), population.size
            silent = _says_nothing(view, persons)
            chance[silent] = 1.0 / size  # everybody fits, so that nothing is left to estimate
            estimated = not silent.all()
        return PopulationRisk(chance=chance, estimated=estimated, size=size, bounded=found.bounded)
    people = people_of_classes(population, view, persons, context)
    counted = np.maximum(people, sizes)  # a sample can't exceed its population
    return PopulationRisk(
        chance=1.0 / counted,
        estimated=False,
        size=population.size,
        unmatched=int(np.count_nonzero(people < sizes)),
    )


def _says_nothing(view: View, persons: Persons) -> npt.NDArray[np.bool_]:
    """Return which classes show nothing in any quasi-identifier, shape (classes,)."""
    found = np.ones(len(persons.sizes), dtype=np.bool_)
    for d, name in enumerate(persons.columns):
        tops = np.array([text == TOP for text in view.vocabularies[name].texts], dtype=np.bool_)
        found &= tops[persons.codes[:, d]]
    return found


def people_of_classes(
    population: Population, view: View, persons: Persons, context: Context
) -> npt.NDArray[np.int64]:
    """Return how many people of a population table fit each published class, shape (classes,)."""
    assert population.codes is not None
    assert population.tuple_count is not None
    context.check()
    covers = [population.cover(view.vocabularies[n]) for n in persons.columns]
    low = np.stack([lo[persons.codes[:, d]] for d, (lo, _) in enumerate(covers)], axis=1)
    high = np.stack([hi[persons.codes[:, d]] for d, (_, hi) in enumerate(covers)], axis=1)
    place = [view.quasi.index(n) for n in persons.columns]
    codes = np.ascontiguousarray(population.codes[:, place])
    if np.array_equal(low, high):
        return _people_alike(low, codes, population.tuple_count)
    people = np.zeros(len(persons.sizes), dtype=np.int64)
    step = max(_PAIRS // max(len(low), 1), 1)
    for start in range(0, len(codes), step):
        context.check()
        stop = start + step
        covered(low, high, codes[start:stop], population.tuple_count[start:stop], people)
    return people


def _people_alike(
    exact: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return how many people have the very values of each class, shape (classes,)."""
    both = [np.concatenate(column) + np.int32(1) for column in zip(exact.T, codes.T, strict=True)]
    rank, first = dense_rank(both, [int(column.max(initial=0)) + 1 for column in both])
    people = np.bincount(rank[len(exact) :], count, len(first)).astype(np.int64)
    return people[rank[: len(exact)]]


def by_columns(audience: Audience) -> str:
    """Return a sentence on what a population table lacks, beginning with a blank; else nothing."""
    lacking = () if audience.population is None else audience.population.lacking
    if not lacking:
        return ""
    return (
        f" The population table has no {listing(lacking)}: an attacker who has it uses the other "
        "quasi-identifiers, and one who knows more learns more."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Linked:
    """Published rows linked to the population.

    Attributes
    ----------
    attempted, eligible : int
        Those of the table, and of them those who are published: persons where a column identifies
        them, else rows.
    chance : float64 array of shape (eligible,) or (classes,)
        Chance of each person, in their most exposed class; or of each class.
    weight : int64 array of the same shape
        How many have it.
    raw : float
        Share of right links on the table as it is, identifiers removed.
    crowd : Crowd or None
        The persons, where a column distinguishes them.
    """

    risk: PopulationRisk
    attempted: int
    eligible: int
    chance: npt.NDArray[np.float64]
    weight: npt.NDArray[np.int64]
    raw: float
    crowd: Crowd | None = None

    @property
    def succeeded(self) -> float:
        """Expected right links."""
        return _expected(self.chance, self.weight)

    def raised(self, chance: npt.NDArray[np.float64]) -> Linked:
        """Return the same with other chances of the classes, shape (classes,)."""
        highest = chance if self.crowd is None else self.crowd.highest(chance)
        return replace(self, chance=highest)

    def above(self, threshold: float) -> int:
        """Return how many are linked right with more than some chance."""
        return int(self.weight[self.chance > threshold].sum())


def why_not(view: View) -> str:
    """Return why rows cannot be matched as a whole, or an empty string."""
    return APART if view.whole_quasi() is None else ""


def why_not_covered(view: View, audience: Audience) -> str:
    """Return why a population cannot be counted by what cells cover, or an empty string."""
    return AVERAGED if audience.population is not None and view.averaged else ""


def matched(view: View) -> Persons:
    """Return the classes that people are matched to by their quasi-identifiers.

    Raises
    ------
    AnonError
        If the quasi-identifiers are in several link blocks.
    """
    block = view.whole_quasi()
    if block is None:
        raise AnonError(APART, remedy="Use an attack on permuted tables.")
    return view.persons(block)


def linked(view: View, audience: Audience, truth: Truth, context: Context) -> Linked:
    """Link every published row to the population, or to the table where none is stated.

    Raises
    ------
    AnonError
        If the quasi-identifiers are in several link blocks, or the population would have to be
        matched to averages.
    """
    persons = matched(view)
    if why_not_covered(view, audience):
        raise AnonError(AVERAGED, remedy="Use the prosecutor attack.")
    crowd = truth.crowd
    risk = population_risk(view, persons, audience, truth, context, crowd)
    chance, weight = _each(persons, risk, crowd)
    return Linked(
        risk=risk,
        attempted=truth.rows if crowd is None else crowd.total,
        eligible=view.rows if crowd is None else crowd.published,
        chance=chance,
        weight=weight,
        raw=raw_rate(audience, truth, context),
        crowd=crowd,
    )


def _each(
    persons: Persons, risk: PopulationRisk, crowd: Crowd | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the chances, and how many have each: rows by class, or persons one by one."""
    if crowd is None:
        return risk.chance, persons.sizes
    highest = crowd.highest(risk.chance)
    return highest, np.ones(len(highest), dtype=np.int64)


def _expected(chance: npt.NDArray[np.float64], weight: npt.NDArray[np.int64]) -> float:
    """Return Σ chance · weight; equal chances at once, since 20 times 1/20 is more than 1."""
    kinds, place = np.unique(chance, return_inverse=True)
    return float(kinds @ np.bincount(place, weight, len(kinds)))


def raw_rate(audience: Audience, truth: Truth, context: Context) -> float:
    """Return the share of right links on the table as it is; computed once for both."""
    known = _RAW.setdefault(audience, WeakKeyDictionary())
    found = known.get(truth)
    if found is None:
        # Persons are counted by the class they are in, which is then known of the table, too.
        crowd = truth.raw_crowd_in_groups
        raw = truth.raw if crowd is None else truth.raw_in_groups
        persons = matched(raw)
        risk = population_risk(raw, persons, audience, truth, context, crowd)
        chance, weight = _each(persons, risk, crowd)
        everyone = truth.rows if crowd is None else crowd.total
        found = known[truth] = _expected(chance, weight) / everyone
    return found


def expected_inverse(sizes: I64, share: float | F64) -> F64:
    """Return E[1/F | f] for F − f negative binomial with f successes of probability `share`.

    Parameters
    ----------
    sizes : int64 array of shape (classes,)
        f, at least 1.
    share : float or float64 array of shape (classes,)
        Sampling share in (0, 1], of all or of each class.

    Examples
    --------
    >>> expected_inverse(np.array([1, 2]), 1.0).tolist()
    [1.0, 0.5]
    """
    f = sizes.astype(np.float64)
    if np.all(np.asarray(share) >= 1.0):
        return 1.0 / f
    from scipy.special import hyp2f1

    # share^f / f · ₂F₁(f, f; f + 1; 1 − share) in Euler's form, whose factors stay near 1.
    rest = 1.0 - share
    exact = hyp2f1(1.0, 1.0, np.minimum(f, 40.0) + 1.0, rest)
    series, term = np.ones_like(f), np.ones_like(f)
    for n in range(1, 31):  # past 40 rows the 30th term is below 1e-19
        term = term * (n * rest / (f + n))
        series += term
    found = share / f * np.where(f <= 40.0, exact, series)
    with np.errstate(divide="ignore", invalid="ignore"):  # of one row, the logarithm is exact
        alone = np.where(rest > 0.0, -np.log(share) * share / rest, 1.0)
    return np.where(f == 1.0, alone, found)


# Whether all rows that fit someone are one person's, where one person has several rows.


_MOST = 2**62  # what sums of whole numbers may reach


def fewest_persons(
    codes: I32, low: I32, high: I32, pairs: tuple[I64, I64], context: Context
) -> I64:
    """Return 1 where someone who fits a class fits rows of one person only, else 2.

    Where no one fits a class, or there are too many to compare, it is as many persons as the class
    itself has: the least it can be.

    Parameters
    ----------
    codes : int32 array of shape (tuples, columns)
        Leaf numbers of the people.
    low, high : int32 arrays of shape (classes, columns)
        First and last leaf of each class's cells.
    pairs : tuple of int64 arrays of shape (pairs,)
        Class and person of everyone who has a row in it, no pair twice.

    Returns
    -------
    int64 array of shape (classes,)

    Notes
    -----
    Numbers p of persons are all the same if and only if N Σp² = (Σp)², by Cauchy and Schwarz. The
    three sums over the classes that fit are counted as rows are, and compared in whole numbers.
    """
    member, person = pairs
    classes = len(low)
    own = np.bincount(member, minlength=classes).astype(np.int64)
    most = int(person.max(initial=0))
    if len(person) * most * most >= _MOST:
        return own
    sums: list[I64] = []
    for power in range(3):
        weight = np.zeros(classes, dtype=np.int64)
        np.add.at(weight, member, person**power)
        found = rows_fitting(codes, low, high, weight, context)
        if found is None:
            return own
        sums.append(found)
    number, first, second = sums
    mean = first // np.maximum(number, 1)
    one = (number > 0) & (mean * number == first) & (mean * mean * number == second)
    return least_of_fitting(codes, low, high, np.where(one, 1, 2), own, context)
