"""What the experiments on presence in a table share: Adult, 2,000 of its people, and the rest."""

from __future__ import annotations

from ..bench import Bench, Data
from ..experiment import Source

#: In the order in which the source names them.
QUASI = (
    "age",
    "gender",
    "race",
    "workclass",
    "income",
    "marital-status",
    "education",
    "occupation",
    "native-country",
)


def toth(where: str) -> Source:
    """Return the source, and where in it."""
    return Source(
        author="Toth", year=2015, title="Data anonymization, master's thesis", where=where
    )


def drawn(bench: Bench, rows: int = 0, public: int = 0, sensitive: tuple[str, ...] = ()) -> Data:
    """Return the private rows and the public table they are drawn from, as the settings say."""
    settings = bench.settings
    return bench.data(
        "adult-train",
        QUASI,
        sensitive,
        rows=rows or settings.rows,
        public=public or settings.public,
    )
