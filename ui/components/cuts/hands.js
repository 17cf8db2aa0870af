// Pointer and keys. While a cut is dragged only its handle moves; Python counts when it is dropped.

const handleAt = (b, level, at) =>
  [...b.parts.tracks.querySelectorAll(`.handle[data-level="${level}"]`)].find(
    (one) => Number(one.dataset.at) === at,
  );

/** Make a cut the current one, and focus it if `take`. */
function focusCut(b, level, at, take) {
  const points = b.data.levels[level - 1];
  if (!points?.length) {
    b.active = null;
    return;
  }
  const near = points.reduce((best, one) => (Math.abs(one - at) < Math.abs(best - at) ? one : best));
  if (!handleAt(b, level, near)) {
    b.active = null;
    return;
  }
  b.active = { level, at: near };
  drawState(b);
  if (take) handleAt(b, level, near).focus({ preventScroll: true });
}

/** Neighbours that a cut cannot pass: the cuts of level 1 beside it, or the ends of the line. */
function limits(b, at) {
  const { values } = b.data;
  const every = b.data.levels[0] || [];
  const below = Math.max(values[0], ...every.filter((one) => one < at));
  const above = Math.min(values[values.length - 1], ...every.filter((one) => one > at));
  return [below, above];
}

function within(b, at, to) {
  const [below, above] = limits(b, at);
  const least = b.data.whole ? 1 : Math.min(b.data.step, (above - below) / 1000);
  return Number(Math.min(Math.max(to, below + least), above - least).toPrecision(12));
}

function listenToPointer(b) {
  const { tracks, ghost, line, plot } = b.parts;
  let held = null;
  const place = (event) => {
    const box = held.track.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const show = (value) => {
    const at = placeOf(b, value);
    for (const one of tracks.querySelectorAll(".handle")) {
      if (Number(one.dataset.at) === held.at) one.style.left = percent(at);
    }
    const box = held.track.getBoundingClientRect();
    const around = plot.getBoundingClientRect();
    const x = box.left - around.left + at * box.width;
    line.style.left = ghost.style.left = `${x}px`;
    ghost.textContent = written(b, value);
    line.hidden = ghost.hidden = false;
  };
  tracks.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest(".handle");
    if (!handle || event.button !== 0 || b.waiting) return;
    event.preventDefault();
    held = {
      handle,
      track: handle.parentElement,
      level: Number(handle.dataset.level),
      at: Number(handle.dataset.at),
      to: Number(handle.dataset.at),
    };
    focusCut(b, held.level, held.at, true);
    handle.setPointerCapture(event.pointerId);
    tracks.classList.add("dragging");
  });
  tracks.addEventListener("pointermove", (event) => {
    if (!held) return;
    held.to = within(b, held.at, valueAt(b, place(event)));
    show(held.to);
  });
  const end = (event) => {
    if (!held) return;
    const { level, at, to } = held;
    held = null;
    tracks.classList.remove("dragging");
    line.hidden = ghost.hidden = true;
    if (event.type === "pointerup" && to !== at) b.send({ do: "move", level, old: at, new: to }, { level, at: to });
    else draw(b);
  };
  tracks.addEventListener("pointerup", end);
  tracks.addEventListener("pointercancel", end);
  tracks.addEventListener("dblclick", (event) => {
    const track = event.target.closest(".track");
    if (!track || event.target.closest(".handle")) return;
    const box = track.getBoundingClientRect();
    const at = valueAt(b, (event.clientX - box.left) / box.width);
    b.send({ do: "add", level: Number(track.dataset.level), at }, { level: Number(track.dataset.level), at });
  });
}

/** Half way from the current cut to the next one of its level. */
function halfWay(b) {
  const level = b.active?.level ?? 1;
  const { values } = b.data;
  const last = values[values.length - 1];
  const points = b.data.levels[level - 1].filter((one) => one > values[0] && one < last);
  const at = b.active?.at ?? values[0];
  const next = points.find((one) => one > at) ?? last;
  const middle = valueAt(b, (placeOf(b, at) + placeOf(b, next)) / 2);
  return { level, at: middle };
}

function act(b, what, level) {
  const { active } = b;
  if (what === "undo" || what === "redo") {
    if (b.data[what]) b.send({ do: what }, active);
    else speak(b, `There is nothing to ${what}.`);
  } else if (["round", "rows", "width"].includes(what)) b.send({ do: "start", how: what }, null);
  else if (what === "add") {
    const spot = halfWay(b);
    b.send({ do: "add", ...spot }, spot);
  } else if (what === "remove" && active) b.send({ do: "remove", ...active }, active);
  else if (what === "add_level") b.send({ do: "add_level" }, active);
  else if (what === "remove_level") b.send({ do: "remove_level", level }, null);
}

function step(b, way, many) {
  const { level, at } = b.active;
  const to = within(b, at, at + way * b.data.step * (many ? 10 : 1));
  if (to === at) speak(b, "The cut cannot pass the next one.");
  else b.send({ do: "move", level, old: at, new: to }, { level, at: to });
}

function goTo(b, way) {
  const handles = [...b.parts.tracks.querySelectorAll(`.handle[data-level="${b.active.level}"]`)];
  const i = handles.findIndex((one) => Number(one.dataset.at) === b.active.at) + way;
  if (i < 0 || i >= handles.length) return false;
  focusCut(b, b.active.level, Number(handles[i].dataset.at), true);
  return true;
}

function listenToKeys(b) {
  const { root, tracks, field, checks } = b.parts;
  tracks.addEventListener("focusin", (event) => {
    const handle = event.target.closest(".handle");
    if (!handle) return;
    b.active = { level: Number(handle.dataset.level), at: Number(handle.dataset.at) };
    b.focused = true;
    drawState(b);
  });
  tracks.addEventListener("focusout", () => {
    if (!b.drawing) b.focused = false;
  });
  root.addEventListener("keydown", (event) => {
    const control = event.ctrlKey || event.metaKey;
    if (control && "zy".includes(event.key.toLowerCase())) {
      event.preventDefault();
      act(b, event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo");
      return;
    }
    if (!event.target.closest(".handle") || control || event.altKey) return;
    const { level, at } = b.active;
    const key = event.key;
    if (key === "ArrowLeft" || key === "ArrowRight") step(b, key === "ArrowLeft" ? -1 : 1, event.shiftKey);
    else if (key === "ArrowUp" && level > 1) focusCut(b, level - 1, at, true);
    else if (key === "ArrowDown" && level < b.data.levels.length) focusCut(b, level + 1, at, true);
    else if (key === "PageUp") goTo(b, -1);
    else if (key === "PageDown") goTo(b, 1);
    else if (key === "Insert" || key === "+") act(b, "add");
    else if (key === "Delete" || key === "Backspace") act(b, "remove");
    else if (key === "Enter") {
      field.focus();
      field.select();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      field.value = written(b, b.active.at);
      focusCut(b, b.active.level, b.active.at, true);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const { level, at } = b.active;
      const to = typedValue(b, field.value);
      if (Number.isNaN(to)) showNote(b, { message: "That is no number of this column.", remedy: "Type it as the axis writes it." });
      else if (to !== at) b.send({ do: "move", level, old: at, new: to }, { level, at: to }, true);
    }
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (button && !button.disabled) act(b, button.dataset.do, Number(button.dataset.level));
  });
  root.addEventListener("change", (event) => {
    const key = event.target.dataset?.check;
    if (key === "bracket") b.send({ do: "style", style: checks.bracket.checked ? "bracket" : "range" }, b.active);
    else if (key) {
      b.send({ do: "ends", open_bottom: checks.open_bottom.checked, open_top: checks.open_top.checked }, b.active);
    }
  });
}
