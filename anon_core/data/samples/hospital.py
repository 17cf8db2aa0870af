"""A hospital's discharge table, made up by a seeded generator: no row is about a real person.

Age decides sex, diagnosis and insurance; the diagnosis decides ward, stay and cost. Very old
patients, rare diagnoses and tiny ZIP areas are meant: they are the rows that are hard to protect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from anon_core.data.samples.base import Sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

SEED = 2026
ROWS = 5_000
YEAR = 2025


class Diagnosis(NamedTuple):
    """What the generator knows of one diagnosis.

    Its frequency by age is a triangle from `youngest` over `peak` to `oldest`; `women` is the
    share of women among its patients, `days` the mean stay, `daily` the cost of one day.
    """

    code: str
    ward: str
    weight: float
    youngest: int
    peak: int
    oldest: int
    women: float
    days: float
    daily: float


DIAGNOSES: tuple[Diagnosis, ...] = (
    Diagnosis("A09", "General medicine", 10, -5, 4, 100, 0.50, 3, 900),
    Diagnosis("A15.0", "Pulmonology", 0.4, 15, 40, 90, 0.35, 14, 1100),
    Diagnosis("A41.9", "General medicine", 22, 10, 85, 130, 0.50, 9, 1900),
    Diagnosis("A41.51", "General medicine", 8, 10, 85, 130, 0.60, 9, 1900),
    Diagnosis("B18.2", "Gastroenterology", 1.5, 20, 50, 85, 0.40, 5, 1000),
    Diagnosis("B20", "General medicine", 1.2, 16, 42, 80, 0.25, 8, 1500),
    Diagnosis("C18.7", "Oncology", 5, 30, 72, 110, 0.47, 8, 1800),
    Diagnosis("C18.9", "Oncology", 5, 30, 72, 110, 0.47, 8, 1800),
    Diagnosis("C34.90", "Oncology", 9, 35, 70, 105, 0.48, 8, 1700),
    Diagnosis("C50.911", "Oncology", 6, 25, 62, 100, 0.99, 4, 2100),
    Diagnosis("C50.912", "Oncology", 6, 25, 62, 100, 0.99, 4, 2100),
    Diagnosis("C61", "Urology", 8, 40, 70, 105, 0.00, 4, 2000),
    Diagnosis("C91.00", "Oncology", 1.2, -2, 5, 40, 0.43, 16, 2300),
    Diagnosis("D50.9", "General medicine", 9, 5, 70, 115, 0.65, 3, 850),
    Diagnosis("D57.1", "General medicine", 0.5, -1, 20, 60, 0.50, 5, 1300),
    Diagnosis("D64.9", "General medicine", 8, 10, 80, 120, 0.58, 3, 850),
    Diagnosis("E10.9", "General medicine", 6, 2, 20, 70, 0.48, 4, 950),
    Diagnosis("E11.65", "General medicine", 12, 25, 66, 105, 0.46, 4, 950),
    Diagnosis("E11.9", "General medicine", 15, 25, 66, 105, 0.46, 4, 950),
    Diagnosis("E66.01", "General surgery", 6, 16, 44, 75, 0.72, 3, 3200),
    Diagnosis("E84.0", "Pulmonology", 0.5, -1, 16, 45, 0.50, 11, 2000),
    Diagnosis("E86.0", "General medicine", 12, -20, 88, 130, 0.56, 3, 800),
    Diagnosis("F10.20", "Psychiatry", 10, 16, 47, 80, 0.30, 7, 700),
    Diagnosis("F20.9", "Psychiatry", 5, 15, 32, 75, 0.40, 16, 700),
    Diagnosis("F32.9", "Psychiatry", 8, 11, 34, 90, 0.64, 10, 700),
    Diagnosis("F33.1", "Psychiatry", 5, 14, 42, 90, 0.66, 11, 700),
    Diagnosis("F50.00", "Psychiatry", 0.7, 11, 17, 35, 0.94, 20, 800),
    Diagnosis("G10", "Neurology", 0.3, 25, 46, 75, 0.50, 12, 1000),
    Diagnosis("G20.A1", "Neurology", 4, 45, 78, 105, 0.40, 7, 1000),
    Diagnosis("G35", "Neurology", 2.5, 16, 38, 75, 0.74, 5, 1500),
    Diagnosis("G40.901", "Neurology", 3, -3, 22, 110, 0.47, 4, 1300),
    Diagnosis("G40.909", "Neurology", 6, -3, 22, 110, 0.47, 3, 1200),
    Diagnosis("G45.9", "Neurology", 8, 35, 76, 110, 0.53, 2, 1600),
    Diagnosis("I10", "Cardiology", 12, 25, 72, 115, 0.54, 2, 800),
    Diagnosis("I21.4", "Cardiology", 16, 30, 70, 115, 0.38, 4, 3100),
    Diagnosis("I21.9", "Cardiology", 5, 30, 74, 115, 0.40, 5, 2900),
    Diagnosis("I25.10", "Cardiology", 14, 35, 70, 110, 0.33, 3, 2900),
    Diagnosis("I48.91", "Cardiology", 16, 35, 78, 115, 0.48, 3, 1200),
    Diagnosis("I50.9", "Cardiology", 24, 40, 84, 125, 0.50, 6, 1300),
    Diagnosis("I63.9", "Neurology", 15, 35, 80, 120, 0.50, 6, 2000),
    Diagnosis("J18.9", "Pulmonology", 24, -30, 86, 130, 0.48, 5, 1100),
    Diagnosis("J21.9", "Pulmonology", 14, -2, 0, 4, 0.42, 3, 1200),
    Diagnosis("J44.1", "Pulmonology", 16, 38, 73, 110, 0.52, 5, 1100),
    Diagnosis("J45.901", "Pulmonology", 6, -1, 9, 90, 0.52, 2, 1000),
    Diagnosis("J45.909", "Pulmonology", 7, -1, 9, 90, 0.55, 2, 1000),
    Diagnosis("J96.01", "Pulmonology", 11, 10, 80, 120, 0.50, 8, 2400),
    Diagnosis("K35.80", "General surgery", 11, 2, 18, 85, 0.45, 3, 3000),
    Diagnosis("K50.90", "Gastroenterology", 3, 10, 28, 75, 0.52, 5, 1400),
    Diagnosis("K57.32", "Gastroenterology", 9, 30, 66, 105, 0.55, 4, 1300),
    Diagnosis("K70.30", "Gastroenterology", 4, 28, 56, 85, 0.30, 7, 1400),
    Diagnosis("K80.00", "General surgery", 7, 15, 52, 100, 0.63, 3, 2900),
    Diagnosis("K80.20", "General surgery", 8, 15, 52, 100, 0.66, 2, 2900),
    Diagnosis("K92.2", "Gastroenterology", 10, 25, 80, 115, 0.45, 4, 1500),
    Diagnosis("L03.115", "General medicine", 6, 5, 62, 110, 0.44, 4, 900),
    Diagnosis("L03.116", "General medicine", 6, 5, 62, 110, 0.44, 4, 900),
    Diagnosis("L40.50", "General medicine", 0.8, 20, 48, 80, 0.50, 4, 1200),
    Diagnosis("M16.11", "Orthopaedics", 10, 40, 72, 100, 0.56, 3, 4800),
    Diagnosis("M16.12", "Orthopaedics", 9, 40, 72, 100, 0.56, 3, 4800),
    Diagnosis("M17.11", "Orthopaedics", 12, 42, 71, 98, 0.62, 3, 4700),
    Diagnosis("M32.9", "General medicine", 0.8, 14, 34, 70, 0.90, 6, 1300),
    Diagnosis("N18.6", "General medicine", 7, 20, 70, 105, 0.43, 6, 1500),
    Diagnosis("N20.0", "Urology", 8, 16, 48, 90, 0.38, 2, 2100),
    Diagnosis("N39.0", "General medicine", 15, -10, 86, 130, 0.76, 4, 850),
    Diagnosis("N40.1", "Urology", 8, 45, 74, 105, 0.00, 2, 2200),
    Diagnosis("O14.13", "Obstetrics", 3, 15, 31, 48, 1.00, 5, 1700),
    Diagnosis("O80", "Obstetrics", 85, 14, 29, 46, 1.00, 2, 2400),
    Diagnosis("O82", "Obstetrics", 38, 15, 32, 49, 1.00, 4, 2600),
    Diagnosis("P07.38", "Neonatology", 40, -1, 0, 1, 0.48, 18, 2500),
    Diagnosis("P59.9", "Neonatology", 50, -1, 0, 1, 0.47, 3, 900),
    Diagnosis("Q21.0", "Paediatrics", 2.5, -1, 0, 12, 0.50, 8, 3500),
    Diagnosis("Q90.9", "Paediatrics", 1.5, -1, 0, 15, 0.48, 6, 1500),
    Diagnosis("R07.9", "Cardiology", 14, 10, 55, 120, 0.50, 1, 1400),
    Diagnosis("R55", "General medicine", 10, 5, 78, 125, 0.54, 2, 1100),
    Diagnosis("S06.0X0A", "Neurology", 7, -3, 16, 120, 0.40, 2, 1400),
    Diagnosis("S52.501A", "Orthopaedics", 9, -1, 10, 105, 0.55, 1, 2400),
    Diagnosis("S72.001A", "Orthopaedics", 12, 35, 88, 125, 0.70, 7, 3000),
    Diagnosis("S72.002A", "Orthopaedics", 11, 35, 88, 125, 0.70, 7, 3000),
    Diagnosis("T40.1X1A", "General medicine", 1.5, 15, 31, 65, 0.32, 3, 1500),
    Diagnosis("Z38.00", "Neonatology", 260, -1, 0, 1, 0.49, 2, 800),
    Diagnosis("Z51.11", "Oncology", 10, 10, 64, 95, 0.55, 2, 2600),
)

#: First four digits of a ZIP code -> the last digits in use; towns first, hamlets last.
ZIP_AREAS: dict[str, str] = {
    "0120": "123456",
    "0122": "0345679",
    "1218": "01234569",
    "1220": "1234589",
    "0520": "12679",
    "0101": "034789",
    "1202": "0147",
    "1334": "02359",
    "1206": "13569",
    "0123": "0578",
    "0525": "035",
    "1210": "1678",
    "0103": "2479",
    "1222": "089",
    "0515": "0468",
    "1345": "026",
    "1331": "478",
    "0512": "37",
    "1347": "158",
}

# Share of every kind of insurance: below and from 65 years.
_INSURANCE: dict[str, tuple[float, float]] = {
    "Private HMO": (34, 4),
    "Private PPO": (28, 5),
    "Medicaid": (24, 3),
    "Medicare": (4, 85),
    "Military": (3, 2),
    "Self-pay": (7, 1),
}

# Admissions by age: newborns by themselves, many in the childbearing years, most of them old.
_AGES = (0, 1, 5, 14, 18, 28, 36, 45, 60, 74, 84, 90, 95, 99)
_ADMISSIONS = (60, 6, 3, 3, 7, 14, 14, 9, 14, 20, 17, 8, 1.5, 0.1)

# Share of women among the admitted by age.
_SEX_AGES = (0, 17, 20, 38, 48, 75, 95)
_SHARE_OF_WOMEN = (0.49, 0.50, 0.66, 0.66, 0.48, 0.51, 0.68)

_WOMEN = (
    "Amelia Anna Barbara Carol Chloe Clara Deborah Diana Donna Dorothy Elena Emily Emma Fatima "
    "Grace Hannah Helen Irene Jane Joan Julia Karen Laura Lily Linda Maria Martha Mei Nora Olivia "
    "Patricia Priya Rosa Ruth Sarah Sofia Susan Teresa Victoria Zoe"
)
_MEN = (
    "Adam Ahmed Albert Andrew Arthur Ben Brian Carl Carlos Daniel David Diego Edward Eric Frank "
    "George Harold Henry Ivan Jack James John Jose Joseph Kevin Leo Liam Mark Michael Noah Omar "
    "Oscar Paul Peter Raj Robert Samuel Thomas Victor Wei"
)
_FAMILIES = (
    "Adams Allen Baker Bennett Brooks Brown Campbell Carter Chen Clark Cohen Collins Cooper Cruz "
    "Davis Diaz Edwards Evans Fisher Foster Garcia Gomez Gray Green Hall Harris Hill Howard Hughes "
    "Jackson Johnson Jones Kelly Khan Kim King Lee Lewis Lopez Martin Miller Moore Morgan Murphy "
    "Nelson Nguyen Novak Ortiz Parker Patel Perez Price Reed Rivera Rossi Scott Silva Smith Taylor "
    "Turner Walker White Wilson Wright Young"
)


def zip_codes() -> list[str]:
    """Return every ZIP code that can occur, the most populous first."""
    return [area + digit for area, digits in ZIP_AREAS.items() for digit in digits]


def hospital_frame(*, seed: int = SEED, rows: int = ROWS) -> pd.DataFrame:
    """Make the table: every cell a text, None where missing; equal arguments give equal tables.

    Parameters
    ----------
    rows : int
        Number of patients, one row each, in the order of admission.
    """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    new_year = np.datetime64(f"{YEAR}-01-01", "D")
    admitted = new_year + np.sort(rng.integers(0, 365, rows))

    by_age = np.interp(np.arange(100), _AGES, _ADMISSIONS)
    wanted = _draw(rng, np.broadcast_to(by_age, (rows, 100)))
    lived = np.floor(wanted * 365.2425).astype(np.int64) + rng.integers(0, 365, rows)
    born = np.maximum(admitted - lived, np.datetime64("1925-01-01", "D"))
    age = _age(born, admitted)

    woman = rng.random(rows) < np.interp(age, _SEX_AGES, _SHARE_OF_WOMEN)
    illness = _draw(rng, _illness_weights()[age, woman.astype(np.int64)])
    ward = np.array([d.ward for d in DIAGNOSES], dtype=object)[illness]
    newborn = ward == "Neonatology"
    born = np.where(newborn, admitted, born)
    ward[(age < 16) & ~newborn] = "Paediatrics"

    stay = np.array([d.days for d in DIAGNOSES])[illness]
    days = np.maximum(1, np.rint(rng.gamma(2.0, stay / 2.0))).astype(np.int64)
    daily = np.array([d.daily for d in DIAGNOSES])[illness]
    cost = np.round(600.0 + days * daily * rng.uniform(0.8, 1.3, rows), 2)

    insurances = np.array(list(_INSURANCE), dtype=object)
    shares = np.array(list(_INSURANCE.values())).T
    insurance = insurances[_draw(rng, shares[(age >= 65).astype(np.int64)])]

    codes = np.array([d.code for d in DIAGNOSES], dtype=object)
    areas = np.array(zip_codes(), dtype=object)
    people = np.broadcast_to(0.955 ** np.arange(len(areas)), (rows, len(areas)))
    first = np.where(woman, _names(rng, _WOMEN, rows), _names(rng, _MEN, rows))
    family = _names(rng, _FAMILIES, rows)

    columns: dict[str, npt.NDArray[Any]] = {
        "name": first + " " + family,
        "birth_date": born.astype(str).astype(object),
        "age": age.astype(str).astype(object),
        "sex": np.where(woman, "F", "M").astype(object),
        "zip": _with_gaps(rng, areas[_draw(rng, people)], 0.02),
        "admission_date": admitted.astype(str).astype(object),
        "ward": ward,
        "diagnosis": _with_gaps(rng, codes[illness], 0.015),
        "length_of_stay": days.astype(str).astype(object),
        "cost": np.array([f"{value:.2f}" for value in cost], dtype=object),
        "insurance": _with_gaps(rng, insurance, 0.03),
    }
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def _draw(rng: np.random.Generator, weights: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Draw one choice a row; `weights` has shape (rows, choices) and need not sum to one."""
    upto = weights.cumsum(axis=1)
    point = rng.random(len(weights)) * upto[:, -1]
    return (upto <= point[:, None]).sum(axis=1)


def _names(rng: np.random.Generator, names: str, rows: int) -> npt.NDArray[np.object_]:
    import numpy as np

    choices = np.array(names.split(), dtype=object)
    return choices[rng.integers(0, len(choices), rows)]


def _age(born: npt.NDArray[np.datetime64], on: npt.NDArray[np.datetime64]) -> npt.NDArray[np.int64]:
    """Return whole years lived, by the calendar."""
    months = (on.astype("datetime64[M]") - born.astype("datetime64[M]")).astype(int)
    day_on = (on - on.astype("datetime64[M]")).astype(int)
    day_born = (born - born.astype("datetime64[M]")).astype(int)
    return (months - (day_born > day_on)) // 12


def _illness_weights() -> npt.NDArray[np.float64]:
    """Return the weight of every diagnosis, shape (ages 0 to 100, man and woman, diagnoses)."""
    import numpy as np

    years = np.arange(101)
    table = np.empty((101, 2, len(DIAGNOSES)))
    for place, d in enumerate(DIAGNOSES):
        by_age = d.weight * np.interp(years, (d.youngest, d.peak, d.oldest), (0.0, 1.0, 0.0))
        table[:, 0, place] = by_age * (1.0 - d.women)
        table[:, 1, place] = by_age * d.women
    return table


def _with_gaps(
    rng: np.random.Generator, cells: npt.NDArray[np.object_], share: float
) -> npt.NDArray[np.object_]:
    gaps = cells.copy()
    gaps[rng.random(len(cells)) < share] = None
    return gaps


HOSPITAL = Sample(
    name="hospital",
    title="Hospital discharges",
    summary=(
        "Made-up hospital stays of one year. 5,000 rows with names, dates, ZIP codes, diagnoses "
        "and costs, rare cases and gaps, for trying the whole way from raw table to release."
    ),
    rows=ROWS,
    attribution=(
        "Generated by this project (seed 2026); no row is about a real person. Apache-2.0"
    ),
    identifier=("name", "birth_date"),
    quasi=("age", "sex", "zip", "admission_date"),
    sensitive=("diagnosis",),
    insensitive=("ward", "length_of_stay", "insurance"),
    types={"zip": "ordered"},
    hierarchies={
        column: f"hospital/{column}.csv"
        for column in ("age", "sex", "zip", "admission_date", "ward", "diagnosis", "insurance")
    },
    k=5,
    algorithm={"name": "optimal", "max_suppression": 0.02},
    load=hospital_frame,
)
