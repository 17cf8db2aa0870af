"""A leak that is planted for an attack is found by it, and not in a table of the same shape.

Both tables go through a whole run, and what is looked at is the run's JSON. In tables about a
sensitive column the control holds the same values in every column: only who has which is dealt
again. In the others one person, or the public table, is like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.data.table import Dataset
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.release.ground_truth import truth_of
from tests.making import Case

Found = Mapping[str, Any]
Rows = Sequence[tuple[str, ...]]
#: Promises that the leaky tables keep as well: what is planted is what they do not speak of.
ONE_COLUMN = {"name": "k-anonymity", "k": 2, "columns": ["a"]}
ILLNESSES = {"f": "flu", "c": "cold", "u": "ulcer", "o": "colic"}
KINDS = [(v, "lung" if v in ("flu", "cold") else "stomach", "*") for v in ILLNESSES.values()]


def by_people(found: Found) -> float:
    """Return the share of people who are at risk."""
    return found["at_risk"] / found["attempted"]


def by_rate(found: Found) -> float:
    """Return how much more often the attack is right than a guess without the release."""
    return found["rate"] - found["baseline"]


def beyond_control(found: Found) -> float:
    """Return what is learned of this table, and does not hold of other people."""
    return found["corrected"]


def beyond_group(found: Found) -> float:
    """Return how much more often it is right than naming the commonest value of each group."""
    ways = {row["guess"]: row["right"] for row in found["details"][0]["rows"]}
    return ways["deFinetti"] - ways["commonest value of the group"]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A table with the leak that an attack is made for, and one of the same shape without it.

    Attributes
    ----------
    leak, control : sequence of tuples of str
        Rows of both tables; the last column is sensitive where `sensitive` says so.
    people : int
        How many of the first rows of the leaky table are exposed: exactly these are hit.
    figure : callable
        From the attack's JSON to what is planted, 0 where there is none.
    least : float
        What the leak shows at least; without it less than a quarter of that is shown.
    weights, weights_control : sequence of str
        Weights of the rows of a survey.
    parameters : mapping
        What the attack is parameters.
    """

    leak: Rows
    control: Rows
    people: int = 0
    figure: Callable[[Found], float] = by_people
    least: float = 0.05
    sensitive: bool = False
    algorithm: Mapping[str, Any] = field(default_factory=dict[str, Any])
    promise: Mapping[str, Any] = field(default_factory=lambda: ONE_COLUMN)
    public: Rows = ()
    public_control: Rows = ()
    earlier: Rows = ()
    earlier_control: Rows = ()
    weights: Sequence[str] = ()
    weights_control: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def attacked(
        self, name: str, rows: Rows, public: Rows, earlier: Rows, weights: Sequence[str]
    ) -> tuple[Found, set[int]]:
        """Publish a table; return what the attack found, and the classes of the first people."""
        columns = tuple("ab")
        quasi = columns[:1] if self.sensitive else columns
        case = Case(
            columns={
                **{n: [row[i] for row in rows] for i, n in enumerate(columns)},
                **({"w": list(weights)} if weights else {}),
            },
            quasi=quasi,
            sensitive=columns[len(quasi) :],
            weight="w" if weights else "",
            kinds={**dict.fromkeys(columns, "text"), **({"w": "number"} if weights else {})},
        )
        as_it_is = {"name": "fixed-levels", "levels": dict.fromkeys(quasi, 0)}
        result = run(
            case.plan(
                algorithm=self.algorithm or as_it_is,
                models=[self.promise],
                attacks=[{"name": name, **self.parameters}],
                **({"earlier": {"file": "earlier.csv"}} if earlier else {}),
            ),
            case.dataset,
            {"b": KINDS} if self.sensitive else {},
            population=people_of(public, case) if public else None,
            earlier=people_of(earlier, case) if earlier else None,
        )
        (found,) = (a for a in figures_of(result)["attacks"] if a["name"] == name)
        places = truth_of(result.problem, result.release).places
        keys = result.problem.frequency.row_key[: self.people]
        return found, set(places.group[np.isin(places.key, keys)].tolist())


def people_of(rows: Rows, case: Case) -> Dataset:
    """Return a public table with the columns of a case."""
    frame = pd.DataFrame(rows, columns=list(case.columns), dtype=object)
    return Dataset.from_frame(frame, kinds=case.kinds)


def classes(*values: str) -> list[tuple[str, str]]:
    """Return rows of a class for each text, one row for each of its letters."""
    return [(f"class {n}", ILLNESSES[v]) for n, text in enumerate(values) for v in text]


def dealt(depends: bool) -> list[tuple[str, str]]:
    """Return 100 people of whom each age goes with one illness, or with all by their shares."""
    shares = dict(zip(ILLNESSES.values(), (4, 3, 2, 1), strict=True))
    ages = [(f"age {n}", m) for n, m in enumerate(shares.values())]
    if depends:
        return [(a, ill) for (a, m), ill in zip(ages, shares, strict=True) for _ in range(10 * m)]
    return [(a, ill) for a, m in ages for ill, n in shares.items() for _ in range(m * n)]


# One person alone in her row, where everybody else has five doubles; or one of the doubles.
TWINS = [*[("x", "p")] * 6, *[("y", "q")] * 6]
ALONE, ONE_OF_SEVEN = [("x", "q"), *TWINS], [("x", "p"), *TWINS]
SINGLED_OUT = Planted(leak=ALONE, control=ONE_OF_SEVEN, people=1)
EACH_ALONE = [(f"v{n // 2}", f"w{n % 2}") for n in range(12)]
SECRET = replace(SINGLED_OUT, sensitive=True, promise={"name": "k-anonymity", "k": 6})

LEAKS: Mapping[str, Planted] = {
    # Five of six have the value that half of everyone have.
    "attribute-inference": replace(
        SECRET,
        leak=classes("fffffc", "cccccf"),
        control=classes("fffccc", "fffccc"),
        people=0,
        figure=by_rate,
        least=0.3,
    ),
    # Anyone who is known not to have the one value of a class has the other.
    "background": replace(
        SECRET,
        leak=classes("fffccc", "fcuofcuo"),
        control=classes("fcuofc", "ffccfcuo"),
        people=6,
        least=0.4,
    ),
    # An earlier class shares one value with hers; in the control all of them.
    "composition": replace(
        SECRET,
        leak=classes("fffccc", "uuuooo"),
        control=classes("fffccc", "uuuooo"),
        people=3,
        least=0.25,
        earlier=classes("fffuuu"),
        earlier_control=classes("fffccc"),
    ),
    # An earlier class has one value in common with hers, and one row of it.
    "correspondence": replace(
        SECRET,
        leak=classes("ffcccc", "uuuooo"),
        control=classes("ffcccc", "uuuooo"),
        people=2,
        earlier=classes("fooooo"),
        earlier_control=classes("ffcccc"),
    ),
    # Each value goes with one age, in groups that hold several of both.
    "definetti": replace(
        SECRET,
        leak=dealt(depends=True),
        control=dealt(depends=False),
        people=0,
        figure=beyond_group,
        least=0.3,
        algorithm={"name": "anatomy"},
        promise={"name": "frequency-l-diversity", "l": 2},
    ),
    # Four rows of four values: any two alike would have been published; in the control two are.
    "downcoding": replace(
        SINGLED_OUT,
        leak=[(v, "p") for v in "wxyz"],
        control=[(v, "p") for v in "wwxx"],
        people=4,
        algorithm={"name": "cell-suppression", "transformation": "CG", "method": "exact"},
        promise={"name": "k-anonymity", "k": 2},
    ),
    # A group could hold one combination only; in the control four, of which two are fake.
    "fake-tuples": replace(
        SINGLED_OUT,
        leak=[("x", "p")] * 8,
        control=[("x", "p"), ("y", "q")] * 4,
        people=8,
        least=1.0,
        algorithm={"name": "one-attribute-slicing"},
        promise={"name": "bucket-size", "k": 8},
    ),
    # A class has one value.
    "homogeneity": replace(
        SECRET,
        leak=classes("ffffff", "ccccuo"),
        control=classes("fffccu", "fffcco"),
        people=6,
        least=0.5,
    ),
    # A row that no other is like represents herself alone; in the control a thousand people.
    "individual-risk": replace(
        SINGLED_OUT,
        control=ALONE,
        weights=["1", *["100"] * 12],
        weights_control=["1000", *["100"] * 12],
    ),
    # One row fits one person of the population; in the control six.
    "journalist": replace(
        SINGLED_OUT, control=ALONE, public=ALONE, public_control=[*ALONE, *ALONE[:1] * 5]
    ),
    # What goes with what holds of the table, and of nobody else.
    "learn-and-infer": replace(
        SECRET,
        leak=dealt(depends=True),
        control=dealt(depends=False),
        people=0,
        figure=beyond_control,
        least=0.5,
        public=[*dealt(depends=True), *dealt(depends=False)],
        public_control=dealt(depends=False) * 2,
    ),
    # A person is alone in what is known of her.
    "linking": replace(SINGLED_OUT, parameters={"columns": ["a", "b"]}),
    # Every row leads to one person of the register; in the control none to fewer than all.
    "marketer": replace(
        SINGLED_OUT,
        leak=EACH_ALONE,
        control=EACH_ALONE[:1] * 12,
        people=12,
        figure=by_rate,
        least=0.5,
        parameters={"threshold": 0.1},
    ),
    # The same, where how many people fit is taken from both columns as well.
    "log-linear": replace(
        SINGLED_OUT,
        control=ALONE,
        weights=["1", *["100"] * 12],
        weights_control=["1000", *["100"] * 12],
    ),
    # A class holds everybody of the public table who fits it; in the control half of them.
    "membership": replace(
        SINGLED_OUT,
        leak=[*[("x", "p")] * 2, *TWINS[6:]],
        control=[*[("x", "p")] * 2, *TWINS[6:]],
        people=2,
        public=[*[("x", "p")] * 2, *TWINS[6:] * 2],
        public_control=[*[("x", "p")] * 4, *TWINS[6:] * 2],
    ),
    # The true value is much likelier in a person's class than in the table.
    "probabilistic": replace(
        SECRET,
        leak=classes("ffffff", "cccccc"),
        control=classes("fffccc", "fffccc"),
        people=12,
        least=1.0,
    ),
    # A row agrees with one person far better than with all others.
    "probabilistic-linkage": SINGLED_OUT,
    # Two of five share an age, and had a class of their own but for having the same illness.
    "minimality": replace(
        SECRET,
        leak=[("x", "flu"), ("x", "flu"), ("y", "cold"), ("y", "ulcer"), ("y", "colic")],
        control=[("x", "flu"), ("x", "cold"), ("y", "flu"), ("y", "ulcer"), ("y", "colic")],
        people=2,
        algorithm={"name": "optimal"},
        promise={"name": "l-diversity", "l": 2},
    ),
    "prosecutor": SINGLED_OUT,
    # A class holds different values of one kind.
    "similarity": replace(
        SECRET,
        leak=classes("fffccc", "uuuoof"),
        control=classes("ffcuuo", "ffccuo"),
        people=6,
        least=0.5,
    ),
    # With one row to spare two rows of a class must differ, or levels had stayed as they were.
    "refinement": replace(
        SINGLED_OUT,
        leak=[("x", "q"), ("y", "q"), ("x", "p"), ("x", "p"), ("y", "p")],
        control=[("x", "q"), ("x", "q"), ("x", "q"), ("y", "q"), ("y", "p")],
        people=2,
        algorithm={"name": "datafly", "max_suppression": 0.2},
        promise={"name": "k-anonymity", "k": 2},
        parameters={"few": 1},
    ),
    # Classes hold the only people of a large population who fit; in the control one in a hundred.
    "singling-out": replace(
        SINGLED_OUT,
        leak=EACH_ALONE,
        control=EACH_ALONE,
        people=12,
        least=1.0,
        public=[*EACH_ALONE, *[("z", "z")] * 1200],
        public_control=EACH_ALONE * 100,
    ),
    # Three of four have what one in four of everyone has.
    "skewness": replace(
        SECRET,
        leak=classes("ffffffcu", "ffcccccccccuuuuuuuuuuuuu"),
        control=classes("ffcccuuu", "ffffffcccccccuuuuuuuuuuu"),
        people=8,
        least=0.2,
    ),
    # No column tells her apart, and two together do.
    "special-uniques": replace(SINGLED_OUT, parameters={"size": 2}),
    "uniqueness": replace(SINGLED_OUT, parameters={"size": 2}),
}


def shipped() -> list[str]:
    """Return the attacks of the shelf; others, such as one's own, may have no entry.

    Those on changed values have their leaks in tests/golden/test_attacks_on_changed_values.py.
    """
    return [
        n
        for n, kind in family("attack").items()
        if kind.__module__.startswith("anon_core.") and not cast(type[Attack], kind).needs.changed
    ]


@pytest.mark.parametrize("name", shipped())
def test_a_planted_leak_is_found_and_its_control_is_not(name: str) -> None:
    assert name in LEAKS, (
        f"'{name}' has no planted leak: add an entry to LEAKS in "
        "tests/contract/test_planted_leaks.py, a table with the leak "
        "that the attack is made for and one of the same shape without it."
    )
    planted = LEAKS[name]
    assert len(planted.leak) == len(planted.control)
    if planted.sensitive:
        for mine, theirs in zip(
            zip(*planted.leak, strict=True), zip(*planted.control, strict=True), strict=True
        ):
            assert sorted(mine) == sorted(theirs)

    found, classes_of = planted.attacked(
        name, planted.leak, planted.public, planted.earlier, planted.weights
    )
    assert planted.figure(found) >= planted.least
    if planted.people:
        assert found["at_risk"] == planted.people
        assert set(found["classes_hit"]) == classes_of

    other, _ = planted.attacked(
        name,
        planted.control,
        planted.public_control,
        planted.earlier_control,
        planted.weights_control,
    )
    assert abs(planted.figure(other)) <= planted.least / 4
    assert other["rate"] < found["rate"]
    if planted.people:
        assert not other["at_risk"]
        assert not other["classes_hit"]


def test_every_planted_leak_is_of_an_attack() -> None:
    assert set(LEAKS) <= set(family("attack"))
