"""Run with a technique whose protection is chance: what is offered, and what is shown."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from anon_core.base.registry import family
from anon_core.techniques.models.differential_privacy import DifferentialPrivacy
from tests.ui.sessions import RUN, load, open_page, words
from ui.forms.model_picker import QUESTIONS

BUDGET = {"name": "differential-privacy", "epsilon": 1.0, "delta": 0.05}


def opened(algorithm: str, *models: dict[str, Any]) -> AppTest:
    return open_page(RUN, load(algorithm={"name": algorithm}, models=list(models)))


def offered(app: AppTest) -> list[str]:
    found: list[str] = []
    for stops in QUESTIONS:
        next(c for c in app.button_group if c.key == "model_picker/stops").set_value(stops).run()
        keys = [str(b.key) for b in app.button if not b.disabled]
        found += [k.removeprefix("add-") for k in keys if k.startswith("add-")]
    return [family("model")[name].title for name in dict.fromkeys(found)]


def runs(app: AppTest) -> bool:
    return not next(b for b in app.button if b.label.startswith("Run")).disabled


def test_a_mechanism_is_offered_its_own_promise_first_and_says_what_it_lacks() -> None:
    app = opened("safepub", {"name": "k-anonymity", "k": 2})
    assert offered(app) == ["Differential privacy", "k-anonymity"]  # this one of other columns
    assert "needs the budget of differential privacy" in words(app)
    assert not runs(app)
    app = opened("safepub", {"name": "k-anonymity", "k": 2}, BUDGET)
    assert "needs the budget of differential privacy" not in words(app)
    assert runs(app)


def test_other_techniques_are_not_offered_it_and_say_why_they_cannot_give_it() -> None:
    app = opened("optimal", {"name": "l-diversity", "l": 2})
    assert "k-anonymity" in offered(app)
    assert "Differential privacy" not in offered(app)
    app = opened("optimal", BUDGET)
    assert "is a property of the way a release is made" in words(app)
    assert "SafePub" in words(app).split("make up for that")[1]
    assert not runs(app)


def test_what_it_will_do_is_no_statement_about_classes() -> None:
    said = DifferentialPrivacy(epsilon=1.0, delta=0.05).in_words(3)
    assert "at most the factor 2.72 (e^ε), but for a chance of 0.05" in said
    assert "not to be compared with a k" in said
    app = opened("safepub", BUDGET)
    assert said in words(app).replace("\\", "")
