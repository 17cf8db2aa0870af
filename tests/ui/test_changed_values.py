"""Releases whose values are averaged, bounded or sampled, on the pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.sessions import (
    ATTACKS,
    COMPARE,
    EXPORT,
    RESULTS,
    RUN,
    VERDICTS,
    carried_out,
    choose,
    load,
    open_page,
    wait_for,
    words,
)

TECHNIQUES: list[dict[str, Any]] = [
    {"name": "microaggregation"},
    {"name": "microaggregation", "statistic": "median", "decimals": 0},
    {"name": "top-bottom-coding", "bottom": 0.3, "top": 0.3},
    {"name": "rtree"},
    {"name": "k-optimize", "metric": "classification", "seconds": 0.5},
    {"name": "genetic", "metric": "classification", "generations": 5},
]


def _named(technique: dict[str, Any]) -> str:
    return "-".join(map(str, technique.values()))


#: Averages and coded tails change values the most; the others are looked at in the long run.
_EVERY_TIME = TECHNIQUES[:1] + TECHNIQUES[2:4]
_CASES = [
    pytest.param(
        one,
        share,
        marks=[pytest.mark.long] if share == 1.0 or one not in _EVERY_TIME else [],
        id=f"{share}-{_named(one)}",
    )
    for share in (1.0, 0.6)
    for one in TECHNIQUES
]


@pytest.mark.parametrize(("technique", "share"), _CASES)
def test_results_compare_and_export(technique: dict[str, Any], share: float) -> None:
    data = {"missing": "keep", "sample": share}
    held = load(
        "hospital", algorithm=technique, data=data, models=[{"name": "k-anonymity", "k": 3}]
    )
    result = carried_out(held, pinned=2)
    app = open_page(RESULTS, held, tab=VERDICTS)
    assert not app.exception
    text = words(app).replace("\\", "")
    assert "Recomputed from the published file: k = 3 holds" in text
    assert ("were not drawn into the sample" in text) == (share < 1)
    if technique["name"] == "microaggregation":
        assert result.release.replaced
        if share < 1:
            app = open_page(RESULTS, held | {"attack-view": "One by one"}, tab=ATTACKS)
            text = words(app).replace("\\", "")
            assert "an average matches no person of a population for sure" in text
    for page in (COMPARE, EXPORT):
        assert not open_page(page, held).exception


def test_the_form_offers_them_and_the_run_keeps_what_was_chosen() -> None:
    app = choose(open_page(RUN, load("hospital")), "microaggregation")
    assert not app.exception
    chosen = next(s for s in app.selectbox if s.label == "Numbers become the")
    chosen.set_value("median").run()
    draft = app.session_state["state/work"]["draft"]["algorithm"]
    assert (draft["name"], draft["statistic"]) == ("microaggregation", "median")
    assert next(b for b in app.button if b.label.startswith("Run")).click().run()
    wait_for(app, "run")
    assert not app.exception
