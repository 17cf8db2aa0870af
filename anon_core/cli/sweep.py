"""`sweep`: carry out a recipe for every combination of choices, and tell what each one reaches."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadPlan, clipped
from anon_core.base.registry import find
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.cli.key import declare_key, with_key
from anon_core.cli.output import INFEASIBLE, OK, STOPPED, Stages, note, tell, write_json

if TYPE_CHECKING:
    from anon_core.contracts.metric import Metric
    from anon_core.pipeline.sweep.points import Least, Point


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("recipe", type=Path, help="the recipe to vary (TOML)")
    parser.add_argument(
        "--data", type=Path, required=True, help="the table, or a folder of its parts"
    )
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="WHAT=VALUES",
        help="parameter and its values, such as models.k=2,5,10 or algorithm=mondrian,optimal; "
        "repeat it to run every combination",
    )
    parser.add_argument(
        "--at-most",
        metavar="RISK=CHANCE",
        help="report the least loss within this risk, such as prosecutor=0.09; write "
        "attack:column=… for an attack on one column",
    )
    parser.add_argument(
        "--figure",
        choices=("worst", "rate"),
        default="worst",
        help="risk of the most exposed person, or the average over all people",
    )
    parser.add_argument("--loss", default="", metavar="METRIC", help="metric of the loss axis")
    parser.add_argument("--json", action="store_true", help="print all points as one JSON object")
    parser.add_argument("--progress", action="store_true", help="name each point as it begins")
    declare_key(parser)
    parser.set_defaults(command=sweep_recipe)


def sweep_recipe(options: argparse.Namespace) -> int:
    """Sweep a recipe and tell of every point; return the exit status. Nothing is written.

    Stopped by Ctrl+C it says of the points that were ready by then.
    """
    from anon_core.base.context import Context
    from anon_core.pipeline.input_tables import read_as_declared, read_earlier, read_population
    from anon_core.pipeline.sweep.points import common_losses, known_risks, least_loss
    from anon_core.pipeline.sweep.sweep import Varied, sweep
    from anon_core.pipeline.sweep.variations import combinations, read_variation
    from anon_core.recipe.plan import load_hierarchies, read_plan

    plan = with_key(read_plan(options.recipe), options)
    over = Varied(variations=tuple(read_variation(text) for text in options.vary), settings={})
    risk, limit = _limit(options.at_most)
    loss = options.loss or common_losses()[0]
    find("metric", loss)  # a name that is none is refused before the work, not after it
    if risk:
        find("attack", risk.partition(":")[0])
    points: list[Point] = []

    def found(point: Point) -> None:
        points.append(point)
        if not options.json:
            _tell(point, loss, risk, options.figure)

    stopped = False
    try:
        sweep(
            plan,
            over,
            read_as_declared(plan, options.data),
            load_hierarchies(plan, options.recipe.parent),
            population=read_population(plan, options.recipe.parent),
            earlier=read_earlier(plan, options.recipe.parent),
            context=Context(progress=Stages()) if options.progress else Context(),
            found=found,
            keep=False,
        )
    except KeyboardInterrupt:
        if not points:
            raise
        stopped = True
        number = len(combinations(over.variations))
        sys.stderr.write(f"Stopped after {len(points)} of {number} points; these are reported.\n")
    note(plan.notes)
    answer = None
    if risk and any(point.status == "released" for point in points):
        answer = least_loss(points, loss=loss, risk=risk, at_most=limit, figure=options.figure)
    if options.json:
        from anon_core import VERSION

        write_json(
            {
                "schema": 1,
                "version": VERSION,
                "status": "stopped" if stopped else "swept",
                "varied": {v.path: list(v.values) for v in over.variations},
                "risks": list(known_risks(points)),
                "points": [point.as_json() for point in points],
                "answer": _answer(points, answer, loss, risk, limit, options.figure),
            }
        )
    elif answer is not None:
        tell(_sentence(answer, loss, risk, limit, options.figure))
    if stopped:
        return STOPPED
    return OK if any(point.status == "released" for point in points) else INFEASIBLE


def _limit(text: str | None) -> tuple[str, float]:
    """Return which risk is limited, and by what chance."""
    if not text:
        return "", 1.0
    risk, _, chance = text.rpartition("=")
    try:
        limit = float(chance)
    except ValueError:
        limit = -1.0
    if not risk or not 0 <= limit <= 1:
        raise BadPlan(
            f"{clipped(text)!r} is not a limit of a risk.",
            remedy="Write it as prosecutor=0.09: an attack, and a chance from 0 to 1.",
        )
    return risk, limit


def _tell(point: Point, loss: str, risk: str, figure: Any) -> None:
    """Write one line about a point."""
    if point.status != "released":
        tell(f"{point.title}: {point.status}. {point.why}")
        return
    lost = point.losses.get(loss)
    words = [f"{loss} {lost:.4g}" if lost is not None else f"{loss} not measured"]
    names = [risk] if risk else list(point.risks)
    for name in names:
        reached = point.risk(name, figure)
        words.append(
            f"{name} {reached:.4g}"
            if reached is not None
            else f"{name} not run: {point.why_unknown(name)}"
        )
    tell(f"{point.title}: {'; '.join(words)}; {point.suppressed} {ROWS_SUPPRESSED}.")


def _sentence(answer: Least, loss: str, risk: str, limit: float, figure: str) -> str:
    asked = f"with {risk} ({figure}) at most {limit:g}"
    if answer.point is None:
        return f"No release {asked}."
    least = "Most" if cast("type[Metric]", find("metric", loss)).scale.more_is_better else "Least"
    return f"{least} {loss} {asked}: {answer.point.title} ({answer.point.losses[loss]:.4g})."


def _answer(
    points: list[Point], answer: Least | None, loss: str, risk: str, limit: float, figure: str
) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {
        "metric": loss,
        "risk": risk,
        "at_most": limit,
        "figure": figure,
        "point": None if answer.point is None else points.index(answer.point),
        "within": answer.within,
        "not_told": [points.index(point) for point in answer.uncounted],
    }
