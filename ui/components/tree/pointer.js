// Mouse and pen: click, drag, drop.


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
