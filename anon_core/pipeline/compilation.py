"""Compile what the techniques need before it is needed, and keep it on the disk.

Compiling costs most of a minute of processor time once after installation; loading what was kept
takes a fraction of a second. The simplest list of what is needed is a run of every technique, so
that is what is done, on a table of a few rows, the usual techniques first.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm, met_first
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.samples import Sample, hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.kernels.compilation import interpreting as interpreting  # for lessons and pages
from anon_core.kernels.compilation import kept_in, use_machine_code
from anon_core.pipeline.measure.extra_attacks import attack
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan

_FEW, _MANY = "toth-private", "hospital"
_STAMP = "warmed.txt"
#: Lines that `tell_ahead` writes: what follows is compiled; nothing can be kept; a technique.
COMPILING, UNKEPT, READY = "compiling", "unkept", "ready "


def is_warm() -> bool:
    """Return whether everything was compiled by this very code, and kept."""
    place = kept_in()
    if place is None:
        return False
    with suppress(OSError):
        return (place / _STAMP).read_text(encoding="utf-8") == _stamp()
    return False


def warm(report: Callable[[str], None], wanted: Callable[[], str] = str) -> None:
    """Compile or load what every technique needs; names each technique that is ready.

    Parameters
    ----------
    report : callable
        Called with the name of an algorithm once a run with its usual settings compiles nothing.
    wanted : callable, optional
        Returns the name of an algorithm that someone waits for, or an empty text.
    """
    use_machine_code()
    asked = {
        n for n, kind in family("attack").items() if not cast(type[Attack], kind).use.by_default
    }
    left = _algorithms()
    while left:
        name = wanted() or left[0]
        if name not in left:  # it is done
            continue
        left.remove(name)
        for result in _run(name, usual=True):
            asked -= _attacked(result, asked)
        report(name)
    for name in _algorithms():
        for result in _run(name, usual=False):
            asked -= _attacked(result, asked)
    place = kept_in()
    if place is not None:
        with suppress(OSError):
            part = place / f".{_STAMP}.{os.getpid()}"
            part.write_text(_stamp(), encoding="utf-8")
            part.replace(place / _STAMP)


def load() -> None:
    """Load into this process what the usual techniques need, or compile it if it is not kept."""
    use_machine_code()
    for name in met_first():
        for usual in (True, False):
            deque(_run(name, usual=usual), maxlen=0)


def tell_ahead(write: Callable[[str], None], wanted: Callable[[], str] = str) -> None:
    """Compile ahead in a process of its own, and write a line after each step.

    What is kept already is not looked at again. Where nothing can be kept, compiling here would
    help no one else, and is left to the process that needs it.
    """
    if is_warm():
        return
    if kept_in() is None:
        write(UNKEPT)
        return
    write(COMPILING)
    warm(lambda name: write(READY + name), wanted)


def _attacked(result: Result, asked: set[str]) -> set[str]:
    """Carry out those attacks that apply, and return them: runs leave them out."""
    done: set[str] = set()
    for name in asked:
        adversary = cast(Attack, find("attack", name)())
        if not not_applicable(adversary, result.release.view, result.audience):
            with suppress(AnonError):
                attack(result, adversary, Context())
                done.add(name)
    return done


def _run(name: str, *, usual: bool) -> Iterator[Result]:
    """Run an algorithm on a few rows, with and without a population; some techniques on more.

    What speeds up large tables is left out on small ones. The `usual` settings are the defaults;
    the others, and the population, come later.
    """
    for one in (_FEW, _MANY) if name in met_first() else (_FEW,):
        given = sample(one)
        table, public = _table(one), _table(given.public) if given.public else None
        levels: dict[str, LevelTable] = {
            column: read_levels(hierarchy_folder() / path, column)
            for column, path in given.hierarchies.items()
        }
        for place, plan in enumerate(_plans(name, given)):
            for population in (None, public) if public is not None else (None,):
                if usual != (place == 0 and population is None):
                    continue
                # A technique that a few rows cannot satisfy is compiled all the same.
                with suppress(AnonError):
                    yield run(plan, table, levels, population=population)


def _table(name: str) -> Dataset:
    one = sample(name)
    return Dataset.from_frame(one.frame(), kinds=one.types)


def _algorithms() -> list[str]:
    first = met_first()  # is compiled first
    return [*first, *(name for name in family("algorithm") if name not in first)]


def _plans(name: str, given: Sample) -> Iterator[Plan]:
    """Return the plans that an algorithm is run with: its defaults, with and without removals."""
    technique = family("algorithm")[name]
    permutes = issubclass(technique, Algorithm) and technique.shape.permutes
    anonymity: dict[str, object] = {"name": "k-anonymity", "k": 2}
    models = [{"name": "frequency-l-diversity", "l": 2} if permutes else anonymity]
    settings: list[dict[str, object]] = [{}]
    if any(parameter.name == "max_suppression" for parameter in technique.parameters()):
        settings = [{"max_suppression": share} for share in (0.0, 0.02, 1.0)]
    if any(parameter.name == "small" for parameter in technique.parameters()):
        settings = [settings[0], *({**one, "small": "remove"} for one in settings[1:])]
    if any(parameter.name == "list_minimal" for parameter in technique.parameters()):
        settings.append({"max_suppression": 0.02, "list_minimal": True})
    asked = [(chosen, models) for chosen in settings]
    if permutes:  # its chances are a loop that takes longer to compile than all others
        asked.append((settings[0], [*models, {"name": "slicing-l-diversity", "l": 2}]))
    for chosen, promised in asked:
        yield Plan.from_mapping(
            {
                "types": dict(given.types),
                "roles": {
                    "identifier": list(given.identifier),
                    "quasi": list(given.quasi),
                    "sensitive": list(given.sensitive),
                    "insensitive": list(given.insensitive),
                },
                "algorithm": {"name": name, **chosen},
                "models": promised,
            }
        )


def _stamp() -> str:
    """Return what compiled code depends on: this package's sources, the compiler, the processor."""
    import llvmlite.binding as llvm
    import numba

    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    made_by = (numba.__version__, sys.version, platform.machine(), llvm.get_host_cpu_name())
    digest.update(repr(made_by).encode())
    return digest.hexdigest()
