// The table of roles: one line a column, a role chosen in its cell or by a key for all that are
// ticked. Python owns the roles; here are only what is ticked, looked for and in sight.

const drawn = new WeakMap();
/** Letters of a name that is cut in its middle where it has no room, and of its end that stay. */
const LONG = 20, END = 9;

function create(parent) {
  const root = element("div", "roles");
  const bar = element("div", "bar", { role: "toolbar", "aria-label": "Role of the ticked columns" });
  const find = element("input", "find", {
    type: "search", placeholder: "Find a column", "aria-label": "Find columns by a part of their name",
    spellcheck: "false",
  });
  const only = element("select", "only", { "aria-label": "Show the columns of one role" });
  const give = element("span", "give");
  bar.append(find, only, give);
  const frame = element("div", "frame", { tabindex: "-1" });
  const table = element("table", "", { "aria-label": "Columns and their roles" });
  const head = element("tr");
  const all = element("input", "", { type: "checkbox", "aria-label": "Tick all columns in sight" });
  const first = element("th", "tick", { scope: "col" });
  first.append(all);
  head.append(first);
  for (const [name, text] of [
    ["name", "Column"], ["role", "Role"], ["suggested", "Suggestion"], ["why", "Why"],
    ["alone", "Unique values"],
  ])
    head.append(element("th", name, { scope: "col" }, text));
  const body = element("tbody");
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  frame.append(table);
  const said = element("div", "said", { role: "status" });
  root.append(bar, frame, said);
  parent.appendChild(root);
  const b = { root, find, only, give, all, body, said, frame, ticked: new Set(), last: null };
  find.addEventListener("input", () => sift(b));
  only.addEventListener("change", () => sift(b));
  all.addEventListener("change", () => {
    for (const row of inSight(b)) tick(b, row, all.checked);
    counted(b);
  });
  root.addEventListener("keydown", (event) => onKey(b, event));
  return b;
}

const rows = (b) => [...b.body.children];
const inSight = (b) => rows(b).filter((row) => !row.hidden);

function tick(b, row, on) {
  row.querySelector("input").checked = on;
  row.classList.toggle("ticked", on);
  if (on) b.ticked.add(row.dataset.name);
  else b.ticked.delete(row.dataset.name);
}

/** Say how many are ticked, and offer the roles that so many can be given. */
function counted(b) {
  const many = b.ticked.size;
  const seen = inSight(b);
  b.all.checked = seen.length > 0 && seen.every((row) => b.ticked.has(row.dataset.name));
  b.all.indeterminate = many > 0 && !b.all.checked;
  for (const button of b.give.children)
    button.disabled = !many || (many > 1 && button.dataset.alone === "yes");
  const shown = seen.length === rows(b).length ? "" : `${seen.length} of ${rows(b).length} columns shown. `;
  b.said.textContent = many
    ? `${shown}${many} ticked: press a number, or choose a role in one of them.`
    : `${shown}Tick columns, then press a number; Shift ticks all between. Letters choose in a cell.`;
}

/** Show the columns that are looked for; nothing else moves. */
function sift(b) {
  const part = b.find.value.trim().toLocaleLowerCase();
  for (const row of rows(b)) {
    const fits = row.dataset.name.toLocaleLowerCase().includes(part);
    row.hidden = !fits || (b.only.value !== "" && row.dataset.role !== b.only.value);
    if (row.hidden) tick(b, row, false);
  }
  counted(b);
}

function send(b, names, choice) {
  const one = b.data.choices.find((known) => known.key === choice);
  if (!one || !names.length || (one.alone && names.length > 1)) return;
  for (const row of rows(b)) if (names.includes(row.dataset.name)) show(b, row, choice);
  b.trigger("edit", { columns: names, choice });
}

/** The columns that a change in this row is for: all that are ticked, if it is one of them. */
function concerned(b, row) {
  if (!row) return [...b.ticked];
  return b.ticked.has(row.dataset.name) ? [...b.ticked] : [row.dataset.name];
}

function onKey(b, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === b.find) return;
  const row = event.target.closest("tbody tr");
  if (/^[0-9]$/.test(event.key)) {
    const choice = b.data.choices[(Number(event.key) + 9) % 10]; // 0 is the tenth
    if (!choice) return;
    event.preventDefault();
    send(b, concerned(b, b.ticked.size ? null : row), choice.key);
  } else if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    const seen = inSight(b);
    const next = seen[seen.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
    next?.querySelector(event.target.tagName === "SELECT" ? "select" : "input").focus();
  } else if (event.key === "Escape" && b.ticked.size) {
    for (const each of rows(b)) tick(b, each, false);
    counted(b);
  }
}

/** Draw a row's role, in its colour. */
function show(b, row, choice) {
  const one = b.data.choices.find((known) => known.key === choice);
  row.dataset.role = choice;
  const select = row.querySelector("select");
  select.value = choice;
  const sign = row.querySelector(".sign");
  sign.textContent = one.sign;
  for (const part of [sign, select, row.querySelector(".name")]) part.style.color = one.colour;
}

function line(b, column) {
  const row = element("tr", "", { "data-name": column.name });
  const cell = (name, text) => {
    const made = element(name === "name" ? "th" : "td", name, name === "name" ? { scope: "row" } : {});
    if (text !== undefined) {
      made.textContent = text;
      made.title = text;
    }
    row.append(made);
    return made;
  };
  const box = element("input", "", { type: "checkbox", "aria-label": `Tick ${column.name}` });
  cell("tick").append(box);
  const letters = [...column.name];
  const name = cell("name", column.name);
  if (letters.length > LONG) {  // names of one questionnaire differ at their ends
    const parts = element("span", "both");
    parts.append(
      element("span", "start", {}, letters.slice(0, -END).join("")),
      element("span", "end", {}, letters.slice(-END).join("")),
    );
    name.replaceChildren(parts);
  }
  const select = element("select", "", { "aria-label": `Role of ${column.name}` });
  for (const one of b.data.choices) select.append(element("option", "", { value: one.key }, one.word));
  cell("role").append(element("span", "sign", { "aria-hidden": "true" }), select);
  cell("suggested", column.suggested).title = column.why;
  cell("why", column.why);
  cell("alone", column.alone);
  box.addEventListener("click", (event) => {
    const seen = inSight(b);
    const [from, to] = [seen.indexOf(b.last), seen.indexOf(row)];
    const between = event.shiftKey && from >= 0 ? seen.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
    for (const each of between) tick(b, each, box.checked);
    b.last = row;
    counted(b);
  });
  select.addEventListener("change", () => send(b, concerned(b, row), select.value));
  return row;
}

function update(b, data) {
  const same = b.data && b.data.table === data.table;
  b.data = data;
  if (!same) {
    b.ticked.clear();
    b.body.replaceChildren(...data.columns.map((column) => line(b, column)));
    b.only.replaceChildren(
      element("option", "", { value: "" }, "All roles"),
      ...data.choices.map((one) => element("option", "", { value: one.key }, one.word)),
    );
    b.give.replaceChildren(
      ...data.choices.map((one, place) => {
        const button = element(
          "button", "", { type: "button", "data-alone": one.alone ? "yes" : "no", title: one.word },
          `${(place + 1) % 10} ${one.sign} ${one.short}`,
        );
        button.addEventListener("click", () => send(b, [...b.ticked], one.key));
        return button;
      }),
    );
  }
  const now = new Map(data.columns.map((column) => [column.name, column.role]));
  for (const row of rows(b)) show(b, row, now.get(row.dataset.name));
  if (!same) sift(b);
  else counted(b);
}

export default function ({ data, parentElement, setTriggerValue }) {
  let b = drawn.get(parentElement);
  if (!b) {
    b = create(parentElement);
    drawn.set(parentElement, b);
  }
  b.trigger = setTriggerValue;
  const turn = (b.turn = (b.turn || 0) + 1);
  update(b, data);
  return () => {
    // An older call's cleanup may come after a newer call: then the component lives on.
    if (b.turn !== turn) return;
    b.root.remove();
    drawn.delete(parentElement);
  };
}
