"""Suggest what each column is to an attacker: a start for a person to correct."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .column import Column
from .findings import DAY
from .kinds import KINDS
from .names_in_text import is_told
from .roles import Role
from .table import Dataset

#: Share of distinct values from which a column is taken for a key, and rows needed to say so.
_KEY_SHARE = 0.95
_KEY_ROWS = 20
#: Below this share of distinct values a column called "name" names things, not people.
_THING_SHARE = 0.05
#: From this share of distinct values a column tells people apart, whatever it is about.
_APART_SHARE = 0.8
_PATTERN_SHARE = 0.9
_PATTERN_SAMPLE = 2000


#: Share of distinct values from which told texts are free text, whatever the header says.
_TOLD_SHARE = 0.5
#: Whole numbers are taken for ages that end between these, with as many different ones at least.
_AGES_END, _AGES = (40, 120), 15

#: A role, or that there is none to suggest: a column is never taken for insensitive.
Suggested = Literal["identifier", "person", "quasi", "sensitive", "left_out", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """What suits a column, and why in one sentence.

    Nothing is ever suggested to be published as it is: what is unknown stays undecided, and texts
    that may say anything are better left out.
    """

    name: str
    role: Suggested
    reason: str


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Headers of the persons that rows are about, and of numbers that tell them apart.
_OF_PERSONS = _all(
    "patient patients person persons customer client member subject participant employee insured "
    "user student pupil patienten kunde kunden versicherte"
)
_NUMBERED = _all("id ids nr no num number key pseudonym pseudo")
_PERSON_NUMBERS = _all("patientid personid customerid userid memberid mrn pseudonym")
#: Rows of one person on average, up to which such a number is taken to repeat for persons.
_MOST_REPEATED = 100

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
#: Two to four words with capitals, as people are called.
_PERSON = re.compile(r"([^\W\d_][\w'’.-]*,? ){1,3}[^\W\d_][\w'’.-]*")
#: Headers of texts that may say anything, in the same languages.
_FREE_TEXT = _all(
    "note notes remark remarks comment comments text texts memo narrative story description desc "
    "details message feedback anamnesis history observation observations summary "
    "bemerkung* anmerkung* notiz* kommentar* freitext* beschreibung* anamnese* verlauf* "
    "remarque* commentaire* observacion* comentario* nota notas osservazion* opmerking* "
    "toelichting* bemaerkning* notat*"
)
#: How two sexes are written, and what may stand beside them.
_SEXES = tuple(
    _all(pair) for pair in ("m f", "m w", "m v", "m k", "h f", "male female", "man woman",
    "men women", "boy girl", "männlich weiblich", "mann frau", "homme femme", "masculin féminin",
    "hombre mujer", "masculino femenino", "maschio femmina", "man vrouw", "mand kvinde")
)  # fmt: skip
_NO_SEX = _all("x d u o other diverse divers unknown none na n/a nonbinary non-binary")
#: What is made of figures as telephone numbers are, and is none: shape, its own word, and why.
_SHAPES: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        DAY,
        "date",
        "Its values look like dates: others may know when things happened.",
    ),
    (
        re.compile(r"\d{5}(-\d{4})?"),
        "postcode",
        "Its values look like postcodes: others may know them.",
    ),
    (
        re.compile(r"\d{1,6} ?[-–/] ?\d{1,6}"),
        "range",
        "Its values look like ranges or fractions: others may know what they stand for.",
    ),
)
_PATTERNS: tuple[tuple[re.Pattern[str], Suggested, str], ...] = (
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
    found = [_suggest(column, dataset.rows) for column in dataset.columns]
    first = next((one.name for one in found if one.role == "person"), "")
    return tuple(
        replace(one, role="identifier") if one.role == "person" and one.name != first else one
        for one in found
    )


def _suggest(column: Column, rows: int) -> Suggestion:
    role, reason = _by_content(column, rows)
    return Suggestion(name=column.name, role=role, reason=reason)


def _by_content(column: Column, rows: int) -> tuple[Suggested, str]:
    words = _words(column.name)
    spread = len(column.values) / rows
    filled = rows - column.missing
    if not filled:
        return "left_out", "It is empty: every value is missing."
    shape, why = "", ""
    rules = KINDS[column.kind]
    if not rules.measured:
        found = (shape for shape in _SHAPES if _mostly(column, shape[0]))
        _, shape, why = next(found, (None, "", ""))
        for pattern, role, reason in _PATTERNS:
            if not shape and _mostly(column, pattern):
                return role, reason
    if _repeats_persons(column, words, rows):
        values = len(column.values)
        return "person", f"{values:,} values in {rows:,} rows: people have several."
    if found := _known(words, "identifier"):
        if spread >= _THING_SHARE or rows < _KEY_ROWS:
            return "identifier", f"{found} in its name: points to one person."
        return "quasi", f"{found} in its name, but many rows share a value."
    told = not rules.measured and is_told(column)
    apart = len(column.values) > max(_APART_SHARE * filled, 1)
    if told and len(column.values) >= _TOLD_SHARE * filled:
        return "left_out", "Its values are texts of many words, and these may name people."
    if found := next((w for w in words if _stands_in(w, _FREE_TEXT)), ""):
        return "left_out", f"'{found}' in its name: free text may name people."
    if column.kind == "text" and apart and _mostly(column, _PERSON):
        return "identifier", "Its values look like names of people."
    if found := _known(words, "sensitive"):
        return "sensitive", f"{found} in its name: people keep it private."
    if found := _known(words, "quasi"):
        return "quasi", f"{found} in its name: others may know it."
    if shape == "date":
        return "quasi", why
    if told:
        return "left_out", "Its values are texts of many words, and these may name people."
    if rows >= _KEY_ROWS and spread >= _KEY_SHARE and _key_like(column):
        return "identifier", f"{spread:.0%} of its values are distinct, like a key."
    if rules.known:
        return "quasi", rules.known
    if shape:
        return "quasi", why
    if apart and _key_like(column):
        return (
            "quasi",
            f"{len(column.values) / filled:.0%} of its values are distinct: published as they are, "
            f"they would tell people apart.",
        )
    if _sexes(column):
        return "quasi", "Its values are the two sexes: others know them."
    if _ages(column):
        return "quasi", "Its values are whole numbers as ages are: others may know them."
    once = int(np.count_nonzero(column.counts == 1))
    if rows >= _KEY_ROWS and once / rows >= 0.2:
        return (
            "undecided",
            f"No suggestion: decide. Published as it is, it would give away {once / rows:.1%} of "
            "rows, which have a value of their own.",
        )
    return "undecided", "No suggestion: decide. Neither its name nor its values say what it is."


def _repeats_persons(column: Column, words: Sequence[str], rows: int) -> bool:
    """Return whether a column numbers persons, by its name, and some of them have several rows."""
    named = any(w in _PERSON_NUMBERS for w in words) or (
        any(w in _OF_PERSONS for w in words) and any(w in _NUMBERED for w in words)
    )
    values = len(column.values)
    repeats = 1 < values < rows and rows <= _MOST_REPEATED * values
    return named and repeats and not column.missing and _key_like(column)


def _sexes(column: Column) -> bool:
    """Return whether the values are the two sexes, whatever the column is called."""
    values = {value.strip().lower() for value in column.values}
    return any(pair <= values <= pair | _NO_SEX for pair in _SEXES)


def _ages(column: Column) -> bool:
    """Return whether the values could be ages in years: whole numbers, many, up to some hundred."""
    if not KINDS[column.kind].amount or column.measure is None or len(column.values) < _AGES:
        return False
    low, high = float(column.measure.min()), float(column.measure.max())
    first, last = _AGES_END
    return _key_like(column) and low >= 0 and first <= high <= last


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
            if of == role and _stands_in(word, known.split()):
                return f"'{word}' ({meaning})"
    return ""


def _stands_in(word: str, known: Iterable[str]) -> bool:
    """Return whether a word is one of those known; a star stands for any ending."""
    return any(word.startswith(one[:-1]) if one.endswith("*") else word == one for one in known)


def _mostly(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values[:_PATTERN_SAMPLE]
    if not sample:
        return False
    return sum(pattern.fullmatch(v) is not None for v in sample) >= _PATTERN_SHARE * len(sample)


def _key_like(column: Column) -> bool:
    """Tell keys from measurements: texts and whole numbers may be keys, fractions are measured."""
    if column.measure is None:
        return True
    return KINDS[column.kind].amount and bool(np.all(column.measure == np.floor(column.measure)))
