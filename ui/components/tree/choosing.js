// What is selected, what is carried, and what is under the pointer. Hits are reckoned from
// coordinates, so that redrawing under the pointer changes nothing.

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
