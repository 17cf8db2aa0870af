// The keyboard: everything the mouse can do.


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
