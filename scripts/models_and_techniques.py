"""Write `docs/models_and_techniques.md`: which techniques work with which models, and why not.

Nothing is run: refusals are asked of the very check that a run makes, and the rest of the classes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from anon_core.base.errors import BadPlan  # noqa: E402 - the checkout has to be found first
from anon_core.base.registry import family  # noqa: E402
from anon_core.contracts.algorithm import Algorithm, refuse_unsteered  # noqa: E402
from anon_core.contracts.model import GroupModel  # noqa: E402

PAGE = CHECKOUT / "docs" / "models_and_techniques.md"
STEERED, BOTH, TESTED = "●", "◐", "○"
_HEAD = """# Which technique works with which privacy model

Each row is a privacy model, each column a technique. Look up the pair: its sign shows how they work
together. `python scripts/models_and_techniques.py` writes this page, and a test keeps it current.

| sign | what the technique does with the model | how a run can end |
|:-:|---|---|
| ● | The model steers the search. | verified; *infeasible*; *not found* |
| ○ | The technique forms ever larger groups and tests finished releases. | verified; *not found* |
| ◐ | The model steers the search, and the technique also tests finished releases. | as ● |
| a–f | The run is refused before the search. The reasons are below the table. | refused |

- *Infeasible* is a proof: nothing that the technique can publish satisfies the model.
- *Not found* proves nothing: the technique did not look at every release.
- *Verified* means that every model was recomputed from the published text. A release whose models
  cannot be recomputed is not written.

**◐ with k-map and δ-presence.** The cells of a group cover people of the public table. The
technique merges groups until these people satisfy the model. δ-presence also requires that no
person fits two groups. If merging fails, the technique continues as for ○.

**†** marks a model that larger groups can break (with its default settings). Trying one group of
all rows then proves nothing. So a technique that does not look at every release ends with *not
found*, not *infeasible*. Suppressed rows have the same effect with other models.

With a public table, average and maximum risk require less than k rows per class. Techniques that
count only rows test finished releases for these models.
"""


def asked(kind: type[GroupModel]) -> GroupModel:
    """Return a model as it is by default, with the private column it is about."""
    asked = [p for p in kind.parameters() if p.kind == "private-column" and not p.quiet]
    private = {p.name: "own" for p in asked}
    return kind.from_mapping(private)


def refusal(algorithm: Algorithm, model: GroupModel) -> str:
    """Return why a technique hosts a model for no table, in general words; empty where it does."""
    try:
        refuse_unsteered(algorithm, [model])
    except BadPlan as error:
        sentence = error.message.replace(algorithm.title, "the technique")
        sentence = sentence.replace(model.title, "the privacy model")
        return f"{sentence[0].upper()}{sentence[1:]} {error.remedy}"
    return ""


def sign(algorithm: Algorithm, model: GroupModel) -> str:
    """Return whether a model steers a technique that hosts it, or is tested, or both."""
    if model.scope.public and not algorithm.needs.counts_public:
        return BOTH if algorithm.needs.merges_by_public else TESTED
    return BOTH if model.private_columns() else STEERED


def table() -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Return the sign of every pair of model and technique, and the reason of every letter."""
    algorithms = cast(Mapping[str, type[Algorithm]], family("algorithm"))
    models = cast(Mapping[str, type[GroupModel]], family("model"))
    found: dict[tuple[str, str], str] = {}
    letters: dict[str, str] = {}
    for name, kind in models.items():
        for other, technique in algorithms.items():
            model, algorithm = asked(kind), technique()
            reason = refusal(algorithm, model)
            if reason:
                found[name, other] = letters.setdefault(reason, chr(ord("a") + len(letters)))
            else:
                found[name, other] = sign(algorithm, model)
    return found, {letter: reason for reason, letter in letters.items()}


def page() -> str:
    """Return the page."""
    found, reasons = table()
    models, algorithms = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    known = cast(Mapping[str, type[GroupModel]], family("model"))
    lines = [_HEAD, "## The table", ""]
    lines.append(f"| model | {' | '.join(f'`{name}`' for name in algorithms)} |")
    lines.append(f"|---|{':-:|' * len(algorithms)}")
    for name in models:
        model = asked(known[name])
        open_ = "" if model.decided_by_whole() or model.scope.mechanism else " †"
        signs = " | ".join(found[name, other] for other in algorithms)
        lines.append(f"| `{name}`{open_} | {signs} |")
    lines += ["", "## Why a pair is refused", ""]
    lines += [f"- **{letter}**: {reason}" for letter, reason in reasons.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
