// The run step by step: every rank's last event after k events, and its buffer.

const MOST_BUFFERS = 64;  // ranks shown
const STEP_TIME = 700;    // milliseconds, when playing

class Steps {
  constructor(app) {
    this.app = app;
    this.number = 0;  // events that have ended
    this.timer = 0;
    const find = id => document.getElementById(id);
    this.slider = find("step-slider");
    this.output = find("step-number");
    this.play = find("step-play");
    this.body = document.querySelector("#buffers tbody");
    const titles = ["Rank", "Last event", ...(app.held.held ? ["Holds"] : []), "Buffer"];
    document.querySelector("#buffers thead").append(
      element("tr", {}, ...titles.map(title => element("th", {scope: "col"}, title))));
    find("step-first").addEventListener("click", () => this.go(0));
    find("step-last").addEventListener("click", () => this.go(this.most));
    find("step-back").addEventListener("click", () => this.move(-1));
    find("step-on").addEventListener("click", () => this.move(1));
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.play.addEventListener("click", () => this.toggle());
  }

  /** Events that end at all. */
  get most() { return this.app.run.count - this.app.timebase.open.size; }

  get seconds() {
    const {timebase} = this.app;
    return this.number === 0 ? 0 : timebase.end[timebase.order[this.number - 1]];
  }

  /** At the end: a run is first seen whole. */
  reset() {
    this.stop();
    this.number = this.most;
    this.slider.max = this.most;
    this.show();
  }

  move(by) {
    this.stop();
    this.go(this.number + by);
  }

  go(number, travels = false) {
    this.number = Math.min(this.most, Math.max(0, number));
    const {app} = this;
    app.choose(this.number === 0 ? -1 : app.timebase.order[this.number - 1]);
    this.show(travels);
  }

  /** How many events have ended when the next ones have: those of one moment end together. */
  get next() {
    const {order, end, finish} = this.app.timebase;
    let number = this.number + 1;
    const now = end[order[number - 1]] + finish * 1e-12;
    while (number < this.most && end[order[number]] <= now) ++number;
    return number;
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.number === this.most) this.go(0);
    this.play.textContent = "❚❚ Pause";
    this.play.setAttribute("aria-pressed", "true");
    const step = () => {
      this.go(this.next, true);
      if (this.number === this.most) this.stop();
    };
    this.timer = setInterval(step, STEP_TIME);
    if (this.number < this.most) step();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "▶ Play";
    this.play.setAttribute("aria-pressed", "false");
  }

  show(travels = false) {
    const {run, timebase, held, code} = this.app;
    if (travels) held.travel(timebase, this.number); else held.show(timebase, this.number);
    code.show(this.places(), this.number === this.most ? -1 : this.app.chosen);
    this.slider.value = this.number;
    const time = formatTime(this.seconds, timebase.finish);
    const text = `${formatCount(this.number)} of ${formatCount(this.most)}, at ${time}`;
    this.output.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    const rows = [];
    const newest = this.number > 0 ? run.rankOf(timebase.order[this.number - 1]) : -1;
    for (let rank = 0; rank < Math.min(run.ranks, MOST_BUFFERS); ++rank) {
      rows.push(this.rowOf(rank, rank === newest));
    }
    if (run.ranks > MOST_BUFFERS) {
      const text = `and ${run.ranks - MOST_BUFFERS} more ranks`;
      rows.push(element("tr", {}, element("td", {colSpan: 4}, text)));
    }
    this.body.replaceChildren(...rows);
    this.app.redraw();
  }

  rowOf(rank, isNewest) {
    const {run, timebase} = this.app;
    const last = this.number === 0 ? -1 : this.lastOf(rank, () => true);
    const kept = last < 0 ? -1 : this.lastOf(rank, event => run.snapshotOf.has(event));
    let buffer = "";
    if (kept >= 0) {
      const values = formatValues(run.values(kept), run.elements(kept));
      buffer = element("span", {className: "values"}, values);
    }
    const about = kept >= 0 && kept !== last ? ` (of ${headline(run, kept)})` : "";
    const stuck = this.number === this.most ? timebase.stuckIn.get(rank) : undefined;
    const now = stuck === undefined ? "" : `, blocked in: ${headline(run, stuck)}`;
    return element("tr", {className: isNewest ? "now" : ""},
      element("th", {scope: "row"}, `${rank}`),
      element("td", {}, (last < 0 ? "nothing yet" : headline(run, last)) + now),
      ...(this.app.held.held ? [element("td", {}, this.app.held.textOf(rank))] : []),
      element("td", {}, buffer, about));
  }

  /** [rank]: the event that it is in, or else its last one; -1: none yet, or it has returned. */
  places() {
    const {run, timebase} = this.app;
    const now = this.number === this.most ? Infinity : this.seconds;
    const places = [];
    for (let rank = 0; rank < Math.min(run.ranks, MOST_BUFFERS); ++rank) {
      const first = run.first(rank);
      if (now === Infinity && !timebase.stuckIn.has(rank)) {
        places.push(-1);
        continue;
      }
      const arrivals = timebase.arrival.subarray(first, run.end(rank));
      let event = first + firstAbove(arrivals, now) - 1;
      while (event >= first && !run.place(event)) --event;  // sums have no place
      places.push(event < first ? -1 : event);
    }
    return places;
  }

  /** The rank's latest ended event that satisfies `is`; -1 if none. Looks back only a little. */
  lastOf(rank, isSo) {
    const {run, timebase} = this.app;
    const now = this.seconds;
    const arrivals = timebase.arrival.subarray(run.first(rank), run.end(rank));
    let at = firstAbove(arrivals, now) - 1;
    for (let looked = 0; at >= 0 && looked < 2000; --at, ++looked) {
      const event = run.first(rank) + at;
      const ended = !timebase.open.has(event) && timebase.end[event] <= now;
      if (ended && this.isCounted(event, now) && isSo(event)) return event;
    }
    return -1;
  }

  /** Of several that ended at this time, only those that the step has reached. */
  isCounted(event, now) {
    const {timebase} = this.app;
    if (timebase.end[event] < now) return true;
    for (let k = this.number; k < this.most && timebase.end[timebase.order[k]] === now; ++k) {
      if (timebase.order[k] === event) return false;
    }
    return true;
  }
}
