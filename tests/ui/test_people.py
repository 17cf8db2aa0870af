"""Several rows about one person, on the pages: the role is suggested, and people are counted."""

from __future__ import annotations

import pytest

from anon_core.base.errors import BadPlan
from anon_core.data.role_suggestions import suggest_roles
from anon_core.data.table import Dataset
from anon_core.job.runner import run
from anon_core.words import checklist, phrases
from tests.making import Case
from ui.forms.role_table import as_choices, as_roles

STAYS = Case(
    columns={
        "stay": [str(i) for i in range(24)],
        "patient_id": [f"p{i // 3:02}" for i in range(24)],
        "age": ["20"] * 12 + ["40"] * 12,
        "illness": ["flu", "cold", "gout"] * 8,
    },
    quasi=("age",),
    sensitive=("illness",),
    identifier=("stay",),
    kinds={"age": "text"},
    person="patient_id",
)


def test_a_number_of_persons_that_repeats_is_suggested() -> None:
    found = {one.name: one for one in suggest_roles(STAYS.dataset)}
    assert found["patient_id"].role == "person"
    assert "8 values in 24 rows" in found["patient_id"].reason
    assert found["stay"].role != "person"
    once = STAYS.frame.assign(patient_id=STAYS.columns["stay"])
    named = {one.name: one.role for one in suggest_roles(Dataset.from_frame(once))}
    assert named["patient_id"] == "identifier"
    two = STAYS.frame.assign(person_no=STAYS.columns["patient_id"])
    roles = [one.role for one in suggest_roles(Dataset.from_frame(two))]
    assert roles.count("person") == 1


def test_one_column_has_the_role() -> None:
    choices = {"patient_id": "person", "age": "quasi", "stay": "person"}
    with pytest.raises(BadPlan, match="both to tell persons apart"):
        as_roles(choices)
    choices["stay"] = "identifier"
    roles = as_roles(choices)
    assert roles.person == "patient_id"
    assert as_choices(roles, (), list(choices)) == choices


def test_sentences_say_people() -> None:
    result = run(STAYS.plan(models=[{"name": "k-anonymity", "k": 4}]), STAYS.dataset)
    assert "the smallest has 4 people" in phrases.outcome(result)
    assert any("k = 4 people holds" in sentence for sentence in phrases.promises(result))
    (alone,) = [i for i in checklist.published(result) if "unique over" in i.sentence]
    assert alone.sentence.startswith("0 of 8 people (0%)")
    assert "Not run" in " ".join(item.sentence for item in checklist.thresholds(result))
