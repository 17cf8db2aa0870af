"""What a lesson is: its source, its examples, and the steps it makes of a trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.pictures import Picture
from anon_core.teaching.learn.seen import Seen
from anon_core.teaching.learn.trace import Trace

if TYPE_CHECKING:
    from anon_core.data.roles.roles import Roles
    from anon_core.data.table import Dataset


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where an algorithm is from; `where` is the figure or slide of the example."""

    author: str
    year: int
    title: str
    doi: str = ""
    where: str = ""

    @property
    def cited(self) -> str:
        """The source in one line."""
        place = f", {self.where}" if self.where else ""
        doi = f", doi {self.doi}" if self.doi else ""
        return f"{self.author} {self.year}. {self.title}{place}{doi}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """An answer that is offered; its `id` may be that of a part of the picture."""

    id: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked before a step is shown.

    Attributes
    ----------
    choices : tuple of Choice
    answer : str
        Id of the right choice, as the trace has it.
    why : str
        One sentence.
    pictures : tuple of Picture
        What is looked at meanwhile; empty is what the step before shows.
    also : frozenset of str
        Ids of other choices that are right as well.
    """

    asks: str
    choices: tuple[Choice, ...]
    answer: str
    why: str
    pictures: tuple[Picture, ...] = ()
    also: frozenset[str] = frozenset()

    def accepts(self, choice: str) -> bool:
        """Say whether a choice is right."""
        return choice == self.answer or choice in self.also

    def on(self, *pictures: Picture) -> Question:
        """Return the question with what is looked at meanwhile."""
        return replace(self, pictures=pictures)

    @property
    def right(self) -> Choice:
        """The right choice."""
        return next(choice for choice in self.choices if choice.id == self.answer)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A question at the end of a lesson, answered by a choice."""

    question: Question


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a lesson.

    Attributes
    ----------
    title : str
        What happens, a few words.
    words : str
        What is seen and why, one to four sentences.
    pictures : tuple of Picture
    question : Question or None
        What is asked before the step is shown.
    together : tuple of int
        Of every row of the table the group it is in now, as the pictures colour it; -1 where it
        is suppressed.
    seen : Seen or None
        What someone reads at the step, and knows of a person: what they find is said from it. None
        where nothing is published yet, and would not be if the algorithm stopped here.
    found : tuple of str
        What is found of every person, row by row, where it is not a matter of rows that fit: links
        are cut, a public table is at hand, or more is known than one release.
    printed : str
        What the source prints wrongly here, and what is right; empty if nothing.
    """

    title: str
    words: str
    pictures: tuple[Picture, ...]
    question: Question | None = None
    together: tuple[int, ...] = ()
    seen: Seen | None = None
    found: tuple[str, ...] = ()
    printed: str = ""

    @property
    def log(self) -> str:
        """The step as a line of text."""
        end = "" if self.title.endswith("?") else "."
        return f"{self.title}{end} {self.words}"


class Lesson(ABC):
    """A lesson; a file of `lessons/` holds one and is found by itself.

    Attributes
    ----------
    name : str
        What its address names it by.
    number : int
        Its place in the course.
    minutes : int
        How long it takes to read.
    about : tuple of str
        Techniques, models and attacks that it explains, by name: pages lead from them to it.
    examples : sequence of Example
        The first one is shown unless another is asked for.
    runs : mapping of str to mapping
        What is run, by name: `algorithm` and `models` as a recipe has them. They are run in this
        order on the example's table.
    may_refuse : frozenset of str
        Runs that may find nothing to publish; the first one always has to.
    """

    name: ClassVar[str]
    number: ClassVar[int]
    title: ClassVar[str]
    summary: ClassVar[str]
    minutes: ClassVar[int] = 4
    about: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[Source]
    examples: ClassVar[Sequence[Example]]
    runs: ClassVar[Mapping[str, Mapping[str, Any]]]
    may_refuse: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps; words and pictures come from the trace."""

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return the exercises at the end; their answers come from the trace too."""
        return ()

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return technique and privacy models of a run; by default those of `runs`."""
        return self.runs[run]

    def roles(self, run: str, material: Material) -> Roles:
        """Return the roles that columns have in a run; by default those of the example."""
        return material.roles

    def population(self, material: Material) -> Dataset | None:
        """Return the public table of its runs; by default that of the example."""
        return material.population

    def refuses(self, trace: Trace) -> str:
        """Say why the lesson cannot be drawn on a table; empty where it can."""
        return ""
