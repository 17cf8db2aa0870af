"""How long suppression takes, how close to the best it comes, and that every cell is hidden."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core import read_table
from anon_core.tables.axis import Axis
from anon_core.tables.contributions import Contributions
from anon_core.tables.product_moves import Moves, product_moves
from anon_core.tables.publication import files_of, protect
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.sensitivity import PPercent, sensitive_cells
from anon_core.tables.suppressed import judge
from anon_core.tables.suppression import Pattern, costs_of, suppress
from anon_core.tables.system import Bounds, Level, System, capped
from anon_core.tables.table import relations_of
from anon_core.verification.protected_table import verify_table
from benchmarks.bench import Bench
from benchmarks.timing import Row, table

_SECONDS = 60
_P = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """A table of amounts with its sensitive cells."""

    axes: tuple[Axis, ...]
    system: System
    needs: Mapping[int, Level]
    bounds: Bounds

    @property
    def costs(self) -> tuple[int, ...]:
        """What the suppression of each cell costs: its value."""
        return costs_of(self.system, "value")


def protected_tables(bench: Bench) -> None:
    """Measure cutting planes and product moves on tables of amounts."""
    rows: list[Row] = []
    sizes = {"20 × 20": (_flat(20), _flat(20))}
    if not bench.quick:
        sizes = {
            "50 × 50": (_flat(50), _flat(50)),
            "tree [5, 6] × tree [4, 5]": (_tree(5, 6), _tree(4, 5)),
        }
    for name, axes in sizes.items():
        made = amounts(axes, seed=1)
        row, found = bench.time(
            f"{name}, {len(made.system.values):,} cells, {len(made.needs):,} sensitive",
            lambda made=made: cheapest(made),
            f"{_SECONDS} s are allowed",
            once=True,
        )
        assert isinstance(found, Pattern)
        gap = float(found.gap or 0)
        rows.append(row)
        bench.check(found.bound is not None, f"{name}: cost {found.cost:,}, gap {gap:.2%}")
    axes = (_tree(9, 10), _tree(8, 6), _flat(18)) if not bench.quick else (_tree(4, 5), _tree(4, 5))
    made = amounts(axes, seed=3)
    row, moved = bench.time(
        f"Product moves, {len(made.system.values):,} cells, {len(made.needs):,} sensitive",
        lambda: moves(made),
        f"{_SECONDS} s are allowed, with the check of every witness",
        once=True,
    )
    rows.append(row)
    print(table("Suppression in tables of amounts, p % with p = 10", rows))
    assert isinstance(moved, Moves)
    begun = time.perf_counter()
    held = sum(witnessed(made, moved, cell) for cell in made.needs)
    bench.check(
        held == len(made.needs),
        f"{held:,} of {len(made.needs):,} cells have a witness, checked in whole numbers in "
        f"{time.perf_counter() - begun:.1f} s; {len(moved.unserved):,} are left to network flow",
    )
    whole_table(bench)


def whole_table(bench: Bench) -> None:
    """Measure a table from its rows to its files and their second computation, in process time."""
    tops = (9, 8) if not bench.quick else (3, 2)
    rng = np.random.default_rng(5)
    inner = [[f"{n}.{m}" for n in range(top) for m in range(10 if top > 8 else 6)] for top in tops]
    inner.append([f"c{n}" for n in range(18)])
    shape = tuple(map(len, inner))
    people = np.minimum(1 + rng.poisson(5, shape), 12).ravel()
    at = np.unravel_index(np.repeat(np.arange(people.size), people), shape)
    texts = [np.array(names)[own].tolist() for names, own in zip(inner, at, strict=True)]
    amount = ((rng.lognormal(2, 1.2, len(at[0])) * 10).astype(np.int64) + 1).tolist()
    lines = zip(*texts, amount, strict=True)
    content = "a,b,c,amount\n" + "".join(f"{a},{b},{c},{x}\n" for a, b, c, x in lines)
    levels = {
        name: [[text, text.partition(".")[0], "*"] for text in names]
        for name, names in zip("ab", inner, strict=False)
    }
    recipe = TableRecipe.from_toml(
        f'[table]\ncolumns = ["a", "b", "c"]\nvalue = "amount"\n[[rules]]\nname = "p-percent"\n'
        f'p = {_P}\n[protect]\nmethod = "heuristic"\nlevels = "cap"\n'
    )
    begun = time.process_time()
    judged = judge(read_table(content.encode(), recipe.data), recipe, levels)
    done = protect(judged)
    published = files_of(done)["table.csv"]
    names: tuple[str, ...] = ("a", "b", "c", "amount")
    rows: list[dict[str, str]] = [
        dict(zip(names, (*own, str(x)), strict=True))
        for *own, x in zip(*texts, amount, strict=True)
    ]
    checks = verify_table(published, recipe.as_mapping(), rows, levels, done.proposals)
    seconds = time.process_time() - begun
    bench.check(
        all(check.holds for check in checks) and seconds < _SECONDS,
        f"{len(rows):,} rows, {len(judged.table.values):,} cells, {len(judged.findings):,} "
        f"sensitive: {seconds:.1f} s of processor time, second computation included",
    )


def cheapest(made: Made) -> Pattern:
    """Return the cheapest pattern, or the best within a minute."""
    begin = moves(made)
    return suppress(made.system, made.needs, made.bounds, made.costs, seconds=_SECONDS, start=begin)


def moves(made: Made) -> Moves:
    """Return a pattern of product moves against someone who knows that no value is negative."""
    slack = [int(value) for value in made.system.values]
    return product_moves(made.axes, made.system, made.needs, made.costs, slack)


def witnessed(made: Made, moved: Moves, cell: int) -> bool:
    """Return whether two tables keep a cell from being known, by sums written down again here."""
    witness = moved.witnesses.get(cell)
    if witness is None or not witness.change.keys() <= moved.hidden:
        return False
    level, values, same = made.needs[cell], made.system.values, made.system.same
    times = witness.change.get(same[cell], 0)
    if witness.up * times < level.upper or witness.down * times < level.lower:
        return False
    shape = [len(axis.labels) for axis in made.axes]
    for by in (witness.up, -witness.down):
        net: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for moving, sign in witness.change.items():
            if values[moving] + sign * by < 0:
                return False
            nodes = tuple(int(n) for n in np.unravel_index(moving, shape))
            for at, axis in enumerate(made.axes):
                rest = (*nodes[:at], *nodes[at + 1 :])
                if axis.parents[nodes[at]] >= 0:
                    key = (at, axis.parents[nodes[at]], rest)
                    net[key] = net.get(key, 0) + sign
                if axis.children[nodes[at]]:
                    key = (at, nodes[at], rest)
                    net[key] = net.get(key, 0) - sign
        if any(net.values()):
            return False
    return True


def amounts(axes: Sequence[Axis], seed: int) -> Made:
    """Draw a table whose innermost cells have a few respondents, some of them large."""
    rng = np.random.default_rng(seed)
    leaves = [list(axis.leaves) for axis in axes]
    inner = [len(one) for one in leaves]
    most = 12
    people = 1 + rng.poisson(6, inner)
    each = (rng.lognormal(2, 1.2, (*inner, most)) * 10).astype(np.int64) + 1
    each[np.arange(most) >= np.minimum(people, most)[..., None]] = 0
    each = -np.sort(-each, axis=-1)
    whole = each.sum(axis=-1)
    spread = whole
    for at, (axis, own) in enumerate(zip(axes, leaves, strict=True)):
        above = np.zeros((len(axis.labels), len(own)), dtype=np.int64)
        for depth in axis.chains:
            inside = depth[own] >= 0
            above[depth[own][inside], np.flatnonzero(inside)] = 1
        spread = np.moveaxis(np.tensordot(above, spread, axes=(1, at)), 0, at)
    values = spread.ravel()
    system = System(
        names=tuple(map(str, range(len(values)))),
        values=tuple(int(v) for v in values),
        relations=relations_of(axes),
    )
    # Totals have many respondents; what is sensitive of them is not drawn here.
    place = np.ravel_multi_index(np.ix_(*leaves), spread.shape).ravel()
    cells = [Contributions.of([x for x in row if x]) for row in each.reshape(-1, most).tolist()]
    found = sensitive_cells(cells, [PPercent(p=_P)])
    bounds = Bounds.of(system, lower=0)
    needs = {
        int(place[at]): capped(one.level, system.values[int(place[at])], 0, None)
        for at, one in found.items()
    }
    return Made(axes=tuple(axes), system=system, needs=needs, bounds=bounds)


def _flat(size: int) -> Axis:
    return Axis.from_tree("column", {"Total": [f"c{n}" for n in range(size)]})


def _tree(above: int, below: int) -> Axis:
    tops = [f"c{n}" for n in range(above)]
    return Axis.from_tree(
        "column", {"Total": tops, **{top: [f"{top}.{n}" for n in range(below)] for top in tops}}
    )
