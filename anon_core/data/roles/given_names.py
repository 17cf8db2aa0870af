"""Given names that are common in Europe and the Americas, and what stands before a person's name.

Names repeat: of a hundred patients, each with a dozen visits, every name stands in many rows. What
a column of people is then known by is the names themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from anon_core.data.roles.header_words import all_of, words_of

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
    """Return whether most of some texts are names of people, however often each stands in a table.

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
    return sum(map(_names_somebody, looked_at)) >= _SHARE * len(looked_at)


def _names_somebody(value: str) -> bool:
    if any(c.isdigit() for c in value) or not value[:1].isalpha():
        return False
    if _TITLE.match(value):
        return True
    words = words_of(value)
    return 0 < len(words) <= _MOST_WORDS and not GIVEN.isdisjoint(words)
