"""What a recipe says of a release of the same people that is out already: ``[earlier]``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from anon_core.base.errors import BadPlan, InputChanged, brief
from anon_core.data.hierarchy import TOP
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import MISSING, Dataset
from anon_core.release.knowledge.earlier_release import Overlap, encode_earlier
from anon_core.release.problem import Problem


@dataclass(frozen=True, kw_only=True)
class EarlierFile:
    """What a recipe says of an earlier release.

    Attributes
    ----------
    file : str
        The published table, relative to the recipe; empty if there is none.
    people : {'unknown', 'all', 'grown'}
        Who is in both with the values they have now: no one says it; everyone of the table; or
        everyone of the earlier release, to whom others have come since.
    sha256 : str
        Of the file, where no other one will do; empty where any will.
    """

    file: str = ""
    people: Overlap = "unknown"
    sha256: str = ""

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> EarlierFile:
        """Read ``[earlier]``; its keys are known.

        Raises
        ------
        BadPlan
        """
        file, people = given.get("file", ""), given.get("people", "unknown")
        if not isinstance(file, str):
            raise BadPlan("[earlier] file is not a text.", remedy="Quote the path.")
        if people not in get_args(Overlap):
            raise BadPlan(
                f"[earlier] people is {brief(people)}.", remedy="Use 'unknown', 'all' or 'grown'."
            )
        sha256 = given.get("sha256", "")
        if not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-f]{64}|", sha256):
            raise BadPlan(
                f"[earlier] sha256 is {brief(sha256)}.",
                remedy="Write the 64 digits of the file's SHA-256, or leave it out.",
            )
        if "people" in given and not file:
            raise BadPlan(
                "[earlier] says who its people are, and names no file.",
                remedy='Write file = "the earlier release", or leave people out.',
            )
        return cls(file=file, people=people, sha256=sha256)

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table; empty where there is no file."""
        digest = {"sha256": self.sha256} if self.sha256 else {}
        return {"file": self.file, "people": self.people, **digest} if self.file else {}


def with_earlier(
    earlier: EarlierFile,
    problem: Problem,
    table: Dataset | None,
) -> Problem:
    """Return a problem with the earlier release that a plan names.

    Raises
    ------
    BadPlan
        If the plan names one, and it was not given; or the other way round.
    BadInput
        If its texts cannot be read.
    InputChanged
        If it is another file than the plan was decided on.
    """
    if (table is None) != (not earlier.file):
        raise BadPlan(
            "The plan names no earlier release, but one was given."
            if table is not None
            else f"The plan names the earlier release {brief(earlier.file)}, which was not given.",
            remedy="Name it as [earlier] file in the recipe, and pass its table.",
        )
    if table is None:
        return problem
    if earlier.sha256 and table.file_sha256 not in ("", earlier.sha256):
        raise InputChanged(
            f"The earlier release {brief(earlier.file)} is not the file that the recipe was "
            "decided on: its SHA-256 is another one.",
            remedy="Give the release that was published then, or search again.",
        )
    found = encode_earlier(
        table,
        problem.dataset,
        problem.roles,
        problem.hierarchies,
        earlier.people,
        problem.meant,
    )
    return replace(problem, earlier=found)


def with_meanings(
    levels: Mapping[str, int | str], problem: Problem, hierarchies: Mapping[str, LevelTable]
) -> Problem:
    """Return a problem with what texts of sensitive columns' hierarchies represent today.

    A column published at a level, as `levels` says, represents what is below it as well as above.
    """
    meant: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in problem.sensitive:
        if name not in hierarchies or name in problem.quasi:
            continue
        level = levels.get(name, 0)
        found: dict[str, dict[str, None]] = {}
        for row in hierarchies[name]:
            path = [cell.strip() for cell in row]
            if path and isinstance(level, int):
                shown = path[level] if level < len(path) else TOP
                for text in (*path, TOP):
                    found.setdefault(text, {})[shown] = None
        meant[name] = {text: tuple(own) for text, own in found.items() if text != MISSING}
    return replace(problem, meant=meant)
