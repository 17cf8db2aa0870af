"""How many people of the population share each published class, and linking rows to them."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from .context import Context
from .errors import AnonError, BadPlan
from .frequency import dense_rank
from .hierarchy import Hierarchy
from .kernels.cover import covered
from .overlap import fits
from .problem import Problem
from .release import Persons, View, raw_view

#: Why rows cannot be matched as a whole.
APART = "Quasi-identifiers are permuted apart, so no row matches a person as a whole."
#: Why nobody is counted among the population by averages.
AVERAGED = (
    "It needs cells that cover values: an average fits nobody of a population for sure. The "
    "prosecutor's chance bounds what a link can reach."
)
_RAW: WeakKeyDictionary[Problem, float] = WeakKeyDictionary()
_TUPLES = 20_000  # population tuples between two looks at the cancel button


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
        Where the table's own leaves stand among those of `hierarchies`; ascending.
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


def public_people(problem: Problem, owner: str) -> PublicPeople:
    """Return the people of the public table.

    Raises
    ------
    BadPlan
        If there is no public table, or a row of the table has no person of its own in it.
    """
    population = problem.population
    if population is None or population.codes is None or population.tuple_count is None:
        only = " Its size alone does not say who is in it." if population is not None else ""
        raise BadPlan(
            f"{owner} needs a public table: everyone of whom an attacker asks whether they are in "
            f"the released one.{only}",
            remedy="Name a population table that has the quasi-identifiers, under [population] "
            "file.",
        )
    wide = tuple(population.hierarchies[name] for name in problem.quasi)
    place = tuple(population.place[name] for name in problem.quasi)
    covered = np.all(population.codes >= 0, axis=1)
    codes, count = population.codes[covered], population.tuple_count[covered]
    own = np.stack([p[c] for p, c in zip(place, problem.frequency.run_codes.T, strict=True)], 1)
    both = np.concatenate([own, codes])
    rank, first = dense_rank(list(both.T), [len(h.leaves) for h in wide])
    room = np.bincount(rank[len(own) :], weights=count, minlength=len(first)).astype(np.int64)
    short = problem.frequency.run_count - room[rank[: len(own)]]
    if np.any(short > 0):
        raise BadPlan(
            f"{int(short[short > 0].sum())} of {problem.rows} rows have no person of their own in "
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


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationRisk:
    """Chance of picking the right person in the population, per class.

    Attributes
    ----------
    chance : float64 array of shape (classes,)
        1/F where the population is counted, its posterior mean where only its size is known.
    estimated : bool
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
    problem: Problem, view: View, persons: Persons, context: Context
) -> PopulationRisk:
    """Return the chance per class, from a population table, its stated size, or the table itself.

    With a stated size N the people F who fit a class in the population are unknown; given the f of
    the table who do and the sampling share π = n/N, F is taken as negative binomial, and the chance
    is E[1/F | f] (Benedetti and Franconi 1998). Where classes do not overlap, f is the class's
    size.
    """
    sizes = persons.sizes
    population = problem.population
    if population is None or population.codes is None or population.tuple_count is None:
        found = fits(problem, view, persons, context)
        own = found.people_of_row
        if population is None:
            chance, size = 1.0 / own, problem.rows
        else:
            chance, size = expected_inverse(own, problem.rows / population.size), population.size
        return PopulationRisk(
            chance=chance, estimated=population is not None, size=size, bounded=found.bounded
        )
    covers = [population.cover(view.vocabularies[n]) for n in persons.columns]
    low = np.stack([lo[persons.codes[:, d]] for d, (lo, _) in enumerate(covers)], axis=1)
    high = np.stack([hi[persons.codes[:, d]] for d, (_, hi) in enumerate(covers)], axis=1)
    place = [problem.quasi.index(n) for n in persons.columns]
    people = np.zeros(len(sizes), dtype=np.int64)
    codes = np.ascontiguousarray(population.codes[:, place])
    for start in range(0, len(codes), _TUPLES):
        context.check()
        stop = start + _TUPLES
        covered(low, high, codes[start:stop], population.tuple_count[start:stop], people)
    counted = np.maximum(people, sizes)  # a sample can't exceed its population
    return PopulationRisk(
        chance=1.0 / counted,
        estimated=False,
        size=population.size,
        unmatched=int(np.count_nonzero(people < sizes)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Linked:
    """Published rows linked to the population.

    Attributes
    ----------
    persons : Persons
    risk : PopulationRisk
    succeeded : float
        Expected right links.
    raw : float
        Share of right links on the table as it is, identifiers removed.
    """

    persons: Persons
    risk: PopulationRisk
    succeeded: float
    raw: float


def why_not(view: View) -> str:
    """Return why rows cannot be matched as a whole, or an empty string."""
    return APART if view.whole_quasi() is None else ""


def why_not_covered(problem: Problem, view: View) -> str:
    """Return why a population cannot be counted by what cells cover, or an empty string."""
    return AVERAGED if problem.population is not None and view.averaged else ""


def matched(view: View) -> Persons:
    """Return the classes that people are matched to by their quasi-identifiers.

    Raises
    ------
    AnonError
        If the quasi-identifiers stand in several link blocks.
    """
    block = view.whole_quasi()
    if block is None:
        raise AnonError(APART, remedy="Use an attack on permuted tables.")
    return view.persons(block)


def linked(problem: Problem, view: View, context: Context) -> Linked:
    """Link every published row to the population, or to the table where none is stated.

    Raises
    ------
    AnonError
        If the quasi-identifiers stand in several link blocks, or the population would have to be
        matched to averages.
    """
    persons = matched(view)
    if why_not_covered(problem, view):
        raise AnonError(AVERAGED, remedy="Use the prosecutor attack.")
    risk = population_risk(problem, view, persons, context)
    return Linked(
        persons=persons,
        risk=risk,
        succeeded=float(risk.chance @ persons.sizes),
        raw=raw_rate(problem, context),
    )


def raw_rate(problem: Problem, context: Context) -> float:
    """Return the share of right links on the table as it is; computed once for a problem."""
    found = _RAW.get(problem)
    if found is None:
        view = raw_view(problem)
        persons = matched(view)
        risk = population_risk(problem, view, persons, context)
        found = _RAW[problem] = float(risk.chance @ persons.sizes) / problem.rows
    return found


def expected_inverse(sizes: npt.NDArray[np.int64], share: float) -> npt.NDArray[np.float64]:
    """Return E[1/F | f] for F − f negative binomial with f successes of probability `share`.

    Parameters
    ----------
    sizes : int64 array of shape (classes,)
        f, at least 1.
    share : float
        Sampling share in (0, 1].

    Examples
    --------
    >>> expected_inverse(np.array([1, 2]), 1.0).tolist()
    [1.0, 0.5]
    """
    f = sizes.astype(np.float64)
    if share >= 1.0:
        return 1.0 / f
    from scipy.special import hyp2f1

    # share^f / f · ₂F₁(f, f; f + 1; 1 − share) in Euler's form, whose factors stay near 1.
    rest = 1.0 - share
    exact = hyp2f1(1.0, 1.0, np.minimum(f, 40.0) + 1.0, rest)
    series, term = np.ones_like(f), np.ones_like(f)
    for n in range(1, 31):  # past 40 rows the 30th term is below 1e-19
        term = term * (n * rest / (f + n))
        series += term
    return share / f * np.where(f <= 40.0, exact, series)
