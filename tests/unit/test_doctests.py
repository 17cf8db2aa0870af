"""The examples in docstrings are true; every builder of hierarchies has one."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import anon_core.data.hierarchy

CHECKOUT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("anon_core", "anonymity_workbench", "ui")
    for path in (CHECKOUT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_every_builder_has_an_example() -> None:
    from anon_core.data.hierarchy import intervals
    from anon_core.data.hierarchy.edit import cutting, placing
    from anon_core.data.hierarchy.files import json_file, relations
    from anon_core.data.hierarchy.propose import categories, codes, starts
    from anon_core.data.hierarchy.propose import dates_and_times as dates
    from anon_core.data.hierarchy.propose import proposals as propose

    builders = [
        intervals.cut,
        cutting.cuts_of,
        relations.parse_relations,
        relations.relations_text,
        json_file.parse_json,
        json_file.hierarchy_json,
        placing.placed,
        starts.equal_width,
        starts.quantiles,
        starts.round_numbers,
        dates.calendar,
        dates.weeks,
        dates.clock,
        codes.mask,
        codes.prefixes,
        codes.segments,
        codes.icd,
        categories.balanced,
        categories.halved,
        propose.propose,
        anon_core.data.hierarchy.propose_all,
        anon_core.data.hierarchy.flat,
        anon_core.data.hierarchy.from_rows,
    ]
    for builder in builders:
        assert ">>> " in (builder.__doc__ or ""), builder.__name__
