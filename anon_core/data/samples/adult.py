"""The Adult census table: read from a cached file, because it is not part of the checkout.

It is fetched once, kept in a cache folder, and shown with its attribution.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.errors import BadInput
from anon_core.base.installation import shipped
from anon_core.data.samples.base import Sample

if TYPE_CHECKING:
    import pandas as pd

ADULT_FILE = "adult.csv.gz"
ADULT_SHA256 = "640bab79c84c2ae57efec1319f659075fdc570e0ea048670e058dff2b0cf931c"
CACHE_VARIABLE = "ANONYMITY_WORKBENCH_CACHE"

_COLUMNS = (
    "age",
    "workclass",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "gender",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)


def cache_folders() -> tuple[Path, ...]:
    """Return the folders that may hold cached tables, the preferred one first."""
    folders: list[Path] = []
    if own := os.environ.get(CACHE_VARIABLE):
        folders.append(Path(own).expanduser())
    if shared := os.environ.get("XDG_CACHE_HOME"):
        folders.append(Path(shared).expanduser() / "anonymity-workbench")
    else:
        # expanduser leaves "~" where there is no home, and the folder is then simply not found
        folders.append(Path(os.path.expanduser("~")) / ".cache" / "anonymity-workbench")
    folders.append(shipped() / ".cache")
    return tuple(folders)


def adult_path() -> Path | None:
    """Return the cached Adult file, or None if no cache folder holds it."""
    places = (folder / ADULT_FILE for folder in cache_folders())
    # os.path.isfile says no, where Path.is_file raises, if a folder may not be read.
    return next((place for place in places if os.path.isfile(place)), None)


def _obstacle() -> str:
    if adult_path() is not None:
        return ""
    return (
        "The Adult table is not on this computer yet: 'make run' in a checkout fetches it "
        f"when there is a network, or put {ADULT_FILE} into the folder that {CACHE_VARIABLE} names."
    )


def _load() -> pd.DataFrame:
    import pandas as pd

    path = adult_path()
    if path is None:
        raise BadInput("The Adult table cannot be loaded.", remedy=_obstacle())
    if hashlib.sha256(path.read_bytes()).hexdigest() != ADULT_SHA256:
        raise BadInput(
            f"The cached file {path.name} is not the Adult table this sample describes.",
            remedy="Delete it and run 'make run' with a network to fetch it again.",
        )
    # The file's first column is a row number without a name; its texts begin with a space.
    table = pd.read_csv(
        path,
        usecols=list(_COLUMNS),
        dtype=str,
        keep_default_na=False,
        na_values=["?"],
        skipinitialspace=True,
    )
    texts = table[list(_COLUMNS)].astype(object)
    return texts.where(texts.notna(), None)


ADULT = Sample(
    name="adult",
    title="Adult census",
    summary=(
        "The census table most publications measure on. 32,561 people of the US in 1994 with work, "
        "family and income; some values are missing."
    ),
    rows=32_561,
    attribution=(
        "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
        "doi 10.24432/C5XW20, CC BY 4.0"
    ),
    # 'education-num' repeats 'education', and 'relationship' shows gender and marital status:
    # published as they are, they would undo what is done to the others.
    quasi=(
        "age",
        "workclass",
        "education",
        "education-num",
        "marital-status",
        "relationship",
        "race",
        "gender",
        "native-country",
    ),
    sensitive=("occupation",),
    insensitive=("capital-gain", "capital-loss", "hours-per-week", "income"),
    types={"education": "ordered"},
    hierarchies={column: f"adult/{column}.csv" for column in _COLUMNS},
    k=5,
    load=_load,
    obstacle=_obstacle,
)
