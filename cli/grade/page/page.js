// Shows the grades. All text from submissions is set as text, never as HTML.

const data = JSON.parse(byId("grades").textContent);
const codes = JSON.parse(byId("codes").textContent);
const codeOf = new Map();  // of a grade
data.students.forEach((student, i) => student.exercises.forEach((grade, j) => {
  codeOf.set(grade, codes.texts[codes.of[i][j]]);
}));
const OUTCOMES = ["pass", "fail", "not_implemented", "missing", "error"];
MARKS.missing = "–";
WORDS.missing = "is missing";
WORDS.error = "is not graded";

let opened = null;  // the grade that is shown
let opener = null;  // the button that was pressed for it

function open(student, grade, button) {
  [opened, opener] = [grade, button];
  for (const old of document.querySelectorAll("#class [aria-current]"))
    old.removeAttribute("aria-current");
  for (const cell of document.querySelectorAll("#class td.cell button"))
    if (cell.grade === grade) cell.setAttribute("aria-current", "true");
  showGrade(student, grade, codeOf.get(grade));
  byId("grade").focus();
  byId("grade").scrollIntoView({block: "start"});
}

function back() {
  byId("grade").hidden = true;
  const cell = document.querySelector("#class [aria-current]");
  const to = opener.isConnected ? opener : cell;
  if (to) to.focus();
  if (cell) cell.removeAttribute("aria-current");
  opened = null;
}

/** "4/5" */
function outOf(some, most) { return `${points(some)}/${points(most)}`; }

function cell(student, grade) {
  const label = headlineOf(student, grade);
  const button = make("button", {type: "button", "aria-label": label, title: label},
    `${MARKS[grade.status]} `,
    make("span", {class: "points"}, outOf(grade.points, grade.max_points)));
  button.grade = grade;
  if (grade === opened) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => open(student, grade, button));
  return make("td", {class: `cell ${grade.status}${grade.days_late ? " late" : ""}`}, button);
}

function row(student) {
  return make("tr", {},
    make("th", {scope: "row", title: student.email || student.id}, student.name),
    make("td", {class: "total"}, outOf(student.points, student.max_points)),
    ...student.exercises.map((grade) => cell(student, grade)));
}

function ordered() {
  const part = byId("filter").value.toLowerCase();
  const known = (student) => student.points === null ? -1 : student.points;
  const name = (a, b) => a.name.localeCompare(b.name, undefined, {numeric: true});
  const orders = {
    name, most: (a, b) => known(b) - known(a) || name(a, b),
    least: (a, b) => known(a) - known(b) || name(a, b),
  };
  return data.students
    .filter((student) => `${student.name} ${student.id}`.toLowerCase().includes(part))
    .sort(orders[byId("order").value]);
}

function showClass() {
  const head = make("tr", {}, make("th", {scope: "col"}, "student"),
    make("th", {scope: "col"}, "total"),
    ...data.exercises.map((exercise) =>
      make("th", {scope: "col", class: "exercise", title: exercise.summary}, exercise.name)));
  byId("class").replaceChildren(make("thead", {}, head), make("tbody", {}, ...ordered().map(row)));
}

/** Moves the focus between the buttons of the table. */
function onArrow(event) {
  const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
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

function outcomesBar(grades) {
  const counts = OUTCOMES
    .map((status) => [status, grades.filter((grade) => grade.status === status).length])
    .filter(([, count]) => count > 0);
  const words = counts.map(([status, count]) => `${WORDS[status]}: ${count}`);
  const bar = make("div", {class: "bar", role: "img", "aria-label": words.join(", ")});
  counts.forEach(([status, count], i) => {
    const part = make("span", {class: status, title: words[i]}, `${MARKS[status]} ${count}`);
    part.style.flexGrow = count;
    bar.append(part);
  });
  return bar;
}

function showExercises() {
  const rows = data.exercises.map((exercise, index) => {
    const grades = gradesOf(index);
    const kinds = new Map();
    for (const grade of grades) {
      if (grade.status !== "fail") continue;
      const kind = grade.verdict.failure.kind;
      kinds.set(kind, (kinds.get(kind) || 0) + 1);
    }
    const why = [...kinds].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
    return make("tr", {}, make("th", {scope: "row", title: exercise.summary}, exercise.name),
      make("td", {}, outcomesBar(grades)), make("td", {}, why.join(", ")));
  });
  byId("exercises").replaceChildren(
    make("thead", {}, make("tr", {}, ...["exercise", "outcomes", "how it fails"]
      .map((name) => make("th", {scope: "col"}, name)))),
    make("tbody", {}, ...rows));
}

function showFailures() {
  let count = 0;
  data.exercises.forEach((exercise, index) => {
    const failed = data.students
      .map((student) => [student, student.exercises[index]])
      .filter(([, grade]) => grade.status === "fail" || grade.status === "error");
    if (failed.length === 0) return;
    count += failed.length;
    const items = failed.map(([student, grade]) => {
      const button = make("button", {type: "button"}, `${student.name}: ${grade.reason}`);
      button.addEventListener("click", () => open(student, grade, button));
      return make("li", {}, button);
    });
    byId("failure-list").append(make("h3", {}, exercise.name), make("ul", {}, ...items));
  });
  byId("failure-count").textContent = `Failures by exercise (${count})`;
  byId("failures").hidden = count === 0;
}

function showRemarks() {
  const remarks = data.students.flatMap((student) =>
    student.remarks.map((remark) => make("li", {}, `${student.name}: ${remark}`)));
  byId("remarks").hidden = remarks.length === 0;
  byId("remark-list").replaceChildren(...remarks);
}

byId("title").textContent = `Grades: ${data.title}${data.sealed ? "" : " (unsealed)"}`;
byId("about").textContent =
  `${data.students.length} students, ${data.exercises.length} exercises; ` +
  (data.sealed ? "sealed" : "unsealed: a verdict can be forged") +
  (data.salt === null ? "" : `; salt ${data.salt}`);
for (const status of OUTCOMES)
  byId("legend").append(make("li", {class: status}, `${MARKS[status]} ${WORDS[status]}`));
byId("order").addEventListener("change", showClass);
byId("filter").addEventListener("input", showClass);
byId("class").addEventListener("keydown", onArrow);
byId("back").addEventListener("click", back);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && opened) back();
});
followTheme();
showClass();
showExercises();
showFailures();
showRemarks();
