"""Whatever is done to a hierarchy, in whatever order: it stays one, and undo restores exactly."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import (
    Draft,
    History,
    apply,
    draft_of_dict,
    draft_of_values,
    from_rows,
    operation_of,
    to_rows,
)
from anon_core.data.values.kinds import ColumnKind
from tests.often import often

KINDS: tuple[ColumnKind, ...] = ("text", "ordered", "number", "date")
LABELS = ("", "A", "B", "v1", "v2 or v3", "3-4", "*", "<script>", " ", "NA", "x" * 300)


def column(kind: ColumnKind, size: int) -> Column:
    texts = {
        "number": [str(i * 2 - 5) for i in range(size)],
        "date": [f"2020-{i + 1:02d}-11" for i in range(size)],
    }.get(kind, [f"v{i}" for i in range(size)])
    return encode("x", np.arange(size, dtype=np.int32), texts, kind=kind)


def plain_operations(draft: Draft) -> st.SearchStrategy[dict[str, Any]]:
    """Return operations that mostly fit the draft, with some that cannot."""
    level = st.integers(0, draft.height)
    numbers = {
        at: list(range(len(draft.leaves))) if at == 0 else [g.id for g in draft.levels[at - 1]]
        for at in range(draft.height + 1)
    }

    def nodes(at: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.sampled_from(numbers[at]) | st.just(999), max_size=4)

    def runs(at: int) -> st.SearchStrategy[list[int]]:
        shown = list(draft.order) if at == 0 else numbers[at]
        bounds = st.tuples(st.integers(0, len(shown)), st.integers(1, 4))
        return bounds.map(lambda b: shown[b[0] : b[0] + b[1]])

    def of_level(at: int) -> st.SearchStrategy[dict[str, Any]]:
        some = nodes(at) | runs(at)
        one = st.sampled_from(numbers[at])
        label = st.sampled_from(LABELS)
        onto = st.integers(0, draft.height)
        return st.one_of(
            st.fixed_dictionaries(
                {"do": st.just("group"), "level": st.just(at), "nodes": some},
                optional={"label": label, "at": onto},
            ),
            onto.flatmap(
                lambda to: st.fixed_dictionaries(
                    {
                        "do": st.just("move"),
                        "level": st.just(at),
                        "nodes": some,
                        "onto": st.just(to),
                        "to": st.sampled_from(numbers[to]),
                    }
                )
            ),
            st.fixed_dictionaries(
                {"do": st.just("rename"), "level": st.just(at), "node": one, "label": label}
            ),
            st.fixed_dictionaries({"do": st.just("ungroup"), "level": st.just(at), "nodes": some}),
            st.fixed_dictionaries(
                {
                    "do": st.just("reorder"),
                    "level": st.just(at),
                    "nodes": some,
                    "beside": one,
                    "after": st.booleans(),
                }
            ),
            st.fixed_dictionaries({"do": st.just("remove_level"), "level": st.just(at)}),
            st.fixed_dictionaries({"do": st.just("insert_level"), "at": st.just(at)}),
        )

    return level.flatmap(of_level)


def accepted(draft: Draft, of: Column) -> None:
    """Check that the draft is the hierarchy that a level table of it gives."""
    rows = to_rows(draft)
    assert from_rows(of, rows).rows() == rows
    assert draft_of_dict(json.loads(json.dumps(draft.as_dict()))) == draft


@often(300, share=12)
@given(data=st.data(), kind=st.sampled_from(KINDS), size=st.integers(1, 9))
def test_any_sequence_of_edits_leaves_a_hierarchy(
    data: st.DataObject, kind: ColumnKind, size: int
) -> None:
    of = column(kind, size)
    history = History.begin(draft_of_values(of))
    seen = [history.draft]
    for _ in range(data.draw(st.integers(1, 8), label="edits")):
        draft = history.draft
        plain = data.draw(plain_operations(draft), label="operation")
        before = json.dumps(draft.as_dict())
        try:
            after = apply(draft, operation_of(plain))
        except BadHierarchy:
            assert json.dumps(draft.as_dict()) == before
            continue
        assert json.dumps(draft.as_dict()) == before
        assert Counter(after.leaves) == Counter(of.values)
        accepted(after, of)
        history = history.then(after)
        if history.draft != seen[-1]:
            seen.append(history.draft)
    for expected in reversed(seen):
        assert history.draft == expected
        history = history.undone()
    for expected in seen:
        assert history.draft == expected
        history = history.redone()


@often(150)
@given(data=st.data(), kind=st.sampled_from(KINDS), size=st.integers(2, 9))
def test_placing_gives_every_value_exactly_one_place(
    data: st.DataObject, kind: ColumnKind, size: int
) -> None:
    of = column(kind, size)
    here = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size), label="here"))
    here[data.draw(st.integers(0, size - 1), label="surely")] = True
    draft = draft_of_values(of.take(here))
    draft = apply(draft, operation_of({"do": "insert_level"}))
    plain: dict[str, Any] = {"do": "place"}
    plain["values"] = [v for v, known in zip(of.values, here, strict=True) if not known]
    if not plain["values"]:
        return
    if data.draw(st.booleans(), label="into a group"):
        plain |= {"onto": 1, "to": data.draw(st.sampled_from([g.id for g in draft.levels[0]]))}
    try:
        placed = apply(draft, operation_of(plain))
    except BadHierarchy:
        assert kind in ("number", "date")  # where a group must be an interval
        return
    assert Counter(placed.leaves) == Counter(of.values)
    accepted(placed, of)
