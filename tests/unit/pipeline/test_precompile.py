"""Compiling ahead: what a run needs is there afterwards, and nothing is done twice."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest

from anon_core import Dataset, Plan, kernels, run
from anon_core.__main__ import main
from anon_core.base.context import Context
from anon_core.kernels import compilation as door
from anon_core.pipeline import compilation as warming
from anon_core.pipeline.measure.extra_attacks import attack
from anon_core.techniques.attacks.definetti import DeFinetti
from anon_core.techniques.attacks.linking import Linking
from tests.often import EVERY

pytestmark = pytest.mark.usefixtures("nobody_compiles_ahead")
#: What is compiled ahead and then run.
RUN = ("optimal", "mondrian", "slicing", "anatomy")


def compiled_now() -> set[tuple[str, str]]:
    """Return every kernel with every signature that it is compiled for in this process."""
    found: set[tuple[str, str]] = set()
    for info in pkgutil.iter_modules(kernels.__path__):
        module = importlib.import_module(f"{kernels.__name__}.{info.name}")
        for name, kernel in vars(module).items():
            if getattr(kernel, "__module__", "") == module.__name__:
                signatures = getattr(kernel, "signatures", ())
                found |= {(f"{info.name}.{name}", str(each)) for each in signatures}
    return found


def drawn(rows: int) -> tuple[Dataset, dict[str, list[list[str]]]]:
    """Return a table that no sample is like, with a hierarchy for every column."""
    generator = np.random.default_rng(7)
    sizes = {"a": 40, "b": 12, "c": 6, "d": 9, "e": 25}
    frame = pd.DataFrame({n: generator.binomial(s, 0.3, rows) for n, s in sizes.items()})
    frame["ill"] = generator.choice(["flu", "cold", "gout", "none"], rows)
    levels = {
        name: [[str(v), f"{v // 4 * 4} to {v // 4 * 4 + 3}", "*"] for v in range(size + 1)]
        for name, size in sizes.items()
    }
    return Dataset.from_frame(frame), levels


@pytest.mark.often
def test_a_run_of_another_table_compiles_nothing_afterwards(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """At every change only what is run afterwards is compiled ahead; else all is."""
    ready: list[str] = []
    if not EVERY:
        own = [n for n in warming._algorithms() if n in RUN]
        monkeypatch.setattr(warming, "_algorithms", lambda: list(own))
        monkeypatch.setattr(warming, "kept_in", lambda: tmp_path)  # not noted as done
    warming.warm(ready.append)
    assert ready[:2] == ["optimal", "mondrian"]
    before = compiled_now()
    assert before
    for rows in (300, 9_000):
        table, levels = drawn(rows)
        for algorithm in (
            {"name": "optimal"},
            {"name": "optimal", "max_suppression": 0.05},
            {"name": "optimal", "max_suppression": 1.0},
            {"name": "mondrian"},
            {"name": "slicing"},
            {"name": "anatomy"},
        ):
            permutes = algorithm["name"] in ("slicing", "anatomy")
            diversity = [{"name": f"{of}-l-diversity", "l": 2} for of in ("frequency", "slicing")]
            plan = Plan.from_mapping(
                {
                    "roles": {"quasi": list(levels), "sensitive": ["ill"]},
                    "algorithm": algorithm,
                    "models": diversity if permutes else [{"name": "k-anonymity", "k": 5}],
                }
            )
            result = run(plan, table, {} if permutes else levels)
            assert result.verification.holds
            assert compiled_now() == before, algorithm
            if permutes and rows == 300:  # attacks that no run carries out unless asked for
                for adversary in (DeFinetti(), Linking(people=20)):
                    assert attack(result, adversary, Context())
                assert compiled_now() == before, algorithm


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Let what is compiled be kept in a folder of its own, as far as warming can tell."""
    monkeypatch.setattr(warming, "kept_in", lambda: tmp_path)
    return tmp_path


def test_what_was_compiled_is_told_once_and_then_kept(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(warming, "_algorithms", lambda: ["mondrian"])
    assert not warming.is_warm()
    lines: list[str] = []
    warming.tell_ahead(lines.append)
    assert lines == [warming.COMPILING, warming.READY + "mondrian"]
    assert [path.name for path in place.iterdir()] == ["warmed.txt"]
    assert warming.is_warm()
    warming.tell_ahead(lines.append)
    assert len(lines) == 2


def test_what_somebody_waits_for_is_next(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(warming, "_algorithms", lambda: ["a", "b", "c", "d"])
    monkeypatch.setattr(warming, "_run", lambda name, usual: [])
    asked = iter(["c", "a", "", "unknown"])
    ready: list[str] = []
    warming.warm(ready.append, lambda: next(asked, ""))
    assert ready == ["c", "a", "b", "d"]


@pytest.mark.parametrize("what", ["_stamp", "kept_in"])
def test_other_code_or_another_place_is_compiled_for_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
):
    monkeypatch.setattr(warming, "_algorithms", list)
    warming.warm(lambda name: None)
    assert warming.is_warm()
    changed: Any = "other" if what == "_stamp" else place / "elsewhere"
    monkeypatch.setattr(warming, what, lambda: changed)
    assert not warming.is_warm()


def test_loading_runs_the_usual_techniques_only(place: Path, monkeypatch: pytest.MonkeyPatch):
    ran: list[tuple[str, bool]] = []
    monkeypatch.setattr(warming, "_run", lambda name, usual: [ran.append((name, usual))])
    warming.load()
    assert ran == [(n, usual) for n in ("optimal", "mondrian") for usual in (True, False)]
    assert not warming.is_warm()


def test_where_nothing_can_be_kept_that_is_said_and_nothing_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(warming, "kept_in", lambda: None)
    assert main(["warm"]) == 0
    assert capsys.readouterr().out.split() == [warming.UNKEPT]


def test_a_place_that_cannot_be_written_breaks_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(warming, "kept_in", lambda: place / "gone")
    monkeypatch.setattr(warming, "_algorithms", lambda: ["mondrian"])
    ready: list[str] = []
    warming.warm(ready.append)
    assert ready == ["mondrian"]
    assert not warming.is_warm()


def test_a_kernel_works_where_none_can_be_kept(monkeypatch: pytest.MonkeyPatch):
    genuine = numba.njit

    def njit(*given: Any, cache: bool = False, **more: Any) -> Any:
        if cache:

            def refuse(function: Any) -> Any:
                raise RuntimeError("cannot cache function: no locator available")

            return refuse
        return genuine(*given, **more)

    assert door.kept_in() is not None
    monkeypatch.setattr(numba, "njit", njit)
    assert door.kept_in() is None
    assert door.compiled(_sum_to)(4) == 10


def _sum_to(n: int) -> int:
    total = 0
    for i in range(n + 1):
        total += i
    return total
