"""Hierarchies of categories: by text they share, by frequency, by their order."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np

from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows, tidied
from anon_core.data.hierarchy.ranges import month, roman, weekday

_WORD = re.compile(r"[^\W_]+")
#: Longest label made of its members' texts.
_LETTERS = 48
#: How much smaller each level is than the one below, about.
_SHRINK = 2.5
#: Most levels between the values (or given groups) and the top.
_MOST_LEVELS = 4


def balanced(column: Column, *, groups: Sequence[str] | None = None) -> Rows:
    """Return a hierarchy that joins the rarest groups first, so that none stays rare for long.

    Parameters
    ----------
    groups : sequence of str, one a value, or None
        Groups on level 1 to begin with; without them the values themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> codes = np.array([0] * 9 + [1] * 5 + [2, 3], dtype=np.int32)
    >>> for row in balanced(encode("pet", codes, ["cat", "dog", "emu", "yak"])):
    ...     print(row)
    ('cat', 'cat', '*')
    ('dog', 'dog / emu / yak', '*')
    ('emu', 'dog / emu / yak', '*')
    ('yak', 'dog / emu / yak', '*')
    """
    own = list(column.values) if groups is None else list(groups)
    weight: Counter[str] = Counter()
    for label, count in zip(own, column.counts.tolist(), strict=True):
        weight[label] += count
    names = sorted(weight, key=lambda name: (-weight[name], name))
    member = _joined([weight[name] for name in names], _targets(len(names)))
    levels: list[list[str]] = [list(column.values)]
    if groups is not None:
        levels.append(own)
    place = {name: i for i, name in enumerate(names)}
    for joined in member:
        labels = _named(names, joined)
        levels.append([labels[joined[place[label]]] for label in own])
    order = sorted(
        range(len(own)),
        key=lambda i: (*(joined[place[own[i]]] for joined in reversed(member)), place[own[i]], i),
    )
    rows = list(zip(*levels, strict=True))
    return tidied([rows[i] for i in order])


def _targets(count: int) -> list[int]:
    """Return how many groups each level is to have, the finest first; the last has 2 or 3."""
    if count < 3:
        return []
    if count < 6:
        return [2]
    steps = min(_MOST_LEVELS, max(1, round(math.log(count / 3) / math.log(_SHRINK))))
    ratio = (count / 3) ** (1 / steps)
    return [max(3, round(count / ratio**step)) for step in range(1, steps + 1)]


def _joined(weights: Sequence[int], targets: Sequence[int]) -> list[list[int]]:
    """Join the two lightest groups again and again; return each one's group at every target."""
    heap = [(weight, -i) for i, weight in enumerate(weights)]
    heapq.heapify(heap)
    parent = list(range(len(weights)))
    found: list[list[int]] = []
    for target in targets:
        while len(heap) > target:
            light, a = heapq.heappop(heap)
            next_light, b = heapq.heappop(heap)
            keep, gone = sorted((-a, -b))
            parent[gone] = keep
            heapq.heappush(heap, (light + next_light, -keep))
        for i in range(len(parent)):  # a parent is before its children
            parent[i] = parent[parent[i]]
        found.append(list(parent))
    return found


def _named(names: Sequence[str], group: Sequence[int]) -> dict[int, str]:
    """Name every group after its members, or after the most frequent one and how many more."""
    members: dict[int, list[str]] = {}
    for name, own in zip(names, group, strict=True):
        members.setdefault(own, []).append(name)
    found: dict[int, str] = {}
    used: set[str] = set()
    turns: Counter[str] = Counter()
    for own, inside in members.items():
        text = " / ".join(inside)
        if len(inside) > 1 and len(text) > _LETTERS:
            first = inside[0] if len(inside[0]) <= _LETTERS else inside[0][:_LETTERS].rstrip() + "…"
            text = f"{first} and {len(inside) - 1} more"
        # Long names may begin alike; one text for two groups would make them one.
        name = text
        while name in used:
            turns[text] += 1
            name = f"{text} ({turns[text] + 1})"
        used.add(name)
        found[own] = name
    return found


def halved(column: Column, values: Sequence[str]) -> Rows:
    """Return a hierarchy of contiguous groups of ordered categories, about equal in rows.

    Parameters
    ----------
    values : sequence of str
        The column's values in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> pain = encode("pain", np.arange(4, dtype=np.int32), ["none", "mild", "strong", "worst"])
    >>> halved(pain, ["none", "mild", "strong", "worst"])[1]
    ('mild', 'none to mild', '*')
    """
    count = dict(zip(column.values, column.counts.tolist(), strict=True))
    upto = np.concatenate([[0], np.cumsum([count[value] for value in values])])
    starts = {0}
    by_depth: list[set[int]] = []
    parts = [(0, len(values))]
    while len(starts) * 2 <= max(2, len(values) * 0.7) and len(by_depth) < _MOST_LEVELS:
        next_parts: list[tuple[int, int]] = []
        for lo, hi in parts:
            if hi - lo < 2:
                continue
            places = np.arange(lo + 1, hi)
            middle = int(places[np.argmin(np.abs(2 * upto[places] - upto[lo] - upto[hi]))])
            starts.add(middle)
            next_parts += [(lo, middle), (middle, hi)]
        parts = next_parts
        by_depth.append(set(starts))
    levels: list[list[str]] = [list(values)]
    for found in reversed(by_depth):
        labels: list[str] = []
        for lo, hi in pairwise([*sorted(found), len(values)]):
            ends = f"{values[lo]} to {values[hi - 1]}" if hi - lo > 1 else values[lo]
            labels += [ends] * (hi - lo)
        levels.append(labels)
    return tidied(list(zip(*levels, strict=True)))


def prefix_groups(column: Column) -> tuple[list[str], str] | None:
    """Return groups of values that share the text before a separator, and the separator.

    None where no separator is in most values, or where it parts too little.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> jobs = ["MGR-Legal", "MGR-Sales", "MED-Nurses", "MED-Doctors", "MED-Aides"]
    >>> prefix_groups(encode("job", np.arange(5, dtype=np.int32), jobs))
    (['MED', 'MED', 'MED', 'MGR', 'MGR'], '-')
    """
    for separator in ("-", ":", "/", ".", "_", "|", ">"):
        heads = [
            value.split(separator)[0].strip() if separator in value else ""
            for value in column.values
        ]
        used = Counter(head for head in heads if head)
        shared = sum(times for times in used.values() if times > 1)
        if shared >= 0.8 * len(heads) and 2 <= len(used) <= 0.5 * len(heads):
            lone = "without a shared beginning"
            return [head if used.get(head, 0) > 1 else lone for head in heads], separator
    return None


def word_groups(column: Column) -> list[str] | None:
    """Return groups of values that share a word; None where fewer than half of them do.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> work = ["Federal-gov", "Local-gov", "Never-worked", "Self-emp-inc", "Self-emp-not-inc"]
    >>> word_groups(encode("work", np.arange(5, dtype=np.int32), work))
    ['gov', 'gov', 'Never-worked', 'Self-emp', 'Self-emp']
    """
    values = column.values
    group = list(values)
    left = set(range(len(values)))
    for word, members in _shared_words(values):
        label = _common(word, [values[i] for i in members])
        for i in members:
            group[i] = label
        left -= set(members)
    joined = len(values) - len(left)
    if joined * 2 < len(values) or not 2 <= len(set(group)) < len(values):
        return None
    return group


def _shared_words(values: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the word that most values share, and these; again and again with the values left.

    Of several words the one that is nearest to a value's beginning comes first, then the last
    one of the alphabet. Words of every value, such as 'employee', distinguish nothing.
    """
    holders: dict[str, list[tuple[int, int]]] = {}  # per word: its values, and its place in each
    words: list[list[str]] = []
    for i, value in enumerate(values):
        found = [w for w in _WORD.findall(value.casefold()) if len(w) > 2 or w.isdigit()]
        own = {w: place for place, w in reversed(list(enumerate(found))) if not w.isdigit()}
        words.append(list(own))
        for word, place in own.items():
            holders.setdefault(word, []).append((place, i))
    rank = {word: place for place, word in enumerate(sorted(holders, reverse=True))}
    times = {word: len(held) for word, held in holders.items()}
    most = 0.6 * len(values)
    taken = [False] * len(values)

    def key(word: str) -> tuple[int, int, int]:
        # A word only ever falls behind, since values leave: what was taken is forgotten here.
        held = holders[word] = [one for one in holders[word] if not taken[one[1]]]
        return -len(held), min(held)[0], rank[word]

    waiting = {word for word, count in times.items() if count > most}
    heap = [(*key(word), word) for word, n in times.items() if 2 <= n <= most]
    heapq.heapify(heap)
    while heap:
        count, place, _, word = heapq.heappop(heap)
        if times[word] < 2:
            continue
        now = key(word)
        if now[:2] != (count, place):
            heapq.heappush(heap, (*now, word))
            continue
        members = sorted(i for _, i in holders[word])
        yield word, members
        for i in members:
            taken[i] = True
            for other in words[i]:
                times[other] -= 1
        for other in [w for w in waiting if times[w] <= most]:
            waiting.discard(other)
            if times[other] >= 2:
                heapq.heappush(heap, (*key(other), other))


def _common(word: str, texts: Sequence[str]) -> str:
    """Return the beginning that all texts share, if it ends with a word, else the word itself."""
    pieces = [re.findall(r"[^\W_]+|[\W_]+", text) for text in texts]
    shared: list[str] = []
    for here in zip(*pieces, strict=False):
        if len(set(here)) > 1:
            break
        shared.append(here[0])
    beginning = "".join(shared).strip(" -_/,;:.(")
    if word in beginning.casefold():
        return beginning
    found = re.search(re.escape(word), texts[0], re.IGNORECASE)
    return found[0] if found else word


# Orders that categories are known to have: bands of numbers, answers on a scale, days, grades.


#: Answers, from one end of their scale to the other. Words of one place mean the same.
_SCALES = tuple(
    tuple(tuple(place.split(", ")) for place in scale.split(" < "))
    for scale in (
        "strongly disagree, totally disagree, completely disagree < disagree"
        " < somewhat disagree, slightly disagree, rather disagree, tend to disagree"
        " < neutral, undecided, neither, neither agree nor disagree, don't know"
        " < somewhat agree, slightly agree, rather agree, tend to agree < agree"
        " < strongly agree, totally agree, completely agree",
        "stimme überhaupt nicht zu, stimme gar nicht zu, trifft überhaupt nicht zu, trifft gar "
        "nicht zu < stimme nicht zu, trifft nicht zu < stimme eher nicht zu, trifft eher nicht zu"
        " < neutral, unentschieden, weder noch, teils teils, teils/teils, teils, teils-teils"
        " < stimme eher zu, trifft eher zu < stimme zu, trifft zu"
        " < stimme voll zu, stimme voll und ganz zu, trifft voll zu, trifft voll und ganz zu",
        "pas du tout d'accord < pas d'accord < plutôt pas d'accord < neutre, indécis"
        " < plutôt d'accord < d'accord < tout à fait d'accord",
        "very dissatisfied < dissatisfied < somewhat dissatisfied < neutral, neither"
        " < somewhat satisfied < satisfied < very satisfied",
        "sehr unzufrieden < unzufrieden < eher unzufrieden < neutral, teils teils, teils/teils"
        " < eher zufrieden < zufrieden < sehr zufrieden",
        "never < almost never, very rarely < rarely, seldom < sometimes, occasionally"
        " < often, frequently < very often, usually, almost always, mostly < always",
        "nie, niemals < sehr selten, fast nie < selten < manchmal, gelegentlich < oft, häufig"
        " < sehr oft, sehr häufig, meistens < immer",
        "jamais < rarement < parfois < souvent < toujours",
        "very bad, very poor, terrible < bad, poor < fair, average, satisfactory, ok, mediocre"
        " < good < very good < excellent",
        "ungenügend, sehr schlecht < mangelhaft, schlecht < ausreichend"
        " < befriedigend, mittel, mittelmäßig < gut < sehr gut",
        "none, no, absent < very mild, minimal < mild, slight, light < moderate, medium"
        " < severe, strong, serious < very severe, very strong, critical, extreme < fatal",
        "keine < sehr leicht < leicht, gering < mittel, mäßig, mittelschwer < schwer, stark"
        " < sehr schwer, sehr stark",
        "very low, very small < low, small < lower middle < medium, middle, moderate, average, "
        "normal < upper middle < high, large, big < very high, very large",
        "sehr niedrig, sehr gering, sehr klein < niedrig, gering, klein < mittel, mittlere, normal"
        " < hoch, groß < sehr hoch, sehr groß",
        "très faible < faible, bas < moyen < élevé, haut, fort < très élevé, très fort",
        "very unlikely < unlikely < neutral, possible, maybe < likely < very likely",
        "not at all < slightly, a little < somewhat < moderately < very, quite < extremely",
        "xxs < xs < s < m < l < xl < xxl, 2xl < xxxl, 3xl < 4xl < 5xl",
        "extra small < small < medium < large < extra large, extra-large",
        "underweight < normal, normal weight, healthy weight < overweight < obese, obesity",
        "newborn, baby < infant < toddler < child < teenager, teen, adolescent, youth"
        " < young adult < adult < middle aged, middle-aged < senior, old, elderly",
        "säugling, baby < kleinkind < kind < jugendlicher, jugendliche < junge erwachsene"
        " < erwachsener, erwachsene < senior, senioren",
        "beginner, novice < elementary < intermediate < advanced < expert, proficient, fluent",
        "trainee, intern < junior < mid, intermediate, regular < senior < lead < principal",
        "night < early morning < morning < noon, midday < afternoon < evening < late evening",
        "winter < spring < summer < autumn, fall",
        "frühling, frühjahr < sommer < herbst < winter",
        "daily < weekly < monthly < quarterly < yearly, annually < never",
        "täglich < wöchentlich < monatlich < vierteljährlich < jährlich < nie",
    )
)

_NUMBER = r"[$€£]?\s?(\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d+)?)\s?k?"
#: What may be before and behind a band, the same of all: ``age 18-24``, ``5-10 km``.
_BEFORE, _BEHIND = re.compile(r"([^\d<>≤≥=$€£]+?)\s+"), re.compile(r"\s*([^\d+<>≤≥=)\]\[]+)$")
_BANDS = (
    re.compile(rf"(?:<|<=|≤|under|below|up to|less than|unter|bis|moins de)\s*{_NUMBER}"),
    re.compile(
        rf"{_NUMBER}\s*(?:-|–|—|to|bis|à)\s*{_NUMBER}|[\[(\]]{_NUMBER}\s*[,;]\s*{_NUMBER}[\])\[]"
    ),
    re.compile(_NUMBER),
    re.compile(
        rf"(?:>|>=|≥|over|above|from|more than|über|ab|plus de)\s*{_NUMBER}"
        rf"|{_NUMBER}\s*(?:\+|(?:and|or) (?:over|older|above|more)|(?:und|oder) (?:mehr|älter)"
        r"|et plus)"
    ),
)
_ROMAN = re.compile(r"(?P<before>(?:[^\W\d]+[ -])?)(?P<number>[ivx]+)(?P<part>[a-d]?)")
#: The place of bands with two ends.
_TWO_ENDS = 1
#: Fewest values of which an order is worth groups.
_LEAST = 3
#: Most values that are taken for categories with an order.
_MOST = 200


def known_order(values: Sequence[str]) -> list[str] | None:
    """Return categories in the order that they are known to have; None where none is known.

    Examples
    --------
    >>> known_order(["45+", "<18", "18-29", "30-44"])
    ['<18', '18-29', '30-44', '45+']
    >>> known_order(["high", "low", "medium"]), known_order(["Fri", "Mon", "Wed"])
    (['low', 'medium', 'high'], ['Mon', 'Wed', 'Fri'])
    >>> known_order(["red", "green", "blue"]) is None
    True
    """
    if not _LEAST <= len(values) <= _MOST:
        return None
    plain = [" ".join(value.casefold().replace("_", " ").split()) for value in values]
    for rule in (_on_scale, _of_days, _of_months, _in_bands, _in_letters, _in_roman):
        places = rule(plain)
        if places is not None and len(set(places)) == len(places):
            return [value for _, value in sorted(zip(places, values, strict=True))]
    return None


Place = tuple[Decimal | int, ...]
Places = list[Place]


def _on_scale(plain: Sequence[str]) -> Places | None:
    for scale in _SCALES:
        place = {word: (number,) for number, words in enumerate(scale) for word in words}
        if all(value in place for value in plain):
            return [place[value] for value in plain]
    return None


def _each(plain: Sequence[str], read: Callable[[str], int | None]) -> Places | None:
    found = [read(value.rstrip(".")) for value in plain]
    return None if None in found else [(place or 0,) for place in found]


def _of_days(plain: Sequence[str]) -> Places | None:
    return _each(plain, weekday)


def _of_months(plain: Sequence[str]) -> Places | None:
    return _each(plain, month)


def _in_bands(plain: Sequence[str]) -> Places | None:
    """Order ``<18``, ``18-29`` and ``45+``; at least one of them has two ends."""
    places: Places = []
    spans: list[tuple[Decimal, Decimal]] = []
    around: set[tuple[str, str]] = set()
    for value in plain:
        for before, band, behind in _bare_bands(value):
            forms = (form.fullmatch(band) for form in _BANDS)
            which, match = next(((n, one) for n, one in enumerate(forms) if one), (0, None))
            if match is not None:
                around.add((before, behind))
                ends = [_plain_number(part) for part in match.groups() if part is not None]
                places.append((ends[0], which))
                spans += [(ends[0], ends[-1])] if which == _TWO_ENDS else []
                break
        else:
            return None
    named = {behind for _, behind in around if behind} | {before for before, _ in around if before}
    edges = [edge for span in sorted(spans) for edge in span]
    return places if spans and edges == sorted(edges) and len(named) < 2 else None


def _bare_bands(value: str) -> Iterator[tuple[str, str, str]]:
    """Yield what is before a band, the band and what is behind it, in each way to part them."""
    before, behind = _BEFORE.match(value), _BEHIND.search(value)
    for start in (None, before):
        for end in (None, behind):
            band = value[start.end() if start else 0 : end.start() if end else None]
            yield start[1] if start else "", band, end[1].rstrip("s.") if end else ""


def _plain_number(text: str) -> Decimal:
    """Return a number whose separators of thousands are left out."""
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", text)
    return Decimal(re.sub("[.,]", "", text) if grouped else text.replace(",", "."))


def _in_letters(plain: Sequence[str]) -> Places | None:
    """Order letters from A on of which at most one is left out, as grades are."""
    letters = sorted(plain)
    if any(len(one) != 1 or not "a" <= one <= "z" for one in letters) or letters[0] != "a":
        return None
    return [(ord(one),) for one in plain] if ord(letters[-1]) - ord("a") <= len(letters) else None


def _in_roman(plain: Sequence[str]) -> Places | None:
    found = [_ROMAN.fullmatch(value) for value in plain]
    matches = [one for one in found if one is not None]
    if len(matches) < len(plain) or len({one["before"] for one in matches}) > 1:
        return None
    numbers = [roman(one["number"].upper()) for one in matches]
    if None in numbers:
        return None
    return [(n or 0, ord(one["part"] or "`")) for n, one in zip(numbers, matches, strict=True)]
