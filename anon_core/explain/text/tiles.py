"""A result in three figures: the worst chance, the people at risk, the loss; each with its verdict.

A certain disclosure or a missed threshold is never neutral, and what is undecided, estimated from
no one, or not tested never looks good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from anon_core.base.registry import family
from anon_core.base.terms import LOSS, PEOPLE_AT_RISK, PRIVACY_MODELS, SCALE, WORST_CHANCE
from anon_core.contracts.metric import headline
from anon_core.explain.text import phrases
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult


def standing(result: Result) -> dict[str, str]:
    """Return a run's figures by name: the three tiles, models, suppression, thresholds met."""
    chance, people, lost = tiles(result)
    limited = [a for a in phrases.in_order(result.attacks) if phrases.limited(a) and not a.idle]
    missed = [title_of(a) for a in limited if a.worst > a.threshold]
    met = f"{len(limited) - len(missed)} of {len(limited)}"
    return {
        chance.name: _summary(chance),
        people.name: _summary(people),
        lost.name: lost.figure,
        PRIVACY_MODELS: " ".join(phrases.model_sentences(result)),
        "Suppression": phrases.hidden(result),
        "Thresholds met": f"{met}; missed: {', '.join(missed)}" if missed else met,
    }


def _summary(tile: Tile) -> str:
    by = f" ({tile.attacker})" if tile.attacker else ""
    return f"{tile.figure}{by}, {tile.word}"


#: How a figure is; `plain` is for what has no limit.
Verdict = Literal["bad", "doubtful", "good", "plain"]


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One figure of a result and how it is.

    Attributes
    ----------
    word : str
        How it is against its limit, in a few words.
    verdict : {'bad', 'doubtful', 'good', 'plain'}
    note : str
        What the figure is of, one sentence or more; empty where the attacker says it.
    attacker : str
        Whose figure it is, for the tile's title; empty where it is no one's.
    of : AttackResult or None
        The attack that the figure is of.
    value : float or None
        The figure as a number, less of which is better; None where nothing was found out.
    total : int
        Of how many people the figure is a part; 0 where it is none.
    scale : str
        Between which numbers the figure is, for the tile's title; empty where it says so itself.
    """

    name: str
    figure: str
    word: str
    verdict: Verdict
    note: str
    attacker: str = ""
    of: AttackResult | None = None
    value: float | None = None
    total: int = 0
    scale: str = ""


def tiles(result: Result) -> tuple[Tile, Tile, Tile]:
    """Return the three figures of a result, in the order in which they are reported."""
    chance = _worst_chance(result)
    return chance, _people(result, chance), _loss(result)


def loss_metric(result: Result) -> str:
    """Return the name of the metric that says in one figure what a release lost."""
    if any(name in result.problem.quasi for name in result.problem.replaced):
        return headline("changes")
    return headline("groups" if result.release.grouping.published else "cells")


def covered_by(found: Sequence[Tile]) -> list[AttackResult]:
    """Return the attacks of which the tiles say all that their own sentences would."""
    chance, people, *_ = found
    whole = chance.of is not None and (
        bool(phrases.kind_of(chance.of).report.achieves)
        or (chance.of is people.of and not certain(chance.of))
    )
    return [chance.of] if chance.of is not None and whole else []


def title_of(attack: AttackResult) -> str:
    """Return an attack's title, with the column that it is on."""
    title = family("attack")[attack.attack].title
    return f"{title} on {attack.column}" if attack.column else title


def certain(attack: AttackResult) -> bool:
    """Say whether an attack is certain of someone, or has to be taken to be."""
    released = phrases.kind_of(attack).report.of_the_release
    return attack.worst >= 1 and not attack.idle and not released


def proven(attack: AttackResult) -> bool:
    """Say whether an attack is certain of someone, whatever of the others was not decided."""
    open_only = attack.undecided and not (
        phrases.kind_of(attack).report.certain_only and attack.succeeded > 0
    )
    # An upper limit that no one was found to reach is none either.
    return certain(attack) and not open_only and not (attack.upper_bound and attack.succeeded <= 0)


def _worst_chance(result: Result) -> Tile:
    attacks = _first_attacks(result)
    weighed = [a for a in attacks if not phrases.kind_of(a).report.of_the_release]
    weighed = [a for a in weighed if phrases.limited(a) or certain(a) or a.undecided]
    if not weighed:
        return _no_limit(result)
    # Of equal chances that is reported for which a limit was set.
    worst = max(weighed, key=lambda a: (a.worst, phrases.limited(a)))
    missed = [a for a in attacks if _missed(a)]
    note = " ".join(filter(None, (_of(worst), _of_values(result, worst.worst))))
    figure = phrases.chance(worst.worst)
    if worst.undecided and worst.succeeded <= 0:
        figure, note = f"up to {figure}", f"{note} {worst.open_words}."
    limit = f"your threshold of {phrases.chance(worst.threshold)}"
    made = partial(Tile, name=WORST_CHANCE, attacker=title_of(worst), of=worst, value=worst.worst)
    if worst in missed or certain(worst):
        word = f"beyond {limit}" if phrases.limited(worst) else _for_whom(worst)
        return made(figure=figure, word=word, verdict="bad", note=note)
    word = f"within {limit}"
    verdict: Verdict = "bad" if missed else "good"
    if missed:
        note = f"{note} This attack is {word}.".strip()
        word = f"threshold missed by {_named(missed)}"
    elif worst.undecided:
        verdict = "doubtful"
        word += "; not all is decided"
    elif (surest := _surest_of_others(result)) is not None:
        verdict = "doubtful"
        word = "within limits; certain to those who know more"
        note = f"{note} {title_of(surest)} is certain of someone.".strip()
    within = _within_a_class(result)
    if within <= worst.worst * (1 + 1e-9):
        return made(figure=figure, word=word, verdict=verdict, note=note)
    # Cells of several classes cover a person's values: who knows the class as well is surer.
    beyond = phrases.limited(worst) and within > worst.threshold
    return Tile(
        name=WORST_CHANCE,
        attacker="with the class known",
        figure=phrases.chance(within),
        value=within,
        word=f"{'beyond' if beyond else 'within'} {limit}; without knowing the class {word}"
        if beyond or verdict != "good"
        else word,
        verdict="doubtful" if beyond and verdict == "good" else verdict,
        note=f"Of someone who knows the person's class. {title_of(worst)}, without knowing the "
        f"class: {figure}, since the cells of other classes cover the same values. "
        f"{_of_values(result, within)}".strip(),
    )


def _within_a_class(result: Result) -> float:
    """Return the highest chance of picking a person of a class that is known; 0 where none is one.

    A class of one row is that row, and a published group's rows are no one's: there is no such
    attacker then.
    """
    if result.release.grouping.published or not len(result.hiding):
        return 0.0
    smallest = int(result.hiding.min())
    return 1 / smallest if smallest > 1 else 0.0


def _of_values(result: Result, chance: float) -> str:
    """Return how sure a guess of someone's sensitive value is, where that is surer."""
    guesses = [
        a
        for a in result.attacks
        if not a.idle
        and phrases.kind_of(a).aim.discloses in ("attribute", "inferential")
        and a.worst > chance
    ]
    if not guesses:
        return ""
    surest = max(guesses, key=lambda a: a.worst)
    right = phrases.times(surest.worst)
    return f"A sensitive value is guessed right {right}, at worst ({title_of(surest)})."


def _no_limit(result: Result) -> Tile:
    """Return the highest chance of a guess, where no attack with a limit could be run."""
    guesses = [
        a for a in result.attacks if not a.idle and not phrases.kind_of(a).report.of_the_release
    ]
    if not guesses:
        return Tile(
            name=WORST_CHANCE,
            figure="not tested",
            word="no attack on a person could be run",
            verdict="doubtful",
            note="An attack that was not run says nothing about protection.",
        )
    worst = max(guesses, key=lambda a: a.worst)
    sure = certain(worst) or bool(worst.undecided)
    return Tile(
        name=WORST_CHANCE,
        figure=phrases.chance(worst.worst),
        value=worst.worst,
        attacker=title_of(worst),
        word=_for_whom(worst) if certain(worst) else "no threshold is set for it",
        verdict="doubtful" if sure else "plain",
        note=_of(worst),
        of=worst,
    )


def _for_whom(attack: AttackResult) -> str:
    """Return of how many people an attack is certain, as far as that is known."""
    if attack.at_risk and not attack.undecided:
        return f"for {attack.at_risk:,} of {attack.attempted:,} people"
    return "for someone"


def _people(result: Result, chance: Tile) -> Tile:
    attacks = _first_attacks(result)
    every = [a for a in phrases.in_order(result.attacks) if not a.idle]
    if not every:
        return Tile(
            name=PEOPLE_AT_RISK,
            figure="not tested",
            word="no attack could be run",
            verdict="doubtful",
            note="An attack that was not run says nothing about protection.",
        )
    most = max(every, key=lambda a: (a.at_risk, a in attacks, phrases.limited(a)))
    figure = f"{most.at_risk:,} of {most.attempted:,}"
    if most.at_risk:
        share = phrases.share(most.at_risk / max(most.attempted, 1))
        first = max(attacks, key=lambda a: a.at_risk, default=most)
        # Who it is, unless the chance is the same attacker's and says so.
        note = "" if most is chance.of and _of(most) else family("attack")[most.attack].summary
        note += f" {most.open_words}." if most.undecided else ""
        if first is not most and first.at_risk:
            note += f" {title_of(first)}: {first.at_risk:,}."
        return Tile(
            name=PEOPLE_AT_RISK,
            attacker=title_of(most),
            figure=figure,
            value=float(most.at_risk),
            total=most.attempted,
            word=f"{share}, by this attack alone" if len(every) > 1 else share,
            verdict="bad" if any(a.at_risk for a in attacks) else "doubtful",
            note=note.strip(),
            of=most,
        )
    unlike = phrases.mostly_unique(result)
    idle = [a for a in result.attacks if phrases.comes_first(a) and (a.idle or a.undecided)]
    guessed = bool(result.problem.sensitive)
    word = "no one beyond a threshold"
    if not guessed:
        word = "no threshold passed; no column is sensitive"
    if unlike:
        word = "no threshold passed; most are unique"
    if not unlike and (idle or not attacks):
        word = "not everything could be tested or decided"
    counted = ", ".join(dict.fromkeys(family("attack")[a.attack].title for a in every))
    return Tile(
        name=PEOPLE_AT_RISK,
        attacker="every attack of the run",
        figure=figure,
        value=float(most.at_risk),
        total=most.attempted,
        word=word,
        verdict="doubtful" if unlike or idle or not attacks else "good",
        note=f"Tested: {counted}.{f' But {unlike}.' if unlike else ''}"
        f"{'' if guessed else ' No attack guesses a value, as no column is sensitive.'}",
    )


def _loss(result: Result) -> Tile:
    name = loss_metric(result)
    lost = result.measures.get(name)
    allowed = result.plan.algorithm.as_mapping().get("max_suppression")
    word, most = phrases.hidden(result), ""
    if isinstance(allowed, int | float) and result.release.suppressed:
        most = (
            f" At most {phrases.share(float(allowed))} of the rows were allowed to be suppressed."
        )
    if lost is None:
        return Tile(name=LOSS, figure="not measured", word=word, verdict="plain", note=most.strip())
    changed = name == headline("changes")
    nothing = lost.share >= 1 and not changed
    of = "0 is unchanged" if changed else SCALE
    title = family("metric")[name].title
    return Tile(
        name=LOSS,
        figure=f"{lost.value:.3f}",
        value=float(lost.value),
        scale="from 0" if changed else "0 to 1",
        word=f"everything is lost; {word[:1].lower()}{word[1:]}" if nothing else word,
        verdict="doubtful" if nothing else "plain",
        note=f"{title}: {of}.{most} {phrases.says_nothing(result)}".strip(),
    )


def _first_attacks(result: Result) -> list[AttackResult]:
    """Return the attacks that say who is found, who is in it, or what is certain."""
    return [a for a in phrases.in_order(result.attacks) if phrases.comes_first(a) and not a.idle]


def _missed(attack: AttackResult) -> bool:
    return certain(attack) or (phrases.limited(attack) and attack.worst > attack.threshold)


def _surest_of_others(result: Result) -> AttackResult | None:
    """Return the attack by anyone who knows more that is certain of most people, if any is."""
    found = [a for a in result.attacks if not phrases.comes_first(a) and certain(a)]
    return max(found, key=lambda a: a.at_risk, default=None)


def _of(attack: AttackResult) -> str:
    """Return what a chance is of: what the attack achieves, without the chance."""
    kind = phrases.kind_of(attack)
    if not kind.report.achieves:
        return ""
    sort = "an upper bound" if attack.upper_bound else ""
    sort = "an estimate" if attack.estimated else sort
    said = f"{kind.report.achieves} at that chance, at worst."
    return f"{said} It is {sort}." if sort else said


def _named(attacks: Sequence[AttackResult]) -> str:
    return ", ".join(title_of(a) for a in attacks)
