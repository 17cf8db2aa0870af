"""Labels of many notations over values of many kinds: no false one is published without a word.

Each case has values, a label that is true of some of them, and a value that it is not true of. Both
computations accept the first; the second is refused, or asked about, by both.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from anon_core.data.values.kinds import ColumnKind
from tests.often import times
from tests.property.test_label_forms import asked, refused

#: Kind, label, values of which it is true, a value of which it is not.
Case = tuple[ColumnKind, str, list[str], str]

_WORDS = {
    "en": {
        7: "seven",
        12: "twelve",
        20: "twenty",
        21: "twenty-one",
        30: "thirty",
        45: "forty-five",
        90: "ninety",
        99: "ninety nine",
        100: "one hundred",
    },
    "de": {
        7: "sieben",
        12: "zwölf",
        20: "zwanzig",
        21: "einundzwanzig",
        30: "dreißig",
        45: "fünfundvierzig",
        90: "Neunzig",
        99: "neunundneunzig",
        100: "hundert",
    },
    "fr": {
        7: "sept",
        12: "douze",
        20: "vingt",
        21: "vingt et un",
        30: "trente",
        45: "quarante-cinq",
        90: "quatre-vingt-dix",
        99: "quatre-vingt-dix-neuf",
        100: "cent",
    },
}
_RANGES = {
    "en": ("{a} to {b}", "{a} - {b}", "between {a} and {b}", "from {a} to {b}", "[{a}, {b}]"),
    "de": ("{a} bis {b}", "von {a} bis {b}", "zwischen {a} und {b}", "{a}–{b}"),
    "fr": ("{a} à {b}", "de {a} à {b}", "entre {a} et {b}"),
}
_BELOW = {
    "en": ("under {b}", "less than {b}", "< {b}"),
    "de": ("unter {b}", "weniger als {b}"),
    "fr": ("moins de {b}",),
}
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_MONTHS = (
    "January February March April May June July August September October November December",
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_DAYS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
)


def numbers_in_words() -> Iterator[Case]:
    for language, words in _WORDS.items():
        for low, high in itertools.combinations(words, 2):
            a, b, inside = words[low], words[high], [str(low), str((low + high) // 2)]
            for form in _RANGES[language]:
                yield "number", form.format(a=a, b=b), [*inside, str(high)], str(high + 1)
                yield "text", form.format(a=a, b=b), [*inside, str(high)], str(low - 1)
            for form in _BELOW[language]:
                yield "number", form.format(b=b), inside, str(high)
    yield "number", "twenties", ["20", "29"], "30"
    yield "number", "Ninety and over", ["90", "99"], "89"


def roman_digits() -> Iterator[Case]:
    for low, high in itertools.combinations(range(8), 2):
        label, inside = f"{_ROMAN[low]}-{_ROMAN[high]}", range(low, high + 1)
        yield "number", label, [str(n + 1) for n in inside], str(high + 2)
        if high - low > 1:
            yield "text", label, [_ROMAN[n] for n in inside], _ROMAN[high + 1]
            yield "text", f"Grade {label}", [f"Grade {n + 1}" for n in inside], f"Grade {high + 2}"


def words_before() -> Iterator[Case]:
    for word in ("grade ", "Klasse ", "level ", "Stufe ", "Pflegegrad ", "niveau "):
        for mark in ("-", " to ", "–", " bis "):
            yield "text", f"{word}1{mark}3", ["1", "2", "3"], "4"
            yield "number", f"{word}1{mark}3", ["1", "2", "3"], "4"
            own = [f"{word}{n}" for n in (1, 2, 3)]
            yield "text", f"{word}1{mark}3", own, f"{word}4"
            yield "text", f"1{mark}3", own, f"{word}4"
        yield "text", f"{word}2", ["2", "2.0"], "3"
    codes = ["80331", "80333", "80335"]
    for word, rest in itertools.product(("PLZ", "ZIP", "NPA"), ("80", "80*", "80***", "80xxx")):
        yield "text", f"{word} {rest}", codes, "90331"
        yield "text", f"{word} {rest}", codes[:1], "90331"
    yield "number", "PLZ 80", codes, "90331"
    for rest in ("80-89***", "80***-89***", "80xxx-89xxx"):
        yield "text", rest, codes, "90331"
        yield "number", rest, codes, "90331"


def months_and_days() -> Iterator[Case]:
    for names in map(str.split, _MONTHS):
        for low, high in itertools.product(range(12), repeat=2):
            size = (high - low) % 12 + 1
            if size in (1, 12):
                continue
            inside = [(low + n) % 12 for n in range(size)]
            other, mark = (high + 1) % 12, "-" if (low + high) % 2 else " bis "
            label = f"{names[low]}{mark}{names[high]}"
            yield "text", label, [names[n] for n in inside], names[other]
            dates = [f"{2019 + n % 3}-{n + 1:02}-15" for n in inside]
            yield "date", label, dates, f"2020-{other + 1:02}-15"
    for names in map(str.split, _DAYS):
        for low, high in itertools.product(range(7), repeat=2):
            size = (high - low) % 7 + 1
            if size in (1, 7):
                continue
            inside = [(low + n) % 7 for n in range(size)]
            label = f"{names[low]}–{names[high]}"
            yield "text", label, [names[n] for n in inside], names[(high + 1) % 7]
            dates = [f"2020-01-{6 + n:02}" for n in inside]
            yield "date", label, dates, f"2020-01-{13 + (high + 1) % 7:02}"
    for label in ("weekend", "Wochenende", "week-end", "Sat-Sun"):
        yield "text", label, ["Saturday", "Sunday"], "Monday"
        yield "date", label, ["2020-01-04", "2020-01-05"], "2020-01-06"
    for label in ("Mon-Fri", "weekdays", "Werktage"):
        yield "text", label, ["Monday", "Tuesday", "Friday"], "Sunday"
    yield "text", "Q1", ["January", "March"], "April"
    yield "date", "Jan–Mar 2020", ["2020-01-01", "2020-03-31"], "2020-04-01"
    yield "date", "Nov 2020 - Feb 2021", ["2020-11-01", "2021-02-28"], "2021-03-01"


def seasons() -> Iterator[Case]:
    north = {"winter": (12, 1, 2), "Frühling": (3, 4, 5), "été": (6, 7, 8), "autumn": (9, 10, 11)}
    for season, own in north.items():
        dates = [f"20{20 + (month < 3)}-{month:02}-10" for month in own]
        other = f"2020-{(own[2] + 2) % 12 + 1:02}-10"
        for label in (season, f"{season} 2020", f"2020 {season}"):
            yield "date", label, dates, other
        yield "date", f"{season} 2020", dates, f"2025-{own[0]:02}-10"
        yield "datetime", season, [f"{date}T08:00" for date in dates], f"{other}T08:00"
    yield "date", "winter 2020/21", ["2020-12-05", "2021-02-20"], "2021-12-05"
    yield "date", "summer", ["2020-01-10", "2020-02-10"], "2020-07-10"  # in the south
    yield "date", "winter", ["2020-12-21", "2021-03-20"], "2021-06-01"  # by the sun
    yield "text", "winter", ["December", "January"], "June"


def sets_and_limits() -> Iterator[Case]:
    for label in ("{Flu, Cold}", "{FLU,COLD}", "Flu or Cold", "Flu / Cold", "flu, Cold"):
        yield "text", label, ["flu", "cold"], "gout"
    for label in ("ab 20 bis unter 30", "20 bis unter 30", "≥20 und <30", "20 but under 30"):
        yield "number", label, ["20", "29"], "30"
        yield "text", label, ["20", "21", "29"], "30"
    for label in ("1m-2m", "1M-2M", "1-2 Mio.", "1–2 million"):
        yield "number", label, ["1600000", "1200000"], "900000"
    yield "number", "1m-2m", ["1", "1.5"], "3"
    for label in ("O00-O9A", "O00–O9A pregnancy"):
        yield "text", label, ["O10", "O99", "O9A"], "P10"


FAMILIES = (numbers_in_words, roman_digits, words_before, months_and_days, seasons, sets_and_limits)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
def test_a_true_label_passes_and_a_false_one_does_not(family: object) -> None:
    wrong: list[object] = []
    for kind, label, inside, outside in family():  # type: ignore[operator]
        if any((*refused(label, inside, kind), *asked(label, inside, kind))):
            wrong.append(("true", kind, label, inside))
        values = [*inside, outside]
        ours, theirs = zip(refused(label, values, kind), asked(label, values, kind), strict=True)
        if not any(ours) or not any(theirs):
            wrong.append(("false", kind, label, values))
    assert not wrong, (len(wrong), wrong[:10])


#: Ways to write a range that nothing reads, as programs and languages may have them.
UNKNOWN = (
    *("{a}→{b}", "{a} ⟷ {b}", "{a} hasta {b}", "menos de {b}", "do {b}", "pod {b}", "{a}|{b}|x"),
    *("№{a}", "age_{a}_{b}", "{a}:{b}", "{a} al {b}", "x{a}", "bin{a}", "{a}st", "q{a}", "{a}#{b}"),
    *(
        "({a} {b})",
        "a{a}b{b}",
        "{a} up til {b}",
        "{a} oder so",
        "class of {a}",
        "{a}..{b}..",
        "~{a}",
    ),
    *("{a}\u2192", "\u0662\u0660-\u0662\u0669", "tot {b}", "{a} t/m {b}", "ca. {a}", "{a}er {b}er"),
)
PLACES: dict[ColumnKind, tuple[list[str], str, str]] = {
    "number": (["3", "700"], "20", "29"),
    "date": (["1990-01-01", "2024-06-05"], "2020", "2021"),
    "text": (["3", "700"], "20", "29"),
}


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("form", UNKNOWN)
def test_what_no_one_thought_of_is_asked(form: str, kind: ColumnKind) -> None:
    values, a, b = PLACES[kind]
    label = form.format(a=a, b=b)
    for one, other in zip(refused(label, values, kind), asked(label, values, kind), strict=True):
        assert one or other, label


@pytest.mark.parametrize(
    ("label", "values", "kind"),
    [
        ("Covid-19", ["Covid-19 mild", "Covid-19 severe"], "text"),
        ("Covid-19", ["SARS", "pneumonia"], "text"),
        ("B2B", ["B2B sale", "B2B lease"], "text"),
        ("4x4", ["jeep", "truck"], "text"),
        ("4x4", ["4x4 long", "4x4 short"], "text"),
        ("Type 2 diabetes", ["type 2, mild", "type 2, severe"], "text"),
        ("803", ["80331"], "text"),
        ("8", ["80331", "81333"], "text"),
        ("Group 3", ["12", "13"], "number"),
        ("Gruppe 3", ["2020-01-01", "2021-01-01"], "date"),
        ("young", ["3", "700"], "number"),
        ("someone", ["3", "700"], "number"),
        ("Winterthur", ["Töss", "Seen"], "text"),
        ("Mayors", ["2020-01-01", "2021-01-01"], "date"),
    ],
)
def test_plain_names_are_left(label: str, values: list[str], kind: ColumnKind) -> None:
    assert not any((*refused(label, values, kind), *asked(label, values, kind)))


@pytest.mark.often
def test_what_the_run_publishes_verification_takes() -> None:
    """Words, marks and figures put together at random, over values of each kind."""
    rng = random.Random(4711)
    parts = (
        *(
            "twenty",
            "dreißig",
            "III",
            "Grade ",
            "PLZ ",
            "winter",
            " 2020",
            "Mon",
            "-",
            "Fri",
            " to ",
        ),
        *("Jan", "März", "20", "80", "x", "**", "1", "3", " bis ", "unter ", "Q1", "KW 12", ", "),
        *(
            "flu",
            " or ",
            "1m",
            "weekend",
            "ab ",
            "th",
            " und älter",
            "(",
            ")",
            "[",
            "]",
            "I10",
            "/",
        ),
    )
    columns: dict[ColumnKind, list[list[str]]] = {
        "number": [["25", "29"], ["1", "3"], ["20", "80331"]],
        "date": [["2020-01-06", "2020-01-10"], ["2020-12-24", "2021-01-05"]],
        "text": [
            *(["1", "2", "3"], ["Grade 1", "Grade 3"], ["I", "III"], ["Monday", "Friday"]),
            *(["January", "March"], ["80331", "80335"], ["flu", "cold"], ["I10.1", "I10.2"]),
        ],
    }
    differ: list[object] = []
    read = 0
    for _ in range(times(20_000, share=18)):
        label = "".join(rng.choice(parts) for _ in range(rng.randint(1, 4))).strip()
        kind = rng.choice(list(columns))
        values = rng.choice(columns[kind])
        if not label or label in values:
            continue
        ours, theirs = zip(refused(label, values, kind), asked(label, values, kind), strict=True)
        read += any(ours)
        if any(theirs) and not any(ours):
            differ.append((kind, label, values))
    assert read > times(2000, share=18)
    assert not differ, (len(differ), differ[:20])


#: A range or a code with words for its values: kind, label, values, one of which it is not true.
_NAMED: list[Case] = [
    ("number", "65 u. ä.", ["65", "80"], "64"),
    ("number", "5 Jahre u. mehr", ["5", "6"], "4"),
    ("number", "20 b. u. 30", ["20", "29"], "30"),
    ("number", "85 & over", ["85", "99"], "84"),
    ("number", "mind. 5", ["5", "6"], "4"),
    ("number", "10T-20T", ["10000", "19000"], "25000"),
    ("number", "0-3 days", ["0", "3"], "4"),
    ("number", "Kinder unter 15", ["0", "14"], "15"),
    ("number", "young adults (18-24)", ["18", "24"], "25"),
    ("number", "Gruppe 1: 20-29", ["20", "29"], "30"),
    ("number", "20-29 young adults", ["20", "29"], "30"),
    ("number", "low income (<20000)", ["100", "19999"], "20000"),
    ("number", "5 mg", ["5"], "6"),
    ("date", "Year 2020", ["2020-01-01", "2020-12-31"], "2021-01-01"),
    ("date", "2020 or later", ["2020-01-01", "2021-12-31"], "2019-12-31"),
    ("date", "Q1-Q2 2020", ["2020-01-01", "2020-06-30"], "2020-07-01"),
    ("date", "January, 2020", ["2020-01-01", "2020-01-31"], "2020-02-01"),
    ("text", "803 München", ["80331 München", "80333 München"], "90331 Nürnberg"),
    ("text", "2 Professionals", ["2511 Developers", "2611 Lawyers"], "3111 Technicians"),
    ("text", "25 - Software", ["251 Developers", "252 Testers"], "261 Clerks"),
    ("text", "1.-3. OG", ["1. OG", "2. OG"], "4. OG"),
    ("text", "Primary school (grades 1-4)", ["grade 1", "grade 2"], "grade 5"),
    ("text", "under 20", ["0-9", "10-19"], "20-29"),
    ("text", "65 u. ä.", ["65-74", "75 u. ä."], "55-64"),
    ("text", "young (<30)", ["18-24", "25-29"], "30-34"),
]


@pytest.mark.parametrize(("kind", "label", "inside", "outside"), _NAMED)
def test_words_around_a_true_range_are_its_name(
    kind: ColumnKind, label: str, inside: list[str], outside: str
) -> None:
    assert not any((*refused(label, inside, kind), *asked(label, inside, kind)))
    values = [*inside, outside]
    assert all(map(any, zip(refused(label, values, kind), asked(label, values, kind), strict=True)))


@pytest.mark.parametrize(
    ("label", "values", "kind"),
    [
        ("not 20-29 ones", ["20", "29"], "number"),
        ("menos de 30", ["30"], "number"),
        ("all except 20-29", ["20", "29"], "number"),
        ("late 2020", ["2020-01-01", "2020-02-01"], "date"),
        ("first half 2020", ["2020-10-01", "2020-12-01"], "date"),
        ("stage 1", ["140/90", "150/95"], "text"),
        ("grade 1", ["10", "11"], "text"),
    ],
)
def test_words_that_change_a_range_are_asked_about(
    label: str, values: list[str], kind: ColumnKind
) -> None:
    for one, other in zip(refused(label, values, kind), asked(label, values, kind), strict=True):
        assert one or other
