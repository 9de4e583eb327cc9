// The switches above the picture, and the facts of the selected event beside it.

class Panel {
  constructor(app) {
    const find = id => document.getElementById(id);
    for (const radio of document.querySelectorAll("input[name=timebase]")) {
      radio.addEventListener("change", () => app.useTimebase(radio.value));
    }
    const {view, shown} = app;
    const tick = (id, change) => find(id).addEventListener("change", event => {
      change(event.target.checked);
      app.resize();
    });
    tick("show-arrows", on => { shown.arrows = on; });
    tick("show-path", on => { shown.path = on; });
    tick("show-memory", on => { view.showMemory = on; });
    if (!app.run.hasMemory) find("show-memory").parentElement.hidden = true;
    find("lane-height").addEventListener("change", event => {
      view.laneHeight = event.target.value;
      app.resize();
    });
    find("zoom-in").addEventListener("click", () => app.zoomAt(0.6));
    find("zoom-out").addEventListener("click", () => app.zoomAt(1 / 0.6));
    find("fit").addEventListener("click", () => app.fit());
    // What was asked for opens.
    const skip = document.querySelector(".skip");
    skip.addEventListener("click", () => { find("tables").open = true; });
    find("event-back").addEventListener("click", () => app.chooseBeside(-1));
    find("event-on").addEventListener("click", () => app.chooseBeside(1));
    find("event-link").addEventListener("click", () => app.chooseLink());
  }
}

function showSchedule(text) {
  const schedule = document.getElementById("schedule");
  schedule.hidden = false;
  schedule.textContent = text;
}

function showFacts(app, event) {
  const {run} = app;
  const list = document.getElementById("event-facts");
  document.getElementById("event-none").hidden = event >= 0;
  document.getElementById("event-moves").hidden = list.hidden = event < 0;
  list.replaceChildren();
  if (event < 0) return;
  for (const [term, text, isCode] of factsOf(run, app.timebases.get("virtual"), event)) {
    const detail = isCode ? element("code", {}, text) : text;
    list.append(element("dt", {}, term), element("dd", {}, detail));
  }
  const rank = run.rankOf(event);
  document.getElementById("event-back").disabled = event === run.first(rank);
  document.getElementById("event-on").disabled = event === run.end(rank) - 1;
  document.getElementById("event-link").disabled = run.link(event) < 0;
}

/** A short form, for the tooltip. */
function tooltipOf(run, timebase, event) {
  const lines = [element("b", {}, `rank ${run.rankOf(event)}: ${headline(run, event)}`)];
  const add = text => lines.push(element("div", {}, text));
  if (hasBytes(run, event)) add(formatBytes(run.column.bytes[event]));
  add(timesText(timebase, event));
  const waited = timebase.waited(event);
  if (waited > 0 && run.kind(event) !== "wait") add(`waited ${formatTime(waited)} before it`);
  if (run.has(event, CRITICAL)) add("on the critical path");
  const place = run.place(event);
  if (place) add(placeText(place));
  if (place && place.text) lines.push(element("code", {}, place.text.trim()));
  return lines;
}
