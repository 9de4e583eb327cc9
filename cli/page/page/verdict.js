// The verdict on the last save, and what it costs.

/** "broadcast_ring fails: deadlock" */
function headlineOf({verdict, exercise, problem, status}) {
  if (problem) return `${exercise.name} could not be checked`;
  if (!verdict && status === "pass") return `${exercise.name} ${WORDS.pass}, as checked before`;
  if (!verdict) return `${exercise.name}: save it to have it checked`;
  const kind = verdict.status === "fail" && verdict.failure ? `: ${verdict.failure.kind}` : "";
  return `${exercise.name} ${WORDS[verdict.status]}${kind}`;
}

/** The picture of a deadlock lists who waits for whom; so the message need not. */
function messageOf(failure, run) {
  if (failure.kind !== "deadlock" || run === 0) return failure.message;
  const isDrawn = (line) => /^\s+(rank \d+ waits|and so back)/.test(line);
  return failure.message.split("\n").filter((line) => !isDrawn(line)).join("\n");
}

function checksTable(checks) {
  const rows = checks.map((check) => make("tr", {},
    make("th", {scope: "row", class: check.status}, `${MARKS[check.status]} ${check.name}`),
    make("td", {}, check.status === "skipped" ? WORDS.skipped : check.detail.split("\n")[0])));
  const body = make("tbody", {}, ...rows);
  return make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Checks"},
    make("table", {}, body));
}

function showVerdict(state) {
  const {verdict, problem} = state;
  const before = state.status === "pass" ? "pass" : "not_started";
  const status = problem ? "error" : verdict ? verdict.status : before;
  const parts = [make("p", {class: `headline ${status}`}, `${MARKS[status]} ${headlineOf(state)}`)];
  const checks = verdict ? verdict.checks : [];
  const isJudged = checks.some((check) => check.status !== "skipped");
  if (isJudged) parts.push(chips(checks));
  byId("checks").replaceChildren(...(isJudged ? [checksTable(checks)] : []));
  if (problem) parts.push(...block("Why", problem));
  if (verdict) {
    const {failure} = verdict;
    if (failure && verdict.status !== "not_implemented") {
      const message = messageOf(failure, state.run);
      parts.push(make("pre", {class: "wrapped", tabindex: "0", id: "message"}, message));
      const again = failure.replay ? [" · again: ", make("code", {}, failure.replay)] : [];
      parts.push(make("p", {class: "where"}, placeOf(failure), ...again));
    }
    parts.push(...block("The compiler says", state.compiler));
    parts.push(...block("Printed by your code", state.printed));
  }
  byId("verdict").replaceChildren(...parts);
}

function showCost({verdict, promise, prediction, exercise, next, solution}) {
  const check = verdict && verdict.checks.find(({name}) => name === "cost");
  const known = check && check.status !== "skipped";
  setFacts(byId("cost"), [
    ["promised", !known && promise],  // a verdict states it for the case that it judged
    ["yours", known && (check.status === "pass" ? check.detail : `✗ ${check.actual || "more"}`)],
    ["where promised", known && check.status === "fail" && check.expected],
    ["you predicted", prediction && (prediction.text || make("span", {}, "nothing yet: ",
      make("code", {}, `./rankbox check ${exercise.name} --predict "STEPS BYTES"`)))],
    ["answer", prediction && prediction.answer],
    ["try next", next],
    ["our answer", solution && make("code", {}, solution)],
  ]);
  byId("cost-section").hidden =
    byId("cost").childElementCount + byId("checks").childElementCount === 0;
}
