"""What is believed of everyone whose group is known, once the deFinetti iteration settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.context import Context
from anon_core.contracts.group_stats import Histogram, sensitive_histogram
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.table import MISSING
from anon_core.methods.inference.definetti import Settled
from anon_core.methods.inference.naive_bayes import Learned
from anon_core.release.ground_truth import Places
from anon_core.release.release import View

_AT_ONCE = 2_000_000
_SAME = 1e-9  # beliefs as near as this are a tie


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """How people of groups fare who have a value, entry by entry of `Places`.

    Attributes
    ----------
    group, count : int64 arrays of shape (entries,)
    belief : float64 array of shape (entries,)
        How likely the likeliest value is believed to be.
    right : float64 array of shape (entries,)
        Chance that the guess is right: 1 over the number of values that are as likely.
    """

    group: I64
    count: I64
    belief: F64
    right: F64


def score(
    view: View,
    column: str,
    settled: Sequence[Settled],
    people: FrequencySet,
    places: Places,
    context: Context,
) -> Scored:
    """Guess the value of everyone by the group and by what the columns of each block say.

    What the blocks say is multiplied, as if columns of different blocks hung on the value alone.
    """
    groups = len(view.group_size)
    texts = view.vocabularies[column].texts
    missing = texts.index(MISSING) if MISSING in texts else -1
    kept = (places.group >= 0) & (places.group < groups)
    kept &= people.codes[places.key, people.columns.index(column)] != missing
    key, group, count = places.key[kept], places.group[kept], places.count[kept]
    codes = people.codes[key]
    persons, own = sensitive_histogram(view, column)
    at = [people.columns.index(n) for n in persons.columns]
    shown = [view.vocabularies[n].lo[persons.codes[:, d]] for d, n in enumerate(persons.columns)]
    positions = _found(
        group,
        codes[:, at],
        persons.group,
        np.stack([*shown], axis=1) if shown else np.empty((len(persons.group), 0), np.int32),
        groups,
    )
    lines = [_lines(view, one, people, codes, group) for one in settled]
    true = codes[:, people.columns.index(column)]
    belief, right = np.zeros(len(group)), np.zeros(len(group))
    step = max(_AT_ONCE // max(len(texts), 1), 1)
    begin = np.searchsorted(own.group, np.arange(own.groups + 1))
    for first in range(0, len(group), step):
        context.report(first / max(len(group), 1), "Guessing")
        here = slice(first, first + step)
        chance = _from(own, begin, positions[here], len(texts))
        for one, line in zip(settled, lines, strict=True):
            chance *= _said(view, one, line[here], group[here], len(texts))
        if missing >= 0:
            chance[:, missing] = 0.0
        best = chance.max(axis=1, initial=0.0)
        ties = (chance >= best[:, None] * (1 - _SAME)) & (best > 0)[:, None]
        belief[here] = best / np.maximum(chance.sum(axis=1), 1e-300)
        hit = ties[np.arange(len(best)), true[here]]
        right[here] = hit / np.maximum(ties.sum(axis=1), 1)
    return Scored(group=group, count=count, belief=belief, right=right)


def _found(group: I64, codes: I32, of_group: I64, shown: I32, groups: int) -> I64:
    """Return where (group, codes) is among distinct lines; -1 where it does not."""
    both = [np.concatenate([group, of_group]).astype(np.int32)]
    both += [np.concatenate([a, b]).astype(np.int32) for a, b in zip(codes.T, shown.T, strict=True)]
    sizes = [groups, *(int(c.max(initial=0)) + 1 for c in both[1:])]
    rank, first = dense_rank(both, sizes)
    place = np.full(len(first), -1, dtype=np.int64)
    place[rank[len(group) :]] = np.arange(len(of_group))
    return place[rank[: len(group)]]


def _lines(view: View, one: Settled, people: FrequencySet, codes: I32, group: I64) -> I64:
    """Return the line of a block's table that shows what each person has; -1 where none does."""
    table = one.block.table
    names = one.block.columns
    at = [people.columns.index(n) for n in names]
    shown = [view.vocabularies[n].lo[table.codes[:, table.columns.index(n)]] for n in names]
    return _found(group, codes[:, at], table.group, np.stack(shown, axis=1), len(view.group_size))


def _from(own: Histogram, begin: I64, positions: I64, values: int) -> F64:
    """Return the rows of each value next to which people are, shape (people, values)."""
    found = np.zeros((len(positions), values))
    many = np.where(positions >= 0, np.diff(begin)[positions], 0)
    who = np.repeat(np.arange(len(positions)), many)
    entry = np.arange(len(who)) - np.repeat(np.cumsum(many) - many, many) + begin[positions][who]
    found[who, own.value[entry]] = own.count[entry]
    return found


def _said(view: View, one: Settled, line: I64, group: I64, values: int) -> F64:
    """Return how many times as likely a block makes each value as the group's share of it."""
    dealt = one.block.dealt
    found = np.ones((len(line), values))
    kinds = np.diff(dealt.value_start)
    many = np.where(line >= 0, kinds[group], 0)
    who = np.repeat(np.arange(len(line)), many)
    nth = np.arange(len(who)) - np.repeat(np.cumsum(many) - many, many)
    of = group[who]
    row = one.block.first_row[line[who]] - dealt.row_start[of]
    at = dealt.value_start[of] + nth
    share = one.share[dealt.share_start[of] + row * kinds[of] + nth]
    found[who, dealt.value[at]] = share * view.group_size[of] / dealt.times[at]
    return found


def with_learned(view: View, counted: Learned, settled: Sequence[Settled]) -> Learned:
    """Return what is known of people outside every group: what the iteration learned.

    Parameters
    ----------
    counted : Learned
        What the release itself shows, for columns that are next to the sensitive one.
    """
    says = list(counted.says)
    for one in settled:
        offset = 0
        rows = np.bincount(
            one.block.dealt.value, one.block.dealt.times, minlength=len(counted.prior)
        )
        for name, used in zip(one.block.columns, one.block.cells, strict=True):
            d = counted.columns.index(name)
            fresh = np.tile(-np.log(rows + len(used)), (len(says[d]), 1))
            leaf = view.vocabularies[name].lo[used]
            fresh[leaf] = one.says[offset : offset + len(used)]
            says[d] = fresh
            offset += len(used)
    return Learned(
        columns=counted.columns, prior=counted.prior, says=tuple(says), missing=counted.missing
    )


# What is left to believe once values are ruled out: by an attacker who knows more than is shown.
#
# Of a class with weights u_1 ≥ u_2 ≥ … of its values, someone who has value j, and of whom the r
# likeliest other values are ruled out, is believed to have it with u_j / (u_j + those that are
# left). Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302, equation 3.1 and section 3.1.


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """The values of every class, the likeliest first.

    Attributes
    ----------
    entry : int64 array of shape (weighed,)
        Entry at each place: class by class; entries of weight 0 are left out.
    group : int64 array of shape (weighed,)
    weight : float64 array of shape (weighed,)
    rank : int64 array of shape (weighed,)
        Place within the class, from 0.
    size : int64 array of shape (groups,)
        How many values each class has left.
    """

    entry: I64
    group: I64
    weight: F64
    rank: I64
    size: I64

    def beliefs(self, ruled_out: int) -> F64:
        """Return what each place is believed with, once that many others are ruled out.

        Parameters
        ----------
        ruled_out : int
            The likeliest others, which is the worst that as many can do.

        Returns
        -------
        float64 array of shape (weighed,)
        """
        # Among the likeliest r a value's own place is filled by the next.
        own = self.rank <= ruled_out
        fewer, more = self._left(ruled_out + 1), self._left(ruled_out)
        return self.weight / np.where(own, self.weight + fewer[self.group], more[self.group])

    def _left(self, gone: int) -> F64:
        """Return the weight of each class without its likeliest values, shape (groups,).

        Summed class by class: differences of one long sum would lose what is small in it.
        """
        kept = self.weight * (self.rank >= gone)
        return np.bincount(self.group, kept, minlength=len(self.size)).astype(np.float64)


def ranked(group: I64, weight: F64, groups: int) -> Ranked:
    """Return the values of every class, the likeliest first.

    Parameters
    ----------
    group : int64 array of shape (entries,)
    weight : float64 array of shape (entries,)
        Not negative; what has weight 0 is ruled out.
    """
    entry = np.flatnonzero(weight > 0)
    entry = entry[np.lexsort((-weight[entry], group[entry]))]
    own, heavy = group[entry], weight[entry]
    size = np.bincount(own, minlength=groups).astype(np.int64)
    first = np.cumsum(size) - size
    return Ranked(
        entry=entry,
        group=own,
        weight=heavy,
        rank=np.arange(len(entry)) - first[own],
        size=size,
    )
