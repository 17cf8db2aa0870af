"""Naive Bayes learned from a release: what each value of a column says of a sensitive value.

Rows that stay whole are counted as they are; a cell that covers several values is spread over them
by base rates; columns that are permuted separately are counted as expected, a row of a group next
to each of the group's sensitive values in its share. Cormode 2011, doi 10.1145/2020408.2020598.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.context import Context
from anon_core.data.table import MISSING
from anon_core.release.knowledge.audience import Audience
from anon_core.release.release import BlockTable, View

#: Numbers of one column's table up to which it is learned.
MOST = 20_000_000
_AT_ONCE = 2_000_000  # chances that are found between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """What was learned of one sensitive column.

    Attributes
    ----------
    columns : tuple of str
        Quasi-identifiers.
    prior : float64 array of shape (values,)
        log of each value's share; −inf for one that no row has, and for a missing one.
    says : tuple of float64 arrays of shape (leaves + 1, values)
        By column, log θ(leaf | value); the last line represents a value that the table has not.
    missing : int
        Leaf of a missing sensitive value; -2 if there is none.
    """

    columns: tuple[str, ...]
    prior: F64
    says: tuple[F64, ...]
    missing: int

    def beliefs(self, codes: I32) -> F64:
        """Return how likely each value is for each person, shape (people, values).

        Parameters
        ----------
        codes : int32 array of shape (people, columns)
            Leaves; -1 for a value that the table has not.
        """
        score = np.broadcast_to(self.prior, (len(codes), len(self.prior))).copy()
        for d, says in enumerate(self.says):
            score += says[codes[:, d]]
        top = score.max(axis=1, keepdims=True)
        score -= np.where(np.isfinite(top), top, 0.0)
        chance = np.exp(score)
        return chance / np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)


@dataclass(frozen=True, kw_only=True, eq=False)
class Guesses:
    """What is guessed of each person.

    Attributes
    ----------
    value : int32 array of shape (people,)
        The likeliest sensitive value, the first of several.
    belief : float64 array of shape (people,)
        How likely it is believed to be.
    """

    value: I32
    belief: F64


def learn(view: View, column: str, base: Mapping[str, F64]) -> Learned:
    """Learn a sensitive column from a release.

    Parameters
    ----------
    base : mapping of str to float64 array of shape (leaves,)
        By quasi-identifier, how common its values are, as far as an attacker knows.
    """
    own = view.block_of(column)
    texts = view.vocabularies[column].texts
    present = np.array([text != MISSING for text in texts])
    groups = len(view.group_size)
    value = own.codes[:, own.columns.index(column)]
    counted = present[value]
    rows = np.bincount(value, own.count * counted, minlength=len(texts)).astype(np.float64)
    with np.errstate(divide="ignore"):
        prior = np.log(rows / max(rows.sum(), 1.0))
    says: list[F64] = []
    for name in view.quasi:
        block = view.block_of(name)
        if block is own:
            place = own.codes[:, own.columns.index(name)]
            joint = _table(place, value, own.count * counted, view, name, len(texts))
        else:
            joint = _expected(
                view,
                block,
                name,
                own.group[counted],
                value[counted],
                own.count[counted],
                groups,
                len(texts),
            )
        says.append(_smoothed(view, name, joint, base[name]))
    missing = texts.index(MISSING) if MISSING in texts else -2
    return Learned(columns=view.quasi, prior=prior, says=tuple(says), missing=missing)


def _table(place: I32, value: I32, count: I64, view: View, name: str, values: int) -> F64:
    """Return the rows of each published cell and value, shape (texts, values)."""
    texts = len(view.vocabularies[name].texts)
    cell = place.astype(np.int64) * values + value
    return (
        np.bincount(cell, count, minlength=texts * values).reshape(texts, values).astype(np.float64)
    )


def _expected(
    view: View,
    block: BlockTable,
    name: str,
    group: I64,
    value: I32,
    count: I64,
    groups: int,
    values: int,
) -> F64:
    """Return the rows of each cell expected next to each value of its group, (texts, values)."""
    from scipy import sparse

    texts = len(view.vocabularies[name].texts)
    place = block.codes[:, block.columns.index(name)]
    shown = sparse.csr_array(
        (block.count.astype(np.float64), (block.group, place)), shape=(groups, texts)
    )
    share = count / np.maximum(view.group_size[group], 1)
    of_group = sparse.csr_array((share, (group, value)), shape=(groups, values))
    return np.asarray((shown.T @ of_group).todense(), dtype=np.float64)


def _smoothed(view: View, name: str, joint: F64, base: F64) -> F64:
    """Return log θ(leaf | value), a row more of each text that is published; see `Learned.says`.

    The row more is spread like the text's own, so that values which a hierarchy only declares do
    not outweigh the rows. A leaf that no text covers counts as one row of any value.
    """
    vocabulary = view.vocabularies[name]
    leaves = len(base)
    shown = np.asarray(joint.any(axis=1), dtype=np.bool_)
    rows = joint + shown[:, None]
    upto = np.concatenate([[0.0], np.cumsum(base)])
    width = upto[vocabulary.hi + 1] - upto[vocabulary.lo]
    exact = vocabulary.lo == vocabulary.hi
    found = np.zeros((leaves + 1, joint.shape[1]))
    np.add.at(found, vocabulary.lo[exact], rows[exact])
    # What a cell spreads begins at its first leaf, and ends behind its last.
    wide = np.flatnonzero(~exact & shown)
    dense = rows[wide] / np.maximum(width[wide], 1e-300)[:, None]
    steps = np.zeros((leaves + 1, joint.shape[1]))
    np.add.at(steps, vocabulary.lo[wide], dense)
    np.add.at(steps, vocabulary.hi[wide] + 1, -dense)
    found[:-1] += np.maximum(np.cumsum(steps, axis=0)[:-1], 0.0) * base[:, None]
    covered = np.zeros(leaves + 1, dtype=np.int64)
    np.add.at(covered, vocabulary.lo[shown], 1)
    np.add.at(covered, vocabulary.hi[shown] + 1, -1)
    found[np.append(np.cumsum(covered)[:-1] == 0, True)] = 1.0
    return np.log(np.maximum(found, 1e-300)) - np.log(joint.sum(axis=0) + max(int(shown.sum()), 1))


def guesses(learned: Learned, codes: I32, context: Context) -> Guesses:
    """Return the likeliest value of each person.

    Parameters
    ----------
    codes : int32 array of shape (people, columns)
        Leaves of the quasi-identifiers, in the order of `Learned.columns`.
    context : Context
        Asked for cancel between parts.
    """
    value = np.zeros(len(codes), dtype=np.int32)
    belief = np.zeros(len(codes))
    step = max(_AT_ONCE // max(len(learned.prior), 1), 1)
    for first in range(0, len(codes), step):
        context.report(first / len(codes), "Guessing")
        chance = learned.beliefs(codes[first : first + step])
        value[first : first + step] = chance.argmax(axis=1)
        belief[first : first + step] = chance.max(axis=1)
    return Guesses(value=value, belief=belief)


def base_rates(audience: Audience) -> dict[str, F64]:
    """Return how common each value of the quasi-identifiers is: by a table of the public.

    Without one, every value is as common as every other.
    """
    found: dict[str, F64] = {}
    people = audience.population
    for d, name in enumerate(audience.quasi):
        rows = np.ones(len(audience.hierarchies[name].leaves))
        if people is not None and people.codes is not None and people.tuple_count is not None:
            wide = len(people.hierarchies[name].leaves)
            known = people.codes[:, d] >= 0
            counted = np.bincount(people.codes[known, d], people.tuple_count[known], minlength=wide)
            rows += counted[people.place[name]]
        found[name] = rows / rows.sum()
    return found


def too_large(view: View, audience: Audience, column: str) -> bool:
    """Say whether what would be learned of a column is more than is kept."""
    values = len(view.vocabularies[column].texts)
    return any(len(audience.hierarchies[n].leaves) * values > MOST for n in audience.quasi)
