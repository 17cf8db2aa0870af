"""Nothing leaves as it is before somebody confirms what was found; names may be redacted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anon_core.base.errors import BadPlan
from anon_core.data.roles.findings import findings
from anon_core.data.roles.redaction import without_redacted
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.runner import run
from anon_core.recipe.confirmations import confirm
from anon_core.recipe.old_recipes import VERSION, renewed
from anon_core.recipe.plan import Plan
from tests.unit.data.test_findings import NAMES, NOTES, STAYS

ROLES: dict[str, Any] = {
    "identifier": ["name"],
    "person": "patient",
    "quasi": ["age"],
    "insensitive": ["note"],
}


def plan(**given: Any) -> Plan:
    return Plan.from_mapping(
        {
            "version": VERSION,
            "roles": ROLES,
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
            **given,
        }
    )


def test_a_recipe_without_a_confirmation_is_refused_before_the_search() -> None:
    with pytest.raises(BadPlan) as refused:
        prepare(plan(), STAYS)
    sentence, helped = refused.value.message, refused.value.remedy
    assert "40 of 40 rows have a value of 'note' that no other row has." in sentence
    assert "'note' is free text in 40 of 40 rows" in sentence
    assert "10 of 40 rows of 'note' hold words of 'name'" in sentence
    assert "'note': leave it out" in helped
    assert 'column = "note", what = "names", rows = 10' in helped


def test_what_is_confirmed_stands_in_the_recipe_and_for_no_more_than_was_found() -> None:
    every = tuple(confirm(one) for one in findings(STAYS, plan().roles))
    seen = Plan.from_toml(replace(plan(), confirmed=every).as_toml())
    assert seen.confirmed == every
    assert {one.what: one.rows for one in every} == {"unique": 40, "text": 40, "names": 10}
    prepare(seen, STAYS)
    fewer = tuple(replace(one, rows=one.rows - 1) for one in every if one.what == "names")
    kept = tuple(one for one in every if one.what != "names")
    with pytest.raises(BadPlan, match="10 of 40 rows of 'note' hold words"):
        prepare(replace(seen, confirmed=(*kept, *fewer)), STAYS)


@pytest.mark.parametrize(
    "given",
    [
        {"column": "note", "what": "unique", "rows": True},
        {"column": "note", "what": "anything", "rows": 4},
        {"what": "unique", "rows": 4},
        {"column": "note", "what": "day", "rows": 4, "by": "me"},
        "note",
    ],
)
def test_what_is_no_confirmation(given: object) -> None:
    with pytest.raises(BadPlan, match=r"\[\[confirmed\]\]"):
        plan(confirmed=[given])


def test_redacted_names_leave_verified_and_the_rest_stays() -> None:
    redacting = plan(redacted={"note": ["name"]})
    rest = findings(without_redacted(redacting.redacted, STAYS), redacting.roles)
    assert {one.what for one in rest} == {"unique", "text"}
    result = run(replace(redacting, confirmed=_all()), STAYS, assess=False)
    notes = sorted(result.published.column("note").to_pylist())
    assert notes == sorted(
        note.replace(name, "[redacted] [redacted]") for note, name in zip(NOTES, NAMES, strict=True)
    )
    assert result.verification.holds


def _all() -> tuple[Any, ...]:
    return tuple(confirm(one) for one in findings(STAYS, plan().roles))


@pytest.mark.parametrize(
    "given", [{"note": []}, {"note": ["age"]}, {"age": ["name"]}, {"note": "name"}]
)
def test_what_cannot_be_redacted(given: dict[str, object]) -> None:
    with pytest.raises(BadPlan, match=r"\[redacted\]"):
        plan(redacted=given)


def test_an_older_recipe_opens_as_it_is() -> None:
    """What it lacks is asked for where a table needs it, and not of every older recipe."""
    for version in (2, VERSION):
        assert renewed({"version": version, "roles": ROLES}) == (
            {"version": VERSION, "roles": ROLES},
            (),
        )
