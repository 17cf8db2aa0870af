"""The attacks on a release: a line for each, and behind them questions and each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.base.terms import PEOPLE_AT_RISK
from anon_core.contracts.attack import Attack
from anon_core.explain.text.phrases import limited, share
from anon_core.explain.text.tiles import proven
from anon_core.pipeline.measure.assessment import Evidence, evidence
from anon_core.pipeline.measure.extra_attacks import attack as attack_further
from anon_core.pipeline.measure.extra_attacks import attacked
from anon_core.release.attack_result import AttackResult
from ui.charts.attack_plots import attack_bullets, name_of, risk_bullets, title_of, untried
from ui.charts.chart_frame import Chart, Palette, Series, figure, kept, place_of, show
from ui.components.guard import handled, show_error
from ui.forms import attack_form, run_form
from ui.forms.parameter_forms import parameter_form
from ui.panels.panel_head import Line
from ui.panels.results import linked_charts
from ui.panels.results.drawers import details_panel, links_panel, members_panel, stopping_panel
from ui.panels.run import earlier_panel
from ui.state import selection, state
from ui.state.kept_fields import remembered
from ui.state.work import jobs, what_if
from ui.state.work.fragments import once_opened
from ui.state.work.on_request import ATTACKING
from ui.words.escaping import plain, what_is_this

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result

_KNOWLEDGE, _FURTHER, _EARLIER = "What they know", "Attack further", "Two releases"
_VIEWS = (PEOPLE_AT_RISK, "Questions", "One by one", _KNOWLEDGE, _FURTHER, _EARLIER)
_KINDS = {
    "identity": "Who is it?",
    "attribute": "What do they have? Certain",
    "inferential": "What do they have? Probable",
    "presence": "Are they in it?",
}
_QUESTIONS = {
    "singling out": "Can a person be singled out?",
    "linkability": "Can records of a person be linked?",
    "inference": "Can something be inferred of a person?",
}


def line(run: Series, colours: Palette) -> Line:
    """Return what is above the attacks on a run."""
    signs = [("■", run.colour, "average, worst"), ("○", colours.ink, "guess")]
    if linked_charts.baseline() is not None:
        signs.append(("┃", colours.sensitive, "baseline"))
    if any(limited(a) for a in run.facts.attacks):
        signs.append(("│", colours.warning, "threshold"))
    if selection.now(run.facts) is not None:
        signs.append(("◆", colours.ink, "chosen"))
    return Line(title="Attacks", signs=signs, chart=lambda: _chart(run, colours))


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run: a line for each attack."""
    figure(_chart(run, colours), key="attacks", placed=True)


def block(run: Series, colours: Palette) -> dict[str, Any]:
    """Return the key and look of the block that the panel is drawn in."""
    return place_of(_unmarked(run, colours).figure, key="attacks")


def _chart(run: Series, colours: Palette) -> Chart:
    if selection.now(run.facts) is None:
        return _unmarked(run, colours)
    base = linked_charts.baseline()
    return attack_bullets([run], colours, base, linked_charts.exposed(run.facts))


def _unmarked(run: Series, colours: Palette) -> Chart:
    return kept(attack_bullets, [run], colours, linked_charts.baseline())


def details(run: Series, colours: Palette) -> None:
    """Draw what lies behind the outcomes: people at risk, the questions, each attack by itself."""
    view = st.segmented_control(
        "Show", _VIEWS, default=_VIEWS[0], required=True, **remembered("attack-view"),
        label_visibility="collapsed",
    )  # fmt: skip
    if view == PEOPLE_AT_RISK:
        show(kept(risk_bullets, [run], colours), key="risk")
        not_tested([run])
        for attack in run.facts.attacks:
            members_panel.draw(run.facts, attack)
    elif view == "Questions":
        _questions(run)
        links_panel.draw(run.facts.result)
    elif view == "One by one":
        _one_by_one(run, colours)
    elif view == _KNOWLEDGE:
        _knowledge(run.facts.result)
    elif view == _EARLIER:
        earlier_panel.draw(run, colours)
    else:
        _further(run, colours)


def not_tested(runs: Sequence[Series]) -> None:
    """List the attacks that none of the runs was attacked with, and why."""
    names = untried(runs)
    if not names:
        return
    many = "1 attack" if len(names) == 1 else f"{len(names)} attacks"

    def reasons() -> None:
        lines: list[str] = []
        for name in names:
            whys = dict.fromkeys(
                run.facts.not_run[name] for run in runs if name in run.facts.not_run
            )
            lines.append(f"**{plain(title_of(name))}** – {plain(' '.join(whys))}")
        st.markdown("\n\n".join(lines))
        st.caption("An attack that was not run says nothing about protection.")

    once_opened(f"Not tested: {many}, and why", reasons, name="Attacks", key="not-tested")


def _one_by_one(run: Series, colours: Palette) -> None:
    known = cast(dict[str, type[Attack]], family("attack"))
    _certain(run.facts.attacks)
    for kind, heading in _KINDS.items():
        here = [a for a in run.facts.attacks if known[a.attack].aim.discloses == kind]
        stopped = {n: w for n, w in run.facts.not_run.items() if known[n].aim.discloses == kind}
        if not here and not stopped:
            continue
        st.markdown(f"##### {heading}")
        for attack in here:
            _one(run, colours, attack)
        if stopped:
            st.markdown("**Not run**")
        for name, why in stopped.items():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"**{plain(title_of(name))}** – {plain(why)}", width="stretch")
                what_is_this(known[name])


def _one(run: Series, colours: Palette, attack: AttackResult) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None):
            st.markdown(f"**{plain(name_of(attack))}** – {plain(attack.sentence)}")
            if attack.control is not None:
                st.caption(plain(_control(attack)))
        what_is_this(family("attack")[attack.attack])
    stopping_panel.draw(run.facts.result, attack)
    members_panel.draw(run.facts, attack)
    key = f"{attack.attack}-{attack.column}"
    details_panel.draw(run, colours, attack.details, key)


def _control(attack: AttackResult) -> str:
    learned = attack.corrected
    of_table = "" if learned is None else f" Net of that, {share(learned)} comes from the release."
    return (
        f"People who had no part in the release: right of {share(attack.control or 0.0)}.{of_table}"
    )


def _questions(run: Series) -> None:
    found = evidence(run.facts.result)
    st.caption(
        "What each attack says to the three questions of an assessment (WP216). An "
        "attack that was not run proves nothing, and there is no total."
    )
    _certain(run.facts.attacks)
    for question, heading in _QUESTIONS.items():
        here = [e for e in found if e.question == question]
        st.markdown(f"##### {heading}")
        for one in here:
            sign = ":material/check_box:" if one.tested else ":material/check_box_outline_blank:"
            st.markdown(
                f"{sign} **{plain(title_of(one.attack, one.column))}** – {plain(_words(one))}"
            )


def _words(one: Evidence) -> str:
    if not one.tested:
        return f"not tested: {one.why}"
    chance = f"{share(one.rate or 0.0)} on average, {share(one.worst or 0.0)} at worst"
    if one.interval is not None:
        chance += f" (between {share(one.interval[0])} and {share(one.interval[1])})"
    if one.undecided:
        chance += f"; {one.undecided:,} not decided, treated as exposed"
    return f"{chance}; by guessing {share(one.baseline or 0.0)}."


def _knowledge(result: Result) -> None:
    """Draw the threshold and the population; another choice is shown at once."""
    draft, rows = state.draft(), result.problem.rows
    own = attack_form.held(draft)
    attacks = [*attack_form.threshold(draft), *own]
    people = run_form.people(draft, rows)
    held = ([*attack_form.threshold_held(draft), *own], run_form.people_held(draft, rows))
    if (attacks, people) != held:
        what_if.attack_with(attacks, people)
        st.rerun()  # other panels tell of it too


def _further(run: Series, colours: Palette) -> None:
    result = run.facts.result
    failed = ATTACKING.error()
    if failed is not None:
        show_error(failed)
    jobs.watch(ATTACKING.job)
    known = cast(dict[str, type[Attack]], family("attack"))
    names = [n for n, attack in known.items() if not attack.use.by_default]
    waiting = [n for n in names if n in result.on_request or n not in result.not_run]
    st.caption(
        "These attacks are slow or need extra input. Run them on demand; they are then added to "
        "the recipe."
    )
    if not waiting:
        st.info("None of them applies to this release.")
        return
    wanted = st.selectbox(
        "Attack", waiting, format_func=lambda n: known[n].title, **remembered("further-attack")
    )
    kind = known[wanted]
    st.write(plain(kind.summary))
    given = next((a.as_mapping() for a in result.plan.attacks if a.name == wanted), {})
    values = parameter_form(kind, given, key="further", sensitive=result.audience.secret)
    st.button(
        "Attack",
        key="attack-further",
        type="primary",
        disabled=ATTACKING.is_running(),
        on_click=handled("Attacks")(_begin),
        args=(result, kind, values),
    )
    for attack in run.facts.attacks:
        if attack.attack == wanted:
            st.markdown(f"**{plain(name_of(attack))}** – {plain(attack.sentence)}")
            _certain([attack])
            details_panel.draw(run, colours, attack.details, f"further-{wanted}-{attack.column}")


def _certain(attacks: Sequence[AttackResult]) -> None:
    """Say once which disclosures are certain."""
    names = [plain(name_of(a)) for a in attacks if proven(a)]
    if names:
        st.markdown(f":red-badge[certain for someone] {', '.join(names)}")


def _begin(result: Result, kind: type[Attack], values: Mapping[str, object]) -> None:
    adversary = kind.from_mapping(values)
    ATTACKING.start(
        result,
        adversary.title,
        lambda context: attacked(result, adversary, attack_further(result, adversary, context)),
    )
