"""The tables experiments are run on: the source's where it is at hand, else a generated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from anon_core.base.errors import BadInput, listing
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.reading import read_table
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.values.kinds import ColumnKind

if TYPE_CHECKING:
    import pandas as pd

    from anon_core.base.arrays import F64


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """How a column is drawn.

    Attributes
    ----------
    trait : float
        a: how much it depends on the hidden trait.
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


Which = Literal["adult-train", "adult-all", "census"]
#: Where a table is in a folder that is given.
FILES: Mapping[Which, tuple[str, ...]] = {
    "adult-train": ("adult/adult_48842.csv.gz", "adult_48842.csv.gz"),
    "adult-all": ("adult/adult_48842.csv.gz", "adult_48842.csv.gz"),
    "census": (
        "census/census_like_acs2018_295243.csv.gz",
        "census_like_acs2018_295243.csv.gz",
    ),
}
#: What each is, for people.
WANTED: Mapping[Which, str] = {
    "adult-train": "Adult's training part, 32,561 rows",
    "adult-all": "Adult's training and test part, 48,842 rows",
    "census": "500,000 rows of CENSUS, or a table like it",
}
#: Other files' names of Adult's columns.
_ALIASES = {"sex": "gender", "salary-class": "income"}
_TRAIN, _TRAIN_COMPLETE, _ALL_COMPLETE, _CENSUS = 32_561, 30_162, 45_222, 500_000
_KINDS: Mapping[str, ColumnKind] = {
    "education": "ordered",
    **dict.fromkeys(
        ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
        "number",
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table without missing values.

    Attributes
    ----------
    title : str
        What it is, for people.
    frame : pandas.DataFrame
        Every cell a text.
    levels : mapping of str to level table
        Hierarchies of its columns.
    raw_rows : int
        Rows before those with missing values were left out.
    """

    title: str
    generated: bool
    frame: pd.DataFrame
    kinds: Mapping[str, ColumnKind]
    levels: Mapping[str, LevelTable]
    raw_rows: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.frame)


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Finds tables, and reads each once.

    Attributes
    ----------
    data : Path, optional
        A folder that holds them as `FILES` says, or one table.
    files : mapping of str to bytes
        The same as contents by file name, where they were handed over and lie in no folder.
    most_rows : int
        Rows of a generated table, where fewer are enough; 0 for as many as the source's.
    cached : bool
        Whether the cached sample of Adult is taken where no data are given.
    """

    data: Path | None = None
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    most_rows: int = 0
    cached: bool = True
    _read: dict[tuple[Which, int], Table] = field(
        default_factory=dict[tuple[Which, int], Table], repr=False, compare=False
    )

    def get(self, which: Which, seed: int) -> Table:
        """Return a table; the seed draws it where it is generated.

        Raises
        ------
        BadInput
            If a file that was given cannot be read, or lacks columns.
        """
        if (which, seed) not in self._read:
            self._read[which, seed] = self._made(which, seed)
        return self._read[which, seed]

    def _made(self, which: Which, seed: int) -> Table:
        given = self._given(which)
        if which == "census":
            if given is not None:
                return _census(*given)
            rows = self.most_rows or _CENSUS
            return Table(
                title=f"a generated table of {rows:,} rows with the domains of CENSUS",
                generated=True,
                frame=census_like(rows, seed),
                kinds={"age": "number"},
                levels={},
                raw_rows=rows,
            )
        if given is not None:
            content, name = given
            return _adult(read_table(content).frame(), which, name)
        adult = sample("adult")
        if which == "adult-train" and self.cached and adult.available():
            return _adult(adult.frame(), which, adult.title)
        rows = self.most_rows or (_TRAIN_COMPLETE if which == "adult-train" else _ALL_COMPLETE)
        return Table(
            title=f"a generated table of {rows:,} rows with the domains of Adult",
            generated=True,
            frame=adult_like(rows, seed),
            kinds=_KINDS,
            levels=_adult_levels(tuple(ADULT)),
            raw_rows=rows,
        )

    def _given(self, which: Which) -> tuple[Path | bytes, str] | None:
        """Return the file of a table with its name, None where none was given."""
        if self.data is None:
            names = [PurePosixPath(place).name for place in FILES[which]]
            names += list(self.files) if len(self.files) == 1 else []
            name = next((one for one in names if one in self.files), None)
            return None if name is None else (self.files[name], name)
        if not self.data.exists():
            raise BadInput(
                f"There is no file or folder {self.data.name}.", remedy="Check the path of --data."
            )
        if self.data.is_file():
            return self.data, self.data.name
        places = (self.data / place for place in FILES[which])
        return next(((place, place.name) for place in places if place.is_file()), None)


def _adult(frame: pd.DataFrame, which: Which, name: str) -> Table:
    frame = frame.rename(columns={k: v for k, v in _ALIASES.items() if k in frame.columns})
    _refuse_lacking(frame, tuple(ADULT), name)
    train = which == "adult-train"
    if train:
        frame = frame.iloc[:_TRAIN]
    columns = [str(c) for c in frame.columns]
    raw = len(frame)
    known = frame.notna().all(axis=1) & (frame != "?").all(axis=1)
    complete = frame[known].reset_index(drop=True)
    part = "training part" if train else "training and test part"
    return Table(
        title=f"Adult, {part}, {len(complete):,} complete rows of {raw:,}",
        generated=False,
        frame=complete,
        kinds=_KINDS,
        levels=_adult_levels(columns),
        raw_rows=raw,
    )


def _adult_levels(columns: Sequence[str]) -> dict[str, LevelTable]:
    files = {name: hierarchy_folder() / "adult" / f"{name}.csv" for name in columns}
    return {name: read_levels(file, name) for name, file in files.items() if file.is_file()}


def _census(content: Path | bytes, name: str) -> Table:
    frame = read_table(content).frame()
    _refuse_lacking(frame, tuple(CENSUS), name)
    if "occupation-group" in frame.columns:
        frame["occupation"] = frame["occupation-group"]
    frame = frame[list(CENSUS)]
    complete = frame[frame.notna().all(axis=1)].reset_index(drop=True)
    return Table(
        title=f"{name}, {len(complete):,} rows, instead of CENSUS",
        generated=False,
        frame=complete,
        kinds={"age": "number"},
        levels={},
        raw_rows=len(frame),
    )


def _refuse_lacking(frame: pd.DataFrame, wanted: Sequence[str], name: str) -> None:
    lacking = [column for column in wanted if column not in frame.columns]
    if lacking:
        raise BadInput(
            f"{name} lacks the columns {listing(lacking)}.",
            remedy="Give a folder with the tables that docs/experiments.md names, or none.",
        )
