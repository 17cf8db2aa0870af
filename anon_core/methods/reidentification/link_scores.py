"""How right links of rows to people are, by where rows stand in truth."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.methods.reidentification.best_links import Links
from anon_core.methods.reidentification.register import Register
from anon_core.release.ground_truth import Truth
from anon_core.release.release import Persons


def right_links(persons: Persons, line: I64, links: Links, register: Register, truth: Truth) -> F64:
    """Return the chance that the linked person is the one behind the row, shape (rows,).

    Rows of a class say the same, and so do people of a tuple: a row of the class is one of the
    tuple's rows that stand there with their share of it, and one of these people's as likely as
    another's. Where a group shows several classes, its rows of the tuple are shared out among them.
    """
    places, people = truth.places, truth.frequency
    kinds = len(register.count) + 1
    shown = places.group >= 0
    # The last kind is of those who are not in the register.
    pair = places.group[shown] * kinds + register.of_run[people.run[places.key[shown]]] % kinds
    known, where = np.unique(pair, return_inverse=True)
    rows = np.bincount(where.ravel(), places.count[shown], len(known))
    linked = links.tuple >= 0
    wanted = persons.group[line] * kinds + np.maximum(links.tuple, 0)
    at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    there = linked & (len(known) > 0)
    if len(known):
        there &= known[at] == wanted
    count = rows[at] if len(known) else np.zeros(len(line))
    share = np.minimum(count / persons.sizes[line], 1.0)
    people_of = register.count[np.maximum(links.tuple, 0)]
    return np.where(there, share / np.maximum(people_of, 1), 0.0)
