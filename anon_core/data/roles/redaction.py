"""Names redacted in a column's texts, before anything else looks at the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, brief
from anon_core.data.column import Column, encode
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: What a word is: the parts of a double name are words of their own.
WORD = re.compile(r"[^\W_]+")
#: What is written in the place of a name.
REDACTED = "[redacted]"
#: Letters of a name, and characters of a number, from which a word can point to someone.
_LETTERS, _FIGURES = 3, 5
#: A word distinguishes people where at most one in so many of an identifier's values holds it, as
#: `Street` does not.
_TELLING = 5
#: Distinct values that are looked at where it is enough to see whether there are any names.
MOST = 100_000
#: Average words and characters of a value from which texts are prose, not names of things.
_FREE_WORDS, _FREE_LETTERS, _FREE_VALUES = 3.0, 40, 10
_SAMPLE = 2000


def words_of_names(values: Sequence[str]) -> frozenset[str]:
    """Return the words, without case, by which the values of an identifier column are recognised.

    A word counts that begins with a capital and has three letters, or holds a figure and has five
    characters, and is in at most a fifth of the distinct values.

    Parameters
    ----------
    values : sequence of str
        The column's distinct texts.

    Examples
    --------
    >>> sorted(words_of_names(["Ada Smith", "Bo Jones", "Eve van Dam", "Ida Poe", "P-10442"]))
    ['10442', 'ada', 'dam', 'eve', 'ida', 'jones', 'poe', 'smith']
    """
    seen: Counter[str] = Counter()
    _, tokens, counts = _tokens(values)
    for token, count in zip(tokens, counts.tolist(), strict=True):
        for word in WORD.findall(token):
            if _points_to_somebody(word):
                seen[word.casefold()] += count
    most = max(1, len(values) // _TELLING)
    return frozenset(word for word, count in seen.items() if count <= most)


def holding_names(values: Sequence[str], names: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return which texts name someone, shape (texts,); see `without_names`."""
    held = np.zeros(len(values), dtype=np.bool_)
    if not names or not values:
        return held
    lists, tokens, _ = _tokens(values)
    certain = np.zeros(len(tokens), dtype=np.bool_)
    known = np.zeros(len(tokens), dtype=np.int64)
    for place, token in enumerate(tokens):
        found = [word for word in WORD.findall(token) if word.casefold() in names]
        known[place] = len(found)
        certain[place] = any(_stands_out(word) for word in found)
    of_text, of_token = lists
    held[of_text[certain[of_token]]] = True
    several = np.bincount(of_text, weights=known[of_token], minlength=len(values)) >= 2
    for place in np.flatnonzero(several & ~held).tolist():
        held[place] = bool(_named(values[place], names))
    return held


def without_names(text: str, names: frozenset[str]) -> str:
    """Return a text with every name in it replaced by `REDACTED`.

    A word is a name where it is among the `names` without case, and is written with a capital or
    has a figure, or only white space parts it from another one of them.

    Examples
    --------
    >>> names = words_of_names(["Ada Smith", "Will Jones", "Bo Poe", "Ida Dam", "Eve Lee"])
    >>> without_names("Ms Smith, that is ada smith, will come", names)
    'Ms [redacted], that is [redacted] [redacted], will come'
    """
    parts: list[str] = []
    end = 0
    for match in _named(text, names):
        parts += [text[end : match.start()], REDACTED]
        end = match.end()
    return "".join([*parts, text[end:]])


def looked_at(values: Sequence[str], most: int = MOST) -> npt.NDArray[np.int64]:
    """Return places spread evenly over distinct values, all of them where there are few."""
    step = max(1, -(-len(values) // most))
    return np.arange(0, len(values), step)


def is_free_text(column: Column) -> bool:
    """Return whether values are texts of many words, as notes are, rather than names of things."""
    sample = column.values[:_SAMPLE]
    if len(sample) < _FREE_VALUES:
        return False
    words = sum(len(value.split()) for value in sample) / len(sample)
    letters = sum(map(len, sample)) / len(sample)
    return words > _FREE_WORDS or letters >= _FREE_LETTERS


def _named(text: str, names: frozenset[str]) -> list[re.Match[str]]:
    """Return the words of a text that are names, in order."""
    known = [match for match in WORD.finditer(text) if match[0].casefold() in names]
    hidden = [_stands_out(match[0]) for match in known]
    for place, (one, other) in enumerate(pairwise(known)):
        if text[one.end() : other.start()].isspace():
            hidden[place] = hidden[place + 1] = True
    return [match for match, hide in zip(known, hidden, strict=True) if hide]


def _stands_out(word: str) -> bool:
    return word[0].isupper() or any(c.isdigit() for c in word)


def _points_to_somebody(word: str) -> bool:
    if any(c.isdigit() for c in word):
        return len(word) >= _FIGURES
    return word[0].isupper() and len(word) >= _LETTERS


def _tokens(
    values: Iterable[str],
) -> tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], list[str], npt.NDArray[np.int64]]:
    """Split texts at white space: (text, token) of every place, the distinct tokens, their count.

    Words never span white space, so each distinct token is looked at once.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(values, type=pa.large_string())
    lists = pc.utf8_split_whitespace(texts)
    of_text = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    coded = pc.list_flatten(lists).dictionary_encode()
    of_token = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    tokens = cast("list[str]", coded.dictionary.to_pylist())
    return (of_text, of_token), tokens, np.bincount(of_token, minlength=len(tokens))


def redacted_of(given: Mapping[str, Any], roles: Roles) -> dict[str, tuple[str, ...]]:
    """Read the recipe's ``[redacted]``: by column the identifiers whose words it must not hold.

    Raises
    ------
    BadPlan
        If a column is not published as text, or a source is none of the hidden columns.
    """
    hidden = roles.hidden
    shown = [n for n in (*roles.insensitive, *roles.sensitive) if n not in roles.quasi]
    found: dict[str, tuple[str, ...]] = {}
    for column, sources in given.items():
        names = cast("list[object]", sources) if isinstance(sources, list | tuple) else []
        if not names or any(name not in hidden for name in names) or column not in shown:
            raise BadPlan(
                f"[redacted] '{column}' is {brief(sources)}.",
                remedy="Name an insensitive or sensitive column, and the identifiers whose words "
                'are to be taken out of it: note = ["name"].',
            )
        found[column] = tuple(cast("list[str]", names))
    return found


def without_redacted(redacted: Mapping[str, Sequence[str]], dataset: Dataset) -> Dataset:
    """Return the table without the names that a plan redacts.

    Parameters
    ----------
    redacted : mapping of str to sequence of str
        By column the identifiers whose words are taken out of it.
    dataset : Dataset
        With the kinds of its columns.

    Raises
    ------
    BadPlan
        If a column holds no texts.
    BadInput
        If a column is not in the table.
    """
    if not redacted:
        return dataset
    columns = {column.name: column for column in dataset.columns}
    for name, sources in redacted.items():
        names = frozenset[str]().union(
            *(words_of_names(dataset.column(source).as_read[1]) for source in sources)
        )
        columns[name] = _redacted(dataset.column(name), names)
    return replace(dataset, columns=tuple(columns.values()))


def _redacted(column: Column, names: frozenset[str]) -> Column:
    if KINDS[column.kind].measured:
        raise BadPlan(
            f"[redacted] names '{column.name}', which holds {KINDS[column.kind].several}, no "
            "texts.",
            remedy="Take the column out of [redacted], or leave it out of the release.",
        )
    held = holding_names(column.values, names)
    texts = [
        without_names(v, names) if h else v
        for v, h in zip(column.values, held.tolist(), strict=True)
    ]
    pool = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(pool)}
    codes = np.array([*(place[text] for text in texts), -1], dtype=np.int32)[column.codes]
    made = encode(column.name, codes, pool, kind=column.kind, thousands="")
    return replace(made, origin=column.origin)
