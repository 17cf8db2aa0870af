"""What is reported next to a release: what its figures lean on and should not."""

from __future__ import annotations

import json
from collections.abc import Iterator

from anon_core.base.errors import listing
from anon_core.base.terms import in_figures
from anon_core.data.reading.notes import how_to_keep
from anon_core.data.table import MISSING_TOKENS
from anon_core.data.values.doubts import (
    code_rows,
    looks_like_days,
    looks_like_numbers,
    rows_with_codes,
    sum_rows,
)
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem
from anon_core.release.real_endpoints import ListedValues, RareEnds, listed_values, rare_ends
from anon_core.release.release import Release
from anon_core.release.vocabulary import LONGEST_SET

#: Labels of a column that are looked at: they are of one form, and a hierarchy may have many.
_MOST_LABELS = 500
#: Share of the population by which the sum of weights may be off without a word.
_FAR = 0.05


def cautions(plan: Plan, problem: Problem, release: Release) -> tuple[str, ...]:
    """Return a sentence or two for each caution; an attacker does not know them."""
    return (
        *_households(plan),
        *_weights(plan, problem),
        *_single_weights(plan, release),
        *_shortened_sets(release),
        *_missing_as_values(plan, problem),
        *_read_as_missing(plan, problem),
        *_doubtful(plan, problem),
        *_rare_ends(plan, release),
        *_rare_members(plan, release),
        *_raised(plan),
        *_idle_hierarchies(plan),
        *_strangers(problem),
        *_lacking(problem),
        *_counted_coarsely(plan, problem),
        *_counted_by_class(plan, problem),
        *(caution for model in plan.models for caution in model.cautions(problem)),
    )


def _households(plan: Plan) -> Iterator[str]:
    if plan.roles.household:
        yield (
            f"People of one household count as one, identified by '{plan.roles.household}': "
            "statements about people are true of households, and a class of 5 holds at least 5."
        )


def _weights(plan: Plan, problem: Problem) -> Iterator[str]:
    total, size = problem.weighed_people, plan.population_size
    if problem.population is not None:
        size = problem.population.size
    if plan.roles.weight and size and abs(total - size) > _FAR * size:
        yield (
            f"The weights in '{plan.roles.weight}' add up to {total:,.10g}, and the population is "
            f"{size:,}: one of the two may be of other people."
        )
    if plan.roles.weight and plan.roles.household:
        yield (
            f"A household has the mean of its people's weights in '{plan.roles.weight}', since "
            "people of one household count as one."
        )


def _single_weights(plan: Plan, release: Release) -> Iterator[str]:
    alone = int((release.view.group_size == 1).sum()) if plan.class_weights else 0
    if alone:
        yield (
            f"{in_figures(alone, 'row')} without a row alike: there the published mean weight is "
            "that of the row, which reveals its stratum."
        )


def _shortened_sets(release: Release) -> Iterator[str]:
    for name, vocabulary in release.vocabularies.items():
        if vocabulary.shortened:
            yield (
                f"Value sets of '{name}' that are longer than {LONGEST_SET:,} characters are "
                "published as the whole column. A hierarchy of the column keeps more detail."
            )


def _missing_as_values(plan: Plan, problem: Problem) -> Iterator[str]:
    for name in dict.fromkeys(n for model in plan.models for n in model.protects(problem)):
        if rows := rows_with_codes(problem.dataset.column(name)):
            yield (
                f"'{name}' has {rows:,} {'row' if rows == 1 else 'rows'} with codes that usually "
                "mean missing, which l-diversity counts as values. If they do, add "
                "them to the texts read as missing, and run again."
            )


def read_as_missing(plan: Plan, problem: Problem) -> dict[str, dict[str, int]]:
    """Return, by column, how many rows have a text that no one said is a missing value, and is one.

    Of the columns that are published.
    """
    if plan.data.missing_values != MISSING_TOKENS:
        return {}
    shown = problem.roles.published(problem.dataset)
    columns = [problem.dataset.column(n) for n in shown if n not in plan.data.missing_in]
    return {c.name: c.replaced for c in columns if c.replaced}


def _read_as_missing(plan: Plan, problem: Problem) -> Iterator[str]:
    for name, texts in read_as_missing(plan, problem).items():
        tokens = [f"'{text}' in {in_figures(rows, 'row')}" for text, rows in sorted(texts.items())]
        yield (
            f"'{name}' has {', '.join(tokens)}, read and published as missing. To keep "
            f"{'it as a value' if len(tokens) == 1 else 'them as values'}, {how_to_keep(name)}."
        )


def _doubtful(plan: Plan, problem: Problem) -> Iterator[str]:
    """Yield what no one was asked about columns that are published, and values suggest."""
    for name in problem.roles.published(problem.dataset):
        column = problem.dataset.column(name)
        key = json.dumps(name, ensure_ascii=False)
        settled = name in plan.types or name in plan.data.decimals
        if not settled and looks_like_numbers(column):
            yield (
                f"'{name}' is read as text, and its values look like numbers. To read them as "
                f'numbers, write in the recipe, under [data], decimals = {{ {key} = "." }}, or "," '
                f'if a comma separates decimals. To keep the texts, declare {key} = "text" '
                "under [types]."
            )
        if name not in plan.types and name not in plan.data.dates and looks_like_days(column):
            yield (
                f"'{name}' is read as text, and its values look like days or times: they get no "
                "order and no calendar. Write them as 2026-12-31 or 2026-12-31 17:30, all alike, "
                f'and run again. To keep the texts, declare {key} = "text" under [types].'
            )
        if word := sum_rows(column):
            yield (
                f"'{name}' says '{word}' in one row, which may be a sum and no person. If so, "
                "remove the row from the table and run again."
            )
        found = None if name in plan.data.missing_in else code_rows(column)
        if found is not None:
            yield (
                f"'{name}' has {found[0]} in {in_figures(found[1], 'row')}, which usually means "
                "missing and counts as a number here. If it does, write in the recipe, "
                f'under [data], missing_in = {{ {key} = ["{found[0]}"] }}. If it does not, write '
                f"missing_in = {{ {key} = [] }}."
            )


def few(plan: Plan) -> int:
    """Return of how many people a value has to be at least, to be no one's own."""
    return max((2, *(model.least_size() for model in plan.models)))


def ends_of_few(plan: Plan, release: Release) -> dict[str, RareEnds]:
    """Return, by column, the ends of published ranges that are real values of too few people."""
    return rare_ends(release, few(plan))


def _rare_ends(plan: Plan, release: Release) -> Iterator[str]:
    for name, ends in ends_of_few(plan, release).items():
        many = "value" if ends.values == 1 else "values"
        whose = f"{ends.people:,} {'person' if ends.people == 1 else 'people'}"
        yield (
            f"Ranges of '{name}' end at {ends.values:,} {many} that fewer than {few(plan)} people "
            f"have: the release shows the real value of {whose}. Build a hierarchy with round "
            "cuts for the column and publish its groups, or code its smallest and largest values."
        )


def values_in_sets(plan: Plan, release: Release) -> dict[str, ListedValues]:
    """Return, by column, the exact values that published sets list."""
    return listed_values(release, few(plan))


def _rare_members(plan: Plan, release: Release) -> Iterator[str]:
    for name, members in values_in_sets(plan, release).items():
        if members.rare:
            many = "value" if members.rare == 1 else "values"
            whose = f"{members.people:,} {'person' if members.people == 1 else 'people'}"
            yield (
                f"Sets of '{name}' list {members.rare:,} exact {many} that fewer than {few(plan)} "
                f"people have: the release shows the real value of {whose}. Build a hierarchy "
                "for the column and publish its groups, or make the column an identifier."
            )


def _idle_hierarchies(plan: Plan) -> Iterator[str]:
    private = {name for model in plan.models for name in model.private_columns()}
    for name in plan.roles.insensitive:
        if name in plan.hierarchies and name not in private:
            yield (
                f"'{name}' has a hierarchy, and is published unchanged, since it is insensitive. "
                "To publish groups of it, make it a quasi-identifier."
            )


def _raised(plan: Plan) -> Iterator[str]:
    for name, level in plan.sensitive_levels.items():
        yield (
            f"'{name}' is published at level {level} of its hierarchy. Privacy models and attacks "
            "count the published values; no metric counts what that level loses."
        )


def _lacking(problem: Problem) -> Iterator[str]:
    people = problem.population
    if people is not None and people.lacking:
        yield (
            f"The population table has no {listing(people.lacking)}: attacks with it use the "
            "other quasi-identifiers, and an attacker who knows more learns more. Where a model "
            "could count its people, it counts rows of the release instead."
        )


def _counted_coarsely(plan: Plan, problem: Problem) -> Iterator[str]:
    if problem.floors:
        levels = ", ".join(f"'{name}' from level {n}" for name, n in problem.floors.items())
        better = (
            ""
            if plan.algorithm.needs.levels_parameter
            else "A better choice may lie below, so none is called best or minimal. "
        )
        yield (
            "The table has more different rows than the memory setting has room for, so it was "
            f"counted at coarser levels: {levels} on. {better}What attacks achieve on the table as "
            "it is was measured at these levels too: in truth it is at least that."
        )


def _counted_by_class(plan: Plan, problem: Problem) -> Iterator[str]:
    if problem.by_class:
        left = [name for name in plan.roles.sensitive if name not in problem.roles.sensitive]
        unknown = f" What is learned of {listing(left)} was not measured." if left else ""
        yield (
            "The table has more different rows than the memory setting has room for, so the first "
            "cuts were made in the engine, and only classes are known here. What attacks achieve "
            "on the table as it is was measured as if the rows of a class were alike: in truth it "
            f"is at least that.{unknown}"
        )


def _strangers(problem: Problem) -> Iterator[str]:
    if problem.strangers:
        yield (
            f"{problem.strangers:,} of {problem.rows:,} rows have no person of their own in the "
            "population table, so the table was not drawn from it, and the figures of attacks that "
            "use it are not to be relied on. Give the whole population table, with values written "
            "as in the table."
        )
