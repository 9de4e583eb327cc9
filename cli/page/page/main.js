// Shows each state that the server sends; cli/exercise/live_page.h lists its fields.

let exerciseShown = "";

function showState(state) {
  const {exercise, busy, version} = state;
  document.title = `${MARKS[state.status] || ""} ${exercise.name} · Rankbox`;
  byId("busy").hidden = !busy;
  byId("busy").textContent = busy ? `checking ${busy} …` : "";
  byId("verdict").classList.toggle("stale", Boolean(busy));
  if (busy) byId("live").textContent = byId("busy").textContent;
  if (busy && exerciseShown) return;
  byId("name").textContent = exercise.name;
  byId("summary").textContent = `${exercise.summary} (difficulty ${exercise.difficulty}/5)`;
  byId("files").textContent =
    `${exercise.file}, as ${exercise.contract} says; the chapter: ${exercise.chapter}`;
  showVerdict(state);
  showCost(state);
  showRun(state);
  showProgress(state);
  exerciseShown = exercise.name;
  byId("live").textContent = headlineOf(state);
  document.documentElement.dataset.version = version;
}

function follow() {
  const events = new EventSource("events");
  events.addEventListener("message", ({data}) => showState(JSON.parse(data)));
  events.addEventListener("open", () => { byId("lost").hidden = true; });
  events.addEventListener("error", () => { byId("lost").hidden = false; });
}

followTheme(setThemeOfRun);
followHeight();
follow();
