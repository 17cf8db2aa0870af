"""What the experiments on presence in a table share: Adult, 2,000 of its people, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_core.base.context import Context
from anon_core.pipeline.result import Result
from anon_core.teaching.experiments.bench import Bench, Data
from anon_core.teaching.experiments.experiment import Claim, Source
from anon_core.teaching.experiments.points import Found, mean

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


def drawn(bench: Bench, public: int = 0, sensitive: tuple[str, ...] = ()) -> Data:
    """Return the private rows and the public table they are drawn from, as the settings say."""
    settings = bench.settings
    return bench.data(
        "adult-train",
        QUASI,
        sensitive,
        rows=settings.rows,
        public=public or settings.public,
    )


#: Names of the two techniques that keep δ-presence, and of one that the source has not.
COMBINED, MPALM, COMBINED_BY_MPALM = "CombinedAlg", "MPALM", "CombinedAlg on MPALM's groups"
AG, DM = "ag", "dm"
STAND_INS = (
    "Levels are those of the shipped hierarchies; a range is at the lowest level that holds it."
)


def kept_unsure(
    bench: Bench, name: str, high: float, k: int, context: Context
) -> tuple[Result, dict[str, float]]:
    """Release with δ of at most `high`; return the release, and its AG and DM.

    Raises
    ------
    AnonError
        If no release is found.
    """
    models: list[Mapping[str, Any]] = [
        {"name": "delta-presence", "delta_min": 0.0, "delta_max": high}
    ]
    given: dict[str, Any] = {"name": "mpalm"}
    if name != MPALM:
        groups = "mondrian" if name == COMBINED else "mpalm"
        seconds = bench.settings.seconds
        given = {"name": "combined", "partition": {"name": groups}, "seconds": seconds}
    if name == COMBINED:
        models.append({"name": "bucket-size", "k": k})
    result = bench.released(drawn(bench), given, models, context)
    height = bench.measured(result, "generalization-height", context)
    return result, {
        AG: height.also["levels climbed (AG)"],
        DM: bench.measured(result, "discernibility", context).value,
    }


def lower(found: Found, figure: str, what: str) -> Claim:
    """Claim that MPALM's figure is the lower one everywhere."""
    says = f"MPALM has the lower {what} in all cases."
    pairs = found.both(figure, MPALM, COMBINED)
    if not found.whole or not pairs:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    better = sum(mpalm < combined for mpalm, combined in pairs)
    measured = (
        f"Its {what} is lower in {better} of {len(pairs)} cases, "
        f"{mean([a for a, _ in pairs]):,.0f} against {mean([b for _, b in pairs]):,.0f} on average."
    )
    same = found.both(figure, MPALM, COMBINED_BY_MPALM)
    because = measured
    if same:
        because += (
            f" With MPALM's own groups CombinedAlg has {mean([b for _, b in same]):,.0f}: "
            "shuffling within a group keeps presence open with fewer levels, and the levels do "
            "not show that the links among the columns are cut."
            if figure == AG
            else " MPALM cuts greedily, and only optimal partitions are proven to be best (E-17)."
        )
    holds = better == len(pairs)
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
