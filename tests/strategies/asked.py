"""What may be asked of a random table: roles, promises, a budget, and a public table around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
from hypothesis import strategies as st

from anon_core.data.table import Dataset
from tests.making import Case
from tests.strategies.tables import Cell, cases


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A table with what is asked of its release.

    Attributes
    ----------
    case : Case
    models : list of dict
        Promises as a recipe has them.
    budget : float
        The share of rows that may be suppressed.
    public : Dataset or None
        A table of everyone who could be in it, everyone who is among them.
    """

    case: Case
    models: list[dict[str, object]]
    budget: float
    public: Dataset | None


@st.composite
def roles(draw: st.DrawFn, case: Case) -> Case:
    """Draw other roles for a table: which sensitive columns stay so, and whether rows are named."""
    sensitive = draw(st.sampled_from([("s0", "s1"), ("s0",), ()]))
    if not draw(st.booleans()):
        return replace(case, sensitive=sensitive)
    named: dict[str, list[Cell]] = {"name": [f"person {i}" for i in range(len(case.rows))]}
    return replace(
        case, sensitive=sensitive, identifier=("name",), columns={**named, **case.columns}
    )


def ks(case: Case, most: int = 5) -> st.SearchStrategy[int]:
    """Draw a k from 2 that a table has rows enough for."""
    return st.integers(2, max(2, min(most, len(case.rows))))


def budgets(most: float = 1.0) -> st.SearchStrategy[float]:
    """Draw the share of rows that may be suppressed: none, all that is allowed, or between."""
    return st.sampled_from([0.0, 0.02, 0.1, 0.3, most]).map(lambda b: min(b, most)) | st.floats(
        0.0, most
    ).map(lambda b: round(b, 3))


@st.composite
def promises(draw: st.DrawFn, case: Case) -> list[dict[str, object]]:
    """Draw promises as a recipe has them: a k, and an l for a sensitive column."""
    asked: list[dict[str, object]] = [{"name": "k-anonymity", "k": draw(ks(case))}]
    if case.sensitive:
        least = draw(st.sampled_from([0, 2, 3]))
        name = draw(st.sampled_from(["l-diversity", "frequency-l-diversity"]))
        if least:
            asked.append({"name": name, "l": least, "column": case.sensitive[0]})
    return asked


@st.composite
def publics(draw: st.DrawFn, case: Case, *, more: int = 20) -> Dataset:
    """Draw a public table: a table's rows and up to so many others of its values, in any order."""
    own = list(zip(*(case.columns[name] for name in case.quasi), strict=True))
    seen = [sorted({v for v in case.columns[n] if v is not None}) for n in case.quasi]
    # Lists are short unless they must not be; the least they must have shrinks away first.
    least = draw(st.integers(0, more))
    others = draw(st.lists(st.tuples(*map(st.sampled_from, seen)), min_size=least, max_size=more))
    everyone = draw(st.permutations([*own, *others]))
    frame = pd.DataFrame(everyone, columns=list(case.quasi), dtype=object)
    return Dataset.from_frame(frame, kinds={n: case.kinds[n] for n in case.quasi})


@st.composite
def problems(draw: st.DrawFn, *, public: bool = False, **given: object) -> Posed:
    """Draw a table with roles, promises and a budget; `given` goes to `cases`."""
    case = draw(roles(draw(cases(**given))))  # type: ignore[arg-type]
    return Posed(
        case=case,
        models=draw(promises(case)),
        budget=draw(budgets()),
        public=draw(publics(case)) if public else None,
    )
