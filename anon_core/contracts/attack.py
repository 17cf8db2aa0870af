"""What an attack must offer: an adversary against what is published."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from anon_core.base.context import Context
from anon_core.base.params import Technique
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


class Attack(Technique):
    """An adversary run against what is published; the truth only scores it."""

    #: What it discloses.
    discloses: ClassVar[Disclosure] = "identity"
    #: The questions it is evidence for.
    answers: ClassVar[tuple[Question, ...]] = ()
    #: The links it goes along, where these are others than `GOES_ALONG` says; see `release.links`.
    uses: ClassVar[tuple[LinkName, ...]] = ()
    #: Whether every run carries it out; else it is run where a recipe or a person asks for it,
    #: since it takes its time or needs to be told what the attacker knows.
    by_default: ClassVar[bool] = True
    #: Whether it is fast compared with a search, and so among the first figures of a run.
    at_once: ClassVar[bool] = False
    #: Whether it guesses by what it learned from the whole release: its beliefs are estimates, and
    #: a vaguer release may by chance teach it more.
    learns: ClassVar[bool] = False
    #: Whether it is about columns that are permuted separately, and nothing else.
    needs_permuted: ClassVar[bool] = False
    #: Whether it works only with a public table.
    needs_public: ClassVar[bool] = False
    #: Whether it works only with the weights of a survey; those of its classes are the truth's.
    needs_weights: ClassVar[bool] = False
    #: Whether it works only where a technique says when its search stopped; see `StopRule`.
    needs_stop_rule: ClassVar[bool] = False
    #: Whether it is about columns that were changed before, and nothing else.
    of_changed: ClassVar[bool] = False
    #: Whether it works only next to an earlier release of the same people.
    needs_earlier: ClassVar[bool] = False
    #: Whether it is the same whatever values are behind a published cell, so that a table which
    #: was counted at coarser levels shows it.
    from_groups: ClassVar[bool] = False
    #: Place in which its outcome is reported; attacks on a single person come first.
    told_at: ClassVar[int] = 9
    #: Whether its `worst` is the chance of picking anyone who is known to be in the table.
    is_worst_case: ClassVar[bool] = False
    #: Whether its chance is one figure for the release, and no one is placed worst.
    of_the_release: ClassVar[bool] = False
    #: Whether its sentence shows what is certain only, and not how often a guess is right.
    tells_certain: ClassVar[bool] = False
    #: What it achieves, for a sentence that goes on with a chance; empty: its own sentence is
    #: reported.
    achieves: ClassVar[str] = ""
    #: What it also achieves where columns are permuted separately, after the chance.
    achieves_besides: ClassVar[str] = ""
    #: Whether it attacks distinct persons, where a column distinguishes them; else it is refused.
    counts_people: ClassVar[bool] = False
    #: Why it is refused there: what in it has no meaning where one person has several rows.
    rows_only: ClassVar[str] = (
        "It counts rows, and one person has several: its figures would be too low."
    )

    @classmethod
    def links_used(cls) -> tuple[LinkName, ...]:
        """Return the links that it goes along: where one of them is cut, it learns less."""
        return cls.uses or GOES_ALONG[cls.discloses]

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
            Who is attacked, and where they are: what the adversary answers must not hang on it.
        """

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Return why the attack cannot be run on what is published, or an empty string."""
        return ""

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns whose hierarchy it looks at, where they have one."""
        return ()


def not_applicable(attack: Attack, view: View, audience: Audience) -> str:
    """Return why an attack cannot be run on what is published, or an empty string."""
    if audience.roles.unit and not attack.counts_people:
        return attack.rows_only
    if view.replaced and not attack.of_changed:
        concerned = ("attribute", "inferential")
        if any(n in audience.roles.quasi for n in view.replaced):
            return "Values were replaced: a published cell need not be its person's own."
        secret = any(n in audience.roles.sensitive for n in view.replaced)
        if secret and attack.discloses in concerned:
            return "Sensitive values were replaced: what a class shows is not what its people have."
    if attack.of_changed and not view.replaced:
        return "It is about columns whose values were replaced, and there are none."
    return attack.reason_not_applicable(view, audience)
