"""Cuts, dates, codes, categories, the library, and what is proposed for real columns."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import Hierarchy, from_rows, intervals
from anon_core.data.hierarchy.edit import cutting
from anon_core.data.hierarchy.edit.placing import UNPLACED
from anon_core.data.hierarchy.intervals import Cuts
from anon_core.data.hierarchy.model import tidied
from anon_core.data.hierarchy.propose import categories, codes, library, starts
from anon_core.data.hierarchy.propose import dates_and_times as dates
from anon_core.data.hierarchy.propose.proposals import propose, propose_all
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.release.vocabulary import of_boxes
from tests.often import EVERY, often

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def column(cells: Sequence[str | None], kind: ColumnKind | None = None, name: str = "x") -> Column:
    pool = list(dict.fromkeys(c for c in cells if c is not None))
    place = {text: i for i, text in enumerate(pool)}
    codes = [-1 if c is None else place[c] for c in cells]
    return encode(name, np.array(codes, dtype=np.int32), pool, kind=kind)


def sizes(h: Hierarchy) -> list[int]:
    return [len(starts) for starts in h.starts]


def sound(of: Column, rows: Sequence[Sequence[str]]) -> Hierarchy:
    """Check what every builder promises: levels nest, coarsen, and no text has two meanings."""
    h = from_rows(of, rows)
    assert set(h.leaves) - {""} == set(of.values)
    own = sizes(h)
    assert all(after < before for before, after in pairwise(own))
    if h.height > 1:
        assert own[-2] > 1 + h.has_missing
    cover: dict[str, tuple[int, int]] = {}
    for level in range(h.height + 1):
        lo, hi = h.bounds(level)
        for text, a, b in zip(h.labels[level], lo.tolist(), hi.tolist(), strict=True):
            assert cover.setdefault(text, (a, b)) == (a, b)
    last = np.arange(len(h.leaves), dtype=np.int32)
    of_boxes(h, of.kind, np.zeros_like(last), last, as_nodes=True)  # no text is ambiguous
    return h


# Cuts

ages = column([str(age) for age in range(17, 91)] * 2, name="age")


def test_the_decades_of_aalborg() -> None:
    """A-02 with the correction E-28: decades that do not overlap."""
    own = column(["24", "30", "35", "50", "57", "62"])
    cuts = Cuts(levels=(tuple(float(p) for p in range(20, 80, 10)),))
    assert [row[1] for row in intervals.cut(own, cuts)] == [
        "20-29",
        "30-39",
        "30-39",
        "50-59",
        "50-59",
        "60-69",
    ]


def test_top_and_bottom_coding() -> None:
    cuts = Cuts(levels=((20, 30, 80), (30, 80)), open_bottom=True, open_top=True)
    h = sound(ages, intervals.cut(ages, cuts))
    assert h.labels[1] == ("<20", "20-29", "30-79", "≥80")
    assert h.labels[2] == ("<30", "30-79", "≥80")
    closed = Cuts(levels=((20, 30, 80),))
    assert from_rows(ages, intervals.cut(ages, closed)).labels[1] == (
        "17-19",
        "20-29",
        "30-79",
        "80-90",
    )


def test_labels_of_fractions_negatives_and_brackets() -> None:
    temperatures = column(["-3", "0", "4"])
    labels = [row[1] for row in intervals.cut(temperatures, Cuts(levels=((0,),)))]
    assert labels == ["[-3, 0)", "[0, 4]", "[0, 4]"]
    weights = column(["20", "22.5", "25", "30"])
    labels = [row[1] for row in intervals.cut(weights, Cuts(levels=((25,),)))]
    assert labels == ["[20, 25)", "[20, 25)", "[25, 30]", "[25, 30]"]
    own = Cuts(levels=((20, 40),), style="bracket", open_top=True)
    assert {row[1] for row in intervals.cut(ages, own)} == {"[17, 20)", "[20, 40)", "≥40"}


def test_cuts_of_dates() -> None:
    days = column(["2024-12-31", "2025-01-01", "2025-03-01"])
    at = float(datetime.date(2025, 1, 1).toordinal())
    rows = intervals.cut(days, Cuts(levels=((at,),), open_top=True))
    assert [row[1] for row in rows] == ["2024-12-31", "≥2025-01-01", "≥2025-01-01"]
    rows = intervals.cut(days, Cuts(levels=((at,),), open_bottom=True))
    assert rows[0][1] == "<2025-01-01"
    assert rows[1][1] == "2025-01-01 to 2025-03-01"


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (((20, 10),), "do not ascend"),
        (((20, 20),), "do not ascend"),
        (((20, 40), (30,)), "inside groups of level 1"),
        (((math.nan,),), "not a number"),
        ((tuple(range(1001)),), "at most 1000"),
    ],
)
def test_cuts_that_are_refused(levels: tuple[tuple[float, ...], ...], words: str) -> None:
    with pytest.raises(BadHierarchy, match=words) as caught:
        Cuts(levels=levels)
    assert caught.value.remedy


def test_cuts_as_plain_values() -> None:
    cuts = Cuts(levels=((20.0, 40.0), (40.0,)), open_top=True, style="bracket")
    assert Cuts.from_mapping(cuts.as_mapping()) == cuts
    for bad in ({}, {"levels": [["x"]]}, {"levels": 3}):
        with pytest.raises(BadHierarchy, match="not lists of numbers"):
            Cuts.from_mapping(bad)
    with pytest.raises(BadHierarchy, match="style"):
        Cuts.from_mapping({"levels": [], "style": "odd"})


def test_a_cut_moves_on_every_level_it_stands_on() -> None:
    cuts = Cuts(levels=((20, 40, 60), (40, 60), (40,)))
    moved = cutting.move_cut(ages, cuts, 40, 44.2)
    assert moved.levels == ((20, 45, 60), (45, 60), (45,))
    assert cutting.move_cut(ages, cuts, 40, 10).levels[0] == (10, 20, 60)
    with pytest.raises(BadHierarchy, match="already"):
        cutting.move_cut(ages, cuts, 40, 60)
    with pytest.raises(BadHierarchy, match="no cut"):
        cutting.move_cut(ages, cuts, 41, 50)
    with pytest.raises(BadHierarchy, match="number"):
        cutting.move_cut(ages, cuts, 40, math.nan)


def test_a_cut_is_added_below_and_removed_above() -> None:
    cuts = Cuts(levels=((20, 40), (40,)))
    assert cutting.add_cut(ages, cuts, 2, 60).levels == ((20, 40, 60), (40, 60))
    assert cutting.add_cut(ages, cuts, 2, 20).levels == ((20, 40), (20, 40))
    assert cutting.remove_cut(cuts, 2, 40).levels == ((20, 40), ())
    assert cutting.remove_cut(cuts, 1, 40).levels == ((20,), ())
    for level, at, words in ((1, 40, "already"), (1, 99, "empty group"), (3, 30, "no level 3")):
        with pytest.raises(BadHierarchy, match=words):
            cutting.add_cut(ages, cuts, level, at)


@st.composite
def measured(draw: st.DrawFn) -> Column:
    whole = draw(st.booleans())
    number = st.integers(-50, 3000) if whole else st.decimals(-50, 3000, places=1)
    cells = draw(st.lists(number, min_size=2, max_size=60))
    own = column([str(cell) for cell in cells], "number")
    assume(len(own.values) > 1)
    return own


@often(150)
@given(measured(), st.integers(1, 5), st.booleans(), st.booleans())
def test_starts_are_sound_and_counts_exact(
    own: Column, levels: int, ends: bool, rounded: bool
) -> None:
    for cuts in (
        starts.equal_width(own, groups=8, levels=levels),
        starts.quantiles(own, levels=levels, rounded=rounded),
        starts.round_numbers(own, top_code=ends),
    ):
        h = sound(own, intervals.cut(own, cuts))
        assert h.height <= len(cuts.levels) + 1
        assert own.measure is not None
        for points, found in zip(cuts.levels, intervals.intervals(own, cuts), strict=True):
            assert sum(one.rows for one in found) == own.counts.sum()
            assert sum(one.values for one in found) == len(own.values)
            assert len(found) <= len(points) + 1
            for one in found:
                inside = (own.measure >= one.low) & (own.measure < one.high)
                assert one.rows == own.counts[inside].sum()


@often(100)
@given(measured(), st.data())
def test_any_sequence_of_edits_keeps_cuts_nested(own: Column, data: st.DataObject) -> None:
    cuts = starts.quantiles(own, levels=3)
    for _ in range(6):
        every = cuts.levels[0]
        step = data.draw(st.sampled_from(["move", "add", "remove"]))
        at = data.draw(st.integers(-60, 3100))
        try:
            if step == "add":
                cuts = cutting.add_cut(own, cuts, data.draw(st.integers(1, len(cuts.levels))), at)
            elif every:
                old = data.draw(st.sampled_from(every))
                level = data.draw(st.integers(1, len(cuts.levels)))
                if step == "move":
                    cuts = cutting.move_cut(own, cuts, old, at)
                else:
                    cuts = cutting.remove_cut(cuts, level, old)
        except BadHierarchy:
            continue
        sound(own, intervals.cut(own, cuts))


@often(150)
@given(measured(), st.integers(1, 4), st.booleans(), st.sampled_from(["range", "bracket"]))
def test_cuts_are_found_again_in_their_table(
    own: Column, levels: int, ends: bool, style: intervals.LabelStyle
) -> None:
    for cuts in (
        starts.equal_width(own, groups=8, levels=levels),
        starts.quantiles(own, levels=levels, rounded=True),
        starts.round_numbers(own, top_code=ends),
    ):
        rows = intervals.cut(own, replace(cuts, style=style, open_bottom=ends, open_top=ends))
        assert intervals.cut(own, cutting.cuts_of(own, rows)) == rows


def test_cuts_of_other_tables() -> None:
    own = column(["1", "2", "3", "9"])
    rows = [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["9", "high", "*"]]
    assert cutting.cuts_of(own, rows).levels == ((3.0,),)
    assert cutting.cuts_of(own, [[v, "*"] for v in own.values]).levels == ()
    rows[1][1], rows[3][1] = "high", "low"
    with pytest.raises(BadHierarchy, match="not intervals"):
        cutting.cuts_of(own, rows)


def test_values_that_no_row_has_are_kept() -> None:
    own = column(["20", "40"])
    rows = intervals.cut(own, Cuts(levels=((30,),)), also=["25", "20.0", "35"])
    assert rows == (
        ("20", "20-29", "*"),
        ("25", "20-29", "*"),
        ("35", "30-40", "*"),
        ("40", "30-40", "*"),
    )


def test_a_frequent_value_stays_a_group_of_its_own() -> None:
    gain = column(["0"] * 90 + [str(5000 + i) for i in range(10)])
    h = from_rows(gain, intervals.cut(gain, starts.quantiles(gain, levels=3)))
    assert [
        len(h.leaves[a : b + 1]) for a, b in zip(*map(list, h.bounds(h.height - 1)), strict=True)
    ] == [1, 10]


def test_texts_cannot_be_cut() -> None:
    with pytest.raises(BadHierarchy, match="neither numbers nor dates"):
        intervals.cut(column(["a", "b"]), Cuts(levels=((1,),)))


def test_a_column_of_one_number() -> None:
    one = column(["7", "7"])
    for cuts in (
        starts.equal_width(one),
        starts.round_numbers(one),
        starts.quantiles(one),
    ):
        assert intervals.cut(one, cuts) == (("7", "*"),)


# Dates and codes


def test_days_become_months_quarters_years_decades() -> None:
    texts = ["1999-12-31", "2000-01-01", "2000-01-02", "2000-02-01", "2000-05-01", "2001-05-01"]
    days = column([*texts, "2012-05-01"])
    assert dates.calendar(days)[1] == (
        "2000-01-01",
        "2000-01",
        "2000-Q1",
        "2000",
        "2000s",
        "*",
    )
    sound(days, dates.calendar(days))


@pytest.mark.parametrize("form", ["{0.day:02}/{0.month:02}/{0.year}", "{0.month}-{0.day}-{0.year}"])
def test_texts_that_can_only_be_dates_get_the_calendar(form: str) -> None:
    first = datetime.date(2019, 1, 1)
    days = [first + datetime.timedelta(days=n) for n in range(1136)]
    texts = [form.format(day) for day in days]
    best, *others = propose(column(texts, kind="text"))
    assert best.builder == "calendar"
    assert not {"mask", "order"} & {one.builder for one in others}
    label = {row[0]: row[1:4] for row in best.rows}
    for text, day in zip(texts, days, strict=True):
        quarter = f"{day.year}-Q{(day.month + 2) // 3}"
        assert label[text] == (f"{day:%Y-%m}", quarter, str(day.year))


def test_dates_that_may_be_either_way_round_are_no_telephone_numbers() -> None:
    texts = [f"{day:02}/{month:02}/2019" for day in range(1, 13) for month in range(1, 13)]
    found = propose(column(texts, kind="text"))
    assert not {"calendar", "mask"} & {one.builder for one in found}


def test_weeks_belong_to_the_year_of_their_thursday() -> None:
    start = datetime.date(2019, 12, 1)
    texts = [(start + datetime.timedelta(days=i)).isoformat() for i in range(800)]
    days = column(texts)
    for value, week, block, year, *_ in dates.weeks(days):
        iso = datetime.date.fromisoformat(value).isocalendar()
        assert week == f"{iso.year}-W{iso.week:02}"
        first, last = int(block[6:8]), int(block[-2:])
        assert first <= iso.week <= last
        # "2020" would say that 2019-12-30 is a day of 2020.
        assert year == f"{iso.year}-W01 to W{53 if iso.year == 2020 else 52}"
        assert block[:4] == str(iso.year)
    sound(days, dates.weeks(days))
    with pytest.raises(BadHierarchy, match="no dates"):
        dates.weeks(column(["a"]))


def test_the_zip_codes_of_samarati() -> None:
    """K-02: one step of generalization hides one digit."""
    zips = column(["20222", "20223", "20238", "20239"], "text")
    assert [row[1] for row in codes.mask(zips)] == ["2022*", "2022*", "2023*", "2023*"]


def test_codes_of_unequal_length_align_at_the_other_side() -> None:
    own = column(["A1", "A12", "A13", "B123"], "text")
    rows = {row[0]: row[1:] for row in codes.mask(own)}
    assert (rows["A1"], rows["A12"]) == (("A1**", "*"),) * 2
    assert rows["B123"] == ("B1**", "*")
    sound(own, codes.mask(own))
    with pytest.raises(BadHierarchy, match="at least one"):
        codes.mask(own, steps=[0])
    with pytest.raises(BadHierarchy, match="descend"):
        codes.prefixes(own, [2, 3])


def test_every_icd_code_has_one_chapter() -> None:
    texts = [
        f"{letter}{tens}{ones}"
        for letter in "ABCDEFGHIJKLMNOPQRSTUVYZ"
        for tens in range(10)
        for ones in range(10)
    ]
    own = column(texts)
    h = sound(own, codes.icd(own))
    assert len(h.labels[-2]) >= 22
    lines = (library.folder() / "icd10-chapters.csv").read_text(encoding="utf-8").split()
    assert len([line for line in lines if ";" in line]) == 22


# Categories


def test_the_rarest_are_joined_first() -> None:
    own = column(["a"] * 50 + ["b"] * 30 + ["c"] * 5 + ["d"] * 4 + ["e"] * 3 + ["f"] * 2, "text")
    h = sound(own, categories.balanced(own))
    assert set(h.labels[1]) == {"a", "b", "c / d / e / f"}


def test_long_names_are_cut_and_stay_apart() -> None:
    own = column([f"{'very ' * 20}long {i}" for i in range(40)], "text")
    h = sound(own, categories.balanced(own))
    assert max(map(len, h.labels[1])) < 80


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abcXY -/&*", min_size=1, max_size=8), min_size=1, max_size=60))
def test_any_texts_get_sound_proposals(cells: list[str]) -> None:
    cells = [cell.strip() or "x" for cell in cells]
    own = column(cells)
    assume("*" not in own.values)
    for one in propose(own):
        h = from_rows(own, one.rows)
        assert {leaf for leaf in h.leaves if leaf} == set(own.values)
        assert one.reason


def test_tidied_drops_what_coarsens_nothing() -> None:
    assert tidied([]) == ()
    assert tidied([("a", "a", "x"), ("b", "b", "x")]) == (("a", "*"), ("b", "*"))


# The library


def test_every_shelf_is_sound() -> None:
    for shelf in library.shelves():
        names = [text for text in shelf.paths if len(text) > 3]
        own = column(names, "text")
        found = next(m for m in library.matches(own) if m.name == shelf.name)
        assert found.known == len(own.values)
        sound(own, found.rows)


def test_countries_and_states_are_told_apart() -> None:
    states = column(["CA", "DE", "GA", "IN", "TX", "NY", "OH"], "text", name="state")
    assert library.matches(states)[0].name == "us-states"
    countries = column(["CA", "DE", "GA", "IN", "FR", "IT", "JP"], "text", name="country")
    assert library.matches(countries)[0].name == "countries"
    rows = {row[0]: row[1:] for row in library.matches(countries)[0].rows}
    assert rows["FR"] == ("Western Europe", "Europe", "*")


def test_a_value_that_is_not_known_is_offered_for_placement() -> None:
    own = column(["France", "Germany", "Narnia", "Japan"], "text")
    first = propose(own)[0]
    assert (first.builder, first.unplaced) == ("library", ("Narnia",))
    assert "3 of its 4" in first.reason
    assert "Narnia" not in first.reason
    assert {row[0]: row[1] for row in first.rows}["Narnia"] == UNPLACED


def test_another_columns_values_match_nothing() -> None:
    assert library.matches(column(["red", "green", "blue"], "text", name="country")) == ()


# Real tables


def test_the_hospital_sample() -> None:
    one = sample("hospital")
    data = Dataset.from_frame(one.frame(), kinds=dict(one.types))  # pyright: ignore[reportArgumentType]
    found = propose_all(data, data.names)
    for name, proposal in found.items():
        sound(data.column(name), proposal.rows)
    builders = {name: proposal.builder for name, proposal in found.items()}
    assert builders["zip"] == "mask"
    assert builders["diagnosis"] == "icd"
    assert builders["admission_date"] == "calendar"
    assert builders["age"] == "round numbers"
    assert builders["sex"] == "flat"


@pytest.mark.often
@pytest.mark.skipif(not DATA.is_dir(), reason="the real tables are not beside the checkout")
@pytest.mark.parametrize(
    ("path", "columns"),
    [("adult/adult_48842.csv.gz", 15), ("census/acs2018_income_295243.parquet", 32)],
)
def test_every_column_of_the_real_tables(path: str, columns: int) -> None:
    from anon_core.data.reading import DataOptions, read_table

    data = read_table(DATA / path, DataOptions())
    assert len(data.names) == columns
    for name, proposal in propose_all(data, data.names).items():
        own = data.column(name)
        h = sound(own, proposal.rows)
        assert h.height <= 5
        assert h.height >= (1 if len(own.values) < 3 else 2 if len(own.values) < 16 else 3), name
    for name in data.names if EVERY else data.names[::3]:
        for proposal in propose(data.column(name)):
            assert Counter(row[0] for row in proposal.rows) == Counter(data.column(name).values)
