"""The reconstruction error beside the metrics, for releases that have one."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import streamlit as st

from anon_core.job.result import Result
from anon_core.permuted.reconstruction import Reconstruction, is_defined, reconstruction

from ..session import state
from ..words.explain import plain, what_is_this


class ReconstructionError:
    """What the figure is, in words."""

    title: ClassVar[str] = "Reconstruction error"
    summary: ClassVar[str] = (
        "How far the picture that an analyst rebuilds of each person, a chance for every sensitive "
        "value of the group, is from the truth: 0 is everyone rebuilt exactly, 1 is nothing left "
        "of them. Lower keeps more for analysis, and leaves more to be found out."
    )
    formula: ClassVar[str] = (
        "RCE = sum over persons of (1 − δ · c(own value))² + Σ over other values v of (δ · c(v))², "
        "c(v) rows of the group with v; δ = 1/N where quasi-identifiers stay together, else the "
        "product over blocks of n/N. Bound: Σ 1 + l·δ² − 2δ, for groups of l to 2l − 1 rows with "
        "no sensitive value twice"
    )
    source: ClassVar[str] = (
        "Xiao and Tao 2006, Anatomy; Li et al. 2015, Permutation anonymization, equations 3–12 and "
        "theorem 2"
    )


def draw(result: Result) -> None:
    """Draw the figure of every sensitive column that a release rebuilds; nothing where none is."""
    release, problem = result.release, result.problem
    names = [n for n in problem.sensitive if n not in problem.quasi and is_defined(release, n)]
    least = int(result.class_sizes.min(initial=result.problem.rows))
    for name in names:
        found = state.once(
            f"reconstruction/{name}", result, partial(reconstruction, release, name, least)
        )
        with st.container(gap=None):
            st.markdown(f"**{ReconstructionError.title}: {plain(name)}**  \n{_told(found, result)}")
            what_is_this(ReconstructionError)


def _told(found: Reconstruction, result: Result) -> str:
    people = int(result.class_sizes.sum())
    said = f"{found.error / max(people, 1):.4g} per person, {found.error:,.1f} in all"
    if found.bound_holds:
        said += f"; Li's bound for such groups is {found.bound:,.1f}"
    return plain(said)
