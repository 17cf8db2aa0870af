"""How many people could stand behind a row of each class."""

from __future__ import annotations

from anon_core.verification.evidence import Evidence
from anon_core.verification.text.texts import Codes


def who_look_alike(evidence: Evidence) -> Codes:
    """Return the people of the public table whom each class covers; its rows where there is none.

    Averages cover nobody for sure: then it is the rows, too.
    """
    if evidence.form == "averaged" or evidence.people() is None:
        return evidence.sizes
    return evidence.people_inside()
