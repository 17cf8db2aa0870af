// Text goes in by textContent only, never as markup.

/** Make an element with a class, attributes and a text. */
function element(tag, name, attributes, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
