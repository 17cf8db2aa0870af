// Drawing: bars of rows, and under them a track for each level. Text goes in by textContent only.

/** The fixed parts: toolbar, histogram, marks, tracks, messages. */
function buildParts() {
  const root = element("div", "cuts");
  const bar = element("div", "bar", { role: "toolbar", "aria-label": "Edit the cuts" });
  const buttons = {};
  const button = (key, text, title) => {
    buttons[key] = element("button", "", { type: "button", title, "data-do": key }, text);
    bar.append(buttons[key]);
  };
  button("undo", "↶ Undo", "Take back the last edit (Ctrl+Z)");
  button("redo", "↷ Redo", "Make the edit again (Ctrl+Y)");
  bar.append(element("span", "gap"), element("span", "word", {}, "Start with"));
  button("round", "Round numbers", "Cuts at round numbers, doubled on each level, with open ends");
  button("rows", "Equal rows", "Cuts that halve the rows, and halve the halves");
  button("width", "Equal width", "Cuts that part the range into equal intervals");
  bar.append(element("span", "gap"));
  button("add", "Add cut", "Add a cut on this level, half way to the next one (Insert)");
  button("remove", "Remove cut", "Remove the cut from this level and all above (Delete)");
  button("add_level", "Add level", "Add a coarser level: every second cut of the last one");
  const exact = element("label", "exact", {}, "Cut at ");
  const field = element("input", "field", { type: "text", spellcheck: "false", inputmode: "decimal" });
  exact.append(field);
  bar.append(exact);
  const ends = element("div", "bar ends");
  const checks = {};
  for (const [key, text, title] of [
    ["open_bottom", "Open bottom (<20)", "Write the first interval without its smallest value"],
    ["open_top", "Open top (≥80)", "Write the last interval without its largest value"],
    ["bracket", "Write as [20, 30)", "Write intervals half-open rather than 20-29"],
  ]) {
    const label = element("label", "check", { title });
    checks[key] = element("input", "", { type: "checkbox", "data-check": key });
    label.append(checks[key], element("span", "", {}, text));
    ends.append(label);
  }
  const hint = element("p", "hint", { hidden: "" });
  const plot = element("div", "plot");
  const bars = element("div", "bars", { role: "img" });
  const line = element("div", "line", { hidden: "" });
  const ghost = element("div", "ghost", { hidden: "", "aria-hidden": "true" });
  const marks = element("div", "marks", { "aria-hidden": "true" });
  const tracks = element("div", "tracks");
  plot.append(bars, marks, tracks, line, ghost);
  const note = element("div", "note", { role: "alert", hidden: "" });
  const say = element("div", "unseen", { role: "status", "aria-live": "polite" });
  const keys = element("details", "keys");
  keys.append(element("summary", "", {}, "Keys and mouse"), keyTable());
  root.append(bar, ends, hint, plot, note, keys, say);
  return {
    root, bar, buttons, checks, field, hint, plot, bars, line, ghost, marks, tracks, note, say,
  };
}

function keyTable() {
  const table = element("dl");
  for (const [keys, what] of [
    ["Drag", "a cut along its level; it moves on all levels it stands on"],
    ["Double click", "on a level: a new cut there, on that level and all below"],
    ["← →", "move the cut; with Shift ten steps at once"],
    ["Page Up, Page Down", "cut before or after it on the level; Tab leaves the cuts"],
    ["↑ ↓", "to the cut on the level above or below"],
    ["Insert or +", "new cut half way to the next one"],
    ["Delete", "remove the cut from this level and all above"],
    ["Enter", "type the cut"],
    ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ]) {
    table.append(element("dt", "", {}, keys), element("dd", "", {}, what));
  }
  return table;
}

/** A number or day as text. */
function written(b, value) {
  if (b.data.kind === "date") {
    return new Date((value - 719163) * 86400000).toISOString().slice(0, 10);
  }
  return value.toLocaleString("en", { maximumFractionDigits: 10, useGrouping: false });
}

/** What a person typed as number or day; NaN where it is none. */
function typedValue(b, text) {
  const plain = text.trim();
  if (b.data.kind === "date") {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(plain)) return NaN;
    return Math.round(Date.parse(`${plain}T00:00:00Z`) / 86400000) + 719163;
  }
  return /^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(plain) ? Number(plain.replace(",", ".")) : NaN;
}

function between(x, from, to) {
  const last = from.length - 1;
  if (x <= from[0]) return to[0];
  if (x >= from[last]) return to[last];
  let i = 1;
  while (from[i] < x) i += 1;
  const part = (x - from[i - 1]) / (from[i] - from[i - 1] || 1);
  return to[i - 1] + part * (to[i] - to[i - 1]);
}

/** Place of a value on the line, 0 to 1. */
const placeOf = (b, value) => between(value, b.data.values, b.data.places);

/** The value at a place, rounded to what a pixel can show. */
function valueAt(b, place) {
  const { values, places, step } = b.data;
  const value = between(place, places, values);
  const near = between(Math.min(1, place + 1 / Math.max(b.wide, 1)), places, values);
  let fine = step;
  const pixel = Math.abs(near - value);
  if (pixel < step && !b.data.whole) fine = 10 ** Math.floor(Math.log10(pixel || step));
  if (b.data.whole) fine = pixel < step ? Math.max(1, 10 ** Math.floor(Math.log10(Math.max(pixel, 1)))) : step;
  return Number((Math.round(value / fine) * fine).toPrecision(12));
}

const percent = (place) => `${(place * 100).toFixed(3)}%`;

function draw(b) {
  const { data, parts } = b;
  const { active: held, focused } = b;
  b.drawing = true; // a cut that is drawn anew loses the focus only to get it back
  drawBars(b);
  drawMarks(b);
  parts.tracks.replaceChildren(...data.levels.map((points, i) => trackOf(b, points, i + 1)));
  parts.tracks.hidden = !data.levels.length;
  parts.hint.hidden = data.levels.length > 0 && !data.stretched && !data.named;
  parts.hint.textContent = !data.levels.length
    ? "There are no cuts yet: begin with one of the three starts, then drag."
    : (data.named ? "A group whose values change gets the name of its interval; all others keep theirs. " : "") +
      (data.stretched ? "The line is stretched where many rows are; a bar is as high as its rows per possible value." : "");
  if (held) focusCut(b, held.level, held.at, focused);
  b.focused = focused && b.active !== null;
  b.drawing = false;
  drawState(b);
}

function drawBars(b) {
  const { data, parts } = b;
  parts.bars.replaceChildren(
    ...data.bars.map(([low, high, begin, end, rows, height]) => {
      const one = element("span", "bar-of");
      one.style.flexGrow = end - begin;
      one.style.height = rows ? `max(1px, ${percent(height)})` : "0";
      one.title = `${written(b, low)} to below ${written(b, high)}: ${rows.toLocaleString("en")} rows`;
      return one;
    }),
  );
  parts.bars.setAttribute(
    "aria-label",
    `Histogram of ${data.rows.toLocaleString("en")} rows from ${written(b, data.values[0])} to ` +
      written(b, data.values[data.values.length - 1]),
  );
}

function drawMarks(b) {
  b.parts.marks.replaceChildren(
    ...b.data.marks.map((value) => {
      const mark = element("span", "mark", {}, written(b, value));
      mark.style.left = percent(placeOf(b, value));
      return mark;
    }),
  );
}

/** One level: its head, its intervals with exact counts, and its cuts. */
function trackOf(b, points, level) {
  const { data } = b;
  const groups = data.intervals[level - 1].filter((one) => one[4] > 0);
  const row = element("div", "row");
  const head = element("div", "head");
  head.append(
    element("span", "title", {}, `Level ${level}`),
    element("small", "", {}, `${groups.length} groups`),
  );
  const gone = element(
    "button",
    "gone",
    { type: "button", title: `Remove level ${level}`, "aria-label": `Remove level ${level}`, "data-do": "remove_level", "data-level": level },
    "×",
  );
  head.append(gone);
  const track = element("div", "track", { role: "group", "aria-label": `Level ${level}`, "data-level": level });
  for (const [low, high, label, rows, values] of data.intervals[level - 1]) {
    if (!values) continue;
    const from = low === null ? 0 : placeOf(b, low);
    const to = high === null ? 1 : placeOf(b, high);
    const part = element("div", "part", { title: `${label}: ${rows.toLocaleString("en")} rows, ${values.toLocaleString("en")} values` });
    part.style.left = percent(from);
    part.style.width = percent(to - from);
    const room = (to - from) * b.wide;
    const count = rows.toLocaleString("en");
    // A number without its label is read as one: where the label has no room, both are hidden.
    if (room > Math.max(label.length * 6.6, count.length * 6) + 14)
      part.append(element("span", "label", {}, label), element("small", "count", {}, count));
    track.append(part);
  }
  const shown = points.filter((at) => at > data.values[0] && at < data.values[data.values.length - 1]);
  shown.forEach((at) => track.append(handleOf(b, level, at)));
  row.append(head, track);
  return row;
}

function handleOf(b, level, at) {
  const { data } = b;
  const top = data.levels.filter((points) => points.includes(at)).length;
  const sides = data.intervals[level - 1].filter((one) => one[0] === at || one[1] === at);
  const handle = element("div", "handle", {
    role: "slider",
    tabindex: "-1",
    "aria-label": `Cut of level ${level}`,
    "aria-orientation": "horizontal",
    "aria-valuemin": data.values[0],
    "aria-valuemax": data.values[data.values.length - 1],
    "aria-valuenow": at,
    "aria-valuetext":
      `${written(b, at)}, on level 1 to ${top}; ` +
      sides.map((one) => `${one[2]}: ${one[3].toLocaleString("en")} rows`).join(", "),
    title: `${written(b, at)} – on level 1 to ${top}`,
    "data-level": level,
    "data-at": at,
  });
  handle.style.left = percent(placeOf(b, at));
  handle.append(element("span", "grip"));
  return handle;
}

function drawState(b) {
  const { data, parts, active } = b;
  parts.buttons.undo.disabled = !data.undo;
  parts.buttons.redo.disabled = !data.redo;
  parts.buttons.add.disabled = !data.levels.length;
  parts.buttons.remove.disabled = !active;
  parts.field.disabled = !active;
  if (parts.root.getRootNode().activeElement !== parts.field) {
    parts.field.value = active ? written(b, active.at) : "";
  }
  for (const key of ["open_bottom", "open_top"]) {
    parts.checks[key].checked = data[key];
    parts.checks[key].disabled = !data.levels.length;
  }
  parts.checks.bracket.checked = data.style === "bracket";
  parts.checks.bracket.disabled = !data.levels.length || data.kind === "date";
  for (const handle of parts.tracks.querySelectorAll(".handle")) {
    const own = active && Number(handle.dataset.level) === active.level && Number(handle.dataset.at) === active.at;
    handle.classList.toggle("active", Boolean(own));
    handle.tabIndex = own ? 0 : -1;
  }
  const first = parts.tracks.querySelector(".handle");
  if (first && !parts.tracks.querySelector(".handle.active")) first.tabIndex = 0;
}

function speak(b, text) {
  b.parts.say.textContent = "";
  b.parts.say.textContent = text;
}

function showNote(b, error) {
  b.parts.note.replaceChildren(element("b", "", {}, error.message), element("span", "", {}, ` ${error.remedy}`));
  b.parts.note.hidden = false;
}
