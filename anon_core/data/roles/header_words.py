"""Words of headers: what columns are called that are identifiers, known to others or sensitive."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from anon_core.data.roles.roles import Role


def all_of(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


#: Headers of the persons that rows are about, and of numbers that distinguish them.
OF_PERSONS = all_of(
    "patient patients person persons customer client member subject participant employee insured "
    "user student pupil patienten kunde kunden versicherte pat pers cust subj"
)
#: Of these, words that may be of several: numbers before them count.
SEVERAL = all_of("patients persons patienten kunden versicherte")
OF_HOUSEHOLDS = all_of(
    "household hh hhid hhnr famid haushalt haushaltsnummer menage foyer hogar huishouden"
)
#: Headers of survey weights, and what makes a weight that of a survey, not of a body.
OF_WEIGHTS = all_of(
    "fnlwgt pweight pweights finalweight surveyweight sampleweight hochrechnungsfaktor "
    "hochrechnungsfaktoren gewichtungsfaktor ponderation pondera factorexp"
)
WEIGHTS = all_of("weight weights wgt gewicht gewichte poids peso gewichtung")
OF_SURVEYS = all_of(
    "survey sample sampling design final population expansion calibrated base household person "
    "analysis grossing hochrechnung stichprobe"
)
OF_STRATA = all_of("stratum strata stratification psu schicht schichtung strate estrato")
NUMBERED = all_of("id ids nr no num number key pseudonym pseudo")
#: Words next to whom a column numbers that say nothing else of them.
CODES = NUMBERED | all_of(
    "code codes hash token ref reference index file record case chart the of in unique masked "
    "anonymous anon hashed encrypted study sample local site register registry system"
)
#: Headers of numbers that count something.
COUNTED = all_of("n num number count counts total anzahl zahl nombre numero aantal antal")
_PERSON_NUMBERS_ABROAD = (
    "personalnummer personalnr kundennummer kundennr matrikelnummer matrikelnr mitgliedsnummer "
    "mitgliedsnr patientennummer patientennr matricule ipp"
)
PERSON_NUMBERS = all_of(
    "pid patid patnr patientid personid customerid userid memberid mrn pseudonym "
    + _PERSON_NUMBERS_ABROAD
)
_IDENTIFIER_WORDS = all_of(
    "id ids uid uuid guid name names firstname lastname surname forename givenname fullname ssn "
    "nin nhs mrn passport email mail phone telephone tel mobile fax address street iban account "
    "username login url ip licence license plate patientid customerid personid lname fname "
    "imsi imei msisdn mac cookie ipaddress userid useragent caller callee upn "
    "maidenname doctor doctors physician physicians clinician surgeon gp referrer"
)
#: Of the words that identifiers are named by those that things are named by as well: a ward has a
#: name, and a product a number. `NAMED` are called by a name.
NAMED = all_of("name names nom noms nome naam navn nombre nombres")
_OF_THINGS = NAMED | all_of(
    "id ids uid uuid guid number nr no num account url ip licence license plate fax username login "
    "str via nir nif fiscale insee"
)
#: Words of identifiers, and what they are in other languages, whose values have figures or an at.
_FIGURES = all_of(
    "email mail phone telephone tel mobile fax passport ssn iban imei imsi msisdn mac ipaddress mrn"
)
_FIGURES_ABROAD = (
    "telephone", "e-mail", "social security number", "number of a person or a case",
)  # fmt: skip
#: Words next to one of `NAMED` that leave it a person's.
_WITH_A_NAME = all_of(
    "of the full complete legal first last middle given family birth maiden mother father parent "
    "spouse contact emergency next kin child baby staff nurse person people self current former "
    "der des die das dem von voller vollstandiger ganzer kind mutter vater person personen de du "
    "la le les del della di famille familia famiglia jeune fille complet completo completa et y e "
    "en van and und 1 2 3"
)
_DOCTORS = all_of(
    "doctor doctors physician physicians clinician surgeon arzt arztes aerztin medecin"
)
_QUASI_WORDS = all_of(
    "age ageband agegroup agegrp ageclass agecat birth born birthday birthdate dob yob sex gender "
    "zip zipcode postcode postal plz city "
    "town county state region district country nationality citizenship race ethnicity ethnic "
    "marital married relationship household education school degree occupation job profession "
    "workclass employer employment department industry language latitude longitude lat lon lng "
    "height weight residence hometown neighborhood neighbourhood admission discharge "
    "visit date month year location province municipality suburb office branch division edu occ "
    "children siblings dependents housing eye eyes hair tower continent citizen "
    "hired married widowed divorced military veteran veterans nativity transportation commute "
    "means vehicle vehicles"
)
_SENSITIVE_WORDS = all_of(
    "diagnosis diagnoses diag disease illness condition icd symptom treatment therapy drug "
    "medication hiv bmi insulin glucose cholesterol pregnancy pregnant smoker vaccination "
    "vaccinated disability sick sickness a1c genotype criminal salary income wage pay earnings "
    "debt credit loan mortgage balance savings score religion belief party politics union "
    "orientation crime conviction charge charges offence offense recidivism result grade rating "
    "performance bonus gpa absence absences sentence arrest arrests blood systolic diastolic "
    "pressure bp difficulty difficulties impairment mental addiction alcohol abortion sexual "
    "sexuality welfare poverty lunch claim claims fine fines default bankruptcy arrears vote voted"
)
_ENGLISH: Mapping[Role, frozenset[str]] = {
    "identifier": _IDENTIFIER_WORDS,
    "quasi": _QUASI_WORDS,
    "sensitive": _SENSITIVE_WORDS,
}
#: Headers in German, French, Spanish, Italian, Dutch and Danish, without accents: role, what it is,
#: and its words; a star represents any ending.
_OTHER_LANGUAGES: tuple[tuple[Role, str, str], ...] = (
    (
        "identifier",
        "name",
        "vorname* nachname* familienname* zuname nom noms prenom* nombre nombres apellido* nome "
        "cognome naam voornaam achternaam navn fornavn efternavn geburtsname* madchenname* "
        "maedchenname* rufname* patientenname* kundenname*",
    ),
    (
        "identifier",
        "doctor",
        "arzt aerztin arztin arzte aerzte arztname hausarzt hausarztin hausaerztin behandler* "
        "operateur* zuweiser* einweiser* medecin* docteur* chirurgien* medico* medica dottore "
        "dottoressa arts huisarts behandelaar laege laegen",
    ),
    (
        "identifier",
        "number of a person or a case",
        "kontonummer kontonr kontoinhaber* kto kartennummer* kreditkartennummer* matrikel* "
        "vertragsnummer vertragsnr rechnungsnummer aktenzeichen fallnummer fallnr kfzkennzeichen "
        "autokennzeichen nummernschild* benutzername* nutzername* durchwahl rufnummer* "
        + _PERSON_NUMBERS_ABROAD,
    ),
    ("identifier", "e-mail", "courriel correo posta epost* emailadres* mailadres*"),
    (
        "identifier",
        "telephone",
        "telefon* telephon* telefoon* handy* portable movil cellulare mobiel* mobil mobilnummer* "
        "mobilfunk* mobiltelefon* tlf tlfnr",
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
    (
        "sensitive",
        "diagnosis",
        "diagnos* *diagnose *diagnosen krankheit* *krankheit *krankheiten erkrankung* *erkrankung "
        "befund* maladie* enfermedad*",
    ),
    (
        "sensitive",
        "health",
        "impf* schwanger* grossesse embarazo gravidanza *behindert *behinderung *behinderungen "
        "behinder* schwerbehindert* handicap fehltage* krankentage* krankheitstage* blutdruck "
        "blutzucker medikament* medicament* traitement therapie* depression* hba1c genotyp* "
        "gesundheit* sante salud salute gezondheid* blutgruppe* sanguin* forderbedarf* "
        "foerderbedarf* sucht* allergie* *allergie raucher* fumeur* fumador* fehlzeit*",
    ),
    (
        "sensitive",
        "credit",
        "schulden kredit* *kredit bonitat* dette dettes netto *netto brutto *brutto saldo solde "
        "kontostand* pfandung* impaye*",
    ),
    (
        "sensitive",
        "offences and convictions",
        "straf* vorstraf* delikt* *delikt criminal condamnation* infraction*",
    ),
    (
        "sensitive",
        "party or union",
        "gewerkschaft* syndicat* partei* *partei parti parteimitglied* wahlabsicht* "
        "wahlentscheidung*",
    ),
    ("sensitive", "diagnosis", "malatti* patologia ziekte* aandoening* sygdom*"),
    (
        "sensitive",
        "income",
        "gehalt* *gehalt lohn* *lohn einkommen* *einkommen verdienst salaire* revenu* "
        "salari* sueldo ingreso* renta nomina "
        "stipendio reddito salaris loon inkomen* loen manedsloen arsloen indkomst* hheink* "
        "*eink steuerklasse* lohnsteuerklasse* sozialhilfe* burgergeld* wohngeld*",
    ),
    ("sensitive", "religion", "konfession* glaube* religio* confession* confesion geloof"),
    ("sensitive", "religion", "godsdienst* tro trosretning"),
    ("sensitive", "sexual orientation", "sexuell* sexuelle orientierung orientacion"),
    ("sensitive", "marks", "schulnote* abschlussnote* *noten notendurchschnitt* zensur*"),
    ("quasi", "age", "alter alters* edad eta leeftijd* alder"),
    ("quasi", "sex", "geschlecht* geschl sexe sexo sesso genre genero genere geslacht* koen"),
    ("quasi", "date of birth", "geburt* gebdat* gebjahr naissance nacimiento nascita geboorte*"),
    ("quasi", "date of birth", "fodsel* foedsel* foedt geb"),
    ("quasi", "date", "datum *datum aufnahme* entlass*"),
    ("quasi", "postcode", "postleitzahl* postal* postale cap cp postnummer postnr"),
    (
        "quasi",
        "place",
        "ort wohnort* stadt gemeinde* kreis landkreis bezirk* bundesland ville commune lieu "
        "ciudad municipio lugar poblacion citta "
        "comune luogo stad plaats* woonplaats* gemeente* byen kommune* sted bopael bopal "
        "provinc* provinz* departement* canton kanton* stadtteil* viertel quartier* bula",
    ),
    ("quasi", "country", "land herkunft* pays pais paese staat"),
    (
        "quasi",
        "nationality",
        "nationalit* staatsangehor* staatsangehoer* staatsburger* staatsbuerger* nacionalidad "
        "ciudadania nazionalita cittadinanza staatsburgerschap statsborger* migration* "
        "muttersprache* sprache* langue lengua lingua",
    ),
    (
        "quasi",
        "education",
        "bildung* schulabschluss* schulbildung* diplome* estudios istruzione studio schule "
        "schulform* schulart* klasse klassenstufe* jahrgang* ecole escuela colegio scuola",
    ),
    ("quasi", "household", "haushaltsgross* haushaltsgroess* hhgr* kinderzahl kinder enfants"),
    ("quasi", "body", "korpergross* koerpergroess* taille augenfarbe* haarfarbe*"),
    (
        "quasi",
        "marital status",
        "familienstand familial* civil civile matrimonial* burgerlijke civilstand civilstatus "
        "agteskabelig* aegteskabelig*",
    ),
    (
        "quasi",
        "occupation",
        "beruf* erwerb* tatigkeit* taetigkeit* metier emploi profesion ocupacion empleo "
        "professione occupazione lavoro mestiere beroep* functie erhverv* stilling* "
        "abteilung* arbeitgeber* employeur* werkgever* reparto dienststelle* branche",
    ),
)
#: Words that say what they are only with their owner.
_OWNED = NUMBERED | NAMED
#: Headers of texts that may say anything, in the same languages.
FREE_TEXT = all_of(
    "note notes remark remarks comment comments text texts memo narrative story description desc "
    "details message feedback anamnesis history observation observations summary "
    "bemerkung* anmerkung* notiz* kommentar* freitext* beschreibung* anamnese* verlauf* "
    "remarque* commentaire* observacion* comentario* nota notas osservazion* opmerking* "
    "toelichting* bemaerkning* notat*"
)
#: Words from which a long name says more of what it names: the age *of* a person *at* a day.
_TURNS = all_of(
    "of in at on by for from to with that which who whose where when while before after during per "
    "than as under since until de du des da del della di en dans au aux par pour con der die das "
    "dem den im am von vom zur zum bei nach fur fuer mit aus laut je welche welcher van het voor "
    "bij til ved som"
)
#: Words of a name from which on it describes a column.
_DESCRIBES = 6
#: Signs before a header's word that tell its type; and letters from which there may be one.
_TYPE_SIGNS, _PREFIXED = "idnscvxqf", 3


def words_of(name: str) -> list[str]:
    """Return the words of a column's name, in lower case and without accents."""
    for letter, plain in (("ß", "ss"), ("æ", "ae"), ("Æ", "Ae"), ("ø", "oe"), ("Ø", "Oe")):
        name = name.replace(letter, plain)
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    parts = re.sub(r"([a-z0-9])([A-Z])|([A-Z]{2})(?=[A-Z][a-z]{2})", r"\1\3 \2", bare)
    return [word for word in re.split(r"[^a-z0-9]+", parts.lower()) if word]


def head_of(words: Sequence[str]) -> Sequence[str]:
    """Return the words by which a column is known: of a long name those that come first.

    A survey's columns are called "Age of the person at the day of the interview". What numbers or
    names something is read with its owner.

    Examples
    --------
    >>> list(head_of(words_of("Age of the person at the day of the interview")))
    ['age']
    >>> list(head_of(words_of("Identification number of the person in the register")))
    ['identification', 'number', 'the', 'person']
    >>> list(head_of(words_of("date of birth")))
    ['date', 'of', 'birth']
    """
    if len(words) < _DESCRIBES:
        return words
    head: list[str] = []
    turns = [at for at, word in enumerate(words) if word in _TURNS]
    for place, (start, stop) in enumerate(pairwise([-1, *turns, len(words)])):
        head += words[start + 1 : stop]
        known = {word for word in head if _says_something(word)}
        if known and (place or not known <= _OWNED):
            return head
    return words


def _says_something(word: str) -> bool:
    kinds: tuple[Role, ...] = ("identifier", "quasi", "sensitive")
    return (
        word in _OWNED | OF_PERSONS | PERSON_NUMBERS | OF_HOUSEHOLDS | OF_WEIGHTS | WEIGHTS
        or any(known_as([word], kind) for kind in kinds)
        or stands_in(word, FREE_TEXT)
    )


def known_as(words: Sequence[str], role: Role) -> str:
    """Return the first word that a role's columns are named by, quoted; empty if there is none."""
    for word in words:
        for read in (word, _bare(word)):
            if read in _ENGLISH[role]:
                return f"'{word}'" if read == word else f"'{word}' (like '{read}')"
        for of, meaning, known in _OTHER_LANGUAGES:
            if of == role and stands_in(word, known.split()):
                return f"'{word}' ({meaning})"
    return ""


def _bare(word: str) -> str:
    """Return a header's word without the sign of its type before it, and figures behind it.

    Files of surveys call their columns `iAge`, `dIncome`, `sex1` and so on.
    """
    plain = word.rstrip("0123456789")
    return plain[1:] if len(plain) > _PREFIXED and plain[0] in _TYPE_SIGNS else plain


def asks_for_figures(found: str) -> bool:
    """Return whether the word that `known_as` found is of numbers and addresses, not of names.

    Examples
    --------
    >>> [asks_for_figures(known_as([word], "identifier")) for word in ("phone", "telefon", "nom")]
    [True, True, False]
    """
    _, word, meaning = found.split("'", 2)
    return word in _FIGURES or meaning.strip(" ()") in _FIGURES_ABROAD


def is_sure(words: Sequence[str], found: str) -> bool:
    """Return whether the word that `known_as` found for an identifier names persons alone.

    Where it does not, as in the name of a ward, how often values are in the table shows.

    Examples
    --------
    >>> [is_sure(words, known_as(words, "identifier"))
    ...  for words in (["street"], ["name"], ["patient", "name"], ["ward", "name"], ["ward", "id"])]
    [True, True, True, False, False]
    """
    word = found.split("'")[1]
    bare = _bare(word)
    if not {word, bare} & _OF_THINGS:
        return True
    rest = {other for other in words if other != word} - _WITH_A_NAME - OF_PERSONS - _DOCTORS
    return bool({word, bare} & NAMED) and not rest


def stands_in(word: str, known: Iterable[str]) -> bool:
    """Return whether a word is one of those known; a star represents any ending or beginning.

    Examples
    --------
    >>> [stands_in("nettoeinkommen", [one]) for one in ("einkommen*", "*einkommen")]
    [False, True]
    """
    return any(
        word.startswith(one[:-1])
        if one.endswith("*")
        else word.endswith(one[1:])
        if one.startswith("*")
        else word == one
        for one in known
    )
