"""Networks with new vertices: each number of ties, or labels of them, is that of k people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_core.base.errors import BadInput, NotVerified
from anon_core.methods.other_data import written
from anon_core.methods.other_data.shared_degrees import label_targets, targets
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


# Someone who knows how many ties a person has, or to whom by their labels.


@dataclass(frozen=True, kw_only=True)
class DegreeAttack:
    """What a known degree finds, or label with those of neighbours; a class has one in common.

    Attributes
    ----------
    unique : int
        People in whose class is no other vertex.
    mean : Fraction
        Mean chance of the people: one in the vertices of their class.
    least : int
        The fewest people of one class; vertices that were added do not count.
    """

    unique: int
    mean: Fraction
    least: int


def degree_attack(degrees: Sequence[Hashable], people: int) -> DegreeAttack:
    """Attack the first `people` vertices by their published degrees, or by `label_classes`."""
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


def with_labelled_vertices(
    network: Network, labels: Sequence[str], k: int
) -> tuple[Grown, list[str]]:
    """Add vertices until k people share each label with those of neighbours; return all labels.

    After Chester et al. (2013), who show that the fewest are hard to find; this is greedy. Of each
    label there are as many new vertices as someone lacks neighbours of it, at most; as before,
    every new edge has one of them at an end.

    Raises
    ------
    Infeasible
        If fewer than k people have some label.
    """
    place = {label: at for at, label in enumerate(sorted({*labels}))}
    of = np.array([place[label] for label in labels])
    near = np.zeros((len(labels), len(place)), dtype=np.int64)
    for one, other in network.edges:
        near[one, of[other]] += 1
        near[other, of[one]] += 1
    lack = label_targets(labels, near, k) - near
    edges, everyone = list(network.edges), list(labels)
    for label, at in place.items():
        first, new, turn = len(everyone), int(lack[:, at].max()), 0
        everyone += [label] * new
        for vertex in np.flatnonzero(lack[:, at]).tolist():
            for _ in range(int(lack[vertex, at])):
                edges.append((vertex, first + turn))
                turn = (turn + 1) % new
    names = (*network.names, *([""] * (len(everyone) - len(labels))))
    return Grown(network=Network(names=names, edges=tuple(edges)), common=0), everyone


def read_labels(lines: Iterable[tuple[str, str]], title: str) -> dict[str, str]:
    """Return everyone's label, of a list of persons and labels.

    Raises
    ------
    BadInput
        If a person has two labels.
    """
    found: dict[str, str] = {}
    twice = sorted({n for n, label in lines if found.setdefault(n, label) != label})
    if twice:
        raise BadInput(
            f"People with two labels in {title}: {len(twice):,}.",
            remedy="Give everyone one label.",
            values=twice,
        )
    return found


def accused(classes: Sequence[Hashable], people: int) -> Fraction:
    """Return the chance that a vertex is new that is in a class with a new one."""
    new = Counter(classes[people:])
    return Fraction(sum(new.values()), max(sum(own in new for own in classes), 1))


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
    """A network that hides degrees, or labels of neighbours too, recomputed from its text.

    Attributes
    ----------
    files : mapping of str to str
        What is published: the edge list, and labels where there are any.
    names : mapping of str to str
        Person → published number, which only the one who publishes may know.
    before, after : DegreeAttack
    guess : Fraction
        Chance that a vertex in a class with a new one is a new one.
    classes : sequence of hashables
        What others know of each vertex of the grown network.
    recognised : int
        New vertices in a class of fewer than k: no person is, so that they can be taken away.
    """

    files: Mapping[str, str]
    names: Mapping[str, str]
    grown: Grown
    before: DegreeAttack
    after: DegreeAttack
    guess: Fraction
    classes: Sequence[Hashable]
    recognised: int


def classes_of(network: Network, labels: Sequence[str] = ()) -> Sequence[Hashable]:
    """Return what others may know of each vertex: its degree, or with labels all of them."""
    return label_classes(network, labels) if labels else network.degrees()


def labels_of(network: Network, label_of: Mapping[str, str]) -> list[str]:
    """Return the labels of a network's people in their order.

    Raises
    ------
    BadInput
        If someone has none.
    """
    without = [name for name in network.names if name not in label_of]
    if without:
        raise BadInput(
            f"People without a label: {len(without):,}.",
            remedy="List everyone of the edge list with a label.",
            values=without,
        )
    return [label_of[name] for name in network.names]


def publish(
    network: Network,
    lines: Iterable[tuple[str, str]],
    k: int,
    drawn: Callable[[list[int]], None],
    label_of: Mapping[str, str] | None = None,
) -> PublishedNetwork:
    """Return a network in which each degree is that of k people, verified.

    Parameters
    ----------
    lines : iterable of pairs of str
        The edge list that the network was read from.
    drawn : callable
        Puts vertices in an order by chance: a number must not disclose who is new.
    label_of : mapping of str to str, optional
        Everyone's label. It is published, and k people share it with the labels of neighbours.

    Raises
    ------
    Infeasible
        If there are fewer than k people, or fewer of one label.
    NotVerified
        If the second computation does not confirm it.
    """
    people = len(network.names)
    own = labels_of(network, label_of) if label_of else []
    grown, labels = (
        with_labelled_vertices(network, own, k) if own else (with_new_vertices(network, k), [])
    )
    order = list(range(len(grown.network.names)))
    drawn(order)
    edges, number = renamed(grown.network, order)
    files = {"edges.csv": written([("one", "other"), *((str(a), str(b)) for a, b in edges)])}
    if labels:
        said = [(str(number[v]), labels[v]) for v in order]
        files["labels.csv"] = written([("number", "label"), *said])
    names = {network.names[v]: str(number[v]) for v in range(people)}
    ties = {frozenset(pair) for pair in lines if pair[0] != pair[1]}
    checks = network_checks(files, ties, names, k, label_of)
    broken = [c.sentence for c in checks if not c.holds]
    if broken:
        raise NotVerified(
            f"Verification failed: {' '.join(broken)} Nothing was released.",
            remedy="Please report it; this is an error of the workbench.",
        )
    classes = classes_of(grown.network, labels)
    having = Counter(classes)
    return PublishedNetwork(
        files=files,
        names=names,
        grown=grown,
        before=degree_attack(classes_of(network, own), people),
        after=degree_attack(classes, people),
        guess=accused(classes, people),
        classes=classes,
        recognised=sum(having[one] < k for one in classes[people:]),
    )
