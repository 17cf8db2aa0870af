"""What a report cannot say, and what somebody has yet to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anon_core.base.errors import listing
from anon_core.explain.report.context import ReleaseContext
from anon_core.pipeline.result import Result

if TYPE_CHECKING:
    from anon_core.explain.report.checks import Check


def limits(result: Result) -> list[str]:
    """Return what the figures rest on, and what they say nothing about."""
    found = [
        "Promises speak of the quasi-identifiers that were named: anyone who knows other published "
        "columns knows more.",
        "What was tested are the attacks listed above; one that was not run is no evidence.",
        "A figure of risk is that of this release by itself: other releases of the same people, "
        "and what becomes public later, add to what is known.",
    ]
    if result.exact:
        found.append(
            f"Nothing is promised about columns published as they are: {listing(result.exact)}."
        )
    if any(a.estimated for a in result.attacks):
        found.append("Figures marked as estimated rest on a statistical model, not on counting.")
    if any(a.undecided for a in result.attacks):
        found.append("People of whom an attack decided nothing in time count as exposed.")
    dataset = result.problem.dataset
    if dataset.dropped or dataset.undrawn or dataset.unseen:
        found.append("Rows left out before the search are in no figure.")
    if result.problem.population is None and result.plan.population_size is None:
        found.append(
            "No population was given: risk is that of a person known to be in the table, which is "
            "at least that of one who may not be."
        )
    return [*found, *result.cautions]


def open_questions(context: ReleaseContext, every: Sequence[Check]) -> list[str]:
    """Return what has to be said before the report can be filed, in the order of its sections."""
    decision = context.decision
    wanted = {
        "the purpose": context.purpose,
        "the recipient": context.recipient,
        "how it is released": context.model or "",
        "who may try to find people": context.adversaries,
        "plausible outside sources": context.outside_sources,
        "the harm to people": context.harms,
        "where the threshold comes from": context.threshold_source,
        "the author": decision.author,
        "a second person who approves": decision.approver,
        "the expert": decision.expert,
        "the expert's qualification": decision.qualification,
        "the date": decision.date,
        "until when it is valid": decision.valid_until,
        "what asks for a review": decision.review_triggers,
    }
    found = [f"Not stated: {name}." for name, given in wanted.items() if not given]
    return found + [f"No reason is filed for: {c.item.sentence}" for c in every if c.open]
