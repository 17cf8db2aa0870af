"""What a sample table is: its rows on request, and how to read and treat its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.installation import shipped
from anon_core.data.roles.roles import Roles

if TYPE_CHECKING:
    import pandas as pd


def hierarchy_folder() -> Path:
    """Return the folder of the shipped hierarchies."""
    return shipped() / "hierarchies"


def _nothing() -> str:
    return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """One table that can be loaded with one click; describing it loads nothing.

    Attributes
    ----------
    name : str
        Short name, for recipes and commands.
    title : str
        Name for people.
    summary : str
        What the table is and what it is good for, in one sentence.
    rows : int
        Number of rows.
    attribution : str
        Where the table comes from: source, DOI, licence.
    identifier, quasi, sensitive, insensitive : tuple of str
        Roles; a column in none of them is left out.
    types : mapping of str to str
        Kind (``text``, ``ordered``, ``number``, ``date``) of the columns whose kind cannot be
        determined from their values.
    hierarchies : mapping of str to str
        Column to hierarchy file, relative to `hierarchy_folder`.
    k : int
        A sensible k to start with.
    algorithm : mapping of str to object
        The technique to start with and its parameters, as a recipe names them.
    models : sequence of mapping
        The privacy models to start with; empty for k-anonymity.
    shows : str
        How to get the source's own result with one run, in a sentence or two; empty if there is
        none to get.
    public : str
        Name of the sample that holds the people this one was drawn from, if there is one.
    load : callable
        Makes the frame; `frame` calls it.
    obstacle : callable
        Says in plain words why the sample cannot be loaded, or nothing.
    """

    name: str
    title: str
    summary: str
    rows: int
    attribution: str
    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    hierarchies: Mapping[str, str] = field(default_factory=dict[str, str])
    k: int
    algorithm: Mapping[str, object] = field(default_factory=lambda: {"name": "optimal"})
    models: Sequence[Mapping[str, object]] = ()
    shows: str = ""
    public: str = ""
    load: Callable[[], pd.DataFrame] = field(repr=False)
    obstacle: Callable[[], str] = field(default=_nothing, repr=False)

    @property
    def roles(self) -> Roles:
        """The suggested roles."""
        return Roles(
            identifier=self.identifier,
            quasi=self.quasi,
            sensitive=self.sensitive,
            insensitive=self.insensitive,
        )

    def frame(self) -> pd.DataFrame:
        """Return the table: every cell a text, None where missing; the same on every call.

        Raises
        ------
        BadInput
            If the sample is not available.
        """
        return self.load()

    def available(self) -> bool:
        """Return whether the table can be loaded now."""
        return not self.obstacle()

    def why_unavailable(self) -> str:
        """Return what is missing and how to get it, or an empty text when nothing is."""
        return self.obstacle()
