"""The search's own account in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from anon_core.base.registry import find
from anon_core.pipeline.result import Result
from anon_core.release.outcome import SearchAccount
from ui.panels.results.drawers.search_panel import sentences


def account_words(account: SearchAccount, *, numbered: bool = False) -> str:
    made: Any = SimpleNamespace(
        account=account,
        plan=SimpleNamespace(algorithm=find("algorithm", "optimal")()),
        seconds={"search": 0.5},
        level_search=None,
        release=SimpleNamespace(grouping=SimpleNamespace(published=numbered)),
    )
    return " ".join(sentences(cast(Result, made)))


def test_only_what_a_search_did_is_told() -> None:
    walk = account_words(SearchAccount(proven=False, nodes=240, checked=30))
    assert "Of 240 choices of levels, 30 were looked at, and 210 were not needed." in walk
    whole = account_words(SearchAccount(proven=True, nodes=240, checked=55, inferred=185))
    assert "55 were looked at, and 185 followed from those." in whole
    assert "bound" not in whole
    box = account_words(SearchAccount(proven=True, nodes=9, checked=1, inferred=7, bounded=1))
    assert "1 was looked at, 7 followed from those, and 1 was left out by a bound." in box
    parts = account_words(
        SearchAccount(proven=True, nodes=240, checked=119, inferred=223, bounded=287)
    )
    assert "Of 240 choices of levels, and those of fewer columns before them, 119 were" in parts


def test_parts_are_counted() -> None:
    parts = {"parts": 762.0, "smallest": 5.0, "largest": 12.0, "mean": 6.56}
    said = account_words(SearchAccount(proven=False, partition=parts))
    assert "762 parts were formed, of 5 to 12 rows, 6.6 on average." in said
    one = {"parts": 1.0, "smallest": 8.0, "largest": 8.0, "mean": 8.0}
    assert "One group was formed, of 8 rows." in account_words(
        SearchAccount(proven=False, partition=one), numbered=True
    )


def test_the_cost_has_a_name() -> None:
    open_end = account_words(SearchAccount(proven=False, cost=105412.0, bound=25000.0, checked=12))
    assert "Twelve candidates were looked at." in open_end
    assert "Not proven: it costs 105,412 (loss), and none of its kind costs less" in open_end
    assert "less than 25,000: a gap of 76.3%." in open_end
