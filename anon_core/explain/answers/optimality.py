"""Is this optimal? Proven, or the bound that is known, or that nothing is."""

from __future__ import annotations

from anon_core.base.errors import brief
from anon_core.base.registry import find, option_title
from anon_core.contracts.metric import headline
from anon_core.explain.answers import Answer
from anon_core.pipeline.result import Result


def is_optimal(result: Result) -> Answer:
    """Say whether a release is proven best, by what, and how far it may be from it."""
    account, algorithm = result.account, result.plan.algorithm
    kind = _kind(result)
    by = _metric(result)
    if account.proven:
        cost = "" if account.cost is None else f": none costs less than {account.cost:,.6g}{by}"
        return Answer(
            sentence=f"Yes, among {kind}{cost}. Every choice was looked at, or decided by one "
            "that was.",
            note="It is best among releases of this kind, for these models and this budget; a "
            "technique of another kind may lose less.",
        )
    if account.cost is not None and account.bound is not None:
        gap = account.cost - account.bound
        share = gap / account.cost if account.cost else 0.0
        return Answer(
            sentence=f"Not proven. It costs {account.cost:,.6g}{by}, and none among {kind} costs "
            f"less than {account.bound:,.6g}: at most {gap:,.4g} ({share:.1%}) could be gained.",
            note="The search was stopped, or does not look at every choice.",
        )
    lost = result.measures.get(headline("groups"))
    known = f" Its loss of groups is {lost.value:.4g}, and 0 is the least there is." if lost else ""
    return Answer(
        sentence=f"Nothing is proven: {algorithm.title} takes the best step it sees, or does not "
        f"compare choices at all, and no bound is known.{known}",
        note="A sweep on Compare shows what other techniques reach.",
    )


def _kind(result: Result) -> str:
    """Return what a release was chosen among, in words."""
    if result.account.node is not None:
        return "choices of one level per column"
    return f"what {result.plan.algorithm.title} can publish"


def _metric(result: Result) -> str:
    """Return the metric that the cost is in, where it is a setting of the technique."""
    algorithm = result.plan.algorithm
    chosen = algorithm.as_mapping().get("metric")
    setting = next((p for p in algorithm.parameters() if p.name == "metric"), None)
    if setting is None or chosen is None:
        return ""
    if setting.options_of == "metric":
        return f" ({find('metric', setting.named(chosen)).title})"
    return f" ({option_title(setting, setting.named(chosen)) or brief(chosen)})"
