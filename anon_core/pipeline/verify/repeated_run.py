"""A recipe carried out again to verify its release: what only the run knows, and no file shows.

Which rows are in which group, what the secret drew, and the figures that gates are about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import Technique
from anon_core.pipeline.input_tables import read_as_declared, read_earlier, read_population
from anon_core.pipeline.publish.file_formats import in_parts, published_formats, written
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan, load_hierarchies
from anon_core.verification.findings import Check, not_checked
from anon_core.verification.registry import GATES

#: The name of the check that compares what a secret draws again.
AGAIN = "drawn-again"
_DIFFERS = (
    "Carried out again, the recipe makes another release: it was changed, or another recipe, "
    "secret or version of the workbench made it."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeated:
    """What came of carrying a recipe out again.

    Attributes
    ----------
    same : bool
        Whether it publishes, byte for byte, what lies in the release's folder.
    why : str
        Where it was not carried out, or could have ended elsewhere, why.
    """

    result: Result | None = None
    same: bool = False
    why: str = ""


def tells_more(plan: Plan) -> bool:
    """Say whether a run knows something that verification asks for and no file shows."""
    gates = any(gate.kind != "rows" for gate in plan.accept)
    return gates or plan.algorithm.shape.permutes or plan.algorithm.shape.averages


def repeated(plan: Plan, folder: Path, data: Path, release: Path, *, has_secret: bool) -> Repeated:
    """Carry a recipe out again, and compare what it publishes with what lies in a folder.

    Parameters
    ----------
    folder : Path
        The recipe's, to which what it names is relative.
    has_secret : bool
        Whether the recipe names the seed; else what it draws is another release each time.
    """
    if plan.draws and not has_secret:
        return Repeated(why="The recipe has no secret, so it cannot be carried out again.")
    try:
        result = run(
            replace(plan, accept=()),
            read_as_declared(plan, data),
            load_hierarchies(plan, folder),
            population=read_population(plan, folder),
            earlier=read_earlier(plan, folder),
            context=Context(),
            assess=any(gate.kind != "rows" for gate in plan.accept),
        )
        ending = published_formats(csv=plan.csv)[0]
        made = written(in_parts(result.tables, plan.parts), [ending])
        same = all(_lies(release / name, content) for name, content in made.items())
    except AnonError as error:
        return Repeated(why=f"The recipe could not be carried out again. {error.message}")
    except OSError:  # such as an address that only the command line brings here
        return Repeated(why="The recipe could not be carried out again: a file cannot be read.")
    boxed = not same and _has_time_box(plan.algorithm)
    return Repeated(
        result=result,
        same=same,
        why="Carried out again, the recipe makes another release, which may be for its time box."
        if boxed
        else "",
    )


def checks_of(plan: Plan, again: Repeated, *, has_secret: bool) -> list[Check]:
    """Return what carrying a recipe out again shows of its release."""
    found: list[Check] = []
    if plan.algorithm.shape.permutes and has_secret:
        found.append(_permutation(again))
    for gate in plan.accept:
        if gate.kind == "rows":
            continue  # the published rows tell it
        if again.result is None or not again.same:
            why = again.why or _DIFFERS
            found.append(not_checked(GATES, f"{gate.title} was not measured again. {why}"))
            continue
        missed = gate.broken_by(again.result.reached)
        found.append(
            Check(
                name=GATES,
                holds=not missed,
                sentence=missed or f"{gate.title} was measured again and keeps the recipe's gate.",
            )
        )
    return found


def _permutation(again: Repeated) -> Check:
    if again.same:
        sentence = (
            "Drawn again from the secret, the groups and the order inside them are "
            "those that are published."
        )
        return Check(name=AGAIN, holds=True, sentence=sentence)
    if again.why:
        return not_checked(AGAIN, again.why)
    return Check(name=AGAIN, holds=False, sentence=_DIFFERS)


def _lies(place: Path, content: bytes) -> bool:
    if not place.is_file() or place.stat().st_size != len(content):
        return False
    return place.read_bytes() == content


def _has_time_box(technique: Technique) -> bool:
    """Say whether a technique, or a part of it, stops at a time, so that runs may differ."""
    declared = technique.parameters()
    parts = (getattr(technique, p.name) for p in declared if p.kind == "technique")
    return any(p.unit == "seconds" for p in declared) or any(
        _has_time_box(part) for part in parts if isinstance(part, Technique)
    )
