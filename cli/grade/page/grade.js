// One grade: a sentence of verdict, the checks, the student's code, the picture of the run.

function points(value) { return value === null ? "–" : String(Math.round(value * 100) / 100); }

function late({days_late: days}) { return days ? `, handed in late, on day ${days}` : ""; }

/** "eve, broadcast_naive: fails, 0 of 3 points" */
function headlineOf(student, grade) {
  const worth = grade.points === null
    ? "" : `, ${points(grade.points)} of ${points(grade.max_points)} points`;
  return `${student.name}, ${grade.exercise}: ${WORDS[grade.status]}${worth}${late(grade)}`;
}

/** The reason, and the lines of the message below it; a picture of a deadlock has its waits. */
function messageOf({reason, waits, picture}, failure) {
  if (!failure) return reason;
  if (failure.kind === "deadlock" && (waits || picture))
    return failure.hint ? `${reason}\nhint: ${failure.hint.text}` : reason;
  return [reason, ...failure.message.split("\n").slice(1)].join("\n");
}

/** Lines of a file as a list, so that they have numbers; the failing one is marked. */
function codeList(code, wrong) {
  const rows = code.text.split("\n").slice(0, -1)
    .map((line) => make("li", {}, make("code", {}, line || " ")));
  const row = rows[wrong - code.first];
  if (row) {
    row.classList.add("wrong");
    row.setAttribute("aria-current", "location");
  }
  const attributes = {class: "code", start: code.first, tabindex: "0", "aria-label": "Code"};
  return make("ol", attributes, ...rows);
}

function codeSection(code, failure) {
  const wrong = failure && failure.file === code.file ? failure.line : 0;
  const list = codeList(code, wrong);
  const count = list.children.length;
  const part = count < code.lines
    ? `, lines ${code.first} to ${code.first + count - 1} of ${code.lines}` : "";
  return make("div", {}, make("h3", {}, `${code.file}${wrong ? `:${wrong}` : ""}${part}`), list);
}

/** Of a deadlock who waits for whom, of other runs the timeline. */
function pictureSection({picture, waits}) {
  const text = make("pre", {class: "picture", tabindex: "0"}, picture);
  if (!waits) return make("div", {class: "drawn"}, make("h3", {}, "Picture of the run"), text);
  return make("div", {id: "waits", class: "drawn"},
    byId("drawn-waits").content.cloneNode(true),
    make("details", {}, make("summary", {}, "As text, with the timeline"), text));
}

/** What the code's heading and the picture do not say. */
function whereOf(grade, failure, code) {
  const inPicture = failure.kind === "deadlock" && (grade.waits || grade.picture);
  const place = inPicture ? "" : placeOf(code ? {...failure, file: ""} : failure);
  const parts = [place, failure.replay ? "" : grade.file].filter(Boolean).join(" · ");
  const again = failure.replay ? ["again: ", make("code", {}, failure.replay)] : [];
  return make("p", {class: "where"}, parts, parts && again.length ? " · " : "", ...again);
}

function detailsOf(grade, code) {
  const failure = grade.verdict && grade.verdict.failure;
  const message = grade.status === "not_implemented" ? "" : messageOf(grade, failure);
  const parts = [];
  if (message) parts.push(make("pre", {class: "wrapped", tabindex: "0", id: "message"}, message));
  if (failure) parts.push(whereOf(grade, failure, code));
  else if (grade.file) parts.push(make("p", {class: "where"}, grade.file));
  const run = [
    ...(code ? [codeSection(code, failure)] : []),
    ...(grade.picture || grade.waits ? [pictureSection(grade)] : []),
  ];
  if (run.length > 0) parts.push(make("div", {class: run.length > 1 ? "run both" : "run"}, ...run));
  if (grade.status === "fail" && grade.compiler_output) {
    parts.push(make("details", {}, make("summary", {}, "The compiler says"),
      make("pre", {class: "wrapped", tabindex: "0"}, grade.compiler_output)));
  }
  parts.push(...block("Printed by the program", grade.printed));
  return parts;
}

/** Scrolls the list, never the page. */
function revealWrongLine(list) {
  const row = list && list.querySelector(".wrong");
  if (row) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 3;
}

function showGrade(student, grade, code) {
  const heading = byId("grade-heading");
  heading.className = grade.status;
  heading.textContent = `${MARKS[grade.status]} ${headlineOf(student, grade)}`;
  const checks = grade.verdict ? grade.verdict.checks : [];
  const isJudged = checks.some((check) => check.status !== "skipped");
  byId("grade-checks").replaceChildren(...(isJudged ? [chips(checks)] : []));
  byId("grade-text").replaceChildren(...detailsOf(grade, code));
  if (grade.waits) showWaits(grade.waits);
  byId("grade").hidden = false;
  revealWrongLine(byId("grade-text").querySelector(".code"));
}
