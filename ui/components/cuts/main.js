// The component as Streamlit calls it: once when it appears, and again with every answer of Python.
// It counts `rev`, one for each edit, and ignores what is older than its last one.

const drawn = new WeakMap();

function create(parent) {
  const b = {
    parts: buildParts(),
    active: null,
    focused: false,
    rev: 0,
    waiting: null,
    queue: [],
    epoch: null,
    wide: 600,
  };
  b.send = (op, spot, take) => {
    b.parts.note.hidden = true;
    b.queue.push({ op, spot, take: take || b.focused });
    sendNext(b);
  };
  listenToPointer(b);
  listenToKeys(b);
  b.watcher = new ResizeObserver(() => {
    const wide = b.parts.marks.clientWidth;
    if (!b.data || !wide || wide === b.wide || b.parts.tracks.classList.contains("dragging")) return;
    b.wide = wide;
    draw(b);
  });
  b.watcher.observe(b.parts.marks);
  parent.appendChild(b.parts.root);
  return b;
}

function sendNext(b) {
  if (b.waiting || !b.queue.length) return;
  b.rev += 1;
  b.waiting = { ...b.queue.shift(), rev: b.rev };
  b.parts.root.classList.add("busy");
  b.trigger("edit", { epoch: b.epoch, rev: b.rev, ...b.waiting.op });
}

/** Take over what Python says. */
function update(b, data) {
  const fresh = b.epoch !== data.epoch;
  if (!fresh && b.waiting && data.rev < b.waiting.rev) return; // an echo from before the edit
  const answer = !fresh && b.waiting && data.rev === b.waiting.rev ? b.waiting : null;
  b.data = data;
  b.epoch = data.epoch;
  b.rev = Math.max(fresh ? 0 : b.rev, data.rev);
  b.wide = b.parts.marks.clientWidth || b.wide;
  if (fresh) {
    Object.assign(b, { active: null, queue: [], focused: false });
    b.parts.note.hidden = true;
  }
  if (fresh || answer) {
    b.waiting = null;
    b.parts.root.classList.remove("busy");
  }
  if (answer) {
    b.active = answer.spot && !data.error ? { ...answer.spot } : b.active;
    b.focused = answer.take;
  }
  b.parts.root.dataset.rev = data.rev;
  b.parts.root.dataset.column = data.column;
  draw(b);
  if (answer) {
    if (data.error) {
      speak(b, `${data.error.message} ${data.error.remedy}`);
      showNote(b, data.error);
    } else speak(b, data.said);
  }
  sendNext(b);
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
    b.watcher.disconnect();
    b.parts.root.remove();
    drawn.delete(parentElement);
  };
}
