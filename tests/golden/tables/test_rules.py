"""Which cells are sensitive and by how much: examples of the handbook and of other programs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from anon_core.base.errors import BadPlan
from anon_core.tables.sensitivity import (
    Contributions,
    Dominance,
    PPercent,
    Rule,
    Threshold,
    ZeroCells,
    concentrated,
)

F = Fraction


def upper(rule: Rule, *amounts: int) -> Fraction | None:
    return rule.excess(Contributions.of(amounts))


def test_one_largest_is_blind_to_the_second() -> None:  # TB-10
    amounts = [50_000, 49_000, *[1] * 1000]
    assert upper(PPercent(p=10), *amounts) == 4000
    assert upper(Dominance(m=1, k=90), *amounts) == F(-400_000, 9)


def test_two_largest_protect_too_much() -> None:  # TB-11
    amounts = [52_000, 50_000, *[1] * 8000]
    assert upper(PPercent(p=10), *amounts) == -2800
    assert upper(Dominance(m=2, k=F(1000, 11)), *amounts) == 2200


def test_upper_level_of_dominance() -> None:  # TB-12
    assert upper(Dominance(m=1, k=85), 300, 20, 10) == F(390, 17)
    assert 330 + F(390, 17) == F(6000, 17)


def test_ties_are_safe() -> None:  # TB-13
    cell = Contributions.of([100, 90, 10])
    for rule in (PPercent(p=10), Dominance(m=2, k=95), Dominance(m=1, k=50)):
        assert rule.excess(cell) == 0
        assert not rule.sensitive(cell)
    assert PPercent(p=F(101, 10)).sensitive(cell)
    assert Dominance(m=2, k=F(949, 10)).sensitive(cell)


def test_one_two_and_no_respondents() -> None:  # TB-14
    p, two = PPercent(p=10), Dominance(m=2, k=85)
    assert (upper(p, 7), upper(two, 7)) == (F(7, 10), F(21, 17))
    assert (upper(p, 7, 7), upper(two, 7, 7)) == (F(7, 10), F(42, 17))
    for amounts in ((), (0, 0, 0), (0,)):
        assert (upper(p, *amounts), upper(two, *amounts)) == (0, 0)
    zeros = ZeroCells()
    found = [zeros.sensitive(Contributions.of(a)) for a in ([0, 0, 0], [0], [], [0, 1])]
    assert found == [True, True, False, False]


def test_a_level_below_one_unit_counts_as_one() -> None:
    level = PPercent(p=10).level(Contributions.of([7]))
    assert (level.lower, level.upper) == (1, 1)


def test_prior_and_posterior() -> None:  # TB-15
    assert upper(PPercent(p=75), 80, 30, 10, 20) == 30
    assert upper(PPercent(p=60, q=80), 80, 30, 10, 20) == 30


@pytest.mark.parametrize(("k", "p"), [(F(80), F(25)), (F(95), F(100, 19))])
def test_k_and_p_that_correspond(k: Fraction, p: Fraction) -> None:  # TB-16
    assert 100 * 100 / (100 + p) == k
    # At the tie of one rule the other ties as well, where only two respondents are there.
    rest = Contributions.of([1000 * 100, 0, int(p * 19) * 1000], weights=None)
    assert PPercent(p=p).sensitive(rest) == Dominance(m=2, k=k).sensitive(rest)


def test_weights_move_the_total_or_repeat_the_amount() -> None:  # TB-17
    cells = [[100], [90, 10], [80, 20], [70, 30], [80, 10, 10], [70, 10, 10, 10], [60, 20, 10, 10]]
    weights = [[1], [2, 1], [2, 1], [2, 1], [2, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]
    rules = (Dominance(m=1, k=70), Dominance(m=2, k=90))
    sample, expanded, totals = [], [], []
    for amounts, weight in zip(cells, weights, strict=True):
        plain = Contributions.of(amounts, weights=weight)
        totals.append(plain.total)
        sample.append(any(rule.sensitive(plain) for rule in rules))
        repeated = Contributions.of(amounts, weights=weight, expanded=True)
        expanded.append(rules[1].sensitive(repeated))
    assert totals == [100, 190, 180, 170, 180, 170, 160]
    assert sample == [True, *[False] * 6]
    assert expanded == [True, True, *[False] * 5]


def test_expanded_weights() -> None:  # TB-18, TB-19
    cell = Contributions.of([100, 10], weights=[4, 7], expanded=True)
    assert (cell.total, cell.amounts[:2]) == (470, (100, 100))
    assert PPercent(p=10).excess(cell) == -260
    other = Contributions.of([100, 1], weights=[2, 3], expanded=True)
    assert PPercent(p=3).excess(other) == 0
    assert PPercent(p=F(7, 2)).excess(other) == F(1, 2)
    assert PPercent(p=F(7, 2)).excess(Contributions.of([100, 1], weights=[2, 3])) == F(-197, 2)


def test_rows_of_one_respondent_are_summed_first() -> None:  # TB-21, TB-22
    rows = [("u1", 30), ("u1", 30), ("u2", 25), ("u3", 12)]
    assert PPercent(p=25).excess(Contributions.summed(rows)) == 3
    assert upper(PPercent(p=25), *(x for _, x in rows)) == F(-59, 2)
    signed = Contributions.summed([("u1", 50), ("u1", -48), ("u2", 3), ("u3", -1)])
    assert (signed.total, PPercent(p=40).excess(signed)) == (6, F(1, 5))


def test_a_waiver_moves_the_target() -> None:  # TB-23
    amounts = [60, 30, 8, 2]
    assert upper(PPercent(p=20), *amounts) == 2
    agreed = Contributions.of(amounts, waived=[0])
    assert PPercent(p=20).excess(agreed) == -4


def test_a_coalition_knows_more() -> None:  # TB-24
    amounts = [60, 20, 15, 5, 5]
    assert upper(PPercent(p=20), *amounts) == -13
    assert upper(PPercent(p=20, coalition=2), *amounts) == 2


def test_rules_on_a_hundred_records() -> None:  # TB-25
    counts = [100, 55, 45, 20, 18, 2, 33, 14, 19, 22, 12, 10, 25, 11, 14]
    tops = [
        (280, 19, 1284), (280, 18, 802), (19, 18, 482), (18, 15, 198), (18, 15, 178), (11, 9, 20),
        (18, 16, 344), (15, 14, 140), (18, 16, 204), (19, 18, 224), (18, 12, 118), (19, 12, 106),
        (280, 18, 518), (280, 11, 366), (18, 16, 152),
    ]  # fmt: skip
    cells = [
        Contributions(amounts=(a, b, *(0,) * (n - 2)), total=x, respondents=n)
        for n, (a, b, x) in zip(counts, tops, strict=True)
    ]

    def found(rule: Rule) -> list[int]:
        return [at for at, cell in enumerate(cells) if rule.sensitive(cell)]

    assert found(Threshold(n=3)) == [5]
    assert found(Dominance(m=2, k=75)) == [5, 13]
    assert found(PPercent(p=70)) == [5, 13]
    assert found(PPercent(p=60, q=80)) == [5, 13]


def test_reasons_in_words() -> None:
    cell = Contributions.of([50, 44, 6])
    assert Dominance(m=2, k=90).reason(cell, "firms") == "2 of 3 firms make 94 %, more than 90 %"
    assert Threshold(n=5).reason(cell, "firms") == "3 firms, fewer than 5"
    assert Threshold(n=5).reason(Contributions.of([1]), "firms") == "1 firm, fewer than 5"
    assert PPercent(p=20).reason(cell, "firms") == (
        "the next one of 3 firms can tell the largest within 12 %, closer than 20 %"
    )


def test_all_of_a_row_in_one_part() -> None:  # TB-94
    rows = {"married": [6, 0], "divorced": [5, 1], "single": [2, 2]}
    found = {
        name: concentrated([Contributions.of([1] * n) for n in cells])
        for name, cells in rows.items()
    }
    assert found == {"married": (0,), "divorced": (0,), "single": ()}
    three = Threshold(n=3)
    small = [
        f"{name}|{at}"
        for name, cells in rows.items()
        for at, n in enumerate(cells)
        if three.sensitive(Contributions.of([1] * n))
    ]
    assert small == ["divorced|1", "single|0", "single|1"]


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: PPercent(p=0), "p = 0"),
        (lambda: Dominance(m=1, k=100), "k = 100"),
        (lambda: Dominance(m=0, k=50), "m = 0"),
        (lambda: Threshold(n=0), "n = 0"),
        (lambda: PPercent(p=10, q=5), "q = 5"),
    ],
)
def test_refused_rules(make: object, place: str) -> None:  # TB-91
    with pytest.raises(BadPlan, match=f"{place}; allowed are"):
        make()  # type: ignore[operator]
