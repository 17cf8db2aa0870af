"""Chance of presence where the solutions are too many to count: a labelled estimate.

The same dynamic program, with layers that grow too wide thinned to a sample of their states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.exact_chances import MAX_EDGES, Counted
from anon_core.methods.membership.joint_model import Asked
from anon_core.methods.membership.presolve import open_parts
from anon_core.methods.membership.settling_order import Layer, Plan, plan
from anon_core.methods.membership.sweep import Swept, sweep

if TYPE_CHECKING:
    import scipy.optimize

PARTICLES = 5_000
RUNS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimated:
    """Estimated answers by variable; NaN where there is none.

    Attributes
    ----------
    mean : float64 array of shape (variables,)
        Expected people over all equally likely choices that fit.
    error : float64 array of shape (variables,)
        Jackknife standard error over the runs; 0 where `mean` was counted. Intervals from it are
        indicative: they were seen to cover less than their name says.
    estimated : bool array of shape (variables,)
        Where the mean rests on sampling.
    """

    mean: F64
    error: F64
    estimated: npt.NDArray[np.bool_]


class _Ended(Exception):
    """The time is over, or someone cancelled."""


def tilts(part: System, context: Context | None = None) -> F64 | None:
    """Return the tilt of every variable under which rows add up on average (maximum entropy).

    A tilt is a sum of one number per row, so that it weighs all solutions alike: it changes no
    answer, only which unfinished states look good.

    Returns
    -------
    float64 array of shape (variables,)
        Logarithm of the odds. None where the context's time ran out, or someone cancelled.
    """
    context = context or Context()
    room = (part.upper - part.lower).astype(np.float64)
    total = (part.total - part.sums(part.lower)).astype(np.float64)
    rows = np.where(part.rows < 0, len(total), part.rows)
    pull = 1e-6  # totals repeat each other over blocks; the smallest of equal answers is taken

    def dual(at: F64) -> tuple[float, F64]:
        if context.cancel.is_set() or context.out_of_time():
            raise _Ended
        s = np.append(at, 0.0)[rows].sum(axis=1)
        mean = room / (1.0 + np.exp(-s))
        sums = np.bincount(rows.ravel(), np.repeat(mean, rows.shape[1]), len(total) + 1)[:-1]
        value = float((room * np.logaddexp(0.0, s)).sum() - at @ total + pull * (at @ at))
        return value, sums - total + 2 * pull * at

    bounds = [(-30, 30)] * len(total)
    try:
        found = scipy.optimize.minimize(
            dual, np.zeros(len(total)), jac=True, method="L-BFGS-B", bounds=bounds
        )
    except _Ended:
        return None
    return np.append(np.asarray(found.x, dtype=np.float64), 0.0)[rows].sum(axis=1)


def _tilted(laid: Plan, tilt: F64) -> Plan:
    layers: list[Layer] = []
    for layer in laid.layers:
        with np.errstate(divide="ignore"):
            logs = np.log(layer.ways) + tilt[layer.variable] * np.arange(layer.most + 1)
        top = float(logs.max())
        layers.append(replace(layer, ways=np.exp(logs - top), log_scale=layer.log_scale + top))
    return Plan(layers=tuple(layers), words=laid.words)


class _Thinning:
    """Unbiased threshold resampling by weight and a Gaussian look at what is still to come."""

    generator: np.random.Generator  # of the run it is used in

    def __init__(self, laid: Plan, particles: int) -> None:
        self.particles = particles
        moments: list[tuple[float, float]] = []
        for layer in laid.layers:
            y = np.arange(layer.most + 1)
            chance = layer.ways / layer.ways.sum()
            mean = float(chance @ y)
            moments.append((mean, float(chance @ (y - mean) ** 2)))
        # Per layer: place, mean and variance of every row that is open after it.
        mean_left: dict[int, float] = {}
        variance_left: dict[int, float] = {}
        for layer, (mean, variance) in zip(laid.layers, moments, strict=True):
            for r in layer.row.tolist():
                mean_left[r] = mean_left.get(r, 0.0) + mean
                variance_left[r] = variance_left.get(r, 0.0) + variance
        last = {r: i for i, layer in enumerate(laid.layers) for r in layer.row.tolist()}
        at: dict[int, tuple[int, int, int]] = {}
        self.ahead: list[F64] = []
        for i, (layer, (mean, variance)) in enumerate(zip(laid.layers, moments, strict=True)):
            places = zip(
                layer.row.tolist(),
                layer.word.tolist(),
                layer.shift.tolist(),
                layer.mask.tolist(),
                strict=True,
            )
            for r, word, shift, mask in places:
                at[r] = (word, shift, mask)
                mean_left[r] -= mean
                variance_left[r] -= variance
                if last[r] == i:
                    del at[r]
            self.ahead.append(
                np.array(
                    [(*at[r], mean_left[r], max(variance_left[r], 0.05)) for r in at],
                    dtype=np.float64,
                ).reshape(len(at), 5)
            )

    def __call__(self, done: int, keys: I64, weight: F64) -> tuple[I64, F64]:
        """Return which states stay, and what their weights are multiplied by."""
        if len(keys) <= self.particles:
            return np.arange(len(keys), dtype=np.int64), np.ones(len(keys))
        with np.errstate(divide="ignore"):
            model = np.log(weight)
        for word, shift, mask, mean, variance in self.ahead[done - 1].tolist():
            left = (keys[:, int(word)] >> int(shift)) & int(mask)
            model = model - (left - mean) ** 2 / (2.0 * variance)
        share = np.exp(model - model.max())
        # Every live state keeps a chance, or what it represents would be lost for good.
        share = share + share.sum() * 1e-3 / len(share)
        stay = np.minimum(1.0, share * _threshold(share, self.particles))
        steps = np.floor(np.cumsum(stay) + self.generator.random())
        kept = np.flatnonzero(np.diff(steps, prepend=0.0) > 0)
        if not len(kept):
            kept = np.array([int(np.argmax(stay))])
        return kept.astype(np.int64), 1.0 / stay[kept]


def _threshold(share: F64, particles: int) -> float:
    """Return c with Σ min(1, c·share) = particles."""
    ordered = np.sort(share)[::-1]
    rest = np.cumsum(ordered[::-1])[::-1]
    sure = np.arange(len(ordered))
    with np.errstate(divide="ignore"):
        scale = (particles - sure) / rest
    fits = (scale > 0) & (scale * ordered <= 1.0)
    return float(scale[np.flatnonzero(fits)[0]]) if fits.any() else float(1.0 / ordered[-1])


def estimate_part(
    part: System, context: Context, *, particles: int = PARTICLES, runs: int = RUNS
) -> tuple[F64, F64] | None:
    """Estimate one connected part.

    Returns
    -------
    mean, error : float64 arrays of shape (variables,)
        Above the lower bounds. None where time ran out or fewer than two runs came through.
    """
    tilt = tilts(part, context)
    if tilt is None:
        return None
    bare = plan(part, context)
    if bare is None:
        return None
    laid = _tilted(bare, tilt)
    found: list[Swept] = []
    thin = _Thinning(laid, particles)
    for thin.generator in context.generator.spawn(runs):
        swept = sweep(laid, context, max_states=MAX_EDGES, max_edges=MAX_EDGES, thin=thin)
        if swept is not None:
            found.append(swept)
    if len(found) < 2:
        return None
    logs = np.array([f.log_solutions for f in found])
    weight = np.exp(logs - logs.max())
    means = np.stack([f.mean for f in found])
    whole, size = weight @ means, weight.sum()
    without = (whole - weight[:, None] * means) / np.maximum(size - weight, 1e-300)[:, None]
    many = len(found)
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return whole / size, np.sqrt((many - 1) / many * spread)


def estimate(
    system: System,
    counted: Counted,
    context: Context | None = None,
    *,
    particles: int = PARTICLES,
    runs: int = RUNS,
) -> Estimated:
    """Estimate what counting left open; what was counted stays as it is.

    Parameters
    ----------
    counted : Counted
        What `count` found.
    context : Context, optional
        Its generator draws the particles; deadline and cancel leave the rest NaN.
    particles : int
        States kept per layer.
    runs : int
        Independent runs; the error is their jackknife's.
    """
    context = context or Context()
    mean = counted.mean.copy()
    error = np.where(counted.counted, 0.0, np.nan)
    estimated = np.zeros(system.variables, dtype=np.bool_)
    left = np.flatnonzero(~counted.counted & ~counted.infeasible)
    # The smallest first, so that one that is too large does not take the time of all others.
    pieces = sorted(open_parts(system.rows, len(system.total), left), key=len)
    inner = system.bounded(counted.least, counted.most)
    fixed = np.where(counted.counted & (counted.least == counted.most), counted.least, 0)
    for done, piece in enumerate(pieces):
        if context.cancel.is_set() or context.out_of_time():
            break
        context.progress(done / len(pieces), "Estimating")
        got = estimate_part(inner.part(piece, fixed), context, particles=particles, runs=runs)
        if got is not None:
            mean[piece], error[piece] = counted.least[piece] + got[0], got[1]
            estimated[piece] = True
    return Estimated(mean=mean, error=error, estimated=estimated)


def interval(asked: Asked, found: Estimated) -> tuple[F64, F64]:
    """Return δ ± 1.96 standard errors within [0, 1], shape (types,) each; indicative only."""
    inside = asked.variable >= 0
    middle, half = np.zeros(len(inside)), np.zeros(len(inside))
    at = asked.variable[inside]
    share = found.mean[at] / asked.system.people[at]
    middle[inside] = np.where(asked.outside[inside], 1.0 - share, share)
    half[inside] = 1.96 * found.error[at] / asked.system.people[at]
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
