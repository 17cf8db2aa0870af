"""What an algorithm must offer: a release that keeps the privacy models, or a refusal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import Technique
from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.purposes import Purpose, Service
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

#: What is changed: whole columns by level, cells group by group, single cells, the links between
#: columns, or values themselves.
Approach = Literal["levels", "ranges", "cells", "links", "values"]
#: What stays linked where columns are permuted separately: nothing, so that every column is alone;
#: the columns of each role; or the sets of columns that a technique names or forms.
Linked = Literal["nothing", "roles", "sets"]


class Algorithm(Technique):
    """A way to build a release that satisfies the privacy models."""

    #: One line: when to choose this one.
    when: ClassVar[str] = ""
    #: Place among the few that a person meets first, from 1 for what a new plan starts with; 0 for
    #: all others.
    met_at: ClassVar[int] = 0
    #: What it is good for, by purpose; empty for what is chosen by those who look for it.
    serves: ClassVar[Mapping[Purpose, Service]] = {}
    #: Whether it is of use for teaching and comparison rather than for releases.
    for_study: ClassVar[bool] = False
    #: What a person has to confirm before it can be used, as a sentence.
    asks_first: ClassVar[str] = ""
    #: The parameter that names a level for every column; empty where a search finds them.
    levels_parameter: ClassVar[str] = ""
    #: Whether it searches nothing and takes the parts of an earlier release over.
    carries_out_parts: ClassVar[bool] = False
    #: What it changes; techniques are offered together by it. Those that permute cut links.
    approach: ClassVar[Approach] = "ranges"
    #: Whether columns are permuted separately, so that models of whole rows are not defined.
    permutes: ClassVar[bool] = False
    #: Whether its search draws, or it is drawn which of equal rows goes where; see `draws`.
    by_chance: ClassVar[bool] = False
    #: Whether chance is what protects: it satisfies models about the way a release is made, and
    #: such about the sizes of classes next to them.
    is_mechanism: ClassVar[bool] = False
    #: Whether a privacy model has to steer it; else it may be carried out without any.
    needs_models: ClassVar[bool] = True
    #: Whether it works only with a public table.
    needs_public: ClassVar[bool] = False
    #: Whether it counts the public people of its groups, so that privacy models about them steer
    #: it; else its finished releases are tested.
    counts_public: ClassVar[bool] = False
    #: Whether it merges groups until privacy models about public people hold of what they would
    #: publish; its finished releases are tested all the same, and larger groups asked for where
    #: they fail.
    merges_by_public: ClassVar[bool] = False
    #: Whether privacy models counted in distinct persons steer it, where a column distinguishes
    #: them.
    counts_people: ClassVar[bool] = False
    #: Whether it takes for granted that classes which keep a privacy model keep it when merged.
    merges: ClassVar[bool] = False
    #: Whether a technique that permutes columns also coarsens their cells.
    coarsens: ClassVar[bool] = False
    #: What stays linked row by row, where columns are permuted separately.
    linked: ClassVar[Linked] = "nothing"
    #: Whether numbers of quasi-identifiers are replaced by averages of their group.
    averages: ClassVar[bool] = False
    #: Whether a column without a hierarchy is published in ranges or sets; else exactly or not.
    forms_ranges: ClassVar[bool] = False
    #: Settings with which it publishes groups of hierarchies instead of ranges cut to the rows.
    rounded: ClassVar[Mapping[str, object]] = {}
    #: Whether it publishes every column at one level of its hierarchy.
    one_level: ClassVar[bool] = False
    #: Whether it publishes the smallest and the largest values as ≤ and ≥ a limit.
    codes_tails: ClassVar[bool] = False
    #: Whether it works from distinct tuples and their counts alone, so that it runs on tables which
    #: no memory holds. Where it draws which of equal rows goes where, the published columns must
    #: fit as numbers.
    from_counts: ClassVar[bool] = False
    #: Names of the tables it publishes.
    publishes: ClassVar[tuple[str, ...]] = ("release",)

    @property
    def cuts_in_pieces(self) -> bool:
        """Whether, as it is set, it cuts tables whose distinct tuples fit no memory; see `Pieces`.

        Privacy models have to be such as limits describe.
        """
        return False

    @property
    def draws(self) -> bool:
        """Whether, as it is set, what it publishes depends on chance, and so on a secret."""
        parts = (getattr(self, p.name) for p in self.parameters() if p.kind == "technique")
        within = any(part.draws for part in parts if isinstance(part, Algorithm))
        return self.permutes or self.by_chance or self.is_mechanism or within

    def shape(self) -> dict[str, Any]:
        """Return what its releases look like: all that verification knows of the technique.

        A table of plain values, written into the completed recipe as ``[release]``.
        """
        exact = self.permutes and not self.coarsens
        return {
            "tables": len(self.publishes),
            "linked": self.linked if self.permutes else "rows",
            "insensitive_with": "quasi",
            "sets": [],
            "cells": "averaged" if self.averages else "exact" if exact else "coarsened",
            "levels": "one" if self.one_level else "any",
            "tails": "coded" if self.codes_tails else "none",
            "rows": "drawn" if self.is_mechanism else "all",
        }

    def keeps_level_bounds(self) -> bool:
        """Whether, as it is set, it keeps every column within the levels that a plan allows.

        What it publishes is checked all the same; see `LevelBounds`.
        """
        return self.one_level and self.needs_models and not self.is_mechanism

    def best_levels(self) -> tuple[Metric, float] | None:
        """Return metric and share of rows that may go, where it proves levels to be the best.

        It then chooses, of the levels that keep the privacy models, those of least cost by the
        metric; None where it searches anything else.
        """
        return None

    @abstractmethod
    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Build a release.

        Raises
        ------
        Infeasible
            If none keeps the privacy models; carries the best value reached.
        Cancelled
            If the person stopped it.
        """


def refuse_unsteered(algorithm: Algorithm, models: Sequence[GroupModel]) -> None:
    """Refuse privacy models that a technique can't host, whatever the table.

    Privacy models about whole rows need one that does not permute columns separately, privacy
    models about public people one whose cells cover values, so that it can be determined who fits
    them, and privacy models about the way a release is made one that is such a way.

    Raises
    ------
    BadPlan
    """
    _refuse_other_chance(algorithm, models)
    for model in models:
        if model.needs_whole_rows and algorithm.permutes:
            raise BadPlan(
                f"{model.title} is not defined where columns are permuted separately.",
                remedy="Require a bucket size or frequency l-diversity instead, or choose a "
                "generalization.",
            )
        if (model.needs_public or model.private_columns()) and algorithm.averages:
            raise BadPlan(
                f"{model.title} is not defined for averages: an average fits no one for sure.",
                remedy="Choose a technique that publishes ranges or groups, or remove the model.",
            )


def _refuse_other_chance(algorithm: Algorithm, models: Sequence[GroupModel]) -> None:
    """Refuse models about the way a release is made where it is no such way, and the reverse.

    Raises
    ------
    BadPlan
    """
    for model in models:
        if model.of_mechanism and not algorithm.is_mechanism:
            ways = [cast(type[Algorithm], a) for a in family("algorithm").values()]
            raise BadPlan(
                f"{model.title} is a property of the way a release is made, not of the release: "
                f"{algorithm.title} decides by the rows themselves, so one row more or less can "
                "change all that is published, and no later check can give what that lacks.",
                remedy=f"Choose {listing(way.title for way in ways if way.is_mechanism)}, or "
                "require another model.",
            )
        of_sizes = model.of_class_sizes and not model.of_release()
        if algorithm.is_mechanism and not (model.of_mechanism or of_sizes):
            raise BadPlan(
                f"{algorithm.title} cannot be steered by {model.title}: which classes it removes "
                "may hang on their sizes alone, or its guarantee is void.",
                remedy="Remove the model, or choose another technique.",
            )
    if algorithm.is_mechanism and not any(model.of_mechanism for model in models):
        raise BadPlan(
            f"{algorithm.title} needs the budget of differential privacy it may spend.",
            remedy="Require differential-privacy with its epsilon and delta.",
        )


def met_first() -> tuple[str, ...]:
    """Return the names of the techniques that a person meets first, in order."""
    known = {n: cast(type[Algorithm], a).met_at for n, a in family("algorithm").items()}
    return tuple(sorted((name for name, place in known.items() if place), key=known.__getitem__))


_BUDGET = "max_suppression"
#: Share of rows that may be suppressed where no one set it; why: docs/suppression.md.
USUAL_BUDGET = 0.02


def order_of_use(technique: type[Algorithm]) -> tuple[object, ...]:
    """Return what techniques are listed by: how commonly they are needed, not the alphabet.

    First those met first, then those that serve a purpose, then those that someone looks for, and
    last those for study.
    """
    place = min((service.place for service in technique.serves.values()), default=99)
    return technique.met_at or 99, technique.for_study, place, technique.title.casefold()


def with_usual_budget(technique: type[Algorithm]) -> dict[str, object]:
    """Return the recipe's table of a technique as it is begun with where no one set anything.

    Recipes that say nothing suppress nothing; a person begins with what saves most for the fewest
    rows.
    """
    declared = {p.name: p.default for p in technique.parameters()}
    begun = {_BUDGET: USUAL_BUDGET} if declared.get(_BUDGET) == 0 else {}
    return {"name": technique.name, **begun}


def by_levels(levels: Mapping[str, int], max_suppression: float) -> dict[str, object]:
    """Return the recipe's table of the technique that publishes every column at a given level."""
    for name, found in family("algorithm").items():
        if parameter := cast(type[Algorithm], found).levels_parameter:
            return {"name": name, parameter: dict(levels), "max_suppression": max_suppression}
    raise LookupError("no technique takes levels")


def by_parts() -> dict[str, object]:
    """Return the recipe's table of the technique that takes over an earlier release's parts."""
    for name, found in family("algorithm").items():
        if cast(type[Algorithm], found).carries_out_parts:
            return {"name": name}
    raise LookupError("no technique takes parts over")


def counted_in_people(
    algorithm: Algorithm, models: Sequence[GroupModel], person: str
) -> tuple[GroupModel, ...]:
    """Return the models as they are counted: of distinct persons, where a column identifies them.

    Parameters
    ----------
    models : sequence of GroupModel
    person : str
        The person column; empty where a row is a person, and the privacy models stay as they are.

    Raises
    ------
    BadPlan
        If the technique or a privacy model can only count rows.
    """
    if not person:
        return tuple(models)
    for owner in (algorithm, *models):
        if not owner.counts_people:
            raise BadPlan(
                f"{owner.title} counts rows, and '{person}' says that a person may have several: "
                "what it gives would be less than it says.",
                remedy="Choose one that counts people"
                + (
                    ", such as the optimal search or Mondrian"
                    if owner is algorithm
                    else ", such as k-anonymity or l-diversity"
                )
                + ", or make a table with one row a person.",
            )
    counted = tuple(model.in_people(person) for model in models)
    for model in counted:
        if algorithm.merges and not (model.monotone_merge or model.closed_under_union):
            raise BadPlan(
                f"{algorithm.title} merges classes, and that may break {model.title} where people "
                "are counted: a person of both may have another value in each.",
                remedy="Choose a technique that tries levels one by one, such as the optimal "
                "search, or remove the model.",
            )
    return counted
