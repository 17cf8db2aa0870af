// Drawing: only rows in sight are elements. Text goes in by textContent, never as markup.

const ROW = 26;
const NARROW = { value: 180, level: 128, fresh: 84, top: 66 };
const WIDE = { value: 300, level: 240, fresh: 150, top: 120 };

/** The fixed parts: toolbar, tray, heads, the scrolled plane, messages. */
function buildParts() {
  const root = element("div", "tree");
  const bar = element("div", "bar", { role: "toolbar", "aria-label": "Edit the hierarchy" });
  const buttons = {};
  const button = (key, text, title) => {
    const attributes = { type: "button", title, "data-do": key };
    if (text.length === 1) attributes["aria-label"] = title;
    buttons[key] = element("button", "", attributes, text);
    bar.append(buttons[key]);
  };
  button("undo", "↶", "Undo the last edit (Ctrl+Z)");
  button("redo", "↷", "Redo the edit (Ctrl+Y)");
  bar.append(element("span", "gap"));
  button("group", "Group", "New group of what is selected (G)");
  button("carry", "Move", "Pick up what is selected, then drop it somewhere (M)");
  button("rename", "Rename", "Rename the group (F2)");
  button("ungroup", "Ungroup", "Dissolve the selected groups (Del)");
  button("fold", "Collapse", "Collapse or open the group (C)");
  bar.append(element("span", "gap"));
  const search = element("input", "search", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search values and groups; Enter goes to the next",
    spellcheck: "false",
  });
  const found = element("span", "found", { "aria-live": "polite" });
  bar.append(search, found);
  button("take", "Select", "Select all values found");
  const tray = element("div", "tray", { role: "group", "aria-label": "Values without a place" });
  const heads = element("div", "heads");
  const headRow = element("div", "head-row");
  heads.append(headRow);
  const frame = element("div", "frame", {
    role: "tree",
    tabindex: "0",
    "aria-multiselectable": "true",
    "aria-label": "Hierarchy",
    "aria-describedby": "keys-short",
  });
  const plane = element("div", "plane", { role: "none" });
  frame.append(plane);
  const note = element("div", "note", { role: "alert", hidden: "" });
  const say = element("div", "unseen", { role: "status", "aria-live": "polite" });
  const ghost = element("div", "ghost", { hidden: "", "aria-hidden": "true" });
  const keys = element("details", "keys");
  keys.append(element("summary", "", {}, "Keys and mouse"), keyTable());
  const short = element(
    "div",
    "unseen",
    { id: "keys-short" },
    "Arrows move, Space selects, M picks up and Enter drops, G groups, F2 renames, " +
      "Delete ungroups, Control Z undoes.",
  );
  const box = element("div", "box");
  box.append(heads, frame, note);
  root.append(bar, tray, box, keys, short, say, ghost);
  return {
    root, bar, buttons, search, found, tray, heads, headRow, box, frame, plane, note, say, ghost,
  };
}

function keyTable() {
  const table = element("dl");
  for (const [keys, what] of [
    ["Drag", "values or groups onto a group, or onto empty space for a new group"],
    ["Ctrl / Shift + click", "select several"],
    ["Double click", "rename a group"],
    ["Arrow keys", "move; Shift + ↑ ↓ selects along the way"],
    ["Space, Ctrl+A", "select one, select the whole level"],
    ["M, then Enter", "pick up, go to the target, drop; Esc lets go"],
    ["G", "new group of what is selected"],
    ["F2", "rename"],
    ["Del", "ungroup"],
    ["Alt + ↑ ↓", "reorder within the group"],
    ["C", "collapse or open a group"],
    ["/", "search"],
    ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ]) {
    table.append(element("dt", "", {}, keys), element("dd", "", {}, what));
  }
  return table;
}

/** Columns from left to right: values, levels, the column of new groups, the top. */
function layoutColumns(model, width) {
  const middle = model.top - 1;
  const need = (size) => size.value + middle * size.level + size.fresh + size.top;
  const slack = Math.max(0, width - need(NARROW));
  const spread = need(WIDE) - need(NARROW);
  const share = Math.min(1, slack / spread);
  const columns = [];
  let left = 0;
  const add = (key, kind) => {
    const size = Math.floor(NARROW[kind] + (WIDE[kind] - NARROW[kind]) * share);
    columns.push({ key, left, width: size });
    left += size;
  };
  add(0, "value");
  for (let level = 1; level < model.top; level++) add(level, "level");
  add(NEW, "fresh");
  add(model.top, "top");
  return { columns, width: left };
}

function columnOf(b, level) {
  return b.columns.columns.find((column) => column.key === level);
}

/** Column heads, with the buttons that insert and remove levels. */
function drawHeads(b) {
  const { headRow } = b.parts;
  headRow.replaceChildren();
  headRow.style.width = `${b.columns.width}px`;
  for (const { key, left, width } of b.columns.columns) {
    const head = element("div", "head");
    head.style.left = `${left}px`;
    head.style.width = `${width}px`;
    const button = (act, text, title) =>
      head.append(
        element("button", "", { type: "button", title, "aria-label": title, "data-do": act, "data-level": key }, text),
      );
    if (key === 0) {
      head.append(element("span", "title", {}, `Values (${b.model.count.toLocaleString("en")})`));
    } else if (key === NEW) {
      button("insert", "+ Level", "Add a level below the top");
      head.lastChild.dataset.level = b.model.top;
    } else if (key === b.model.top) {
      head.append(element("span", "title", {}, "Top"));
    } else {
      const { alone } = b.model.levels[key];
      const groups = alone.reduce((sum, one) => sum + 1 - one, 0);
      const title = element("span", "title", {}, `Level ${key}`);
      title.append(element("small", "", {}, ` ${groups.toLocaleString("en")}`));
      title.title = plural(groups, "group");
      head.append(title);
      button("insert", "+", `Insert a level before level ${key}`);
      button("remove", "✕", `Remove level ${key}`);
    }
    headRow.append(head);
  }
}

/** Draw what is in sight. */
function draw(b) {
  const { model, layout, columns } = b;
  const { frame, plane } = b.parts;
  plane.style.height = `${layout.entries.length * ROW}px`;
  plane.style.width = `${columns.width}px`;
  const first = Math.max(0, Math.floor(frame.scrollTop / ROW) - 4);
  const last = Math.min(
    layout.entries.length,
    Math.ceil((frame.scrollTop + frame.clientHeight) / ROW) + 4,
  );
  const wanted = new Set();
  const begin = first < last ? layout.entries[first].leaf : 0;
  for (const column of columns.columns) {
    if (column.key === NEW || first >= last) continue;
    const level = model.levels[column.key];
    for (let node = level.at[begin]; node < level.ids.length; node++) {
      const [from, to] = rowsOfNode(model, layout, column.key, node);
      if (from >= last) break;
      if (to <= first || isHidden(layout, model, column.key, node)) continue;
      const key = `${column.key}:${level.ids[node]}`;
      wanted.add(key);
      drawNode(b, key, column, node, from, to);
    }
  }
  for (let row = first; row < last; row++) {
    const { folded } = layout.entries[row];
    if (!folded) continue;
    const key = `fold:${folded.level}:${model.levels[folded.level].ids[folded.node]}`;
    wanted.add(key);
    drawFold(b, key, row, folded);
  }
  wanted.add(NEW);
  drawSlot(b);
  for (const [key, made] of b.nodes) {
    if (wanted.has(key)) continue;
    made.remove();
    b.nodes.delete(key);
  }
  drawState(b);
}

function place(made, left, top, width, height) {
  made.style.left = `${left}px`;
  made.style.top = `${top}px`;
  made.style.width = `${width}px`;
  made.style.height = `${height}px`;
}

/** One value or group. */
function drawNode(b, key, column, node, from, to) {
  const { model } = b;
  const at = column.key;
  const level = model.levels[at];
  let made = b.nodes.get(key);
  if (!made) {
    made = element("div", "", { role: "treeitem", id: `n-${key.replace(":", "-")}` });
    made.append(element("span", "text"), element("span", "count"), element("span", "part"));
    b.nodes.set(key, made);
    b.parts.plane.append(made);
  }
  const [text, count, part] = made.children;
  const kind = at === 0 ? "value" : level.alone[node] ? "alone" : at === model.top ? "top" : "group";
  const id = level.ids[node];
  const label = level.labels[node];
  const chosen = b.selected.has(id) && b.selLevel === at;
  made.className = `node ${kind}`;
  made.classList.toggle("selected", chosen);
  made.classList.toggle("carried", b.carry?.level === at && b.carry.nodes.includes(node));
  made.classList.toggle("match", b.matches.has(key));
  made.classList.toggle("untrue", at > 0 && level.untrue[node] === 1);
  place(made, column.left + 1, from * ROW + 1, column.width - 2, (to - from) * ROW - 2);
  if (text.textContent !== label) text.textContent = label;
  text.title = label.length > 20 ? label : "";
  if (at === 0) {
    count.textContent = level.rows[node].toLocaleString("en");
    part.style.width = `${(level.rows[node] / model.most) * 100}%`;
  } else {
    const leaves = level.end[node] - level.start[node];
    count.textContent = kind === "alone" ? "" : plural(leaves, "value");
  }
  made.setAttribute("aria-level", model.top - at + 1);
  made.setAttribute("aria-selected", chosen);
  made.setAttribute("aria-label", nodeWords(model, at, node));
  if (at > 0) made.setAttribute("aria-expanded", !b.collapsed.has(id));
  if (at < model.top) {
    const parent = parentOf(model, at, node);
    const above = model.levels[at + 1];
    made.setAttribute("aria-posinset", node - above.from[parent] + 1);
    made.setAttribute("aria-setsize", above.from[parent + 1] - above.from[parent]);
  }
}

/** The one row of a collapsed group. */
function drawFold(b, key, row, folded) {
  let made = b.nodes.get(key);
  if (!made) {
    made = element("div", "fold", { role: "none" });
    b.nodes.set(key, made);
    b.parts.plane.append(made);
  }
  const column = columnOf(b, folded.level);
  const level = b.model.levels[folded.level];
  place(made, 1, row * ROW + 1, column.left - 2, ROW - 2);
  made.textContent = `▸ ${plural(level.end[folded.node] - level.start[folded.node], "value")}`;
}

/** The column in which a drop makes a new level. */
function drawSlot(b) {
  let made = b.nodes.get(NEW);
  if (!made) {
    made = element("div", "slot", { role: "none", id: "n-new" });
    made.append(element("span", "text", {}, "Drop here for a new group"));
    b.nodes.set(NEW, made);
    b.parts.plane.append(made);
  }
  const column = columnOf(b, NEW);
  const tall = Math.max(b.layout.entries.length * ROW, ROW);
  place(made, column.left + 1, 1, column.width - 2, tall - 2);
}

/** What changes without the hierarchy: active node, target, buttons. */
function drawState(b) {
  const { frame, buttons, found } = b.parts;
  const active = b.carry && b.target ? b.target : b.active;
  for (const [key, made] of b.nodes) {
    const [level, id] = key.split(":");
    const own = { level: level === NEW ? NEW : Number(level), id: Number(id) };
    made.classList.toggle("active", sameNode(b, active, own));
    made.classList.toggle("target", b.carry !== null && sameNode(b, b.target, own));
    const edge = b.carry && sameNode(b, b.target, own) ? b.target.edge : 0;
    made.classList.toggle("before", edge < 0);
    made.classList.toggle("after", edge > 0);
  }
  const key = active && (active.level === NEW ? "new" : `${active.level}-${idOf(b, active)}`);
  if (key) frame.setAttribute("aria-activedescendant", `n-${key}`);
  else frame.removeAttribute("aria-activedescendant");
  frame.classList.toggle("carrying", b.carry !== null);
  const chosen = chosenNodes(b);
  const groups = chosen.level > 0 && chosen.level < b.model.top;
  const real = groups && chosen.nodes.some((node) => !b.model.levels[chosen.level].alone[node]);
  buttons.undo.disabled = !b.data.undo;
  buttons.redo.disabled = !b.data.redo;
  buttons.group.disabled = chosen.level >= b.model.top || !chosen.nodes.length;
  buttons.carry.disabled = buttons.group.disabled;
  buttons.rename.disabled = !(b.active && b.active.level > 0);
  buttons.ungroup.disabled = !real;
  buttons.fold.disabled = chosen.level === 0 || !chosen.nodes.length;
  buttons.take.disabled = ![...b.matches].some((one) => one.startsWith("0:"));
  buttons.take.hidden = !b.parts.search.value;
  found.hidden = !b.parts.search.value;
}

function idOf(b, place) {
  return place.id !== undefined ? place.id : b.model.levels[place.level].ids[place.node];
}

function sameNode(b, place, own) {
  if (!place) return false;
  if (place.level === NEW || own.level === NEW) return place.level === own.level;
  return place.level === own.level && idOf(b, place) === own.id;
}

/** Values without a place, as buttons that can be carried. */
function drawTray(b) {
  const { tray } = b.parts;
  const { unplaced } = b.data;
  tray.hidden = !unplaced.length;
  tray.replaceChildren();
  if (!unplaced.length) return;
  tray.append(
    element(
      "p",
      "",
      {},
      `${plural(unplaced.length, "value")} of the table ${unplaced.length === 1 ? "has" : "have"} ` +
        "no place yet. Drag onto a group, or:",
    ),
    element("button", "", { type: "button", "data-do": "place" }, "Place all on their own"),
  );
  const chips = element("div", "chips");
  for (const { text, rows } of unplaced.slice(0, 200)) {
    const chip = element("button", "chip", { type: "button", "aria-pressed": "false" });
    chip.append(element("span", "", {}, text), element("small", "", {}, ` ${plural(rows, "row")}`));
    chip.dataset.text = text;
    chips.append(chip);
  }
  if (unplaced.length > 200) {
    chips.append(element("span", "more", {}, `and ${plural(unplaced.length - 200, "other")}`));
  }
  tray.append(chips);
}

/** Bring a row into sight. */
function showRow(b, row) {
  const { frame } = b.parts;
  const top = row * ROW;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + ROW > frame.scrollTop + frame.clientHeight) {
    frame.scrollTop = top + ROW - frame.clientHeight;
  }
}

function showColumn(b, level) {
  const { frame } = b.parts;
  const { left, width } = columnOf(b, level);
  if (left < frame.scrollLeft) frame.scrollLeft = left;
  else if (left + width > frame.scrollLeft + frame.clientWidth) {
    frame.scrollLeft = left + width - frame.clientWidth;
  }
}

/** Say something to those who listen. */
function speak(b, text) {
  b.parts.say.textContent = "";
  b.parts.say.textContent = text;
}

/** Show a refusal where it happened. */
function showNote(b, error, place) {
  const { note, frame, box, heads } = b.parts;
  note.replaceChildren(
    element("strong", "", {}, error.message),
    element("span", "", {}, ` ${error.remedy}`),
  );
  if (error.values?.length) {
    note.append(element("code", "", {}, error.values.map((one) => one.slice(0, 60)).join(" · ")));
  }
  note.hidden = false;
  let left = 8;
  let top = heads.offsetHeight + 8;
  if (place) {
    left = Math.max(8, place.left - frame.scrollLeft);
    top = heads.offsetHeight + place.top - frame.scrollTop + ROW + 4;
  }
  note.style.left = `${Math.min(left, Math.max(8, box.clientWidth - 380))}px`;
  note.style.top = `${Math.max(8, Math.min(top, box.clientHeight - 60))}px`;
}

function hideNote(b) {
  b.parts.note.hidden = true;
}
