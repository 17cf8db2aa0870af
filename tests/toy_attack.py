"""An attack that is run when asked for, registered while a test needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base import registry
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackUse
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.release import View


@contextmanager
def asked_for() -> Iterator[type[Attack]]:
    """Register an attack that is run when asked for, and tells what it draws."""
    registry.family("attack")
    before = dict(registry._found["attack"])

    @register("attack")
    @dataclass(frozen=True, kw_only=True)
    class AskedFor(Attack):
        name: ClassVar[str] = "asked-for"
        title: ClassVar[str] = "Asked for"
        summary: ClassVar[str] = "Tosses a coin."
        formula: ClassVar[str] = ""
        source: ClassVar[str] = ""
        aim: ClassVar[AttackAim] = AttackAim(answers=("linkability",))
        use: ClassVar[AttackUse] = AttackUse(by_default=False)

        def reason_not_applicable(self, view: View, audience: Audience) -> str:
            return "" if audience.secret else "It needs a secret."

        def run(
            self, view: View, audience: Audience, truth: Truth, context: Context
        ) -> Sequence[AttackResult]:
            drawn = float(context.generator.random())
            rows = tuple({"known": n, "rate": drawn} for n in range(2))
            return [
                AttackResult(
                    attack=self.name,
                    attempted=4,
                    eligible=4,
                    succeeded=2,
                    rate=0.5,
                    worst=0.5,
                    baseline=0.25,
                    raw=1,
                    control=0.25,
                    at_risk=2,
                    threshold=0.2,
                    per_class=np.array([0.5, 0.1]),
                    sentence="Half of them.",
                    details=(Details(title="Known", rows=rows, x="known", y=("rate",)),),
                )
            ]

    try:
        yield AskedFor
    finally:
        registry._found["attack"].clear()
        registry._found["attack"].update(before)
