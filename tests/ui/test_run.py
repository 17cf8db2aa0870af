"""The Run page: forms, the sentence, running, stopping and refusals."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadPlan
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.data.samples import sample
from anon_core.explain.text import checklist
from anon_core.explain.text.phrases import model_sentences, says_nothing
from anon_core.explain.text.plan_words import intentions
from anon_core.recipe.plan import Plan
from tests.ui.sessions import (
    RESULTS,
    RUN,
    VERDICTS,
    carried_out,
    choose,
    load,
    open_page,
    table,
    wait_for,
    words,
)
from ui.state import population_tables, state


def button(app: AppTest, key: str) -> Any:
    return next(b for b in app.button if b.key == key)


def control(app: AppTest, key: str) -> Any:
    return next(c for c in app.button_group if c.key == key)


def test_without_a_table_the_page_says_what_to_do() -> None:
    app = open_page(RUN, {})
    assert not app.exception
    assert "There is no table yet" in words(app)


def test_k_anonymity_is_promised_at_first_and_cannot_be_removed() -> None:
    app = open_page(RUN, load())
    assert not app.exception
    assert "at least one other person" in words(app)
    assert button(app, "remove-model-0").disabled


def test_the_sentence_says_what_will_happen() -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.02})
    said = words(open_page(RUN, held)).replace("\\", "")
    assert "share their four quasi-identifiers with at least four others" in said
    assert "Up to 2% of rows (100) may be suppressed" in said
    assert "The two identifiers will not be published" in said


def test_what_was_renewed_in_the_recipe_is_shown() -> None:
    held = load("toth-private")
    with patch.object(st, "session_state", held):
        given = {"roles": state.roles(), "levels": state.levels(), "draft": state.draft()}
        state.set_work(**given, notes=("[roles] x: now y.", "seed: now z."))
    (values,) = (one.value for one in open_page(RUN, held).info if "older version" in one.value)
    assert "now y" in values
    assert "now z" in values
    assert not any("older version" in one.value for one in open_page(RUN, load()).info)


def test_columns_without_a_hierarchy_are_named_once() -> None:
    held = load("toth-private")
    with patch.object(st, "session_state", held):
        state.set_work(roles=state.roles(), levels={}, draft=state.draft())
    app = open_page(RUN, held)
    said = [one.value.lower() for one in app.caption]
    assert sum("no hierarchy" in one or "without a hierarchy" in one for one in said) == 1


def test_promises_are_added_and_removed() -> None:
    app = open_page(RUN, load())
    control(app, "model_picker/stops").set_value("attribute").run()
    button(app, "add-l-diversity").click().run()
    assert not app.exception
    models = app.session_state["state/work"]["draft"]["models"]
    assert [m["name"] for m in models] == ["k-anonymity", "l-diversity"]
    button(app, "remove-model-0").click().run()
    models = app.session_state["state/work"]["draft"]["models"]
    assert [m["name"] for m in models] == ["l-diversity"]
    assert not app.exception


def test_a_promise_without_a_column_is_offered_once() -> None:
    held = load(
        models=[{"name": "bucket-size", "k": 2}, {"name": "l-diversity", "l": 2, "column": ""}]
    )
    app = open_page(RUN, held)
    control(app, "model_picker/stops").set_value("identity").run()
    assert button(app, "add-bucket-size").disabled
    assert "Already required" in words(app)
    assert not button(app, "add-k-anonymity").disabled  # may be promised of several sets of columns
    control(app, "model_picker/stops").set_value("attribute").run()
    assert not button(app, "add-l-diversity").disabled


def test_a_run_ends_with_a_short_account() -> None:
    app = open_page(RUN, load())
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "Recomputed from the published file" in words(app)
    assert app.session_state["state/result"].class_sizes.min() >= 2


def test_the_threshold_reaches_the_attacks() -> None:
    app = open_page(RUN, load())
    usual = next(s for s in app.selectbox if s.key == "threshold-usual")
    usual.set_value("1 in 11 (k = 11)").run()
    button(app, "run").click().run()
    wait_for(app, "run")
    thresholds = {a.attack: a.threshold for a in app.session_state["state/result"].attacks}
    assert thresholds["prosecutor"] == pytest.approx(1 / 11)


def test_a_population_size_brings_the_journalist() -> None:
    app = open_page(RUN, load(population={"size": 1000}))
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "journalist" in {a.attack for a in app.session_state["state/result"].attacks}


def test_what_cannot_be_reached_is_refused_and_the_last_result_stays() -> None:
    held = load()
    last = carried_out(held)
    app = open_page(RUN, held)
    next(n for n in app.number_input if "k" in n.label).set_value(9).run()
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    said = words(app).replace("\\", "")
    assert "needs at least 9 rows; the table has 8" in said
    assert "Best value reached" not in said  # the message says it
    assert not [w for w in app.warning if "at least 9 rows" in w.value]  # the error says it
    assert "Your last result is still available" in said
    assert app.session_state["state/result"] is last
    assert not app.dataframe


def test_a_stopped_run_keeps_the_last_result() -> None:
    held = load("hospital")
    last = carried_out(held)
    app = open_page(RUN, held)
    next(n for n in app.number_input if "k" in n.label).set_value(7).run()
    button(app, "run").click().run()
    job = app.session_state["jobs"].get("run")
    assert job is not None
    job.cancel.set()
    app.run()
    assert not app.exception
    assert "cancelled" in words(app)
    assert app.session_state["state/result"] is last


def test_contradicting_choices_are_named_before_a_run() -> None:
    held = load(models=[{"name": "l-diversity", "l": 3, "column": "Zip"}])
    app = open_page(RUN, held)
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "is not marked as sensitive" in words(app).replace("\\", "")


def with_people(content: str) -> dict[str, Any]:
    """Return a session in which a population table is loaded and chosen."""
    held = load()
    with patch.object(st, "session_state", held):
        people = population_tables.add("people.csv", content.encode())
        state.update_draft(population={"file": people.path})
    return held


def found_people(path: str) -> population_tables.Population:
    found = population_tables.find(path)
    assert found is not None
    return found


PEOPLE = "Zip,Age\n" + "5370,25\n5370,27\n5371,27\n5372,25\n5373,25\n" * 2


def test_what_a_population_table_has_is_told_before_the_run() -> None:
    app = open_page(RUN, with_people(PEOPLE))
    assert "It has all quasi-identifiers." in words(app).replace("\\", "")
    app = open_page(RUN, with_people("Zip\n" + "5370\n" * 10))
    assert "It has 'Zip' but not 'Age': attacks use the columns it has." in words(app).replace(
        "\\", ""
    )


def test_a_population_is_read_as_the_table_is() -> None:
    held = with_people(PEOPLE + "5370,-9\n")
    with patch.object(st, "session_state", held):
        path = state.draft()["population"]["file"]
        assert found_people(path).table.column("Age").missing == 0
        expected = {**state.draft()["data"], "missing_values": ["", "-9"]}
        state.update_draft(data=expected)
        assert found_people(path).table.column("Age").missing == 1
        assert found_people(path) is found_people(path)


@pytest.mark.parametrize(
    ("content", "says", "remedy"),
    [
        pytest.param(
            PEOPLE.replace("Zip", "ZIP"),
            "The population table has no column 'Zip'",
            "Did you mean 'ZIP'?",
            id="column",
        ),
        pytest.param(
            "Zip,Age\n5370,25\n", "The population has 1 person", "its whole table", id="small"
        ),
        pytest.param(
            PEOPLE + "5370,old\n",
            "1 distinct value of 'Age' is not a number (first in row 11)",
            "mark them as missing",
            id="kind",
        ),
    ],
)
def test_a_population_that_does_not_fit_is_refused_with_a_remedy(
    content: str, says: str, remedy: str
) -> None:
    app = open_page(RUN, with_people(content))
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    said = words(app).replace("\\", "")
    assert says in said
    assert remedy in said


def test_rows_that_are_in_no_population_are_told_beside_the_threshold() -> None:
    held = with_people(PEOPLE.replace("5373", "5379"))
    app = open_page(RUN, held)
    button(app, "run").click().run()
    wait_for(app, "run")
    results = open_page(
        RESULTS, held | {"state/result": app.session_state["state/result"]}, tab=VERDICTS
    )
    assert not results.exception
    assert "no person of their own in the population table" in words(results).replace("\\", "")


def test_an_upload_that_is_no_population_is_refused_at_once() -> None:
    app = open_page(RUN, load())
    next(r for r in app.radio if r.key == "population-kind").set_value("A table of it").run()
    app.file_uploader(key="population-file").upload("people.csv", b"Zip,Age\n", "text/csv").run()
    assert not app.exception
    said = words(app).replace("\\", "")
    assert "people.csv" in said
    assert "no rows" in said
    assert "at least one row below the header" in said


def test_what_is_set_of_a_metric_is_measured() -> None:
    app = open_page(RUN, load("toth-private", models=[{"name": "k-anonymity", "k": 2}]))
    assert app.session_state["state/work"]["draft"]["metrics"] == []
    asked = "run_form/metric/query-error/queries"
    next(n for n in app.number_input if n.key == asked).set_value(17).run()
    (given,) = app.session_state["state/work"]["draft"]["metrics"]
    assert (given["name"], given["queries"]) == ("query-error", 17)
    # A question of one's own: values of a column, and limits of another.
    own = "run_form/metric/query-error/own"
    app.multiselect(key=f"{own}/0").set_value(["Age", "Salary"]).run()
    assert "own" not in app.session_state["state/work"]["draft"]["metrics"][0]
    salary = app.multiselect(key=f"{own}/0/Salary")
    salary.set_value(salary.options[:1])
    app.text_input(key=f"{own}/0/Age/low").set_value("26").run()
    (given,) = app.session_state["state/work"]["draft"]["metrics"]
    question = {"Age": {"low": 26}, "Salary": salary.options[:1]}
    assert given["own"] == [question]
    assert app.multiselect(key=f"{own}/1").value == []
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    result = app.session_state["state/result"]
    made = {m.name: m.as_mapping() for m in result.plan.metrics}["query-error"]
    assert (made["queries"], made["own"]) == (17, [question])
    (answers,) = result.measures["query-error"].details
    assert len(answers.rows) == 1


def test_class_sizes_are_counted_in_what_is_promised_until_it_is_set() -> None:
    app = open_page(RUN, load("toth-private", models=[{"name": "k-anonymity", "k": 3}]))
    size = next(n for n in app.number_input if n.key == "run_form/metric/average-class-size/k")
    assert size.value == 3
    assert app.session_state["state/work"]["draft"]["metrics"] == []
    size.set_value(4).run()
    assert app.session_state["state/work"]["draft"]["metrics"] == [
        {"name": "average-class-size", "k": 4}
    ]


# ---- the secret ------------------------------------------------------------------------------


def test_an_old_seed_is_refused_where_chance_is_used_and_one_click_draws_a_secret() -> None:
    held = load(
        "hospital",
        algorithm={"name": "anatomy"},
        models=[{"name": "frequency-l-diversity", "l": 3}],
        seed=7,
    )
    app = open_page(RUN, held)
    assert not app.exception
    assert "enough to be guessed" in words(app)
    assert button(app, "run").disabled
    button(app, "draw-secret").click().run()
    assert not app.exception
    assert "enough to be guessed" not in words(app)
    assert not button(app, "run").disabled
    assert "draw-secret" not in [b.key for b in app.button]
    assert len(app.session_state["state/work"]["draft"]["seed"]) == 64


def test_an_old_seed_is_no_matter_where_nothing_is_drawn() -> None:
    app = open_page(RUN, load(seed=7))
    assert not app.exception
    assert not button(app, "run").disabled
    assert "Seed from an old recipe" in words(app)


def test_a_secret_is_drawn_anew_and_never_shown() -> None:
    app = open_page(RUN, load())
    first = app.session_state["state/work"]["draft"]["seed"]
    button(app, "draw-seed").click().run()
    assert not app.exception
    second = app.session_state["state/work"]["draft"]["seed"]
    assert first != second
    assert first not in words(app)
    assert second not in words(app)
    choose(app, "mondrian")
    assert app.session_state["state/work"]["draft"]["seed"] == second


def test_one_widget_can_be_changed_again_and_again() -> None:
    app = open_page(RUN, load())
    for k in (7, 9, 4):
        asked = "run_form/model/0/k-anonymity/k"
        next(n for n in app.number_input if n.key == asked).set_value(k).run()
        assert app.session_state["state/work"]["draft"]["models"][0]["k"] == k


def test_only_a_search_that_compares_releases_says_by_what_the_best_wins() -> None:
    said = words(open_page(RUN, load("hospital", algorithm={"name": "optimal", "metric": "ncp"})))
    assert "The best by NCP / GCP wins" in said
    for name in ("mondrian", "k-member", "local-recoding"):
        assert "wins." not in words(open_page(RUN, load("hospital", algorithm={"name": name})))


def test_invariant_every_technique_as_usual_is_told_in_words() -> None:
    roles = sample("hospital").roles
    count = 0
    for kind in cast(dict[str, type[Algorithm]], family("algorithm")).values():
        model = find("model", "bucket-size" if kind.shape.permutes else "k-anonymity")
        try:
            plan = Plan(
                roles=roles,
                algorithm=kind.from_mapping({}),
                models=(cast(GroupModel, model.from_mapping({})),),
            )
        except BadPlan:  # it has settings that nobody else can choose
            continue
        assert "".join(intentions(plan, table("hospital"))[0])
        count += 1
    assert count > 20


def test_a_shared_parameter_keeps_its_value_when_the_technique_changes() -> None:
    app = open_page(RUN, load("toth-private"))

    def budget(name: str):
        key = f"run_form/algorithm/{name}/max_suppression"
        return next(field for field in app.number_input if field.key == key)

    budget("optimal").set_value(0.25).run()
    choose(app, "mondrian")  # has no budget
    choose(app, "datafly")
    assert budget("datafly").value == 0.25
    budget("datafly").set_value(0.02).run()  # its own default, chosen by hand
    choose(app, "optimal")
    assert budget("optimal").value == 0.02
    assert app.session_state["state/work"]["draft"]["algorithm"]["max_suppression"] == 0.02


def test_what_nobody_set_is_the_techniques_own_default() -> None:
    app = choose(open_page(RUN, load("toth-private")), "datafly")
    key = "run_form/algorithm/datafly/max_suppression"
    assert next(field for field in app.number_input if field.key == key).value == 0.02


def test_a_release_that_says_nothing_is_not_called_one_without_a_word() -> None:
    held = load(models=[{"name": "k-anonymity", "k": 8}])
    result = carried_out(held)
    assert result.measures["loss"].share == 1
    loaded = words(open_page(RUN, held)).replace("\\", "")
    nothing = "Every quasi-identifier is generalized to the top of its hierarchy or suppressed"
    assert nothing in loaded
    assert "1 class of 8 rows." in loaded
    assert nothing in words(open_page(RESULTS, held, tab=VERDICTS)).replace("\\", "")
    assert [i.mark for i in checklist.published(result) if i.about == "nothing"] == ["note"]
    held = load(models=[{"name": "k-anonymity", "k": 2}])
    assert not says_nothing(carried_out(held))


def test_large_numbers_of_a_release_have_their_marks_between_thousands() -> None:
    held = load("hospital", models=[{"name": "k-anonymity", "k": 4000}])
    (sentence,) = model_sentences(carried_out(held))
    assert sentence.endswith("k = 4,000 holds (smallest class 5,000).")


def test_a_fold_says_at_once_what_is_changed_in_it() -> None:
    app = open_page(RUN, load("hospital"))
    assert "Attackers · as usual" in [fold.label for fold in app.expander]
    field = next(n for n in app.number_input if n.label == "Columns known at most")
    field.set_value(2).run()
    assert not app.exception
    assert "Attackers · 1 changed: Uniqueness" in [fold.label for fold in app.expander]
    app.select_slider(key="level-bounds/age").set_value((1, 2)).run()
    assert "Levels of columns · 1 changed: age" in [fold.label for fold in app.expander]
