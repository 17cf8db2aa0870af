"""The values of a sensitive column: as they are published, and as the table has them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.contracts.attack import Attack, AttackAim
from anon_core.contracts.group_stats import Histogram, sensitive_histogram
from anon_core.contracts.people_count import crowd_histogram
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Crowd, Values
from anon_core.release.release import View


@dataclass(frozen=True, kw_only=True, eq=False)
class Entries:
    """Who has which value in which class: absent values are none, and left out.

    Attributes
    ----------
    group : int64 array of shape (entries,)
        Class, as `View.persons` numbers them.
    value : int32 array of shape (entries,)
        Leaf number.
    count : int64 array of shape (entries,)
        Rows; persons where a column distinguishes them.
    known : int64 array of shape (classes,)
        Rows, or persons, that have a value.
    share : float64 array of shape (leaves,)
        Share of each value among all that have one: what everybody sees of the whole release.
    who : Values or None
        Who has which value in which class, where a column distinguishes persons.
    """

    group: I64
    value: np.ndarray[tuple[int, ...], np.dtype[np.int32]]
    count: I64
    known: I64
    share: F64
    who: Values | None = None

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.known)

    @cached_property
    def belief(self) -> F64:
        """Share of each entry's value among those of its class, shape (entries,)."""
        return self.count / self.known[self.group]

    @cached_property
    def gain(self) -> F64:
        """How much likelier the class makes its value than the whole release, shape (entries,)."""
        return self.belief - self.share[self.value]

    def highest(self, of_entry: F64) -> F64:
        """Return the highest of each class's entries, shape (classes,); 0 where it has none."""
        found = np.zeros(self.classes)
        np.maximum.at(found, self.group, of_entry)
        return found

    def together(self) -> Entries:
        """Return the same people in one class: what is known without a release."""
        if self.who is not None:
            return self._together(self.who)
        rows = np.bincount(self.value, self.count, minlength=len(self.share))
        value = np.flatnonzero(rows)
        return Entries(
            group=np.zeros(len(value), dtype=np.int64),
            value=value.astype(np.int32),
            count=rows[value].astype(np.int64),
            known=np.array([rows.sum()], dtype=np.int64),
            share=self.share,
        )

    def _together(self, who: Values) -> Entries:
        one = Values(
            member=np.zeros(len(who.member), dtype=np.int64),
            person=who.person,
            value=who.value,
            missing=who.missing,
        )
        wide = int(who.person.max(initial=0)) + 1
        pairs = np.unique(who.value.astype(np.int64) * wide + who.person)
        value, count = np.unique(pairs // wide, return_counts=True)
        return Entries(
            group=np.zeros(len(value), dtype=np.int64),
            value=value.astype(np.int32),
            count=count.astype(np.int64),
            known=np.array([len(np.unique(who.person))], dtype=np.int64),
            share=self.share,
            who=one,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Secrets:
    """A sensitive column under attack.

    Attributes
    ----------
    published, raw : Entries
        As the release shows it, and as the table itself would, identifiers removed.
    attempted, eligible : int
        People of the table, and those of whom a value is published.
    """

    column: str
    published: Entries
    raw: Entries
    attempted: int
    eligible: int
    _crowd: Crowd | None
    _raw_crowd: Crowd | None

    def people(self, of_class: B1) -> int:
        """Return how many people have a value in some of the marked classes."""
        if self._crowd is None:
            return int(self.published.known[of_class].sum())
        return self._crowd.having(self.column, of_class)

    def raw_people(self, of_class: B1) -> int:
        """As `people`, of the table as it is."""
        if self._raw_crowd is None:
            return int(self.raw.known[of_class].sum())
        return self._raw_crowd.having(self.column, of_class)

    def per_person(self, of_entry: F64, *, raw: bool = False) -> tuple[F64, I64]:
        """Return what is reached against people, and how many people each figure represents.

        A person with several values, or in several classes, is met by the highest.

        Parameters
        ----------
        of_entry : float64 array of shape (entries,)
        raw : bool
            Whether the entries are those of the table as it is.
        """
        entries, crowd = (self.raw, self._raw_crowd) if raw else (self.published, self._crowd)
        if crowd is None:
            return of_entry, entries.count
        found = _valued(crowd.values(self.column))
        wide = len(entries.share)
        keys = entries.group * wide + entries.value
        order = np.argsort(keys)
        place = order[np.searchsorted(keys[order], found.member * wide + found.value)]
        _, own = np.unique(found.person, return_inverse=True)
        highest = np.full(int(own.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(highest, own, of_entry[place])
        return highest, np.ones(len(highest), dtype=np.int64)


def secrets(view: View, truth: Truth, column: str) -> Secrets:
    """Return a sensitive column as it is published, and as the table has it."""
    leaves = len(view.vocabularies[column].texts)
    crowd, raw_crowd = truth.crowd, truth.raw_crowd_in_groups
    if crowd is None or raw_crowd is None:
        shown = entries_of(sensitive_histogram(view, column)[1], leaves)
        raw = entries_of(sensitive_histogram(truth.raw_in_groups, column)[1], leaves)
        attempted, eligible = truth.rows, int(shown.known.sum())
    else:  # a person may have rows in several classes, and counts once
        shown = entries_of(crowd_histogram(crowd, column), leaves, crowd.values(column))
        raw = entries_of(crowd_histogram(raw_crowd, column), leaves, raw_crowd.values(column))
        attempted, eligible = crowd.total, crowd.having(column)
    return Secrets(
        column=column,
        published=shown,
        raw=raw,
        attempted=attempted,
        eligible=eligible,
        _crowd=crowd if raw_crowd is not None else None,
        _raw_crowd=raw_crowd if crowd is not None else None,
    )


def entries_of(counted: Histogram, leaves: int, people: Values | None = None) -> Entries:
    """Return the entries of a histogram that have a value.

    Parameters
    ----------
    leaves : int
        Leaves of the column.
    people : Values or None
        Who has which value, where people are counted: each counts once for a value.
    """
    present = counted.value != counted.missing
    value, count = counted.value[present], counted.count[present]
    rows = np.bincount(value, count, minlength=leaves)
    everyone = float(counted.known.sum())
    if people is not None:
        found = _valued(people)
        pairs = np.unique(
            found.value.astype(np.int64) * (found.person.max(initial=0) + 1) + found.person
        )
        rows = np.bincount(pairs // (found.person.max(initial=0) + 1), minlength=leaves)
        everyone = float(len(np.unique(found.person)))
    return Entries(
        group=counted.group[present],
        value=value,
        count=count,
        known=counted.known,
        share=rows / max(everyone, 1.0),
        who=None if people is None else _valued(people),
    )


def _valued(found: Values) -> Values:
    """Leave out missing values."""
    present = found.value != found.missing
    return Values(
        member=found.member[present],
        person=found.person[present],
        value=found.value[present],
        missing=found.missing,
    )


class AboutSecrets(Attack):
    """An attack on sensitive columns that the attacker does not know already."""

    aim: ClassVar[AttackAim] = AttackAim(answers=("inference",))

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a sensitive column that is not itself known to the attacker."""
        if not audience.secret:
            return "It needs a sensitive column that is not also a quasi-identifier."
        return ""


class SecretAttack(AboutSecrets):
    """An attack on what each class shows of every sensitive column by itself."""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column."""
        found: list[AttackResult] = []
        for column in self.columns(audience):
            context.check()
            found.append(self.attack(view, audience, secrets(view, truth, column)))
        return found

    def columns(self, audience: Audience) -> tuple[str, ...]:
        """Return the sensitive columns that it can be run on."""
        return audience.secret

    @abstractmethod
    def attack(self, view: View, audience: Audience, of: Secrets) -> AttackResult:
        """Attack every person, for one sensitive column."""
