"""pyCANON measures releases of Adult as we do; where it does not, ours follows the definition.

pyCANON (Sáinz-Pardo Díaz and López García 2022, doi 10.1038/s41597-022-01894-2) pins libraries of
its own, so that it runs in a Python of its own, which `ANONYMITY_PYCANON` names, and is shown the
published file alone. Installed here without what it pins, it is found as well:
`pip install --no-deps pycanon==1.3.6`. Its entropy l-diversity is left out: it cuts the number off,
1.89 to 1.
"""

from __future__ import annotations

import importlib.util
import io
import json
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, cast

import pandas as pd
import pytest

from anon_core import run
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.data.hierarchy import read_levels
from anon_core.data.reading import read_table
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan
from anon_core.release.private_reference import reference_of
from tests.golden.test_adult import staged, staged_levels

PYTHON = "ANONYMITY_PYCANON"
QUASI = ("race", "marital-status", "education", "workclass", "native-country")
SENSITIVE = ("occupation", "age", "sex")

#: What runs next to pyCANON: texts stay texts, ages are numbers, and rows are numbered from 0.
ASKED = """
import io, json, sys
import pandas as pd
from pycanon import anonymity as a
asked = json.load(sys.stdin)
table = pd.read_csv(io.StringIO(asked["csv"]), dtype=str, keep_default_na=False)
table = table.reset_index(drop=True)
table["age"] = pd.to_numeric(table["age"])
quasi, found = asked["quasi"], {}
for s in asked["sensitive"]:
    alpha, k = a.alpha_k_anonymity(table, quasi, [s])
    c, l = a.recursive_c_l_diversity(table, quasi, [s])
    found[s] = {
        "k": int(a.k_anonymity(table, quasi)), "k of (alpha, k)": int(k), "alpha": float(alpha),
        "l": int(a.l_diversity(table, quasi, [s])), "c": float(c), "l of (c, l)": int(l),
        "beta": float(a.basic_beta_likeness(table, quasi, [s])),
        "enhanced beta": float(a.enhanced_beta_likeness(table, quasi, [s])),
        "delta": float(a.delta_disclosure(table, quasi, [s])),
        "t": float(a.t_closeness(table, quasi, [s])),
    }
print(json.dumps(found))
"""


def python_with_pycanon() -> str:
    """Return the Python that has pyCANON, or an empty text."""
    named = os.environ.get(PYTHON, "")
    return named or (sys.executable if importlib.util.find_spec("pycanon") else "")


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not python_with_pycanon(),
        reason=f"pyCANON is not here; {PYTHON} may name a Python that has it (pycanon 1.3.6)",
    ),
    pytest.mark.skipif(
        not all(place.exists() for place in staged()) and not sample("adult").available(),
        reason="neither the benchmarks' table of Adult nor the sample is here",
    ),
]


@cache
def adult() -> tuple[Dataset, dict[str, list[list[str]]]]:
    """Return every fifth person, and the hierarchies of the quasi-identifiers."""
    if all(place.exists() for place in staged()):
        whole = read_table(staged()[0])
        levels = staged_levels(whole, QUASI)
        frame = whole.frame()
    else:
        known = sample("adult")
        frame = known.frame().dropna().rename(columns={"gender": "sex"})
        levels = {n: read_levels(hierarchy_folder() / known.hierarchies[n], n) for n in QUASI}
    frame = frame[[*QUASI, *SENSITIVE]].iloc[::5]
    return Dataset.from_frame(frame, kinds={"age": "number"}), levels


@cache
def released(name: str) -> Result:
    """Return one of the releases that both measure."""
    algorithm, *models = {
        "levels": ({"name": "optimal"}, {"name": "k-anonymity", "k": 10}),
        "levels, rows suppressed": (
            {"name": "optimal", "max_suppression": 0.02},
            {"name": "k-anonymity", "k": 25},
        ),
        "parts": ({"name": "mondrian"}, {"name": "k-anonymity", "k": 40}),
        "classes of their own": ({"name": "local-recoding"}, {"name": "k-anonymity", "k": 25}),
        "like the table": (
            {"name": "mondrian"},
            {"name": "k-anonymity", "k": 40},
            {"name": "beta-likeness", "beta": 1.5, "column": "occupation"},
            {"name": "t-closeness", "t": 0.3, "column": "age", "distance": "ordered"},
        ),
    }[name]
    dataset, levels = adult()
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list(QUASI), "sensitive": list(SENSITIVE)},
            "algorithm": algorithm,
            "models": models,
        }
    )
    result = run(plan, dataset, levels, assess=False)
    assert result.verification.holds
    return result


@cache
def theirs(name: str) -> Mapping[str, Mapping[str, float]]:
    """Return what pyCANON says of the published file."""
    text = {
        "csv": released(name).csv.decode(),
        "quasi": list(QUASI),
        "sensitive": list(SENSITIVE),
    }
    done = subprocess.run(
        [python_with_pycanon(), "-c", ASKED],
        input=json.dumps(text),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def ours(name: str, model: str, **given: object) -> float:
    """Return what the worst class of a release reaches."""
    result = released(name)
    asked = cast(GroupModel, find("model", model).from_mapping(given))
    problem = result.problem
    (verdict,) = asked.measure(
        result.release.view, result.audience, reference_of(problem), Context()
    )
    return float(verdict.reached)


def classes(name: str, column: str) -> Iterator[Counter[str]]:
    """Yield the values of each class, from the published file alone."""
    table = pd.read_csv(io.BytesIO(released(name).csv), dtype=str, keep_default_na=False)
    found: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *key, value in table[[*QUASI, column]].itertuples(index=False):
        found[tuple(key)][value] += 1
    yield from found.values()


def private(name: str, column: str) -> Counter[str]:
    """Return the values of the table before any row was suppressed."""
    return Counter(released(name).problem.dataset.frame()[column])


def gains(name: str, column: str) -> list[dict[str, Fraction]]:
    """Return q/p − 1 of every value that a class shows, class by class."""
    table = private(name, column)
    every = sum(table.values())
    return [
        {v: Fraction(n * every, shown.total() * table[v]) - 1 for v, n in shown.items()}
        for shown in classes(name, column)
    ]


#: Those without suppressed rows, so that the published rows are the whole table.
WHOLE = ("levels", "parts", "classes of their own", "like the table")
EVERY = (*WHOLE, "levels, rows suppressed")
close = {"rel": 1e-9, "abs": 1e-12}


@pytest.mark.parametrize("column", SENSITIVE)
@pytest.mark.parametrize("name", EVERY)
def test_what_needs_the_published_rows_alone(name: str, column: str) -> None:
    found = theirs(name)[column]
    assert ours(name, "k-anonymity", k=2) == found["k"] == found["k of (alpha, k)"]
    assert ours(name, "l-diversity", l=2, column=column) == found["l"] == found["l of (c, l)"]
    alpha = ours(name, "alpha-k-anonymity", k=2, alpha=1.0, column=column)
    assert alpha == pytest.approx(found["alpha"], **close)


@pytest.mark.parametrize("column", SENSITIVE)
@pytest.mark.parametrize("name", WHOLE)
def test_what_needs_the_table_while_no_row_is_removed(name: str, column: str) -> None:
    found = theirs(name)[column]
    basic = ours(name, "beta-likeness", beta=1.0, enhanced=False, column=column)
    assert basic == pytest.approx(found["beta"], **close)
    distance = "ordered" if column == "age" else "equal"
    away = ours(name, "t-closeness", t=1.0, distance=distance, column=column)
    assert away == pytest.approx(found["t"], **close)


@pytest.mark.parametrize("column", SENSITIVE)
@pytest.mark.parametrize("name", WHOLE)
def test_enhanced_beta_where_there_is_one(name: str, column: str) -> None:
    """They cut the gain at the largest −ln p, and so state a β also where none will do."""
    found, table = theirs(name)[column], private(name, column)
    every = sum(table.values())
    surprise = {v: -math.log(n / every) for v, n in table.items()}
    gain = max(g for each in gains(name, column) for g in each.values())
    reached = ours(name, "beta-likeness", beta=1.0, enhanced=True, column=column)
    if all(g <= surprise[v] for each in gains(name, column) for v, g in each.items()):
        assert reached == pytest.approx(found["enhanced beta"], **close)
        assert reached == pytest.approx(float(gain), **close)
    else:
        assert math.isinf(reached)
    assert found["enhanced beta"] == pytest.approx(min(gain, max(surprise.values())), **close)


@pytest.mark.parametrize("column", SENSITIVE)
@pytest.mark.parametrize("name", WHOLE)
def test_delta_where_every_class_shows_every_value(name: str, column: str) -> None:
    """They skip a value that a class does not show; that nobody there has it is shown for sure."""
    values = set(private(name, column))
    shown = [math.log(g + 1) for each in gains(name, column) for g in each.values()]
    most = max(map(abs, shown))
    assert theirs(name)[column]["delta"] == pytest.approx(most, **close)
    reached = ours(name, "delta-disclosure", delta=1.0, column=column)
    if all(set(each) == values for each in classes(name, column)):
        assert reached == pytest.approx(most, **close)
    else:
        assert math.isinf(reached)


@pytest.mark.parametrize("column", SENSITIVE)
@pytest.mark.parametrize("name", EVERY)
def test_recursive_by_its_definition(name: str, column: str) -> None:
    """They rank the values from the rarest on; the definition ranks from the commonest on."""
    found = theirs(name)[column]
    first = int(found["l of (c, l)"])
    if first < 2:
        assert math.isnan(found["c"])
        first = 2

    def worst(*, descending: bool) -> Fraction | None:
        ratios: list[Fraction] = []
        for shown in classes(name, column):
            rows = sorted(shown.values(), reverse=descending)
            if len(rows) < first:
                return None
            ratios.append(Fraction(rows[0], sum(rows[first - 1 :])))
        return max(ratios)

    reached = ours(name, "recursive-l-diversity", c=1.0, l=first, column=column)
    plain = worst(descending=True)
    assert reached == (math.inf if plain is None else pytest.approx(float(plain), **close))
    if found["l of (c, l)"] > 1:
        ascending = worst(descending=False)
        assert ascending is not None
        assert found["c"] == math.floor(ascending) + 1


@pytest.mark.parametrize("column", SENSITIVE)
def test_what_needs_the_table_where_rows_were_removed(column: str) -> None:
    """They know the published rows alone; promises are made against the table before."""
    name = "levels, rows suppressed"
    assert released(name).release.suppressed > 0
    before, published = private(name, column), sum(classes(name, column), Counter[str]())
    assert sum(published.values()) < sum(before.values())

    def away(table: Counter[str]) -> float:
        values = sorted(table, key=float) if column == "age" else list(table)
        every, most = sum(table.values()), Fraction(0)
        for shown in classes(name, column):
            more = [Fraction(shown[v], shown.total()) - Fraction(table[v], every) for v in values]
            if column == "age":
                carried = [sum(more[: i + 1]) for i in range(len(more))]
                most = max(most, sum(map(abs, carried)) / (len(more) - 1))
            else:
                most = max(most, sum(map(abs, more)) / 2)
        return float(most)

    distance = "ordered" if column == "age" else "equal"
    reached = ours(name, "t-closeness", t=1.0, distance=distance, column=column)
    assert reached == pytest.approx(away(before), **close)
    assert theirs(name)[column]["t"] == pytest.approx(away(published), **close)
    assert away(before) != pytest.approx(away(published), **close)


def test_every_case_is_met() -> None:
    """Agreement on an enhanced β and on a δ is shown, and so is where there is none."""
    kinds: Sequence[tuple[str, dict[str, Any]]] = (
        ("beta-likeness", {"beta": 1.0, "enhanced": True}),
        ("delta-disclosure", {"delta": 1.0}),
    )
    for model, given in kinds:
        reached = [ours(n, model, column=c, **given) for n in WHOLE for c in SENSITIVE]
        assert {math.isinf(value) for value in reached} == {True, False}, (model, reached)
