"""The example tables of the sources, for following their published steps row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from anon_core.data.samples.base import Sample

if TYPE_CHECKING:
    import pandas as pd


def _loader(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Callable[[], pd.DataFrame]:
    def load() -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([list(row) for row in rows], columns=list(columns), dtype=object)

    return load


_TOTH = "Toth, B. (2015). Data Anonymization. Master's thesis, IT University of Copenhagen"
_LI = "Li, D., He, X., Cao, L. and Chen, H. (2015). Permutation anonymization"
_SAMARATI = "Samarati, P. (2008). k-Anonymity. Slides of the FOSAD school"

_TOTH_PRIVATE = (
    ("Clara", "5370", "25", "30k"),
    ("Julie", "5370", "25", "15k"),
    ("Ada", "5370", "27", "30k"),
    ("Sara", "5371", "27", "40k"),
    ("Bob", "5371", "27", "42k"),
    ("Taylor", "5372", "25", "25k"),
    ("Ashley", "5372", "25", "45k"),
    ("Amanda", "5373", "25", "9k"),
)

_TOTH_PUBLIC = (
    ("Elizabeth", "5370", "25"),
    ("Clara", "5370", "25"),
    ("Julie", "5370", "25"),
    ("Ada", "5370", "27"),
    ("Sara", "5371", "27"),
    ("Bob", "5371", "27"),
    ("Taylor", "5372", "25"),
    ("Ashley", "5372", "25"),
    ("Amanda", "5373", "25"),
    ("Jesper", "5372", "27"),
)

# The paper spells one disease both 'Gastritic' and 'Gastritis'; it is one value.
_LI_MICRODATA = (
    ("Bob", "65", "M", "Emphysema"),
    ("Alex", "50", "M", "Cancer"),
    ("Jane", "70", "F", "Flu"),
    ("Lily", "55", "F", "Gastritis"),
    ("Andy", "90", "F", "Dyspepsia"),
    ("Mary", "45", "M", "Flu"),
    ("Linda", "50", "F", "Pneumonia"),
    ("Lucy", "40", "F", "Gastritis"),
    ("Sarah", "10", "M", "Bronchitis"),
)

_SAMARATI_ROWS = (
    ("asian", "64/04/12", "F", "94142", "divorced", "hypertension"),
    ("asian", "64/09/13", "F", "94141", "divorced", "obesity"),
    ("asian", "64/04/15", "F", "94139", "married", "chest pain"),
    ("asian", "63/03/13", "M", "94139", "married", "obesity"),
    ("asian", "63/03/18", "M", "94139", "married", "short breath"),
    ("black", "64/09/27", "F", "94138", "single", "short breath"),
    ("black", "64/09/27", "F", "94139", "single", "obesity"),
    ("white", "64/09/27", "F", "94139", "single", "chest pain"),
    ("white", "64/09/27", "F", "94141", "widow", "short breath"),
)

TOTH_PRIVATE = Sample(
    name="toth-private",
    title="Toth: private table",
    summary=(
        "The people of Toth's running example. Follow k-anonymity, bucketization, slicing and "
        "presence in a table."
    ),
    rows=8,
    attribution=f"{_TOTH}, figure 2.1. Example values only.",
    identifier=("Name",),
    quasi=("Zip", "Age"),
    sensitive=("Salary",),
    types={"Zip": "ordered"},
    hierarchies={"Zip": "toth/Zip.csv", "Age": "toth/Age.csv"},
    k=2,
    shows=(
        "Opens with the optimal search and k = 2: Run gives figure 2.3. For figure 2.4 choose "
        "Mondrian, publishing hierarchy nodes."
    ),
    public="toth-public",
    load=_loader(("Name", "Zip", "Age", "Salary"), _TOTH_PRIVATE),
)

TOTH_PUBLIC = Sample(
    name="toth-public",
    title="Toth: public table",
    summary=(
        "The people an attacker knows of. Use it as the population of Toth's private table when "
        "the threat is presence in the table."
    ),
    rows=10,
    attribution=f"{_TOTH}, figure 2.2. Example values only.",
    identifier=("Name",),
    quasi=("Zip", "Age"),
    types={"Zip": "ordered"},
    hierarchies={"Zip": "toth/Zip.csv", "Age": "toth/Age.csv"},
    k=2,
    load=_loader(("Name", "Zip", "Age"), _TOTH_PUBLIC),
)

LI_MICRODATA = Sample(
    name="li-microdata",
    title="Li: microdata",
    summary=(
        "Patients with nearly all different diseases. Compare what generalization, anatomy and "
        "permutation leave of a count query."
    ),
    rows=9,
    attribution=f"{_LI}, table 1. Example values only.",
    identifier=("Name",),
    quasi=("Age", "Sex"),
    sensitive=("Disease",),
    hierarchies={"Age": "li/Age.csv", "Sex": "li/Sex.csv"},
    k=4,
    algorithm={"name": "permutation", "partition": "anatomize"},
    models=({"name": "frequency-l-diversity", "l": 4},),
    shows=(
        "Opens with permutation, groups by anatomize, and l = 4: Run gives two tables in the form "
        "of the paper's, with groups of 4 and 5; who is in which is drawn at random."
    ),
    load=_loader(("Name", "Age", "Sex", "Disease"), _LI_MICRODATA),
)

SAMARATI = Sample(
    name="samarati",
    title="Samarati: nine patients",
    summary=(
        "Patients, one of them found in a voter list. Follow lattice searches, suppression and "
        "Mondrian cuts."
    ),
    rows=9,
    attribution=f"{_SAMARATI}, slide 19. Example values only.",
    quasi=("Race", "DOB", "Sex", "ZIP", "Marital"),
    sensitive=("Disease",),
    types={"DOB": "ordered", "ZIP": "ordered", "Marital": "ordered"},
    hierarchies={
        column: f"samarati/{column}.csv" for column in ("Race", "DOB", "Sex", "ZIP", "Marital")
    },
    k=2,
    algorithm={"name": "samarati", "max_suppression": 0.23},
    shows=(
        "Opens with Samarati's search, k = 2 and at most 2 of 9 rows suppressed. For slide 30 "
        "first set DOB, Sex and Marital to left out on Roles."
    ),
    load=_loader(("Race", "DOB", "Sex", "ZIP", "Marital", "Disease"), _SAMARATI_ROWS),
)

PAPERS = (TOTH_PRIVATE, TOTH_PUBLIC, LI_MICRODATA, SAMARATI)
