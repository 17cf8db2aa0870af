"""One pass forward and one back over the layers: every type's share and range at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.kernels.frontier import Edges, States, advance, reach, retreat
from anon_core.methods.membership.settling_order import Layer, Plan

Thin = Callable[[int, I64, F64], tuple[I64, F64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Swept:
    """What the passes found.

    Attributes
    ----------
    mean : float64 array of shape (variables,)
        Expected number of people taken over all solutions, above the lower bound.
    least, most : int64 arrays of shape (variables,)
        Extremes over the solutions the pass kept, above the lower bound.
    log_solutions : float
        Logarithm of the number of solutions, counted as choices of people; -inf if there is none.
    states, edges : int
        Widest layer, and all edges.
    """

    mean: F64
    least: I64
    most: I64
    log_solutions: float
    states: int
    edges: int

    @property
    def possible(self) -> bool:
        """Whether there is a solution."""
        return self.log_solutions > -math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    forward: F64
    edges: Edges
    factor: F64 | None = None  # of the states after the step, where some were dropped


def sweep(
    plan: Plan,
    context: Context,
    *,
    max_states: int,
    max_edges: int,
    thin: Thin | None = None,
) -> Swept | None:
    """Run the dynamic program.

    Parameters
    ----------
    context : Context
        Its deadline and cancel end the pass.
    max_states, max_edges : int
        Largest layer, and largest sum of edges (each takes 12 bytes until the end).
    thin : callable, optional
        Given the number of layers done, keys and weights, returns which states stay and what
        their weights are multiplied by (particle version).

    Returns
    -------
    Swept, or None
        None where it is too large, out of time or cancelled, or no particle survived.
    """
    keys = np.zeros((1, plan.words), dtype=np.int64)
    weight = np.ones(1)
    log_scale, widest, edges = 0.0, 1, 0
    steps: list[_Step] = []
    for done, layer in enumerate(plan.layers, start=1):
        if context.cancel.is_set() or context.out_of_time():
            return None
        made = _forward(layer, keys, weight, max_states, max_edges - edges)
        if made is None:
            return None
        keys, after, step = made
        if not len(keys):
            return None if thin is not None else _nothing(plan, widest, edges)
        edges += len(step.edges.source)
        widest = max(widest, len(keys))
        if thin is not None:
            keys, after, step = _thinned(thin, done, keys, after, step)
        top = float(after.max())
        if not top > 0.0:
            return None
        weight = after / top
        log_scale += math.log(top) + layer.log_scale
        steps.append(step)
    return _backward(plan, steps, weight, log_scale, widest, edges)


def _nothing(plan: Plan, widest: int, edges: int) -> Swept:
    """Return the outcome of equations that nothing solves."""
    size = len(plan.layers)
    return Swept(
        mean=np.full(size, np.nan),
        least=np.zeros(size, np.int64),
        most=np.array([layer.most for layer in plan.layers], dtype=np.int64),
        log_solutions=-math.inf,
        states=widest,
        edges=edges,
    )


def _forward(
    layer: Layer, keys: I64, weight: F64, max_states: int, max_edges: int
) -> tuple[I64, F64, _Step] | None:
    keys = keys + layer.opening
    low, high = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    many = reach(keys, layer.word, layer.shift, layer.mask, layer.later, layer.most, low, high)
    if many > max_edges:
        return None
    room = min(many, max_states)
    out = States(np.empty((room, keys.shape[1]), dtype=np.int64), np.empty(room))
    edges = Edges(*(np.empty(many, dtype=np.int32) for _ in range(3)))
    found = advance(States(keys, weight), low, high, layer.step, layer.ways, room, out, edges)
    if found < 0:
        return None
    return out.keys[:found], out.weight[:found], _Step(forward=weight, edges=edges)


def _thinned(thin: Thin, done: int, keys: I64, weight: F64, step: _Step) -> tuple[I64, F64, _Step]:
    kept, factor = thin(done, keys, weight)
    if len(kept) == len(keys):
        return keys, weight, step
    place = np.full(len(keys), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    source, target, taken = step.edges
    target = place[target]
    stays = target >= 0
    return (
        keys[kept],
        weight[kept] * factor,
        _Step(
            forward=step.forward,
            edges=Edges(source[stays], target[stays], taken[stays]),
            factor=factor,
        ),
    )


def _backward(
    plan: Plan, steps: list[_Step], last: F64, log_scale: float, widest: int, edges: int
) -> Swept | None:
    size = len(plan.layers)
    mean = np.zeros(size)
    least, most = np.zeros(size, np.int64), np.zeros(size, np.int64)
    back, alive = np.ones(len(last)), np.ones(len(last), dtype=np.bool_)
    for layer, step in zip(reversed(plan.layers), reversed(steps), strict=True):
        if step.factor is not None:  # a kept state speaks for the dropped ones, backward too
            back = back * step.factor
        out_back = np.zeros(len(step.forward))
        out_alive = np.zeros(len(step.forward), dtype=np.bool_)
        whole, people, low, high = retreat(
            step.edges,
            layer.ways,
            step.forward,
            back,
            alive,
            out_back,
            out_alive,
        )
        if not whole > 0.0:
            return None
        j = layer.variable
        mean[j], least[j], most[j] = people / whole, low, high
        back, alive = out_back / out_back.max(), out_alive
    return Swept(
        mean=mean,
        least=least,
        most=most,
        log_solutions=log_scale + math.log(float(last.sum())),
        states=widest,
        edges=edges,
    )
