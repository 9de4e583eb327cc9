// Elements of the page. All text from outside is set as text, never as HTML.

function byId(id) { return document.getElementById(id); }

/** An element with attributes and children: elements, or texts. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const MARKS = {
  pass: "✓", fail: "✗", error: "!", not_implemented: "○", not_started: "○", changed: "~",
  skipped: "·",
};
const WORDS = {
  pass: "passes", fail: "fails", error: "was not judged, for no fault of yours",
  not_implemented: "is not implemented yet", not_started: "to do",
  changed: "changed since it was checked", skipped: "not checked",
};

/** Fills a list of terms: [[term, text or element]], without the empty ones. */
function setFacts(list, facts) {
  list.replaceChildren(...facts.filter(([, value]) => value).flatMap(
    ([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}
