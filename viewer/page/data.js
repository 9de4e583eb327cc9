// The page's run: a head of JSON and columns of numbers (see viewer/html_data.h).

const DONE = 1, ASYNC = 2, BUFFERED = 8, CRITICAL = 16;

const ARRAYS = {
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array,
};

function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The columns' text, which is removed from the page: it may be large. */
function takeColumns() {
  const element = document.getElementById("columns");
  const text = element.value;
  element.remove();
  return text;
}

class Run {
  constructor() {
    const head = JSON.parse(document.getElementById("head").textContent);
    const bytes = bytesOfBase64(takeColumns());
    this.head = head;
    this.names = head.names;
    this.ranks = head.starts.length - 1;
    this.count = head.starts[this.ranks];
    this.column = {};
    for (const {name, type, at, count} of head.columns) {
      this.column[name] = new ARRAYS[type](bytes.buffer, bytes.byteOffset + at, count);
    }
    this.hasMemory = this.memoryVaries();
    this.pieces = head.held ? Math.max(...head.held.buffers.map(({begins}) => begins.length)) : 0;
    this.kinds = head.names.map(kindOfName);
    this.hasPasses = this.kinds.includes("forward");
    // One label for all that moves says nothing.
    this.namesPieces = head.held && head.held.labels.filter(label => label).length > 1;
    this.snapshotOf = new Map();
    this.column.snapshotEvent.forEach((event, i) => this.snapshotOf.set(event, i));
  }

  name(event) { return this.names[this.column.what[event]]; }
  kind(event) { return this.kinds[this.column.what[event]]; }
  has(event, flag) { return (this.column.flags[event] & flag) !== 0; }
  peer(event) { return this.column.peer[event] - 1; }
  link(event) { return this.column.link[event] - 1; }
  first(rank) { return this.head.starts[rank]; }
  end(rank) { return this.head.starts[rank + 1]; }

  /** What a call moves: "c3", "c0–c3", "r2"; "" if it is not known. */
  label(event) { return this.namesPieces ? this.head.held.labels[this.column.label[event]] : ""; }

  /** The first piece that it moves, of a buffer with several; -1: unknown. */
  piece(event) {
    const found = this.pieces > 1 && /^c(\d+)/.exec(this.label(event));
    return found ? Number(found[1]) : -1;
  }

  microBatch(event) { return Number(/[FBW](\d+)/.exec(this.name(event))?.[1] || 0); }

  /** Lanes that are flat show nothing. */
  memoryVaries() {
    const {memory} = this.column;
    for (let rank = 0; rank < this.ranks; ++rank) {
      for (let i = this.first(rank) + 1; i < this.end(rank); ++i)
        if (memory[i] !== memory[i - 1]) return true;
    }
    return false;
  }

  rankOf(event) {
    let low = 0, high = this.ranks;  // starts[low] <= event < starts[high]
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.head.starts[middle] <= event) low = middle; else high = middle;
    }
    return low;
  }

  /** {file, line, text}; null where the event has none. */
  place(event) {
    const [file, line, text] = this.head.places[this.column.place[event]];
    return line ? {file, line, text} : null;
  }

  /** The contents of its buffer after it; null if not recorded. */
  values(event) {
    const at = this.snapshotOf.get(event);
    if (at === undefined) return null;
    const start = this.column.snapshotStart;
    return this.column.snapshotValues.subarray(start[at], start[at + 1]);
  }

  /** How many elements that buffer has in all; of a wait, the received one. */
  elements(event) {
    const about = this.name(event) === "wait" && this.link(event) >= 0 ? this.link(event) : event;
    const bits = Number(/\d+$/.exec(this.head.dtypes[this.column.dtype[about]])?.[0] ?? 8); // bool
    return this.column.bytes[about] * 8 / bits;
  }
}

/** The kinds in the picture; all native collectives are one. A computation may have a name:
    "compute F3" is the forward pass of micro-batch 3, "compute B3" its backward pass. */
function kindOfName(name) {
  if (/^compute F\d/.test(name)) return "forward";
  if (/^compute B\d/.test(name)) return "backward";
  if (name.startsWith("compute ")) return "compute";
  return ["send", "recv", "reduce", "compute", "wait"].includes(name) ? name : "collective";
}
