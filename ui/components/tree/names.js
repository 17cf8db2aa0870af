// The field in which a group is named.


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
