// The page as a whole: the view, the selection, and redrawing.

const GLIDE = 160;  // milliseconds of a zoom by button, unless the user prefers reduced motion

class App {
  constructor() {
    this.canvas = document.getElementById("picture");
    this.tooltip = document.getElementById("tooltip");
    this.run = new Run();
    this.timebases = new Timebases(this.run);
    this.timebase = this.timebases.get("virtual");
    this.view = new View(this.run);
    this.view.showMemory = this.run.hasMemory;
    this.chosen = -1;
    this.shown = {arrows: true, path: true};
    this.theme = new Theme(() => { this.legend(); this.held.draw(); this.steps.show(); });
    this.lanes = new Lanes(this.run, this.view, this.theme);
    this.marks = new Marks(this.run, this.view, this.theme);
    this.memory = new MemoryLane(this.run, this.view, this.theme);
    this.axis = new Axis(this.run, this.view, this.theme, this.memory.most);
    this.held = new Held(this.run, this.theme);
    this.code = new Code(this.run, this.theme);
    const isSingle = !this.held.held && !this.run.head.deadlock || !this.code.sources.length;
    document.querySelector(".bench").classList.toggle("single", isSingle);
    this.steps = new Steps(this);
    this.tables = new Tables(this);
    new Pointer(this);
    new Keyboard(this);
    new Panel(this);
    if (this.run.head.deadlock) this.startWithWaits(this.run.head.deadlock);
    if (this.run.head.schedule) showSchedule(this.run.head.schedule);
    this.useTimebase("virtual");
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.resize();
    this.legend();
  }

  useTimebase(clock) {
    this.timebase = this.timebases.get(clock);
    this.view.length = this.timebase.length;
    this.view.fit();
    this.chosen = -1;
    showFacts(this, -1);
    this.steps.reset();
    this.tables.showEvents();
    const {run} = this;
    this.canvas.setAttribute("aria-label",
      `Timeline of ${run.ranks} ranks and ${formatCount(run.count)} events over ` +
      `${formatTime(this.timebase.finish)} of ` +
      `${clock === "virtual" ? "virtual time" : "wall clock"}. ` +
      "Tables with the same content follow.");
    this.redraw();
  }

  legend() {
    drawLegend(this.run, this.theme, this.timebase.open.size > 0, this.memory.most);
    drawHeldLegend(this.run, this.theme);
  }

  /** A run in which nothing ended has no timeline to look at. */
  startWithWaits(deadlock) {
    showWaits(deadlock);
    for (const name of ["timeline", "help"])
      document.getElementById(name).hidden = this.timebase.finish === 0;
  }

  resize() {
    const height = this.view.wantedHeight(Math.max(320, innerHeight * 0.68));
    this.canvas.style.height = `${height}px`;
    const width = this.canvas.clientWidth;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.view.resize(width, height);
    this.redraw();
  }

  /** Draws soon; several requests draw once. */
  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  draw() {
    const {view, timebase, theme} = this;
    const pen = this.canvas.getContext("2d", {alpha: false});
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = theme.colours.paper;
    pen.fillRect(0, 0, view.width, view.height);
    this.lanes.draw(pen, timebase);
    this.memory.draw(pen, timebase);
    const note = [];
    if (this.shown.arrows && !this.marks.drawArrows(pen, timebase))
      note.push("Too many messages in view for arrows: zoom in.");
    if (this.shown.path) this.marks.drawPath(pen, timebase);
    this.lanes.drawLabels(pen);
    if (this.shown.path && timebase.clock === "wall")
      note.push("The critical path exists only in virtual time.");
    if (timebase.open.size > 0)
      note.push("The run stopped: events that never ended are open to the right.");
    if (this.chosen >= 0) this.marks.drawChosen(pen, timebase, this.chosen);
    if (this.steps.number < this.steps.most) this.marks.drawNow(pen, this.steps.seconds);
    this.axis.draw(pen, timebase);
    const text = note.join(" ");
    const line = document.getElementById("note");
    if (line.textContent !== text) line.textContent = text;
    this.drawn = (this.drawn || 0) + 1;
  }

  hover(event, at) {
    this.tooltip.hidden = event < 0;
    this.canvas.style.cursor = event < 0 ? "" : "pointer";
    if (event < 0) return;
    if (this.hovered !== event || this.tooltip.childElementCount === 0) {
      this.hovered = event;
      this.tooltip.replaceChildren(...tooltipOf(this.run, this.timebase, event));
    }
    const room = this.canvas.parentElement.getBoundingClientRect();
    const box = this.tooltip.getBoundingClientRect();
    const x = Math.max(4, Math.min(at.x + 14, room.width - box.width - 6));
    const below = at.y + 18 + box.height < room.height;
    this.tooltip.style.left = `${x}px`;
    this.tooltip.style.top = `${below ? at.y + 18 : Math.max(2, at.y - box.height - 10)}px`;
  }

  /** @param event -1: none */
  choose(event, {reveal = true} = {}) {
    this.chosen = event;
    if (event >= 0) {
      const {begin, end} = this.timebase;
      if (reveal) this.view.reveal(this.run.rankOf(event), begin[event], end[event]);
      document.getElementById("live").textContent = sentenceOf(this.run, this.timebase, event);
    }
    showFacts(this, event);
    this.code.show(this.steps.places(), event);
    this.redraw();
  }

  chooseBeside(by) {
    const {run, chosen} = this;
    const rank = run.rankOf(chosen);
    this.choose(Math.min(run.end(rank) - 1, Math.max(run.first(rank), chosen + by)));
  }

  chooseLink() {
    const {run, chosen} = this;
    if (chosen >= 0 && run.link(chosen) >= 0) this.choose(run.link(chosen));
  }

  firstInSight() {
    const {run, view, timebase} = this;
    const rank = view.firstRank();
    const arrivals = timebase.arrival.subarray(run.first(rank), run.end(rank));
    if (run.count === 0) return -1;
    return Math.min(run.count - 1, run.first(rank) + firstAbove(arrivals, view.begin - 1e-300));
  }

  fit() { this.glide(() => this.view.fit()); }
  zoomAt(factor, x) { this.glide(() => this.view.zoom(factor, x)); }

  stopGliding() {
    cancelAnimationFrame(this.gliding);
    this.gliding = 0;
  }

  /** Changes the view, with a short animation unless the user prefers reduced motion. */
  glide(change) {
    const {view} = this;
    const from = [view.begin, view.end];
    if (this.gliding) [view.begin, view.end] = this.glidesTo;
    this.stopGliding();
    change();
    const to = this.glidesTo = [view.begin, view.end];
    this.redraw();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const start = performance.now();
    const step = now => {
      const part = Math.min(1, (now - start) / GLIDE);
      const eased = 1 - (1 - part) ** 3;
      [view.begin, view.end] = from.map((value, i) => value + (to[i] - value) * eased);
      this.redraw();
      this.gliding = part < 1 ? requestAnimationFrame(step) : 0;
    };
    [view.begin, view.end] = from;
    this.gliding = requestAnimationFrame(step);
  }
}

/** Both clocks of a run; the second is computed on first use. */
class Timebases {
  constructor(run) {
    this.run = run;
    this.made = new Map();
  }
  get(clock) {
    if (!this.made.has(clock)) this.made.set(clock, new Timebase(this.run, clock));
    return this.made.get(clock);
  }
}
