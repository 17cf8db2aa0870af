"""Orders that categories are known to have, and the groups of neighbours proposed by them."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from anon_core.data.column import encode
from anon_core.data.hierarchy.propose.categories import known_order
from anon_core.data.hierarchy.propose.proposals import propose

ORDERED = [
    ["<18", "18-29", "30-44", "45+"],
    ["under 5 km", "5-10 km", "10-20 km", "over 20 km"],
    ["$0-$9,999", "$10,000-$19,999", "$20,000 or more"],
    ["1.000-1.999 €", "2.000-2.999 €", "≥ 3.000 €"],
    ["0", "1-2", "3-5", "6+"],
    ["less than 1 year", "1-3 years", "more than 3 years"],
    ["age 18-24", "age 25-34", "age 35+"],
    ["bis 20", "21-40", "41 und älter"],
    ["[0,10)", "[10,20)", "[20,30)"],
    ["1-2", "3-5", "10-12"],
    ["10k-20k", "20k-50k", "50k+"],
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    ["Montag", "Dienstag", "Mittwoch"],
    ["Jan", "Feb", "Mar", "Nov"],
    ["Januar", "März", "Dezember"],
    ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    ["Trifft nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft zu"],
    ["nie", "selten", "manchmal", "oft", "immer"],
    ["Poor", "Fair", "Good", "Very_good"],
    ["low", "medium", "high"],
    ["XS", "S", "M", "L", "XL"],
    ["A", "B", "C", "D", "F"],
    ["I", "II", "III", "IV", "IX", "X"],
    ["Stage I", "Stage II", "Stage IIIa", "Stage IIIb", "Stage IV"],
]
UNORDERED = [
    ["red", "green", "blue"],
    ["M", "F", "X"],
    ["A", "B", "AB", "0"],
    ["Q", "R", "S"],
    ["low", "medium", "blue"],
    ["12-34", "15-99", "17-20"],
    ["1-5 km", "1-5 h", "6 h"],
    ["555-1234", "556-0001", "557-0042"],
    ["0-9", "10-19", "unknown"],
    ["high", "low"],
]


@pytest.mark.parametrize("values", ORDERED, ids=lambda values: values[0])
def test_an_order_is_known_however_the_values_come(values: list[str]) -> None:
    mixed = random.Random(5).sample(values, len(values))
    assert known_order(mixed) == values


@pytest.mark.parametrize("values", UNORDERED, ids=lambda values: values[0])
def test_other_categories_have_none(values: list[str]) -> None:
    assert known_order(values) is None


def test_groups_are_neighbours() -> None:
    bands = ["65+", "18-24", "55-64", "25-34", "45-54", "35-44"]
    first = propose(encode("age", np.repeat(np.arange(6, dtype=np.int32), 5), sorted(bands)))[0]
    assert first.builder == "order"
    order = [row[0] for row in first.rows]
    assert order == ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
    for level in range(1, first.height):
        seen = [row[level] for row in first.rows]
        changes = sum(one != other for one, other in pairwise(seen))
        assert changes == len(set(seen)) - 1


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (["2010-01", "2010-02", "2010-05", "2021-01"], ("2010-01", "2010-Q1", "2010", "*")),
        (["Q1 2019", "Q2 2019", "Q3 2021"], ("Q1 2019", "2019", "*")),
    ],
)
def test_texts_that_name_months_or_quarters(values: list[str], row: tuple[str, ...]) -> None:
    found = propose(encode("when", np.arange(len(values), dtype=np.int32), values))[0]
    assert (found.builder, found.rows[0]) == ("calendar", row)


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (["SW1A 1AA", "SW7 5BD", "M1 1AE", "sw1a2ab"], ("SW1A 1AA", "SW1A", "SW", "*")),
        (["K1A 0B1", "K1B 2C3", "M5V 3L9", "K1A 2A2"], ("K1A 0B1", "K1A", "K", "*")),
        (["1011 AB", "1012 AB", "3511 CD", "1011 XY"], ("1011 AB", "1011", "10", "*")),
        (["10115-1234", "10117-1234", "20095-1", "10115-9"], None),
    ],
)
def test_postcodes_are_grouped_by_their_areas(
    values: list[str], row: tuple[str, ...] | None
) -> None:
    distinct = sorted(set(values))
    column = encode("postcode", np.arange(len(distinct), dtype=np.int32), distinct)
    found = {one.builder: one for one in propose(column)}
    if row is None:
        assert "postcode" not in found
    else:
        assert row in found["postcode"].rows
