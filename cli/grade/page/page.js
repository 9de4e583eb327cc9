// Shows the grades. All text from submissions is set as text, never as HTML.

const data = JSON.parse(document.getElementById("grades").textContent);
const MARKS = { pass: "✓", fail: "✗", not_implemented: "○", missing: "–", error: "!" };
const WORDS = {
  pass: "passes", fail: "fails", not_implemented: "not implemented", missing: "missing",
  error: "not graded",
};

function byId(id) { return document.getElementById(id); }

/** Returns an element with attributes and children: elements, or texts. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function points(value) {
  return value === null ? "not graded" : String(Math.round(value * 100) / 100);
}

function late(grade) {
  return grade.days_late ? `handed in late, on day ${grade.days_late}` : "";
}

/** Returns what is known about a grade. */
function details(grade) {
  const box = make("div", {});
  const facts = make("dl", {});
  const failure = grade.verdict && grade.verdict.failure;
  const add = (name, value) => value && facts.append(make("dt", {}, name), make("dd", {}, value));
  add("status", WORDS[grade.status]);
  add("points", `${points(grade.points)} of ${points(grade.max_points)}`);
  add("late", late(grade));
  if (failure) {
    add("kind", failure.kind);
    add("place", failure.file && failure.file + (failure.line ? `:${failure.line}` : ""));
    add("rank", failure.rank >= 0 ? String(failure.rank) : "");
    add("again", failure.replay);
  }
  add("checks", (grade.verdict ? grade.verdict.checks : [])
    .filter((check) => check.status !== "skipped")
    .map((check) => `${check.status === "pass" ? "✓" : "✗"} ${check.name}`).join("  "));
  add("file", grade.file);
  box.append(facts);
  const texts = [
    ["Message", failure ? failure.message : grade.verdict ? "" : grade.reason, "wrapped"],
    ["Picture of the run", grade.picture, ""],
    ["The compiler", grade.status === "fail" ? grade.compiler_output : "", "wrapped"],
    ["Printed by the program", grade.printed, "wrapped"],
  ];
  for (const [title, text, style] of texts) {
    if (text) box.append(make("h3", {}, title), make("pre", { class: style, tabindex: "0" }, text));
  }
  return box;
}

let opener = null;

function open(student, grade, button) {
  opener = button;
  byId("grade-heading").textContent = `${student.name}: ${grade.exercise}`;
  byId("grade-text").replaceChildren(details(grade));
  byId("grade").hidden = false;
  byId("grade").focus();
  byId("grade").scrollIntoView({ block: "nearest" });
}

function cell(student, grade) {
  const label = `${student.name}, ${grade.exercise}: ${WORDS[grade.status]}` +
    `, ${points(grade.points)} of ${points(grade.max_points)} points` +
    (grade.days_late ? `, ${late(grade)}` : "");
  const button = make("button", {
    type: "button", class: grade.status + (grade.days_late ? " late" : ""),
    "aria-label": label, title: label,
  }, MARKS[grade.status]);
  button.addEventListener("click", () => open(student, grade, button));
  return make("td", { class: "cell" }, button);
}

function row(student) {
  return make("tr", {},
    make("th", { scope: "row", title: student.email || student.id }, student.name),
    ...student.exercises.map((grade) => cell(student, grade)),
    make("td", { class: "number" }, points(student.points)),
    make("td", { class: "number" }, points(student.max_points)));
}

function ordered() {
  const part = byId("filter").value.toLowerCase();
  const known = (student) => student.points === null ? -1 : student.points;
  const name = (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true });
  const orders = {
    name, most: (a, b) => known(b) - known(a) || name(a, b),
    least: (a, b) => known(a) - known(b) || name(a, b),
  };
  return data.students
    .filter((student) => `${student.name} ${student.id}`.toLowerCase().includes(part))
    .sort(orders[byId("order").value]);
}

function showClass() {
  const head = make("tr", {}, make("th", { scope: "col" }, "student"),
    ...data.exercises.map((exercise) =>
      make("th", { scope: "col", class: "exercise", title: exercise.summary }, exercise.name)),
    make("th", { scope: "col" }, "points"), make("th", { scope: "col" }, "of"));
  byId("class").replaceChildren(make("thead", {}, head),
    make("tbody", {}, ...ordered().map(row)));
}

/** Moves the focus between the buttons of the table. */
function onArrow(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const step = steps[event.key];
  const from = event.target.closest("td.cell");
  if (!step || !from) return;
  const rows = [...byId("class").tBodies[0].rows];
  const next = rows[rows.indexOf(from.parentElement) + step[0]];
  const to = next && next.cells[from.cellIndex + step[1]];
  const button = to && to.querySelector("button");
  if (button) button.focus();
  event.preventDefault();
}

function gradesOf(index) { return data.students.map((student) => student.exercises[index]); }

function showExercises() {
  const rows = data.exercises.map((exercise, index) => {
    const grades = gradesOf(index);
    const counts = Object.keys(MARKS)
      .map((status) => [status, grades.filter((grade) => grade.status === status).length])
      .filter(([, count]) => count > 0);
    const words = counts.map(([status, count]) => `${count} ${WORDS[status]}`).join(", ");
    const bar = make("div", { class: "bar", role: "img", "aria-label": words });
    for (const [status, count] of counts) {
      const part = make("span", { class: status, title: `${count} ${WORDS[status]}` }, String(count));
      part.style.flexGrow = count;
      bar.append(part);
    }
    const kinds = new Map();
    for (const grade of grades) {
      if (grade.status !== "fail") continue;
      const kind = grade.verdict.failure.kind;
      kinds.set(kind, (kinds.get(kind) || 0) + 1);
    }
    const why = [...kinds].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
    return make("tr", {}, make("th", { scope: "row", title: exercise.summary }, exercise.name),
      make("td", {}, bar), make("td", {}, why.join(", ")));
  });
  byId("exercises").replaceChildren(
    make("thead", {}, make("tr", {}, ...["exercise", "outcomes", "how it fails"]
      .map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows));
}

function showFailures() {
  const list = byId("failure-list");
  data.exercises.forEach((exercise, index) => {
    const failed = data.students
      .map((student) => [student, student.exercises[index]])
      .filter(([, grade]) => grade.status === "fail" || grade.status === "error");
    if (failed.length === 0) return;
    list.append(make("h3", {}, `${exercise.name}: ${failed.length}`));
    for (const [student, grade] of failed) {
      const one = make("details", {}, make("summary", {}, `${student.name}: ${grade.reason}`));
      // Only what is opened is built: a class may have thousands of pictures.
      one.addEventListener("toggle", () => {
        if (one.open && one.children.length === 1) one.append(details(grade));
      });
      list.append(one);
    }
  });
  if (list.children.length === 0) list.append(make("p", {}, "None."));
}

function showRemarks() {
  const remarks = data.students.flatMap((student) =>
    student.remarks.map((remark) => make("li", {}, `${student.name}: ${remark}`)));
  byId("remarks").hidden = remarks.length === 0;
  byId("remark-list").replaceChildren(...remarks);
}

byId("title").textContent = `Grades: ${data.title}`;
byId("about").textContent = `${data.students.length} students, ${data.exercises.length} exercises; ` +
  `${data.sealed ? "sealed" : "unsealed: a verdict can be forged"}` +
  (data.salt === null ? "" : `; salt ${data.salt}`);
for (const [status, mark] of Object.entries(MARKS)) {
  byId("legend").append(make("span", { class: "mark " + status }, mark), WORDS[status]);
}
byId("order").addEventListener("change", showClass);
byId("filter").addEventListener("input", showClass);
byId("class").addEventListener("keydown", onArrow);
byId("back").addEventListener("click", () => {
  byId("grade").hidden = true;
  if (opener && opener.isConnected) opener.focus();
});
showClass();
showExercises();
showFailures();
showRemarks();
