"""Weighted loss: loss in which columns, and rows that are removed, count as someone prefers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.base.params import Parameter, by_column, number
from anon_core.base.registry import register
from anon_core.base.terms import SCALE
from anon_core.contracts.metric import MetricUse
from anon_core.contracts.per_column import weights_by_column
from anon_core.contracts.search_cost import CellCost, domain_share
from anon_core.release.problem import Problem


def _weights() -> Any:
    return by_column(
        each=Parameter(
            name="weight",
            kind="number",
            default=1.0,
            low=0.0,
            high=999_999.0,
            help="Above 1 more of the column's detail is kept than of others, below 1 less; 0 lets "
            "it go for free.",
        ),
        help="Columns whose loss counts more or less than 1, for example age = 2.",
        label="Weights of single columns",
        empty="1",
    )


@register("metric")
@dataclass(frozen=True, kw_only=True)
class WeightedLoss(CellCost):
    """Mean of the columns' losses by weight; a removed cell counts its share and s of the rest."""

    name: ClassVar[str] = "weighted-loss"
    title: ClassVar[str] = "Weighted loss"
    summary: ClassVar[str] = (
        "Loss in which some columns count more than others, and a suppressed row less than a row "
        f"of which nothing is left: {SCALE}."
    )
    formula: ClassVar[str] = (
        "Σ w_j · L_j / Σ w_j, L_j the loss of column j; a suppressed cell counts L + s · (1 − L), "
        "L its loss at the level of its column"
    )
    source: ClassVar[str] = (
        "Iyengar 2002, doi 10.1145/775047.775089; weights: Prasser et al. 2020, "
        "doi 10.1002/spe.2812"
    )
    by_domain: ClassVar[bool] = True
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

    weights: Mapping[str, float] = _weights()
    removed_counts: float = number(
        default=1.0,
        low=0.0,
        high=1.0,
        help="What a suppressed cell costs beyond its level: at 1 as much as at the top; at 0 "
        "nothing, so that only the suppression budget limits how many rows go.",
        label="A suppressed row counts",
        unit="share",
    )

    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return the loss of a cell, before it is weighted."""
        return domain_share(problem, column, lo, hi)

    def column_weights(self, problem: Problem) -> npt.NDArray[np.float64]:
        """Return what the columns count, 1 on average; see `CellCost`.

        Raises
        ------
        BadPlan
            If a column is not a quasi-identifier, or all count nothing.
        """
        given = weights_by_column(problem, self.weights, self.name)
        if not given.sum():
            raise BadPlan(
                f"{self.name}: every column has the weight 0, so that nothing would count.",
                remedy="Give a column a weight above 0.",
            )
        return given * (len(given) / given.sum())
