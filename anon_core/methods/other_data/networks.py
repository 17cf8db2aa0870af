"""k-degree anonymity of a network by new vertices, and what someone finds who knows a degree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from anon_core.base.errors import Infeasible, NotVerified
from anon_core.verification.other_data import network_checks

Edge = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Network:
    """An undirected, simple network.

    Attributes
    ----------
    names : tuple of str
        Of the vertices, by their number.
    edges : tuple of pairs of int
        Each with the smaller number first.
    loops, repeats : int
        Lines that were dropped when it was read.
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    loops: int = 0
    repeats: int = 0

    def degrees(self) -> list[int]:
        """Return how many edges each vertex has."""
        found = [0] * len(self.names)
        for one, other in self.edges:
            found[one] += 1
            found[other] += 1
        return found


def read_edges(lines: Iterable[tuple[str, str]], people: Iterable[str] = ()) -> Network:
    """Return the network of an edge list; loops and repeats are dropped and counted.

    Parameters
    ----------
    people : iterable of str
        Everyone, those without an edge included.
    """
    number: dict[str, int] = {}
    for name in people:
        number.setdefault(name, len(number))
    edges: dict[Edge, None] = {}
    loops = repeats = 0
    for pair in lines:
        one, other = (number.setdefault(name, len(number)) for name in pair)
        edge = min(one, other), max(one, other)
        if one == other:
            loops += 1
        elif edge in edges:
            repeats += 1
        else:
            edges[edge] = None
    return Network(names=tuple(number), edges=tuple(edges), loops=loops, repeats=repeats)


# Someone who knows how many ties a person has.


@dataclass(frozen=True, kw_only=True)
class DegreeAttack:
    """What a known degree finds.

    Attributes
    ----------
    unique : int
        People whose degree no other vertex has.
    mean : Fraction
        Mean chance of the people: one in the vertices of their degree.
    least : int
        The fewest people of one degree; vertices that were added do not count.
    """

    unique: int
    mean: Fraction
    least: int


def degree_attack(degrees: Sequence[int], people: int) -> DegreeAttack:
    """Attack the first `people` vertices by their published degrees."""
    having, own = Counter(degrees), Counter(degrees[:people])
    chances = [Fraction(1, having[d]) for d in degrees[:people]]
    return DegreeAttack(
        unique=sum(chance == 1 for chance in chances),
        mean=sum(chances, Fraction(0)) / people,
        least=min(own.values()),
    )


def label_classes(network: Network, labels: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return each vertex's label with those of its neighbours, which someone may know as well."""
    near: defaultdict[int, list[str]] = defaultdict(list)
    for one, other in network.edges:
        near[one].append(labels[other])
        near[other].append(labels[one])
    return [(label, tuple(sorted(near[v]))) for v, label in enumerate(labels)]


# Degrees that everyone shares with k − 1 others.


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The degree that each vertex is to reach.

    Attributes
    ----------
    of : tuple of int
    largest : int
        The largest increase.
    total : int
    """

    of: tuple[int, ...]
    largest: int
    total: int


def targets(degrees: Sequence[int], k: int, *, by_total: bool = False) -> Targets:
    """Return targets of groups of k to 2k − 1 neighbours in the order of degrees.

    The least possible largest increase comes first, then the least total; with `by_total` only the
    total counts, as in Liu and Terzi (2008), whose targets may be no network's degrees.

    Raises
    ------
    Infeasible
        If there are fewer than k vertices.
    """
    if len(degrees) < k:
        raise Infeasible(
            f"Degrees shared by {k} people need as many; there are {len(degrees)}.",
            remedy="Use a smaller k.",
            best=float(len(degrees)),
            best_of="people",
        )
    order = sorted(range(len(degrees)), key=lambda v: (-degrees[v], v))
    ranked = [degrees[v] for v in order]
    size = len(ranked)
    none = size * (max(ranked) + 1) + 1

    def least_total(bound: int) -> list[tuple[int, int]]:
        """Return, for each first so many, the least total and the size of the last group."""
        found = [(0, 0)] + [(none, 0)] * size
        for end in range(k, size + 1):
            for group in range(k, min(2 * k - 1, end) + 1):
                begin = end - group
                high = ranked[begin]
                if found[begin][0] >= none or high - ranked[end - 1] > bound:
                    continue
                total = found[begin][0] + high * group - sum(ranked[begin:end])
                if total < found[end][0]:
                    found[end] = total, group
        return found

    bound = none
    if not by_total:
        largest = [0] + [none] * size
        for end in range(k, size + 1):
            for group in range(k, min(2 * k - 1, end) + 1):
                most = max(largest[end - group], ranked[end - group] - ranked[end - 1])
                largest[end] = min(largest[end], most)
        bound = largest[size]
    found = least_total(bound)
    reached = list(degrees)
    end = size
    while end:
        begin = end - found[end][1]
        for vertex in order[begin:end]:
            reached[vertex] = ranked[begin]
        end = begin
    increases = [r - d for r, d in zip(reached, degrees, strict=True)]
    return Targets(of=tuple(reached), largest=max(increases), total=sum(increases))


def is_graphical(degrees: Sequence[int]) -> bool:
    """Say whether some network has these degrees (Erdős and Gallai 1960)."""
    ranked = sorted(degrees, reverse=True)
    return sum(ranked) % 2 == 0 and all(
        sum(ranked[:n]) <= n * (n - 1) + sum(min(d, n) for d in ranked[n:])
        for n in range(1, len(ranked) + 1)
    )


@dataclass(frozen=True, kw_only=True)
class Grown:
    """A network with new vertices.

    Attributes
    ----------
    network : Network
        The people keep their numbers; new vertices follow, with empty names.
    common : int
        The degree that all new vertices have; 0 where there are none.
    """

    network: Network
    common: int


def with_new_vertices(network: Network, k: int) -> Grown:
    """Add vertices until each degree of a person is that of k people (Chester et al. 2013).

    Every new edge has a new vertex at an end, so that ties among people are neither made nor lost.

    1. Degrees, descending, form groups; each is to reach the largest of its group.
    2. What people lack is dealt to new vertices in turn: as many as the largest lack, k at least,
       and one more where parity asks for it.
    3. New vertices are joined until all have one degree.

    Raises
    ------
    Infeasible
        If there are fewer than k people.
    """
    degrees = network.degrees()
    aim = targets(degrees, k)
    if not aim.total:
        return Grown(network=network, common=0)
    people, lack = len(degrees), [t - d for t, d in zip(aim.of, degrees, strict=True)]
    new = max(aim.largest, k)
    new += new % 2 == 0 and aim.total % 2 == 1
    # 2. In turn, so that new degrees differ by one at most.
    order = sorted((v for v in range(people) if lack[v]), key=lambda v: (-degrees[v], v))
    edges = list(network.edges)
    taken, turn = [0] * new, 0
    for vertex in order:
        for _ in range(lack[vertex]):
            edges.append((vertex, people + turn))
            taken[turn] += 1
            turn = (turn + 1) % new
    # 3. The neighbours of one who lacks most are those who lack most (Havel and Hakimi).
    common = -(-aim.total // new)
    common += (new * common - aim.total) % 2
    left = {v: common - own for v, own in enumerate(taken)}
    while any(left.values()):
        first, *others = sorted(left, key=lambda v: (-left[v], v))
        for other in others[: left[first]]:
            left[other] -= 1
            edges.append((people + min(first, other), people + max(first, other)))
        left[first] = 0
    names = (*network.names, *([""] * new))
    return Grown(network=Network(names=names, edges=tuple(edges)), common=common)


def accused(degrees: Sequence[int], people: int, common: int) -> Fraction:
    """Return the chance that a vertex of the new ones' degree is a new one."""
    having = [v for v, d in enumerate(degrees) if d == common]
    return Fraction(sum(v >= people for v in having), max(len(having), 1))


def renamed(network: Network, order: Sequence[int]) -> tuple[list[Edge], Mapping[int, int]]:
    """Return edges under numbers from 1, ascending, and the number of each vertex.

    Parameters
    ----------
    order : sequence of int
        All vertices, in an order that was drawn.
    """
    number = {vertex: place for place, vertex in enumerate(order, start=1)}
    pairs = ((number[one], number[other]) for one, other in network.edges)
    return sorted((min(pair), max(pair)) for pair in pairs), number


@dataclass(frozen=True, kw_only=True)
class PublishedNetwork:
    """A network that hides degrees, recomputed from its text.

    Attributes
    ----------
    text : str
        The published edge list.
    names : mapping of str to str
        Person → published number, which only the one who publishes may know.
    before, after : DegreeAttack
    guess : Fraction
        Chance that a vertex of the new ones' degree is a new one.
    """

    text: str
    names: Mapping[str, str]
    grown: Grown
    before: DegreeAttack
    after: DegreeAttack
    guess: Fraction


def publish(
    network: Network, lines: Iterable[tuple[str, str]], k: int, drawn: Callable[[list[int]], None]
) -> PublishedNetwork:
    """Return a network in which each degree is that of k people, verified.

    Parameters
    ----------
    lines : iterable of pairs of str
        The edge list that the network was read from.
    drawn : callable
        Puts vertices in an order by chance: a number must not disclose who is new.

    Raises
    ------
    Infeasible
        If there are fewer than k people.
    NotVerified
        If the second computation does not confirm it.
    """
    grown, people = with_new_vertices(network, k), len(network.names)
    degrees = grown.network.degrees()
    order = list(range(len(degrees)))
    drawn(order)
    edges, number = renamed(grown.network, order)
    text = "one,other\n" + "".join(f"{one},{other}\n" for one, other in edges)
    names = {network.names[v]: str(number[v]) for v in range(people)}
    ties = {frozenset(pair) for pair in lines if pair[0] != pair[1]}
    broken = [c.sentence for c in network_checks(text, ties, names, k) if not c.holds]
    if broken:
        raise NotVerified(
            f"Verification failed: {' '.join(broken)} Nothing was released.",
            remedy="Please report it; this is an error of the workbench.",
        )
    return PublishedNetwork(
        text=text,
        names=names,
        grown=grown,
        before=degree_attack(network.degrees(), people),
        after=degree_attack(degrees, people),
        guess=accused(degrees, people, grown.common),
    )
