"""m-invariance: a table published again and again, each person among the same values each time."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadInput, BadPlan, Infeasible, NotVerified, listing
from anon_core.verification.other_data import republication_checks

Signature = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Member:
    """One person's row.

    Attributes
    ----------
    place : tuple
        What rows are put near each other by.
    """

    person: str
    value: str
    place: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InvariantGroup:
    """Persons who are published together.

    Attributes
    ----------
    signature : tuple of str
        Its values, each of which it has once, ascending.
    members : tuple of Member
    """

    signature: Signature
    members: tuple[Member, ...]

    @property
    def counterfeits(self) -> int:
        """Rows that are of no person."""
        return len(self.signature) - len(self.members)


@dataclass(eq=False)
class _Bucket:
    """Rows of one signature by value; None is a counterfeit."""

    rows: defaultdict[str, list[Member | None]] = field(default_factory=lambda: defaultdict(list))


def eligible(values: Mapping[str, int], m: int) -> bool:
    """Say whether rows can be parted into groups of m different values or more."""
    return max(values.values(), default=0) * m <= sum(values.values())


def counterfeits_needed(values: Mapping[str, int], m: int) -> int:
    """Return the fewest rows of other values after which rows can be so parted."""
    return max(m * max(values.values(), default=0) - sum(values.values()), 0)


def republished(
    members: Iterable[Member], before: Mapping[str, Signature], m: int, domain: Iterable[str] = ()
) -> list[InvariantGroup]:
    """Return groups of at least m different values, in which signatures stay (Xiao and Tao 2007).

    1. Division: persons who were published before, by their signature.
    2. Balancing: until it has each value of its signature equally often, a bucket takes new rows,
       where those that are left can still be parted, and counterfeits else.
    3. Assignment: the new rows that are left form groups of their m commonest values; the last few
       join groups that lack their value.
    4. Split: a bucket with each value h times becomes h groups of near rows.

    Parameters
    ----------
    before : mapping of str to tuple of str
        Signatures of everyone who was published before, those who are absent included.
    domain : iterable of str
        Further values that a counterfeit may have.

    Raises
    ------
    Infeasible
        If there are fewer than m different values.
    BadInput
        If a person occurs twice, or has a value that her signature lacks.
    """
    rows = sorted(members, key=lambda r: (r.place, r.person))
    _refuse(rows, before)
    values = {*domain, *(r.value for r in rows), *(v for s in before.values() for v in s)}
    if len(values) < m:
        raise Infeasible(
            f"Groups of {m} different values need as many; there are {len(values)}.",
            remedy="Use a smaller m.",
            best=float(len(values)),
            best_of="m",
        )
    # 1. Division.
    buckets: defaultdict[Signature, _Bucket] = defaultdict(_Bucket)
    new: defaultdict[str, list[Member]] = defaultdict(list)
    for row in rows:
        if row.person in before:
            buckets[before[row.person]].rows[row.value].append(row)
        else:
            new[row.value].append(row)
    # 2. Balancing.
    for signature, bucket in sorted(buckets.items()):
        often = max(map(len, bucket.rows.values()))
        for value in signature:
            while len(bucket.rows[value]) < often:
                left = Counter({v: len(own) - (v == value) for v, own in new.items()})
                takes = bool(new[value]) and eligible(left, m)
                bucket.rows[value].append(new[value].pop(0) if takes else None)
    # 3. Assignment.
    for signature, own in _assigned(new, values, m):
        for value, row in own.items():
            buckets[signature].rows[value].append(row)
    # 4. Split.
    return [
        group for signature in sorted(buckets) for group in _split(signature, buckets[signature])
    ]


def _refuse(rows: Sequence[Member], before: Mapping[str, Signature]) -> None:
    twice = sum(count > 1 for count in Counter(r.person for r in rows).values())
    if twice:
        raise BadInput(
            f"{twice:,} persons have several rows.",
            remedy="Use a table with one row a person.",
        )
    changed = sum(r.person in before and r.value not in before[r.person] for r in rows)
    if changed:
        raise BadInput(
            f"{changed:,} persons have a value that they were not published among; m-invariance "
            "covers no values that change.",
            remedy="Publish them under a new pseudonym of the person, or leave them out.",
        )


def _assigned(
    new: Mapping[str, Sequence[Member]], values: Iterable[str], m: int
) -> list[tuple[Signature, dict[str, Member | None]]]:
    """Return groups of new rows, each value once in a group."""
    left: dict[str, list[Member | None]] = {v: [*new.get(v, ())] for v in sorted(values)}
    for _ in range(counterfeits_needed({v: len(own) for v, own in left.items()}, m)):
        rarest = min(left, key=lambda v: (len(left[v]), v))
        left[rarest].append(None)
    groups: list[dict[str, Member | None]] = []
    while True:
        common = sorted((v for v in left if left[v]), key=lambda v: (-len(left[v]), v))[:m]
        if len(common) < m:
            break
        groups.append({v: left[v].pop(0) for v in common})
    for value, own in left.items():
        for row in own:  # one at most, as rows could be parted
            group = next(g for g in groups if value not in g)
            group[value] = row
    return [(tuple(sorted(group)), group) for group in groups]


def _split(signature: Signature, bucket: _Bucket) -> list[InvariantGroup]:
    """Return as many groups as the bucket has each value."""
    lines: list[list[Member | None]] = []
    for value in signature:
        rows = [r for r in bucket.rows[value] if r is not None]
        rows.sort(key=lambda r: (r.place, r.person))
        lines.append([*rows, *(None for _ in range(len(bucket.rows[value]) - len(rows)))])
    return [
        InvariantGroup(signature=signature, members=tuple(r for r in group if r is not None))
        for group in zip(*lines, strict=True)
        if any(r is not None for r in group)  # counterfeits alone hide no one
    ]


# Releases as files, and what the one who publishes keeps from one to the next.


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What is kept private between releases.

    Attributes
    ----------
    signatures : mapping of str to tuple of str
        Person → the values that she was published among.
    releases : int
        How many there were.
    terms : mapping of str to object
        Columns and m, which stay.
    """

    signatures: Mapping[str, Signature]
    releases: int
    terms: Mapping[str, Any]

    def as_json(self) -> str:
        """Return the file's text."""
        fields = {"format": 1, **self.terms, "releases": self.releases}
        return json.dumps({**fields, "signatures": self.signatures}, ensure_ascii=False) + "\n"


@dataclass(frozen=True, kw_only=True)
class Published:
    """One release.

    Attributes
    ----------
    files : mapping of str to str
    group_of : mapping of str to str
        Person → group, which only the one who publishes knows.
    surest : float
        The largest chance of anyone's value, over all releases.
    """

    files: Mapping[str, str]
    group_of: Mapping[str, str]
    state: Kept
    rows: int
    surest: float


@dataclass(frozen=True, kw_only=True)
class Republication:
    """What is published of a table each time."""

    person: str
    sensitive: str
    quasi: tuple[str, ...]
    m: int

    def __post_init__(self) -> None:
        """Refuse what cannot be published."""
        if self.m < 2:
            raise BadPlan(f"m is {self.m}; groups need 2 values or more.", remedy="Use m = 2.")
        if not self.quasi:
            raise BadPlan("No column that others know is named.", remedy="Name one or more.")

    @property
    def _terms(self) -> dict[str, Any]:
        return {
            "person": self.person,
            "sensitive": self.sensitive,
            "quasi": list(self.quasi),
            "m": self.m,
        }

    def read(self, path: Path) -> Kept:
        """Return what earlier releases left; nothing where there is no file.

        Raises
        ------
        BadInput
            If it is no such file, or was kept of other columns or another m.
        """
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return self.kept(text, str(path))

    def kept(self, text: str, path: str) -> Kept:
        """Return the same of a file's text; empty before the first release."""
        if not text:
            return Kept(signatures={}, releases=0, terms=self._terms)
        try:
            fields = json.loads(text)
            signatures = {p: tuple(map(str, s)) for p, s in fields.pop("signatures").items()}
            releases, form = int(fields.pop("releases")), fields.pop("format")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"{path} keeps no signatures of earlier releases.",
                remedy="Name the file that the first release wrote, or one that is not there yet.",
            ) from error
        if form != 1 or fields != self._terms:
            differ = [n for n in self._terms if fields.get(n) != self._terms[n]]
            raise BadInput(
                f"{path} was kept of releases with another {listing(differ) or 'format'}.",
                remedy="Publish with the same columns and the same m each time.",
            )
        return Kept(signatures=signatures, releases=releases, terms=fields)

    def publish(self, rows: Sequence[Mapping[str, str]], before: Kept) -> Published:
        """Return the next release of a table, recomputed from its files.

        Raises
        ------
        BadInput
            If a person or a value is missing, or as `republished` says.
        NotVerified
            If the second computation does not confirm it.
        """
        for name in (self.person, self.sensitive):
            gone = sum(not row[name] for row in rows)
            if gone or not rows:
                raise BadInput(
                    f"{gone:,} of {len(rows):,} rows miss '{name}'.",
                    remedy="Leave such rows out, and publish at least one.",
                )
        ranks = {n: _ranks([row[n] for row in rows]) for n in self.quasi}
        members = [
            Member(
                person=row[self.person],
                value=row[self.sensitive],
                place=(near([ranks[n][row[n]] for n in self.quasi]),),
            )
            for row in rows
        ]
        groups = republished(members, before.signatures, self.m)
        of = {row[self.person]: row for row in rows}
        boxed = sorted(
            (
                ([_cover([of[x.person][n] for x in g.members]) for n in self.quasi], g.signature, g)
                for g in groups
            ),
            key=lambda one: one[:2],
        )
        lines = [["group", *self.quasi, self.sensitive]]
        fakes = [["group", "counterfeits"]]
        group_of: dict[str, str] = {}
        for number, (box, signature, group) in enumerate(boxed, start=1):
            lines += [[str(number), *box, value] for value in signature]
            fakes.append([str(number), str(group.counterfeits)])
            group_of |= {x.person: str(number) for x in group.members}
        own = {x.person: g.signature for g in groups for x in g.members}
        signatures = {**before.signatures, **own}
        made = Published(
            files={"release.csv": _csv(lines), "counterfeits.csv": _csv(fakes)},
            group_of=group_of,
            state=Kept(
                signatures=dict(sorted(signatures.items())),
                releases=before.releases + 1,
                terms=self._terms,
            ),
            rows=len(lines) - 1,
            surest=1 / min(map(len, signatures.values())),
        )
        private = {r[self.person]: ([r[n] for n in self.quasi], r[self.sensitive]) for r in rows}
        checks = republication_checks(made.files, private, made.group_of, before.signatures, self.m)
        broken = [check.sentence for check in checks if not check.holds]
        if broken:
            raise NotVerified(
                f"Verification failed: {' '.join(broken)} Nothing was released.",
                remedy="Please report it; this is an error of the workbench.",
            )
        return made


def near(ranks: Sequence[float]) -> int:
    """Return the place of ranks, each from 0 to 1, along a curve that fills their space."""
    found = 0
    cells = [min(int(rank * 256), 255) for rank in ranks]
    for bit in range(7, -1, -1):
        for cell in cells:
            found = found << 1 | cell >> bit & 1
    return found


def _number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _ranks(texts: Sequence[str]) -> dict[str, float]:
    """Return where each text is among all, from 0 to 1: numbers by size, then others by letters."""
    every = sorted({*texts}, key=lambda t: (_number(t) is None, _number(t) or Decimal(0), t))
    return {text: place / max(len(every) - 1, 1) for place, text in enumerate(every)}


def _cover(texts: Sequence[str]) -> str:
    """Return a cell for all of a group: one value, a range of numbers, a set, or * for a gap."""
    every = sorted({*texts})
    if "" in every or any("," in text for text in every):
        return "*" if len(every) > 1 or "" in every else every[0]
    if len(every) == 1:
        return every[0]
    numbers = [_number(text) for text in every]
    sized = [(n, t) for n, t in zip(numbers, every, strict=True) if n is not None]
    if len(sized) == len(every):
        return f"[{min(sized)[1]}, {max(sized)[1]}]"
    return "{" + ", ".join(every) + "}"


def _csv(lines: Sequence[Sequence[str]]) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()
