"""Pseudonyms and shifted dates: values computed by a library and by hand, through a whole run."""

from __future__ import annotations

import datetime
import hashlib
import io
import itertools
import re
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from anon_core.base.errors import AnonError, BadInput, BadPlan
from anon_core.data.table import Dataset
from anon_core.methods.changes import keyed
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.rows.changes import ff1

KEY = bytes(range(32))
SEED = "f3a1952b7c08de4609b8c7d6e5f4a3b2109b8c7d6e5f4a3b2177e01c5a9d2b4f"


def published(
    table: dict[str, list[str | None]],
    changes: list[dict[str, Any]],
    *,
    key: bytes = KEY,
    roles: dict[str, Any] | None = None,
) -> pd.DataFrame:
    """Carry out a run with the changes and return what it publishes, in the order of the rows.

    Everyone is alike in `q`. A last row next to them is left out of what is returned.
    """
    more = {
        name: [*cells, "987654321" if name == "id" else cells[-1]] for name, cells in table.items()
    }
    rows = len(next(iter(more.values())))
    fixed_columns = {"q": ["a"] * rows, "row": [f"{n:03}" for n in range(rows)]}
    frame = pd.DataFrame({**more, **fixed_columns}, dtype="str")
    named = roles or {"identifier": [n for one in changes for n in one["columns"]]}
    plan = Plan.from_mapping(
        {
            "seed": SEED,
            "roles": {
                "identifier": [],
                "sensitive": [],
                "insensitive": ["row"],
                "quasi": ["q"],
                **named,
            },
            "algorithm": {"name": "fixed-levels", "levels": {"q": 0}},
            "models": [{"name": "k-anonymity", "k": 2}],
            "changes": changes,
        }
    )
    result = run(replace(plan, key=key), Dataset.from_frame(frame), assess=False)
    assert result.verification.holds
    (file,) = (content for name, content in result.files.items() if name.endswith(".csv"))
    made = pd.read_csv(io.BytesIO(file), dtype="str", keep_default_na=False)
    return made.sort_values("row").iloc[:-1].reset_index(drop=True)


def pseudonyms(values: list[str], **settings: Any) -> list[str]:
    """Return what the values are published as, each by itself: rows are put in an order."""
    change = {"name": "pseudonym", "columns": ["id"], "domain": "patient", **settings}
    return [published({"id": [value]}, [change])["id"][0] for value in values]


def test_l01_a_keyed_pseudonym() -> None:
    assert keyed.message("pseudonym/1", "patient", "0123").hex() == (
        "0000000b70736575646f6e796d2f310000000770617469656e740000000430313233"
    )
    assert pseudonyms(["0123", "123"]) == ["ta62ypwo6bv5xnn5", "tu3pyc5mystrxenc"]


def test_l02_normal_forms_and_blanks_are_one_value_and_case_is_kept() -> None:
    names = ["René  M.", "Rene\u0301 M. ", "RENÉ M."]
    assert pseudonyms(names) == ["h6xypbb4rtpvtl25", "h6xypbb4rtpvtl25", "suo6qlnutq56q2rx"]
    assert pseudonyms(names, fold_case=True) == ["gmytf5ffq4auiekr"] * 3


def test_l03_domains_and_keys_separate() -> None:
    change = {"name": "pseudonym", "columns": ["id"], "domain": "employee"}
    assert published({"id": ["0123"]}, [change])["id"][0] == "ec7xvghywvo7r6ud"
    other = published({"id": ["0123"]}, [change | {"domain": "patient"}], key=bytes(range(1, 33)))
    assert other["id"][0] == "b2z5x5j6jinw5h32"


def test_l04_fields_do_not_run_into_each_other() -> None:
    assert "a" + "bc" == "ab" + "c"
    assert keyed.message("a", "bc") != keyed.message("ab", "c")


@pytest.mark.parametrize("digits", ["", "736563726574", "00" * 31, "00" * 33, "0" * 63, "zz" * 32])
def test_l05_a_key_has_exactly_32_bytes(digits: str) -> None:
    with pytest.raises(BadPlan, match="of 64 hexadecimal digits") as refused:
        keyed.parse_key(digits)
    assert not digits or digits not in str(refused.value)


def test_l05_keys_of_other_lengths_would_act_alike() -> None:
    import hmac

    alike = [("736563726574", "73656372657400")]
    alike.append(("00" * 65, "98ce42deef51d40269d542f5314bef2c7468d401ad5d85168bfab4c0108f75f7"))
    for one, other in alike:
        made = [hmac.new(bytes.fromhex(k), b"m", hashlib.sha256).digest() for k in (one, other)]
        assert made[0] == made[1]
    for wrong in (KEY[:31], KEY + b"\0", b"secret"):
        with pytest.raises(BadPlan, match="64 hexadecimal"):
            published({"id": ["a"]}, [{"name": "pseudonym", "columns": ["id"]}], key=wrong)


def test_l06_the_bound_on_collisions_holds_and_80_bits_are_enough() -> None:
    n, size = 4, 16
    alike = sum(len(set(drawn)) < n for drawn in itertools.product(range(size), repeat=n))
    assert Fraction(alike, size**n) == Fraction(683, 2048) <= Fraction(n * (n - 1), 2 * size)
    least = {10_000: 60, 1_000_000: 70, 100_000_000: 85}
    for rows, bits in least.items():
        enough = [t for t in range(5, 130, 5) if Fraction(rows * (rows - 1), 2 ** (t + 1)) <= 1e-9]
        assert enough[0] == bits
    offered = {p.name: p.options for p in _pseudonym().parameters()}["bits"]
    assert {60, 70, 80, 100} <= set(map(int, offered))


def _pseudonym() -> Any:
    from anon_core.base.registry import find

    return find("change", "pseudonym")


def test_l06_two_values_with_one_pseudonym_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.techniques.changes.pseudonym.pseudonym", lambda *_, **__: "same")
    with pytest.raises(BadInput, match="the same pseudonym"):
        published({"id": ["a", "b"]}, [{"name": "pseudonym", "columns": ["id"]}])


def test_l07_an_unkeyed_hash_is_undone_and_a_pseudonym_is_none() -> None:
    wanted = "3c7c7de6d5b7a01573616c308f8cc35144db986cfeb9728a4aab9d581e747b95"
    tries = (f"{n:06}" for n in range(1_000_000))
    assert next(t for t in tries if hashlib.sha256(t.encode()).hexdigest() == wanted) == "042137"
    change = {"name": "pseudonym", "columns": ["id"]}
    with pytest.raises(BadPlan, match="secret key"):
        published({"id": ["042137"]}, [change], key=b"")


FF1_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")


@pytest.mark.parametrize(
    ("tweak", "expected"), [("", "2433477484"), ("39383736353433323130", "6124200773")]
)
def test_l88_ff1_gives_the_samples_of_its_standard(tweak: str, expected: str) -> None:
    pytest.importorskip("ffx", reason="the extra 'ff1' is not installed")
    cipher = keyed.ff1(FF1_KEY, keyed.ALPHABETS["digits"])
    assert cipher.encrypt("0123456789", tweak=bytes.fromhex(tweak)) == expected
    made = ff1(FF1_KEY, range(10), 10, bytes.fromhex(tweak))
    assert "".join(map(str, made)) == expected


@pytest.mark.parametrize(
    ("value", "settings"),
    [
        ("123-45 6789", {}),
        ("0" * 40, {}),
        ("DE12 XY", {"alphabet": "capital"}),
        ("de12 XY", {"alphabet": "small", "fold_case": True}),
        ("zz9plural", {"alphabet": "small"}),
    ],
)
def test_l88_a_kept_form_is_that_of_the_value_and_its_key_decrypts(
    value: str, settings: dict[str, Any]
) -> None:
    pytest.importorskip("ffx", reason="the extra 'ff1' is not installed")
    signs = keyed.ALPHABETS[settings.get("alphabet", "digits")]
    (made,) = pseudonyms(
        [value], form="kept", **settings
    )  # which the second computation makes again
    plain = keyed.normalised(value, fold=settings.get("fold_case", False))
    assert [c if c not in signs else "" for c in made] == [
        c if c not in signs else "" for c in plain
    ]
    assert made != plain
    back = keyed.ff1(KEY, signs).decrypt("".join(c for c in made if c in signs), tweak=b"patient")
    assert back == "".join(c for c in plain if c in signs)
    (other,) = pseudonyms([value], form="kept", **settings | {"domain": "employee"})
    assert other != made


@pytest.mark.parametrize(
    ("value", "settings", "why"),
    [
        ("12345", {}, "fewer than 10^6 of their form, 6 signs"),
        ("a12", {"alphabet": "small"}, "fewer than 10^6 of their form, 4 signs"),
        ("12345678x", {}, "beyond the alphabet 'digits': 1"),
        ("ÄB123456", {"alphabet": "capital"}, "beyond the alphabet 'capital': 1"),
        ("12345678", {"bits": "60"}, "no length in bits"),
        ("12345678", {"form": "code", "alphabet": "small"}, "an alphabet of their own"),
    ],
)
def test_l88_small_forms_and_signs_that_would_stay_are_refused(
    value: str, settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(AnonError, match=re.escape(why)) as refused:
        pseudonyms([value], **{"form": "kept"} | settings)
    assert value not in str(refused.value)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ffx", None)
    with pytest.raises(AnonError, match=r"anonymity-workbench\[ff1\]"):
        pseudonyms(["12345678"], form="kept")


def test_a_kept_form_needs_the_key_of_32_bytes() -> None:
    change = {"name": "pseudonym", "columns": ["id"], "form": "kept"}
    with pytest.raises(BadPlan, match="64 hexadecimal"):
        published({"id": ["12345678"]}, [change], key=FF1_KEY)


def test_l08_a_pseudonym_leaves_rows_per_person() -> None:
    rows = {"a": 3, "b": 2, "c": 1, "d": 1}
    values: list[str | None] = [name for name, count in rows.items() for _ in range(count)]
    table = _joined({"id": values}, [{"name": "pseudonym", "columns": ["id"]}])
    counts = Counter(Counter(table["id"]).values())
    named = [n for n, count in rows.items() if counts[count] == 1]
    assert named == ["a", "b"]


def _joined(table: dict[str, list[str | None]], changes: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the columns as they are changed, promising nothing."""
    from anon_core.data.roles.roles import Roles
    from anon_core.pipeline.changes import changed

    frame = Dataset.from_frame(pd.DataFrame(table, dtype="str"))
    plan = Plan.from_mapping(
        {
            "roles": {"identifier": ["id"], "quasi": [], "sensitive": [], "insensitive": []},
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": 2}],
            "changes": changes,
        }
    )
    plan = replace(plan, key=KEY)
    object.__setattr__(plan, "models", ())
    found, roles = changed(plan, frame)
    assert isinstance(roles, Roles)
    assert roles.shown == ("id",)
    return found.frame()


def test_pseudonyms_that_join_rows_refuse_a_promise_about_rows() -> None:
    with pytest.raises(BadPlan, match="join the rows of one person"):
        published({"id": ["a", "a", "b"]}, [{"name": "pseudonym", "columns": ["id"]}])


def test_a_missing_identifier_stays_missing() -> None:
    table = published({"id": ["a", None, None]}, [{"name": "pseudonym", "columns": ["id"]}])
    assert list(table["id"])[1:] == ["", ""]
    assert table["id"][0]


def test_a_constant_says_the_same_everywhere_missing_values_too() -> None:
    table = published({"id": ["a", None, "b"]}, [{"name": "constant", "columns": ["id"]}])
    assert list(table["id"]) == ["*"] * 3


DATES = {"p1": ["2024-01-15", "2024-02-29", "2024-12-31"], "p2": ["2024-01-15"]}


def shifted(rows: dict[str, list[str]], **settings: Any) -> dict[str, list[str]]:
    """Return each person's dates as published, persons known by an exact column."""
    found: dict[str, list[str]] = {}
    for who, dates in rows.items():
        table: dict[str, list[str | None]] = {
            "id": [who] * len(dates),
            "day": list(dates),
        }
        change = {"name": "date-shift", "columns": ["day"], "by": "id", "days": 182, **settings}
        roles = {"identifier": ["id"], "sensitive": ["day"]}
        found[who] = list(published(table, [change], roles=roles)["day"])
    return found


def test_l09_dates_are_shifted_by_the_persons_own_offset() -> None:
    made = shifted(DATES)
    assert made == {"p1": ["2024-04-19", "2024-06-03", "2025-04-05"], "p2": ["2023-12-04"]}
    days = [datetime.date.fromisoformat(d) for d in made["p1"]]
    assert [(b - a).days for a, b in itertools.pairwise(days)] == [45, 306]
    offsets = {p: keyed.offset(KEY, "person", p, 182, weeks=True) for p in DATES}
    assert offsets == {"p1": -49, "p2": -140}


def test_l09_the_notation_and_the_time_of_day_stay() -> None:
    assert shifted({"p1": ["15.01.2024"]})["p1"] == ["19.04.2024"]
    assert shifted({"p1": ["2024-01-15 13:45"]})["p1"] == ["2024-04-19 13:45"]


def test_l10_a_known_study_window_gives_offsets_away() -> None:
    left: dict[int, list[int]] = {}
    for day, offset in itertools.product(range(1, 32), range(-10, 11)):
        left.setdefault(day + offset, []).append(offset)
    expected = {day: [min(o), max(o), len(o)] for day, o in left.items()}
    assert [expected[day] for day in (39, 20, -8)] == [[8, 10, 3], [-10, 10, 21], [-10, -9, 2]]
    # So the offset of somebody seen at an edge is among few; what the class says of it:
    from anon_core.base.registry import find

    assert "window" in str(vars(find("change", "date-shift"))["leaves"])


def test_l11_intervals_stay_and_link() -> None:
    begin = datetime.date(2024, 3, 1)
    days = {"p1": [0, 14, 51], "p2": [0, 14, 50], "p3": [3, 17, 53]}
    dates = {p: [str(begin + datetime.timedelta(n)) for n in own] for p, own in days.items()}
    made = shifted(dates)
    patterns = {
        p: tuple(
            (datetime.date.fromisoformat(b) - datetime.date.fromisoformat(a)).days
            for a, b in itertools.pairwise(own)
        )
        for p, own in made.items()
    }
    assert patterns == {"p1": (14, 37), "p2": (14, 36), "p3": (14, 36)}
    assert [p for p, own in patterns.items() if Counter(patterns.values())[own] == 1] == ["p1"]


def test_offsets_are_uniform_over_the_whole_range() -> None:
    drawn = Counter(keyed.offset(KEY, "person", str(n), 2) for n in range(5000))
    assert sorted(drawn) == [-2, -1, 0, 1, 2]
    assert all(abs(count - 1000) < 150 for count in drawn.values())


@pytest.mark.parametrize(
    ("settings", "dates", "why"),
    [
        ({"days": 0}, ["2024-01-15"], "'days'"),
        ({"days": 6, "weeks": True}, ["2024-01-15"], "no whole week"),
        ({}, ["2024-01", "2024-02"], "not whole dates"),
        ({"days": 36_500}, ["9999-12-31", "0001-01-01"], "1 to 9999"),
        ({"by": ""}, ["2024-01-15"], "no column says whose row it is"),
    ],
)
def test_bad_shifts_are_refused(settings: dict[str, Any], dates: list[str], why: str) -> None:
    with pytest.raises(AnonError, match=why):
        shifted({"p1": dates, "p2": dates}, **settings)


def test_a_date_without_a_person_is_refused() -> None:
    change = {"name": "date-shift", "columns": ["day"], "by": "id"}
    roles = {"identifier": ["id"], "sensitive": ["day"]}
    with pytest.raises(BadInput, match="whose date it is"):
        published({"id": ["a", None], "day": ["2024-01-15"] * 2}, [change], roles=roles)


def test_the_key_stands_in_no_recipe_and_in_no_repr() -> None:
    plan = Plan.from_mapping(
        {
            "roles": {"identifier": ["id"], "quasi": ["q"], "sensitive": [], "insensitive": []},
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": 2}],
            "changes": [{"name": "pseudonym", "columns": ["id"]}],
        }
    )
    held = replace(plan, key=KEY)
    for text in (held.as_toml(), repr(held), held.as_recipe_for_others()):
        assert KEY.hex() not in text
        assert repr(KEY)[2:20] not in text
    assert Plan.from_toml(held.as_toml()).key == b""
