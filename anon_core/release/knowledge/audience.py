"""What an adversary may know next to the release: which columns, which domain, which people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anon_core.data.hierarchy import Hierarchy
from anon_core.data.roles.roles import Roles
from anon_core.data.values.kinds import ColumnKind
from anon_core.release.knowledge.earlier_release import Earlier
from anon_core.release.knowledge.people import Population
from anon_core.release.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Audience:
    """Those a release is made for, and what they know next to it: nothing of the private rows.

    Attributes
    ----------
    roles : Roles
        Names of the declared columns by role.
    kinds : mapping of str to ColumnKind
        Kind of every column that has a role.
    hierarchies : mapping of str to Hierarchy
        The domain of every published column, as it is published with the release: its values and
        what they are generalized to, not how often they occur.
    population : Population or None
        The people the table was drawn from: a table of them, or their number.
    trees : mapping of str to Hierarchy
        Which values of sensitive columns are alike, where someone gave that; such a column is
        published exactly all the same.
    earlier : Earlier or None
        A release of the same people that is out already.
    """

    roles: Roles
    kinds: Mapping[str, ColumnKind]
    hierarchies: Mapping[str, Hierarchy]
    population: Population | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    earlier: Earlier | None = None

    @property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers in the order of the roles."""
        return self.roles.quasi

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Sensitive columns in the order of the roles."""
        return self.roles.sensitive

    @property
    def secret(self) -> tuple[str, ...]:
        """Sensitive columns that an adversary does not know as quasi-identifiers already."""
        return tuple(name for name in self.sensitive if name not in self.quasi)


def audience_of(problem: Problem) -> Audience:
    """Return what an adversary may know next to any release of a table."""
    return Audience(
        roles=problem.roles,
        kinds={name: problem.dataset.column(name).kind for name in problem.roles.named},
        hierarchies={
            name: hierarchy
            for name, hierarchy in problem.hierarchies.items()
            if name not in problem.private
        },
        population=problem.population,
        trees=problem.trees,
        earlier=problem.earlier,
    )
