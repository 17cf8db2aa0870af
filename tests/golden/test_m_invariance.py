"""m-invariance: worked examples, every count vector, and every assignment of values to persons."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadInput, Infeasible
from anon_core.methods.bucketized.m_invariance import (
    InvariantGroup,
    Member,
    Signature,
    counterfeits_needed,
    eligible,
    republished,
)
from anon_core.verification.other_data import republication_checks


def rows(*given: tuple[str, str]) -> list[Member]:
    """Return rows, some of them near each other."""
    return [Member(person=p, value=v, place=(PLACE.get(p, 0),)) for p, v in given]


PLACE = {"p1": 0, "p3": 0, "p2": 1, "n1": 1}


def people_of(groups: Sequence[InvariantGroup]) -> list[tuple[list[str], int]]:
    return sorted(([m.person for m in g.members], g.counterfeits) for g in groups)


Shown = list[tuple[list[str], list[str]]]  # of each group its persons, and the published values


def risks(releases: Sequence[Shown]) -> dict[tuple[str, str], Fraction]:
    """Return each person's chance of each value, over all assignments that fit all releases."""
    worlds: list[dict[str, str]] = [{}]
    for persons, values in (group for release in releases for group in release):
        found: list[dict[str, str]] = []
        for world in worlds:
            for order in set(itertools.permutations(values, len(persons))):
                own = dict(zip(persons, order, strict=True))
                if all(world.get(p, v) == v for p, v in own.items()):
                    found.append(world | own)
        worlds = found
    count: Counter[tuple[str, str]] = Counter(pair for world in worlds for pair in world.items())
    return {pair: Fraction(often, len(worlds)) for pair, often in count.items()}


def shown(groups: Sequence[InvariantGroup]) -> Shown:
    return [([m.person for m in g.members], list(g.signature)) for g in groups]


def test_l67_a_counterfeit_keeps_a_half_where_another_signature_gives_away() -> None:
    first: Shown = [(["Bob", "Alice"], ["dysp", "bron"]), (["Carl", "Dan"], ["flu", "gast"])]
    diverse: Shown = [(["Bob", "Eve"], ["dysp", "gast"]), (["Carl", "Dan"], ["flu", "gast"])]
    assert risks([first, diverse])["Bob", "dysp"] == 1
    before = {p: tuple(sorted(values)) for persons, values in first for p in persons}
    second = republished(
        rows(("Bob", "dysp"), ("Carl", "flu"), ("Dan", "gast"), ("Eve", "gast"), ("Fay", "flu")),
        before,
        2,
    )
    assert (["Bob"], 1) in people_of(second)
    assert sorted(g.signature for g in second) == [
        ("bron", "dysp"),
        ("flu", "gast"),
        ("flu", "gast"),
    ]
    found = risks([first, shown(second)])
    assert found["Bob", "dysp"] == max(found.values()) == Fraction(1, 2)


def splits(counts: tuple[int, ...], m: int) -> bool:
    """Search whether rows can be parted into groups of m or more different values."""
    if not any(counts):
        return True
    held = [v for v, c in enumerate(counts) if c]
    for size in range(m, len(held) + 1):
        for group in itertools.combinations(held, size):
            if held[0] in group and splits(
                tuple(c - (v in group) for v, c in enumerate(counts)), m
            ):
                return True
    return False


def test_l68_rows_can_be_parted_where_no_value_is_too_common() -> None:
    assert counterfeits_needed({"a": 5, "b": 2, "c": 1}, 2) == 2
    for m in (2, 3):
        for counts in itertools.product(range(4), repeat=4):
            assert eligible(dict(enumerate(map(int, counts))), m) == splits(counts, m)  # type: ignore[arg-type]
    five = [Member(person=f"p{i}", value=v) for i, v in enumerate("aaaaabbc")]
    groups = republished(five, {}, 2)
    assert sum(g.counterfeits for g in groups) == 2
    assert all(len(g.signature) >= 2 and g.members for g in groups)


def test_l69_new_rows_balance_where_the_rest_can_still_be_parted() -> None:
    before = dict.fromkeys(("p1", "p2", "p3"), ("a", "b"))
    kept = [("p1", "a"), ("p2", "a"), ("p3", "b")]
    groups = republished(rows(*kept, ("n1", "b"), ("n2", "c"), ("n3", "d")), before, 2)
    assert people_of(groups) == [(["n2", "n3"], 0), (["p1", "p3"], 0), (["p2", "n1"], 0)]


def test_l70_a_counterfeit_is_made_where_a_new_row_is_needed_elsewhere() -> None:
    before = dict.fromkeys(("p1", "p2", "p3"), ("a", "b"))
    kept = [("p1", "a"), ("p2", "a"), ("p3", "b")]
    groups = republished(rows(*kept, ("n1", "b"), ("n3", "d")), before, 2)
    assert people_of(groups) == [(["n1", "n3"], 0), (["p1", "p3"], 0), (["p2"], 1)]


def history(rng: np.random.Generator, m: int, people: int, times: int) -> Iterator[list[Member]]:
    """Yield tables in which persons come, leave and return; nobody's value changes."""
    value = {f"p{i}": "abcd"[int(rng.integers(4))] for i in range(people)}
    for _ in range(times):
        some = [p for p in value if rng.random() < 0.6]
        yield [Member(person=p, value=value[p], place=(int(p[1:]) % 3,)) for p in some]


@pytest.mark.parametrize("seed", range(6))
def test_risk_is_exactly_one_in_the_signature_over_every_assignment(seed: int) -> None:
    rng, m = np.random.default_rng(seed), 2 + seed % 2
    before: dict[str, Signature] = {}
    releases: list[Shown] = []
    made = 0
    for table in history(rng, m, 5, 3):
        groups = republished(table, before, m, "abcd")
        for group in groups:
            assert len(group.signature) >= m
            assert len({x.value for x in group.members}) == len(group.members)
            for one in group.members:
                assert before.setdefault(one.person, group.signature) == group.signature
        made += sum(g.counterfeits for g in groups)
        releases.append(shown(groups))
    for (person, _), chance in risks(releases).items():
        assert chance == Fraction(1, len(before[person]))
    assert made


def test_larger_tables_need_few_counterfeits_and_keep_every_signature() -> None:
    rng = np.random.default_rng(8)
    before: dict[str, Signature] = {}
    counts: defaultdict[int, int] = defaultdict(int)
    value = {f"p{i}": "abcdefgh"[int(rng.integers(8))] for i in range(600)}
    for release in range(10):
        some = [p for p in value if rng.random() < 0.7]
        groups = republished(rows(*((p, value[p]) for p in some)), before, 4)
        assert sorted(x.person for g in groups for x in g.members) == sorted(some)
        for group in groups:
            assert len({*group.signature}) == len(group.signature) >= 4
            for one in group.members:
                assert before.setdefault(one.person, group.signature) == group.signature
        counts[release] = sum(g.counterfeits for g in groups)
    assert counts[0] == 0


def test_what_cannot_be_republished() -> None:
    with pytest.raises(Infeasible, match="there are 1") as refused:
        republished(rows(("p", "a"), ("q", "a")), {}, 2)
    assert refused.value.best == 1
    with pytest.raises(BadInput, match="several rows"):
        republished(rows(("p", "a"), ("p", "b")), {}, 2)
    with pytest.raises(BadInput, match="not published among"):
        republished(rows(("p", "c"), ("q", "b")), {"p": ("a", "b")}, 2)


# ---- the command ---------------------------------------------------------------------------------


def table(rng: np.random.Generator, people: dict[str, tuple[str, ...]]) -> str:
    lines = [
        "id,age,town,ill",
        *(",".join([p, *c]) for p, c in people.items() if rng.random() < 0.7),
    ]
    return "\n".join(lines) + "\n"


def test_ten_releases_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(4)
    people = {
        f"p{i}": (str(rng.integers(18, 90)), "NSEW"[i % 4], "abcdef"[int(rng.integers(6))])
        for i in range(150)
    }
    data, state = tmp_path / "data.csv", tmp_path / "state.json"
    given = ["republish", "--data", str(data), "--person", "id", "--sensitive", "ill"]
    given += ["--quasi", "age,town", "--m", "3", "--state", str(state), "--json"]
    seen: dict[str, list[str]] = {}
    for number in range(1, 11):
        data.write_text(table(rng, people))
        out = tmp_path / f"out{number}"
        assert main([*given, "--out", str(out)]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert (printed["release"], printed["verified"]) == (number, True)
        assert printed["rows"] == printed["persons"] + printed["counterfeits"]
        assert printed["surest"] <= 1 / 3
        shown = list(csv.reader((out / "release.csv").open(newline="")))
        assert shown[0] == ["group", "age", "town", "ill"]
        assert not any(p in line for p in people for line in shown)
        kept = json.loads(state.read_text())["signatures"]
        assert all(kept[p] == signature for p, signature in seen.items())
        seen = kept
    assert state.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("tampered", "check"),
    [
        ({"release.csv": ("1,20,N,a", "1,20,N,b")}, "distinct"),
        ({"release.csv": ("1,20,N,a\n", "")}, "size"),
        ({"release.csv": ("1,20,N,a", "1,20,N,c")}, "values"),
        ({"release.csv": ("1,20,N,a", "1,30,N,a")}, "boxes"),
        ({"counterfeits.csv": ("1,0", "1,1")}, "counterfeits"),
        ({}, "signatures"),
        ({}, "persons"),
    ],
)
def test_what_is_tampered_with_is_found(tampered: dict[str, tuple[str, str]], check: str) -> None:
    files = {"release.csv": "group,age,town,ill\n1,20,N,a\n1,20,N,b\n"}
    files["counterfeits.csv"] = "group,counterfeits\n1,0\n"
    private = {"p": (["20", "N"], "a"), "q": (["20", "N"], "b")}
    group_of, before = {"p": "1", "q": "1"}, {"p": ("b", "a")}
    assert all(c.holds for c in republication_checks(files, private, group_of, before, 2))
    for name, (was, now) in tampered.items():
        assert was in files[name]
        files[name] = files[name].replace(was, now)
    if check == "signatures":
        before = {"p": ("a", "c")}
    if check == "persons":
        private["r"] = (["20", "N"], "a")
    found = republication_checks(files, private, group_of, before, 2)
    assert check in [c.name for c in found if not c.holds]


@pytest.mark.parametrize(
    ("content", "more", "why", "status"),
    [
        ("id,q,s\n1,a,x\n2,a,y\n", {"--m": "1"}, "m is 1", 1),
        ("id,q,s\n1,a,x\n2,a,y\n", {"--quasi": "who"}, "lacks 'who'", 1),
        ("id,q,s\n1,a,x\n2,a,y\n", {"--quasi": "q,q"}, "named twice", 1),
        ("id,q,s\n1,a,x\n1,a,y\n", {}, "several rows", 1),
        ("id,q,s\n1,a,x\n2,a,x\n", {}, "there are 1", 2),
        ("id,q,s\n1,a,\n2,a,x\n", {}, "miss 's'", 1),
        ("id,q,s\n1,a,x\n2,a,y\n", {"--state": "{}"}, "keeps no signatures", 1),
        (
            "id,q,s\n1,a,x\n2,a,y\n",
            {
                "--state": '{"format": 1, "person": "id", "sensitive": "s", "quasi": ["q"], "m": 3,'
                ' "releases": 1, "signatures": {}}'
            },
            "another 'm'",
            1,
        ),
    ],
)
def test_bad_input_is_refused(
    content: str,
    more: dict[str, str],
    why: str,
    status: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data, state = tmp_path / "data.csv", tmp_path / "state.json"
    data.write_text(content)
    if "--state" in more:
        state.write_text(more.pop("--state"))
    text = {"--data": str(data), "--person": "id", "--sensitive": "s", "--quasi": "q", "--m": "2"}
    text |= {"--state": str(state), "--out": str(tmp_path / "out")} | more
    assert main(["republish", *(word for pair in text.items() for word in pair)]) == status
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
