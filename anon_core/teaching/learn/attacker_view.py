"""What somebody finds out at a step about the person who is followed."""

from __future__ import annotations

from collections import Counter

from anon_core.teaching.learn.lesson import Step
from anon_core.teaching.learn.text import listed, people_of, rows_said
from anon_core.teaching.learn.trace import Trace


def attack_said(trace: Trace, step: Step, person: int) -> str:
    """Return what is found by someone who knows a person's quasi-identifiers.

    Empty where a step publishes nothing yet.

    Parameters
    ----------
    trace : Trace
    step : Step
    person : int
        Row of the person.
    """
    if step.found:
        return step.found[person]
    if not step.together:
        return ""
    who = trace.name_of(person)
    group = step.together[person]
    if group < 0:
        return f"{who[:1].upper()}{who[1:]} is suppressed here: no row of the release is theirs."
    mine = people_of(step.together, group)
    found = (
        f"Someone who knows {listed(step.known or trace.quasi)} of {who} finds "
        f"{rows_said(len(mine))}"
        f" ({listed(str(row + 1) for row in mine)}) and picks the right one "
        f"{'for certain' if len(mine) == 1 else f'1 time in {len(mine)}'}."
    )
    for column in trace.sensitive:
        texts = trace.texts(column)
        counts = Counter(texts[row] for row in mine)
        most, often = counts.most_common(1)[0]
        if len(mine) == 1:
            found += f" {column} is {most}."
        elif len(counts) == 1:
            found += f" {column} is {most} in all of them, so it is known."
        else:
            share = f"{often} of {len(mine)}"
            found += f" {column} is one of {len(counts)} values; {most} has {share}."
    return found
