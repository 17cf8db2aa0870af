"""Recompute every privacy model of a recipe from the evidence of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, cast

from anon_core.verification.evidence import CannotTell, Evidence, Levels
from anon_core.verification.fillings import TooManyFillings
from anon_core.verification.findings import Check, undecided
from anon_core.verification.registry import SecondComputation, second_computations
from anon_core.verification.rows.candidate_rows import Behind
from anon_core.verification.rows.groups import Grouped
from anon_core.verification.rows.matching import TooLarge
from anon_core.verification.rows.public_people import PublicPeople
from anon_core.verification.rows.tables import PrivateTable, Promise


def judge_all(
    promise: Promise,
    parts: Mapping[str, Grouped],
    private: PrivateTable,
    levels: Levels,
    people: Callable[[], PublicPeople | None],
) -> list[Check]:
    """Recompute every promise of a recipe.

    Parameters
    ----------
    parts, private, levels
        As `Evidence` has them.
    people : callable
        Reads the public table, if one was given.
    """
    known = second_computations()
    behind_of: dict[tuple[str, ...], Behind] = {}
    checks: list[Check] = []
    for model in promise.models:
        name = str(model.get("name", ""))
        second = known.get(name)
        if second is None:
            sentence = f"'{name}' cannot be recomputed: it is not known here."
            checks.append(undecided(name or "model", sentence))
            continue
        evidence = Evidence(
            name=name,
            model=model,
            promise=promise,
            parts=parts,
            private=private,
            levels=levels,
            people=people,
            behind_of=behind_of,
        )
        checks += judge(evidence, second)
    return checks


def judge(evidence: Evidence, second: SecondComputation) -> list[Check]:
    """Recompute one promise; what cannot be told is a check that does not hold."""
    name, called = evidence.name, second.called
    if evidence.form not in second.forms:
        where = (
            f"'{name}' cannot be recomputed where columns are permuted separately."
            if evidence.form == "permuted"
            else f"{called} of averages cannot be recomputed."
        )
        return [undecided(name, where)]
    if evidence.promise.person and not second.counts_people:
        sentence = f"{called} counts rows, and the recipe says that a person may have several."
        return [undecided(name, sentence)]
    try:
        found = list(second.judge(evidence))
    except CannotTell as error:
        return [undecided(name, f"{called} cannot be recomputed: {error.message}.")]
    except (TooLarge, TooManyFillings) as error:
        return [undecided(name, f"{called} is not decided. {error.message}")]
    # Nothing found is nothing recomputed.
    return found or [undecided(name, f"{called} cannot be recomputed: nothing was looked at.")]


def looks_at_public(promise: Promise) -> bool:
    """Say whether a promise of the recipe is about the people of the public table."""
    known = second_computations()
    names = (str(model.get("name", "")) for model in promise.models)
    return any(name in known and known[name].needs_public for name in names)


# Gates of a recipe that the published rows alone decide; figures of a run are measured there.


#: The name of their checks.
GATES = "accept"


def check_gates(recipe: Mapping[str, Any], published: int, rows: int) -> list[Check]:
    """Check the share of the table's rows that is published against the recipe's [[accept]].

    Parameters
    ----------
    published, rows : int
        Rows of the release, and of the table as it was read.
    """
    gates = recipe.get("accept", [])
    found: list[Check] = []
    for gate in cast(list[object], gates) if isinstance(gates, list) else []:
        least = cast(Mapping[str, Any], gate).get("rows") if isinstance(gate, Mapping) else None
        if isinstance(least, bool) or not isinstance(least, int | float):
            continue
        share = Fraction(published, max(rows, 1))
        holds = share >= Fraction(str(least))
        found.append(
            Check(
                name=GATES,
                holds=holds,
                bound=float(least),
                reached=float(share),
                sentence=f"{published} of the table's {rows} rows are published ({float(share):.2%}"
                f"); the gate of the recipe asks for {float(least):.2%}.",
            )
        )
    return found
