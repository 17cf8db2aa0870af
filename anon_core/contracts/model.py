"""What a privacy model must offer: a requirement, measured on what is published."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.params import Parameter, Technique
from anon_core.base.registry import option_title
from anon_core.base.terms import count
from anon_core.base.thresholds import least_size
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.data.roles.roles import ByRole
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View

#: What a privacy model stops: that a person's row is found, that a value of theirs is learned, or
#: that they are known to be in the table.
Stops = Literal["identity", "attribute", "presence"]


@dataclass(frozen=True, kw_only=True)
class ModelAim:
    """What a privacy model stops, and how it is offered.

    Attributes
    ----------
    stops : {'identity', 'attribute', 'presence'}
        Privacy models are offered together by it.
    offered_at : int
        Place among the few that are offered first against it, from 1; 0 for all others.
    replaces_whole_rows : bool
        It is offered instead of a privacy model about whole rows, where columns are permuted
        separately.
    """

    stops: Stops = "identity"
    offered_at: int = 0
    replaces_whole_rows: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelScope:
    """What a privacy model is about, and of which tables.

    Attributes
    ----------
    mechanism : bool
        It is about the way a release is made: a group neither keeps nor breaks it, and only a
        technique whose shape is a `mechanism` gives it.
    whole_rows : bool
        It is about rows as a whole, and is not defined where columns are permuted separately.
    public : bool
        It is about the people of a public table, counted in `GroupStats.population`.
    may_count_public : bool
        It asks less where there is a public table.
    by_cells : bool
        It looks at what the cells of a class cover, as `GroupStats.lost`, which a search knows
        where every column has one level.
    counts_people : bool
        It can be counted in distinct persons, as `in_people` returns it. Else it is refused where
        a column distinguishes persons.
    """

    mechanism: bool = False
    whole_rows: bool = False
    public: bool = False
    may_count_public: bool = False
    by_cells: bool = False
    counts_people: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelLogic:
    """What a search may conclude from one group about others.

    Attributes
    ----------
    by_limits : bool
        Whatever keeps `least_size`, `least_distinct` and `most_share` keeps the privacy model, so
        that a partition can be cut by them without looking further.
    by_classes : bool
        Sizes of published classes, and the sensitive values in them, decide the privacy model,
        whatever rows are behind them.
    class_sizes : bool
        The privacy model is exactly that every equivalence class has `size_asked` rows, so that a
        search may go by counts of classes alone.
    monotone_merge : bool
        A group that keeps the privacy model keeps it when merged with any other, whether that keeps
        it or not: what a search that removes rows needs to decide several nodes at once.
    monotone_suppress : bool
        Removing whole groups cannot break the privacy model for the rest.
    closed_under_union : bool
        Groups that all keep the privacy model keep it when merged with each other (follows from
        `monotone_merge`, where one that keeps it is enough): all rows as one group then decide
        what can be had without removing any, and what breaks the privacy model cannot be parted
        into groups that keep it.
    survives_permutation : bool
        Groups that keep the privacy model keep it once their columns are permuted separately;
        otherwise only a technique that tests the permuted groups can give it.
    """

    by_limits: bool = False
    by_classes: bool = False
    class_sizes: bool = False
    monotone_merge: bool = True
    monotone_suppress: bool = True
    closed_under_union: bool = False
    survives_permutation: bool = True


class PrivacyModel(Technique):
    """A privacy model, measured on what is published."""

    aim: ClassVar[ModelAim] = ModelAim()
    #: The parameter that is itself the least size of a group; empty where sizes only follow.
    size_parameter: ClassVar[str] = ""

    @property
    def size_asked(self) -> int:
        """The least size of a group that was asked for as such; 0 where none was."""
        return int(getattr(self, self.size_parameter)) if self.size_parameter else 0

    def with_size(self, size: int) -> Self:
        """Return the same privacy model of another size; itself where none is asked for."""
        return replace(self, **{self.size_parameter: size}) if self.size_parameter else self

    @classmethod
    def at_chance(cls, chance: float, share: Fraction) -> Self | None:
        """Return the privacy model set for a chance that is acceptable; None where it cannot be.

        One that says nothing of the chance is returned as it is usually set. By default it is of
        the size that the chance asks for.

        Parameters
        ----------
        chance : float
            Of what the privacy model stops; as it is written.
        share : Fraction
            What an attacker has without the release: the share of the rows that have the sensitive
            column's most common value, or of the public people who are in the table; 0 for the row.
        """
        size = {cls.size_parameter: least_size(chance)} if cls.size_parameter else None
        return None if size is None else cls(**size)

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return what is required, with its numbers, as a sentence.

        Parameters
        ----------
        quasi : int
            Number of quasi-identifiers.
        together : str
            What rows that are together are called: class or group.
        """
        settings = ", ".join(self.settings())
        return (
            f"{self.title} ({settings}): {self.summary}"
            if settings
            else f"{self.title}: {self.summary}"
        )

    def settings(self) -> list[str]:
        """Return what each parameter was set to as its form says it, without those left empty."""
        values = self.as_mapping()
        return [
            _in_words(p, values[p.name])
            for p in self.parameters()
            if p.name in values and values[p.name] not in ("", False, 0, (), [])
        ]

    @abstractmethod
    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return one verdict per sensitive column concerned (one for models of identity).

        Parameters
        ----------
        view : View
            What is published.
        audience : Audience
            What is known next to it: which columns have which role, and of what people.
        reference : Reference
            What the privacy model is defined against, of the table before anything was removed.
        """

    def verdict(
        self,
        holds: bool | np.bool_,
        sentence: str,
        *,
        bound: float,
        reached: float,
        per_class: npt.NDArray[np.float64],
        column: str = "",
    ) -> Verdict:
        """Return whether the model holds on a view, in words; without classes no row is published.

        Parameters
        ----------
        sentence, bound, reached, per_class, column
            As `Verdict` has them.
        """
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state="holds" if holds else "broken",
            bound=bound,
            reached=reached,
            per_class=per_class,
            column=column,
            sentence=sentence if len(per_class) else "No row is published.",
        )

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Raise `BadPlan` or `Infeasible` where no release of the table can meet the model.

        A release may leave out any `removable` rows, but not all. What is refused here must be
        impossible for each of them; what is let pass, a search decides.
        """

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return what to know of the table when requiring it: a sentence or two for each."""
        return ()

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return what the table itself allows the parameters to be, for those it limits.

        `removable` is as for `check`, which refuses what lies beyond. The column is as set; errors
        are those of `check` for what no parameter can mend.
        """
        return ()


class GroupModel(PrivacyModel):
    """A privacy model about each group by itself, so that searches can be steered by it."""

    scope: ClassVar[ModelScope] = ModelScope()
    logic: ClassVar[ModelLogic] = ModelLogic()

    def in_people(self, person: str) -> GroupModel:
        """Return the privacy model counted in distinct values of the column `person`.

        Asked of privacy models whose scope says `counts_people`; by default it stays the same.
        """
        return self

    def unions_keep(self) -> bool:
        """Return whether groups that all keep the model keep it when merged with each other."""
        return self.logic.monotone_merge or self.logic.closed_under_union

    def decided_by_whole(self) -> bool:
        """Return whether no grouping of all rows keeps what they break as one group.

        Not where groups that `per_group` calls bad can keep the privacy model together.
        """
        return self.unions_keep()

    def allows_removal(self) -> bool:
        """Return whether a group that breaks the privacy model may be suppressed instead."""
        return True

    def counts_public(self, people: Population | None) -> bool:
        """Return whether a search that can should count public people for the privacy model."""
        counted = people is not None and people.complete
        return self.scope.public or (self.scope.may_count_public and counted)

    def recomputable(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> bool:
        """Return whether the second computation can decide the privacy model of what is published.

        Asked of releases that hold, by what tests finished releases: it goes on where not.
        """
        return True

    def of_release(self) -> bool:
        """Return whether the privacy model is about all classes of a release together.

        `per_group` is then what is enough in each class by itself, for techniques that form groups
        one by one; `settle` decides which classes of a choice of levels may stay.
        """
        return False

    def settle(
        self, stats: GroupStats, keep: npt.NDArray[np.bool_], reference: Reference
    ) -> npt.NDArray[np.bool_]:
        """Return which of the kept classes stay, so that together they keep a model of this kind.

        Parameters
        ----------
        stats : GroupStats
            Of all classes; each holds rows.
        keep : bool array of shape (groups,)
            Those that other privacy models let stay.
        reference : Reference
            What the privacy model is defined against.
        """
        return keep

    def removal_nests(self) -> bool:
        """Return whether what has to go at a node has to go at every node below it as well.

        So it is where the largest set of rows that may stay grows with every merging of classes.
        """
        return True

    def presence_bounds(self) -> tuple[float, float]:
        """Return the least and largest chance of presence that the privacy model allows anyone."""
        return 0.0, 1.0

    def private_columns(self) -> tuple[str, ...]:
        """Return the columns that the privacy model looks at and that are never published.

        `needs` names them as well where their histograms are looked at.
        """
        return ()

    def protects(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns that the privacy model is about."""
        return ()

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the columns of the frequency set whose histograms `per_group` looks at."""
        return self.protects(columns)

    def by_itself(self) -> GroupModel:
        """Return the privacy model of each sensitive column by itself, whatever else is known."""
        return self

    def where_linked(self, blocks: Sequence[tuple[str, ...]], columns: ByRole) -> GroupModel:
        """Return what the privacy model comes to where only the columns of a block stay linked."""
        return self

    def needs_combined(self, columns: ByRole) -> bool:
        """Return whether `needs` names the combinations of sensitive values."""
        return False

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns of which the privacy model looks at the hierarchy."""
        return ()

    @abstractmethod
    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups keep the privacy model, shape (groups,).

        Searches ask this at every step: what is taken from the reference is made once for a table.
        """

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return what the worst of these groups comes to next to what is asked, as a sentence.

        Shown next to made-up groups that keep the privacy model or break it.
        """
        smallest = count(int(stats.sizes.min()), "row")
        return f"The smallest group has {smallest}; at least {self.least_size()} are asked for."

    def relaxed_per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups can hold one that keeps the privacy model, shape (groups,).

        All that keep it must be among them, and whatever holds one of them: rows of the others are
        removed here and wherever they are parted further. So a search that removes rows can leave
        out what lies below, though the privacy model itself, where it is not `monotone_merge`, may
        be broken less there. A privacy model without an answer of its own leaves everything open.
        """
        if self.logic.monotone_merge:
            return self.per_group(stats, reference)
        return np.ones(len(stats.sizes), dtype=np.bool_)

    def least_size(self) -> int:
        """Return the size that groups are formed by: none that is smaller is let pass."""
        return 1

    def least_class(self, people: Population | None) -> int:
        """Return a size that no class is below where the privacy model holds.

        Less than `least_size` where that is enough and not necessary.
        """
        return 1 if self.of_release() else self.least_size()

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the privacy model is exactly that, distinct values needed per column."""
        return {}

    def most_share(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the model is exactly that, l per column: no value fills more than 1/l."""
        return {}

    def sliced_share(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the privacy model is p(t, s) ≤ 1/l over all groups together, l per column.

        `most_share` is then what is enough in each group by itself.
        """
        return {}


def named(column: str) -> str:
    """Return the sensitive column a model names as it is in a sentence; empty names all."""
    return f"'{column}'" if column else "every sensitive column"


def sensitive_columns(columns: ByRole, column: str, model: str) -> tuple[str, ...]:
    """Return the sensitive columns a model protects: the one named, or all of them.

    Raises
    ------
    BadPlan
        If there is none, the column is not sensitive, or it is also a quasi-identifier.
    """
    if column and column not in columns.sensitive:
        raise BadPlan(
            f"{model} names '{column}', which is not marked as sensitive; sensitive are "
            f"{listing(columns.sensitive) or 'no columns'}.",
            remedy=f"Mark it as sensitive.{nearest(column, columns.sensitive)}",
        )
    found = (column,) if column else columns.sensitive
    if not column:  # of several, those that are quasi-identifiers too are left out
        found = tuple(c for c in found if c not in columns.quasi) or found
    if not found:
        raise BadPlan(
            f"{model} needs a sensitive column, and none is marked.",
            remedy="Mark the column to protect as sensitive, or remove the model.",
        )
    both = [c for c in found if c in columns.quasi]
    if both:
        raise BadPlan(
            f"{model} cannot protect {listing(both)}: it is also a quasi-identifier, so within a "
            "class its published value is the same for everyone.",
            remedy="Name another sensitive column, or mark this one as sensitive only.",
        )
    return found


def least_class(models: Sequence[GroupModel], people: Population | None) -> int:
    """Return a size that no published class is below, whatever is published."""
    return max((m.least_class(people) for m in models), default=1)


def refuse_no_weights(problem: Problem, weights: str, model: str) -> None:
    """Refuse a column that a model goes by and that has not the role weight.

    Raises
    ------
    BadPlan
    """
    given = problem.roles.weight
    if given != weights:
        has = f"'{given}' has it" if given else "no column has it"
        raise BadPlan(
            f"{model} goes by the weights in '{weights}', which has not the role weight; {has}.",
            remedy="Name the column of the survey's weights under [roles] weight and here.",
        )


def _in_words(parameter: Parameter, value: object) -> str:
    """Return what a parameter was set to as its form says it, for a sentence."""
    name = parameter.label or parameter.name.replace("_", " ")
    if parameter.kind == "flag":
        return name[:1].lower() + name[1:]
    if parameter.options:
        chosen = option_title(parameter, parameter.named(value))
        return f"{name[:1].lower() + name[1:]}: {chosen}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, int):
        shown = f"{value:,}"
    return f"{name} = {shown}"
