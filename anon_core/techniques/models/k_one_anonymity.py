"""(k, 1)-anonymity: every published row fits k people."""

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
class KOne(ConsistencyModel):
    """Every published row is consistent with k original rows (Gionis et al. 2008)."""

    name: ClassVar[str] = "k-one-anonymity"
    title: ClassVar[str] = "(k, 1)-anonymity"
    summary: ClassVar[str] = "Every published row fits at least k people of the table."
    formula: ClassVar[str] = "min over published rows p of |{original rows consistent with p}| ≥ k"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)
    sides = ("released",)

    def counts(self, found: Matches) -> npt.NDArray[np.int64]:
        """Return the original rows that fit each class."""
        return found.per_class
