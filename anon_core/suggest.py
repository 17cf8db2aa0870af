"""Suggest what each column is to an attacker: a start for a person to correct."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .roles import Role
from .table import Column, Dataset

#: Share of distinct values from which a column is taken for a key, and rows needed to say so.
_KEY_SHARE = 0.95
_KEY_ROWS = 20
#: Below this share of distinct values a column called "name" names things, not people.
_THING_SHARE = 0.05
#: From this share of distinct values a column tells people apart, whatever it is about.
_APART_SHARE = 0.8
_PATTERN_SHARE = 0.9
_PATTERN_SAMPLE = 2000


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A role that suits a column, and why in one sentence."""

    name: str
    role: Role
    reason: str


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


_IDENTIFIER_WORDS = _all(
    "id ids uid uuid guid name names firstname lastname surname forename givenname fullname ssn "
    "nin nhs mrn passport email mail phone telephone tel mobile fax address street iban account "
    "username login url ip licence license plate patientid customerid personid"
)
_QUASI_WORDS = _all(
    "age birth born birthday birthdate dob yob sex gender zip zipcode postcode postal plz city "
    "town county state region district country nationality citizenship race ethnicity ethnic "
    "marital married relationship household education school degree occupation job profession "
    "workclass employer language latitude longitude lat lon lng height weight admission discharge "
    "visit date year"
)
_SENSITIVE_WORDS = _all(
    "diagnosis disease illness condition icd symptom treatment therapy drug medication hiv "
    "disability salary income wage pay earnings debt credit score religion belief party politics "
    "union orientation crime conviction offence offense result grade"
)
_ENGLISH: Mapping[Role, frozenset[str]] = {
    "identifier": _IDENTIFIER_WORDS,
    "quasi": _QUASI_WORDS,
    "sensitive": _SENSITIVE_WORDS,
}
#: Headers in German, French, Spanish, Italian, Dutch and Danish, without accents: role, what it is,
#: and its words; a star stands for any ending.
_OTHER_LANGUAGES: tuple[tuple[Role, str, str], ...] = (
    (
        "identifier",
        "name",
        "vorname* nachname* familienname* zuname nom noms prenom* nombre nombres apellido* nome "
        "cognome naam voornaam achternaam navn fornavn efternavn",
    ),
    ("identifier", "e-mail", "courriel correo posta epost* emailadres* mailadres*"),
    (
        "identifier",
        "telephone",
        "telefon* telephon* telefoon* handy* portable movil cellulare mobiel* mobil* tlf tlfnr",
    ),
    (
        "identifier",
        "address",
        "adress* anschrift strasse* str hausnummer hausnr rue direccion calle domicilio domicile "
        "indirizzo via adres* straat* huisnummer vej vejnavn gade",
    ),
    (
        "identifier",
        "social security number",
        "sozialversicher* versicherungsnummer versicherungsnr versicherten* svnr ahv* steuerid "
        "steuernummer personalausweis* ausweis* securite nir insee seguridad dni nif fiscale "
        "codicefiscale sicurezza bsn burgerservice* sofinummer cpr cprn* personnummer personnr",
    ),
    ("sensitive", "diagnosis", "diagnos* krankheit* erkrankung* befund* maladie* enfermedad*"),
    ("sensitive", "diagnosis", "malatti* patologia ziekte* aandoening* sygdom*"),
    (
        "sensitive",
        "income",
        "gehalt* lohn* einkommen* verdienst salaire* revenu* salari* sueldo ingreso* renta nomina "
        "stipendio reddito salaris loon inkomen* loen manedsloen arsloen indkomst*",
    ),
    ("sensitive", "religion", "konfession* glaube* religio* confession* confesion geloof"),
    ("sensitive", "religion", "godsdienst* tro trosretning"),
    ("quasi", "age", "alter edad eta leeftijd* alder"),
    ("quasi", "sex", "geschlecht* sexe sexo sesso genre genero genere geslacht* koen"),
    ("quasi", "date of birth", "geburt* gebdat* gebjahr naissance nacimiento nascita geboorte*"),
    ("quasi", "date of birth", "fodsel* foedsel* foedt geb datum"),
    ("quasi", "postcode", "postleitzahl* postal* postale cap cp postnummer postnr"),
    (
        "quasi",
        "place",
        "ort wohnort* stadt gemeinde* ville commune lieu ciudad municipio lugar poblacion citta "
        "comune luogo stad plaats* woonplaats* gemeente* byen kommune* sted bopael bopal",
    ),
    ("quasi", "country", "land herkunft* pays pais paese staat"),
    (
        "quasi",
        "nationality",
        "nationalit* staatsangehor* staatsangehoer* staatsburger* staatsbuerger* nacionalidad "
        "ciudadania nazionalita cittadinanza staatsburgerschap statsborger*",
    ),
    (
        "quasi",
        "marital status",
        "familienstand civil civile matrimonial* burgerlijke civilstand civilstatus agteskabelig* "
        "aegteskabelig*",
    ),
    (
        "quasi",
        "occupation",
        "beruf* tatigkeit* taetigkeit* metier emploi profesion ocupacion empleo professione "
        "occupazione lavoro mestiere beroep* functie erhverv* stilling*",
    ),
)
_PATTERNS: tuple[tuple[re.Pattern[str], Role, str], ...] = (
    (
        re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
        "identifier",
        "Its values are e-mail addresses.",
    ),
    (
        re.compile(r"\d{3}-\d{2}-\d{4}"),
        "identifier",
        "Its values look like social security numbers.",
    ),
    (re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"), "identifier", "Its values look like IBANs."),
    (
        re.compile(r"\+?\(?\d[\d ()/-]{7,}\d"),
        "identifier",
        "Its values look like telephone numbers.",
    ),
    (
        re.compile(r"[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?"),
        "sensitive",
        "Its values look like ICD codes of diagnoses.",
    ),
)


def suggest_roles(dataset: Dataset) -> tuple[Suggestion, ...]:
    """Suggest a role for every column, in the table's order, each with its reason.

    Looks at names, at the pattern of values, and at how many values occur only once. It is a
    start for a person to correct: what an attacker knows is not written in the table.
    """
    return tuple(_suggest(column, dataset.rows) for column in dataset.columns)


def _suggest(column: Column, rows: int) -> Suggestion:
    role, reason = _by_content(column, rows)
    return Suggestion(name=column.name, role=role, reason=reason)


def _by_content(column: Column, rows: int) -> tuple[Role, str]:
    words = _words(column.name)
    spread = len(column.values) / rows
    if column.kind != "date":
        for pattern, role, reason in _PATTERNS:
            if column.kind != "number" and _mostly(column, pattern):
                return role, reason
    if found := _known(words, "identifier"):
        if spread >= _THING_SHARE or rows < _KEY_ROWS:
            return "identifier", f"{found} in its name: points to one person."
        return "quasi", f"{found} in its name, but many rows share a value."
    if found := _known(words, "sensitive"):
        return "sensitive", f"{found} in its name: people keep it private."
    if found := _known(words, "quasi"):
        return "quasi", f"{found} in its name: others may know it."
    once = int(np.count_nonzero(column.counts == 1))
    if rows >= _KEY_ROWS and spread >= _KEY_SHARE and _key_like(column):
        return "identifier", f"{spread:.0%} of its values are distinct, like a key."
    if column.kind == "date":
        return "quasi", "Dates of events are often known to others."
    filled = rows - column.missing
    if len(column.values) > max(_APART_SHARE * filled, 1) and _key_like(column):
        return (
            "quasi",
            f"{len(column.values) / filled:.0%} of its values are distinct: published as they are, "
            f"they would tell people apart.",
        )
    if rows >= _KEY_ROWS and once / rows >= 0.2:
        return (
            "insensitive",
            f"Little known, but {once / rows:.1%} of rows have a value of their own.",
        )
    return "insensitive", "Its name and values are not known here: judge it yourself."


def _words(name: str) -> list[str]:
    for letter, plain in (("ß", "ss"), ("æ", "ae"), ("Æ", "Ae"), ("ø", "oe"), ("Ø", "Oe")):
        name = name.replace(letter, plain)
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", bare)
    return [word for word in re.split(r"[^a-z0-9]+", parts.lower()) if word]


def _known(words: Sequence[str], role: Role) -> str:
    """Return the first word that a role's columns are named by, quoted; empty if there is none."""
    for word in words:
        if word in _ENGLISH[role]:
            return f"'{word}'"
        for of, meaning, known in _OTHER_LANGUAGES:
            if of == role and any(
                word.startswith(one[:-1]) if one.endswith("*") else word == one
                for one in known.split()
            ):
                return f"'{word}' ({meaning})"
    return ""


def _mostly(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values[:_PATTERN_SAMPLE]
    if not sample:
        return False
    return sum(pattern.fullmatch(v) is not None for v in sample) >= _PATTERN_SHARE * len(sample)


def _key_like(column: Column) -> bool:
    """Tell keys from measurements: texts and whole numbers may be keys, fractions are measured."""
    if column.measure is None:
        return True
    return column.kind == "number" and bool(np.all(column.measure == np.floor(column.measure)))
