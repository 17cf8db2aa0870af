"""What an attack must offer: an adversary against what is published."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from anon_core.base.context import Context
from anon_core.base.params import Technique, number
from anon_core.data.roles.roles import ByRole
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.link_strength import LinkName
from anon_core.release.release import View

#: What an attack discloses: whose a row is, what someone's value is, what a value probably is, or
#: that someone is in the table.
Disclosure = Literal["identity", "attribute", "inferential", "presence"]
#: The questions that an assessment asks (Article 29 Working Party, opinion 05/2014, WP216).
Question = Literal["singling out", "linkability", "inference"]
#: The link that disclosures of a kind go along, unless an attack says otherwise of itself.
GOES_ALONG: Mapping[Disclosure, tuple[LinkName, ...]] = {
    "identity": ("identity–quasi", "quasi–quasi"),
    "attribute": ("identity–quasi", "quasi–sensitive"),
    "inferential": ("identity–quasi", "quasi–sensitive"),
    "presence": ("identity–quasi", "quasi–quasi"),
}


@dataclass(frozen=True, kw_only=True)
class AttackAim:
    """What an attack discloses, and by what.

    Attributes
    ----------
    discloses : {'identity', 'attribute', 'inferential', 'presence'}
    answers : tuple of str
        The questions of an assessment that it is evidence for.
    uses : tuple of str
        The links it goes along, where these are others than `GOES_ALONG` says; see `release.links`.
    learns : bool
        Whether it guesses by what it learned from the whole release: its beliefs are estimates, and
        a vaguer release may by chance teach it more.
    """

    discloses: Disclosure = "identity"
    answers: tuple[Question, ...] = ()
    uses: tuple[LinkName, ...] = ()
    learns: bool = False


@dataclass(frozen=True, kw_only=True)
class AttackNeeds:
    """What an attack is about, and what it works with.

    Attributes
    ----------
    permuted : bool
        Whether it is about columns that are permuted separately, and nothing else.
    changed : bool
        Whether it is about columns that were changed before, and nothing else.
    public : bool
        Whether it works only with a public table.
    weights : bool
        Whether it works only with the weights of a survey; those of its classes are the truth's.
    takes_weights : bool
        Whether it uses them where there are some, and works without.
    stop_rule : bool
        Whether it works only where a technique says when its search stopped; see `StopRule`.
    earlier : bool
        Whether it works only next to an earlier release of the same people.
    from_groups : bool
        Whether it is the same whatever values are behind a published cell, so that a table which
        was counted at coarser levels shows it.
    counts_people : bool
        Whether it attacks distinct persons, where a column distinguishes them; else it is refused.
    rows_only : str
        Why it is refused there: what in it has no meaning where one person has several rows.
    """

    permuted: bool = False
    changed: bool = False
    public: bool = False
    weights: bool = False
    takes_weights: bool = False
    stop_rule: bool = False
    earlier: bool = False
    from_groups: bool = False
    counts_people: bool = False
    rows_only: str = "It counts rows, and one person has several: its figures would be too low."


@dataclass(frozen=True, kw_only=True)
class AttackReport:
    """How the outcome of an attack is reported.

    Attributes
    ----------
    place : int
        Attacks on a single person come first.
    worst_case : bool
        Whether its `worst` is the chance of picking anyone who is known to be in the table.
    of_the_release : bool
        Whether its chance is one figure for the release, and no one is placed worst.
    certain_only : bool
        Whether its sentence shows what is certain only, and not how often a guess is right.
    achieves : str
        What it achieves, for a sentence that goes on with a chance; empty: its own sentence is
        reported.
    also : str
        What it also achieves where columns are permuted separately, after the chance.
    """

    place: int = 9
    worst_case: bool = False
    of_the_release: bool = False
    certain_only: bool = False
    achieves: str = ""
    also: str = ""


@dataclass(frozen=True, kw_only=True)
class AttackUse:
    """When an attack is run.

    Attributes
    ----------
    by_default : bool
        Whether every run carries it out; else it is run where a recipe or a person asks for it,
        since it takes its time or asks what the attacker knows.
    at_once : bool
        Whether it is fast compared with a search, and so among the first figures of a run.
    """

    by_default: bool = True
    at_once: bool = False


class Attack(Technique):
    """An adversary run against what is published; the truth only scores it."""

    aim: ClassVar[AttackAim] = AttackAim()
    needs: ClassVar[AttackNeeds] = AttackNeeds()
    report: ClassVar[AttackReport] = AttackReport()
    use: ClassVar[AttackUse] = AttackUse()

    @classmethod
    def links_used(cls) -> tuple[LinkName, ...]:
        """Return the links that it goes along: where one of them is cut, it learns less."""
        return cls.aim.uses or GOES_ALONG[cls.aim.discloses]

    @abstractmethod
    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person; one result per sensitive column where one is concerned.

        Parameters
        ----------
        view : View
            What is published.
        audience : Audience
            What the adversary knows next to it.
        truth : Truth
            Who is attacked, and where they are: what the adversary answers must not depend on it.
        """

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Return why the attack cannot be run on what is published, or an empty string."""
        return ""

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns whose hierarchy it looks at, where they have one."""
        return ()


def acceptable_chance() -> float:
    """Declare the parameter of attacks that place each person above or below a chance."""
    return number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Chance above which a person counts as at risk: 0.2 is 1 in 5, 0.0909 is 1 in 11.",
        label="Acceptable chance",
    )


def not_applicable(attack: Attack, view: View, audience: Audience) -> str:
    """Return why an attack cannot be run on what is published, or an empty string."""
    if audience.roles.unit and not attack.needs.counts_people:
        return attack.needs.rows_only
    if view.replaced and not attack.needs.changed:
        concerned = ("attribute", "inferential")
        if any(n in audience.roles.quasi for n in view.replaced):
            return "Values were replaced: a published cell need not be its person's own."
        secret = any(n in audience.roles.sensitive for n in view.replaced)
        if secret and attack.aim.discloses in concerned:
            return "Sensitive values were replaced: what a class shows is not what its people have."
    if attack.needs.changed and not view.replaced:
        return "It is about columns whose values were replaced, and there are none."
    return attack.reason_not_applicable(view, audience)
