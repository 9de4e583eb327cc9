// The run on one of its two clocks: begin, end and row of every event.
//
// A rank has four rows. Sends and receives each use a port, so spans of a row never overlap and can
// be searched by time. A native collective is in both. Work is what the rank reduces and computes.
// Waiting is drawn behind the other three.

const SEND = 0, RECV = 1, WORK = 2, WAIT = 3, ROWS = 4;

const ROW_OF_KIND = {
  send: SEND, recv: RECV, reduce: WORK, compute: WORK, forward: WORK, backward: WORK, wait: WAIT,
};

class Timebase {
  /** @param clock "virtual" or "wall" */
  constructor(run, clock) {
    this.run = run;
    this.clock = clock;
    const {count} = run;
    if (clock === "virtual") {
      this.begin = run.column.virtualBegin;
      this.end = run.column.virtualEnd.slice();
    } else {
      this.begin = Float64Array.from(run.column.wallBegin, ns => ns * 1e-9);
      this.end = Float64Array.from(run.column.wallEnd, ns => ns * 1e-9);
      for (let i = 0; i < count; ++i) if (!run.has(i, DONE)) this.end[i] = -1;
    }
    this.open = new Set();    // never ended
    this.stuckIn = new Map();  // rank -> the open event that it is blocked in
    let last = 0;
    for (let i = 0; i < count; ++i) {
      last = Math.max(last, this.begin[i], this.end[i]);
      if (this.end[i] < 0) this.open.add(i);
    }
    this.finish = last;  // of the run; open events are drawn a little further
    this.length = this.open.size > 0 ? last * 1.15 || 1e-6 : last || 1e-6;
    for (const event of this.open) {
      this.end[event] = this.length;
      if (!run.has(event, ASYNC)) this.stuckIn.set(run.rankOf(event), event);
    }
    this.findArrivals();
    this.rows = [];
    for (let rank = 0; rank < run.ranks; ++rank) this.rows.push(...this.rowsOf(rank));
  }

  row(rank, row) { return this.rows[rank * ROWS + row]; }

  waited(event) {
    if (this.clock === "wall") return 0;
    return this.run.column.waited[event];
  }

  /** When the rank arrived at each event, in its own order. */
  findArrivals() {
    const {run} = this;
    const waited = run.column.waited;
    this.arrival = new Float64Array(run.count);
    for (let rank = 0; rank < run.ranks; ++rank) {
      let latest = 0;  // guards the order against rounding
      for (let i = run.first(rank); i < run.end(rank); ++i) {
        const before = this.clock === "virtual" && run.kind(i) !== "wait" ? waited[i] : 0;
        latest = this.arrival[i] = Math.max(latest, this.begin[i] - before);
      }
    }
  }

  rowsOf(rank) {
    const {run, begin, end} = this;
    const rows = Array.from({length: ROWS}, () => ({ids: [], begin: [], end: []}));
    const put = (row, id, from, to) => {
      if (!(to > from)) return;
      rows[row].ids.push(id);
      rows[row].begin.push(from);
      rows[row].end.push(to);
    };
    for (let i = run.first(rank); i < run.end(rank); ++i) {
      const kind = run.kind(i), isAsync = run.has(i, ASYNC);
      if (this.open.has(i)) {
        if (!isAsync) put(WAIT, i, begin[i], end[i]);  // its operation never ended
        continue;
      }
      if (this.clock === "virtual" && kind !== "wait" && !isAsync) {
        put(WAIT, i, this.arrival[i], begin[i]);
      }
      if (kind === "collective") {
        put(SEND, i, begin[i], end[i]);
        put(RECV, i, begin[i], end[i]);
      } else {
        put(ROW_OF_KIND[kind], i, begin[i], end[i]);
      }
    }
    return rows.map(packRow);
  }

  /** All events by their end; the open ones last. Computed on first use. */
  get order() {
    if (!this.ordered) {
      this.ordered = Uint32Array.from({length: this.run.count}, (_, i) => i);
      this.ordered.sort(
        (a, b) => this.end[a] - this.end[b] || this.begin[a] - this.begin[b] || a - b);
    }
    return this.ordered;
  }
}

/** As typed arrays, by time, with the time busy before each span. */
function packRow({ids, begin, end}) {
  let sorted = true;
  for (let i = 1; i < begin.length && sorted; ++i) sorted = begin[i] >= begin[i - 1];
  const at = sorted ? null : begin.map((_, i) => i).sort((a, b) => begin[a] - begin[b]);
  const pack = (Kind, list) => Kind.from(sorted ? list : at.map(i => list[i]));
  const row = {
    ids: pack(Uint32Array, ids), begin: pack(Float64Array, begin), end: pack(Float64Array, end),
  };
  row.busy = new Float64Array(ids.length + 1);
  for (let i = 0; i < ids.length; ++i) row.busy[i + 1] = row.busy[i] + row.end[i] - row.begin[i];
  return row;
}

/** The first index from `from` on whose value is greater than `limit`; the values rise. */
function firstAbove(values, limit, from = 0) {
  // Doubling steps first: the target is usually near.
  let step = 1, low = from, high = from;
  while (high < values.length && !(values[high] > limit)) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = Math.min(high, values.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}
