"""Figures in plain words: chances, shares, and the three verdict lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from anon_core.base.registry import family, find
from anon_core.base.terms import SCALE, in_figures, nearly, one_in
from anon_core.base.terms import count as count
from anon_core.base.terms import few as few
from anon_core.base.terms import times as times
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import headline
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from anon_core.release.outcome import per_cent
from anon_core.release.release import raw_view

Standing = Literal["met", "not met", "no threshold"]
#: Share of rows unique over all published columns from which that has to be acknowledged.
MOSTLY_UNIQUE = 0.5


def size(rows: int, columns: int, between: str) -> str:
    """Return how large a table is.

    Examples
    --------
    >>> size(1200, 1, " × ")
    '1,200 rows × 1 column'
    """
    return f"{in_figures(rows, 'row')}{between}{in_figures(columns, 'column')}"


def symbol(parameter: str) -> str:
    """Return a privacy model's parameter as its source writes it.

    Examples
    --------
    >>> symbol("k"), symbol("delta_max")
    ('k', 'δ max')
    """
    return parameter.replace("delta_", "δ ")


def in_a_sentence(title: str) -> str:
    """Return a title as it is within a sentence.

    Examples
    --------
    >>> in_a_sentence("Average class size"), in_a_sentence("NCP / GCP")
    ('average class size', 'NCP / GCP')
    """
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def rows(number: int) -> str:
    """Return a number of rows in figures."""
    return in_figures(number, "row")


def share(value: float) -> str:
    """Return a share as per cent, with as many digits as it takes to be no zero.

    Examples
    --------
    >>> share(0.2), share(0.0178), share(0.00001), share(0)
    ('20%', '1.8%', 'under 0.01%', '0%')
    """
    return per_cent(value)


def chance(value: float) -> str:
    """Return a chance in both ways it is spoken of, always in this order.

    Examples
    --------
    >>> chance(0.2), chance(1 / 11), chance(0.09), chance(1.0), chance(0)
    ('1 in 5 (0.2)', '1 in 11 (0.0909)', '1 in 11.1 (0.09)', 'certain (1)', 'never (0)')
    >>> chance(0.6), chance(0.98), chance(0.9996), chance(0.00007)
    ('1 in 1.67 (0.6)', '1 in 1.02 (0.98)', 'over 99% (0.9996)', '1 in 14,286 (7.0e-05)')
    """
    if value <= 0:
        return "never (0)"
    if value >= 1:
        return "certain (1)"
    plain = f"{value:.3g}" if value >= 0.0001 else f"{value:.1e}"
    if near := nearly(value):
        return f"{near} ({_below_one(value)})"
    return f"1 in {one_in(value)} ({plain})"


def _below_one(value: float) -> str:
    """Return a number below 1 in as many digits as it takes not to read 1."""
    return next(t for n in range(3, 18) if float(t := f"{value:.{n}g}") < 1)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One sentence of a verdict and how it is."""

    sentence: str
    standing: Standing


def model_sentences(result: Result) -> list[str]:
    """Return what was recomputed of the privacy models, in the recomputation's own words."""
    known = family("model")
    return [c.sentence for c in result.verification.checks if c.name in known]


def other_checks(result: Result) -> list[str]:
    """Return what else was recomputed."""
    known = family("model")
    return [c.sentence for c in result.verification.checks if c.name not in known]


def in_order(attacks: Iterable[AttackResult]) -> list[AttackResult]:
    """Return attacks as they are reported: those on a single person first, as most models are."""
    return sorted(attacks, key=lambda a: (kind_of(a).report.place, a.attack, a.column))


def kind_of(attack: AttackResult) -> type[Attack]:
    """Return the class of the attack that a result is of."""
    return cast(type[Attack], find("attack", attack.attack))


def comes_first(attack: AttackResult) -> bool:
    """Say whether an outcome comes first: who is found, who is in it, and what is certain."""
    kind = kind_of(attack)
    return kind.aim.discloses in ("identity", "presence") or kind.report.certain_only


def limited(attack: AttackResult) -> bool:
    """Say whether a threshold was set for what an attack may achieve."""
    return "threshold" in {p.name for p in kind_of(attack).parameters()}


def against_threshold(attack: AttackResult, *, permuted: bool = False) -> Line:
    """Return one attack's outcome against its threshold; attacks without one say so."""
    kind = kind_of(attack)
    if attack.idle:  # nobody could be attacked: no threshold is met by that
        return Line(sentence=attack.sentence, standing="no threshold")
    if not limited(attack):
        sentence = attack.sentence
        if permuted and kind.report.certain_only:
            sentence += f" Guessed from the group it is right {times(attack.worst)}, at worst."
        return Line(sentence=sentence, standing="no threshold")
    # A share of all links is one figure for the release, not one for the person placed worst.
    reached = attack.worst
    standing: Standing = "not met" if reached > attack.threshold else "met"
    limit = f"your threshold is {chance(attack.threshold)}: {standing}"
    worst = "at worst (an upper bound)" if attack.upper_bound else "at worst"
    estimated = ", by estimate" if attack.estimated else ""
    if kind.report.achieves:
        also = f", {kind.report.also}" if permuted and kind.report.also else ""
        reaches = f"{kind.report.achieves} {times(reached)}"
        return Line(sentence=f"{reaches}, {worst}{estimated}{also}; {limit}.", standing=standing)
    return Line(sentence=f"{attack.sentence} Y{limit[1:]}{estimated}.", standing=standing)


def unlike_others(result: Result) -> str:
    """Return how many rows, or people, are unique over everything published; empty if none."""
    total, alone = result.unique_of
    if not alone:
        return ""
    are = "is" if alone == 1 else "are"
    return (
        f"{alone:,} of {total:,} {result.counted} ({share(alone / total)}) {are} unique over all "
        "published columns"
    )


def mostly_unique(result: Result) -> str:
    """Return the same where it has to be acknowledged; see `MOSTLY_UNIQUE`."""
    total, alone = result.unique_of
    return unlike_others(result) if alone and alone >= MOSTLY_UNIQUE * total else ""


def undefined(result: Result) -> list[str]:
    """Return which attacks would run on the table as it is, but not on what is published."""
    raw = raw_view(result.problem)
    stopped = result.not_run
    return [
        f"{attack.title}: {stopped[attack.name]}"
        for attack in result.plan.all_attacks()
        if attack.name in stopped and not not_applicable(attack, raw, result.audience)
    ]


def links(result: Result) -> str:
    """Return which links a permuted release keeps and cuts within a group."""
    linked = [" + ".join(block) for block in result.release.blocks if len(block) > 1]
    start = "Within a group nothing links a row of one table to a row of the other"
    if len(result.tables) > 1:
        if linked:
            return f"{start}. Linked row by row: {'; '.join(linked)}."
        return (
            f"{start}, and every column is shuffled by itself: cells next to each other "
            "do not belong together."
        )
    if len(result.release.blocks) == 1:
        return "All columns stay linked row by row: no link is cut."
    if linked:
        return (
            f"Within a group only these columns stay linked row by row: {'; '.join(linked)}. All "
            "other cells are next to each other by chance."
        )
    return (
        "Within a group every column is shuffled by itself: cells next to each other "
        "do not belong together."
    )


def left_out(columns: Sequence[str]) -> str:
    """Return which columns are not published, be it on purpose or since a recipe names no role."""
    return f"Left out of the release: {few(columns, 40)}."


def hidden(result: Result) -> str:
    """Return how many rows are suppressed, in words."""
    gone = result.release.suppressed
    total = result.problem.rows
    dropped = result.problem.dataset.dropped
    extra = f" {rows(dropped)} with missing values were dropped before." if dropped else ""
    unseen = result.problem.dataset.unseen
    extra += f" {rows(unseen)} with values that no hierarchy has were left out." if unseen else ""
    undrawn = result.problem.dataset.undrawn
    extra += f" {rows(undrawn)} were not drawn into the sample." if undrawn else ""
    outside = result.problem.dataset.outside
    extra += f" {rows(outside)} were not chosen by the condition." if outside else ""
    if not gone:
        return f"No row is suppressed.{extra}"
    verb = "is" if gone == 1 else "are"
    lost = result.suppressed_weight
    part = share(gone / total) + ("" if lost is None else f"; {share(lost)} of the weight")
    return f"{rows(gone)} of {total:,} ({part}) {verb} suppressed.{extra}"


def says_nothing(result: Result) -> str:
    """Return that the quasi-identifiers of a release say nothing, where that is so; else empty."""
    if not result.is_silent:
        return ""
    if not len(result.class_sizes):
        return "Every row is suppressed: nothing is released."
    return (
        "Every quasi-identifier is generalized to the top of its hierarchy or suppressed: the "
        "release says nothing of them."
    )


def outcome(result: Result) -> str:
    """Return a result in a few sentences, first that it says nothing where it does not."""
    return " ".join(filter(None, (says_nothing(result), _outcome(result))))


def _outcome(result: Result) -> str:
    sizes = result.class_sizes
    smallest = int(sizes.min()) if len(sizes) else 0
    groups = f"{len(sizes):,} {'group' if len(sizes) == 1 else 'groups'}"
    if result.release.grouping.published and result.plan.algorithm.shape.coarsens:
        loss = result.measures.get(headline("cells"))
        lost = f" Loss of cells {loss.value:.3f};" if loss else ""
        return (
            f"{groups}, the smallest has {rows(smallest)}. {hidden(result)}"
            f"{lost} the links between columns are lost as well."
        )
    if result.release.grouping.published:
        return (
            f"{groups}, the smallest has {rows(smallest)}. {hidden(result)} "
            "Cells are exact; what is lost is the links between columns."
        )
    loss = result.measures.get(headline("cells"))
    lost = f" Loss {loss.value:.3f}: {SCALE}." if loss else ""
    has = rows(smallest)
    if result.counted == "people":
        has = _people(int(result.hiding.min(initial=result.problem.people)))
    if len(sizes) == 1:
        return f"1 class of {has}. {hidden(result)}{lost}"
    return f"{len(sizes):,} classes, the smallest has {has}. {hidden(result)}{lost}"


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"
