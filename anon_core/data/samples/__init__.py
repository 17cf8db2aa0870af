"""Tables that load with one click, each with suggested roles, hierarchies and a k to start from.

Importing this package loads no table; `Sample.frame` does.
"""

from anon_core.base.errors import BadInput, listing, nearest
from anon_core.data.samples.adult import ADULT, adult_path
from anon_core.data.samples.base import Sample, hierarchy_folder
from anon_core.data.samples.hospital import HOSPITAL
from anon_core.data.samples.papers import PAPERS

SAMPLES: tuple[Sample, ...] = (HOSPITAL, ADULT, *PAPERS)

__all__ = ["SAMPLES", "Sample", "adult_path", "hierarchy_folder", "sample"]


def sample(name: str) -> Sample:
    """Return the sample of that name.

    Raises
    ------
    BadInput
        If there is none; lists the names and the nearest one.
    """
    for one in SAMPLES:
        if one.name == name:
            return one
    names = [one.name for one in SAMPLES]
    raise BadInput(
        f"There is no sample '{name}'; the samples are {listing(names)}.",
        remedy=f"Use one of these names.{nearest(name, names)}",
    )
