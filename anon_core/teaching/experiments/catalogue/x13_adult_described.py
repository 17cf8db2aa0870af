"""X-13: Adult as a source describes it, counted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.description import agree, counted, figure, printed
from anon_core.teaching.experiments.catalogue.top_down import aalborg
from anon_core.teaching.experiments.experiment import Claim, Experiment, Point, Settings, Step
from anon_core.teaching.experiments.points import Found

_ROWS: Mapping[str, float] = {"rows": 48_842, "complete rows": 45_222}
_DISTINCT: Mapping[str, float] = {
    "workclass": 8,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "gender": 2,
    "native-country": 41,
}
_MEANS: Mapping[str, float] = {
    "age": 38.5,
    "education-num": 10.1,
    "capital-gain": 1_101.4,
    "capital-loss": 88.6,
    "hours-per-week": 40.9,
}
_SPREADS: Mapping[str, float] = {
    "age": 13.2,
    "education-num": 2.55,
    "capital-gain": 7_506.4,
    "capital-loss": 404.9,
    "hours-per-week": 12.0,
}


class AdultDescribed(Experiment):
    """Rows, distinct values, means and spreads of the complete rows."""

    id = "X-13"
    title = "Adult, training and test part, described"
    source = aalborg("tables 3.1 and 3.2, figure 3.1")
    shows = "How many rows are complete, how many values each column has, and how they spread."
    table = "adult-all"
    figures = (
        figure("rows", "Rows", "rows", tuple(_ROWS)),
        figure("distinct", "Distinct values of complete rows", "values", tuple(_DISTINCT)),
        figure("mean", "Means of complete rows", "mean", tuple(_MEANS), log=True),
        figure("spread", "Standard deviations", "standard deviation", tuple(_SPREADS), log=True),
        figure("race", "Complete rows by race", "rows", ("1st", "2nd", "3rd", "4th", "5th")),
    )
    printed = (
        *printed("rows", _ROWS),
        *printed("distinct", _DISTINCT),
        *printed("mean", _MEANS),
        *printed("spread", _SPREADS),
    )
    remarks = (
        "Races are drawn by how many rows they have; the source prints its figure without numbers.",
        "The source's address of the table is that of an archive of medical images (E-38).",
    )
    small = Settings()
    full = Settings()

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return one step: everything is counted at once."""
        return [Step(key="counted")]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Count."""
        names = list(dict.fromkeys([*_DISTINCT, *_MEANS]))
        data = bench.data(self.table, names).dataset
        table = bench.table(self.table)
        numbers = table.frame[list(_MEANS)].astype(float)
        races = table.frame["race"].value_counts().tolist()[:5]
        return [
            *counted("rows", [table.raw_rows, data.rows]),
            *counted("distinct", [len(data.column(name).values) for name in _DISTINCT]),
            *counted("mean", [float(numbers[name].mean()) for name in _MEANS]),
            *counted("spread", [float(numbers[name].std()) for name in _SPREADS]),
            *counted("race", races),
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source's tables say."""
        return [
            agree(found, "rows", _ROWS, "48,842 rows, of which 45,222 are complete."),
            agree(
                found,
                "distinct",
                _DISTINCT,
                "Table 3.2 gives the numbers of values.",
                error="E-38",
                reason="The eighth work class is that of people who never worked, whose "
                "occupation is always missing, so no complete row has it.",
            ),
            agree(found, "mean", _MEANS, "Table 3.1 gives the means.", digits=1, own=False),
            agree(found, "spread", _SPREADS, "It gives the deviations.", digits=1, own=False),
        ]
