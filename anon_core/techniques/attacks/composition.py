"""Composition: what an earlier release of the same people leaves open, this one may close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context, part_of
from anon_core.base.params import flag
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackReport
from anon_core.data.table import MISSING
from anon_core.methods.inference.sensitive_beliefs import AboutSecrets
from anon_core.methods.matching.composition import (
    Bits,
    Classes,
    classes_of_earlier,
    classes_of_view,
    holds,
    how_many,
    left_by_both,
    own_values,
)
from anon_core.methods.matching.joint_worlds import joint_candidates, only_pool
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

_NOTE = (
    "People with only one value left. A random class: an equally large class of the earlier "
    "release instead of the person's own, which shows what coincidence alone does."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Known:
    """Candidates of every quasi tuple of the table, as bits."""

    here: Bits
    there: Bits
    raw: Bits
    random: Bits
    values: int


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Composition(AboutSecrets):
    """Intersect the values that a person may have by this release and by an earlier one."""

    name: ClassVar[str] = "composition"
    title: ClassVar[str] = "Two releases together"
    summary: ClassVar[str] = (
        "An attacker who knows a person's quasi-identifiers, and that the person is in this "
        "release and in an earlier one, rules out every sensitive value that either excludes."
    )
    formula: ClassVar[str] = (
        "people with C₁ ∩ C₂ = {own value} / people; Cᵢ = values of the classes of release i that "
        "the person fits"
    )
    source: ClassVar[str] = "Ganta, Kasiviswanathan and Smith 2008, doi 10.1145/1401890.1401926"
    aim: ClassVar[AttackAim] = AttackAim(discloses="attribute", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        earlier=True,
        rows_only="It takes everybody to have one row in each release; here one person may have "
        "several.",
    )
    report: ClassVar[AttackReport] = AttackReport(place=4, certain_only=True)

    together: bool = flag(
        default=False,
        help="Whether the attacker knows everyone in the table and weighs all people at once: "
        "each person who takes a value of a class leaves one less for the others. Slow.",
        label="Weigh all people at once",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for an earlier release with a sensitive column of this one."""
        reason = super().reason_not_applicable(view, audience)
        if reason:
            return reason
        if audience.earlier is None:
            return "It needs an earlier release of the same people, and none was given."
        if not [name for name in audience.secret if name in audience.earlier.values]:
            return "The earlier release has none of the sensitive columns."
        if view.averaged:
            return (
                "It needs a release whose cells cover values: an average matches no person for "
                "sure."
            )
        if view.whole_quasi() is None:
            return (
                "The quasi-identifiers are permuted separately, so no row fits a person as a whole."
            )
        if self.together and audience.earlier.people != "all":
            return (
                "Weighing all people at once requires that all of them are in the earlier "
                "release, which is not declared."
            )
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column that both releases publish."""
        earlier = audience.earlier
        columns = [n for n in audience.secret if earlier is not None and n in earlier.values]
        found: list[AttackResult] = []
        for number, column in enumerate(columns):
            own = part_of(context, number / len(columns), (number + 1) / len(columns))
            found.append(self._attack(view, audience, truth, column, own))
        return found

    def _attack(
        self, view: View, audience: Audience, truth: Truth, column: str, context: Context
    ) -> AttackResult:
        assert audience.earlier is not None
        one = classes_of_view(view, audience.hierarchies, column)
        two = classes_of_earlier(audience.earlier, audience.quasi, column)
        frequency = truth.frequency
        value = frequency.codes[:, frequency.columns.index(column)]
        known = _known(one, two, frequency.run_codes, (frequency.run, value), context)
        both = shared = known.here & known.there
        undecided = np.zeros(len(both), dtype=np.bool_)
        if self.together:
            both, undecided = joint_candidates(
                one, two, frequency.run_codes, frequency.run_count, both, context
            )
        both = np.where(how_many(both)[:, None] > 0, both, left_by_both(known.here, known.there))
        texts = view.vocabularies[column].texts
        missing = texts.index(MISSING) if MISSING in texts else -1
        scored = _Scored(truth, value, missing)
        certain = scored.people(both)
        alone = scored.people(known.here), scored.people(known.there)
        by_chance = scored.people(left_by_both(known.here, known.random))
        only = scored.people(both, but=(known.here, known.there))
        left = scored.open(undecided)
        everyone = truth.rows
        sure = audience.earlier.people == "all"
        rate = (certain + left) / everyone
        found_open = int(left)
        present = int((one.count * (one.value != missing)).sum())
        raw = scored.raw_people(left_by_both(known.raw, known.there))
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=everyone,
            eligible=present,
            succeeded=float(certain),
            undecided=found_open,
            rate=rate,
            worst=1.0 if certain or found_open else _best(both),
            baseline=max(alone) / everyone,
            raw=min(max(raw, certain + left), everyone) / everyone,
            at_risk=int(certain) + found_open,
            threshold=1.0,
            per_class=scored.per_class(both, undecided, len(view.group_size)),
            interval=None
            if sure and not found_open
            else ((certain if sure else alone[0]) / everyone, rate),
            upper_bound=not sure,
            sentence=_sentence(column, certain, only, everyone, sure, scored.broken(shared)),
            details=(
                Details(
                    title=f"People certain of '{column}', by what is known",
                    rows=tuple(
                        {"known": what, "people certain": number}
                        for what, number in (
                            ("this release", alone[0]),
                            ("the earlier release", alone[1]),
                            ("both", certain),
                            ("both, and neither alone", only),
                            ("this, and a random class", by_chance),
                        )
                    ),
                    x="known",
                    y=("people certain",),
                    drawn="bars",
                    shares=False,
                    note=_NOTE,
                ),
                _left(column, scored, known, both),
            ),
        )


class _Scored:
    """What candidates are worth: only whose rows are published, and whose value is no gap."""

    def __init__(self, truth: Truth, value: I32, missing: int) -> None:
        places, frequency = truth.places, truth.frequency
        kept = (places.group >= 0) & (value[places.key] != missing)
        self.group: I64 = places.group[kept]
        self.tuple: I64 = frequency.run[places.key[kept]]
        self.value: I32 = value[places.key[kept]].astype(np.int32)
        self.rows: I64 = places.count[kept]
        self._raw = frequency.run, value.astype(np.int32), frequency.count, value != missing

    def right(self, bits: Bits) -> B1:
        """Say of each entry whether its own value is the only candidate."""
        return (how_many(bits)[self.tuple] == 1) & holds(bits[self.tuple], self.value)

    def people(self, bits: Bits, but: Sequence[Bits] = ()) -> int:
        """Return the people whose value is certain, and not so by others alone."""
        right = self.right(bits)
        for one in but:
            right &= ~self.right(one)
        return int(self.rows[right].sum())

    def raw_people(self, bits: Bits) -> int:
        """As `people`, of everyone of the table."""
        run, value, count, known = self._raw
        right = (how_many(bits)[run] == 1) & holds(bits[run], value) & known
        return int(count[right].sum())

    def open(self, undecided: B1) -> int:
        """Return the people of tuples that were not decided."""
        return int(self._raw[2][undecided[self._raw[0]]].sum())

    def broken(self, bits: Bits) -> int:
        """Return the people of whom the two releases say what cannot both be true of them."""
        return int(self.rows[~holds(bits[self.tuple], self.value)].sum())

    def candidates(self, bits: Bits) -> I64:
        """Return how many values are left to each entry."""
        return how_many(bits)[self.tuple]

    def per_class(self, bits: Bits, undecided: B1, groups: int) -> F64:
        """Return the highest chance in each class: one in as many values as are left."""
        number = np.maximum(how_many(bits)[self.tuple], 1)
        chance = np.where(holds(bits[self.tuple], self.value), 1.0 / number, 0.0)
        found = np.zeros(groups)
        inside = self.group < groups
        chance[undecided[self.tuple]] = 1.0
        np.maximum.at(found, self.group[inside], chance[inside])
        return found


def _known(
    one: Classes, two: Classes, people: I32, keys: tuple[I64, I32], context: Context
) -> _Known:
    """Return the candidates of both releases, of the raw table, and of a random earlier class."""
    values = 1 + max(int(v.max(initial=0)) for v in (one.value, two.value, keys[1]))
    here = one.candidates(people, values, part_of(context, 0.0, 0.4))
    there = two.candidates(people, values, part_of(context, 0.4, 0.8))
    return _Known(
        here=here,
        there=there,
        raw=own_values(keys[0], keys[1], len(people), values),
        random=_random(two, people, values, there, part_of(context, 0.8, 1.0)),
        values=values,
    )


def _random(two: Classes, people: I32, values: int, there: Bits, context: Context) -> Bits:
    """Return the values of a class drawn among those as large as the one that each person fits.

    Anyone who fits none, or several, keeps what is theirs.
    """
    own = only_pool(two, people, context)
    found = there.copy()
    one = np.flatnonzero(own >= 0)
    order = np.argsort(two.rows, kind="stable")
    sizes = two.rows[order]
    begin = np.searchsorted(sizes, two.rows[own[one]], side="left")
    end = np.searchsorted(sizes, two.rows[own[one]], side="right")
    drawn = begin + (context.generator.random(len(one)) * (end - begin)).astype(np.int64)
    found[one] = two.bits(values)[order[drawn]]
    return found


def _best(bits: Bits) -> float:
    number = how_many(bits)
    return float(1.0 / number[number > 1].min()) if (number > 1).any() else 0.0


def _left(column: str, scored: _Scored, known: _Known, both: Bits) -> Details:
    """Return how many values are left to people, by each release and by both."""
    most = 6
    ways = [scored.candidates(bits) for bits in (known.here, known.there, both)]
    names = ("this release", "the earlier release", "both")
    whole = max(int(scored.rows.sum()), 1)
    return Details(
        title=f"Values of '{column}' that are left to a person",
        rows=tuple(
            {
                "values left": number if number < most else f"{most} or more",
                **{
                    name: float(scored.rows[way == number if number < most else way >= most].sum())
                    / whole
                    for name, way in zip(names, ways, strict=True)
                },
            }
            for number in range(most + 1)
        ),
        x="values left",
        y=names,
        drawn="table",
        note="0: the person fits no class of that release. Where the two contradict each other, "
        "only this release counts.",
    )


def _sentence(column: str, certain: int, only: int, everyone: int, sure: bool, broken: int) -> str:
    who = "" if sure else "Were all people in both releases: "
    sentence = (
        f"{who}{'the' if who else 'The'} value of '{column}' is certain for {certain:,} of "
        f"{everyone:,} people ({per_cent(certain / everyone)}) from both releases, for {only:,} of "
        "them from neither alone."
    )
    if not sure:
        sentence += " The overlap of the releases is unknown, so this is an upper bound."
    if broken:
        sentence += (
            f" Of {broken:,} the releases say what cannot both be true: they were not in the "
            "earlier one as they are now, and this release alone counts."
        )
    return sentence
