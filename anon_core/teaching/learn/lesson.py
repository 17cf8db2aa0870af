"""What a lesson is, with its examples and the steps it makes of a trace; and all that there are."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from anon_core.base.errors import BadInput, listing, nearest
from anon_core.teaching.learn import lessons as shelf
from anon_core.teaching.learn.example import Example, Material, lecturers_examples
from anon_core.teaching.learn.pictures import Picture
from anon_core.teaching.learn.readings import Seen
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
class Pseudocode:
    """The numbered lines of an algorithm, and which of them a step carries out.

    Attributes
    ----------
    now : tuple of int
        Numbers of lines, from 1.
    """

    lines: tuple[str, ...]
    now: tuple[int, ...] = ()

    def at(self, *now: int) -> Pseudocode:
        """Return the same lines where others are carried out."""
        return replace(self, now=now)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a lesson.

    Attributes
    ----------
    title : str
        What happens, a few words.
    words : str
        What is seen and why, one to four sentences.
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
    code : Pseudocode or None
        The algorithm, with the lines that the step carries out.
    """

    title: str
    words: str
    pictures: tuple[Picture, ...]
    question: Question | None = None
    together: tuple[int, ...] = ()
    seen: Seen | None = None
    found: tuple[str, ...] = ()
    printed: str = ""
    code: Pseudocode | None = None

    @property
    def log(self) -> str:
        """The step as a line of text."""
        end = "" if self.title.endswith("?") else "."
        return f"{self.title}{end} {self.words}"


@dataclass(frozen=True, kw_only=True)
class Dial:
    """A setting of a lesson's runs that its reader can move; all is computed again at once.

    Attributes
    ----------
    label : str
        What it is called.
    values : tuple of float
        Where else it can be put.
    sets : tuple of str
        Parameters of techniques and privacy models that it sets; by default the one of its name.
    runs : tuple of str
        Runs that it belongs to; empty for all.
    begins : float or None
        Where it is at first, if it sets what the lesson itself does and no run has it.
    """

    label: str
    values: tuple[float, ...]
    sets: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    begins: float | None = None

    def turned(self, run: str, asked: Mapping[str, Any], value: float | None) -> dict[str, Any]:
        """Return technique and privacy models of a run with the setting at a value."""
        given = {name: list(asked.get(name, ())) for name in ("models", "changes")}
        parts = {"algorithm": [asked["algorithm"]], **given}
        if value is not None and (not self.runs or run in self.runs):
            parts = {
                kind: [{n: value if n in self.named else v for n, v in one.items()} for one in all_]
                for kind, all_ in parts.items()
            }
        return {**parts, "algorithm": dict(parts["algorithm"][0])}

    def at(self, run: str, asked: Mapping[str, Any]) -> float | None:
        """Return where a run has the setting; None where it has none."""
        if self.runs and run not in self.runs:
            return None
        parts = (asked["algorithm"], *asked["models"], *asked.get("changes", ()))
        return next((one[n] for one in parts for n in self.named if n in one), None)

    @property
    def named(self) -> tuple[str, ...]:
        """Parameters that it sets."""
        return self.sets or (self.label,)


#: The dial of most lessons.
DIAL_K = Dial(label="k", values=(2, 3, 4, 5))


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
        What is run, by name: `algorithm`, `models` and `changes` as a recipe has them. They are run
        in this order on the example's table.
    may_refuse : frozenset of str
        Runs that may find nothing to publish; the first one always has to.
    dial : Dial or None
        What its reader can move.
    draws : bool
        Whether it draws by chance itself, beyond what its runs do.
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
    dial: ClassVar[Dial | None] = None
    draws: ClassVar[bool] = False

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


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return all lessons in the order of the course."""
    found: list[Lesson] = []
    for module in pkgutil.iter_modules(shelf.__path__):
        part = importlib.import_module(f"{shelf.__name__}.{module.name}")
        kinds = [kind for kind in vars(part).values() if isinstance(kind, type)]
        own = [k for k in kinds if issubclass(k, Lesson) and k.__module__ == part.__name__]
        found += [kind() for kind in own]
    return tuple(sorted(found, key=lambda lesson: (lesson.number, lesson.name)))


def find_lesson(name: str) -> Lesson:
    """Return the lesson of that name.

    Raises
    ------
    BadInput
        If there is none; lists the names and the nearest one.
    """
    for lesson in all_lessons():
        if lesson.name == name:
            return lesson
    names = [lesson.name for lesson in all_lessons()]
    raise BadInput(
        f"There is no lesson '{name}'; the lessons are {listing(names)}.",
        remedy=f"Use one of these names.{nearest(name, names)}",
    )


def lesson_about(name: str) -> Lesson | None:
    """Return the lesson that explains a technique, model or attack; None where none does."""
    return next((lesson for lesson in all_lessons() if name in lesson.about), None)


def examples_of(lesson: Lesson) -> Sequence[Example]:
    """Return what a lesson can be read on: its own examples, then the lecturer's.

    Raises
    ------
    AnonError
        If a lecturer's example cannot be read.
    """
    techniques = {run["algorithm"]["name"] for run in lesson.runs.values()}
    given = [example for technique, example in lecturers_examples() if technique in techniques]
    return (*lesson.examples, *given)
