"""Finds the second computation of each privacy model, and asks each that a recipe names.

They are in `models/`, entered by their names. The core has a registry of its own, which nothing
here may use.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import CannotTell, Evidence, Form
from anon_core.verification.findings import Check, judged, undecided
from anon_core.verification.recipe import Terms, is_number
from anon_core.verification.rows.groups import Grouped, Settled
from anon_core.verification.rows.matching import TooLarge
from anon_core.verification.rows.people import Behind, PublicPeople
from anon_core.verification.rows.tables import PrivateTable

#: Columns that a model is about.
Columns = Literal["quasi", "sensitive", "every"]
Judge = Callable[[Evidence], Sequence[Check]]
_J = TypeVar("_J", bound=Judge)


@dataclass(frozen=True, kw_only=True)
class SecondComputation:
    """How one model is recomputed.

    Attributes
    ----------
    judge : callable
        Given the evidence it returns the checks.
    forms : tuple of str
        The forms of a release it can judge; on another the model is undecided.
    called : str
        What its checks call the model.
    needs_public : bool
        Whether it looks at the public table.
    counts_people : bool
        Whether it counts distinct persons where the recipe tells them apart; else it is undecided.
    looks_at : str
        Which published columns it looks at, next to those that its parameters name:
        quasi-identifiers alone, sensitive columns as well, or every one.
    """

    judge: Judge
    forms: tuple[Form, ...]
    called: str
    needs_public: bool
    counts_people: bool
    looks_at: Columns


_found: dict[str, SecondComputation] = {}


def recomputes(
    model: str,
    *,
    forms: Sequence[Form],
    called: str = "",
    needs_public: bool = False,
    counts_people: bool = False,
    looks_at: Columns = "sensitive",
) -> Callable[[_J], _J]:
    """Return a decorator that enters the second computation of a model.

    Parameters
    ----------
    model : str
        The name that recipes give the model.
    forms : sequence of str
        What it can judge: ``whole``, ``averaged``, ``permuted``.
    called : str, optional
        What checks call it where that is not its name.
    needs_public : bool
        Whether it looks at the public table, which is read for such models only.
    counts_people : bool
        Whether it counts distinct persons where the recipe tells them apart.
    looks_at : str
        Which published columns it looks at, next to those that its parameters name:
        quasi-identifiers alone, sensitive columns as well, or every one.

    Raises
    ------
    ValueError
        If the model has one already; a programming error.
    """

    def enter(judge: _J) -> _J:
        before = _found.get(model)
        # A source edit reloads modules: the same function under the same path replaces itself.
        if before is not None and _path(before.judge) != _path(judge):
            raise ValueError(f"the model '{model}' has two second computations")
        _found[model] = SecondComputation(
            judge=judge,
            forms=tuple(forms),
            called=called or model,
            needs_public=needs_public,
            counts_people=counts_people,
            looks_at=looks_at,
        )
        return judge

    return enter


def _path(judge: Judge) -> tuple[str, str]:
    return judge.__module__, judge.__qualname__


def second_computations() -> dict[str, SecondComputation]:
    """Return every second computation by the name of its model, in alphabetical order."""
    _load()
    return dict(sorted(_found.items()))


@cache
def _load() -> None:
    folder = importlib.import_module(f"{__package__}.models")
    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")


# Recompute every privacy model of a recipe from the evidence of a release.


def judge_all(
    parts: Mapping[str, Grouped], private: PrivateTable, people: Callable[[], PublicPeople | None]
) -> list[Check]:
    """Recompute every model of a recipe.

    Parameters
    ----------
    parts, private
        As `Evidence` has them.
    people : callable
        Reads the public table, if one was given.
    """
    return [check for one in _evidence(parts, private, people) for check in judge(one)]


def _evidence(
    parts: Mapping[str, Grouped], private: PrivateTable, people: Callable[[], PublicPeople | None]
) -> Iterator[Evidence]:
    """Yield what each model of the recipe is judged by."""
    behind_of: dict[tuple[str, ...], Behind] = {}
    for model in private.terms.models:
        yield Evidence(
            model=model, parts=parts, private=private, people=people, behind_of=behind_of
        )


def fails_alone(
    grouped: Grouped, private: PrivateTable, people: Callable[[], PublicPeople | None]
) -> tuple[npt.NDArray[np.bool_], Settled | None] | str:
    """Return which classes break a model of the recipe by themselves, and who decides of the rest.

    Or why that is unknown.

    Returns
    -------
    broken : bool array of shape (classes,)
    settled : callable or None
        Of a model that is about all classes together; `broken` is then what the others say.
    """
    broken = np.zeros(len(grouped.sizes), dtype=np.bool_)
    settled: list[Settled] = []
    for evidence in _evidence({"release": grouped}, private, people):
        found = judge(evidence)
        nothing = not evidence.failing and not evidence.settled
        if nothing or any(check.undecided for check in found):
            return f"'{evidence.name}' does not decide it class by class"
        settled += evidence.settled
        for lines in evidence.failing:
            broken[grouped.group[lines]] = True
    if len(settled) > 1:
        return "several privacy models are about all classes together"
    return broken, settled[0] if settled else None


def judge(evidence: Evidence) -> list[Check]:
    """Recompute one model; what cannot be decided is a check that does not hold."""
    name, second = evidence.name, second_computations().get(evidence.name)
    if second is None:
        sentence = f"'{name}' cannot be recomputed: it is not known here."
        return [undecided(name or "model", sentence)]
    called, found = second.called, list[Check]()
    # Nothing found is nothing recomputed.
    sentence = f"{called} cannot be recomputed: nothing was looked at."
    if evidence.form not in second.forms:
        sentence = f"{called} of averages cannot be recomputed."
        if evidence.form == "permuted":
            sentence = f"'{name}' cannot be recomputed where columns are permuted separately."
    elif evidence.terms.person and not second.counts_people:
        sentence = f"{called} counts rows, and the recipe says that a person may have several."
    else:
        try:
            found = list(second.judge(evidence))
        except CannotTell as error:
            sentence = f"{called} cannot be recomputed: {error.message}."
        except TooLarge as error:
            sentence = f"{called} is not decided. {error.message}"
    return found or [undecided(name, sentence)]


def looks_at_public(terms: Terms) -> bool:
    """Say whether a model of the recipe is about the people of the public table."""
    known = second_computations()
    names = (str(model.get("name", "")) for model in terms.models)
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
        if least is not None and is_number(least):
            share = Fraction(published, max(rows, 1))
            sentence = (
                f"{published} of the table's {rows} rows are published ({float(share):.2%}); the "
                f"gate of the recipe asks for {float(least):.2%}."
            )
            wrong = share < Fraction(str(least))
            found.append(judged(GATES, wrong, sentence, bound=least, reached=share))
    return found
