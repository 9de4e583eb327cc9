// The visible part of the run, and its place on the canvas. Lengths are CSS pixels.

const AXIS_HEIGHT = 26;
const LEAST_LANE = 10, MOST_LANE = 96;
const LANE_HEIGHTS = {low: 10, medium: 34, high: 84};

class View {
  constructor(run) {
    this.run = run;
    this.width = 800;
    this.height = 400;
    this.left = 120;  // of the lanes: rank names are before it
    this.lane = 40;
    this.scroll = 0;
    this.laneHeight = "fit";
    this.begin = 0;  // seconds
    this.end = 1;
    this.length = 1;  // of the run
  }

  /** @param width, height of the canvas */
  resize(width, height) {
    this.width = width;
    this.height = height;
    this.left = width < 560 ? 62 : 124;
    const fitting = (height - AXIS_HEIGHT) / this.run.ranks;
    this.lane = LANE_HEIGHTS[this.laneHeight] || Math.min(MOST_LANE, Math.max(LEAST_LANE, fitting));
    this.scrollTo(this.scroll);
  }

  /** The canvas height that shows all lanes at full height. */
  wantedHeight(room) {
    const lane = LANE_HEIGHTS[this.laneHeight] ||
      (!this.run.hasMemory ? 58 : this.run.hasPasses ? 96 : 76);
    return Math.round(Math.max(150, Math.min(room, AXIS_HEIGHT + this.run.ranks * lane + 2)));
  }

  get plotWidth() { return Math.max(40, this.width - this.left); }
  get secondsPerPixel() { return (this.end - this.begin) / this.plotWidth; }
  get overflow() { return Math.max(0, this.run.ranks * this.lane + AXIS_HEIGHT - this.height); }

  x(seconds) { return this.left + (seconds - this.begin) / this.secondsPerPixel; }
  time(x) { return this.begin + (x - this.left) * this.secondsPerPixel; }
  top(rank) { return AXIS_HEIGHT + rank * this.lane - this.scroll; }
  rankAt(y) { return Math.floor((y - AXIS_HEIGHT + this.scroll) / this.lane); }
  firstRank() { return Math.max(0, this.rankAt(AXIS_HEIGHT)); }
  lastRank() { return Math.min(this.run.ranks - 1, this.rankAt(this.height)); }

  /** The place of a row within its lane: {y, height}. */
  band(rank, row) {
    const gap = this.lane >= 24 ? 3 : 0.5;
    const memory = this.memoryHeight();
    const inside = this.lane - 2 * gap - memory;
    if (row === WAIT) return {y: this.top(rank) + gap, height: inside};
    const height = Math.max(1, inside / 3 - (inside > 20 ? 1 : 0));
    return {y: this.top(rank) + gap + row * inside / 3, height};
  }

  /** Higher in a pipeline, whose schedules differ in memory. */
  memoryHeight() {
    if (!this.showMemory || this.lane < 28) return 0;
    return Math.round(this.lane * (this.run.hasPasses ? 0.42 : 0.22));
  }

  fit() { this.show(0, this.length); }

  /** Limits the length: at least a few parts in 1e12 of the run, at most all of it and a margin. */
  show(begin, end) {
    const least = this.length * 1e-9;
    const most = this.length * 1.04;
    const span = Math.min(most, Math.max(least, end - begin));
    const middle = (begin + end) / 2;
    const last = this.length * 1.03 - span;
    const from = Math.min(Math.max(middle - span / 2, -this.length * 0.01), last);
    this.begin = Math.max(from, -this.length * 0.01);
    this.end = this.begin + span;
  }

  pan(pixels) {
    const by = pixels * this.secondsPerPixel;
    this.show(this.begin + by, this.end + by);
  }

  /** Keeps the time at x in place. */
  zoom(factor, x = this.left + this.plotWidth / 2) {
    const fixed = this.time(x);
    this.show(fixed - (fixed - this.begin) * factor, fixed + (this.end - fixed) * factor);
  }

  scrollTo(pixels) { this.scroll = Math.min(Math.max(0, pixels), this.overflow); }

  /** Moves as little as needed to show that part of that rank. */
  reveal(rank, begin, end) {
    const span = this.end - this.begin;
    if (end < this.begin + span * 0.02 || begin > this.end - span * 0.02) {
      const middle = (begin + end) / 2;
      this.show(middle - span / 2, middle + span / 2);
    }
    const top = rank * this.lane;
    const room = this.height - AXIS_HEIGHT;
    if (top < this.scroll) this.scrollTo(top);
    if (top + this.lane > this.scroll + room) this.scrollTo(top + this.lane - room);
  }
}
