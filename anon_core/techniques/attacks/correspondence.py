"""Correspondence: rows of an earlier release that this one continues, and rows that it cannot.

A person in both is in a class of each, with one value. Of a value's rows in the one class, no
more can be the person's than there are in the other. Anyone who joined since the earlier release is
no row that came from it: where all of these are still here, they take places away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context, part_of
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    acceptable_chance,
)
from anon_core.methods.matching.composition import Classes, classes_of_earlier, classes_of_view
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Pairs of pools that are compared at a time.
_CELLS = 1 << 26


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Correspondence(Attack):
    """Strike out the rows of a class that cannot be a person's by an earlier release."""

    name: ClassVar[str] = "correspondence"
    title: ClassVar[str] = "Rows two releases leave"
    summary: ClassVar[str] = (
        "An attacker who knows a person's quasi-identifiers compares this release with an earlier"
        " one, and rules out rows of the person's class that cannot belong to both."
    )
    formula: ClassVar[str] = (
        "mean over people of 1 / rows left; for each value min(A, B) for people in both, min(B, T "
        "− A) for people who joined: A, B rows in the earlier class and in this one, T in all "
        "classes here that the earlier class may have gone to"
    )
    source: ClassVar[str] = (
        "Fung, Wang, Fu and Pei 2008, Anonymity for continuous data publishing, EDBT"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("linkability", "singling out")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        earlier=True,
        rows_only="It takes everybody to have one row in each release; here one person may have "
        "several.",
    )
    report: ClassVar[AttackReport] = AttackReport(place=5)

    threshold: float = acceptable_chance()

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for an earlier release with a sensitive column of this one."""
        if audience.earlier is None:
            return "It needs an earlier release of the same people, and none was given."
        if not [name for name in audience.secret if name in audience.earlier.values]:
            return "The earlier release has none of the sensitive columns, so no row is struck out."
        if view.averaged:
            return (
                "It needs a release whose cells cover values: an average matches no person for "
                "sure."
            )
        if view.whole_quasi() is None:
            return (
                "The quasi-identifiers are permuted separately, so no row fits a person as a whole."
            )
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, by each sensitive column that both releases publish."""
        earlier = audience.earlier
        columns = [n for n in audience.secret if earlier is not None and n in earlier.values]
        return [
            self._attack(
                view,
                audience,
                truth,
                name,
                part_of(context, i / len(columns), (i + 1) / len(columns)),
            )
            for i, name in enumerate(columns)
        ]

    def _attack(
        self, view: View, audience: Audience, truth: Truth, column: str, context: Context
    ) -> AttackResult:
        earlier, frequency, places = audience.earlier, truth.frequency, truth.places
        assert earlier is not None
        grown, sure = earlier.people == "grown", earlier.people == "all"
        two = classes_of_earlier(earlier, audience.quasi, column)
        value = frequency.codes[:, frequency.columns.index(column)].astype(np.int32)

        def against(shown: View, part: Context) -> Left:
            one = classes_of_view(shown, audience.hierarchies, column)
            return rows_left(one, two, frequency.run_codes, grown=grown, context=part)

        left = against(view, part_of(context, 0.0, 0.5))
        raw = against(truth.raw, part_of(context, 0.5, 1.0))
        kept = places.group >= 0
        run, own = frequency.run[places.key[kept]], value[places.key[kept]]
        rows, group = places.count[kept], places.group[kept]
        chance, there = _chance(left, run, own)
        of_raw, _ = _chance(raw, frequency.run, value)
        # Of anyone who is not in both, a row of the earlier release is no one's.
        alone = [
            float((rows * by / np.maximum(fit[run], 1)).sum()) / truth.rows
            for fit, by in ((left.here, left.here[run] > 0), (left.there, there))
        ]
        per_class = np.zeros(len(view.group_size))
        inside = group < len(per_class)
        np.maximum.at(per_class, group[inside], chance[inside])
        succeeded = float((rows * chance).sum())
        rate, exposed = succeeded / truth.rows, int(rows[chance > self.threshold].sum())
        worst = float(chance.max(initial=0.0))
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=truth.rows,
            eligible=view.rows,
            succeeded=succeeded,
            rate=rate,
            worst=worst,
            baseline=max(alone),
            # Who has the table as it is can make this release of it, and knows no less.
            raw=max(float((frequency.count * of_raw).sum()) / truth.rows, rate),
            at_risk=exposed,
            threshold=self.threshold,
            per_class=per_class,
            interval=None if sure else (min(alone[0], rate), rate),
            upper_bound=not sure,
            sentence=(
                f"With the earlier release and '{column}', a person's row is picked "
                f"{per_cent(rate)} of the time on average and {per_cent(worst)} at worst; by the "
                f"better of the two alone {per_cent(max(alone))}."
                + (
                    ""
                    if sure
                    else " The overlap of the releases is unknown, so this is an upper bound."
                )
            ),
            details=(_details(left, run, rows),),
        )


def _chance(left: Left, run: np.ndarray, own: np.ndarray) -> tuple[F64, B1]:
    """Return the chance of picking each person's row, and who can be in both releases.

    It is the greatest that may be: of who is in both, of who joined, and of who fits this
    release alone.
    """
    both = chance_of(left.both, run, own)
    here, there = left.here[run], left.there[run]
    found = np.maximum(both, np.where(here > 0, 1.0 / np.maximum(here, 1), 0.0))
    # Rows that show a label are counted for each of its values, and no more than there are.
    found = np.maximum(found, np.where(both > 0, 1.0 / np.maximum(there, 1), 0.0))
    if left.joined is not None:
        found = np.maximum(found, chance_of(left.joined, run, own))
    return found, both > 0


def _details(left: Left, run: np.ndarray, rows: np.ndarray) -> Details:
    """Return how many rows are left to people, by each release and by both."""
    ways = {
        "this release": left.here,
        "the earlier release": left.there,
        "both": np.asarray(left.both.sum(axis=1)),
    }
    if left.joined is not None:
        ways["people who joined since"] = np.asarray(left.joined.sum(axis=1))
    whole = max(int(rows.sum()), 1)
    return Details(
        title="People by the rows that are left to them",
        rows=tuple(
            {
                "at most": most,
                **{
                    name: float(rows[(way[run] > 0) & (way[run] <= most)].sum()) / whole
                    for name, way in ways.items()
                },
            }
            for most in (1, 2, 3, 5, 10, 20, 50, 100)
        ),
        x="at most",
        y=tuple(ways),
        note="By both: people who fit no row of the earlier release are not among them.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Left:
    """Rows of this release that are left to the people of each quasi tuple.

    Attributes
    ----------
    both, joined : csr arrays of shape (tuples, values)
        Rows by value that may be a person's who is in both, and who joined since.
    here, there : int64 arrays of shape (tuples,)
        Rows that fit in this release and in the earlier one.
    """

    both: csr_array
    joined: csr_array | None
    here: I64
    there: I64


def rows_left(one: Classes, two: Classes, people: I32, *, grown: bool, context: Context) -> Left:
    """Return the rows that two releases leave (Fung, Wang, Fu and Pei 2008, in closed form).

    With A rows of a value in the earlier class and B in this one, min(A, B) are left to anyone who
    stood in both. With T rows of the value in all classes of this release that the earlier class
    may have gone to, min(B, T - A) are left to anyone who joined.

    Parameters
    ----------
    one, two : Classes
        Of this release and the earlier one.
    people : int32 array of shape (tuples, quasi)
    grown : bool
        Whether everyone of the earlier release is still here, so that others have joined.
    """
    from scipy.sparse import csr_array

    values = 1 + max(int(c.value.max(initial=0)) for c in (one, two))
    fits = [
        _fitting(classes, people, part_of(context, begin, begin + 0.4))
        for begin, classes in ((0.0, one), (0.4, two))
    ]
    held = [_held(classes, values) for classes in (one, two)]
    here, there = (f @ h for f, h in zip(fits, held, strict=True))
    joined = None
    if grown:
        reached = _reached(one, two, part_of(context, 0.8, 1.0)) @ held[0]
        # Where several earlier classes fit, what may have come from them is not distinguished.
        alone = fits[1].sum(axis=1) == 1
        if two.count.sum() > two.rows.sum():  # labels of several values: nor are these
            alone[:] = False
        rest = fits[1] @ (reached - held[1]).maximum(0)
        joined = here.minimum(rest)
        joined = csr_array(joined.multiply(alone[:, None]) + here.multiply(~alone[:, None]))
    return Left(
        both=here.minimum(there),
        joined=joined,
        here=np.asarray(here.sum(axis=1)).astype(np.int64),
        there=(fits[1] @ two.rows).astype(np.int64),
    )


def _fitting(classes: Classes, people: I32, context: Context) -> csr_array:
    """Return which pools of values each person fits, shape (people, pools) of 0 and 1."""
    from scipy.sparse import csr_array

    found = [np.stack(pair) for pair in classes.fitting(people, context)]
    who, pool = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    shape = len(people), len(classes.rows)
    matrix = csr_array((np.ones(len(who), dtype=np.int64), (who, pool)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1  # two classes of one pool are one
    return matrix


def _held(classes: Classes, values: int) -> csr_array:
    """Return the rows of each value in each pool, shape (pools, values)."""
    from scipy.sparse import csr_array

    shape = len(classes.rows), values
    return csr_array((classes.count, (classes.entry, classes.value)), shape=shape)


def _reached(one: Classes, two: Classes, context: Context) -> csr_array:
    """Return which pools of this release share values with each earlier one in every column."""
    from scipy.sparse import csr_array

    shared: list[tuple[npt.NDArray[np.bool_], int, int]] = []
    for d, place in enumerate(two.places):
        at = one.places.index(place)
        overlap: B1 = (two.cover[d].astype(np.float32) @ one.cover[at].T.astype(np.float32)) > 0
        shared.append((overlap, d, at))
    step = max(1, _CELLS // max(len(one.cells), 1))
    rows: list[I64] = []
    pools: list[I64] = []
    for begin in range(0, len(two.cells), step):
        context.check()
        part = two.cells[begin : begin + step]
        near = np.ones((len(part), len(one.cells)), dtype=np.bool_)
        for overlap, d, at in shared:
            near &= overlap[part[:, d]][:, one.cells[:, at]]
        who, which = near.nonzero()
        rows.append(who.astype(np.int64) + begin)
        pools.append(one.pool[which])
    who, pool = (np.concatenate(x) if x else np.empty(0, dtype=np.int64) for x in (rows, pools))
    matrix = csr_array(
        (np.ones(len(who), dtype=np.int64), (two.pool[who], pool)),
        shape=(len(two.rows), len(one.rows)),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def chance_of(left: csr_array, tuples: I64, value: I32) -> F64:
    """Return one over the rows left, where a row of the own value is; shape of `tuples`."""
    rows = np.asarray(left.sum(axis=1)).astype(np.float64)
    own = np.asarray(left[tuples, value]).ravel() > 0
    return np.where(own, 1.0 / np.maximum(rows[tuples], 1.0), 0.0)
