// The builder as Streamlit calls it: once when it appears, and again with every answer of Python.
// Python counts `epoch`, which changes when the hierarchy is another one; the builder counts `rev`,
// one for each edit. Each ignores its own echo.

const builders = new WeakMap();

function createBuilder(parent) {
  const b = {
    parts: buildParts(),
    nodes: new Map(),
    collapsed: new Set(),
    selected: new Set(),
    selLevel: 0,
    matches: new Set(),
    anchor: null,
    active: null,
    cursor: 0,
    carry: null,
    target: null,
    editor: null,
    epoch: null,
    rev: 0,
    waiting: null,
    queue: [],
  };
  b.send = (op, spot, typed) => {
    hideNote(b);
    b.queue.push({ op, spot, typed });
    sendNext(b);
  };
  b.act = (what, level) => act(b, what, level);
  listenToPointer(b);
  listenToKeys(b);
  listenToParts(b);
  parent.appendChild(b.parts.root);
  return b;
}

function sendNext(b) {
  if (b.waiting || !b.queue.length) return;
  b.waiting = { ...b.queue.shift(), rev: b.rev + 1 };
  b.rev += 1;
  b.parts.root.classList.add("busy");
  b.trigger("edit", { epoch: b.epoch, rev: b.rev, ...b.waiting.op });
}

/** Toolbar buttons and their keys. */
function act(b, what, level) {
  // A name belongs to the node one is at; everything else is done to what is selected.
  const chosen = what === "rename" && b.active ? activeNode(b) : chosenNodes(b);
  const ids = chosen.nodes.map((node) => b.model.levels[chosen.level].ids[node]);
  const spot = chosen.nodes.length ? spotOf(b, { level: chosen.level, node: chosen.nodes[0] }) : null;
  if (what === "undo" || what === "redo") {
    if (b.data[what] || b.waiting) b.send({ do: what }, null);
    else speak(b, `There is nothing to ${what}.`);
  } else if (what === "insert") b.send({ do: "insert_level", at: level }, null);
  else if (what === "remove") b.send({ do: "remove_level", level }, null);
  else if (what === "place") {
    b.send({ do: "place", values: b.data.unplaced.map((one) => one.text) }, null);
  } else if (!chosen.nodes.length) return true;
  else if (what === "rename") {
    if (chosen.level === 0) speak(b, "The data's own values cannot be renamed.");
    else openEditor(b, { level: chosen.level, node: chosen.nodes[0] });
  } else if (what === "ungroup") b.send({ do: "ungroup", level: chosen.level, nodes: ids }, spot);
  else if (what === "fold") fold(b, chosen);
  else if (chosen.level === b.model.top) speak(b, "The top stays where it is.");
  else if (what === "group") b.send({ do: "group", level: chosen.level, nodes: ids }, spot);
  else if (what === "carry") {
    pickUp(b, chosen);
    b.target = null;
    draw(b);
    b.parts.frame.focus({ preventScroll: true });
    speak(
      b,
      `Picked up ${carriedWords(b.model, chosen)}. Arrow keys choose where to, Enter drops, ` +
        "Escape lets go.",
    );
  }
  return true;
}

function fold(b, chosen) {
  if (chosen.level === 0) return;
  const ids = chosen.nodes.map((node) => b.model.levels[chosen.level].ids[node]);
  const close = ids.some((id) => !b.collapsed.has(id));
  for (const id of ids) {
    if (close) b.collapsed.add(id);
    else b.collapsed.delete(id);
  }
  speak(b, close ? "Collapsed." : "Open.");
  relayout(b);
}

function relayout(b) {
  b.layout = layoutRows(b.model, b.collapsed);
  draw(b);
}

function listenToParts(b) {
  const { root, frame, heads, search, found } = b.parts;
  let drawing = 0;
  frame.addEventListener("scroll", () => {
    heads.scrollLeft = frame.scrollLeft;
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => draw(b));
  });
  frame.addEventListener("focus", () => {
    if (!b.active && b.model.count) activate(b, { level: 0, node: 0 }, { show: false });
    drawState(b);
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (!button || button.disabled) return;
    if (button.dataset.do === "take") takeFound(b);
    else act(b, button.dataset.do, Number(button.dataset.level));
    if (!b.editor) frame.focus({ preventScroll: true });
  });
  search.addEventListener("input", () => {
    b.found = findNodes(b.model, search.value);
    b.matches = new Set(b.found.map(({ level, node }) => `${level}:${b.model.levels[level].ids[node]}`));
    b.nth = -1;
    found.textContent = b.found.length ? `${b.found.length.toLocaleString("en")} found` : "none found";
    if (b.found.length) goTo(b, 0);
    draw(b);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && b.found?.length) {
      event.preventDefault();
      goTo(b, b.nth + (event.shiftKey ? -1 : 1));
    } else if (event.key === "Escape") {
      event.preventDefault();
      search.value = "";
      search.dispatchEvent(new Event("input"));
      frame.focus({ preventScroll: true });
    }
  });
  b.watcher = new ResizeObserver(() => {
    if (!b.model || !frame.clientWidth) return;
    resize(b);
    draw(b);
  });
  b.watcher.observe(frame);
}

function resize(b) {
  b.columns = layoutColumns(b.model, b.parts.frame.clientWidth);
  drawHeads(b);
}

function goTo(b, nth) {
  b.nth = (nth + b.found.length) % b.found.length;
  const place = b.found[b.nth];
  const leaf = b.model.levels[place.level].start[place.node];
  for (let at = place.level + 1; at <= b.model.top; at++) {
    b.collapsed.delete(b.model.levels[at].ids[b.model.levels[at].at[leaf]]);
  }
  b.layout = layoutRows(b.model, b.collapsed);
  activate(b, place);
  b.parts.found.textContent = `${b.nth + 1} of ${b.found.length.toLocaleString("en")}`;
  draw(b);
}

function takeFound(b) {
  b.selLevel = 0;
  b.selected = new Set(
    b.found.filter(({ level }) => level === 0).map(({ node }) => b.model.levels[0].ids[node]),
  );
  speak(b, `${plural(b.selected.size, "value")} selected.`);
  draw(b);
}

/** Take over what Python says. */
function update(b, data) {
  const epoch = `${data.column}/${data.epoch}`;
  const fresh = b.epochKey !== epoch;
  if (!fresh && b.waiting && data.rev < b.waiting.rev) return; // an echo from before the edit
  const answer = !fresh && b.waiting && data.rev === b.waiting.rev ? b.waiting : null;
  const kept = !fresh && b.active ? { level: b.active.level, id: idOf(b, b.active) } : null;
  b.epochKey = epoch;
  b.epoch = data.epoch;
  b.rev = Math.max(fresh ? 0 : b.rev, data.rev);
  if (fresh) {
    Object.assign(b, { collapsed: new Set(), queue: [], anchor: null, carry: null, target: null });
    closeEditor(b, false);
    hideNote(b);
    b.parts.search.value = "";
    b.parts.frame.scrollTop = 0;
  }
  if (fresh || answer) {
    b.waiting = null;
    b.parts.root.classList.remove("busy");
  }
  b.data = data;
  b.model = buildModel(data);
  b.layout = layoutRows(b.model, b.collapsed);
  b.found = findNodes(b.model, b.parts.search.value);
  b.matches = new Set(b.found.map(({ level, node }) => `${level}:${b.model.levels[level].ids[node]}`));
  b.parts.root.dataset.rev = data.rev;
  b.parts.root.dataset.column = data.column;
  if (fresh || (answer && !data.error)) {
    b.selected = new Set();
    b.anchor = null;
  }
  b.active = null;
  resize(b);
  if (kept && kept.level <= b.model.top) {
    const node = b.model.levels[kept.level].index.get(kept.id);
    if (node !== undefined) activate(b, { level: kept.level, node }, { show: false });
  }
  if (answer && !data.error && data.made) {
    const node = b.model.levels[data.made.level].index.get(data.made.id);
    if (node !== undefined) activate(b, { level: data.made.level, node });
  }
  if (!b.active && b.model.count && !fresh) {
    const row = Math.min(b.cursor, b.layout.entries.length - 1);
    activate(b, { level: 0, node: b.layout.entries[row].leaf }, { show: false });
  }
  drawTray(b);
  draw(b);
  if (answer) settle(b, answer, data);
  sendNext(b);
}

/** What follows an edit: a word, a refusal at its place, the field for a new group's name. */
function settle(b, answer, data) {
  if (data.error) {
    speak(b, `${data.error.message} ${data.error.remedy}`);
    if (answer.typed !== undefined && !b.editor) {
      const { level, node } = answer.op;
      const place = b.model.levels[level].index.get(node);
      if (place !== undefined) {
        openEditor(b, { level, node: place });
        b.editor.field.value = answer.typed.slice(0, 1000);
        b.editor.was = b.editor.field.value; // leaving it as it is asks for nothing again
      }
    }
    showNote(b, data.error, answer.spot);
    return;
  }
  speak(b, data.said);
  if (data.made && answer.op.do === "group" && !b.queue.length) {
    const node = b.model.levels[data.made.level].index.get(data.made.id);
    if (node !== undefined) openEditor(b, { level: data.made.level, node });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  let b = builders.get(parentElement);
  if (!b) {
    b = createBuilder(parentElement);
    builders.set(parentElement, b);
  }
  b.trigger = setTriggerValue;
  const turn = (b.turn = (b.turn || 0) + 1);
  update(b, data);
  b.parts.root.dataset.at = performance.now().toFixed(1);
  return () => {
    // An older call's cleanup may come after a newer call: then the builder lives on.
    if (b.turn !== turn) return;
    b.watcher.disconnect();
    b.parts.root.remove();
    builders.delete(parentElement);
  };
}
