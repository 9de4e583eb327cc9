// The run as text: one table of the ranks, one of the events, a page at a time.

const PAGE = 50;

class Tables {
  constructor(app) {
    this.app = app;
    this.first = 0;
    const find = id => document.getElementById(id);
    this.choice = find("events-rank");
    this.choice.append(element("option", {value: "-1"}, "all ranks"));
    const listed = Math.min(app.run.ranks, 4096);
    for (let rank = 0; rank < listed; ++rank)
      this.choice.append(element("option", {value: `${rank}`}, `rank ${rank}`));
    this.choice.addEventListener("change", () => { this.first = 0; this.showEvents(); });
    this.back = find("events-back");
    this.on = find("events-on");
    this.back.addEventListener("click", () => { this.first -= PAGE; this.showEvents(); });
    this.on.addEventListener("click", () => { this.first += PAGE; this.showEvents(); });
    this.showRanks();
    this.showEvents();
  }

  showRanks() {
    const {run, timebases} = this.app;
    const {head} = run;
    const virtual = timebases.get("virtual");
    const hasNodes = new Set(head.nodes).size > 1;
    const titles = ["Rank", ...(hasNodes ? ["Node"] : []), "Idle", "Clock", "Events",
      ...(head.peak.length ? ["Most memory"] : []), "Blocked in"];
    const rows = [];
    for (let rank = 0; rank < Math.min(run.ranks, 1024); ++rank) {
      const idle = element("td");
      const filled = element("span");
      filled.style.width = `${100 * head.idle[rank]}%`;
      const bar = element("span", {className: "share"}, filled);
      bar.setAttribute("aria-hidden", "true");
      const stuck = virtual.stuckIn.get(rank);
      if (stuck === undefined) idle.append(bar, formatShare(head.idle[rank]));
      else idle.append("stuck");
      const where = stuck === undefined ? "" :
        `${headline(run, stuck)} ${placeText(run.place(stuck))}`;
      rows.push(element("tr", {}, element("th", {scope: "row"}, `${rank}`),
        ...(hasNodes ? [number(head.nodes[rank])] : []), idle,
        number(formatTime(head.clocks[rank], virtual.finish)),
        number(formatCount(run.end(rank) - run.first(rank))),
        ...(head.peak.length ? [number(formatBytes(head.peak[rank]))] : []),
        element("td", {}, where)));
    }
    const idle = `Idle: the share of the run's ${formatTime(virtual.finish)} of virtual time ` +
      "in which a rank neither sends, receives, reduces nor computes.";
    const text = (virtual.finish > 0 ? idle : "No event took virtual time.") +
      (head.peak.length ? " Most memory: the peak of all tensors in the whole run, also between " +
        "events, and of those that prepare and compare it." : "");
    fillTable("ranks", text, titles, rows);
  }

  showEvents() {
    const {run, timebase} = this.app;
    const rank = Number(this.choice.value);
    const from = rank < 0 ? 0 : run.first(rank), end = rank < 0 ? run.count : run.end(rank);
    this.first = Math.max(0, Math.min(this.first, end - from - 1));
    const begin = from + this.first, until = Math.min(end, begin + PAGE);
    const rows = [];
    for (let event = begin; event < until; ++event) rows.push(this.rowOf(event));
    const clock = timebase.clock === "virtual" ? "virtual time" : "wall clock";
    const titles = ["Rank", "Event", "What", "Bytes", "When", "Waited", "Source", "Buffer after",
      ""];
    fillTable("events", `In each rank's own order; ${clock}.`, titles, rows);
    const shown = until > begin ?
      `${formatCount(this.first + 1)} to ${formatCount(until - from)} of ` : "";
    const all = formatCount(end - from);
    document.getElementById("events-page").textContent = `${shown}${all} events`;
    this.back.disabled = this.first === 0;
    this.on.disabled = until >= end;
  }

  rowOf(event) {
    const {app} = this;
    const {run, timebase} = app;
    const rank = run.rankOf(event);
    const values = run.values(event);
    const show = element("button", {type: "button", className: "link"}, "Show");
    const place = event - run.first(rank) + 1;
    show.setAttribute("aria-label", `Show event ${place} of rank ${rank} in the picture`);
    show.addEventListener("click", () => {
      app.choose(event);
      app.canvas.focus();
      app.canvas.scrollIntoView({block: "nearest"});
    });
    const waited = timebase.waited(event);
    const bytes = hasBytes(run, event) ? formatCount(run.column.bytes[event]) : "";
    const buffer = values ?
      element("span", {className: "values"}, formatValues(values, run.elements(event))) : "";
    return element("tr", {className: event === app.chosen ? "now" : ""},
      number(rank), number(place),
      element("td", {}, headline(run, event)), number(bytes),
      element("td", {}, timesText(timebase, event)), number(waited > 0 ? formatTime(waited) : ""),
      element("td", {}, placeText(run.place(event))),
      element("td", {}, buffer),
      element("td", {}, show));
  }
}

function number(text) {
  return element("td", {className: "number"}, `${text}`);
}

function fillTable(id, caption, titles, rows) {
  const head = element("tr", {}, ...titles.map(title => element("th", {scope: "col"}, title)));
  document.getElementById(id).replaceChildren(
    element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...rows));
}
