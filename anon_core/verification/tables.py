"""The two tables of the second computation, and what was promised about them."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count, islice
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import BadInput, BadPlan, listing
from .plain_csv import read_plain
from .sampling import drawn, sample_of
from .texts import MISSING_TOKENS, Codes, PrivateColumn, Spelling, read_private_column

#: Algorithms that coarsen cells and permute every column by itself within groups.
COARSENED = ("combined",)
#: Algorithms that permute columns apart; all but the coarsening ones publish exact values.
PERMUTED = (
    "anatomy",
    "bucketization",
    "one-attribute-slicing",
    "permutation",
    "slicing",
    *COARSENED,
)
#: Share of rows an algorithm may remove where the recipe leaves it open; 0 for all others.
BUDGETS = {"datafly": 0.02, "k-optimize": 1.0, "top-bottom-coding": 1.0}
#: What a promise says where the recipe leaves its number out.
BOUNDS: Mapping[str, Mapping[str, float]] = {
    "bucket-size": {"k": 5},
    "delta-presence": {"delta_min": 0.0, "delta_max": 0.5},
    "frequency-l-diversity": {"l": 4},
    "global-one-k-anonymity": {"k": 5},
    "k-anonymity": {"k": 5},
    "k-k-anonymity": {"k": 5},
    "k-one-anonymity": {"k": 5},
    "l-diversity": {"l": 2},
    "one-k-anonymity": {"k": 5},
    "slicing-l-diversity": {"l": 2},
}
#: Algorithms that publish averages in place of the numbers of quasi-identifiers.
AVERAGED = ("microaggregation",)
_CHUNK = 256  # small, so that its lists are gone before the collector looks at them


# ---- what was promised -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a recipe says about its release."""

    identifier: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    published: tuple[str, ...]
    kinds: Mapping[str, str]
    missing_tokens: tuple[str, ...]
    drops_missing: bool
    neutralised: bool
    max_suppression: Fraction
    models: tuple[Mapping[str, Any], ...]
    algorithm: Mapping[str, Any]
    sample: Fraction = Fraction(1)
    seed: int = 0

    @property
    def permuted(self) -> bool:
        """Whether columns are permuted apart within published groups."""
        return self.algorithm.get("name") in PERMUTED

    @property
    def averaged(self) -> bool:
        """Whether numbers are replaced by averages of groups."""
        return self.algorithm.get("name") in AVERAGED

    def protected(self, column: str) -> tuple[str, ...]:
        """Return the sensitive columns that a promise is about: the one it names, or all.

        Of several, those that are quasi-identifiers too are left out, as the promises say; the
        published value of such a column is the same for everyone of a class.
        """
        if column:
            return (column,)
        return tuple(n for n in self.sensitive if n not in self.quasi) or self.sensitive

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return tuple(name for name in self.published if name not in self.quasi)


def read_promise(recipe: Mapping[str, Any], names: Sequence[str]) -> Promise:
    """Read a recipe for a table with these columns.

    Raises
    ------
    BadPlan
        If the recipe is not well-formed, promises nothing, or names columns the table lacks.
    """
    roles, data, algorithm = (section(recipe, key) for key in ("roles", "data", "algorithm"))
    by_role = {r: _names(roles.get(r, []), r) for r in ("identifier", "quasi", "sensitive")}
    identifier, quasi, sensitive = by_role.values()
    kinds = {name: str(kind) for name, kind in section(recipe, "types").items()}
    if len(set(names)) < len(names):
        raise BadPlan("Two columns of the table have one name.", remedy="Rename one of them.")
    gone = [n for n in (*identifier, *quasi, *sensitive, *kinds) if n not in names]
    if gone:
        raise BadPlan(
            f"The table has no column {listing(dict.fromkeys(gone))}, which the recipe names.",
            remedy="Use the table and the recipe the release was made with.",
        )
    both = [n for n in identifier if n in quasi or n in sensitive]
    if both or not quasi:
        raise BadPlan(
            f"Column {listing(both)} is an identifier and something else."
            if both
            else "The recipe names no quasi-identifier.",
            remedy="Correct the recipe's roles.",
        )
    models = recipe.get("models", [])
    if not isinstance(models, list) or not models:
        raise BadPlan("The recipe promises no privacy model.", remedy="Add one under [[models]].")
    if not all(isinstance(model, Mapping) for model in cast(list[object], models)):
        raise BadPlan("The recipe's models are no tables.", remedy="Write each as [[models]].")
    share = algorithm.get("max_suppression", BUDGETS.get(str(algorithm.get("name")), 0))
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadPlan("The recipe's max_suppression is no share.", remedy="Use 0 to 1.")
    sample, seed = sample_of(recipe, data)
    return Promise(
        identifier=identifier,
        quasi=quasi,
        sensitive=sensitive,
        published=tuple(n for n in names if n not in identifier),
        kinds=kinds,
        missing_tokens=_names(data.get("missing_values", list(MISSING_TOKENS)), "missing_values"),
        drops_missing=data.get("missing", "keep") == "drop",
        neutralised=section(recipe, "export").get("formulas", "neutralise") != "keep",
        max_suppression=Fraction(str(share)),  # the decimal as it was written, not its float
        models=tuple(
            {**BOUNDS.get(str(model.get("name")), {}), **model}
            for model in cast(list[Mapping[str, Any]], models)
        ),
        algorithm=algorithm,
        sample=sample,
        seed=seed,
    )


def section(recipe: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return one table of the recipe; an empty one where it is not there.

    Raises
    ------
    BadPlan
        If it is no table.
    """
    found = recipe.get(key, {})
    if not isinstance(found, Mapping):
        raise BadPlan(f"The recipe's [{key}] is no table.", remedy=f"Write it as [{key}].")
    return cast(Mapping[str, Any], found)


def _names(given: object, key: str) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise BadPlan(f"The recipe's {key} is no list.", remedy="Write it as a list of texts.")
    texts = tuple(cast(Iterable[object], given))
    if not all(isinstance(text, str) for text in texts):
        raise BadPlan(f"The recipe's {key} holds something other than texts.", remedy="Quote it.")
    return cast(tuple[str, ...], texts)


# ---- the two tables --------------------------------------------------------------------------


class PrivateTable:
    """The private table, after dropping the rows the recipe drops and drawing its sample."""

    def __init__(
        self,
        promise: Promise,
        private: pd.DataFrame,
        levels: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        self.columns: dict[str, PrivateColumn] = {}
        for place, name in enumerate(str(n) for n in private.columns):
            if name in promise.published:
                self.columns[name] = read_private_column(
                    private.iloc[:, place],
                    promise.kinds.get(name),
                    promise.missing_tokens,
                    neutralised=promise.neutralised,
                    ordered=name in promise.quasi,
                    levels=levels.get(name, ()) if name in promise.quasi else (),
                )
        self.kept = np.ones(len(private), dtype=np.bool_)
        if promise.drops_missing:
            for name in (*promise.quasi, *promise.sensitive):
                self.kept &= ~self.columns[name].absent
        self.before_sampling = int(np.count_nonzero(self.kept))
        if promise.sample < 1:
            every = list(self.columns.values())
            self.kept = drawn(every, self.kept, promise.sample, promise.seed)
        self.rows = int(np.count_nonzero(self.kept))

    def codes(self, name: str) -> Codes:
        """Return a column's codes, shape (rows,)."""
        codes = self.columns[name].codes
        return codes if self.rows == len(codes) else codes[self.kept]

    def spelling(self, name: str) -> Spelling:
        """Return how a column's cells are read; a column the table lacks is text."""
        found = self.columns.get(name)
        return found.spelling if found else Spelling(kind="text", neutralised=False)


class PublishedTable:
    """The published table: texts as codes into each column's distinct texts.

    Raises
    ------
    BadInput
        If the bytes are no CSV file, or its rows differ in length; `ragged` names these.
    """

    def __init__(
        self, content: bytes, quasi: tuple[str, ...], spelling: Callable[[str], Spelling]
    ) -> None:
        self.spelling = spelling
        self._quasi = quasi
        quick = read_plain(content)
        if quick is not None:
            self.header, self.codes, self.texts, self.rows = quick
            self.ragged: list[int] = []
            return
        try:
            text = content.decode("utf-8-sig")
            csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
            lines = csv.reader(io.StringIO(text, newline=""), strict=True)
            self.header = next(lines, [])
            self.ragged = self._read(lines)
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadInput("The published file is no well-formed CSV file in UTF-8.") from error
        if not self.header:
            raise BadInput("The published file is empty: it has no header.")

    def _read(self, lines: Iterable[list[str]]) -> list[int]:
        """Number each column's texts, some rows at a time; return rows of another length."""
        ragged: list[int] = []
        # A text that is not known yet gets the next number.
        code_of = [defaultdict[str, int](count().__next__) for _ in self.header]
        parts: list[list[Codes]] = [[] for _ in self.header]
        self.rows = 0
        lines = iter(lines)
        while chunk := list(islice(lines, _CHUNK)):
            ragged += [
                self.rows + i for i, row in enumerate(chunk, 1) if len(row) != len(self.header)
            ]
            self.rows += len(chunk)
            if not ragged:
                columns = zip(*chunk, strict=True)
                for codes, known, cells in zip(parts, code_of, columns, strict=True):
                    codes.append(np.fromiter(map(known.__getitem__, cells), np.int64, len(chunk)))
        self.codes = [np.concatenate([np.empty(0, np.int64), *codes]) for codes in parts]
        self.texts = [list(known) for known in code_of]
        return ragged

    def has(self, names: Iterable[str]) -> bool:
        """Return whether every one of the columns is published, once."""
        return all(self.header.count(name) == 1 for name in names)

    def codes_of(self, name: str) -> Codes:
        """Return a column as codes into its distinct texts, shape (rows,)."""
        return self.codes[self.header.index(name)]

    @cached_property
    def meant(self) -> list[list[str]]:
        """Every column's distinct texts without what keeps them from being formulas."""
        plain = [self.spelling(name).plain for name in self.header]
        return [
            [own(text) if text[:1] == "'" else text for text in texts]
            for own, texts in zip(plain, self.texts, strict=True)
        ]

    def texts_of(self, name: str) -> list[str]:
        """Return a column's distinct texts as they are meant."""
        return self.meant[self.header.index(name)]

    def values(self, name: str) -> Codes:
        """Return a column with equal values (1.0 and 1) as equal codes."""
        spelling = self.spelling(name)
        code_of: dict[object, int] = {}
        codes = [code_of.setdefault(spelling.key(t), len(code_of)) for t in self.texts_of(name)]
        return np.array(codes, dtype=np.int64)[self.codes_of(name)]

    @cached_property
    def classes(self) -> Codes | None:
        """The class of every row, or None where quasi-identifiers are not published."""
        if not self.has(self._quasi):
            return None
        return joined([self.codes_of(n) for n in self._quasi], self.rows)[0]

    def out_of_order(self) -> npt.NDArray[np.bool_]:
        """Return which rows stand below one they should stand above, shape (rows,)."""
        sign = np.zeros(max(self.rows - 1, 0), dtype=np.int64)
        for codes, texts in zip(self.codes, self.texts, strict=True):
            place = {text: i for i, text in enumerate(sorted(texts))}
            rank = np.array([place[text] for text in texts], dtype=np.int64)[codes]
            sign = np.where(sign == 0, np.diff(rank), sign)
        return np.concatenate([np.zeros(min(self.rows, 1), dtype=np.bool_), sign < 0])


def joined(columns: Sequence[Codes], rows: int) -> tuple[Codes, Codes]:
    """Return one code per distinct tuple of codes, and the first row of each."""
    joint = np.zeros(rows, dtype=np.int64)
    most = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if most > (1 << 62) // size:
            joint, found = pd.factorize(joint)
            most = len(found)
        joint = joint * size + codes
        most *= size
    joint = pd.factorize(joint)[0].astype(np.int64)
    # Numbers are given in the order of rows: a number is new where it is above all before it.
    before = np.concatenate([[-1], np.maximum.accumulate(joint)])[: len(joint)]
    return joint, np.flatnonzero(joint > before)


def numbered(codes: Codes, size: int) -> Codes:
    """Return codes in [0, size) numbered without gaps in their order, shape (rows,)."""
    if size > 8 * len(codes) + (1 << 16):
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(size, dtype=np.bool_)
    used[codes] = True
    return (np.cumsum(used) - 1)[codes]
