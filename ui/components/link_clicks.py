"""A click on a link of the sidebar opens its page, whatever Streamlit does meanwhile.

Streamlit takes the links of a page away where another is opened, and puts in again those whose
place changes. A browser makes a click only of a press and a release on the same element, so a click
in that moment was lost; it is carried out on the link that is there now. It is also lost where the
page that is left asks for a run in the same moment, as the later request counts. So a link is
clicked once more where its page has not opened and nothing runs.
"""

from __future__ import annotations

from streamlit.components.v2 import component

#: It listens once and for good: between a press and a release this is put in again as well.
_JS = """
const MOST_WAIT = 3000;
// Milliseconds between two looks, looks at rest before a second click, and looks in all.
const PAUSE = 250, AT_REST = 8, MOST_LOOKS = 120;
const LINKS = '[data-testid="stPageLink"] a';
const named = (link) => ({ href: link.getAttribute("href"), text: link.textContent });
const alike = (one, other) => one.href === other.href && one.text === other.text;
const within = (box, event) =>
  event.clientX >= box.left && event.clientX <= box.right
  && event.clientY >= box.top && event.clientY <= box.bottom;

function hear() {
  let there = [], since = -Infinity;  // the sidebar's links as one was clicked last, and when
  let pressed = null;                 // what a press is on, and the element if there is one
  let latest = null;                  // the link that was clicked last, until its page opens
  const linkAt = (event) => {
    const link = event.target.closest?.(LINKS);
    if (link) return { link, ...named(link) };
    const aside = event.target.closest?.('[data-testid="stSidebar"]');
    if (!aside || performance.now() - since > MOST_WAIT) return null;
    return there.find(({ box }) => within(box, event)) ?? null;
  };
  const carryOut = (wanted, until) => {
    const link = [...document.querySelectorAll(LINKS)].find((one) => alike(named(one), wanted));
    if (link) link.click();
    else if (performance.now() < until) setTimeout(() => carryOut(wanted, until), 50);
  };
  const arrive = (link) => {
    const wanted = latest = named(link);
    const from = location.pathname;
    let looks = 0, rests = 0;
    const look = () => {
      if (latest !== wanted) return;
      const app = document.querySelector('[data-testid="stApp"]');
      rests = app?.dataset.testScriptState === "notRunning" ? rests + 1 : 0;
      const stays = location.pathname === from;
      if (stays && rests < AT_REST && ++looks < MOST_LOOKS) { setTimeout(look, PAUSE); return; }
      if (stays && rests >= AT_REST) carryOut(wanted, performance.now());
      latest = null;
    };
    if (new URL(link.href).pathname !== from) setTimeout(look, PAUSE);
  };
  window.addEventListener("pointerdown", (event) => {
    pressed = event.button === 0 ? linkAt(event) : null;
  }, true);
  window.addEventListener("pointerup", (event) => {
    const was = pressed;
    pressed = null;
    if (!was || was.link?.isConnected) return;  // the browser makes a click of it
    const now = linkAt(event);
    if (now && alike(now, was)) carryOut(was, performance.now() + MOST_WAIT);
  }, true);
  window.addEventListener("click", (event) => {
    const link = event.target.closest?.(LINKS);
    if (!link) return;
    if (!(latest && alike(named(link), latest)) && !event.ctrlKey && !event.metaKey) arrive(link);
    since = performance.now();
    there = [...document.querySelectorAll(`[data-testid="stSidebar"] ${LINKS}`)]
      .map((link) => ({ ...named(link), box: link.getBoundingClientRect() }));
  }, true);
}

export default function () {
  if (window.workbench_link_clicks) return;
  window.workbench_link_clicks = true;
  hear();
}
"""


def hears() -> None:
    """Let no click on a link be lost because the link is put in again."""
    component("workbench_link_clicks", js=_JS, html="<span></span>")(key="link-clicks", height=1)
