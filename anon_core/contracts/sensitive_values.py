"""Privacy models about the values of sensitive columns in each group: what all of them share.

Several sensitive columns are protected each by itself, or each against anyone who knows the others
of a person: then the others are quasi-identifiers too, and a class falls into as many parts as
there are combinations of the others' values in it (Machanavajjhala et al. 2007, section 6).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.errors import AnonError
from anon_core.base.params import flag, sensitive_column
from anon_core.contracts.group_stats import GroupStats, Histogram, histogram, sensitive_histogram
from anon_core.contracts.model import GroupModel, ModelAim, sensitive_columns
from anon_core.data.frequency import dense_rank
from anon_core.data.roles.roles import ByRole
from anon_core.release.combined_values import COMBINED
from anon_core.release.private_reference import Reference, ValueCounts
from anon_core.release.release import View


def protected_column() -> Any:
    """Declare the parameter that names the column; every such privacy model has the same."""
    return sensitive_column(
        help="Sensitive column; empty for each sensitive column by itself.",
        label="sensitive column",
    )


def others_known() -> Any:
    """Declare whether the attacker knows the other sensitive values; every such model has it."""
    return flag(
        default=False,
        help="Protect each sensitive column even from an attacker who knows all other sensitive "
        "values of a person: within a class, the rows that share these values must meet the "
        "privacy model by themselves.",
        label="Other sensitive values are known",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """A column's values in the classes as an attacker distinguishes them.

    Attributes
    ----------
    counted : Histogram
        Of each part of a class.
    of : int64 array of shape (parts,), or None
        The class of each part; None where each class is one.
    """

    counted: Histogram
    of: I64 | None
    classes: int

    def all(self, holds: B1) -> B1:
        """Return in which classes something holds of every part; (parts,) to (classes,)."""
        if self.of is None:
            return holds
        found = np.ones(self.classes, dtype=np.bool_)
        found[self.of[~holds]] = False
        return found

    def any(self, holds: B1) -> B1:
        """Return in which classes something holds of some part; (parts,) to (classes,)."""
        if self.of is None:
            return holds
        found = np.zeros(self.classes, dtype=np.bool_)
        found[self.of[holds]] = True
        return found

    def worst(self, reached: F64, *, least: bool) -> F64:
        """Return what the worst part of each class reaches; (parts,) to (classes,)."""
        if self.of is None:
            return reached
        found = np.full(self.classes, np.inf if least else -np.inf)
        (np.minimum if least else np.maximum).at(found, self.of, reached)
        return found


def _parted(counted: Histogram, others: I64 | I32) -> Seen:
    """Return the parts of classes in which rows share the others' values.

    Parameters
    ----------
    counted : Histogram
        The column's values in each class; a pair may be there for each value of the others.
    others : integer array of shape (entries,)
    """
    classes, wide = counted.groups, int(others.max(initial=0)) + 1
    parts = [counted.group.astype(np.int32), others.astype(np.int32)]
    part, first = dense_rank(parts, [classes, wide])
    values = int(counted.value.max(initial=0)) + 1
    within = histogram(part, counted.value, counted.count, len(first), values, counted.missing)
    return Seen(counted=within, of=counted.group[first], classes=classes)


class SensitiveValues(GroupModel):
    """A privacy model about a sensitive column's values in each group.

    With `others_known` it is one about each part of a group whose rows share all other sensitive
    values. Merging good groups then keeps it wherever it does without: parts stay, or two good ones
    of the same others become one (U). Merging with any group does not, not even for distinct values
    ({(a, x), (b, x)} is good, with {(c, y)} it has a part of one value: no A). Removing groups
    keeps what it keeps otherwise (R). A group holds a good one only if some part of it does, by
    itself. Limits by column do not tell any of it.

    Class attributes
    ----------------
    worst_is_least : bool
        Whether the worst group is the one that reaches least, and not the one that reaches most.
    """

    aim: ClassVar[ModelAim] = ModelAim(stops="attribute")
    worst_is_least: ClassVar[bool] = True

    column: str
    #: A field where the privacy model can be made against who knows the other sensitive values.
    others_known = False

    def __post_init__(self) -> None:
        """Validate; what is known of merging changes where others are known."""
        super().__post_init__()
        if self.others_known:
            unions = self.unions_keep()
            logic = replace(
                self.logic,
                by_limits=False,
                monotone_merge=False,
                closed_under_union=unions,
                survives_permutation=unions and self.logic.survives_permutation,
            )
            object.__setattr__(self, "logic", logic)
            object.__setattr__(self, "scope", replace(self.scope, counts_people=False))

    def protects(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns concerned; see `sensitive_columns` for errors."""
        return sensitive_columns(columns, self.column, self.title)

    def by_itself(self) -> Self:
        """Return the privacy model where no other sensitive value is known."""
        return replace(self, others_known=False) if self.others_known else self

    def where_linked(self, blocks: Sequence[tuple[str, ...]], columns: ByRole) -> GroupModel:
        """Return the model by itself where no column concerned stays linked to another secret.

        Who knows a person's other value then learns nothing from it: within a group it may be
        next to any value.
        """
        secret = [name for name in columns.sensitive if name not in columns.quasi]
        for name in self.protects(columns):
            block = next((b for b in blocks if name in b), tuple(secret))
            if any(other in block for other in secret if other != name):
                return self
        return self.by_itself()

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return them, or the combinations of all sensitive values where others are known."""
        return (COMBINED,) if self.needs_combined(columns) else self.protects(columns)

    def needs_combined(self, columns: ByRole) -> bool:
        """Return whether there are other sensitive values that are known."""
        secret = [name for name in columns.sensitive if name not in columns.quasi]
        return bool(self.others_known) and len(secret) > 1

    def table_of(self, reference: Reference, column: str) -> ValueCounts:
        """Return the values of the whole table, against which groups are held."""
        return reference.counts(column)

    def also(self) -> str:
        """Return against whom else it holds, as the end of a sentence."""
        return ", also who knows their other sensitive values" if self.others_known else ""

    @abstractmethod
    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups keep the privacy model, shape (groups,).

        Parameters
        ----------
        counted : Histogram
            The column's values in each group.
        table : ValueCounts
            Those of the whole table, before anything was removed.
        """

    @abstractmethod
    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups can hold one that keeps the model; see `relaxed_per_group`."""

    def per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups keep the privacy model for every column concerned."""
        found = np.ones(len(stats.sizes), dtype=np.bool_)
        for seen, table in self._columns(stats, reference):
            found &= seen.all(self.holds(seen.counted, table))
        return found

    def relaxed_per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups can hold one that keeps it for every column concerned."""
        found = np.ones(len(stats.sizes), dtype=np.bool_)
        for seen, table in self._columns(stats, reference):
            found &= seen.any(self.possible(seen.counted, table))
        return found

    def _columns(
        self, stats: GroupStats, reference: Reference
    ) -> Iterator[tuple[Seen, ValueCounts]]:
        """Return the columns concerned, each as it is seen in the groups.

        Raises
        ------
        AnonError
            If others are known, and their combinations were not counted: nothing is decided then.
        """
        frequency = reference.frequency
        secret = frequency.shown[frequency.quasi :]
        chosen = (self.column,) if self.column else secret
        if not self.others_known or len(secret) < 2:
            for name in chosen:
                if name in stats.histograms:
                    yield whole(stats.histograms[name]), self.table_of(reference, name)
            return
        together = stats.histograms.get(COMBINED)
        if together is None:
            raise AnonError(
                f"{self.title} against who knows other sensitive values needs their combinations, "
                "and they were not counted.",
                remedy="Choose another technique, or protect each column by itself.",
            )
        for name in chosen:
            table, said = self.table_of(reference, name), reference.combined(name)
            counted = replace(
                together, value=said.value[together.value], missing=table.missing_leaf
            )
            yield _parted(counted, said.others[together.value]), table

    def seen(self, view: View, column: str) -> Seen:
        """Return a column's values in the published classes as the attacker distinguishes them.

        Where columns are permuted separately, other values tell something only within their own
        block.
        """
        _, counted = sensitive_histogram(view, column)
        block = view.block_of(column)
        others = [
            place
            for place, name in enumerate(block.columns)
            if name in view.sensitive and name not in view.quasi and name != column
        ]
        if not self.others_known or not others:
            return whole(counted)
        known = [block.codes[:, place] for place in others]
        rank, _ = dense_rank(known, [int(codes.max(initial=0)) + 1 for codes in known])
        persons = view.persons(block)
        entries = Histogram(
            group=persons.of_entry,
            value=block.codes[:, block.columns.index(column)],
            count=block.count,
            groups=len(persons.sizes),
            missing=counted.missing,
        )
        return _parted(entries, rank)


def whole(counted: Histogram) -> Seen:
    """Return values in classes that are distinguished by nothing else."""
    return Seen(counted=counted, of=None, classes=counted.groups)
