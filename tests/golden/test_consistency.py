"""Samarati (2008), slides 56 and 57: k-anonymity revisited (K-17)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.methods.matching.matching import Matches, matches
from anon_core.release.grouping import Grouping
from anon_core.release.release import Release, one_block, raw_view
from anon_core.release.vocabulary import Vocabulary
from anon_core.techniques.attacks.marketer import Marketer
from anon_core.techniques.attacks.prosecutor import Prosecutor
from anon_core.techniques.models.global_one_k_anonymity import GlobalOneK
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.k_k_anonymity import KK
from anon_core.techniques.models.k_one_anonymity import KOne
from anon_core.techniques.models.one_k_anonymity import OneK
from tests.asked import attacked, measured
from tests.making import Case

PT = [
    ("White", "94138"),
    ("Black", "94139"),
    ("Asian", "94141"),
    ("Asian", "94141"),
    ("Asian", "94142"),
]
TABLES = {
    "2-anonymity": [("Person", "9413*")] * 2 + [("Asian", "9414*")] * 3,
    "revisited": [("Person", "9413*")] * 2 + [("Asian", "94141")] + [("Asian", "9414*")] * 2,
    "none_a": [("Person", "9413*")] * 2 + [("Asian", "9414*")] * 2 + [("Asian", "94142")],
    "none_b": [("Person", "9413*")] * 2 + [("Asian", "94141")] * 2 + [("Asian", "9414*")],
}
RACES, ZIPS = ("Asian", "Black", "White"), ("94138", "94139", "94141", "94142")


def interval(text: str) -> tuple[int, int]:
    if text == "Person":
        return 0, 2
    if text in RACES:
        return RACES.index(text), RACES.index(text)
    inside = [i for i, z in enumerate(ZIPS) if z.startswith(text.rstrip("*"))]
    return inside[0], inside[-1]


def found(table: str) -> Matches:
    tuples = sorted(set(PT))
    boxes = sorted(set(TABLES[table]))
    covers = np.array([[interval(cell) for cell in box] for box in boxes], dtype=np.int32)
    pairs = matches(
        np.array([(RACES.index(r), ZIPS.index(z)) for r, z in tuples], dtype=np.int32),
        np.array([PT.count(t) for t in tuples], dtype=np.int64),
        covers[:, :, 0],
        covers[:, :, 1],
        np.array([TABLES[table].count(b) for b in boxes], dtype=np.int64),
        Context(),
    )
    assert pairs is not None
    return pairs


@pytest.mark.parametrize(
    ("table", "released", "original", "both", "perfect", "matchings"),
    [
        ("2-anonymity", 2, 2, 2, 2, 12),
        ("revisited", 2, 2, 2, 2, 8),
        ("none_a", 1, 2, 1, 1, 4),
        ("none_b", 2, 1, 1, 1, 4),
    ],
)
def test_k_17_matches(
    table: str, released: int, original: int, both: int, perfect: int, matchings: int
) -> None:
    pairs = found(table)
    assert KOne(k=2).counts(pairs).min() == released
    assert OneK(k=2).counts(pairs).min() == original
    assert KK(k=2).counts(pairs).min() == both
    assert GlobalOneK(k=2).counts(pairs).min() == perfect
    fits = [
        [
            all(
                interval(c)[0] <= interval(v)[0] <= interval(c)[1]
                for c, v in zip(b, r, strict=True)
            )
            for b in TABLES[table]
        ]
        for r in PT
    ]
    every = [
        p for p in itertools.permutations(range(5)) if all(fits[i][j] for i, j in enumerate(p))
    ]
    assert len(every) == matchings
    # Counting matchings is the enumeration's alone: ours says who can be matched, not how often.
    # By enumeration: how many published rows the matchings give each person.
    assert min(len({p[i] for p in every}) for i in range(5)) == perfect


@pytest.mark.parametrize(
    ("table", "k"), [("2-anonymity", 2), ("revisited", 1), ("none_a", 1), ("none_b", 1)]
)
def test_k_17_only_the_first_table_is_2_anonymous(table: str, k: int) -> None:
    columns = dict(zip(("race", "zip"), map(list, zip(*TABLES[table], strict=True)), strict=True))
    case = Case(columns=columns, quasi=("race", "zip"), kinds={"race": "text", "zip": "text"})  # type: ignore[arg-type]
    problem = case.problem()
    (verdict,) = KAnonymity(k=2).measure(*measured(problem, raw_view(problem)), Context())
    assert (verdict.reached, verdict.holds) == (k, k >= 2)


def published(table: str) -> Release:
    """Return a table as the release of the rows that stand next to its own."""
    case = Case(
        columns={"race": [r for r, _ in PT], "zip": [z for _, z in PT]},
        quasi=("race", "zip"),
        kinds={"race": "text", "zip": "text"},
    )
    problem, rows = case.problem(), TABLES[table]
    boxes = list(dict.fromkeys(rows))
    entries = list(zip(problem.frequency.row_key.tolist(), map(boxes.index, rows), strict=True))
    ordered = sorted(set(entries))
    vocabularies, cells = {}, {}
    for d, name in enumerate(problem.quasi):
        texts = tuple(dict.fromkeys(box[d] for box in boxes))
        ends = np.array([interval(text) for text in texts], dtype=np.int32)
        level = np.full(len(texts), -1, dtype=np.int32)
        vocabularies[name] = Vocabulary(
            column=name, texts=texts, lo=ends[:, 0], hi=ends[:, 1], level=level
        )
        cells[name] = np.array([texts.index(box[d]) for box in boxes], dtype=np.int32)
    grouping = Grouping(
        key=np.array([key for key, _ in ordered]),
        member=np.array([member for _, member in ordered]),
        count=np.array([entries.count(e) for e in ordered]),
        group=np.arange(len(boxes)),
    )
    return one_block(problem, grouping, vocabularies, cells)


@pytest.mark.parametrize(
    ("table", "known", "worst", "linked"),
    [
        # Nobody's values fit both classes, so that their sizes are all there is to count.
        ("2-anonymity", 2, 1 / 2, 2),
        # (Asian, 94141) is a class of one row, but two people fit it, each of whom fits three rows.
        ("revisited", 3 / 2 + 2 / 3, 1 / 2, 2 / 2 + 1 / 2 + 2 / 3),
        # (Asian, 94142) is a row of one person, who fits two other rows as well.
        ("none_a", 4 / 2 + 1 / 3, 1 / 2, 2 / 2 + 2 / 3 + 1),
        # The person with 94142 fits one row, (Asian, 9414*), which two others fit as well.
        ("none_b", 2 / 2 + 2 / 3 + 1, 1, 2 / 2 + 2 / 2 + 1 / 3),
    ],
)
def test_attackers_count_what_fits(table: str, known: float, worst: float, linked: float) -> None:
    release = published(table)
    (one,) = Prosecutor().run(*attacked(release.problem, release.view), Context())
    assert one.succeeded == pytest.approx(known)
    assert one.worst == worst
    (other,) = Marketer().run(*attacked(release.problem, release.view), Context())
    assert other.succeeded == pytest.approx(linked)
