// Mouse, pen and keyboard. What is hit is reckoned from coordinates, so that redrawing under the
// pointer changes nothing.

/** The node under a point of the window: { level, node, edge }, or null. */
function hit(b, x, y) {
  const { frame, plane } = b.parts;
  const seen = frame.getBoundingClientRect();
  if (x < seen.left || x > seen.right || y < seen.top || y > seen.bottom) return null;
  const box = plane.getBoundingClientRect();
  const row = Math.floor((y - box.top) / ROW);
  const within = x - box.left;
  const column = b.columns.columns.find((one) => within >= one.left && within < one.left + one.width);
  if (row < 0 || row >= b.layout.entries.length) {
    return within >= 0 && y > box.top ? { level: NEW, node: 0, edge: 0, outside: true } : null;
  }
  if (!column) return { level: NEW, node: 0, edge: 0, outside: true };
  if (column.key === NEW) return { level: NEW, node: 0, edge: 0 };
  const { leaf, folded } = b.layout.entries[row];
  const level = folded && folded.level > column.key ? folded.level : column.key;
  const node = b.model.levels[level].at[leaf];
  const [from, to] = rowsOfNode(b.model, b.layout, level, node);
  const inside = (y - box.top - from * ROW) / ((to - from) * ROW);
  const margin = Math.min(0.25, 7 / ((to - from) * ROW));
  const edge = inside < margin ? -1 : inside > 1 - margin ? 1 : 0;
  return { level, node, edge };
}

// ---- selecting -----------------------------------------------------------------------------

function chosenNodes(b) {
  if (b.selected.size) {
    const { index } = b.model.levels[b.selLevel];
    const nodes = [...b.selected].map((id) => index.get(id)).filter((node) => node !== undefined);
    nodes.sort((one, other) => one - other);
    return { level: b.selLevel, nodes };
  }
  return activeNode(b);
}

function activeNode(b) {
  return b.active ? { level: b.active.level, nodes: [b.active.node] } : { level: 0, nodes: [] };
}

function selectOnly(b, place) {
  b.selLevel = place.level;
  b.selected = new Set([b.model.levels[place.level].ids[place.node]]);
  b.anchor = place;
}

function toggle(b, place) {
  if (b.selLevel !== place.level) b.selected = new Set();
  b.selLevel = place.level;
  const id = b.model.levels[place.level].ids[place.node];
  if (b.selected.has(id)) b.selected.delete(id);
  else b.selected.add(id);
  b.anchor = place;
}

function selectUpTo(b, place) {
  const from = b.anchor && b.anchor.level === place.level ? b.anchor.node : place.node;
  const [low, high] = from < place.node ? [from, place.node] : [place.node, from];
  b.selLevel = place.level;
  b.selected = new Set(b.model.levels[place.level].ids.slice(low, high + 1));
  if (!b.anchor || b.anchor.level !== place.level) b.anchor = place;
}

function activate(b, place, { show = true } = {}) {
  b.active = { level: place.level, node: place.node };
  const [from] = rowsOfNode(b.model, b.layout, place.level, place.node);
  if (show) {
    showRow(b, place.row ?? from);
    showColumn(b, place.level);
  }
  b.cursor = place.row ?? from;
}

// ---- carrying ------------------------------------------------------------------------------

function pickUp(b, carry) {
  b.carry = carry;
  b.target = null;
  hideNote(b);
}

function letGo(b, words) {
  b.carry = null;
  b.target = null;
  b.parts.ghost.hidden = true;
  if (words) speak(b, words);
  draw(b);
}

function drop(b) {
  const { carry, target } = b;
  if (!carry || !target) {
    letGo(b, "Nothing was moved.");
    return;
  }
  const meaning = dropMeaning(b.model, carry, target, target.edge || 0);
  const spot = spotOf(b, target);
  letGo(b);
  if (!meaning.op) speak(b, meaning.words);
  else b.send(meaning.op, spot);
}

/** Say beside the target what dropping would do. */
function showGhost(b, meaning, left, top) {
  const { ghost, root } = b.parts;
  ghost.textContent = meaning.words;
  ghost.classList.toggle("idle", !meaning.op);
  ghost.hidden = false;
  ghost.style.left = `${Math.max(0, Math.min(left, root.clientWidth - ghost.offsetWidth))}px`;
  ghost.style.top = `${top}px`;
}

/** Where on the plane a node begins that is in sight, for messages and the field of a name. */
function spotOf(b, place) {
  const column = columnOf(b, place.level === NEW ? NEW : place.level);
  if (place.level === NEW) return { left: column.left, top: b.parts.frame.scrollTop };
  const [from, to] = rowsOfNode(b.model, b.layout, place.level, place.node);
  const seen = Math.ceil(b.parts.frame.scrollTop / ROW);
  return { left: column.left, top: Math.min(Math.max(from, seen), to - 1) * ROW };
}

// ---- pointer -------------------------------------------------------------------------------

function listenToPointer(b) {
  const { frame, tray, root } = b.parts;
  let press = null;

  const begin = (event, carry, place, chip = null) => {
    if (event.button !== 0 || press) return;
    press = { x: event.clientX, y: event.clientY, carry, place, chip, dragging: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  };

  frame.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".editor")) return;
    const box = frame.getBoundingClientRect();
    if (event.clientX - box.left >= frame.clientWidth) return; // the scroll bar
    if (event.clientY - box.top >= frame.clientHeight) return;
    closeEditor(b, true);
    hideNote(b);
    const place = hit(b, event.clientX, event.clientY);
    if (b.carry) {
      b.target = place;
      drop(b);
      event.preventDefault();
      frame.focus({ preventScroll: true });
      return;
    }
    const on = place && place.level !== NEW ? place : null;
    let carry = null;
    if (on && on.level < b.model.top) {
      const id = b.model.levels[on.level].ids[on.node];
      const several = b.selLevel === on.level && b.selected.has(id);
      carry = several ? chosenNodes(b) : { level: on.level, nodes: [on.node] };
    }
    begin(event, carry, on);
  });

  tray.addEventListener("pointerdown", (event) => {
    const chip = event.target.closest(".chip");
    if (chip) begin(event, { texts: chipTexts(b, chip) }, null, chip);
  });

  const move = (event) => {
    if (!press) return;
    const far = Math.hypot(event.clientX - press.x, event.clientY - press.y);
    if (!press.dragging) {
      if (far < 5 || !press.carry) return;
      press.dragging = true;
      pickUp(b, press.carry);
      draw(b);
    }
    press.last = event;
    aim(event);
  };

  const aim = (event) => {
    b.target = hit(b, event.clientX, event.clientY);
    const meaning = b.target
      ? dropMeaning(b.model, b.carry, b.target, b.target.edge)
      : { words: "Let go here to change nothing" };
    const around = root.getBoundingClientRect();
    showGhost(b, meaning, event.clientX - around.left + 14, event.clientY - around.top + 14);
    scrollAlong(event);
    drawState(b);
  };

  // While something is held near the upper or lower end, the rows come towards it.
  let scrolling = 0;
  const scrollAlong = (event) => {
    cancelAnimationFrame(scrolling);
    const box = frame.getBoundingClientRect();
    const near = 28;
    const up = box.top + near - event.clientY;
    const down = event.clientY - (box.bottom - near);
    const by = up > 0 ? -Math.min(up, near) / 2 : down > 0 ? Math.min(down, near) / 2 : 0;
    if (!by) return;
    scrolling = requestAnimationFrame(() => {
      if (!press?.dragging) return;
      frame.scrollTop += by;
      aim(press.last);
    });
  };

  const end = (event) => {
    if (!press) return;
    const { dragging, place, chip } = press;
    press = null;
    cancelAnimationFrame(scrolling);
    if (dragging) {
      drop(b);
      frame.focus({ preventScroll: true });
      return;
    }
    if (chip) pressChip(chip);
    else click(event, place);
  };

  const click = (event, place) => {
    frame.focus({ preventScroll: true });
    if (!place) {
      b.selected = new Set();
    } else {
      const row = hitRow(b, event.clientY);
      const entry = b.layout.entries[row];
      if (entry?.folded && columnOf(b, entry.folded.level).left > xIn(b, event.clientX)) {
        b.collapsed.delete(b.model.levels[entry.folded.level].ids[entry.folded.node]);
        relayout(b);
      } else if (event.ctrlKey || event.metaKey) toggle(b, place);
      else if (event.shiftKey) selectUpTo(b, place);
      else selectOnly(b, place);
      activate(b, { ...place, row }, { show: false });
    }
    draw(b);
  };

  const cancel = () => {
    if (press?.dragging) letGo(b, "Nothing was moved.");
    press = null;
  };

  for (const part of [frame, tray]) {
    part.addEventListener("pointermove", move);
    part.addEventListener("pointerup", end);
    part.addEventListener("pointercancel", cancel);
  }
  frame.addEventListener("dblclick", (event) => {
    const place = hit(b, event.clientX, event.clientY);
    if (place && place.level !== NEW && place.level > 0) openEditor(b, place);
  });
  frame.addEventListener("pointermove", (event) => {
    if (b.carry && !press) {
      b.target = hit(b, event.clientX, event.clientY);
      drawState(b);
    }
  });
  b.cancelDrag = () => {
    const held = press?.dragging;
    cancel();
    return held;
  };
}

function hitRow(b, y) {
  const row = Math.floor((y - b.parts.plane.getBoundingClientRect().top) / ROW);
  return Math.max(0, Math.min(b.layout.entries.length - 1, row));
}

function xIn(b, x) {
  return x - b.parts.plane.getBoundingClientRect().left;
}

/** The values a chip stands for: all that are pressed, where it is one of them. */
function chipTexts(b, chip) {
  const pressed = [...b.parts.tray.querySelectorAll('.chip[aria-pressed="true"]')];
  const chosen = pressed.includes(chip) ? pressed : [chip];
  return chosen.map((one) => one.dataset.text);
}

function pressChip(chip) {
  chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
}

// ---- keyboard ------------------------------------------------------------------------------

function listenToKeys(b) {
  const { frame, tray, root } = b.parts;
  root.addEventListener("keydown", (event) => {
    // Streamlit has keys of its own (R, C); inside the builder they mean what they say here.
    event.stopPropagation();
    const inField = event.target instanceof HTMLInputElement;
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (command && !inField && (key === "z" || key === "y")) {
      event.preventDefault();
      b.act(key === "y" || event.shiftKey ? "redo" : "undo");
    } else if (event.key === "Escape" && !inField) {
      if (b.cancelDrag()) return;
      if (b.carry) letGo(b, "Nothing was moved.");
      else if (b.selected.size) b.selected = new Set();
      hideNote(b);
      draw(b);
    }
  });
  frame.addEventListener("keydown", (event) => {
    if (event.target !== frame || event.defaultPrevented) return;
    if (keyPressed(b, event)) event.preventDefault();
  });
  tray.addEventListener("keydown", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      pressChip(chip);
    }
    if (event.key.toLowerCase() !== "m") return;
    event.preventDefault();
    pickUp(b, { texts: chipTexts(b, chip) });
    frame.focus();
    aimByKey(b, b.active || { level: 0, node: 0 });
  });
}

function keyPressed(b, event) {
  const command = event.ctrlKey || event.metaKey;
  const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };
  if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    return reorderByKey(b, steps[event.key]);
  }
  if (event.altKey) return false;
  if (event.key in steps) return step(b, steps[event.key], event.shiftKey);
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    return sideways(b, event.key === "ArrowRight" ? 1 : -1);
  }
  if (event.key === "Home" || event.key === "End") {
    return step(b, event.key === "Home" ? -b.model.count : b.model.count, event.shiftKey);
  }
  if (event.key === " ") {
    if (b.carry || !b.active) return true;
    toggle(b, b.active);
    const on = b.selected.has(idOf(b, b.active));
    speak(b, `${on ? "Selected" : "Not selected"}, ${b.selected.size} in all.`);
    draw(b);
    return true;
  }
  if (event.key === "Enter") {
    if (b.carry) drop(b);
    else b.act("rename");
    return true;
  }
  if (event.key === "F2") return b.act("rename");
  if (event.key === "Delete" || event.key === "Backspace") return b.act("ungroup");
  const key = event.key.toLowerCase();
  if (command && key === "a") {
    const level = b.active ? b.active.level : 0;
    b.selLevel = level;
    b.selected = new Set(b.model.levels[level].ids);
    speak(b, `${plural(b.selected.size, level ? "group" : "value")} selected.`);
    draw(b);
    return true;
  }
  if (command) return false;
  if (key === "m") return b.act("carry");
  if (key === "g") return b.act("group");
  if (key === "c") return b.act("fold");
  if (key === "/") {
    b.parts.search.focus();
    return true;
  }
  return false;
}

/** Where the keyboard is: the target while something is carried, else the active node. */
function here(b) {
  return (b.carry && b.target) || b.active || { level: 0, node: 0 };
}

function step(b, by, extend) {
  const now = here(b);
  if (now.level === NEW) return true;
  const { ids } = b.model.levels[now.level];
  const sign = Math.sign(by);
  let node = Math.max(0, Math.min(ids.length - 1, now.node + by));
  while (node > 0 && node < ids.length - 1 && isHidden(b.layout, b.model, now.level, node)) {
    node += sign;
  }
  if (isHidden(b.layout, b.model, now.level, node)) node = now.node;
  const place = { level: now.level, node };
  if (b.carry) return aimByKey(b, place);
  if (extend) {
    if (!b.selected.size || b.selLevel !== now.level) b.anchor = b.active || place;
    selectUpTo(b, place);
  }
  activate(b, place);
  announce(b);
  draw(b);
  return true;
}

function sideways(b, by) {
  const now = here(b);
  const keys = b.columns.columns.map((column) => column.key);
  const order = b.carry ? keys : keys.filter((key) => key !== NEW);
  const at = order.indexOf(now.level) + by;
  if (at < 0 || at >= order.length) return true;
  const level = order[at];
  if (level === NEW) return aimByKey(b, { level: NEW, node: 0 });
  const row = Math.max(0, Math.min(b.cursor, b.layout.entries.length - 1));
  const { leaf, folded } = b.layout.entries[row];
  if (folded && folded.level > level) return true;
  const place = { level, node: b.model.levels[level].at[leaf], row };
  if (b.carry) return aimByKey(b, place);
  activate(b, place);
  announce(b);
  draw(b);
  return true;
}

function aimByKey(b, place) {
  b.target = { ...place, edge: 0 };
  if (place.level !== NEW) {
    const [from] = rowsOfNode(b.model, b.layout, place.level, place.node);
    b.cursor = place.row ?? from;
    showRow(b, b.cursor);
  }
  showColumn(b, place.level);
  draw(b);
  const meaning = dropMeaning(b.model, b.carry, b.target, 0);
  const { box, heads, frame } = b.parts;
  const spot = spotOf(b, place);
  const top = place.row === undefined ? spot.top : place.row * ROW;
  showGhost(
    b,
    meaning,
    spot.left - frame.scrollLeft + 24,
    box.offsetTop + heads.offsetHeight + top - frame.scrollTop + ROW + 2,
  );
  speak(b, meaning.words);
  return true;
}

function announce(b) {
  const { level, node } = b.active;
  const chosen = b.selLevel === level && b.selected.has(idOf(b, b.active));
  speak(b, nodeWords(b.model, level, node) + (chosen ? ", selected" : ""));
}

function reorderByKey(b, by) {
  if (b.carry || !b.active) return true;
  const { level, nodes } = chosenNodes(b);
  if (!nodes.length || level === b.model.top) return true;
  let beside = by < 0 ? nodes[0] - 1 : nodes[nodes.length - 1] + 1;
  const { ids } = b.model.levels[level];
  // Over a whole group on a level above: its far end is where the next place is.
  while (beside >= 0 && beside < ids.length && !canReorder(b.model, level, nodes, beside)) beside += by;
  if (beside < 0 || beside >= ids.length) {
    speak(b, "It cannot be moved further within its group.");
    return true;
  }
  b.send(
    { do: "reorder", level, nodes: nodes.map((node) => ids[node]), beside: ids[beside], after: by > 0 },
    spotOf(b, { level, node: nodes[0] }),
  );
  return true;
}

// ---- names ---------------------------------------------------------------------------------

/** Open the field in which a group is renamed. */
function openEditor(b, place) {
  closeEditor(b, false);
  const column = columnOf(b, place.level);
  const spot = spotOf(b, place);
  const level = b.model.levels[place.level];
  const field = element("input", "editor", {
    type: "text",
    "aria-label": `Name of the group on level ${place.level}`,
    spellcheck: "false",
  });
  field.value = level.labels[place.node];
  field.style.left = `${column.left + 1}px`;
  field.style.top = `${spot.top + 1}px`;
  field.style.width = `${column.width - 2}px`;
  b.editor = { field, level: place.level, id: level.ids[place.node], was: field.value, sent: false };
  b.parts.plane.append(field);
  field.focus({ preventScroll: true });
  field.select();
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      closeEditor(b, true);
      b.parts.frame.focus({ preventScroll: true });
    } else if (event.key === "Escape") {
      closeEditor(b, false);
      hideNote(b);
      b.parts.frame.focus({ preventScroll: true });
    }
  });
  field.addEventListener("blur", () => closeEditor(b, true));
  return true;
}

/** Close the field; its text is sent where it is new and `keep` is set. */
function closeEditor(b, keep) {
  const { editor } = b;
  if (!editor) return;
  b.editor = null;
  const text = editor.field.value;
  const spot = { left: parseFloat(editor.field.style.left), top: parseFloat(editor.field.style.top) };
  editor.field.remove();
  if (keep && text !== editor.was) {
    b.send({ do: "rename", level: editor.level, node: editor.id, label: text }, spot, text);
  }
}
