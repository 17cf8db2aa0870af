"""k-anonymity: everyone shares their published quasi-identifiers with at least k − 1 others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, listing
from anon_core.base.params import integer, quasi_columns
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.min_group_size import LeastSize
from anon_core.contracts.model import GroupModel, ModelAim, ModelLogic, ModelScope
from anon_core.contracts.people_count import LeastPeople, crowd_behind
from anon_core.methods.reidentification.unique_rows import (
    combination_of,
    fewest,
    largest_valid,
    named_sets,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class KAnonymity(LeastSize):
    """Every equivalence class has at least k rows (Samarati 2001; Sweeney 2002).

    Required of some of the quasi-identifiers, or of every few of them, it is each combination of
    theirs that has at least k published rows, as statistics offices state it. Several such privacy
    models may be in one plan. Merging classes keeps it (combinations only merge), and so it does
    when one of the classes broke it. Removing a class can break it for another: what goes is then
    the fewest rows there are, see `largest_valid`.
    """

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity"
    summary: ClassVar[str] = (
        "Everyone shares their published quasi-identifiers with at least k − 1 other rows. You "
        "can require this of some columns only, or of every set of a few columns."
    )
    formula: ClassVar[str] = (
        "min |G| ≥ k over all equivalence classes G; of columns C: min over all published "
        "combinations on C of their rows ≥ k"
    )
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"
    aim: ClassVar[ModelAim] = ModelAim(offered_at=1)
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True, counts_people=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True, by_classes=True, class_sizes=True)

    k: int = integer(
        default=5, low=2, help="Smallest allowed equivalence class.", label="k", unit="rows"
    )
    columns: tuple[str, ...] = quasi_columns(
        help="Quasi-identifiers of which combinations need k rows, such as zip with birth year. "
        "Others are left to other models.",
        label="Of columns",
        empty="all quasi-identifiers",
    )
    subsets: int = integer(
        default=0,
        low=0,
        help="Every set of so many of these columns needs k rows for each of its combinations; 0 "
        "is one set of them all.",
        label="Columns in each set",
        quiet=True,
    )

    def of_release(self) -> bool:
        """Return whether combinations of some columns are asked for, which classes share."""
        return bool(self.columns or self.subsets)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a k larger than the table, and sets that are none of the quasi-identifiers.

        All rows as one class show one combination, so nothing else is impossible.

        Raises
        ------
        BadPlan
            If a column is not a quasi-identifier, or there are too few or too many of them.
        Infeasible
            If the table has fewer than k rows.
        """
        named_sets(problem.quasi, self.columns, self.subsets, self.title)
        super().check(problem, removable)

    def settle(
        self, stats: GroupStats, keep: npt.NDArray[np.bool_], reference: Reference
    ) -> npt.NDArray[np.bool_]:
        """Return the classes left once rare combinations are removed until there is none."""
        assert stats.cells is not None
        sets = named_sets(tuple(stats.cells), self.columns, self.subsets, self.title)
        return largest_valid(stats.sizes, combination_of(stats.cells, sets), self.k, keep)

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return with how many others everyone shares their quasi-identifiers, or some of them."""
        if self.of_release():
            named = listing(self.columns) if self.columns else "the quasi-identifiers"
            of = f"of each {self.subsets} of {named}" if self.subsets else f"of {named}"
            return f"Every published combination {of} will occur in at least {self.k:,} rows."
        return (
            f"Everyone will share their {count(quasi, 'quasi-identifier')} with at least "
            f"{count(self.k - 1, 'other person', 'others')}."
        )

    def in_people(self, person: str) -> GroupModel:
        """Return k-anonymity of persons: at least k distinct ones in every class.

        Raises
        ------
        BadPlan
            If it is required of sets of columns: whose rows show a combination is not counted yet.
        """
        if self.of_release():
            raise BadPlan(
                f"k-anonymity of sets of columns counts rows, and '{person}' says that a person "
                "may have several.",
                remedy="Require it of all quasi-identifiers, or load one row per person.",
            )
        return KAnonymityOfPeople(k=self.k, person=person)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the smallest class, or the rarest combination of the columns, against k.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks; k-anonymity is then not defined.
        """
        block = view.whole_quasi()
        if block is None:
            raise AnonError(
                "k-anonymity is not defined where quasi-identifiers are permuted separately.",
                remedy="Choose a model for buckets instead.",
            )
        persons = view.persons(block)
        if not self.of_release() or not len(persons.sizes):
            return [self.verdict_of_sizes(persons.sizes, "class")]
        sets = named_sets(view.quasi, self.columns, self.subsets, self.title)
        codes = dict(zip(persons.columns, persons.codes.astype(np.int64).T, strict=True))
        every = np.ones(len(persons.sizes), dtype=np.bool_)
        least, place = fewest(persons.sizes, combination_of(codes, sets), every)
        rarest = int(least.min())
        of = "" if len(sets) == 1 else f"Of {len(sets)} sets of columns "
        article = "the" if of else "The"
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state="holds" if rarest >= self.k else "broken",
                bound=float(self.k),
                reached=float(rarest),
                per_class=least.astype(np.float64),
                sentence=f"{of}{article} rarest combination of {listing(sets[place])} has {rarest} "
                f"rows; at least {self.k} were asked for.",
            )
        ]


@dataclass(frozen=True, kw_only=True)
class KAnonymityOfPeople(LeastPeople, KAnonymity):
    """Every equivalence class has rows of at least k distinct persons."""

    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True, by_classes=True)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the class of the fewest persons against k."""
        sizes = crowd_behind(reference, self.title).sizes
        return [self.verdict_of_sizes(sizes, "class", "people")]
