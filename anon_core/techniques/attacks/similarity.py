"""Similarity: a class whose values differ, but are alike, shows what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.errors import AnonError
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackReport, AttackUse
from anon_core.data.roles.roles import ByRole
from anon_core.methods.inference.semantic_similarity import level_below_root, under_one_node, within
from anon_core.methods.inference.sensitive_beliefs import Entries, SecretAttack, Secrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.knowledge.audience import Audience
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
