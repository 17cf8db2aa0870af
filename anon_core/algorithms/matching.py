"""Consistency without classes: each row publishes a box of its own that enough others fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from ..boxes import covered_outcome
from ..consistency import Boxes, ConsistencyModel
from ..context import Context, part_of
from ..costs import CellCost
from ..gain import cell_prices
from ..kinds import Algorithm, GroupModel, run_buckets
from ..merging import boxes_of, merged
from ..params import choice
from ..partition import cut_by_tree
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Matching(Algorithm):
    """Boxes grown until the matches that were promised are there (Gionis et al. 2008)."""

    name: ClassVar[str] = "matching"
    title: ClassVar[str] = "Boxes by matches"
    summary: ClassVar[str] = (
        "Starts from exact rows and widens the cells of whoever has too few matches, each time "
        "together with the row that costs least. Promises about classes are kept by merging rows."
    )
    when: ClassVar[str] = (
        "When (k, k)- or global (1, k)-anonymity is promised, which needs no equal rows."
    )
    formula: ClassVar[str] = "while matches(r) < k: join the boxes of r and its nearest"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    forms_ranges: ClassVar[bool] = True

    metric: str = choice(
        default="ncp",
        options={"ncp": "NCP / GCP", "loss": "Loss"},
        help="What widening cells costs.",
        label="Saving",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Widen boxes; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        metric = cast(CellCost, find("metric", self.metric)())
        prices = cell_prices(problem, metric, nodes, np.ones(len(nodes)))
        # 1. Promises about classes: rows that break them are merged with their nearest.
        rows = np.arange(len(problem.frequency.run_count), dtype=np.int64)
        rest = [m for m in models if not isinstance(m, ConsistencyModel)]
        groups = run_buckets(problem, rows)
        if rest:
            groups = merged(problem, rest, groups, prices, part_of(context, 0.0, 0.5))
        low, high, size = boxes_of(problem, groups)
        boxes = Boxes(problem=problem, prices=prices, low=low, high=high, size=size)
        for model in models:
            if isinstance(model, ConsistencyModel):
                self._widen(boxes, model, part_of(context, 0.5, 1.0))
        return covered_outcome(problem, groups, low, high, nodes)

    def _widen(self, boxes: Boxes, model: ConsistencyModel, context: Context) -> None:
        # 2. A published row that fits too few people is widened to the nearest.
        while model.of_released:
            few = np.flatnonzero(boxes.matches(context).per_class < model.k)
            if _settled(boxes, few, context, 0.0):
                break
            boxes.reach_out(few)
        # 3. Who fits too few published rows is covered by the nearest.
        while model.of_originals:
            few = np.flatnonzero(boxes.matches(context).per_tuple < model.k)
            if _settled(boxes, few, context, 0.5):
                break
            boxes.take_in(few)
        # 4. Who could be ruled out exchanges places with the nearest.
        while model.perfect:
            few = np.flatnonzero(boxes.matches(context).per_tuple_perfect < model.k)
            if _settled(boxes, few, context, 0.9):
                break
            boxes.exchange(few)


def _settled(boxes: Boxes, few: npt.NDArray[np.int64], context: Context, share: float) -> bool:
    """Say whether nothing lacks matches; where time is up, see to it at any price."""
    context.report(share, "Widening cells")
    if len(few) and context.out_of_time():
        boxes.cover_everything()
        return True
    return not len(few)
