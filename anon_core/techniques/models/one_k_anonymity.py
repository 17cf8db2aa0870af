"""(1, k)-anonymity: everyone fits k published rows."""

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
class OneK(ConsistencyModel):
    """Every original row is consistent with k published rows (Gionis et al. 2008)."""

    name: ClassVar[str] = "one-k-anonymity"
    title: ClassVar[str] = "(1, k)-anonymity"
    summary: ClassVar[str] = (
        "An attacker who knows a person finds at least k published rows that fit. Their cells may"
        " differ."
    )
    formula: ClassVar[str] = "min over original rows r of |{published rows consistent with r}| ≥ k"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)
    sides = ("originals",)

    def counts(self, found: Matches) -> npt.NDArray[np.int64]:
        """Return the published rows that fit each original tuple."""
        return found.per_tuple
