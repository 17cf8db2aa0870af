"""The pictures of a lesson, its keys and its play: each presses a button of the page.

The pictures are HTML and SVG that the core has drawn, in which every text is escaped. Nothing comes
back to Python but clicks of buttons, so that everything can be done with these alone. What words
name is marked in the pictures while the pointer is on it, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from streamlit.components.v2 import component

#: How small pictures are drawn at least; what is larger still is scrolled to.
_LEAST = 0.5
#: How long what stays from step to step takes to its new place.
_PACE = "{ duration: 450, easing: 'ease-in-out' }"
_JS = """
export default function ({ data, parentElement }) {
  const stage = parentElement.querySelector(".stage");
  stage.stop?.(); // called again for every step, and cleaned up only at the end
  // What stays from step to step moves to its new place; what is new or looks otherwise fades in.
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const placed = () => {
    const found = new Map();
    const times = {};
    for (const one of stage.querySelectorAll("[data-part]:not([transform])")) {
      const name = `${one.tagName} ${one.dataset.part}`;
      times[name] = (times[name] ?? 0) + 1;
      const { x, y } = one.getBoundingClientRect();
      found.set(`${name} ${times[name]}`, { one, x, y, look: one.getAttribute("class") });
    }
    return found;
  };
  const move = (before) => {
    for (const [name, { one, x, y, look }] of placed()) {
      const was = before.get(name);
      if (!was || was.look !== look) {
        one.animate([{ opacity: 0.15 }, { opacity: 1 }], PACE);
      }
      if (!was) continue;
      const drawn = one.ownerSVGElement;
      const zoom = drawn
        ? drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width
        : Number(stage.querySelector(".lesson").style.zoom) || 1;
      const [left, up] = [(was.x - x) / zoom, (was.y - y) / zoom];
      if (Math.abs(left) + Math.abs(up) > 1) {
        one.animate([{ transform: `translate(${left}px, ${up}px)` }, { transform: "none" }], PACE);
      }
    }
  };
  const before = stage.shown && stage.shown !== data.html && !still ? placed() : null;
  if (stage.shown !== data.html) {
    stage.innerHTML = data.html;
    stage.shown = data.html;
  }
  // Pictures are drawn as large as lets all of them stand above the lower edge of the window.
  const fit = () => {
    const lesson = stage.querySelector(".lesson");
    const page = document.querySelector('[data-testid="stMain"]');
    if (!lesson || !page) return;
    lesson.style.zoom = 1;
    const top = stage.getBoundingClientRect().top + page.scrollTop;
    const room = Math.max(page.clientHeight - top - 12, 260);
    const wide = stage.clientWidth;
    let zoom = 1;
    const over = () => {
      const inside = [...lesson.querySelectorAll("figure, .wide, table, svg")];
      const most = Math.max(0, ...inside.map((one) => one.scrollWidth)) * zoom;
      return lesson.getBoundingClientRect().height > room + 1 || most > wide + 1;
    };
    while (over() && zoom > LEAST) {
      zoom = Math.max(LEAST, zoom - 0.04);
      lesson.style.zoom = zoom;
    }
  };
  fit();
  if (before) move(before);
  document.fonts?.ready.then(fit);
  document.fonts?.addEventListener("loadingdone", fit); // those that only these pictures need
  window.addEventListener("resize", fit);
  const picks = JSON.parse(data.picks);
  const press = (name) => {
    const button = document.querySelector(`.st-key-learn-${name} button`);
    if (!button || button.disabled) return false;
    button.click();
    return true;
  };
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  const typing = "input, textarea, select, [role=slider], [role=combobox], [role=radio]";
  const pressed = (event) => {
    const pick = event.target.closest("[data-pick]");
    const place = pick ? picks.indexOf(pick.dataset.pick) : -1;
    return place >= 0 && press(`choice-${place}`);
  };
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const target = event.composedPath()[0];
    if (target instanceof Element && target.closest(typing)) return;
    if (keys[event.key] && press(keys[event.key])) event.preventDefault();
  };
  const onPickKey = (event) => {
    if ((event.key === "Enter" || event.key === " ") && pressed(event)) event.preventDefault();
  };
  // What words name is marked in the pictures, and words where the pointer is on what they name.
  const point = (event) => {
    const at = event.composedPath()[0];
    if (!(at instanceof Element)) return;
    const words = [...document.querySelectorAll("[data-points]")];
    const pointsTo = (word) => JSON.parse(word.dataset.points);
    const word = at.closest("[data-points]");
    const part = at.closest("[data-part]")?.dataset.part;
    const ids = word ? pointsTo(word) : words.flatMap(pointsTo).filter((id) => id === part);
    for (const one of words) {
      one.classList.toggle("pointed", pointsTo(one).some((id) => ids.includes(id)));
    }
    for (const one of stage.querySelectorAll("[data-part]")) {
      one.classList.toggle("pointed", ids.includes(one.dataset.part));
    }
  };
  document.addEventListener("pointerover", point);
  window.addEventListener("keydown", onKey);
  stage.addEventListener("keydown", onPickKey);
  stage.addEventListener("click", pressed);
  const timer = data.play ? setTimeout(() => press("next"), data.play) : 0;
  stage.stop = () => {
    document.removeEventListener("pointerover", point);
    window.removeEventListener("keydown", onKey);
    window.removeEventListener("resize", fit);
    document.fonts?.removeEventListener("loadingdone", fit);
    stage.removeEventListener("keydown", onPickKey);
    stage.removeEventListener("click", pressed);
    clearTimeout(timer);
  };
  return () => stage.stop();
}
"""


def lesson_stage(html: str, *, picks: Sequence[str], step: int, play: int) -> None:
    """Draw pictures; arrow keys, Home and End go through the lesson, clicks answer.

    Parameters
    ----------
    html : str
        What the core has drawn.
    picks : sequence of str
        Ids of what can be clicked, in the order of the buttons that answer.
    step : int
        What is shown, so that the timer of the play begins again.
    play : int
        Milliseconds until the next step; 0 where the lesson does not play.
    """
    js = _JS.replace("LEAST", str(_LEAST)).replace("PACE", _PACE)
    stage = component("workbench_lesson", js=js, html='<div class="stage"></div>')
    data = {"html": html, "picks": json.dumps(list(picks)), "step": step, "play": play}
    stage(key="lesson-stage", data=data)
