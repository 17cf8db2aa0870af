"""What speaks against publishing columns as they are: found in the table, for a person to confirm.

Privacy models are about quasi-identifiers and sensitive columns. What is published next to them,
exactly, is looked at here: a value of one's own, a day, a name in a note each lead to one person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from anon_core.data.column import Column
from anon_core.data.roles.header_words import all_of, words_of
from anon_core.data.roles.redaction import holding_names, is_free_text, looked_at, words_of_names
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: Distinct values that are looked at, the fewest that tell, and the share of them that must.
_LOOKED_AT, _FEWEST, _SHARE = 2000, 5, 0.6
#: Words of a value above which it is no name.
_MOST_WORDS = 5
_TITLE = re.compile(
    r"(dr|prof|professor|doctor|mr|mrs|ms|miss|mx|herr|frau|fr|hr|mme|mlle|monsieur|madame|"
    r"sr|sra|srta|señor|señora|sig|sig\.ra|dott|dott\.ssa|dhr|mevr|med)\b\.?[ .]",
    re.IGNORECASE,
)
#: Without accents, in lower case.
GIVEN = all_of(
    "aaron abigail adam adele adrian agnes agnieszka ahmed aisha alain alan albert alberto "
    "alejandro aleksander alessandro alessia alexander alexandra alexis alfred alice alicia "
    "alina amanda amelie amir ana anders andre andrea andreas andrew andrzej angela angelika "
    "anita anja anke ann anna anne annette annika antje anton antonio arne arthur astrid ayse "
    "barbara beate beatrice ben benjamin bent bernard bernd berta bettina birgit bjorn bob "
    "brian brigitte bruno camille carla carlos carmen carol caroline cecile charles charlotte "
    "chiara chloe chris christa christian christiane christina christine christoph "
    "christopher claire clara claudia claus clement cornelia dagmar daniel daniela david "
    "deborah denise dennis diana diego dieter dietmar dirk dominik donald donna dorothea "
    "dorte edith edward eleanor elena elias elif elisabeth elise elizabeth elke ella ellen "
    "elsa emil emile emilia emily emma emmanuel enrico eric erik erika ernst esther eugene "
    "eva eve fabian fatima felix fernando florian francesca francesco francisco francois "
    "frank franz frederic frederik friedrich fritz gabriel gabriele gabriella georg george "
    "georges gerard gerd gerhard gertrud giorgio giovanni gisela giulia giuseppe gordon grace "
    "greta guido guillaume gunter gunther gustav hanna hannah hannelore hans harald harold "
    "hassan heather heidi heike heinrich heinz helen helena helene helga helmut henri henrik "
    "henry herbert hermann holger horst hugo ian ibrahim ida ilse inge ingeborg ingrid irene "
    "irina isabel isabella isabelle ivan jack jacob jacqueline jacques jakob james jan jana "
    "jane janet janine jason javier jean jeanne jennifer jens jessica joachim joan jochen "
    "johann johanna johannes john jonas jonathan jorg jorge jose josef joseph juan judith "
    "julia julian julie jurgen jutta kai karen karin karl karsten katarzyna kate katharina "
    "kathe kathrin katja kenneth kerstin kevin klaus konrad kristian kristin krzysztof kurt "
    "lars laura lea leah lena leo leon leonie lily lina linda lisa lothar louis louise luc "
    "luca lucas lucia lucie ludwig luis luisa lukas lydia lynn magdalena maike malte manfred "
    "manuel manuela marc marcel marco margaret margarete maria marie marina mario marion mark "
    "markus marlene marta martha martin martina mary mateo mathias mathilde matteo matthew "
    "matthias max maximilian mehmet melanie mia michael michel michele mikkel miriam mohamed "
    "mohammed monica monika muhammad mustafa nadine nadja nancy natalie nathalie nicholas "
    "nicolas nicole niels nils nina noah norbert olaf oliver olivia olivier omar oscar otto "
    "pablo pamela paola paolo pascal patricia patrick paul paula pauline pedro peter petra "
    "philip philippe pierre piotr rachel rainer ralf ralph ramona raphael rebecca regina "
    "reinhard renate rene renee richard robert roberto roger roland rolf ronald rosa "
    "rosemarie rudolf ruth sabine sabrina samuel sandra sara sarah sebastian sergio sigrid "
    "silke silvia simon simone sofia sofie sonja sophia sophie soren stefan stefanie stephan "
    "stephanie stephen steven susan susanne sven svenja sylvia sylvie tanja tatjana teresa "
    "thea theodor theresa thomas thorsten tim tobias tom tomasz torsten udo ulrich ulrike "
    "ursula ute uwe valerie vanessa vera veronika victor viktor viktoria vincent volker "
    "walter werner wilhelm william wolfgang xavier yannick yasmin yusuf yves yvonne zoe"
)


def names_people(values: Sequence[str]) -> bool:
    """Return whether most of some texts are names of people, however often each is in a table.

    Examples
    --------
    >>> names_people(["Dörte García", "Weiß, Anna", "Dr. Yilmaz", "Zoë O'Neill", "Erik Dupont"])
    True
    >>> names_people(["Innere Medizin", "Chirurgie", "New York", "Aspirin", "San Jose"])
    False
    """
    looked_at = values[:_LOOKED_AT]
    if len(looked_at) < _FEWEST:
        return False
    return sum(map(names_somebody, looked_at)) >= _SHARE * len(looked_at)


def names_somebody(value: str) -> bool:
    """Say whether a text is a person's name: it has a title or a given name."""
    if any(c.isdigit() for c in value) or not value[:1].isalpha():
        return False
    if _TITLE.match(value):
        return True
    words = words_of(value)
    return 0 < len(words) <= _MOST_WORDS and not GIVEN.isdisjoint(words)


#: A date with its day, in any order of its parts, perhaps with a time.
DAY = re.compile(
    r"(\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})|\d{4}[./-]\d{1,2}[./-]\d{1,2})"
    r"([T ]\d{1,2}:\d{2}(:\d{2})?)?"
)
#: A street with its house number, behind or before it.
STREET = re.compile(
    r"[^\W\d].*(stra(ss|ß)e|str\.|gasse|weg|allee|platz|ring|ufer|straat|gade|vej|gatan)"
    r" \d{1,4} ?[a-z]?"
    r"|\d{1,5}[a-z]?,? (rue|avenue|av\.|bd\.?|boulevard|chemin|allée|place|impasse) .+"
    r"|\d{1,5}[a-z]? .+ (street|st\.?|road|rd\.?|avenue|ave\.?|lane|ln\.?|drive|dr\.?|court|way|"
    r"boulevard|blvd\.?|close|crescent|terrace|square)"
    r"|(calle|via|viale|piazza|rua|avenida|plaza) .+,? \d{1,4} ?[a-z]?",
    re.IGNORECASE,
)
What = Literal["unique", "day", "names", "text", "repeats"]
#: Share of the rows with a value from which nearly all have one of their own; rows to say so.
_UNIQUE, _ROWS = 0.8, 20
#: Share of distinct texts that are days, or of distinct values that are so, to call them that.
_MOSTLY, _FREE_TEXT_SHARE = 0.9, 0.5
_SAMPLE = 2000
#: Rows of one value on average, up to which an identifier repeats because persons do.
_MOST_REPEATED = 100


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found of a column, with no value of the table in it.

    Attributes
    ----------
    what : str
        ``unique``: nearly every row has a value of its own; ``day``: dates with a day; ``names``:
        values of an identifier recur; ``text``: free text; ``repeats``: an identifier's values
        are in several rows, and no column distinguishes persons.
    rows : int
        Rows that it is about; at least so many where `sampled`.
    of : int
        Rows of the table.
    next to : tuple of str
        The identifiers whose values recur; empty but for ``names``.
    sampled : bool
        Whether only some of the column's distinct values were looked at.
    """

    column: str
    what: What
    rows: int
    of: int
    identifiers: tuple[str, ...] = ()
    sampled: bool = False

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        name, part = f"'{self.column}'", f"{self.rows:,} of {self.of:,} rows"
        if self.what == "unique":
            return f"{part} have a value of {name} that no other row has."
        if self.what == "day":
            return f"{name} gives {part} a date with its day."
        if self.what == "names":
            least = "At least " if self.sampled else ""
            listed = ", ".join(f"'{one}'" for one in self.identifiers)
            return f"{least}{part} of {name} hold words of {listed}, which is not published."
        if self.what == "text":
            return f"{name} is free text in {part}, which may name people."
        return (
            f"Values of {name} occur in several rows ({part} share one), and no column says whom "
            "a row is about, so every row would count as a person."
        )

    @property
    def remedy(self) -> str:
        """What helps other than confirming it."""
        if self.what == "unique":
            return "Make it a quasi-identifier that becomes coarser, or leave it out."
        if self.what == "day":
            return (
                "Make it a quasi-identifier with a hierarchy of months or years, or leave it out."
            )
        if self.what == "names":
            return "Redact the names, or leave the column out."
        if self.what == "text":
            return "Leave it out."
        return "Mark the column that identifies persons as person."


def findings(dataset: Dataset, roles: Roles, coarser: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Return what was found of the columns that are published as they are, in the table's order.

    Rows with a value of their own are counted exactly. Names are looked for in up to 100,000
    distinct values of a column.

    Parameters
    ----------
    dataset : Dataset
        With the kinds that its columns are read as.
    roles : Roles
        They fit the table.
    coarser : sequence of str
        Sensitive columns that are published at a level of their hierarchy.
    """
    shown = [n for n in (*roles.insensitive, *roles.sensitive) if n not in (*roles.quasi, *coarser)]
    found: list[Finding] = []
    texts = [n for n in shown if not KINDS[dataset.column(n).kind].measured]
    names = _names(dataset, roles) if texts else {}
    for column in dataset.columns:
        if column.name in roles.insensitive:
            found += _exact(column, dataset.rows)
        if column.name in texts:
            found += _in_texts(column, dataset.rows, names)
        if column.name in roles.identifier and not roles.unit:
            found += _repeats(column, dataset.rows)
    return tuple(found)


def _exact(column: Column, rows: int) -> list[Finding]:
    """Look at a column that is insensitive."""
    found: list[Finding] = []
    filled = rows - column.missing
    once = int(np.count_nonzero(column.counts == 1))
    if filled >= _ROWS and once >= _UNIQUE * filled:
        found.append(Finding(column=column.name, what="unique", rows=once, of=rows))
    if filled and _days(column):
        found.append(Finding(column=column.name, what="day", rows=filled, of=rows))
    return found


def _in_texts(column: Column, rows: int, names: dict[str, frozenset[str]]) -> list[Finding]:
    """Look at texts that are published: free text, and names in them."""
    filled = rows - column.missing
    found: list[Finding] = []
    if is_free_text(column) and len(column.values) >= _FREE_TEXT_SHARE * filled:
        found.append(Finding(column=column.name, what="text", rows=filled, of=rows))
    places = looked_at(column.values)
    values = [column.values[i] for i in places.tolist()]
    held = {n: holding_names(values, words) for n, words in names.items()}
    identifiers = tuple(n for n, which in held.items() if which.any())
    if identifiers:
        which = np.logical_or.reduce([held[n] for n in identifiers])
        found.append(
            Finding(
                column=column.name,
                what="names",
                rows=int(column.counts[places[which]].sum()),
                of=rows,
                identifiers=identifiers,
                sampled=len(places) < len(column.values),
            )
        )
    return found


def _repeats(column: Column, rows: int) -> list[Finding]:
    """Look at an identifier: numbers of persons that are in several rows.

    Names do so by chance, and so do days and addresses, so only other texts with figures and whole
    numbers are asked.
    """
    values, filled = len(column.values), rows - column.missing
    if column.missing or filled < _ROWS or not values < filled <= _MOST_REPEATED * values:
        return []
    if not numbers_somebody(column) or _addresses(column):
        return []
    several = int(column.counts[column.counts > 1].sum())
    return [Finding(column=column.name, what="repeats", rows=several, of=rows)]


def _addresses(column: Column) -> bool:
    sample = _some(column)
    return sum(STREET.fullmatch(value) is not None for value in sample) >= _MOSTLY * len(sample)


def numbers_somebody(column: Column) -> bool:
    """Say whether values are numbers or codes with figures as those of persons are, and no days."""
    rules = KINDS[column.kind]
    if rules.measured:
        return rules.amount and bool(
            column.measure is not None and np.all(column.measure == np.floor(column.measure))
        )
    sample = _some(column)
    figures = sum(any(c.isdigit() for c in value) for value in sample)
    return figures >= _MOSTLY * len(sample) and not _days(column)


#: The words of identifiers that were asked for before: each run of a table asks again.
_WORDS: WeakKeyDictionary[Column, frozenset[str]] = WeakKeyDictionary()


def _names(dataset: Dataset, roles: Roles) -> dict[str, frozenset[str]]:
    found = {name: _words_of(dataset.column(name)) for name in roles.hidden}
    return {name: words for name, words in found.items() if words}


def _words_of(column: Column) -> frozenset[str]:
    if column not in _WORDS:
        texts = column.written
        _WORDS[column] = words_of_names([texts[i] for i in looked_at(texts).tolist()])
    return _WORDS[column]


def _days(column: Column) -> bool:
    """Say whether values are dates with a day, whatever kind they were read as."""
    if KINDS[column.kind].known:
        return len(column.values) > 0
    sample = [] if KINDS[column.kind].amount else _some(column)
    return len(sample) > 0 and sum(DAY.fullmatch(v) is not None for v in sample) >= _MOSTLY * len(
        sample
    )


def _some(column: Column) -> list[str]:
    return [column.values[i] for i in looked_at(column.values, _SAMPLE).tolist()]
