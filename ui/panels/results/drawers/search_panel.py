"""How a release was found: the search's own account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from anon_core.base.context import gap
from anon_core.base.registry import option_title
from anon_core.explain.text.phrases import count, in_a_sentence, rows
from anon_core.methods.partition.exhaustive_partition import MOST_ROWS
from anon_core.pipeline.result import Result
from anon_core.release.outcome import SearchAccount, per_cent
from ui.words.escaping import plain


def draw(result: Result) -> None:
    """Draw the account of the search behind a result, closed at first; of few rows the optimum."""
    for sentence in best_of_all(result):
        st.caption(plain(sentence))
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
    if result.level_search is not None:
        found.append(result.level_search.sentence)
    if account.node is not None:
        levels = ", ".join(f"{name} {level}" for name, level in account.node.items())
        found.append(f"Levels chosen: {levels}.")
    if account.minimal:
        found.append(
            f"{count(len(account.minimal), 'minimal choice').capitalize()} of levels: in "
            "none of them can any column stand a level lower."
        )
    if account.nodes and account.checked:
        found.append(_looked_at(account))
    elif account.checked:
        found.append(
            f"{count(account.checked, 'candidate').capitalize()} "
            f"{'was' if account.checked == 1 else 'were'} looked at."
        )
    if account.partition:
        found.append(_parts(account.partition, result.release.grouping.published))
    return [*found, *proof(account, _cost_of(result))]


def best_of_all(result: Result) -> list[str]:
    """Return the proven optimum of a small table next to what the release costs, and of what."""
    best = result.optimum
    if best is None:
        return []
    return [
        f"Proven optimum for this table: loss {best.cost:.4g}; this release: {best.release:.4g}. "
        f"It is that of {best.of()}. Finding it is NP-hard, so it is computed for at most "
        f"{MOST_ROWS} rows; on larger tables, techniques prove an optimum only among releases of "
        "their own kind, or none."
    ]


def _looked_at(account: SearchAccount) -> str:
    """Return what a search over choices of levels did with them; what it did not do is left out."""
    sentences = [f"{account.checked:,} {'was' if account.checked == 1 else 'were'} looked at"]
    if account.inferred > 0:
        sentences.append(f"{account.inferred:,} followed from those")
    if account.bounded > 0:
        sentences.append(
            f"{account.bounded:,} {'was' if account.bounded == 1 else 'were'} left out by a bound"
        )
    left = account.nodes - account.checked - max(account.inferred, 0) - max(account.bounded, 0)
    if left > 0:
        sentences.append(f"{left:,} {'was' if left == 1 else 'were'} not needed")
    elif left < 0:  # a search by way of fewer columns meets more choices than the whole lattice has
        lattice = f"Of {account.nodes:,} choices of levels, and those of fewer columns before them"
        return f"{lattice}, {_joined(sentences)}."
    return f"Of {account.nodes:,} choices of levels, {_joined(sentences)}."


def _joined(sentences: Sequence[str]) -> str:
    return (
        sentences[0] if len(sentences) == 1 else f"{', '.join(sentences[:-1])}, and {sentences[-1]}"
    )


def _parts(parts: Mapping[str, float], numbered: bool) -> str:
    """Return how many parts were formed, and how large they are."""
    many = count(int(parts["parts"]), *(("group", "groups") if numbered else ("part", "parts")))
    low, high = int(parts["smallest"]), int(parts["largest"])
    size = rows(low) if low == high else f"{low:,} to {high:,} rows, {parts['mean']:.1f} on average"
    return f"{many.capitalize()} {'was' if int(parts['parts']) == 1 else 'were'} formed, of {size}."


def proof(account: SearchAccount, what: str) -> list[str]:
    """Return what is proven of a result; `what` names its cost."""
    if account.proven:
        if account.cost is None:
            return ["Proven: no other choice is preferred."]
        return [f"Proven optimal: no other combination costs less than {account.cost:,.6g}{what}."]
    if account.cost is not None and account.bound is not None:
        return [
            f"Not proven: it costs {account.cost:,.6g}{what}, and none of its kind costs less than "
            f"{account.bound:,.6g}: a gap of {per_cent(gap(account.cost, account.bound))}."
        ]
    return ["Nothing is proven about better results."]


def _cost_of(result: Result) -> str:
    """Return the name of the metric that a technique's cost is in, where it is a setting."""
    algorithm = result.plan.algorithm
    chosen = algorithm.as_mapping().get("metric")
    setting = next((p for p in algorithm.parameters() if p.name == "metric"), None)
    if setting is None or chosen is None:
        return ""
    return f" ({in_a_sentence(option_title(setting, setting.named(chosen)))})"
