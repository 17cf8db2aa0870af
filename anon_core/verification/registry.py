"""Finds the second computation of each privacy model: a file in `promises/`, entered by its name.

The core has a registry of its own, which nothing here may use.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from anon_core.verification.evidence import Evidence, Form
from anon_core.verification.findings import Check

#: Columns that a promise is about.
Columns = Literal["quasi", "sensitive", "every"]
Judge = Callable[[Evidence], Sequence[Check]]
_J = TypeVar("_J", bound=Judge)


@dataclass(frozen=True, kw_only=True)
class SecondComputation:
    """How one promise is recomputed.

    Attributes
    ----------
    judge : callable
        Given the evidence it returns the checks.
    forms : tuple of str
        The forms of a release it can judge; on another the promise is undecided.
    called : str
        What its checks call the promise.
    needs_public : bool
        Whether it looks at the public table.
    counts_people : bool
        Whether it counts distinct persons where the recipe tells them apart; else it is undecided.
    looks_at : str
        Which published columns it looks at, beside those that its parameters name:
        quasi-identifiers alone, sensitive columns as well, or every one.
    """

    judge: Judge
    forms: tuple[Form, ...]
    called: str
    needs_public: bool
    counts_people: bool
    looks_at: Columns


_found: dict[str, SecondComputation] = {}
_loaded: set[str] = set()


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
        Whether it looks at the public table, which is read for such promises only.
    counts_people : bool
        Whether it counts distinct persons where the recipe tells them apart.
    looks_at : str
        Which published columns it looks at, beside those that its parameters name:
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
    if not _loaded:
        folder = importlib.import_module(f"{__package__}.promises")
        for module in pkgutil.iter_modules(folder.__path__):
            importlib.import_module(f"{folder.__name__}.{module.name}")
        _loaded.add(folder.__name__)
    return dict(sorted(_found.items()))
