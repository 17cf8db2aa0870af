"""`suggest`: techniques that suit a release, with privacy models, settings and threshold set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.base.errors import BadPlan, clipped
from anon_core.cli.output import INFEASIBLE, OK, tell, write_json

if TYPE_CHECKING:
    from anon_core.explain.advice.recommendations import Recommendation, Request
    from anon_core.explain.advice.trials import Offers, Trial

#: Techniques that suit and may be tried, until as many as are reported were found good.
_TRIED = 8


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from anon_core.explain.advice.recommendations import CONCEALED, PURPOSES, RELEASE_MODELS

    parser.add_argument(
        "--data", type=Path, required=True, help="the table, or a folder of its parts"
    )
    parser.add_argument(
        "--roles",
        type=Path,
        required=True,
        help="TOML with [roles], and [hierarchies], [types], [data] and [population] if needed; a "
        "recipe works too",
    )
    parser.add_argument(
        "--purpose", required=True, choices=tuple(PURPOSES), help="what the release is for"
    )
    parser.add_argument(
        "--recipient", required=True, choices=tuple(RELEASE_MODELS), help="who gets it"
    )
    parser.add_argument(
        "--hide",
        action="append",
        choices=tuple(CONCEALED),
        help="what an attacker must not learn (repeatable); default: identity, and attribute if a "
        "column is sensitive",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        help="highest acceptable chance; default: what is usual for the recipient",
    )
    parser.add_argument(
        "--take", type=int, default=1, help="number of the recommendation that --out writes"
    )
    parser.add_argument("--out", type=Path, help="write the recommended recipe to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=suggest)


def suggest(options: argparse.Namespace) -> int:
    """Rank the techniques for a table, tell them, and write a recipe; return the exit status."""
    from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
    from anon_core.base.context import Context
    from anon_core.contracts.algorithm import met_first
    from anon_core.explain.advice.countermeasures import Inputs
    from anon_core.explain.advice.recommendations import Request, first_offered, recommended
    from anon_core.explain.advice.table_facts import facts_of
    from anon_core.explain.advice.trials import worth_offering
    from anon_core.pipeline.input_tables import read_as_declared, read_population
    from anon_core.recipe.hierarchy_folder import with_files
    from anon_core.recipe.plan import Plan, load_hierarchies
    from anon_core.recipe.readers import read_tables

    try:
        text = read_regular(options.roles, MOST_TEXT_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadPlan(
            f"{clipped(options.roles.name)} cannot be read as text.", remedy="Check the path."
        ) from error
    given: dict[str, Any] = {**read_tables(text)}
    for chosen in ("release", "reuse", "accept", "attacks", "metrics", "seed"):
        given.pop(chosen, None)
    begun = {"name": met_first()[0]}, [{"name": first_offered("identity").name}]
    folder = options.roles.parent
    plan = Plan.from_mapping({**given, "algorithm": begun[0], "models": begun[1]})
    plan = replace(plan, hierarchies=with_files(plan.hierarchies, plan.roles, folder))
    if plan.hierarchies:
        given["hierarchies"] = dict(plan.hierarchies)
    table = read_as_declared(plan, options.data)
    people = read_population(plan, folder)
    usual = ("identity", "attribute") if plan.roles.sensitive else ("identity",)
    request = Request(
        purpose=options.purpose,
        concealed=tuple(options.hide or usual),
        recipient=options.recipient,
        chance=options.threshold,
    )
    levels = load_hierarchies(plan, folder)
    facts = facts_of(table, plan.roles, levels, people.rows if people is not None else 0)
    suited = recommended(request, facts, _TRIED)
    inputs = Inputs(dataset=table, levels=levels, population=people)
    offered = worth_offering(suited, lambda one: {**given, **one.tables()}, inputs, Context())
    found = tuple(one for one, _ in offered.shown)
    trials = {one.algorithm.name: trial for one, trial in offered.shown}
    recipes = [Plan.from_mapping({**given, **one.tables()}) for one in found]
    if options.json:
        write_json(
            {
                "schema": 1,
                "threshold": request.threshold,
                "threshold_source": request.threshold_source,
                "tried_on_rows": 0 if offered.unsettled else offered.sample or table.rows,
                "not_tried": str(offered.unsettled or ""),
                "recommended": [_fields(one, trials[one.algorithm.name]) for one in found],
            }
        )
    else:
        _tell(found, request, len(plan.roles.quasi), trials, offered)
        if not found:
            tell(
                (
                    "No suitable technique finds a release of this table: ask for less, or name "
                    "hierarchies."
                )
                if suited
                else "No technique protects against everything you listed: list fewer threats, "
                "mark sensitive columns, or provide a population table."
            )
    if not found:
        return INFEASIBLE
    if options.out is not None:
        if not 1 <= options.take <= len(found):
            raise BadPlan(
                f"--take is {options.take}, and {len(found)} are recommended.",
                remedy=f"Use a number from 1 to {len(found)}.",
            )
        chosen_one = recipes[options.take - 1].moved(folder, options.out.parent)
        with options.out.open("x", encoding="utf-8") as written:
            written.write(chosen_one.as_recipe_for_others())
    return OK


def _fields(one: Recommendation, trial: Trial | None) -> dict[str, Any]:
    came = None
    if trial is not None:
        came = {"lost": trial.loss, "thresholds_missed": [a.attack for a in trial.missed]}
    return {
        "tried": came,
        "title": one.algorithm.title,
        "reason": one.reason,
        "notes": list(one.notes),
        "asks_first": one.asks_first,
        "obstacles": list(one.obstacles),
        **one.tables(),
    }


def _tell(
    found: tuple[Recommendation, ...],
    request: Request,
    quasi: int,
    trials: Mapping[str, Trial | None],
    offered: Offers,
) -> None:
    source = request.threshold_source
    tell(f"Threshold: a chance of at most {request.threshold:g}{f' ({source})' if source else ''}.")
    if offered.order:
        tell(f"In this order: {offered.order}.")
    if offered.unsettled is not None:
        tell(f"Nothing was tried on this table, since no run is allowed yet: {offered.unsettled}")
    for place, one in enumerate(found, start=1):
        tell(f"{place}. {one.algorithm.title}: {one.reason}")
        for model in one.models:
            tell(f"   Privacy model: {model.in_words(quasi)}")
        for line in (*one.notes, *one.obstacles, *filter(None, [one.asks_first])):
            tell(f"   {line}")
        trial = trials[one.algorithm.name]
        if trial is not None:
            lost = "" if trial.loss is None else f" loss {trial.loss:.3f},"
            named = ", ".join(a.attack for a in trial.missed)
            met = f"misses the threshold of {named}" if named else "every threshold is met"
            of = f"a sample of {offered.sample:,} rows" if offered.sample else "this table"
            tell(f"   Tried on {of}:{lost} {met}.")
