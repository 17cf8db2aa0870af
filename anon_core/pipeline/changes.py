"""The table with its changes made, before anything else looks at it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.errors import BadPlan, listing
from anon_core.base.secret import stream
from anon_core.contracts.change import Chance, Changed
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan
from anon_core.release.changed_rows import Before, taken


def changed(plan: Plan, table: Dataset) -> tuple[Dataset, Roles]:
    """Return the table as its changes leave it, and the roles of what is published of it.

    Each change sees the table as it was read, so their order plays no part. A change that asks for
    a key is left out where there is none: nothing is published then.

    Parameters
    ----------
    table : Dataset
        With the kinds that the plan declares, and without the names that it redacts.

    Raises
    ------
    BadPlan, BadInput
        If a column cannot be changed so, or a model counts rows that a pseudonym joins.
    """
    made = _makeable(plan)
    if not made:
        return table, plan.roles
    order, digest = canonical(table, plan.roles.named)
    columns: dict[str, Column] = {}
    shown: list[str] = []
    for one in made:
        change = one.change
        drawn = stream(plan.seed, "change", change.name, *sorted(one.columns), digest)
        chance = Chance(generator=drawn, order=order, key=plan.key)
        columns |= change.run(table, one.columns, plan.roles, chance)
        hidden = [n for n in one.columns if n in plan.roles.hidden]
        shown += hidden
        if change.effect.joins_rows and plan.models:
            _refuse_joined([columns[n] for n in hidden], plan.models[0].title)
    result = replace(table, columns=tuple(columns.get(c.name, c) for c in table.columns))
    return result, replace(plan.roles, shown=tuple(shown))


def before_changes(plan: Plan, unchanged: Dataset, table: Dataset) -> Before | None:
    """Return what changed columns had in the rows of a table that are left; None without changes.

    Parameters
    ----------
    unchanged : Dataset
        The whole table as it was.
    table : Dataset
        The changed one, without the rows that were dropped or not drawn since.
    """
    made = _makeable(plan)
    if not made:
        return None
    left, all_of = table.columns[0].origin, unchanged.columns[0].origin
    kept = np.ones(unchanged.rows, dtype=np.bool_)
    if left is not None and table.rows < unchanged.rows:
        places = left if all_of is None else np.searchsorted(all_of, left)
        kept = np.zeros(unchanged.rows, dtype=np.bool_)
        kept[places] = True
    names = [n for one in made for n in one.columns]
    return Before(
        columns={n: taken(unchanged.column(n), kept) for n in names},
        replaced=tuple(n for one in made if one.change.effect.replaces for n in one.columns),
    )


def _makeable(plan: Plan) -> list[Changed]:
    """Return the changes of a plan, but those that ask for a key which is not there."""
    return [one for one in plan.changes if plan.key or not one.change.effect.needs_key]


def canonical(table: Dataset, names: Sequence[str]) -> tuple[I64, str]:
    """Return the rows in the order of what the named columns say, and what all of it comes to.

    Columns go first to last, texts by their letters as they were read, missing values last. Rows
    that are equal in all of them represent each other.
    """
    digest = hashlib.sha256()
    ranks: list[npt.NDArray[np.int64]] = []
    for name in table.names:
        if name not in names:
            continue
        codes, texts = table.column(name).as_read
        used = np.zeros(len(texts) + 1, dtype=np.bool_)
        used[codes] = True
        held = sorted({t for t, has in zip(texts, used, strict=False) if has})
        place = {text: rank for rank, text in enumerate(held)}
        rank = np.array([*(place.get(t, 0) for t in texts), len(held)], dtype=np.int64)[codes]
        ranks.append(rank)
        digest.update("\0".join([name, *held, ""]).encode("utf-8", "surrogatepass"))
    order = np.lexsort(ranks[::-1]) if ranks else np.arange(table.rows)
    for rank in ranks:
        digest.update(np.ascontiguousarray(rank[order], dtype="<i8").data)
    return order.astype(np.int64), digest.hexdigest()


def _refuse_joined(made: Sequence[Column], required: str) -> None:
    """Refuse a model of single rows if a pseudonym joins several of one person."""
    several = [c.name for c in made if int(c.counts.max(initial=0)) > 1]
    if several:
        raise BadPlan(
            f"Pseudonyms of {listing(several)} join the rows of one person, and {required} is "
            "about each row by itself: a person's rows taken together may be like no one else's, "
            "though each of them is like others.",
            remedy="Make a table with one row a person, leave the column out, or remove the "
            "privacy model and publish values as they are.",
        )


def refuse_no_key(plan: Plan) -> None:
    """Refuse to publish without the secret key that a change asks for.

    Raises
    ------
    BadPlan
    """
    asking = [one.change.title for one in plan.changes if one.change.effect.needs_key]
    if asking and not plan.key:
        raise BadPlan(
            f"{listing(dict.fromkeys(asking))} ask for a secret key of 64 hexadecimal digits, and "
            "none was given.",
            remedy="Give it with --key-file, in the environment as ANONYMITY_KEY, or in the field "
            "for the key on Run. It is never stored.",
        )
