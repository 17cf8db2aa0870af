"""A value that is spelled like a set or a suppressed cell is refused, not read as one."""

from __future__ import annotations

import pytest

from anon_core.base.errors import BadInput
from anon_core.pipeline.runner import run
from anon_core.release.reserved_texts import is_set_of
from anon_core.verification.checks import verify
from tests.making import Case

TECHNIQUES = ("optimal", "mondrian", "one-attribute-slicing", "cell-suppression", "k-member")


def table(*values: str, sensitive: str = "s") -> Case:
    return Case(
        columns={"q": list(values), sensitive: [str(i % 3) for i in range(len(values))]},
        quasi=("q",),
        sensitive=(sensitive,),
        kinds={"q": "text", sensitive: "text"},
    )


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize(
    ("alike", "says"),
    [("*", "one that says nothing (*)"), ("{a, b}", "a set of other values of the column")],
)
def test_every_technique_refuses_it_by_its_row_and_never_by_its_value(
    technique: str, alike: str, says: str
) -> None:
    case = table("a", "b", alike, "a", "b", alike)
    model = {"name": "bucket-size", "k": 2}
    plan = case.plan(algorithm={"name": technique}, models=[model])
    with pytest.raises(BadInput) as refused:
        run(plan, case.dataset, case.levels)
    assert "Column 'q', row 3:" in refused.value.message
    assert says in refused.value.message
    assert "so are 2 cells in all" in refused.value.message
    assert refused.value.remedy
    assert refused.value.values == (alike,)
    if alike != "*":
        assert alike not in str(refused.value)


@pytest.mark.parametrize(
    "alike", ["{a, c}", "{a,b}", "{a, b", "{}", "[1, 2]", "1-5", "<5", "≥80", "**", "{ a, b}"]
)
def test_what_no_release_writes_of_several_values_is_a_value_like_others(alike: str) -> None:
    case = table("a", "b", alike, "a", "b", alike)
    plan = case.plan(algorithm={"name": "mondrian"}, models=[{"name": "k-anonymity", "k": 2}])
    found = run(plan, case.dataset, case.levels, assess=False)
    assert found.verification.holds
    assert sum(line.startswith(alike) for line in _cells(found.csv)) in (0, 2)


def _cells(content: bytes) -> list[str]:
    return [line.strip('"').lstrip("'") for line in content.decode().splitlines()[1:]]


def test_members_that_have_to_be_quoted_are_members_too() -> None:
    assert is_set_of('{"a, b", c}', {"a, b", "c"})
    assert is_set_of('{"", c}', {"", "c"})
    assert not is_set_of('{a, "c"}', {"a", "c"})  # no release quotes without need
    assert not is_set_of("{a, b}", {"a"})


def test_a_star_that_is_named_as_missing_is_no_value() -> None:
    case = table("a", "*", "a", "*")
    plan = case.plan(data={"missing_values": ["*"]}, models=[{"name": "k-anonymity", "k": 2}])
    read = case.dataset.from_frame(case.frame, kinds=case.kinds, missing=("*",))
    assert run(plan, read, case.levels, assess=False).verification.holds


def test_a_sensitive_column_is_published_exactly_and_may_hold_anything() -> None:
    case = Case(
        columns={"q": list("aabb"), "s": ["*", "{x, y}", "x", "y"]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    found = run(case.plan(), case.dataset, case.levels, assess=False)
    assert found.verification.holds


@pytest.mark.parametrize("alike", ["*", "{a, b}"])
def test_verification_calls_it_ambiguous(alike: str) -> None:
    """Whatever made the release: the cell could stand for one row or for all."""
    case = table("a", "b", alike, alike)
    recipe = case.plan(models=[{"name": "k-anonymity", "k": 2}]).as_mapping()
    cell = f'"{alike}"'
    content = f"q,s\n{cell},0\n{cell},0\n{cell},1\n{cell},2\n"
    found = verify(recipe, case.frame, case.levels, {"release.csv": content.encode()})
    (checks,) = [c for c in found.checks if c.name == "coverage"]
    assert not checks.holds
    assert "mean different things" in checks.sentence
