"""(k, k)-anonymity: everyone fits k published rows, and these fit k people each."""

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
class KK(ConsistencyModel):
    """(1, k) and (k, 1) together (Gionis et al. 2008)."""

    name: ClassVar[str] = "k-k-anonymity"
    title: ClassVar[str] = "(k, k)-anonymity"
    summary: ClassVar[str] = (
        "Everyone fits at least k published rows, and every published row fits at least k people."
        " Rows need not form classes."
    )
    formula: ClassVar[str] = "(1, k) and (k, 1)"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)
    sides = ("released", "originals")

    def counts(self, found: Matches) -> npt.NDArray[np.int64]:
        """Return the matches of both sides."""
        return np.concatenate([found.per_tuple[found.per_tuple > 0], found.per_class])
