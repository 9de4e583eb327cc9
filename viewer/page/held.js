// What each rank holds: a row of pieces, filled by the ranks that contributed to each, and the
// pieces on their way while the run plays.

const TRAVEL = 420;  // milliseconds of a message on its way
const HELD_LEFT = 62, HELD_RIGHT = 74, BUFFER_GAP = 18, WIDEST_CELL = 84;

/** "0+2×1": rank 0's data, and twice those of rank 1. */
function ranksInWords(from) {
  return from.map(([rank, times]) => times > 1 ? `${times}×${rank}` : `${rank}`).join("+");
}

class Held {
  constructor(run, theme) {
    Object.assign(this, {run, theme});
    this.canvas = document.getElementById("held");
    this.held = run.head.held;
    if (!this.held) return;
    document.getElementById("held-section").hidden = false;
    this.readChanges();
    this.placeBuffers();
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  readChanges() {
    const {heldEvent} = this.run.column;
    this.changesOf = new Map();  // event -> indices of its changes; -1: before the run
    heldEvent.forEach((event, i) => {
      if (!this.changesOf.has(event - 1)) this.changesOf.set(event - 1, []);
      this.changesOf.get(event - 1).push(i);
    });
    const cells = this.held.buffers.reduce((sum, {begins}) => sum + begins.length, 0);
    this.cells = new Int32Array(cells);  // index into held.contents
    this.inHand = new Array(this.run.ranks).fill("");  // received, and not added yet
  }

  /** Buffers in one role on all ranks are one column. */
  placeBuffers() {
    this.buffersOf = Array.from({length: this.run.ranks}, () => []);
    this.columns = [];  // pieces of each
    let first = 0;
    for (const buffer of this.held.buffers) {
      const pieces = buffer.begins.length, {column} = buffer;
      this.columns[column] = pieces;
      this.buffersOf[buffer.rank].push({first, pieces, column});
      first += pieces;
    }
    this.pieces = Math.max(...this.columns);
    this.rankOfCell = this.held.buffers.flatMap(({rank, begins}) => begins.map(() => rank));
  }

  /** The state after the first `number` events of the timebase's order. */
  show(timebase, number) {
    if (!this.held) return;
    cancelAnimationFrame(this.frame);
    this.travellers = [];
    if (timebase !== this.timebase || number < this.number) {
      this.timebase = timebase;
      this.number = 0;
      this.cells.fill(0);
      this.inHand.fill("");
      this.apply(-1);
    }
    for (; this.number < number; ++this.number) this.end(timebase.order[this.number]);
    this.draw();
  }

  /** As show, after a short animation of the messages that arrive. */
  travel(timebase, number) {
    if (!this.held) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still || timebase !== this.timebase || number < this.number) {
      this.show(timebase, number);
      return;
    }
    cancelAnimationFrame(this.frame);
    this.travellers = [];
    for (let k = this.number; k < number; ++k) this.addTraveller(timebase.order[k]);
    if (this.travellers.length === 0) {
      this.show(timebase, number);
      return;
    }
    const start = performance.now();
    const step = now => {
      const part = Math.min(1, (now - start) / TRAVEL);
      this.part = part * part * (3 - 2 * part);
      if (part === 1) {
        this.show(timebase, number);
        return;
      }
      this.draw();
      this.frame = requestAnimationFrame(step);
    };
    this.part = 0;
    this.frame = requestAnimationFrame(step);
  }

  addTraveller(event) {
    const recv = this.receiveOf(event);
    if (recv < 0) return;
    const {run} = this;
    const send = run.link(recv), label = this.labelOf(recv);
    if (send < 0) return;
    const from = this.cellsOf(run.rankOf(send), label);
    const changes = this.changesOf.get(event) || [];
    const {heldCell} = run.column;
    const to = changes.length > 0 ? changes.map(i => heldCell[i]) :
      this.cellsOf(run.rankOf(recv), label);
    if (from.length === 0 || to.length === 0) return;
    this.travellers.push({from, to, label});
  }

  /** The receive that this event ends; -1: none. */
  receiveOf(event) {
    const {run} = this;
    const of = run.name(event) === "wait" ? run.link(event) : event;
    const isRecv = of >= 0 && run.kind(of) === "recv";
    return isRecv && (of !== event || !run.has(of, ASYNC)) ? of : -1;
  }

  labelOf(event) { return this.held.labels[this.run.column.label[event]]; }

  end(event) {
    const {run} = this;
    const changed = this.apply(event);
    const rank = run.rankOf(event), kind = run.kind(event);
    if (kind === "reduce") this.inHand[rank] = "";
    const recv = this.receiveOf(event);
    if (recv >= 0) this.inHand[rank] = changed ? "" : this.labelOf(recv);
  }

  apply(event) {
    const {heldCell, heldContents} = this.run.column;
    const changes = this.changesOf.get(event) || [];
    for (const i of changes) this.cells[heldCell[i]] = heldContents[i];
    return changes.length > 0;
  }

  /** The cells of the rank where what is labelled so is at home: "c2–c4", or "r3": all of it. */
  cellsOf(rank, label) {
    const range = /^c(\d+)(?:–c(\d+))?$/.exec(label);
    const first = range ? Number(range[1]) : 0;
    const last = range ? Number(range[2] || range[1]) : 0;
    const buffer = this.buffersOf[rank].find(({pieces}) => pieces > last);
    if (!buffer) return [];
    const end = range ? last : buffer.pieces - 1;
    return Array.from({length: end - first + 1}, (_, i) => buffer.first + first + i);
  }

  // ---- Drawing ----

  layout() {
    const {ranks} = this.run;
    const width = this.canvas.parentElement.clientWidth;
    const row = ranks <= 8 ? 36 : ranks <= 16 ? 25 : ranks <= 32 ? 17 : 11;
    const all = this.columns.reduce((sum, pieces) => sum + pieces, 0);
    const left = ranks > 16 ? 34 : HELD_LEFT;
    const room = width - left - HELD_RIGHT - BUFFER_GAP * (this.columns.length - 1);
    const cell = Math.max(3, Math.min(WIDEST_CELL, room / all));
    const top = this.columns.length > 1 ? 38 : 20;
    Object.assign(this, {width, row, cell, left, top, height: top + ranks * row + 4});
    this.begins = [];  // of the columns
    let x = left;
    for (const pieces of this.columns) {
      this.begins.push(x);
      x += pieces * cell + BUFFER_GAP;
    }
    this.right = x - BUFFER_GAP + 8;
    this.width = Math.max(width, x - BUFFER_GAP + 4);  // more than there is room for scrolls
  }

  /** The place of a cell: {x, y, w, h}. */
  boxOf(cell) {
    const rank = this.rankOfCell[cell];
    const {first, column} = this.bufferOf(cell);
    const x = this.begins[column] + (cell - first) * this.cell;
    const gap = this.row > 20 ? 3 : 1;
    return {x: x + 1, y: this.top + rank * this.row + gap, w: this.cell - 2, h: this.row - 2 * gap};
  }

  draw() {
    if (!this.held || !this.timebase) return;
    this.layout();
    const {canvas, theme} = this;
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.style.height = `${this.height}px`;
    canvas.style.width = `${this.width}px`;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.height * ratio);
    const pen = canvas.getContext("2d", {alpha: false});
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = theme.colours.paper;
    pen.fillRect(0, 0, this.width, this.height);
    pen.textBaseline = "middle";
    this.drawNames(pen);
    this.cells.forEach((contents, cell) =>
      this.drawPiece(pen, this.boxOf(cell), this.held.contents[contents], this.columnName(cell)));
    this.drawInHand(pen);
    for (const each of this.travellers || []) this.drawTraveller(pen, each);
    this.drawn = (this.drawn || 0) + 1;
  }

  bufferOf(cell) {
    return this.buffersOf[this.rankOfCell[cell]].find(
      ({first, pieces}) => cell >= first && cell < first + pieces);
  }

  columnName(cell) { return `c${cell - this.bufferOf(cell).first}`; }

  drawNames(pen) {
    const {theme, run} = this;
    pen.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    pen.fillStyle = theme.colours.ink;
    const every = Math.ceil(13 / this.row);
    for (let rank = 0; rank < run.ranks; rank += every) {
      const text = run.ranks > 16 ? `${rank}` : `rank ${rank}`;
      pen.fillText(text, 4, this.top + (rank + 0.5) * this.row);
    }
    pen.textAlign = "center";
    pen.font = "600 11px system-ui, 'DejaVu Sans', sans-serif";
    this.columns.forEach((pieces, column) => {
      if (this.columns.length > 1) {
        const name = pieces * this.cell < 56 ? `${column + 1}` : `tensor ${column + 1}`;
        pen.fillStyle = theme.colours.ink;
        pen.fillText(name, this.begins[column] + pieces * this.cell / 2, 9);
      }
      if (pieces === 1 || this.cell < 20) return;
      for (let i = 0; i < pieces; ++i) {
        pen.fillStyle = theme.chunkColour(i, this.pieces);
        const x = this.begins[column] + i * this.cell;
        pen.fillRect(x + 1, this.top - 3, this.cell - 2, 3);
        pen.fillStyle = theme.colours.faint;
        pen.fillText(`c${i}`, x + this.cell / 2, this.top - 11);
      }
    });
    pen.textAlign = "left";
  }

  /** A stripe for each rank: filled if it contributed. All of them: solid. */
  drawPiece(pen, {x, y, w, h}, {from, label}, column) {
    const {theme, run} = this;
    pen.fillStyle = theme.colours.lane;
    pen.fillRect(x, y, w, h);
    const isComplete = from.length === run.ranks && from.length > 1;
    const colours = from.map(([rank]) => theme.rankColour(rank, run.ranks));
    if (isComplete) {
      pen.fillStyle = theme.colours.complete;
      pen.fillRect(x, y, w, h);
    } else if (from.length === 1) {
      pen.fillStyle = colours[0];
      pen.fillRect(x, y, w, h);
    } else {
      from.forEach(([rank], i) => {
        pen.fillStyle = colours[i];
        pen.fillRect(x + w * rank / run.ranks, y, Math.max(1, w / run.ranks - 0.5), h);
      });
    }
    const isTwice = from.some(([, times]) => times > 1);
    pen.strokeStyle = isTwice ? theme.colours.open : theme.colours.line;
    pen.lineWidth = isTwice ? 2.5 : 1;
    pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    if (h < 14 || from.length === 0) return;
    const where = label === column || !label.startsWith("c") ? "" : ` ${label}`;
    const ranks = ranksInWords(from);
    const texts = isComplete && !isTwice ? ["all ✓" + where, "✓"] : [ranks + where, ranks];
    this.drawText(pen, texts, {x, y, w, h}, from.length === 1 || isComplete);
  }

  drawText(pen, texts, {x, y, w, h}, isSolid) {
    pen.font = "600 11px system-ui, 'DejaVu Sans', sans-serif";
    const text = texts.find(each => pen.measureText(each).width <= w - 4);
    if (!text) return;
    const {colours} = this.theme;
    const width = pen.measureText(text).width, middle = x + w / 2;
    if (!isSolid) {
      pen.fillStyle = colours.paper;
      pen.fillRect(middle - width / 2 - 3, y + h / 2 - 7, width + 6, 14);
    }
    pen.fillStyle = isSolid ? colours["on-dark"] : colours.ink;
    pen.fillText(text, middle - width / 2, y + h / 2 + 0.5);
  }

  drawInHand(pen) {
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    this.inHand.forEach((label, rank) => {
      if (!label || this.row < 14) return;
      const y = this.top + (rank + 0.5) * this.row;
      pen.fillStyle = this.theme.colours.faint;
      pen.fillText(`+ ${label}`, this.right, y);
    });
  }

  drawTraveller(pen, {from, to, label}) {
    const {theme} = this;
    from.forEach((cell, i) => {
      const a = this.boxOf(cell), b = this.boxOf(to[Math.min(i, to.length - 1)]);
      const mix = key => a[key] + (b[key] - a[key]) * this.part;
      const bend = Math.sin(Math.PI * this.part) * 10;
      const box = {x: mix("x") + bend, y: mix("y") + 4, w: mix("w"), h: Math.max(6, mix("h") - 8)};
      pen.save();
      pen.shadowColor = "rgb(0 0 0 / .4)";
      pen.shadowBlur = 8;
      pen.fillStyle = theme.colours.paper;
      pen.fillRect(box.x, box.y, box.w, box.h);
      pen.restore();
      this.drawPiece(pen, box, this.held.contents[this.cells[cell]], label);
    });
  }

  /** "c0: 0+1, c1: 1" of the rank, for those who do not see it. */
  textOf(rank) {
    if (!this.held) return "";
    return this.buffersOf[rank].map(({first, pieces}) => Array.from({length: pieces}, (_, i) => {
      const {from} = this.held.contents[this.cells[first + i]];
      const isTwice = from.some(([, times]) => times > 1);
      const isAll = from.length === this.run.ranks && from.length > 1 && !isTwice;
      const ranks = isAll ? "all" : ranksInWords(from) || "nothing";
      return pieces > 1 ? `c${i}: ${ranks}` : ranks;
    }).join(", ")).join(" | ");
  }
}
