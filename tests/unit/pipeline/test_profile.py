"""Profiles, suggestions and uniqueness against plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import BadInput
from anon_core.data.hierarchy import from_rows, read_levels
from anon_core.data.profile import distribution, level_effects, profile, rows_missing, uniqueness
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.samples import SAMPLES, hierarchy_folder, sample
from anon_core.data.table import Dataset


def table(**columns: list[str | None]) -> Dataset:
    return Dataset.from_frame(pd.DataFrame(columns, dtype=object))


def drawn(seed: int = 5, rows: int = 300) -> Dataset:
    rng = np.random.default_rng(seed)
    pools = {"a": ["x", "y", None], "b": [str(i) for i in range(20)], "c": ["p", "q", "r", "s"]}
    return table(
        **{n: [pool[i] for i in rng.integers(0, len(pool), rows)] for n, pool in pools.items()}
    )


def loops(frame: pd.DataFrame, names: list[str]) -> int:
    keys = [tuple(str(v) for v in row) for row in frame[names].itertuples(index=False)]
    return sum(1 for times in Counter(keys).values() if times == 1)


def test_profile_counts_values() -> None:
    found = profile(table(a=["x", "x", "y", None], b=["1", "2", "3", "4"]))
    first, second = found
    assert (first.distinct, first.missing, first.top, first.top_share) == (2, 1, "x", 0.5)
    assert (first.once, first.once_share) == (1, 0.25)
    assert (second.kind, second.once) == ("number", 4)


def test_profile_of_a_column_without_values() -> None:
    only = profile(table(a=[None, None], b=["1", "2"]))[0]
    assert (only.distinct, only.missing, only.top, only.top_share) == (0, 2, "", 0.0)


def test_uniqueness_equals_the_loop() -> None:
    data = drawn()
    frame = data.frame()
    found = uniqueness(data, ["a", "b", "c"])
    assert found.unique == loops(frame, ["a", "b", "c"])
    for left_out in "abc":
        rest = [n for n in "abc" if n != left_out]
        assert found.contribution[left_out] == found.unique - loops(frame, rest)
    assert found.most == max("abc", key=lambda n: found.contribution[n])


def test_uniqueness_ignores_the_order_of_rows() -> None:
    data = drawn()
    shuffled = Dataset.from_frame(data.frame().sample(frac=1, random_state=1))
    assert uniqueness(shuffled, ["a", "b"]) == uniqueness(data, ["a", "b"])


def test_uniqueness_by_one_column_and_by_none() -> None:
    data = table(a=["x", "x", "y"])
    assert uniqueness(data, ["a"]).contribution == {"a": 1}
    assert uniqueness(data, []).unique == 0
    assert uniqueness(data, []).most == ""
    assert uniqueness(table(a=["x"]), []).unique == 1


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(BadInput, match="Did you mean 'age'"):
        uniqueness(table(age=["1"]), ["agee"])


def test_rows_that_miss_a_value_are_counted_once() -> None:
    data = table(a=["x", None, None], b=["y", None, "z"])
    assert [rows_missing(data, n) for n in (["a"], ["b"], ["a", "b"], [])] == [2, 1, 2, 0]


@pytest.mark.parametrize("name", ["hospital", "toth-private", "li-microdata"])
def test_level_effects_equal_the_loop(name: str) -> None:
    one = sample(name)
    kinds = dict(one.types)
    data = Dataset.from_frame(one.frame(), kinds=kinds)  # pyright: ignore[reportArgumentType]
    frame = data.frame().fillna("")
    for column in one.quasi:
        rows = read_levels(hierarchy_folder() / one.hierarchies[column], column)
        hierarchy = from_rows(data.column(column), rows)
        label = {row[0]: row for row in hierarchy.rows()}
        before = -1
        for effect in level_effects(data, one.quasi, hierarchy):
            coarse = frame.assign(**{column: [label[v][effect.level] for v in frame[column]]})
            assert effect.unique == loops(coarse, list(one.quasi))
            apart = effect.level < hierarchy.height and bool(frame[column].eq("").any())
            assert effect.groups == coarse[column].nunique() - apart
            assert effect.classes == len(coarse[list(one.quasi)].drop_duplicates())
            assert effect.smallest == coarse.groupby(list(one.quasi)).size().min()
            lo, hi = hierarchy.bounds(effect.level)
            leaves = dict(zip(hierarchy.labels[effect.level], (hi - lo).tolist(), strict=True))
            lost = coarse[column].map(leaves).mean() / max(len(hierarchy.leaves) - 1, 1)
            assert effect.loss == pytest.approx(lost)
            assert before in (-1,) or effect.unique <= before
            before = effect.unique


def test_distribution_of_numbers_has_intervals_that_cover_everything() -> None:
    values = [str(v) for v in np.random.default_rng(1).normal(0, 50, 500).round(2)]
    found = distribution(table(a=values).columns[0], most=12)
    assert found.intervals
    assert len(found.bars) <= 12 + 1
    assert sum(bar.rows for bar in found.bars) == 500
    for bar, after in zip(found.bars, found.bars[1:], strict=False):
        assert bar.high == pytest.approx(after.low)


def test_distribution_of_dates_names_days() -> None:
    days = [f"2024-01-{day:02d}" for day in range(1, 29)]
    found = distribution(table(a=days).columns[0], most=10)
    assert found.intervals
    assert sum(bar.rows for bar in found.bars) == 28
    assert found.bars[0].label.startswith(("2023-12", "2024-01"))


def test_distribution_of_texts_shows_the_most_frequent() -> None:
    values = ["x"] * 5 + ["y"] * 3 + ["z", "w", None]
    found = distribution(table(a=values).columns[0], most=2)
    assert [(bar.label, bar.rows) for bar in found.bars] == [("x", 5), ("y", 3)]
    assert (found.other_values, found.other_rows, found.missing) == (2, 2, 1)


@pytest.mark.parametrize("name", [one.name for one in SAMPLES if one.available()])
def test_distribution_of_every_sample_column(name: str) -> None:
    data = Dataset.from_frame(sample(name).frame())
    for column in data.columns:
        found = distribution(column)
        counted = sum(bar.rows for bar in found.bars) + found.other_rows + found.missing
        assert counted == data.rows


PEOPLE = ("Ada", "Bo", "Çelik", "O'Neil", "Anne-Marie", "Ümit")
NOTES = [f"Seen {i} times; asked {name} to come back" for i in range(4) for name in PEOPLE]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patient_id", [str(i) for i in range(30)], "identifier"),
        ("firstName", [f"N{i}" for i in range(30)], "identifier"),
        ("contact", [f"p{i}@example.org" for i in range(30)], "identifier"),
        ("x", [f"{i:03d}-12-{i:04d}" for i in range(30)], "identifier"),
        ("key", [f"k{i}" for i in range(30)], "identifier"),
        ("product name", ["a", "b"] * 30, "quasi"),
        ("ZIP", ["12345", "12346"] * 15, "quasi"),
        ("when", [f"2024-01-{d:02d}" for d in range(1, 31)], "quasi"),
        ("code", ["I21.4", "J18.9", "O80"] * 10, "sensitive"),
        ("Salary", ["10", "20", "30"] * 10, "sensitive"),
        ("measured", [f"{i / 7:.3f}" for i in range(30)], "undecided"),
        ("colour", ["red", "blue"] * 15, "undecided"),
        ("thing", [f"r{i}" for i in range(27)] + ["r1"] * 3, "quasi"),
        ("thing", [f"r{i}" for i in range(24)] + ["r1"] * 6, "undecided"),
        ("thing", [f"r{i}" for i in range(9)], "quasi"),
        ("thing", ["r1", "r2", *[None] * 28], "quasi"),
        ("remark", ["r1", "r2"] * 15, "left_out"),
        ("Bemerkungen", ["r1", "r2"] * 15, "left_out"),
        ("xq7", NOTES, "left_out"),
        ("xq7", [NOTES[i % 12] for i in range(60)], "left_out"),
        ("diagnosis", NOTES, "left_out"),
        ("city", NOTES, "left_out"),
        ("xq7", [*NOTES[:12], *["none"] * 90], "left_out"),
        ("xq7", [f"{a} {b}" for a in PEOPLE for b in PEOPLE], "identifier"),
        ("xq7", [f"{a}, {b}" for a in PEOPLE for b in PEOPLE[:2]], "identifier"),
        ("iage", [str(17 + i % 60) for i in range(300)], "quasi"),
        ("isex", ["M", "F", "F"] * 10, "quasi"),
        ("v2", ["männlich", "weiblich", "divers"] * 10, "quasi"),
        ("v2", ["1", "2"] * 15, "undecided"),
        ("wishes", [str(i % 5) for i in range(300)], "undecided"),
        ("amount", [str(i % 60 + 100) for i in range(300)], "undecided"),
        ("begun", [f"{d:02d}/{m:02d}/2024" for d in range(1, 29) for m in (1, 2)], "quasi"),
        ("begun", [f"{d}.{m}.24" for d in range(1, 29) for m in (1, 2)], "quasi"),
        ("begun", [f"{d:02d}/01/2024 08:3{d % 9}" for d in range(1, 29)], "quasi"),
        ("years", [f"{y}-{y + 4}" for y in range(1960, 2000)] * 2, "quasi"),
        ("place", [f"{i:05d}-{i + 1000}" for i in range(12000, 12020)] * 2, "quasi"),
        ("place", [f"{i:05d}" for i in range(1000, 1020)] * 2, "quasi"),
        ("call", [f"+49 30 / 123 45-{i}" for i in range(10, 40)], "identifier"),
        ("call", [f"030 1234{i}" for i in range(10, 40)] * 2, "identifier"),
        ("patient_id", [f"{i:05d}" for i in range(30)], "identifier"),
        ("count", [str(i) for i in range(27)] + ["1"] * 3, "quasi"),
        ("constant", ["r"], "undecided"),
        ("nothing", [None] * 30, "left_out"),
    ],
)
def test_suggestions(name: str, values: list[str | None], role: str) -> None:
    (found,) = suggest_roles(table(**{name: [*values]}))
    assert found.role == role
    assert found.reason.endswith(".")


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("Alter,âge,Edad,età,Leeftijd,Alder", "quasi"),
        ("Geschlecht,Sexe,sexo,Sesso,geslacht,Køn,genre,género", "quasi"),
        ("Geburtsdatum,date de naissance,Fecha de nacimiento,data di nascita", "quasi"),
        ("Geboortedatum,Fødselsdato,Geburtsjahr,GebDatum", "quasi"),
        ("PLZ,Postleitzahl,code postal,Código postal,CAP,codice postale,Postnummer", "quasi"),
        ("Wohnort,Ort,Ville,Ciudad,città,Comune,woonplaats,Gemeente,Kommune", "quasi"),
        ("Land,Herkunftsland,Pays,país,Paese", "quasi"),
        ("Vorname,Nachname,Nom,Prénom,Nombre,Apellidos,Cognome,Voornaam,Efternavn", "identifier"),
        ("E-Mail-Adresse,Courriel,Correo electrónico,E-mailadres", "identifier"),
        ("Telefonnummer,Téléphone,Teléfono,Telefoon,Mobilnummer,Handynr", "identifier"),
        ("Familienstand,état civil,Estado civil,stato civile,Burgerlijke staat", "quasi"),
        ("Civilstand,situation matrimoniale", "quasi"),
        ("Beruf,Métier,Profesión,Ocupación,Professione,Beroep,Stilling", "quasi"),
        ("Gehalt,Einkommen,Salaire,Sueldo,Reddito,Inkomen,Løn,MonatsGehalt", "sensitive"),
        ("Diagnose,Krankheit,Maladie,Enfermedad,Malattia,Ziekte,Sygdom", "sensitive"),
        ("Konfession,Religionszugehörigkeit,Religión,Religione,Godsdienst", "sensitive"),
        ("Staatsangehörigkeit,Staatsangehoerigkeit,Nationalité,Nacionalidad", "quasi"),
        ("Cittadinanza,Nationaliteit,Nationalitet,Nazionalità", "quasi"),
        ("Straße,Strasse,Anschrift,Rue,Dirección,Indirizzo,Straat,Adresse,Vej", "identifier"),
        ("Sozialversicherungsnummer,numéro de sécurité sociale,DNI,BSN,CPR-nr.", "identifier"),
        ("Codice fiscale,Número de la seguridad social", "identifier"),
    ],
)
def test_headers_in_other_languages(names: str, role: str) -> None:
    values = [str(i % 20 + 100.5) for i in range(30)]
    for name in names.split(","):
        (found,) = suggest_roles(table(**{name: [*values]}))
        assert found.role == role, name


def test_a_foreign_word_is_translated() -> None:
    (found,) = suggest_roles(table(Geburtsdatum=["1", "2"]))
    assert found.reason == "'geburtsdatum' (date of birth) in its name: others may know it."


def test_nothing_is_ever_suggested_to_be_published_as_it_is() -> None:
    rng = np.random.default_rng(3)
    tables = [Dataset.from_frame(one.frame()) for one in SAMPLES if one.available()]
    for _ in range(60):
        pool = [f"{rng.choice(['', 'x', 'A b'])}{i:0{rng.integers(1, 6)}d}" for i in range(200)]
        drawn = rng.choice(pool, (40, 4), p=rng.dirichlet(np.full(200, 0.1)))
        tables.append(table(**{f"v{i}": drawn[:, i].tolist() for i in range(4)}))
    roles = {found.role for one in tables for found in suggest_roles(one)}
    assert roles == {"identifier", "quasi", "sensitive", "undecided"}


def test_suggestions_hold_no_value() -> None:
    secret = [f"secret{i}@example.org" for i in range(30)]
    (found,) = suggest_roles(table(a=[*secret]))
    assert "secret" not in found.reason


GIVEN = ("Dörte", "José", "Zoë", "Anna", "Käthe", "Erik", "Renée", "Thomas")
FAMILY = ("García", "Schäfer", "O'Neill", "Weiß", "Kowalski", "Dupont", "Yilmaz", "Smith")
FULL = [f"{first} {last}" for first in GIVEN for last in FAMILY]
#: What points to people by its header, in several languages, and values of each.
PEOPLE_COLUMNS = {
    "Name,name,Patient name,patientName,Nom,Nome,Naam,Navn,Name des Patienten,Full Name": FULL,
    "Nachname,Surname,last_name,Nom de famille,Apellidos,Cognome,Achternaam,Efternavn": FAMILY,
    "Vorname,first name,Prénom,Nombre,Voornaam,Fornavn,Rufname,Geburtsname": GIVEN,
    "Straße,street,Rue,Calle,Indirizzo,Straat,Vejnavn,Anschrift": [
        f"{name} {n}" for name in ("Hauptweg", "Am Markt", "Lindenhof") for n in (1, 2, 17)
    ],
    "E-Mail,email,Courriel,Correo electrónico,mailadres": [
        f"{a}.{i}@example.org" for i, a in enumerate(GIVEN)
    ],
    "Telefon,phone,Téléphone,Teléfono,Telefoon,Mobilnummer,Handy": [
        f"0171/555{i:05d}" for i in range(9)
    ],
    "Arzt,Hausarzt,Behandler,doctor,Attending physician,Médecin traitant,Médico,Huisarts": [
        f"Dr. {name}" for name in FAMILY
    ],
}
#: What is said of things or counts something, though a word of its header names people, too.
THINGS = {
    "product name,ward_name,drug name,city name": ["Aspirin", "Ibuprofen", "Metformin"],
    "station id,course number": ["A1", "B2", "C3"],
    "has phone,email consent,Telefon vorhanden": ["yes", "no"],
    "doctor visits": ["0", "1", "2", "3"],
}


@pytest.mark.parametrize("headers", PEOPLE_COLUMNS)
def test_who_people_are_is_an_identifier_however_often_it_repeats(headers: str) -> None:
    values = PEOPLE_COLUMNS[headers]
    for header in headers.split(","):
        for rows in (len(values), 60 * len(values)):
            (found,) = suggest_roles(
                table(**{header: [values[i % len(values)] for i in range(rows)]})
            )
            assert found.role == "identifier", (header, rows, found.reason)


@pytest.mark.parametrize("headers", THINGS)
def test_what_things_are_called_and_how_often_is_no_identifier(headers: str) -> None:
    values = THINGS[headers]
    for header in headers.split(","):
        (found,) = suggest_roles(table(**{header: [values[i % len(values)] for i in range(600)]}))
        assert found.role != "identifier", (header, found.reason)


@pytest.mark.parametrize(
    "values",
    [
        FULL,
        [f"{name.split()[1]}, {name.split()[0]}" for name in FULL],
        [f"Dr. {name}" for name in FAMILY],
        [f"Frau {name}" for name in FAMILY],
        [f"{name}straße {n}" for name in ("Haupt", "Garten", "Berg") for n in (1, 2, "17a")],
        [f"{n} {name} Street" for name in ("Main", "Oak", "High") for n in (1, 2, 17)],
        [f"{n} rue de la {name}" for name in ("Paix", "Gare", "Poste") for n in (1, 2, 17)],
        [f"{name.lower()}@example.org" for name in GIVEN],
        [f"+49 171 555{i:05d}" for i in range(9)],
    ],
)
def test_who_people_are_is_seen_in_the_values_too(values: list[str]) -> None:
    (found,) = suggest_roles(table(xq7=[values[i % len(values)] for i in range(60 * len(values))]))
    assert found.role == "identifier", found.reason
