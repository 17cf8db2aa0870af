"""Hierarchies of categories: by text they share, by frequency, by their order."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows, tidied

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
