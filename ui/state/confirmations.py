"""What was found of columns that are published as they are, and what a person says to it."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.data.roles.findings import Finding, findings
from anon_core.data.roles.redaction import without_redacted
from anon_core.recipe.confirmations import confirm, confirmed_of, unconfirmed
from ui.state import state


def found() -> tuple[Finding, ...]:
    """Return what was found of the table with its present roles, redacted where that was asked.

    Raises
    ------
    AnonError
        If a column cannot be read as its type, or the condition chooses no row.
    """
    data = state.released_dataset()
    roles = state.roles()
    if data is None:
        return ()
    hidden, levels = state.redacted(), tuple(state.draft().get("sensitive_levels", {}))
    return state.once(
        "findings",
        (data.fingerprint, roles, roles.unit, hidden, levels),
        lambda: findings(without_redacted(hidden, data), roles, levels),
    )


def waiting() -> tuple[Finding, ...]:
    """Return the findings that no one confirmed yet; Run waits for them."""
    return unconfirmed(found(), confirmed_of(state.confirmed()))


def settled() -> tuple[Finding, ...]:
    """Return the findings that someone confirmed."""
    open_ = waiting()
    return tuple(one for one in found() if one not in open_)


def confirmed(one: Finding) -> None:
    """Confirm a finding; can be undone."""
    rest = _but(one)
    state.update_draft(confirmed=[*rest, confirm(one).as_mapping()])


def taken_back(one: Finding) -> None:
    """Take a confirmation back; can be undone."""
    state.update_draft(confirmed=_but(one))


def reason_for_names(column: str) -> str:
    """Return why labels of a column are confirmed as names; empty where they are not."""
    labels = state.labels().get(column)
    return str(labels.get("names", "")) if isinstance(labels, dict) else ""


def confirm_names(column: str, reason: str) -> None:
    """Confirm that labels of a column are names and claim nothing; can be undone."""
    state.update_draft(labels={**state.labels(), column: {"names": reason}})


def names_taken_back(column: str) -> None:
    """Hold labels of a column against its values again; can be undone."""
    rest = {name: labels for name, labels in state.labels().items() if name != column}
    state.update_draft(labels=rest)


def redact(column: str, by: Sequence[str]) -> None:
    """Take the words of identifiers out of a column; can be undone."""
    state.update_draft(redacted={**state.redacted(), column: list(by)})


def keep_names(column: str) -> None:
    """Leave a column's texts as they are again; can be undone."""
    rest = {name: by for name, by in state.redacted().items() if name != column}
    state.update_draft(redacted=rest)


def _but(one: Finding) -> list[dict[str, object]]:
    return [
        finding
        for finding in state.confirmed()
        if (finding["column"], finding["what"]) != (one.column, one.what)
    ]
