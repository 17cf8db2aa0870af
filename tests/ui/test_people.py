"""Several rows about one person, on the pages: the role is suggested, and people are counted."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_core.base.errors import BadPlan
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.table import Dataset
from anon_core.explain.text import checklist, phrases
from anon_core.explain.text.plan_words import intentions
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
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
    with pytest.raises(BadPlan, match="both identify persons"):
        as_roles(choices)
    choices["stay"] = "identifier"
    roles = as_roles(choices)
    assert roles.person == "patient_id"
    assert as_choices(roles, (), list(choices)) == choices


def test_sentences_say_people() -> None:
    result = run(STAYS.plan(models=[{"name": "k-anonymity", "k": 4}]), STAYS.dataset)
    assert "the smallest has 4 people" in phrases.outcome(result)
    assert any("k = 4 people holds" in sentence for sentence in phrases.model_sentences(result))
    (alone,) = [i for i in checklist.published(result) if "unique over" in i.sentence]
    assert alone.sentence.startswith("0 of 8 people (0%)")
    assert "Not run" in " ".join(item.sentence for item in checklist.thresholds(result))


def test_people_of_one_household_count_as_one() -> None:
    homes = {**STAYS.columns, "hh_id": [f"h{i // 6}" for i in range(24)]}
    table = Dataset.from_frame(pd.DataFrame(homes, dtype=object), kinds=STAYS.kinds)
    found = {one.name: one.role for one in suggest_roles(table)}
    assert (found["patient_id"], found["hh_id"]) == ("person", "household")
    roles = {
        "person": "patient_id",
        "household": "hh_id",
        "quasi": ["age"],
        "sensitive": ["illness"],
    }
    plan = STAYS.plan(roles=roles, types={"age": "text"})
    result = run(plan, table, assess=False)
    sentence = [one.sentence for one in checklist.models(result)]
    assert sentence == [
        "Recomputed from the published file and the table: k = 2 people holds "
        "(fewest people in a class 2)."
    ]
    assert "One household".casefold() in " ".join(intentions(plan, table)[1]).casefold()
    assert any("'hh_id'" in caution for caution in result.cautions)
    higher = plan.completed() | {"models": [{"name": "k-anonymity", "k": 3}]}
    again = verify(higher, table.frame(), {}, result.files)
    assert not again.holds, "four persons of two households are two"
