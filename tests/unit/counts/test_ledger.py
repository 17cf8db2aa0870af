"""What releases of one table spend together: PE-60, and a file that only grows."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadInput, BadPlan
from anon_core.counts import counting
from anon_core.counts.ledger import Budget, Entry, Ledger, enter

SPENT = [("0.5", "1e-6"), ("1.0", "1e-6"), ("0.25", "0")]


def test_pe_60_budgets_add_up_and_the_cap_refuses_before_drawing() -> None:
    ledger = Ledger(cap=Budget.of("2", "1e-5"))
    for epsilon, delta in SPENT:
        entry = Entry(table="t", date="2026-01-01", what="x", spent=Budget.of(epsilon, delta))
        ledger = ledger.with_entry(entry)
    assert ledger.spent("t") == Budget(epsilon=Decimal("1.75"), delta=Decimal("0.000002"))
    left = ledger.left("t")
    assert left is not None
    assert left.as_json() == {"epsilon": "0.25", "delta": "8e-6"}
    following = Entry(table="t", date="2026-01-01", what="x", spent=Budget.of("0.5", "0"))
    with pytest.raises(BadPlan, match=r"left for this table: ε = 0\.25"):
        ledger.with_entry(following)
    # Another table has its own; what is left to the last digit may be spent.
    whole = Entry(table="t", date="2026-01-01", what="x", spent=Budget.of("0.25", "8e-6"))
    assert ledger.with_entry(whole).left("t") == Budget.of(0, 0)
    other = Entry(table="u", date="2026-01-01", what="x", spent=Budget.of("0.5", "0"))
    assert ledger.with_entry(other).left("t") == left
    assert Ledger.from_json(json.loads(json.dumps(ledger.as_json()))) == ledger


def test_ten_tenths_are_one() -> None:
    ledger = Ledger(cap=Budget.of("1", "0"))
    for _ in range(10):
        spent = Budget.of(0.1, 0.0)
        ledger = ledger.with_entry(Entry(table="t", date="d", what="x", spent=spent))
    assert ledger.left("t") == Budget.of(0, 0)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2, "cap": null, "entries": []}',
        '{"schema": 1, "cap": {"epsilon": 2, "delta": "0"}, "entries": []}',
        '{"schema": 1, "cap": {"epsilon": "two", "delta": "0"}, "entries": []}',
        '{"schema": 1, "cap": {"epsilon": "-1", "delta": "0"}, "entries": []}',
        '{"schema": 1, "cap": {"epsilon": "nan", "delta": "0"}, "entries": []}',
        '{"schema": 1, "cap": null, "entries": [{"epsilon": "1"}]}',
    ],
)
def test_what_is_no_ledger_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    place = tmp_path / "ledger.json"
    place.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput):
        enter(place, "t", "x", Budget.of("0.1", "0"))
    assert place.read_text(encoding="utf-8") == content


def test_a_ledger_is_private_no_link_and_keeps_its_cap(tmp_path: Path) -> None:
    place = tmp_path / "ledger.json"
    cap = Budget.of("1", "0")
    enter(place, "t", "x", Budget.of("0.4", "0"), cap)
    assert place.stat().st_mode & 0o077 == 0
    assert enter(place, "t", "x", Budget.of("0.6", "0"), cap).left("t") == Budget.of(0, 0)
    with pytest.raises(BadInput, match="another cap"):
        enter(place, "u", "x", Budget.of("0.4", "0"), Budget.of("2", "0"))
    link = tmp_path / "link.json"
    link.symlink_to(place)
    with pytest.raises(BadInput, match="is a link"):
        enter(link, "u", "x", Budget.of("0.4", "0"))


def test_the_command_enters_each_draw_and_refuses_before_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[float] = []

    def exact(counts: list[int], epsilon: float) -> list[int]:
        drawn.append(epsilon)
        return list(counts)

    monkeypatch.setattr(counting, "with_noise", exact)
    monkeypatch.setattr(counting, "refuse_without_library", lambda: None)
    rows = ["F", "M", "F", "F"]
    recipe, ledger = tmp_path / "recipe.toml", tmp_path / "ledger.json"
    recipe.write_text(
        'version = 3\n[roles]\nquasi = ["sex"]\n[hierarchies]\nsex = "sex.csv"\n'
        '[algorithm]\nname = "optimal"\n[[models]]\nname = "k-anonymity"\n',
        encoding="utf-8",
    )
    (tmp_path / "sex.csv").write_text("F,*\nM,*\n", encoding="utf-8")

    def ran(number: int, order: list[str], *more: str, epsilon: str = "0.5") -> tuple[int, Any]:
        data = tmp_path / f"{number}.csv"
        data.write_text("sex\n" + "".join(f"{row}\n" for row in order), encoding="utf-8")
        out = tmp_path / f"out-{number}"
        status = main(
            [
                *("counts", str(recipe), "--data", str(data), "--by", "sex", "--json"),
                *("--epsilon", epsilon, "--out", str(out), *more),
            ]
        )
        printed = capsys.readouterr()
        return status, json.loads(printed.out) if status == 0 else printed.err

    kept = ["--ledger", str(ledger)]
    status, answer = ran(1, rows, *kept, "--cap", "1.25,1e-6")
    assert (status, answer["ledger"]["left"]) == (0, {"epsilon": "0.75", "delta": "1e-6"})
    # The same rows in another order are the same table; a draw that is refused spends nothing.
    status, answer = ran(2, rows[::-1], *kept)
    assert (status, answer["ledger"]["spent"]["epsilon"]) == (0, "1")
    status, answer = ran(3, rows, *kept)
    assert status == 1
    assert "ε = 0.25" in answer
    assert drawn == [0.5, 0.5]
    assert not (tmp_path / "out-3").exists()
    assert ran(4, rows, *kept, epsilon="-1")[0] == 1
    assert len(json.loads(ledger.read_text(encoding="utf-8"))["entries"]) == 2
    assert ran(5, [*rows, "M"], *kept)[0] == 0  # other rows
    assert "--ledger" in ran(6, rows, "--cap", "1")[1]
