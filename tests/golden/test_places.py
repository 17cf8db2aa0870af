"""Cloaked places: worked examples by the command, and random ones against plain twins."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.__main__ import main
from anon_core.methods.other_data import places as cloaks
from anon_core.methods.other_data.places import Box, Place, Request
from anon_core.verification.other_data import cloak_checks


@pytest.fixture
def cloaked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Carry the command out, and return what it says of one method."""

    def carry_out(rows: Mapping[str, tuple[Any, ...]], method: str, *more: str) -> dict[str, Any]:
        data = tmp_path / "places.csv"
        head = ["person", "x", "y", "k", "tolerance"][: 1 + len(next(iter(rows.values())))]
        lines = [",".join(map(str, (name, *own))) for name, own in rows.items()]
        data.write_text("\n".join([",".join(head), *lines]) + "\n")
        given = ["cloak", str(data), "--method", method, *more, "--json", "--show-values"]
        assert main(given) == 0, capsys.readouterr().err
        printed = json.loads(capsys.readouterr().out)
        assert printed["people"] == len(rows)
        return dict(printed["methods"][method])

    return carry_out


def sent(settings: dict[str, Any]) -> dict[tuple[str, ...], list[str]]:
    return {tuple(one["box"]): one["people"] for one in settings["senders"]}


def test_l71_the_whole_area_is_sent_by_one_of_three_people_in_it(cloaked: Any) -> None:
    users = {"A": (1, 1), "B": (3, 3), "C": (6, 6)}
    answer = cloaked(users, "quadtree", "--k", "2", "--area", "0,0,8,8")
    quarter, whole = ["0", "0", "4", "4"], ["0", "0", "8", "8"]
    assert answer["cloaks"] == {"A": quarter, "B": quarter, "C": whole}
    assert sent(answer)[tuple(whole)] == ["C"]
    assert (answer["fewest_senders"], answer["fewest_inside"]) == (1, 2)
    assert (answer["boxes_of_one_sender"], answer["exposed"]) == (1, 1)
    assert answer["mean_chance"] == "2/3"  # a half, a half and 1


def test_l72_runs_along_a_curve_are_reciprocal(cloaked: Any) -> None:
    users = {name: (place, 0) for place, name in enumerate("abcdefg")}
    answer = cloaked(users, "reciprocal", "--k", "3")
    assert sorted(sent(answer).values()) == [["a", "b", "c"], ["d", "e", "f", "g"]]
    assert (answer["fewest_senders"], answer["exposed"]) == (3, 0)


def test_l73_the_box_of_nearest_neighbours_has_one_sender(cloaked: Any) -> None:
    users = {"a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (10, 0)}
    answer = cloaked(users, "nearest", "--k", "2")
    reach = {name: (int(box[0]), int(box[2])) for name, box in answer["cloaks"].items()}
    assert reach == {"a": (0, 1), "b": (0, 1), "c": (1, 2), "d": (2, 10)}
    assert sent(answer)["2", "0", "10", "0"] == ["d"]


def test_l74_a_pyramid_from_below(cloaked: Any) -> None:
    users = {"A": (0, 0), "B": (1, 0), "C": (2, 2), "D": (6, 6)}
    answer = cloaked(users, "pyramid", "--k", "2", "--area", "0,0,8,8", "--levels", "3")
    low = ["0", "0", "2", "1"]
    expected = {"A": low, "B": low, "C": ["0", "0", "4", "4"], "D": ["0", "0", "8", "8"]}
    assert answer["cloaks"] == expected
    assert sent(answer)["0", "0", "8", "8"] == ["D"]


CLIQUES = {"r1": (0, 0, 2, 3), "r2": (2, 0, 2, 3), "r3": (3, 1, 3, 3), "r4": (9, 9, 2, 3)}


def test_l75_cliques_within_tolerances(cloaked: Any) -> None:
    asked = {n: _asked(*map(Fraction, own)) for n, own in CLIQUES.items()}
    every = (c for size in range(1, 5) for c in itertools.combinations(asked, size))
    valid = [c for c in every if cloaks.is_clique([asked[n] for n in c])]
    assert valid == [("r1", "r2"), ("r1", "r2", "r3")]
    answer = cloaked(CLIQUES, "cliques")
    assert sent(answer) == {("0", "0", "3", "1"): ["r3", "r2", "r1"]}
    assert (answer["expired"], answer["exposed"]) == (1, 0)
    assert "r4" not in answer["cloaks"]
    two = {n: own for n, own in CLIQUES.items() if n != "r3"}
    assert sent(cloaked(two, "cliques")) == {("0", "0", "2", "0"): ["r1", "r2"]}


def _asked(x: Fraction, y: Fraction, k: Fraction, tolerance: Fraction) -> Request:
    return Request(at=(x, y), k=int(k), tolerance=tolerance)


# ---- plain twins: each person's box is found alone, from the definition --------------------------


def within(box: Box, place: Place) -> bool:
    return box[0] <= place[0] < box[2] and box[1] <= place[1] < box[3]


def halves(low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    return [(low, (low + high) / 2), ((low + high) / 2, high)]


def plain_quadtree(places: dict[str, Place], name: str, k: int, area: Box, levels: int) -> Box:
    box = area
    for _ in range(levels):
        quarters = itertools.product(halves(box[0], box[2]), halves(box[1], box[3]))
        (own,) = (
            (x[0], y[0], x[1], y[1])
            for x, y in quarters
            if within((x[0], y[0], x[1], y[1]), places[name])
        )
        if sum(within(own, p) for p in places.values()) < k:
            break
        box = own
    return box


def plain_pyramid(places: dict[str, Place], name: str, k: int, area: Box, levels: int) -> Box:
    path = [area]  # the cells that hold the person, from above
    for _ in range(levels):
        x, y = halves(path[-1][0], path[-1][2]), halves(path[-1][1], path[-1][3])
        cells = [(a[0], b[0], a[1], b[1]) for a in x for b in y]
        path.append(next(cell for cell in cells if within(cell, places[name])))

    def count(box: Box) -> int:
        return sum(within(box, p) for p in places.values())

    for level in range(levels, -1, -1):
        cell = path[level]
        if count(cell) >= k or not level:
            return cell
        parent = path[level - 1]
        across = parent[0], cell[1], parent[2], cell[3]
        along = cell[0], parent[1], cell[2], parent[3]
        enough = [box for box in (across, along) if count(box) >= k]
        if enough:
            return min(enough, key=count)
    raise AssertionError


def plain_nearest(places: dict[str, Place], name: str, k: int) -> Box:
    x, y = places[name]
    others = sorted(
        (n for n in places if n != name),
        key=lambda n: ((places[n][0] - x) ** 2 + (places[n][1] - y) ** 2, places[n], n),
    )
    return hull([places[n] for n in [name, *others[: k - 1]]])


def hull(places: list[Place]) -> Box:
    x, y = zip(*places, strict=True)
    return min(x), min(y), max(x), max(y)


def drawn(rng: np.random.Generator, most: int = 16) -> dict[str, Place]:
    number = int(rng.integers(3, 12))
    return {
        f"p{n}": (Fraction(int(x), 2), Fraction(int(y), 2))
        for n, (x, y) in enumerate(rng.integers(0, most, (number, 2)))
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_box_is_that_of_a_plain_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    area = Fraction(0), Fraction(0), Fraction(8), Fraction(8)
    betrayed: Counter[str] = Counter()
    for _ in range(15):
        places, k, levels = drawn(rng), int(rng.integers(2, 4)), int(rng.integers(1, 5))
        asked = dict.fromkeys(places, k)
        made = {
            "quadtree": cloaks.quadtree(places, k, area, levels),
            "pyramid": cloaks.pyramid(places, k, area, levels),
            "nearest": cloaks.nearest(places, k),
            "reciprocal": cloaks.reciprocal(places, k, levels=levels),
        }
        for name in places:
            assert made["quadtree"][name] == plain_quadtree(places, name, k, area, levels)
            assert made["pyramid"][name] == plain_pyramid(places, name, k, area, levels)
            assert made["nearest"][name] == plain_nearest(places, name, k)
        for method, boxes in made.items():
            assert boxes.keys() == places.keys()
            attack = cloaks.inversion_attack(boxes, places, asked)
            assert attack.inside >= k  # what seems to protect
            own = {n: sum(boxes[m] == boxes[n] for m in places) for n in places}
            assert attack.least == min(own.values())
            assert attack.exposed == sum(number < k for number in own.values())
            assert attack.mean == sum(Fraction(1, n) for n in own.values()) / len(places)
            betrayed[method] += attack.exposed
        runs = Counter(made["reciprocal"].values())
        assert len(runs) <= len(places) // k
    assert betrayed["reciprocal"] == 0
    assert min(betrayed[m] for m in ("quadtree", "pyramid", "nearest")) > 0


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_hilberts_curve_goes_from_cell_to_neighbour(levels: int) -> None:
    size = 2**levels
    cells = list(itertools.product(range(size), range(size)))
    index = {(x, y): cloaks.hilbert_index(x, y, levels) for x, y in cells}
    order = sorted(cells, key=index.__getitem__)
    assert sorted(index.values()) == list(range(size**2))
    assert order[0] == (0, 0)
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in itertools.pairwise(order))


@pytest.mark.parametrize("seed", range(3))
def test_cliques_are_valid_and_no_clique_expires(seed: int) -> None:
    rng = np.random.default_rng(seed)
    served = expired = 0
    for _ in range(15):
        asked = {
            n: _asked(*at, Fraction(int(rng.integers(2, 4))), Fraction(int(rng.integers(1, 5))))
            for n, at in drawn(rng).items()
        }
        boxes = cloaks.cliques(asked)
        for box, people in cloaks.senders(boxes).items():
            own = [asked[n] for n in people]
            assert cloaks.is_clique(own)
            assert box == hull([r.at for r in own])
        left = [n for n in asked if n not in boxes]
        for size in range(2, len(left) + 1):
            for some in itertools.combinations(left, size):
                assert not cloaks.is_clique([asked[n] for n in some])
        served, expired = served + len(boxes), expired + len(left)
    assert served > 20
    assert expired > 20


def test_large_coordinates_are_exact() -> None:
    far = 10**14
    places = {n: (Fraction(far + x), Fraction(0)) for n, x in (("a", 0), ("b", 1), ("c", 3))}
    places["d"] = Fraction(0), Fraction(0)
    assert cloaks.nearest(places, 2)["c"] == (far + 1, 0, far + 3, 0)


# ---- what is published --------------------------------------------------------------------------


def test_only_boxes_that_k_people_could_have_sent_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("who,x,y\nann,1,1.50\nbob,3,3\ncid,6,6\n")
    given = ["cloak", "t.csv", "--k", "2", "--out", "out"]
    assert main([*given, "--method", "quadtree", "--area", "0,0,8,8", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["best"] == 1
    assert not Path("out").exists()
    assert main([*given, "--method", "reciprocal", "--names", "names.csv"]) == 0
    assert Path("out/cloaks.csv").read_text() == "left,lower,right,upper\n" + "1,1.5,6,6\n" * 3
    assert Path("names.csv").stat().st_mode & 0o077 == 0
    _, *rows = csv.reader(Path("names.csv").read_text().splitlines())
    assert rows[0] == ["ann", "1", "1.5", "6", "6"]
    assert main(["cloak", "t.csv", "--k", "2"]) == 0  # all that need no area
    said = capsys.readouterr().out
    assert "nearest: fewest people in a box 2; fewest who could have sent it 1" in said
    assert "--area" in said


PLACES = {"a": ("1", "1"), "b": ("2", "2"), "c": ("3", "9"), "d": ("4", "4")}
BOXES = {"a": ("1", "1", "2", "2"), "b": ("1", "1", "2", "2"), "c": ("3", "4", "4", "9")}


@pytest.mark.parametrize("check", ["", "rows", "order", "places", "senders"])
def test_what_is_tampered_with_is_found(check: str) -> None:
    boxes = {**BOXES, "d": BOXES["c"]}
    if check == "places":
        boxes["a"], boxes["c"] = boxes["c"], boxes["a"]
    if check == "senders":
        boxes["d"] = "3", "4", "4", "9.5"
    lines = sorted(map(",".join, boxes.values()))
    lines = {"rows": lines[:-1], "order": lines[::-1]}.get(check, lines)
    text = "\n".join(["left,lower,right,upper", *lines]) + "\n"
    found = cloak_checks(text, PLACES, boxes, dict.fromkeys(boxes, 2))
    assert [c.name for c in found if not c.holds] == [check] * bool(check)


T, Q = "who,x,y\na,1,1\nb,3,3\n", "who,x,y,k,t\na,1,1,2,3\nb,3,3,2,3\n"


@pytest.mark.parametrize(
    ("content", "more", "why", "status"),
    [
        (T, [], "--k is missing", 1),
        (T, ["--k", "1"], "hides no one", 1),
        (T, ["--k", "3"], "there are 2", 2),
        (T, ["--k", "2", "--out", "out"], "one method's", 1),
        (T, ["--k", "2", "--names", "n"], "belongs to --out", 1),
        (T, ["--k", "2", "--method", "pyramid"], "none is named", 1),
        (T, ["--k", "2", "--method", "nearest", "--levels", "3"], "no levels", 1),
        (T, ["--k", "2", "--levels", "0", "--area", "0,0,4,4"], "1 to 30", 1),
        (T, ["--k", "2", "--area", "0,0,3,4"], "outside the area: 1", 1),
        (T, ["--k", "2", "--area", "4,0,0,4"], "is empty", 1),
        (T, ["--k", "2", "--area", "0,0,4"], "four numbers", 1),
        (T, ["--method", "cliques"], "a k and a tolerance", 1),
        (T + "a,2,2\n", ["--k", "2"], "1 rows too many", 1),
        (T + "c,east,2\n", ["--k", "2"], "not numbers: 1", 1),
        (T + "c,,2\n", ["--k", "2"], "Missing values of 'x' of t.csv: 1", 1),
        ("who,x\na,1\n", ["--k", "2"], "has 2 columns", 1),
        (Q, ["--k", "2"], "only cliques", 1),
        (Q, ["--method", "nearest"], "only cliques", 1),
        (Q, ["--area", "0,0,8,8"], "no area", 1),
        (Q.replace("3,3,2,3", "3,3,1,3"), [], "k = 1", 1),
        (Q.replace("3,3,2,3", "3,3,2.5,3"), [], "k = 5/2", 1),
        (Q.replace("3,3,2,3", "3,3,2,-1"), [], "not negative", 1),
        (
            Q.replace("3,3,2,3", "30,3,2,3"),
            ["--method", "cliques", "--out", "out"],
            "No request",
            2,
        ),
    ],
)
def test_bad_places_are_refused(
    content: str,
    more: list[str],
    why: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(content)
    assert main(["cloak", "t.csv", *more]) == status
    assert why in capsys.readouterr().err
    assert not Path("out").exists()
