"""Tables that stand in where the source's is not at hand: drawn from a seed, with its domains.

One hidden trait f per person, normal, moves every column: z = a · f + √(1 − a²) · e with an own
normal e, and a column's value is the quantile of Φ(z) in that column's frequencies. So columns go
together, more or less as `a` is large, and each has the number of values that the source states
and frequencies that fall as 1 / (rank + `even`). Nothing of any real person is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anon_core.data.hierarchy import read_levels
from anon_core.data.samples import hierarchy_folder

if TYPE_CHECKING:
    import pandas as pd

    from anon_core.base.arrays import F64


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """How a column is drawn.

    Attributes
    ----------
    trait : float
        a: how much it hangs on the hidden trait.
    most : float
        Share of the most frequent value; 0 where `even` alone says it.
    even : float
        How even the frequencies are.
    """

    trait: float
    most: float = 0.0
    even: float = 1.0


#: Columns of CENSUS (Xiao and Tao 2006; Li et al. 2015, table 5) with their numbers of values.
CENSUS: Mapping[str, tuple[int, Drawn]] = {
    "age": (78, Drawn(trait=0.35, even=60.0)),
    "gender": (2, Drawn(trait=0.25, even=20.0)),
    "education": (17, Drawn(trait=0.75, even=4.0)),
    "marital-status": (6, Drawn(trait=0.4, most=0.5)),
    "race": (9, Drawn(trait=0.2, most=0.75)),
    "workclass": (10, Drawn(trait=0.35, most=0.65)),
    "country": (83, Drawn(trait=0.2, most=0.85)),
    "occupation": (50, Drawn(trait=0.7, even=8.0)),
    "salary-class": (50, Drawn(trait=0.85, even=8.0)),
}
#: Columns of Adult; their values are those of the shipped hierarchies.
ADULT: Mapping[str, Drawn] = {
    "age": Drawn(trait=0.35, even=45.0),
    "workclass": Drawn(trait=0.35, most=0.74),
    "education": Drawn(trait=0.75, most=0.33),
    "marital-status": Drawn(trait=0.4, most=0.47),
    "occupation": Drawn(trait=0.6, even=12.0),
    "relationship": Drawn(trait=0.4, most=0.41),
    "race": Drawn(trait=0.2, most=0.86),
    "gender": Drawn(trait=0.25, most=0.67),
    "native-country": Drawn(trait=0.2, most=0.91),
    "income": Drawn(trait=0.75, most=0.75),
    "education-num": Drawn(trait=0.75, most=0.33),
    "capital-gain": Drawn(trait=0.3, most=0.92),
    "capital-loss": Drawn(trait=0.2, most=0.95),
    "hours-per-week": Drawn(trait=0.3, even=60.0),
}
#: Values of the shipped hierarchies that no complete row of Adult has.
_ABSENT = {"workclass": ("Never-worked",), "age": tuple(str(a) for a in range(121) if a < 17)}
_OLDEST = 88  # 72 ages, as in the complete rows of the training part


def census_like(rows: int, seed: int) -> pd.DataFrame:
    """Return a table with the domains of CENSUS; every value is a code from 1 on, ages from 17.

    Returns
    -------
    pandas.DataFrame of shape (rows, 9), of texts
    """
    values = {
        name: [str(n + (17 if name == "age" else 1)) for n in range(size)]
        for name, (size, _) in CENSUS.items()
    }
    return _table(values, {name: drawn for name, (_, drawn) in CENSUS.items()}, rows, seed)


def adult_like(rows: int, seed: int) -> pd.DataFrame:
    """Return a table with the domains of Adult's complete rows, as `census_like` does."""
    values: dict[str, list[str]] = {}
    for name in ADULT:
        levels = read_levels(hierarchy_folder() / "adult" / f"{name}.csv", name)
        absent = _ABSENT.get(name, ())
        values[name] = [row[0] for row in levels if row[0] not in absent]
        if name == "age":
            values[name] = [age for age in values[name] if int(age) <= _OLDEST]
    return _table(values, ADULT, rows, seed)


def _table(
    values: Mapping[str, Sequence[str]], drawn: Mapping[str, Drawn], rows: int, seed: int
) -> pd.DataFrame:
    import pandas as pd
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    trait = rng.standard_normal(rows)
    columns: dict[str, object] = {}
    for name, own in drawn.items():
        z = own.trait * trait + np.sqrt(1 - own.trait**2) * rng.standard_normal(rows)
        ends = np.cumsum(_frequencies(len(values[name]), own))
        place = np.minimum(np.searchsorted(ends, ndtr(z), side="right"), len(ends) - 1)
        columns[name] = np.array(values[name], dtype=object)[place]
    return pd.DataFrame(columns, dtype=object)


def _frequencies(size: int, drawn: Drawn) -> F64:
    weights = 1.0 / (np.arange(size) + drawn.even)
    if drawn.most and size > 1:
        weights[1:] *= (1 - drawn.most) / weights[1:].sum()
        weights[0] = drawn.most
    return weights / weights.sum()
