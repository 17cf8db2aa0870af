"""Similarity: a class whose values differ, but are alike, shows what they have in common.

Values are alike under one node of a hierarchy, or within a short range. Where one person has
several rows, a person counts once who has some value there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.errors import AnonError
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackReport, AttackUse
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.roles.roles import ByRole
from anon_core.methods.inference.sensitive_beliefs import Entries, SecretAttack, Secrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Values
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Widths for which the curve is drawn, as shares of the column's range.
_WIDTHS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Similarity(SecretAttack):
    """Learn what all values of a person's class have in common: a kind of value, or a range.

    Where one person has several rows, it is certain in a class where everyone has such a value,
    also next to others.
    """

    name: ClassVar[str] = "similarity"
    title: ClassVar[str] = "Similarity"
    summary: ClassVar[str] = (
        "An attacker who finds a person's class learns the kind of the sensitive value if all "
        "values of the class are alike: several diseases of the stomach, or salaries that are "
        "close together."
    )
    formula: ClassVar[str] = (
        "people in classes whose values one node of the column's hierarchy covers, or whose "
        "numbers lie within a share of the column's range / n"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="attribute", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(counts_people=True, from_groups=True)
    report: ClassVar[AttackReport] = AttackReport(certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)
    source: ClassVar[str] = (
        "Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856, section 3.2"
    )

    level: int = integer(
        default=1,
        low=0,
        help="Level of the sensitive column's hierarchy whose labels say what is alike; where it "
        "has one label only, the next below.",
        label="Alike at level",
    )
    width: float = number(
        default=0.1,
        low=0.0,
        high=1.0,
        help="Numbers and dates without a hierarchy are alike within this share of the column's "
        "range.",
        label="Alike within",
    )

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns: their hierarchies say what is alike."""
        return tuple(name for name in columns.sensitive if name not in columns.quasi)

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a sensitive column of which something says what is alike."""
        reason = super().reason_not_applicable(view, audience)
        if not reason and not self.columns(audience):
            return (
                "It needs a sensitive column of numbers or dates, or one with a hierarchy: nothing "
                "says which values are alike."
            )
        return reason

    def columns(self, audience: Audience) -> tuple[str, ...]:
        """Return the sensitive columns that have a hierarchy, or are measured."""
        return tuple(
            name
            for name in audience.secret
            if name in audience.trees or audience.hierarchies[name].measure is not None
        )

    def attack(self, view: View, audience: Audience, of: Secrets) -> AttackResult:
        """Attack every person, for one sensitive column.

        Raises
        ------
        AnonError
            If nothing says which of its values are alike.
        """
        alike, word = self._alike(of.published, audience, of.column)
        of_raw, _ = self._alike(of.raw, audience, of.column)
        shown, whole = of.published, of.raw.together()
        chance = alike / np.maximum(shown.known, 1)
        hit = (alike == shown.known) & (shown.known > 0)
        certain = of.people(hit)
        differ = of.people(hit & (np.bincount(shown.group, minlength=shown.classes) > 1))
        of_all, _ = self._alike(whole, audience, of.column)
        everyone = int(whole.known.sum())
        return AttackResult(
            attack=self.name,
            column=of.column,
            attempted=of.attempted,
            eligible=of.eligible,
            succeeded=float(certain),
            rate=certain / of.attempted,
            worst=float(chance.max(initial=0.0)),
            baseline=everyone / of.attempted if of_all.sum() == everyone else 0.0,
            raw=of.raw_people((of_raw == of.raw.known) & (of.raw.known > 0)) / of.attempted,
            at_risk=certain,
            threshold=1.0,
            per_class=chance,
            sentence=(
                f"No published row has a value of '{of.column}', so nothing is to be learned."
                if not of.eligible
                else f"What '{of.column}' is like, {word}, is certain for {certain:,} of "
                f"{of.attempted:,} people ({per_cent(certain / of.attempted)}); {differ:,} of them "
                "are in classes with different values."
            ),
            details=(self._curve(shown, audience, of),),
        )

    def _alike(self, entries: Entries, audience: Audience, column: str) -> tuple[I64, str]:
        """Return the most people of each class who are alike, and by what, in words."""
        domain, tree = audience.hierarchies[column], audience.trees.get(column)
        if tree is not None:
            level = level_below_root(tree, self.level)
            return under_one_node(
                entries, domain, tree, level
            ), f"at level {level} of its hierarchy"
        if domain.measure is None:
            raise AnonError(
                f"Nothing says which values of '{column}' are alike.",
                remedy="Give the column a hierarchy.",
            )
        found = within(entries, domain.measure, self.width * _range(entries, audience, column))
        return found, f"within {per_cent(self.width)} of its range"

    def _curve(self, shown: Entries, audience: Audience, of: Secrets) -> Details:
        """Return of how many people the kind is certain, from exact values to the vaguest."""
        domain, tree = audience.hierarchies[of.column], audience.trees.get(of.column)
        rows: list[dict[str, int | float | str]] = []
        by = "level"
        if tree is not None:
            for level in range(level_below_root(tree, tree.height) + 1):
                alike = under_one_node(shown, domain, tree, level)
                rows.append({by: level, "people certain": _certain(of, alike)})
        elif domain.measure is not None:
            by = "share of the range"
            whole = _range(shown, audience, of.column)
            for width in _WIDTHS:
                alike = within(shown, domain.measure, width * whole)
                rows.append({by: width, "people certain": _certain(of, alike)})
        return Details(
            title=f"People whose '{of.column}' is known, the more vaguely the more of them",
            rows=tuple(rows),
            x=by,
            y=("people certain",),
        )


def _range(entries: Entries, audience: Audience, column: str) -> float:
    """Return the length of the range of a column's published numbers; 0 where there are none."""
    measure = audience.hierarchies[column].measure
    if measure is None or not len(entries.value):
        return 0.0
    return float(measure[entries.value.max()] - measure[entries.value.min()])


def _certain(of: Secrets, alike: I64) -> float:
    known = of.published.known
    return of.people((alike == known) & (known > 0)) / max(of.attempted, 1)


def level_below_root(tree: Hierarchy, level: int) -> int:
    """Return the level, or the highest below it that still distinguishes values."""
    at = min(level, tree.height)
    while at > 0 and len(tree.labels[at]) - tree.has_missing <= 1:
        at -= 1
    return at


def under_one_node(entries: Entries, domain: Hierarchy, tree: Hierarchy, level: int) -> I64:
    """Return the most people of each class whose values one node covers, shape (classes,).

    Parameters
    ----------
    entries : Entries
        Values are leaves of `domain`.
    domain, tree : Hierarchy
        The column as it is published, and what its values are generalized to.
    """
    place = np.array([tree.code.get(text, -1) for text in domain.leaves], dtype=np.int64)
    of_leaf = np.where(place >= 0, tree.node(level)[place], -1)
    if entries.who is not None:
        own = entries.who
        cell = own.member * (int(of_leaf.max(initial=0)) + 2) + of_leaf[own.value] + 1
        wide = int(own.person.max(initial=0)) + 1
        cells, people = np.unique(np.unique(cell * wide + own.person) // wide, return_counts=True)
        found = np.zeros(entries.classes, dtype=np.int64)
        np.maximum.at(found, cells // (int(of_leaf.max(initial=0)) + 2), people)
        return found
    node = of_leaf[entries.value].astype(np.int32) + 1
    rank, first = dense_rank(
        [entries.group.astype(np.int32), node], [entries.classes, int(node.max(initial=0)) + 1]
    )
    together = np.bincount(rank, entries.count, minlength=len(first)).astype(np.int64)
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, entries.group[first], together)
    return found


def within(entries: Entries, measure: F64, width: float) -> I64:
    """Return the most people of each class whose numbers a range covers, shape (classes,).

    Parameters
    ----------
    measure : float64 array of shape (leaves,)
        Number of each leaf, ascending; a missing one is last, and of no entry.
    width : float
        Length of the range, in the column's own unit.
    """
    # Half a billionth of the width more, so that sums that come to it are within.
    last = np.searchsorted(measure, measure + width * (1 + 5e-10), side="right") - 1
    if entries.who is not None:
        return _people_within(entries, entries.who, last)
    order = np.argsort(entries.group * len(measure) + entries.value)
    group, value = entries.group[order], entries.value[order]
    key = group * len(measure) + value
    end = np.searchsorted(key, group * len(measure) + last[value], side="right")
    upto = np.concatenate([[0], np.cumsum(entries.count[order])])
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, group, upto[end] - upto[:-1])
    return found


def _people_within(entries: Entries, who: Values, last: I64) -> I64:
    """Return the most people of each class who have a number in one range.

    Of a person who is in a range several times the first counts: a place is counted by the
    ranges that begin behind the person's place before it and reach as far as this one.

    Parameters
    ----------
    last : int64 array of shape (leaves,)
        The last leaf within the range that begins at each.
    """
    leaves = len(last)
    key = who.member * leaves + who.value
    order = np.argsort(key, kind="stable")
    key, person = key[order], who.person[order]
    group = key // leaves
    end = np.searchsorted(key, group * leaves + last[key % leaves], side="right")
    places = np.arange(len(key))
    reached = np.searchsorted(end, places, side="right")  # the first range that reaches a place
    same = np.lexsort((places, person, group))
    before = np.full(len(key), -1, dtype=np.int64)
    again = (person[same][1:] == person[same][:-1]) & (group[same][1:] == group[same][:-1])
    before[same[1:][again]] = same[:-1][again]
    begins = np.maximum(before + 1, reached)
    steps = np.zeros(len(key) + 1, dtype=np.int64)
    some = begins <= places
    np.add.at(steps, begins[some], 1)
    np.add.at(steps, places[some] + 1, -1)
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, group, np.cumsum(steps)[:-1])
    return found
