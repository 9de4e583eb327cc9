// Elements of this page and of `grade --html`. All text from outside is set as text, never as HTML.

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

/** "rank 2, recv from rank 1, exercises/…/broadcast_ring.cc:12" */
function placeOf({rank, op, peer, file, line}) {
  const to = op === "recv" ? "from" : op === "send" ? "to" : "with";
  const what = [op, peer >= 0 ? `${to} rank ${peer}` : ""].filter(Boolean).join(" ");
  const where = file && (line > 0 ? `${file}:${line}` : file);
  return [rank >= 0 ? `rank ${rank}` : "", what, where].filter(Boolean).join(", ");
}

/** One word a check; its tooltip says what it found. */
function chips(checks) {
  return make("ul", {class: "chips", "aria-label": "Checks"}, ...checks.map((check) =>
    make("li", {class: check.status, title: check.detail.split("\n")[0] || WORDS[check.status]},
      `${MARKS[check.status]} ${check.name}`)));
}

function block(title, text) {
  if (!text.trim()) return [];
  return [make("h3", {}, title), make("pre", {class: "wrapped", tabindex: "0"}, text)];
}
