"""Linking: join a register to the release by what is known, and pick a row that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.params import integer, number, quasi_columns
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
    acceptable_chance,
)
from anon_core.methods.inference.prediction_scores import wilson
from anon_core.methods.matching.fitting_people import by_columns
from anon_core.methods.reidentification.attack_targets import Aimed, Joined, aim, joined
from anon_core.methods.reidentification.candidates import Known
from anon_core.methods.reidentification.equivalence_counts import (
    known_sets,
    sizes_tried,
    with_errors,
)
from anon_core.methods.reidentification.register import register_of
from anon_core.methods.reidentification.unique_rows import named_sets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

_NOTE = (
    "Sets of known columns of each size, up to three of them drawn. Where columns are permuted "
    "separately, the rows that fit are those of the groups that can hold the person."
)
#: What shows a person for sure, by whether a row is a person.
_SINGLE = {True: "single row fits", False: "only own rows fit"}


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Linking(Attack):
    """Join people of a register to the release by a few columns.

    Where one person has several rows, a person is looked for by the values of one of their rows,
    and a match is right where the picked row is any of theirs.
    """

    name: ClassVar[str] = "linking"
    title: ClassVar[str] = "Linking with a register"
    summary: ClassVar[str] = (
        "An attacker with a register of people (the population table, or else the table itself) "
        "joins it to the release by some columns, which may be known roughly or wrongly, and "
        "picks one of the rows that fit each person."
    )
    formula: ClassVar[str] = (
        "mean over people of [own row fits] / rows that fit; permuted: rows of the groups of which "
        "every block has a line that fits; where one person has several rows: own rows that fit / "
        "rows that fit"
    )
    source: ClassVar[str] = (
        "Samarati 2001, doi 10.1109/69.971193; Sweeney 2002, doi 10.1142/S0218488502001648"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("linkability", "singling out")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(place=6)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    columns: tuple[str, ...] = quasi_columns(
        help="Quasi-identifiers that the attacker knows.",
        label="Known columns",
        empty="all quasi-identifiers",
    )
    people: int = integer(
        default=1000,
        low=1,
        high=100_000,
        help="People of the register who are tried; where there are more they are drawn.",
        label="People tried",
    )
    row: int = integer(
        default=0,
        low=0,
        help="Row of the table whose person is attacked, counted from 1; 0 draws people at random.",
        label="One person's row",
    )
    tolerance: float = number(
        default=0.0,
        low=0.0,
        help="How far off the numbers that the attacker knows may be.",
        label="Tolerance of numbers",
    )
    errors: float = number(
        default=0.0,
        low=0.0,
        high=1.0,
        help="Share of the known values that belong to someone else.",
        label="Share of errors",
    )
    threshold: float = acceptable_chance()

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for cells that cover values."""
        if audience.roles.unit and view.whole_quasi() is None:
            return "One person has several rows, and no row matches a person as a whole."
        if view.averaged:
            return (
                "It needs a release whose cells cover values: an average matches no person for "
                "sure."
            )
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Join, for one known column, two, and so on, in the release and in the table as it is.

        Raises
        ------
        BadPlan
            If a known column is not a quasi-identifier, or the named row is not there.
        """
        people = register_of(audience, truth)
        names = named_sets(people.known, self.columns, 0, self.title)[0]
        places = [audience.quasi.index(name) for name in names]
        sets = known_sets(places, context.generator)
        aimed = aim(people, view, truth, self.people, self.row, context)
        true, there = people.codes[aimed.tuple], aimed.there
        own = Known(codes=true, true=true, tolerance=self.tolerance, own=aimed.own)
        raw = replace(own, own=aimed.raw)
        if self.errors:
            wrong = with_errors(true, people.codes, people.count, self.errors, context.generator)
            own = replace(own, codes=wrong, group=aimed.group)
            # No one is missing from the table as it is, so that a run is its own place.
            raw = replace(raw, codes=wrong, group=aimed.run)
            there = aimed.inside
        found = joined(view, people, own, there, sets, part_of(context, 0.0, 0.5))
        of_raw = joined(truth.raw, people, raw, aimed.inside, sets, part_of(context, 0.5, 1.0))
        return [self._result(view, people.size, aimed, sets, found, of_raw, by_columns(audience))]

    def _result(
        self,
        view: View,
        size: int,
        aimed: Aimed,
        sets: Sequence[tuple[int, ...]],
        found: Joined,
        raw: Joined,
        lacking: str,
    ) -> AttackResult:
        chance, group, tried = found.chance[-1], aimed.group, len(aimed.group)
        succeeded = float(chance.sum())
        rate, worst = succeeded / tried, float(chance.max(initial=0.0))
        per_class = np.zeros(len(view.group_size))
        there = (group >= 0) & (group < len(per_class))
        np.maximum.at(per_class, group[there], chance[there])
        picked, alone = "the right row", "a single row fits"
        if aimed.own is not None:
            picked, alone = "a row of theirs", "only their own rows fit"
        interval = None
        if (aimed.drawn or self.errors > 0) and not self.row:
            low, high = wilson(succeeded, tried).interval
            interval = min(low, rate), max(high, rate)
        known = f"{len(sets[-1])} column{'s' * (len(sets[-1]) > 1)}"
        who = f"Of {tried:,} people" if tried > 1 else "For this person"
        return AttackResult(
            attack=self.name,
            attempted=tried,
            eligible=_eligible(view, size, aimed),
            succeeded=succeeded,
            rate=rate,
            worst=worst,
            baseline=1.0 / size,
            raw=float(raw.chance[-1].mean()),
            at_risk=int(np.count_nonzero(chance > self.threshold)),
            threshold=self.threshold,
            per_class=per_class,
            interval=interval,
            sentence=(
                f"{who}, {known} known, {picked} is picked {per_cent(rate)} of the time; "
                f"{alone} {int(found.single[-1].sum()):,} of them.{lacking}"
            ),
            details=(_curve(sets, found, raw, aimed.own is None),),
        )


def _eligible(view: View, size: int, aimed: Aimed) -> int:
    """Return how many of the people tried have a row that is published."""
    tried = len(aimed.group)
    if aimed.own is not None:
        return round(float(aimed.inside[aimed.group >= 0].sum()))
    return min(tried, round(tried * view.rows / size)) if tried > 1 else 1


def _curve(
    sets: Sequence[tuple[int, ...]], found: Joined, raw: Joined, a_row_is_a_person: bool
) -> Details:
    """Return how much is linked by the number of known columns."""
    single = _SINGLE[a_row_is_a_person]
    sizes = np.array([len(chosen) for chosen in sets])

    def mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], size: int) -> float:
        return float(values[sizes == size].mean())

    return Details(
        title="Right rows by the number of columns known",
        rows=tuple(
            {
                "columns known": size,
                "right row": mean(found.chance, size),
                single: mean(found.single.astype(np.float64), size),
                "right row in the raw table": mean(raw.chance, size),
            }
            for size in sorted(set(sizes.tolist()))
        ),
        x="columns known",
        y=("right row", single, "right row in the raw table"),
        note=_NOTE + _left_out(len(sets[-1])),
    )


def _left_out(columns: int) -> str:
    """Return which numbers of known columns were not tried, beginning with a blank; else empty."""
    tried = len(sizes_tried(columns))
    if tried == columns:
        return ""
    return f" Of {columns:,} numbers of known columns {tried} are tried, the small ones all."
