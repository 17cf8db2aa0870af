"""Global (1, k)-anonymity: matches that also leave everyone else a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.registry import register
from anon_core.contracts.model import ModelLogic, ModelScope
from anon_core.methods.matching.matching import ConsistencyModel, Matches


@register("model")
@dataclass(frozen=True, kw_only=True)
class GlobalOneK(ConsistencyModel):
    """Only matches of a perfect matching count (Gionis et al. 2008)."""

    name: ClassVar[str] = "global-one-k-anonymity"
    title: ClassVar[str] = "global (1, k)-anonymity"
    summary: ClassVar[str] = (
        "Even an attacker who knows everyone's values, and rules out all matches that are "
        "impossible for everyone at once, finds at least k published rows per person."
    )
    formula: ClassVar[str] = (
        "min over original rows r of |{published rows paired with r by some perfect matching}| ≥ k"
    )
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)
    sides = ("perfect",)

    def counts(self, found: Matches) -> npt.NDArray[np.int64]:
        """Return the published rows that a perfect matching can give each tuple."""
        return found.per_tuple_perfect
