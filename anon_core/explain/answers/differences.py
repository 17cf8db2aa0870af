"""What changed between two runs: in their plans, and in every metric, attack and verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from anon_core.base.registry import family
from anon_core.base.terms import ROWS_SUPPRESSED, SMALLEST_CLASS
from anon_core.contracts.metric import Metric
from anon_core.explain.answers import Answer, Cell
from anon_core.explain.text.recipe_words import place, value
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan

#: Which way a figure is better.
Better = Literal["less", "more", ""]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that two runs differ in.

    Attributes
    ----------
    what : str
        What was chosen, in the words of the pages, or which figure it is.
    before, now : int, float, str or None
        None where one of them has no such thing.
    better : {'less', 'more', ''}
        Which way is better; empty where neither is.
    """

    what: str
    before: Cell
    now: Cell
    better: Better = ""

    @property
    def change(self) -> float | None:
        """How much a number went up; None for what is none."""
        numbers = (int, float)
        if isinstance(self.before, numbers) and isinstance(self.now, numbers):
            return float(self.now) - float(self.before)
        return None

    @property
    def weight(self) -> float:
        """How much it matters: 1 for what is not a number or was 0, else the relative change."""
        if self.before == self.now:
            return 0.0
        change = self.change
        if change is None:
            return 1.0
        numbers = (float(cast(float, self.before)), float(cast(float, self.now)))
        return abs(change) / max(abs(number) for number in numbers)

    @property
    def turned(self) -> Literal["better", "worse", ""]:
        """Whether it is better now; empty where no one can say."""
        change = self.change
        if not change or not self.better:
            return ""
        return "better" if (change > 0) == (self.better == "more") else "worse"


def plan_differences(before: Plan, now: Plan) -> tuple[Difference, ...]:
    """Return what two plans choose otherwise; the secret seed is left out."""
    was, is_ = _flat(_sections(before)), _flat(_sections(now))
    techniques = [now.algorithm.name, before.algorithm.name]

    def cell_of(path: tuple[str, ...], found: Mapping[tuple[str, ...], object]) -> Cell:
        return cast(Cell, value(path, found[path], techniques)) if path in found else None

    return tuple(
        Difference(what=place(path, techniques), before=cell_of(path, was), now=cell_of(path, is_))
        for path in dict.fromkeys([*was, *is_])
        if was.get(path) != is_.get(path)
    )


def figure_differences(before: Result, now: Result) -> tuple[Difference, ...]:
    """Return every figure of two runs next to each other, whether it differs or not.

    Sizes, metrics, attacks (rate, worst case, people at risk) and privacy models (what was reached,
    and whether it holds); a figure that one run lacks is None there.
    """
    was, is_ = _figures(before), _figures(now)
    absent: tuple[Cell, Better] = (None, "")
    return tuple(
        Difference(
            what=name,
            before=was.get(name, absent)[0],
            now=is_.get(name, absent)[0],
            better=was.get(name, is_.get(name, absent))[1],
        )
        for name in dict.fromkeys([*was, *is_])
    )


def what_changed(before: Result | None, now: Result) -> Answer:
    """Say what changed since the run before."""
    if before is None:
        return Answer(sentence="There is no run before this one.")
    plans = plan_differences(before.plan, now.plan)
    figures = [d for d in figure_differences(before, now) if d.before != d.now]
    same_table = before.problem.dataset.fingerprint == now.problem.dataset.fingerprint
    parts: list[str] = []
    if not same_table:
        parts.append("another table")
    parts += [f"{d.what}: {_said(d.before)} → {_said(d.now)}" for d in plans]
    asked = "; ".join(parts) if parts else "nothing but the random seed"
    if before.sha256 == now.sha256:
        reached = "What is published is the same, byte for byte."
    elif not figures:
        reached = "Other rows are published, and no figure differs."
    else:
        reached = f"{len(figures)} figure{' differs' if len(figures) == 1 else 's differ'}."
    rows: list[Mapping[str, Cell]] = [
        {"figure": d.what, "before": d.before, "now": d.now, "change": d.change} for d in figures
    ]
    return Answer(sentence=f"Changed since the last run: {asked}. {reached}", rows=tuple(rows))


def _sections(plan: Plan) -> dict[str, Any]:
    recipe = plan.as_mapping()
    recipe.pop("seed", None)
    for section in ("models", "metrics", "attacks"):
        if section in recipe:  # by name, so that another order is no difference
            recipe[section] = {
                f"{one['name']}{'' if place == 0 else f' ({place + 1})'}": {
                    k: v for k, v in one.items() if k != "name"
                }
                or "as it is"
                for name in dict.fromkeys(o["name"] for o in recipe[section])
                for place, one in enumerate(o for o in recipe[section] if o["name"] == name)
            }
    return recipe


def _flat(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    """Return what a recipe holds by its place: section, and the keys below it."""
    found: dict[tuple[str, ...], object] = {}
    for name, one in table.items():
        here = (*path, str(name))
        if isinstance(one, Mapping) and one:
            found |= _flat(one, here)  # pyright: ignore[reportUnknownArgumentType]
        else:
            found[here] = one
    return found


def _figures(result: Result) -> dict[str, tuple[Cell, Better]]:
    """Return every figure by its name, each with the way in which it is better."""
    sizes = result.class_sizes
    found: dict[str, tuple[Cell, Better]] = {
        "rows published": (result.release.view.rows, "more"),
        ROWS_SUPPRESSED: (result.release.suppressed, "less"),
        "classes": (len(sizes), ""),
        SMALLEST_CLASS.lower(): (int(sizes.min()) if len(sizes) else 0, "more"),
    }
    if result.suppressed_weight is not None:
        found["share of weight suppressed"] = (result.suppressed_weight, "less")
    for name, measure in result.measures.items():
        kind = cast(type[Metric], family("metric")[name])
        found[kind.title] = (measure.value, "more" if kind.scale.more_is_better else "less")
    for attack in result.attacks:
        title = family("attack")[attack.attack].title
        name = f"{title} ({attack.column})" if attack.column else title
        found[f"{name}: rate"] = (attack.rate, "less")
        found[f"{name}: worst case"] = (attack.worst, "less")
        found[f"{name}: people at risk"] = (attack.at_risk, "less")
    for verdict in result.verdicts:
        title = family("model")[verdict.model].title
        name = f"{title} ({verdict.column})" if verdict.column else title
        found[f"{name}: asked"] = (verdict.bound, "")
        found[f"{name}: reached"] = (verdict.reached, "")
        found[f"{name}: state"] = (verdict.state, "")
    return found


def _said(value: Cell) -> str:
    return (
        "not there" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    )
