// Elements of the page.

/** An element with properties or attributes, and children: elements, or texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "scope") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
