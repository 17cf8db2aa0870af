"""How a release was found: the search's own account."""

from __future__ import annotations

import streamlit as st

from anon_core.results import SearchAccount
from anon_core.runner import Result

from .explain import plain
from .words import count


def draw(result: Result) -> None:
    """Draw the account of the search behind a result, closed at first."""
    with st.expander("How it was found"):
        for sentence in sentences(result):
            st.markdown(plain(sentence))
        steps = result.account.steps
        if steps:
            import pandas as pd

            st.dataframe(
                pd.DataFrame([dict(step) for step in steps]), hide_index=True, key="search-steps"
            )


def sentences(result: Result) -> list[str]:
    """Return the account in words: the levels, what was looked at, and what is proven."""
    account = result.account
    found = [f"{result.plan.algorithm.title} took {result.seconds.get('search', 0):.2f} s."]
    if account.node is not None:
        levels = ", ".join(f"{name} {level}" for name, level in account.node.items())
        found.append(f"Levels chosen: {levels}.")
    if account.minimal:
        found.append(
            f"{count(len(account.minimal), 'minimal choice').capitalize()} of levels: none of "
            "them stays within the budget with any column a level lower."
        )
    if account.nodes and account.checked:
        found.append(
            f"Of {account.nodes:,} choices of levels, {account.checked:,} were looked at, "
            f"{max(account.inferred, 0):,} followed from those, and {max(account.bounded, 0):,} "
            "were left out by a bound."
        )
    return [*found, *proof(account)]


def proof(account: SearchAccount) -> list[str]:
    """Return what is proven of a result."""
    if account.proven:
        if account.cost is None:
            return ["Proven: no other choice is preferred."]
        return [f"Proven: no choice of its kind costs less than {account.cost:.6g}."]
    if account.cost is not None and account.bound is not None:
        return [
            f"Cost {account.cost:.6g}; proven is that none of its kind costs less than "
            f"{account.bound:.6g}. What lies between was not decided."
        ]
    return ["Nothing is proven about better results."]
