// What the builder knows of a hierarchy: pure functions over what Python sent, no document.
// On every level nodes are numbered by the place in which they are shown; `ids` are Python's.

/** Take apart what Python sent: per level ids, labels, leaf bounds, parents, children. */
function buildModel(data) {
  const count = data.order.length;
  const levels = [
    {
      ids: data.order,
      labels: data.order.map((leaf) => data.leaves[leaf]),
      start: Int32Array.from({ length: count }, (_, i) => i),
      end: Int32Array.from({ length: count }, (_, i) => i + 1),
      rows: data.order.map((leaf) => data.rows[leaf]),
      alone: null,
      from: null,
    },
  ];
  for (const sent of data.levels) {
    const below = levels[levels.length - 1];
    const size = sent.id.length;
    const level = {
      ids: sent.id,
      labels: sent.label,
      start: new Int32Array(size),
      end: new Int32Array(size),
      rows: new Array(size),
      alone: new Uint8Array(size),
      untrue: new Uint8Array(size),
      from: new Int32Array(size + 1),
    };
    below.parent = new Int32Array(below.ids.length);
    let child = 0;
    for (let i = 0; i < size; i++) {
      level.from[i] = child;
      level.start[i] = below.start[child];
      let rows = 0;
      for (const stop = child + sent.size[i]; child < stop; child++) {
        below.parent[child] = i;
        rows += below.rows[child];
      }
      level.rows[i] = rows;
      level.end[i] = below.end[child - 1];
      level.alone[i] = sent.size[i] === 1 && sent.label[i] === below.labels[child - 1] ? 1 : 0;
    }
    level.from[size] = child;
    levels.push(level);
  }
  for (const level of levels) {
    level.index = new Map(level.ids.map((id, i) => [id, i]));
    level.at = new Int32Array(count); // node by leaf
    for (let i = 0; i < level.ids.length; i++) level.at.fill(i, level.start[i], level.end[i]);
  }
  for (const [level, label] of data.untrue ?? []) {
    const node = levels[level].labels.indexOf(label);
    if (node >= 0) levels[level].untrue[node] = 1;
  }
  levels[levels.length - 1].alone.fill(0); // the top is a group, whatever it holds
  return {
    column: data.column,
    kind: data.kind,
    top: levels.length - 1,
    count,
    levels,
    most: levels[0].rows.reduce((a, b) => Math.max(a, b), 1),
  };
}

/** Rows of the picture: a leaf each, or one for a whole collapsed group. */
function layoutRows(model, collapsed) {
  const rowOf = new Int32Array(model.count + 1);
  const entries = [];
  let leaf = 0;
  while (leaf < model.count) {
    let stop = leaf + 1;
    let folded = null;
    if (collapsed.size) {
      for (let at = model.top; at > 0 && folded === null; at--) {
        const level = model.levels[at];
        const node = level.at[leaf];
        if (collapsed.has(level.ids[node])) {
          folded = { level: at, node };
          stop = level.end[node];
        }
      }
    }
    rowOf.fill(entries.length, leaf, stop);
    entries.push({ leaf, folded });
    leaf = stop;
  }
  rowOf[model.count] = entries.length;
  return { rowOf, entries };
}

/** First row of a node, and the row after its last one. */
function rowsOfNode(model, layout, level, node) {
  const { start, end } = model.levels[level];
  return [layout.rowOf[start[node]], layout.rowOf[end[node] - 1] + 1];
}

/** Whether a node is inside a group that is collapsed. */
function isHidden(layout, model, level, node) {
  const entry = layout.entries[layout.rowOf[model.levels[level].start[node]]];
  return entry.folded !== null && entry.folded.level > level;
}

function parentOf(model, level, node) {
  return model.levels[level].parent[node];
}

function sizeOf(model, level, node) {
  return level === 0 ? 1 : model.levels[level].from[node + 1] - model.levels[level].from[node];
}

/** The node of `level` that holds a node of a lower level. */
function ancestor(model, level, node, at) {
  return model.levels[at].at[model.levels[level].start[node]];
}

/** Whether nodes can be moved before or after another one: under one group, alone in between. */
function canReorder(model, level, nodes, beside) {
  if (model.kind !== "text" || nodes.includes(beside)) return false;
  let some = nodes;
  let other = beside;
  for (let at = level; at < model.top; at++) {
    const parents = new Set(some.map((node) => parentOf(model, at, node)));
    if (parents.size === 1 && parents.has(parentOf(model, at, other))) return !some.includes(other);
    if (some.some((node) => sizeOf(model, at + 1, parentOf(model, at, node)) > 1)) return false;
    some = some.map((node) => parentOf(model, at, node));
    other = parentOf(model, at, other);
  }
  return false;
}

const NEW = "new"; // the column in which a drop makes a new level

function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** What is carried, in words. */
function carriedWords(model, carry) {
  if (carry.texts) {
    return carry.texts.length === 1 ? quoted(carry.texts[0]) : plural(carry.texts.length, "value");
  }
  if (carry.nodes.length === 1) return quoted(model.levels[carry.level].labels[carry.nodes[0]]);
  return plural(carry.nodes.length, carry.level === 0 ? "value" : "group");
}

function quoted(text) {
  return `“${text.length > 60 ? `${text.slice(0, 57)}…` : text}”`;
}

/**
 * What dropping would do: an operation and its words, or only the reason why nothing happens.
 * `target` is { level, node }, where the level NEW is the column of new groups; `edge` is -1 or 1
 * where a drop beside a node of the same level is meant, else 0.
 */
function dropMeaning(model, carry, target, edge) {
  if (carry.texts) return placeMeaning(model, carry, target);
  const nodes = carry.nodes;
  const ids = nodes.map((node) => model.levels[carry.level].ids[node]);
  const what = carriedWords(model, carry);
  const group = (at, words) => ({
    op: { do: "group", level: carry.level, nodes: ids, at },
    words,
  });
  if (target.level === NEW) return group(model.top, `New group of ${what} on a new level`);
  const { level, node } = target;
  const there = model.levels[level];
  if (level < carry.level) return { words: "A group cannot go into its own level or below" };
  if (level === carry.level) {
    if (nodes.includes(node)) return { words: `${what}: where it is` };
    if (edge !== 0 && canReorder(model, level, nodes, node)) {
      return {
        op: {
          do: "reorder",
          level,
          nodes: ids,
          beside: there.ids[node],
          after: edge > 0,
        },
        words: `Move ${edge > 0 ? "after" : "before"} ${quoted(there.labels[node])}`,
      };
    }
    if (level === model.top) return { words: "The top stays where it is" };
    const parent = parentOf(model, level, node);
    const above = model.levels[level + 1];
    if (level + 1 === model.top || above.alone[parent]) {
      return {
        op: { do: "group", level, nodes: [...ids, there.ids[node]], at: level + 1 },
        words: `Group with ${quoted(there.labels[node])}`,
      };
    }
    return dropMeaning(model, carry, { level: level + 1, node: parent }, 0);
  }
  if (there.alone[node]) return group(level, `New group of ${what} on level ${level}`);
  const staying = nodes.every((one) => {
    for (let at = carry.level + 1; at < level; at++) {
      if (!model.levels[at].alone[ancestor(model, carry.level, one, at)]) return false;
    }
    return ancestor(model, carry.level, one, level) === node;
  });
  const into = quoted(there.labels[node]);
  if (staying) return { words: `Already in ${into}` };
  return {
    op: { do: "move", level: carry.level, nodes: ids, onto: level, to: there.ids[node] },
    words: level === model.top ? `Take ${what} out of its group` : `Move ${what} into ${into}`,
  };
}

/** The same for values that have no place yet. */
function placeMeaning(model, carry, target) {
  const what = carriedWords(model, carry);
  let { level, node } = target;
  if (level === 0) [level, node] = [1, parentOf(model, 0, node)];
  if (level === NEW || level === model.top) {
    return { op: { do: "place", values: carry.texts }, words: `Place ${what} on its own` };
  }
  const there = model.levels[level];
  return {
    op: { do: "place", values: carry.texts, onto: level, to: there.ids[node] },
    words: there.alone[node]
      ? `Group ${what} with ${quoted(there.labels[node])}`
      : `Place ${what} in ${quoted(there.labels[node])}`,
  };
}

/** Nodes whose text contains the query, values first, each { level, node }. */
function findNodes(model, query) {
  const wanted = query.trim().toLowerCase();
  const found = [];
  if (!wanted) return found;
  model.levels.forEach((level, at) => {
    level.labels.forEach((label, node) => {
      if (at > 0 && level.alone[node]) return;
      if (label.toLowerCase().includes(wanted)) found.push({ level: at, node });
    });
  });
  return found;
}

/** A node in words, for those who cannot see it. */
function nodeWords(model, level, node) {
  const here = model.levels[level];
  const rows = plural(here.rows[node], "row");
  if (level === 0) return `${here.labels[node]}, value, ${rows}`;
  const leaves = plural(here.end[node] - here.start[node], "value");
  if (level === model.top) return `${here.labels[node]}, top, ${leaves}`;
  if (here.alone[node]) return `${here.labels[node]} stands for itself on level ${level}, ${rows}`;
  const untrue = here.untrue[node] ? ", the label is not true of all its values" : "";
  return `${here.labels[node]}, group on level ${level}, ${leaves}, ${rows}${untrue}`;
}
