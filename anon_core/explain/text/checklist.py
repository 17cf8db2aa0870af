"""What is to be seen before a release leaves the house: models, thresholds, what is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anon_core.base.registry import family
from anon_core.base.terms import WORST_CHANCE
from anon_core.explain.text import phrases
from anon_core.explain.text.tiles import certain
from anon_core.pipeline.measure.cautions import values_in_sets
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult

#: Exact values of a column in published sets from which that has to be acknowledged.
MANY_LISTED = 10
Mark = Literal["holds", "warning", "note"]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the checklist: what was found, and whether someone has to look at it.

    Attributes
    ----------
    about : str
        What it is about, the same in every run: a reason given for it is filed under this.
    mark : {'holds', 'warning', 'note'}
    """

    about: str
    sentence: str
    mark: Mark


def models(result: Result) -> list[Item]:
    """Return every privacy model with the value that was recomputed."""
    return [
        Item(about=f"promise:{place}", sentence=sentence, mark="holds")
        for place, sentence in enumerate(phrases.model_sentences(result), start=1)
    ]


def thresholds(result: Result) -> list[Item]:
    """Return every attack against its threshold, what stayed undecided, and what was not run."""
    items = [_attack(attack) for attack in phrases.in_order(result.attacks)]
    items += [
        Item(about=f"caution:{place}", sentence=sentence, mark="warning")
        for place, sentence in enumerate(result.cautions, start=1)
    ]
    items += [
        Item(
            about=f"attack:{name}",
            sentence=f"Not run – {family('attack')[name].title}: {why}",
            mark="note",
        )
        for name, why in result.not_run.items()
    ]
    return items


def published(result: Result) -> list[Item]:
    """Return what the release says beyond its models: unique rows, and which columns it holds."""
    exact, left_out = result.exact, result.left_out
    items = [unlike(result), *_listed(result)]
    if nothing := phrases.says_nothing(result):
        items.append(Item(about="nothing", sentence=nothing, mark="note"))
    items.append(
        Item(
            about="exact",
            sentence=f"Published unchanged, covered by no privacy model: {', '.join(exact)}."
            if exact
            else "No column is published as it is.",
            mark="note",
        )
    )
    items += [
        Item(
            about=f"confirmed:{place}",
            sentence=f"Confirmed by the person responsible: {one.found}",
            mark="note",
        )
        for place, one in enumerate(result.plan.confirmed, start=1)
    ]
    items += [
        Item(
            about=f"labels:{column}",
            sentence=f"Labels of {column} are confirmed as names, and not held against its values: "
            f"{reason}",
            mark="note",
        )
        for column, reason in result.plan.labels.names.items()
    ]
    items += [
        Item(
            about=f"labels:{column}",
            sentence=f"Labels of {column} that were not true are renamed to the range of their "
            "values.",
            mark="note",
        )
        for column in result.plan.labels.renamed
    ]
    items += [
        Item(
            about=f"redacted:{column}",
            sentence=f"Words of {', '.join(by)} are redacted in {column}.",
            mark="note",
        )
        for column, by in result.plan.redacted.items()
    ]
    items += [
        Item(
            about=f"changed:{one.columns[0]}",
            sentence=f"{one.change.title} for {', '.join(one.columns)}. {one.change.leaves}"
            f" {one.change.guarantee()}".rstrip(),
            mark="note",
        )
        for one in result.plan.changes
    ]
    if left_out:
        items.append(Item(about="left out", sentence=phrases.left_out(left_out), mark="note"))
    items.append(Item(about="suppressed", sentence=phrases.hidden(result), mark="note"))
    return items


def _attack(attack: AttackResult) -> Item:
    about = f"attack:{attack.attack}" + (f":{attack.column}" if attack.column else "")
    title = family("attack")[attack.attack].title
    title += f" on {attack.column}" if attack.column else ""
    line = phrases.against_threshold(attack)
    said = attack.open_words
    if line.standing == "no threshold":
        sentence = f"{title}: {attack.sentence}"
        if said and "treated as exposed" not in sentence:
            sentence += f" {said}."
        mark: Mark = "warning" if said or attack.idle or certain(attack) else "note"
        return Item(about=about, sentence=sentence, mark=mark)
    # A share of all links is one figure for the release: no one is placed worst.
    chance = (
        "share of right links"
        if phrases.kind_of(attack).report.of_the_release
        else WORST_CHANCE.lower()
    )
    worst = f"{chance} at most" if attack.upper_bound else chance
    worst = f"estimated {worst}" if attack.estimated else worst
    sentence = (
        f"{title}: threshold {phrases.chance(attack.threshold)}: {line.standing}; "
        f"{worst} {phrases.chance(attack.worst)}"
    )
    sentence += f"; {said}." if said else "."
    unmet = line.standing == "not met" or bool(said)
    return Item(about=about, sentence=sentence, mark="warning" if unmet else "holds")


def _listed(result: Result) -> list[Item]:
    """Return the columns whose cells list exact values, which hides less than a class's size says.

    A reader of `{Ada, Bo, Cy}` knows every name that is in the table, and three for the person.
    """
    return [
        Item(
            about=f"sets:{name}",
            sentence=f"Cells of '{name}' list exact values: {lists.values:,} of its {lists.of:,} "
            f"values are printed, up to {lists.most:,} in one cell. Publish groups of a hierarchy, "
            "or make the column an identifier if its values name people.",
            mark="warning" if lists.values >= MANY_LISTED else "note",
        )
        for name, lists in values_in_sets(result.plan, result.release).items()
    ]


def unlike(result: Result) -> Item:
    """Return how many rows are unique over all published columns, and what that means."""
    about, (total, alone) = "unique", result.unique_of
    if alone is None:
        return Item(
            about=about,
            sentence="Rows unique over all published columns: not counted, since cells next to "
            "each other need not belong to one person.",
            mark="note",
        )
    if not alone:
        sentence = f"0 of {total:,} {result.counted} (0%) are unique over all published columns."
        return Item(about=about, sentence=sentence, mark="note")
    sentence = (
        f"{phrases.unlike_others(result)}: anyone who knows these columns can single the "
        f"{result.counted} out."
    )
    mark: Mark = "warning" if phrases.mostly_unique(result) else "note"
    return Item(about=about, sentence=sentence, mark=mark)
