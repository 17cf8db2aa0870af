"""Networks: worked examples, Zachary's karate club, and random graphs."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import Infeasible
from anon_core.methods.other_data.networks import (
    Edge,
    Network,
    accused,
    degree_attack,
    label_classes,
    publish,
    read_edges,
    renamed,
    with_labelled_vertices,
    with_new_vertices,
)
from anon_core.methods.other_data.shared_degrees import is_graphical, targets
from anon_core.verification.other_data import network_checks


def of(size: int, edges: Sequence[Edge]) -> Network:
    return Network(names=tuple(map(str, range(size))), edges=tuple(edges))


STAR = of(5, [(0, 1), (0, 2), (0, 3), (0, 4)])
# Zachary 1977, An information flow model for conflict and fission in small groups.
TIES = """0: 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31; 1: 2 3 7 13 17 19 21 30
2: 3 7 8 9 13 27 28 32
3: 7 12 13; 4: 6 10; 5: 6 10 16; 6: 16; 8: 30 32 33; 9: 33; 13: 33; 14: 32 33; 15: 32 33
18: 32 33; 19: 33; 20: 32 33; 22: 32 33; 23: 25 27 29 32 33; 24: 25 27 31; 25: 31; 26: 29 33
27: 33; 28: 31 33; 29: 32 33; 30: 32 33; 31: 32 33; 32: 33"""
KARATE = of(
    34,
    [
        (int(line.partition(":")[0]), int(other))
        for line in TIES.replace("\n", ";").split(";")
        for other in line.partition(":")[2].split()
    ],
)


def test_l76_an_edge_list_is_read_as_simple_and_what_is_dropped_is_counted() -> None:
    found = read_edges([("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"), ("a", "b")])
    assert [(found.names[a], found.names[b]) for a, b in found.edges] == [("a", "b"), ("b", "c")]
    assert (found.loops, found.repeats) == (1, 2)
    assert read_edges([("a", "b")], ["z", "b"]).degrees() == [0, 1, 1]


def new_edges(found: Network, was: Network) -> list[Edge]:
    return [edge for edge in found.edges if edge not in was.edges]


def test_l77_vertex_addition_on_a_star() -> None:
    assert STAR.degrees() == [4, 1, 1, 1, 1]
    assert targets(STAR.degrees(), 2).largest == 3
    found = with_new_vertices(STAR, 2)
    assert new_edges(found.network, STAR) == [(1, 5), (1, 6), (1, 7)]
    assert found.network.degrees() == [4, 4, 1, 1, 1, 1, 1, 1]
    assert found.common == 1


def test_l78_vertex_addition_on_a_second_graph() -> None:
    graph = of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (1, 4)])
    assert graph.degrees() == [1, 4, 2, 3, 2]
    found = with_new_vertices(graph, 2)
    assert new_edges(found.network, graph) == [(3, 5), (0, 6)]
    assert found.network.degrees() == [2, 4, 2, 4, 2, 1, 1]


def test_l79_a_class_that_new_vertices_fill_hides_one_person() -> None:
    degrees = of(6, [*STAR.edges, (1, 5), (2, 5), (3, 5), (4, 5)]).degrees()
    assert degrees == [4, 2, 2, 2, 2, 4]
    assert min(Counter(degrees).values()) == 2
    assert degree_attack(degrees, 5).least == 1


def parts(size: int, k: int) -> list[list[int]]:
    """Return every sequence of group sizes from k to 2k − 1."""
    if size == 0:
        return [[]]
    return [[one, *rest] for one in range(k, min(2 * k, size + 1)) for rest in parts(size - one, k)]


def test_l80_liu_and_terzi_solve_another_problem() -> None:
    found = targets([4, 1, 1, 1, 1], 2, by_total=True)
    assert (found.total, found.of) == (3, (4, 4, 1, 1, 1))
    assert not is_graphical(found.of)


@pytest.mark.parametrize("seed", range(4))
def test_targets_are_the_best_of_all_partitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(10):
        size, k = int(rng.integers(4, 10)), int(rng.integers(2, 4))
        degrees = sorted(rng.integers(0, 9, size).tolist(), reverse=True)
        costs = []
        for sizes in parts(size, k):
            ends = [0, *itertools.accumulate(sizes)]
            lack = [degrees[a] - d for a, b in itertools.pairwise(ends) for d in degrees[a:b]]
            costs.append((max(lack), sum(lack)))
        found = targets(degrees, k)
        assert (found.largest, found.total) == min(costs)
        assert targets(degrees, k, by_total=True).total == min(total for _, total in costs)


def test_l81_two_neighbouring_numbers_are_always_a_graphs_degrees() -> None:
    sequences = [
        [low + 1] * more + [low] * (m - more)
        for m in range(1, 8)
        for low in range(m)
        for more in range(m + 1)
        if low + bool(more) <= m - 1 and (m * low + more) % 2 == 0
    ]
    assert len(sequences) == 78
    assert all(map(is_graphical, sequences))
    assert not is_graphical([3, 3, 1, 1])


def test_l82_the_karate_club_before_and_after() -> None:
    degrees = KARATE.degrees()
    assert len(KARATE.edges) == 78
    counts = {1: 1, 2: 11, 3: 6, 4: 6, 5: 3, 6: 2, 9: 1, 10: 1, 12: 1, 16: 1, 17: 1}
    assert Counter(degrees) == counts
    before = degree_attack(degrees, 34)
    assert (before.unique, before.mean) == (6, Fraction(11, 34))
    for k, vertices, edges, least, mean in (
        (2, 3, 8, 3, "10/51"),
        (3, 5, 15, 5, "61/374"),
        (5, 9, 26, 8, "11/85"),
    ):
        found = with_new_vertices(KARATE, k).network
        assert len(found.names) - 34 == vertices
        assert len(found.edges) - 78 == edges
        assert targets(degrees, k).largest == least
        after = degree_attack(found.degrees(), 34)
        assert (after.least >= k, after.unique) == (True, 0)
        assert min(Counter(found.degrees()).values()) == k
        assert after.mean == Fraction(mean)


def test_l83_new_vertices_share_one_degree() -> None:
    found = with_new_vertices(KARATE, 2)
    degrees = found.network.degrees()
    assert found.common == 3
    assert degrees.count(3) == 9
    assert degrees[34:] == [3, 3, 3]
    assert accused(degrees, 34) == Fraction(1, 3)


def test_l84_labels_of_neighbours() -> None:
    graph, labels = of(4, [(0, 2), (0, 3), (1, 2)]), ["x", "x", "y", "y"]
    assert min(Counter(label_classes(graph, labels)).values()) == 1
    grown, everyone = with_labelled_vertices(graph, labels, 2)
    new = new_edges(grown.network, graph)
    assert {(one, everyone[other]) for one, other in new} == {(1, "y"), (3, "x")}
    assert sorted(everyone[4:]) == ["x", "y"]
    assert min(Counter(label_classes(grown.network, everyone)[:4]).values()) == 2


@pytest.mark.parametrize("seed", range(4))
def test_random_labels_with_those_of_neighbours_are_shared(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grew = 0
    for _ in range(12):
        size, k = int(rng.integers(6, 16)), int(rng.integers(2, 4))
        pairs = itertools.combinations(range(size), 2)
        graph = of(size, [pair for pair in pairs if rng.random() < 0.3])
        labels = [*"abc" * k, *rng.choice(list("abc"), size).tolist()][:size]
        if min(Counter(labels).values()) < k:
            with pytest.raises(Infeasible, match="of the rarest label there are"):
                with_labelled_vertices(graph, labels, k)
            continue
        grown, everyone = with_labelled_vertices(graph, labels, k)
        found = grown.network
        assert everyone[:size] == labels
        assert len({*found.edges}) == len(found.edges)
        assert [e for e in found.edges if e[1] < size] == list(graph.edges)
        near: dict[int, list[str]] = {v: [] for v in range(len(everyone))}
        for one, other in found.edges:
            near[one].append(everyone[other])
            near[other].append(everyone[one])
        alike = Counter((labels[v], *sorted(near[v])) for v in range(size))
        assert min(alike.values()) >= k
        # As many new vertices of a label as someone got neighbours of it.
        given = Counter((a, everyone[b]) for a, b in found.edges if b >= size)
        assert Counter(everyone[size:]) == {
            label: max(n for (_, own), n in given.items() if own == label)
            for label in {own for _, own in given}
        }
        grew += len(everyone) > size
    assert grew > 4


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs_keep_their_ties_and_share_degrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grown = 0
    for _ in range(16):
        size, k = int(rng.integers(4, 14)), int(rng.integers(2, 5))
        pairs = itertools.combinations(range(size), 2)
        graph = of(size, [pair for pair in pairs if rng.random() < 0.3])
        if size < k:
            continue
        found = with_new_vertices(graph, k).network
        assert len({*found.edges}) == len(found.edges)
        assert all(one < other for one, other in found.edges)
        assert [e for e in found.edges if e[1] < size] == list(graph.edges)
        new = len(found.names) - size
        assert new <= max(targets(graph.degrees(), k).largest, k) + 1
        assert degree_attack(found.degrees(), size).least >= k
        assert min(Counter(found.degrees()).values()) >= k
        grown += new > 0
    assert grown > 5


# ---- the command ---------------------------------------------------------------------------------


def test_the_karate_club_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "ties.csv"
    data.write_text("a,b\n" + "".join(f"p{a},p{b}\n" for a, b in KARATE.edges) + "p1,p1\np1,p0\n")
    assert main(["network", str(data), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (
        printed["people"],
        printed["ties"],
        printed["loops_dropped"],
        printed["repeats_dropped"],
    ) == (
        34,
        78,
        1,
        1,
    )
    assert printed["before"] == {"unique": 6, "mean": "11/34", "least": 1}
    out, names = tmp_path / "out", tmp_path / "names.csv"
    given = ["network", str(data), "--k", "2", "--out", str(out), "--names", str(names)]
    assert main([*given, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["new_vertices"], printed["new_edges"], printed["accusation"]) == (3, 8, "1/3")
    assert printed["after"]["mean"] == "10/51"
    text = (out / "edges.csv").read_text()
    assert "p" not in text
    number = dict(csv.reader(names.open(newline="")))
    number.pop("name")
    assert names.stat().st_mode & 0o077 == 0
    ties = {frozenset((f"p{a}", f"p{b}")) for a, b in KARATE.edges}
    assert all(c.holds for c in network_checks({"edges.csv": text}, ties, number, 2))
    # Numbers are drawn: new vertices are not the last ones every time.
    people = set(map(int, number.values()))
    drawn = {tuple(sorted({*range(1, 38)} - people))}
    for _ in range(2):
        assert main(given) == 0
        people = set(map(int, list(dict(csv.reader(names.open(newline=""))).values())[1:]))
        drawn.add(tuple(sorted({*range(1, 38)} - people)))
    assert len(drawn) > 1
    assert "Neighbourhoods" in capsys.readouterr().out


@pytest.mark.parametrize("check", ["edges", "ties", "degrees"])
def test_what_is_tampered_with_is_found(check: str) -> None:
    grown = with_new_vertices(STAR, 2).network
    edges, number = renamed(grown, range(8))
    ties = {frozenset((str(a), str(b))) for a, b in STAR.edges}
    names = {str(v): str(number[v]) for v in range(5)}
    lines = [f"{a},{b}" for a, b in edges]

    def broken(lines: list[str]) -> list[str]:
        text = "\n".join(["one,other", *lines]) + "\n"
        found = network_checks({"edges.csv": text}, ties, names, 2)
        return [c.name for c in found if not c.holds]

    assert not broken(lines)
    changed = {"edges": [*lines, lines[0]], "ties": [*lines, "3,4"], "degrees": lines[:-1]}
    assert check in broken(changed[check])


def test_labels_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """L-84: two people of each label, one alone by those of neighbours, and then none."""
    data, said, out = tmp_path / "ties.csv", tmp_path / "labels.csv", tmp_path / "out"
    data.write_text("a,b\n0,2\n0,3\n1,2\n")
    said.write_text("who,label\n0,x\n1,x\n2,y\n3,y\n")
    given = ["network", str(data), "--labels", str(said), "--json"]
    assert main(given) == 0
    assert json.loads(capsys.readouterr().out)["before"] == {"unique": 4, "mean": "1", "least": 1}
    names = tmp_path / "names.csv"
    assert main([*given, "--k", "2", "--out", str(out), "--names", str(names)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["new_vertices"], printed["new_edges"], printed["recognised"]) == (2, 2, 2)
    assert printed["after"] == {"unique": 0, "mean": "1/2", "least": 2}
    _, *rows = csv.reader((out / "labels.csv").open(newline=""))
    assert sorted(label for _, label in rows) == list("xxxyyy")
    assert [number for number, _ in rows] == list("123456")
    of_person = dict(csv.reader(names.open(newline="")))
    shown = {row[0]: row[1] for row in rows}
    assert [shown[of_person[n]] for n in "0123"] == list("xxyy")
    assert main([*given, "--k", "3", "--out", str(tmp_path / "more")]) == 2


def test_labels_that_are_tampered_with_are_found() -> None:
    label_of = dict(zip("0123", "xxyy", strict=True))
    lines = [("0", "2"), ("0", "3"), ("1", "2")]
    made = publish(read_edges(lines, label_of), lines, 2, list.reverse, label_of)
    ties = {frozenset(pair) for pair in lines}

    def broken(labels: str) -> list[str]:
        files = {**made.files, "labels.csv": labels}
        found = network_checks(files, ties, made.names, 2, label_of)
        return [c.name for c in found if not c.holds]

    own = made.files["labels.csv"]
    assert not broken(own)
    assert "labels" in broken(own.replace("x", "z"))
    assert "labels" in broken(own.rsplit("\n", 2)[0])  # someone has none
    _, *rows = csv.reader(own.splitlines())
    new = [number for number, _ in rows if number not in made.names.values()]
    swapped = [f"{n},{'xy'[label == 'x']}" if n in new else f"{n},{label}" for n, label in rows]
    assert broken("\n".join(["number,label", *swapped])) == ["degrees"]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ("w,l\nx,1\n", "People without a label: 1"),
        ("w,l\nx,1\ny,1\nx,2\n", "with two labels in labels.csv: 1"),
        ("w,l\nx,1\ny,\n", "Missing values of 'l' of labels.csv: 1"),
        ("w\nx\n", "2 are needed"),
    ],
)
def test_bad_labels_are_refused(
    labels: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ties.csv").write_text("a,b\nx,y\n")
    Path("labels.csv").write_text(labels)
    assert main(["network", "ties.csv", "--labels", "labels.csv"]) == 1
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "more", "why", "status"),
    [
        ("a,b\nx,y\n", ["--k", "2"], "belong together", 1),
        ("a,b\nx,y\n", ["--k", "1", "--out", "out"], "hides no one", 1),
        ("a,b\nx,y\n", ["--k", "3", "--out", "out"], "there are 2", 2),
        ("a,b\nx,\ny,z\n", [], "Missing values of 'b' of ties.csv: 1", 1),
        ("a\nx\n", [], "2 are needed", 1),
    ],
)
def test_bad_networks_are_refused(
    content: str,
    more: list[str],
    why: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ties.csv").write_text(content)
    assert main(["network", "ties.csv", *more]) == status
    assert why in capsys.readouterr().err
    assert not Path("out").exists()


def test_too_few_people() -> None:
    with pytest.raises(Infeasible) as refused:
        targets([1, 1], 3)
    assert refused.value.best == 2
