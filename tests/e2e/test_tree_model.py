"""The builder's own reckoning, run in the browser without a page around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import (
    Draft,
    InsertLevel,
    MakeGroup,
    apply,
    draft_of_values,
    operation_of,
    to_rows,
)
from anon_core.data.values.kinds import ColumnKind
from ui.components import TREE
from ui.state.drafts import picture

MODEL = TREE.script().split("\nconst builders = ")[0]
#: Every pair of what is carried and where it is dropped, with what that would mean.
EVERY_DROP = """
([data, several]) => {
  const model = buildModel(data);
  const found = [];
  const targets = [{ level: NEW, node: 0 }];
  model.levels.forEach((one, level) => one.ids.forEach((_, node) => targets.push({ level, node })));
  for (let level = 0; level < model.top; level++) {
    const nodes = model.levels[level].ids.map((_, node) => node);
    const carries = nodes.map(node => [node]);
    if (several) nodes.slice(2).forEach(node => carries.push([node - 2, node]));
    for (const carried of carries) {
      for (const target of targets) {
        for (const edge of [-1, 0, 1]) {
          const meaning = dropMeaning(model, { level, nodes: carried }, target, edge);
          found.push({ level, carried, target, edge, ...meaning });
        }
      }
    }
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """Open an empty page that knows the builder's functions."""
    page = browser.new_page()
    page.add_script_tag(content=MODEL)
    yield page
    page.close()


def cities(kind: ColumnKind = "text") -> Column:
    texts = ["Bonn", "Graz", "Kiel", "Linz", "Lyon", "Oslo"]
    codes = np.repeat(np.arange(6, dtype=np.int32), [6, 5, 4, 3, 2, 1])
    return encode("city", codes, texts, kind=kind)


def built(of: Column) -> Draft:
    draft = draft_of_values(of)
    draft = apply(draft, MakeGroup(level=0, nodes=(0, 2), label="Germany"))
    draft = apply(draft, MakeGroup(level=0, nodes=(1, 3), label="Austria"))
    at = {group.label: group.id for group in draft.levels[0]}
    return apply(
        draft, MakeGroup(level=1, nodes=(at["Germany"], at["Austria"]), label="German-speaking")
    )


def test_levels_know_their_leaves_parents_and_rows(blank: Page) -> None:
    draft = built(cities())
    found: dict[str, Any] = blank.evaluate(
        """data => {
          const m = buildModel(data);
          return {
            top: m.top, most: m.most,
            spans: m.levels.map(l => l.ids.map((_, i) => [l.labels[i], l.start[i], l.end[i]])),
            rows: m.levels.map(l => [...l.rows]),
            alone: m.levels.slice(1).map(l => [...l.alone]),
          };
        }""",
        picture(draft, cities()),
    )
    assert found["top"] == 3
    assert found["most"] == 6
    for level, spans in enumerate(found["spans"]):
        rows = to_rows(draft)
        assert [label for label, low, high in spans for _ in range(low, high)] == [
            row[level] for row in rows
        ]
    assert [sum(rows) for rows in found["rows"]] == [21] * 4
    assert found["alone"] == [[0, 0, 1, 1], [0, 1, 1], [0]]


def test_a_collapsed_group_is_one_row(blank: Page) -> None:
    draft = built(cities())
    outer = draft.levels[1][0].id
    found: list[Any] = blank.evaluate(
        """([data, closed]) => {
          const m = buildModel(data);
          const l = layoutRows(m, new Set(closed));
          return [l.entries.length, [...l.rowOf], isHidden(l, m, 0, 1), isHidden(l, m, 2, 0),
                  rowsOfNode(m, l, 2, 0), rowsOfNode(m, l, 0, 4)];
        }""",
        [picture(draft, cities()), [outer, draft.levels[0][0].id]],
    )
    assert found == [3, [0, 0, 0, 0, 1, 2, 3], True, False, [0, 1], [1, 2]]


@pytest.mark.parametrize("several", [False, True])
def test_whatever_a_drop_asks_for_can_be_done(blank: Page, several: bool) -> None:
    draft = built(cities())
    seen: set[str] = set()
    for drop in blank.evaluate(EVERY_DROP, [picture(draft, cities()), several]):
        assert drop["words"]
        if "op" not in drop:
            continue
        operation = operation_of(drop["op"])
        after = apply(draft, operation)
        assert sorted(after.leaves) == sorted(draft.leaves)
        assert after != draft or operation.do == "reorder"  # before its next neighbour, say
        seen.add(operation.do)
    assert seen == {"group", "move", "reorder"}


def test_numbers_are_never_reordered(blank: Page) -> None:
    of = encode("n", np.arange(4, dtype=np.int32), ["1", "2", "3", "4"])
    draft = apply(draft_of_values(of), InsertLevel())
    drops = blank.evaluate(EVERY_DROP, [picture(draft, of), False])
    assert {drop["op"]["do"] for drop in drops if "op" in drop} == {"group"}


@pytest.mark.parametrize(
    ("target", "op"),
    [
        ("{ level: NEW, node: 0 }", {"do": "place", "values": ["Rome"]}),
        ("{ level: 3, node: 0 }", {"do": "place", "values": ["Rome"]}),
        ("{ level: 1, node: 0 }", {"do": "place", "values": ["Rome"], "onto": 1, "to": 0}),
        ("{ level: 0, node: 0 }", {"do": "place", "values": ["Rome"], "onto": 1, "to": 0}),
    ],
)
def test_values_without_a_place_are_placed(blank: Page, target: str, op: dict[str, Any]) -> None:
    draft = built(cities())
    if "to" in op:
        op = {**op, "to": draft.levels[0][0].id}
    meaning = blank.evaluate(
        f"data => dropMeaning(buildModel(data), {{ texts: ['Rome'] }}, {target}, 0)",
        picture(draft, cities()),
    )
    assert meaning["op"] == op
    assert "Rome" in to_rows(apply(draft, operation_of(op)))[-1 if len(op) == 2 else 2]


def test_search_finds_values_and_groups_once(blank: Page) -> None:
    draft = built(cities())
    found = blank.evaluate(
        """data => findNodes(buildModel(data), " AUST").concat(findNodes(buildModel(data), "on"))
          .map(one => buildModel(data).levels[one.level].labels[one.node])""",
        picture(draft, cities()),
    )
    assert found == ["Austria", "Bonn", "Lyon"]
    assert (
        blank.evaluate("data => findNodes(buildModel(data), '  ')", picture(draft, cities())) == []
    )
