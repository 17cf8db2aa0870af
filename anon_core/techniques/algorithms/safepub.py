"""SafePub: a sample of the rows, coarsened by fixed rules, of which only large classes stay."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, brief, listing
from anon_core.base.params import choice, flag, integer, number
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Offer, Service, Shape, refuse_unsteered
from anon_core.contracts.model import GroupModel
from anon_core.contracts.per_column import column_levels, levels_by_column
from anon_core.methods.differential_privacy.account import GRAIN, sample_rule
from anon_core.methods.differential_privacy.chosen_levels import Choice, Coins, Score, draw_levels
from anon_core.methods.lattice.lattice import Lattice, Node
from anon_core.release.grouping import REMOVED, Grouping
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import Guarantee, Release, one_block
from anon_core.release.vocabulary import of_level

# Which rows are in the sample: each by a coin of its own, keyed by the secret, plan and table.


_CELL, _ROW = "\x1f", "\x1e"


@dataclass(frozen=True, kw_only=True, eq=False)
class SortedRows:
    """The table's rows in the order of their texts: its own order and its hierarchies have no part.

    Attributes
    ----------
    order : int64 array of shape (runs,)
        The distinct quasi tuples by their texts.
    count : int64 array of shape (runs,)
        Rows of each, in that order.
    digest : bytes
        Of all texts and counts.
    """

    order: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    digest: bytes

    def coins(self, secret: bytes, purpose: str, plan: object) -> Coins:
        """Return the coins for one purpose, keyed by the secret, by plan and table.

        The same secret for another table, or for other privacy models, tosses coins that have
        nothing in common, which is what adding up budgets takes. `plan` is plain values.
        """
        return Coins(secret, purpose.encode(), canonical(plan).encode(), self.digest)

    def sampled(self, share: Fraction, coins: Coins) -> npt.NDArray[np.int64]:
        """Draw how many rows of every quasi tuple are in the sample, shape (runs,).

        `share` is the chance of every row, a multiple of 2**-64.
        """
        heads = coins.words(int(self.count.sum())) < np.uint64(share * GRAIN)
        found = np.empty(len(self.order), dtype=np.int64)
        starts = np.cumsum(self.count) - self.count
        found[self.order] = np.add.reduceat(heads, starts, dtype=np.int64)
        return found


def sorted_rows(problem: Problem) -> SortedRows:
    """Return the rows of a table, as far as quasi-identifiers distinguish them, in one order."""
    codes = problem.frequency.run_codes
    texts = [[h.leaves[c] for c in codes[:, d]] for d, h in enumerate(problem.quasi_hierarchies)]
    rows = list(zip(*texts, strict=True))
    order = sorted(range(len(rows)), key=rows.__getitem__)
    count = problem.frequency.run_count[order]
    digest = hashlib.sha256(_CELL.join(problem.quasi).encode("utf-8", "surrogatepass"))
    for place, times in zip(order, count.tolist(), strict=True):
        line = _ROW + _CELL.join((*rows[place], str(times)))
        digest.update(line.encode("utf-8", "surrogatepass"))
    return SortedRows(order=np.array(order, dtype=np.int64), count=count, digest=digest.digest())


def canonical(value: object) -> str:
    """Return plain values as one text: equal ones, such as 1 and 1.0, as the same.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": [True, "x"]}) == canonical({"a": [True, "x"], "b": 1})
    True
    """
    if isinstance(value, Mapping):
        named = cast(Mapping[str, object], value)
        return "{" + ",".join(f"{k!r}:{canonical(named[k])}" for k in sorted(named)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(v) for v in cast(Sequence[object], value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(Fraction(str(value)))
    return repr(value)


_WHY = (
    "One person more or less in the table hardly changes what is published, whatever an attacker "
    "knows; the price is that part of the rows is left out."
)
#: Without levels named by a person they are drawn, for a fifth of the usual budget.
_DRAWN = {"levels_epsilon": 0.2}


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class SafePub(Algorithm):
    """(ε, δ)-differentially private generalization of a sample (Bild, Kuhn, Prasser 2018).

    The levels are given, or drawn from the whole table for a budget of their own. Then each row is
    kept with the same chance, independently of what the levels were drawn with, and classes too
    small are left out; see `account` for the proof of ε and δ. Both budgets add up.
    """

    name: ClassVar[str] = "safepub"
    title: ClassVar[str] = "SafePub"
    summary: ClassVar[str] = (
        "Publishes a random sample of the rows, at levels that you fix or that are drawn for a "
        "part of the budget. Leaves out classes too small for (ε, δ)-differential privacy."
    )
    offer: ClassVar[Offer] = Offer(
        when="When protection must hold whatever an attacker knows: it costs a part of the rows, "
        "and every published column has to be coarsened by rules made without the table.",
        asks_first="Confirm under its settings that hierarchies, roles and levels were made "
        "without looking at this table: if they were not, nothing is guaranteed.",
        serves={
            "statistics": Service(place=9, why=_WHY, settings=_DRAWN),
            "training": Service(place=9, why=_WHY, settings=_DRAWN),
            "sharing": Service(place=9, why=_WHY, settings=_DRAWN),
            "teaching": Service(place=9, why=_WHY, settings=_DRAWN),
        },
    )
    shape: ClassVar[Shape] = Shape(approach="levels", mechanism=True, one_level=True)
    formula: ClassVar[str] = (
        "β = 1 − e^−ε; k is the least with max over n of P[Bin(n, β) > γ n, ≥ k] ≤ δ, "
        "γ = 1 − (1 − β) e^−ε"
    )
    source: ClassVar[str] = "Bild, Kuhn, Prasser 2018, doi 10.1515/popets-2018-0004"

    fixed_rules: bool = flag(
        default=False,
        help="I confirm: hierarchies, roles, and levels where I name them, were made without "
        "looking at this table. If they were not, nothing is guaranteed.",
        label="Rules made without the table",
    )
    levels: Mapping[str, int] = column_levels(
        help="Columns with their levels, for example age = 2. A column that is left out is "
        "published at its most general level. Leave all out to have levels drawn.",
        empty="its most general level",
    )
    levels_epsilon: float = number(
        default=0.0,
        low=0.0,
        high=10.0,
        help="Part of ε that is spent on drawing the levels from the table; 0 takes those named.",
        label="ε for levels",
    )
    steps: int = integer(
        default=10, low=1, high=1000, help="Choices of levels that are tried.", label="Steps"
    )
    score: str = choice(
        default="detail",
        options={"detail": "rows beyond the least class × detail", "classes": "number of classes"},
        help="What levels are drawn for.",
        label="Levels drawn for",
    )
    share: float = number(
        default=1.0,
        low=0.01,
        high=1.0,
        help="Keep no more than this share of the rows, though ε allows more.",
        label="Largest sample",
        unit="share of rows",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Draw levels, draw a sample, and keep the large classes; see `Algorithm.run`."""
        context.check()
        epsilon, delta, drawing = self._budget(models)
        self._refuse_what_rows_decide(problem)
        plan = [
            {"name": self.name, **self.as_mapping()},
            [{"name": m.name, **m.as_mapping()} for m in models],
        ]
        # 1. What is left of the budget shows the sample's share and the least class.
        rule = sample_rule(epsilon - drawing, delta, Fraction(str(self.share)))
        least = max(rule.least, *(model.least_size() for model in models))
        # 2. Levels: named, or drawn from the whole table.
        rows, lattice = sorted_rows(problem), Lattice(problem)
        found = self._levels(problem, lattice)
        if drawing:
            found = draw_levels(
                lattice,
                ceil(least / rule.share),  # so many rows have a sample of that size on average
                cast(Score, self.score),
                self.steps,
                drawing,
                rows.coins(context.secret, "levels", plan),
                context,
            )
        # 3. A sample: every row by a coin of its own.
        context.report(0.9, "Drawing the sample")
        drawn = rows.sampled(rule.share, rows.coins(context.secret, "rows", plan))
        # 4. Classes with too few sampled rows are left out.
        spent = {"levels": drawing} if drawing else {}
        release = replace(
            _large_classes(problem, lattice, found.node, drawn, least),
            guarantee=Guarantee(
                spent={**spent, "rows": epsilon - drawing},
                delta=rule.delta,
                share=rule.share,
                least=least,
            ),
        )
        return Outcome(
            release=release,
            account=SearchAccount(
                proven=False,
                node=lattice.names(found.node),
                nodes=lattice.size,
                checked=found.looked,
                steps=found.steps,
            ),
        )

    def _budget(self, models: Sequence[GroupModel]) -> tuple[Fraction, Fraction, Fraction]:
        """Return ε and δ that are required, and the part of ε for levels.

        Raises
        ------
        BadPlan
            If none is required, or nothing of it is left for the rows.
        """
        refuse_unsteered(self, models)
        required = [model.as_mapping() for model in models if model.scope.mechanism]
        epsilon = min(Fraction(str(own["epsilon"])) for own in required)
        delta = min(Fraction(str(own["delta"])) for own in required)
        drawing = Fraction(str(self.levels_epsilon))
        if drawing >= epsilon:
            raise BadPlan(
                f"{self.name}: no budget left: {brief(self.levels_epsilon)} of ε = "
                f"{brief(float(epsilon))} is spent on drawing levels, and nothing is left to "
                "publish rows with.",
                remedy="Lower levels_epsilon, or name the levels and set it to 0.",
            )
        if drawing and self.levels:
            raise BadPlan(
                f"{self.name}: levels are named, and a budget is given to draw them.",
                remedy="Leave out levels, or set levels_epsilon to 0.",
            )
        return epsilon, delta, drawing

    def _levels(self, problem: Problem, lattice: Lattice) -> Choice:
        """Return the levels that are named."""
        node = levels_by_column(problem, self.levels, self.name, unnamed=lattice.top)
        return Choice(node=node, steps=(), looked=1)

    def _refuse_what_rows_decide(self, problem: Problem) -> None:
        """Refuse whatever would let the rows decide how a row is published.

        Raises
        ------
        BadPlan
        """
        if not self.fixed_rules:
            raise BadPlan(
                f"{self.name}: it is not confirmed that hierarchies, roles and levels were made "
                "without looking at this table. A hierarchy proposed from the table, or levels "
                "that were tried on it, let its rows decide what is published, and the proof is "
                "void.",
                remedy="Make them from what is known of the columns, and set fixed_rules = true.",
            )
        exact = [n for n in problem.roles.published(problem.dataset) if n not in problem.quasi]
        if exact:
            raise BadPlan(
                f"{self.name}: {listing(exact)} would be published row by row with the classes, "
                "which the guarantee does not cover.",
                remedy="Make them quasi-identifiers as well (a sensitive column may be both), or "
                "leave them out.",
            )
        if problem.dataset.undrawn:
            raise BadPlan(
                f"{self.name}: [data] sample draws a number of rows that follows from the table, "
                "and the proof is of a sample in which every row has a coin of its own.",
                remedy="Remove [data] sample; share = ... keeps fewer rows.",
            )
        several = [n for n in problem.quasi if problem.dataset.column(n).spelled is not None]
        if several:
            raise BadPlan(
                f"{self.name}: {listing(several)} has equal values in several spellings (1.0 and "
                "1) or marks between thousands, and which spelling is published would follow from "
                "all rows together.",
                remedy="Write them one way in the file, or declare the column as text.",
            )


def _large_classes(
    problem: Problem,
    lattice: Lattice,
    node: Node,
    drawn: npt.NDArray[np.int64],
    least: int,
) -> Release:
    """Build the release of the sampled rows whose classes are large enough.

    Raises
    ------
    Infeasible
        If there is none.
    """
    run_class, first = lattice.runs_at(node)
    sizes = np.bincount(run_class, weights=drawn, minlength=len(first)).astype(np.int64)
    large = sizes >= least
    if not large.any():
        raise Infeasible(
            f"No class has {least} sampled rows, which the budget asks for: nothing is published. "
            "That is an outcome like others, and the budget is spent.",
            remedy="For another try with a budget of its own choose coarser levels, a larger δ or "
            "more rows.",
            best=float(sizes.max(initial=0)),
            best_of="sampled rows of the largest class",
        )
    number = np.where(large, np.cumsum(large) - 1, REMOVED)[run_class]
    kept = np.where(number >= 0, drawn, 0)
    runs = np.arange(len(run_class), dtype=np.int64)
    # A tuple of which some rows were drawn and others not has two entries.
    key = np.concatenate([runs, runs])
    member = np.concatenate([number, np.full(len(runs), REMOVED)])
    count = np.concatenate([kept, problem.frequency.run_count - kept])
    order = np.argsort(key, kind="stable")
    order = order[count[order] > 0]
    grouping = Grouping(
        key=key[order],
        member=member[order],
        count=count[order],
        group=np.arange(int(np.count_nonzero(large)), dtype=np.int64),
    )
    codes = problem.frequency.run_codes[first[large]]
    levels = list(zip(problem.quasi_hierarchies, node, strict=True))
    return one_block(
        problem,
        grouping,
        {h.column: of_level(h, level) for h, level in levels},
        {h.column: h.node(level)[codes[:, d]] for d, (h, level) in enumerate(levels)},
    )
