"""The three questions of an assessment, each with the attacks that are evidence for it.

Singling out, linkability and inference (Article 29 Working Party, opinion 05/2014, WP216). An
attack that was not run is there with the reason: what no one tested is no evidence. There is no
total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from anon_core.base.registry import family
from anon_core.contracts.attack import Attack, Disclosure, Question
from anon_core.pipeline.result import Result


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one attack says to one question.

    Attributes
    ----------
    question : {'singling out', 'linkability', 'inference'}
    attack : str
        The attack's name.
    column : str
        Sensitive column concerned; empty if none is.
    discloses : {'identity', 'attribute', 'inferential', 'presence'}
    why : str
        Why it was not tested; empty where it was.
    rate, worst, baseline : float or None
        As in `AttackResult`; None where it was not tested, or no one could be attacked.
    interval : tuple of float or None
        Where the rate lies, if it was sampled or left people undecided.
    undecided : int
        People who were not decided, and count as exposed.
    """

    question: Question
    attack: str
    column: str
    discloses: Disclosure
    tested: bool
    why: str = ""
    rate: float | None = None
    worst: float | None = None
    baseline: float | None = None
    interval: tuple[float, float] | None = None
    undecided: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return dict(vars(self))  # all are plain, so that nothing has to be copied deeply


def evidence(result: Result) -> Sequence[Evidence]:
    """Return, question by question, what every attack says to it, or why it says nothing."""
    found: list[Evidence] = []
    known = cast(dict[str, type[Attack]], family("attack"))
    not_run = result.not_run
    for question in get_args(Question):
        for name, attack in known.items():
            if question not in attack.aim.answers:
                continue
            if name in not_run:
                found.append(
                    Evidence(
                        question=question,
                        attack=name,
                        column="",
                        discloses=attack.aim.discloses,
                        tested=False,
                        why=not_run[name],
                    )
                )
            found += [
                Evidence(
                    question=question,
                    attack=name,
                    column=a.column,
                    discloses=attack.aim.discloses,
                    tested=not a.idle,
                    why=a.sentence if a.idle else "",
                    rate=None if a.idle else a.rate,
                    worst=None if a.idle else a.worst,
                    baseline=None if a.idle else a.baseline,
                    interval=a.interval,
                    undecided=a.undecided,
                )
                for a in result.attacks
                if a.attack == name
            ]
    return found
