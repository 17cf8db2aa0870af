"""The sample tables load as described, and their hierarchy files are well formed.

The hierarchy files are read by plain code here, so that a mistake of the core's own reader cannot
hide a mistake in a file.
"""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from anon_core.base.errors import AnonError
from anon_core.data.samples import SAMPLES, Sample, adult_path, hierarchy_folder, sample
from anon_core.data.samples.adult import ADULT_FILE, CACHE_VARIABLE
from anon_core.data.samples.hospital import DIAGNOSES, YEAR, hospital_frame, zip_codes

needs_adult = pytest.mark.skipif(adult_path() is None, reason=sample("adult").why_unavailable())
each_sample = pytest.mark.parametrize("one", SAMPLES, ids=lambda one: one.name)
# The library's files have a form of their own, with several names of a value in one cell; what is
# made of them is tested with the proposals.
files = pytest.mark.parametrize(
    "path",
    sorted(p for p in hierarchy_folder().rglob("*.csv") if p.parent.name != "library"),
    ids=lambda path: path.relative_to(hierarchy_folder()).as_posix(),
)

#: Columns whose values are counted or measured: a group of them must be an interval.
NUMERIC = {"age", "Age", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


def read(path: Path) -> list[list[str]]:
    return [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]


def covers(rows: list[list[str]]) -> list[dict[str, frozenset[str]]]:
    """Return, per level, the values under each label."""
    levels: list[dict[str, frozenset[str]]] = []
    for level in range(len(rows[0])):
        below: dict[str, set[str]] = {}
        for row in rows:
            below.setdefault(row[level], set()).add(row[0])
        levels.append({label: frozenset(values) for label, values in below.items()})
    return levels


def frame_of(one: Sample) -> pd.DataFrame:
    if not one.available():
        pytest.skip(one.why_unavailable())
    return one.frame()


# Hierarchy files


@files
def test_file_is_plain_and_rectangular(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    assert '"' not in text
    assert "," not in text
    rows = read(path)
    assert len({len(row) for row in rows}) == 1
    assert len(rows[0]) >= 2
    assert all(cell and cell == cell.strip() and cell != "?" for row in rows for cell in row)
    assert rows == list(csv.reader(text.splitlines(), delimiter=";"))


@files
def test_every_value_stands_once_under_one_top(path: Path) -> None:
    rows = read(path)
    values = [row[0] for row in rows]
    assert len(values) == len(set(values))
    assert len({row[-1] for row in rows}) == 1


@files
def test_levels_nest(path: Path) -> None:
    rows = read(path)
    for level in range(1, len(rows[0]) - 1):
        above: dict[str, str] = {}
        for row in rows:
            assert above.setdefault(row[level], row[level + 1]) == row[level + 1]


@files
def test_one_text_means_the_same_values_on_every_level(path: Path) -> None:
    meaning: dict[str, frozenset[str]] = {}
    for level in covers(read(path)):
        for label, values in level.items():
            assert meaning.setdefault(label, values) == values


@files
def test_every_level_is_coarser_than_the_one_below(path: Path) -> None:
    sizes = [len(level) for level in covers(read(path))]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


@files
def test_groups_are_runs_of_neighbours(path: Path) -> None:
    rows = read(path)
    if path.stem in NUMERIC:
        rows = sorted(rows, key=lambda row: int(row[0]))
    for level in range(len(rows[0])):
        runs = [
            row[level] for i, row in enumerate(rows) if i == 0 or rows[i - 1][level] != row[level]
        ]
        assert len(runs) == len(set(runs))


@files
def test_number_labels_say_the_interval_they_cover(path: Path) -> None:
    if path.stem not in NUMERIC:
        return
    for level in covers(read(path))[1:]:
        spans: list[tuple[int, int]] = []
        for label, values in level.items():
            if label == "*":
                continue
            first, _, last = label.partition("-")
            low, high = int(first), int(last or first)
            spans.append((low, high))
            assert all(low <= int(value) <= high for value in values)
        spans.sort()
        assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))


@files
def test_every_file_is_used(path: Path) -> None:
    used = {name for one in SAMPLES for name in one.hierarchies.values()}
    assert path.relative_to(hierarchy_folder()).as_posix() in used


# All samples


@each_sample
def test_description_fits_the_table(one: Sample) -> None:
    frame = frame_of(one)
    assert len(frame) == one.rows
    columns = set(frame.columns)
    roles = (*one.identifier, *one.quasi, *one.sensitive)
    assert set(roles) <= columns
    assert len(set(roles)) == len(roles)
    assert set(one.types) <= columns
    assert set(one.types.values()) <= {"text", "ordered", "number", "date"}
    assert set(one.hierarchies) <= columns
    assert set(one.quasi) <= set(one.hierarchies)
    assert 2 <= one.k <= one.rows
    assert one.title
    assert one.attribution
    assert one.summary.endswith(".")


@each_sample
def test_cells_are_texts_or_none(one: Sample) -> None:
    frame = frame_of(one)
    for column in frame.columns:
        for cell in frame[column].unique():
            assert cell is None or (isinstance(cell, str) and cell and cell == cell.strip())
            assert cell != "?"


@each_sample
def test_hierarchies_know_every_value(one: Sample) -> None:
    frame = frame_of(one)
    for column, name in one.hierarchies.items():
        known = {row[0] for row in read(hierarchy_folder() / name)}
        assert set(frame[column].dropna()) <= known, column


@each_sample
def test_loading_twice_gives_the_same_table(one: Sample) -> None:
    first, second = frame_of(one), frame_of(one)
    assert first is not second
    pd.testing.assert_frame_equal(first, second)


def test_names_are_unique_and_found() -> None:
    names = [one.name for one in SAMPLES]
    assert len(set(names)) == len(names)
    for one in SAMPLES:
        assert sample(one.name) is one


def test_unknown_name_lists_the_names() -> None:
    with pytest.raises(AnonError, match=r"'samarati'.*Did you mean 'adult'\?"):
        sample("adlt")


def test_describing_samples_loads_no_table_library() -> None:
    code = "import sys, anon_core.data.samples; sys.exit('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=hierarchy_folder().parent, check=False)
    assert done.returncode == 0


# Adult


@needs_adult
def test_adult_facts() -> None:
    frame = sample("adult").frame()
    assert frame.shape == (32_561, 14)
    assert frame.loc[0, ["age", "workclass", "income"]].tolist() == ["39", "State-gov", "<=50K"]
    missing = frame.isna().sum()
    assert missing[missing > 0].to_dict() == {
        "workclass": 1836,
        "occupation": 1843,
        "native-country": 583,
    }
    assert frame["age"].nunique() == 73
    assert frame["native-country"].nunique() == 41
    assert frame["gender"].value_counts().to_dict() == {"Male": 21_790, "Female": 10_771}


def test_adult_education_groups_are_the_same_by_name_and_by_number() -> None:
    folder = hierarchy_folder() / "adult"
    by_name, by_number = read(folder / "education.csv"), read(folder / "education-num.csv")
    for level in range(4):
        sizes = [
            [len(values) for values in covers(rows)[level].values()]
            for rows in (by_name, by_number)
        ]
        assert sizes[0] == sizes[1]


def _no_cache(monkeypatch: pytest.MonkeyPatch, empty: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(empty / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty / "xdg"))
    monkeypatch.setattr("anon_core.data.samples.adult.shipped", lambda: empty / "checkout")


def test_adult_without_file_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _no_cache(monkeypatch, tmp_path)
    adult = sample("adult")
    assert adult_path() is None
    assert not adult.available()
    assert "make run" in adult.why_unavailable()
    with pytest.raises(AnonError, match="make run"):
        adult.frame()


@pytest.mark.parametrize("folder", ["own", "xdg/anonymity-workbench", "checkout/.cache"])
def test_adult_is_looked_for_in_every_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    _no_cache(monkeypatch, tmp_path)
    place = tmp_path / folder / ADULT_FILE
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    assert adult_path() == place
    assert sample("adult").available()
    assert sample("adult").why_unavailable() == ""


def test_adult_own_cache_folder_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _no_cache(monkeypatch, tmp_path)
    for folder in ("checkout/.cache", "xdg/anonymity-workbench", "own"):
        place = tmp_path / folder / ADULT_FILE
        place.parent.mkdir(parents=True)
        place.write_bytes(b"")
        assert adult_path() == place


def test_adult_damaged_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _no_cache(monkeypatch, tmp_path)
    place = tmp_path / "own" / ADULT_FILE
    place.parent.mkdir()
    place.write_bytes(b"not the table")
    with pytest.raises(AnonError, match="fetch it again"):
        sample("adult").frame()


# The hospital


def test_hospital_same_seed_same_bytes() -> None:
    first = hospital_frame(seed=7, rows=800).to_csv()
    assert hospital_frame(seed=7, rows=800).to_csv() == first
    assert hospital_frame(seed=8, rows=800).to_csv() != first
    code = (
        "from anon_core.data.samples.hospital import hospital_frame as make\n"
        "print(make(seed=7, rows=800).to_csv(), end='')"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        cwd=hierarchy_folder().parent,
        env={**os.environ, "PYTHONHASHSEED": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout == first


def test_hospital_columns_look_like_a_hospital() -> None:
    frame = sample("hospital").frame()
    assert frame["zip"].dropna().str.fullmatch(r"\d{5}").all()
    assert frame["zip"].dropna().str.startswith("0").mean() > 0.2
    assert frame["diagnosis"].dropna().str.fullmatch(r"[A-Z]\d\d(\.[0-9A-Z]{1,4})?").all()
    assert frame["cost"].str.fullmatch(r"\d+\.\d\d").all()
    assert frame["length_of_stay"].astype(int).ge(1).all()
    assert frame["admission_date"].is_monotonic_increasing
    assert frame["admission_date"].str.startswith(f"{YEAR}-").all()
    assert set(frame["sex"]) == {"F", "M"}


def test_hospital_has_gaps_where_hospitals_have_them() -> None:
    missing = sample("hospital").frame().isna().mean()
    assert set(missing[missing > 0].index) == {"zip", "diagnosis", "insurance"}
    assert missing[missing > 0].between(0.01, 0.05).all()


def test_hospital_age_is_the_age_at_admission() -> None:
    frame = sample("hospital").frame()
    born, admitted = frame["birth_date"].str.split("-"), frame["admission_date"].str.split("-")
    for birth, admission, age in zip(born, admitted, frame["age"], strict=True):
        years = int(admission[0]) - int(birth[0])
        assert int(age) == years - (admission[1:] < birth[1:])


def test_hospital_illness_follows_age_and_sex() -> None:
    frame = sample("hospital").frame()
    age = frame["age"].astype(int)
    code = frame["diagnosis"].fillna("")
    births = code.str.startswith("O")
    assert births.sum() > 100
    assert (frame.loc[births, "sex"] == "F").all()
    assert age[births].between(14, 49).all()
    assert (frame.loc[code.isin(["C61", "N40.1"]), "sex"] == "M").all()
    assert (age[frame["ward"] == "Neonatology"] == 0).all()
    assert age[code == "I50.9"].mean() > age[code == "F32.9"].mean() + 20
    old = frame.loc[age >= 65, "insurance"]
    assert (old == "Medicare").mean() > 0.7


def test_hospital_has_rare_rows() -> None:
    frame = sample("hospital").frame()
    age = frame["age"].astype(int)
    assert 1 <= (age >= 95).sum() <= 50
    assert (frame["diagnosis"].value_counts() <= 5).sum() >= 5
    assert (frame["zip"].value_counts() <= 5).sum() >= 3
    quasi = list(sample("hospital").quasi)
    assert frame[~frame.duplicated(quasi, keep=False)].shape[0] > 4_000
    coarse = ~frame.duplicated(["age", "sex"], keep=False)
    assert 1 <= coarse.sum() <= 20


def test_hospital_hierarchies_know_all_the_generator_can_emit() -> None:
    folder = hierarchy_folder() / "hospital"
    assert {row[0] for row in read(folder / "zip.csv")} == set(zip_codes())
    codes = [d.code for d in DIAGNOSES]
    assert len(set(codes)) == len(codes)
    assert {row[0] for row in read(folder / "diagnosis.csv")} == set(codes)
    wards = {d.ward for d in DIAGNOSES}
    assert {row[0] for row in read(folder / "ward.csv")} == wards
    days = pd.date_range(f"{YEAR}-01-01", f"{YEAR}-12-31").strftime("%Y-%m-%d")
    assert [row[0] for row in read(folder / "admission_date.csv")] == days.tolist()


def test_hospital_diagnoses_stand_in_their_chapter() -> None:
    for code, category, chapter, _ in read(hierarchy_folder() / "hospital" / "diagnosis.csv"):
        first, last = chapter.split("-")
        assert category == code[:3]
        assert first <= category <= last


# The tables of the sources


def test_toth_tables() -> None:
    private, public = sample("toth-private").frame(), sample("toth-public").frame()
    assert private.shape == (8, 4)
    assert public.shape == (10, 3)
    assert private.iloc[0].tolist() == ["Clara", "5370", "25", "30k"]
    assert private.iloc[-1].tolist() == ["Amanda", "5373", "25", "9k"]
    assert public.iloc[0].tolist() == ["Elizabeth", "5370", "25"]
    assert public.iloc[-1].tolist() == ["Jesper", "5372", "27"]
    both = private.merge(public, on=["Name", "Zip", "Age"])
    assert len(both) == 8
    assert sorted(set(public["Name"]) - set(private["Name"])) == ["Elizabeth", "Jesper"]
    alike = public[(public["Zip"] == "5370") & (public["Age"] == "25")]
    assert alike["Name"].tolist() == ["Elizabeth", "Clara", "Julie"]


def test_li_table() -> None:
    frame = sample("li-microdata").frame()
    assert frame.shape == (9, 4)
    assert frame.iloc[0].tolist() == ["Bob", "65", "M", "Emphysema"]
    assert frame.iloc[8].tolist() == ["Sarah", "10", "M", "Bronchitis"]
    age = frame["Age"].astype(int)
    asked = age.between(40, 70) & (frame["Sex"] == "F") & (frame["Disease"] == "Flu")
    assert asked.sum() == 1
    assert frame["Disease"].value_counts().to_dict()["Gastritis"] == 2


def test_samarati_table() -> None:
    frame = sample("samarati").frame()
    assert frame.shape == (9, 6)
    assert frame["Race"].value_counts().to_dict() == {"asian": 5, "black": 2, "white": 2}
    found = frame.query("DOB == '64/04/12' and Sex == 'F' and ZIP == '94142'")
    assert found["Disease"].tolist() == ["hypertension"]


@pytest.mark.parametrize(
    ("file", "levels"),
    [
        ("toth/Zip.csv", [4, 1]),
        ("toth/Age.csv", [2, 1]),
        ("samarati/Race.csv", [3, 1]),
        ("samarati/ZIP.csv", [4, 2, 1]),
        ("samarati/Sex.csv", [2, 1]),
        ("samarati/DOB.csv", [6, 3, 2, 1]),
        ("samarati/Marital.csv", [4, 2, 1]),
    ],
)
def test_hierarchies_of_the_sources_keep_their_levels(file: str, levels: list[int]) -> None:
    assert [len(level) for level in covers(read(hierarchy_folder() / file))] == levels


def test_samarati_lattice_of_race_and_zip() -> None:
    """With k = 2, the published counts of rows to suppress at each node of the lattice."""
    frame = sample("samarati").frame()
    race = {row[0]: row for row in read(hierarchy_folder() / "samarati/Race.csv")}
    area = {row[0]: row for row in read(hierarchy_folder() / "samarati/ZIP.csv")}
    suppressed = {}
    for r in range(2):
        for z in range(3):
            pairs = [
                (race[a][r], area[b][z]) for a, b in zip(frame["Race"], frame["ZIP"], strict=True)
            ]
            suppressed[r, z] = sum(pairs.count(pair) < 2 for pair in pairs)
    assert suppressed == {(0, 0): 6, (0, 1): 2, (0, 2): 0, (1, 0): 2, (1, 1): 0, (1, 2): 0}
