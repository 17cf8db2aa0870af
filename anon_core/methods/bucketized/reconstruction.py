"""Reconstruction error: how far the density an analyst rebuilds for a person is from the truth.

Li et al. 2015 (Permutation anonymization, equations 3–12) model a person as a spike of height 1 at
her own values. From the release an analyst rebuilds c(v)·δ at her own quasi-identifiers and every
sensitive value v of her group, where c(v) counts the group's rows with v and δ is the chance that
she is found in the group. The error of a person is the sum of squared differences, and
RCE adds up all persons. As printed the sum over persons is in both equations 5 and 6; it
is taken once here, and the integral over points is a sum.

The heights c(v)·δ of a person add up to N·δ, which is more than 1 where several rows of the group
have her values: Err then grows up to N − 1. `scaled` caps δ at 1/N, one row's share, so that they
are chances: 0 is a person rebuilt exactly, 1 one of whom nothing is left, and at most 2 one of whom
only wrong values are believed.

These are figures about exact cells in groups; for boxes see `metrics.reconstruction_error`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import AnonError
from anon_core.data.frequency import dense_rank
from anon_core.release.release import Release, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconstruction:
    """The reconstruction error of a release, with the bounds the literature gives for it.

    Attributes
    ----------
    error : float
        RCE as published: the sum over published persons.
    scaled : float
        The same with δ of at most 1/N; see above.
    per_group : float64 array of shape (groups,)
        `scaled`, group by group.
    bound : float
        Li's theorem 2: Σ 1 + l·δ² − 2δ.
    bound_holds : bool
        Whether the theorem may be used: every group has from l to 2l − 1 rows and no sensitive
        value twice. Its proof replaces N/l by 1, which raises the bound where N > l.
    delta : float64 array of shape (entries,)
        δ of a person of each published entry of the grouping (those with a class), in order.
    group : int64 array of shape (entries,)
        The group of each such entry.
    """

    error: float
    scaled: float
    per_group: npt.NDArray[np.float64]
    bound: float
    bound_holds: bool
    delta: npt.NDArray[np.float64]
    group: npt.NDArray[np.int64]


def person_error(
    delta: npt.NDArray[np.float64], own: npt.NDArray[np.int64], squares: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the error of persons, (1 − δ·c(own))² + Σ over other values of (δ·c)².

    Parameters
    ----------
    delta : float64 array of shape (persons,)
        δ of each person.
    own : int64 array of shape (persons,)
        Rows of the person's group that have the person's own sensitive value.
    squares : int64 array of shape (persons,)
        S2 = Σ c(v)² over the values of the group.
    """
    return 1.0 - 2.0 * delta * own + delta**2 * squares


def person_bound(delta: npt.NDArray[np.float64], least: int) -> npt.NDArray[np.float64]:
    """Return theorem 2's bound 1 + l·δ² − 2δ of each person, shape of `delta`; `least` is l."""
    return 1.0 + least * delta**2 - 2.0 * delta


def anatomy_bound(rows: int, least: int) -> float:
    """Return n·(1 − 1/l), the least RCE of Anatomy (Xiao and Tao 2006); `least` is l."""
    return rows * (1.0 - 1.0 / least)


def is_defined(release: Release, sensitive: str) -> bool:
    """Say whether groups of exact cells publish `sensitive` in a block of its own."""
    return (
        release.grouping.published
        and release.view.block_of(sensitive).columns == (sensitive,)
        and all(np.array_equal(v.lo, v.hi) for v in release.vocabularies.values())
    )


def reconstruction(release: Release, sensitive: str, least: int) -> Reconstruction:
    """Return the RCE of a release in the way that its blocks ask for.

    See `anatomy_reconstruction` where quasi-identifiers stay together, and
    `permutation_reconstruction` where they are cut separately.
    """
    whole = release.view.whole_quasi() is not None
    rebuild = anatomy_reconstruction if whole else permutation_reconstruction
    return rebuild(release, sensitive, least)


def anatomy_reconstruction(release: Release, sensitive: str, least: int) -> Reconstruction:
    """Return the RCE of a release that publishes each person's quasi-identifiers in one row.

    Her row is found, so only its sensitive value is open: δ = 1/N.

    Parameters
    ----------
    release : Release
        Of exact cells.
    least : int
        l of the bound.

    Raises
    ------
    AnonError
        If cells are coarsened, or the column is not published in a block of its own.
    """
    group, count, own, squares = _persons(release, sensitive)
    delta = 1.0 / release.view.group_size[group]
    return _reconstruction(release.view, group, count, own, squares, delta, least)


def permutation_reconstruction(release: Release, sensitive: str, least: int) -> Reconstruction:
    """Return the RCE of a release of permuted blocks; see `anatomy_reconstruction`.

    A person is put together again with δ = Π over blocks of n/N, where n rows of the block have
    her values (Li's lemma 1). It is the chance of one fixed row, not that of being in the group.
    """
    group, count, own, squares = _persons(release, sensitive)
    grouping, view = release.grouping, release.view
    frequency = release.problem.frequency
    key = grouping.key[grouping.member >= 0]
    delta = np.ones(len(group), dtype=np.float64)
    for block in view.blocks:
        names = [n for n in block.columns if n in view.quasi and n != sensitive]
        if not names:
            continue
        codes = [frequency.codes[key, frequency.columns.index(n)] for n in names]
        delta *= _alike(view, group, count, codes) / view.group_size[group]
    return _reconstruction(view, group, count, own, squares, delta, least)


def _persons(
    release: Release, sensitive: str
) -> tuple[
    npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]
]:
    """Return, per entry of the grouping, its group, rows, c(own value) and S2 of the group."""
    view, grouping = release.view, release.grouping
    if not is_defined(release, sensitive):
        raise AnonError(
            f"The reconstruction error is defined for groups of exact cells with '{sensitive}' in "
            "a block of its own.",
            remedy="Ask for it after Anatomy or permutation anonymization.",
        )
    frequency = release.problem.frequency
    kept = grouping.member >= 0
    key, group = grouping.key[kept], grouping.group[grouping.member[kept]]
    count = grouping.count[kept]
    value = frequency.codes[key, frequency.columns.index(sensitive)]
    own = _alike(view, group, count, [value]).astype(np.int64)
    table = view.block_of(sensitive)
    squares = np.bincount(table.group, weights=table.count**2, minlength=len(view.group_size))
    return group, count, own, squares[group].astype(np.int64)


def _alike(
    view: View,
    group: npt.NDArray[np.int64],
    count: npt.NDArray[np.int64],
    codes: Sequence[npt.NDArray[np.int32]],
) -> npt.NDArray[np.float64]:
    """Return how many rows of its group have the values of each entry, shape (entries,)."""
    wide = [int(code.max(initial=0)) + 1 for code in codes]
    line, _ = dense_rank([group.astype(np.int32), *codes], [len(view.group_size), *wide])
    return np.bincount(line, weights=count).astype(np.float64)[line]


def _reconstruction(
    view: View,
    group: npt.NDArray[np.int64],
    count: npt.NDArray[np.int64],
    own: npt.NDArray[np.int64],
    squares: npt.NDArray[np.int64],
    delta: npt.NDArray[np.float64],
    least: int,
) -> Reconstruction:
    size = view.group_size
    each = person_error(delta, own, squares) * count
    scaled = person_error(np.minimum(delta, 1.0 / size[group]), own, squares) * count
    published = size[size > 0]
    return Reconstruction(
        error=float(each.sum()),
        scaled=float(scaled.sum()),
        per_group=np.bincount(group, weights=scaled, minlength=len(size)).astype(np.float64),
        bound=float(np.dot(person_bound(delta, least), count)),
        bound_holds=bool(
            np.all(published >= least) and np.all(published < 2 * least) and np.all(own == 1)
        ),
        delta=delta,
        group=group,
    )
