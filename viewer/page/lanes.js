// Draws the spans of the lanes: wide ones with a label each, narrow ones together (strips.js).
// Labels come last, over the marks, so that no arrow strikes one through.

const LABEL_FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

class Lanes {
  constructor(run, view, theme) {
    Object.assign(this, {run, view, theme});
    this.strips = new Strips(run, view, theme);
  }

  draw(pen, timebase) {
    const {view, strips} = this;
    this.labels = [];
    const first = view.firstRank(), last = view.lastRank();
    strips.begin((last - first + 1) * ROWS);
    const wide = [];
    for (let rank = first; rank <= last; ++rank) {
      for (let row = 0; row < ROWS; ++row) {
        wide.push(strips.paint(timebase.row(rank, row), wide.length, row === WAIT));
      }
    }
    strips.end();
    pen.font = LABEL_FONT;
    pen.textBaseline = "middle";
    for (let rank = first; rank <= last; ++rank) {
      if (rank % 2 === 0) {
        pen.fillStyle = this.theme.colours.lane;
        pen.fillRect(view.left, view.top(rank), view.plotWidth, view.lane);
      }
      for (const row of [WAIT, SEND, RECV, WORK]) {
        const line = (rank - first) * ROWS + row;
        this.drawRow(pen, timebase, rank, row, line, wide[line]);
      }
      pen.fillStyle = this.theme.colours.line;
      pen.fillRect(0, view.top(rank) + view.lane - 1, view.width, view.lane >= 16 ? 1 : 0.5);
    }
  }

  drawRow(pen, timebase, rank, number, line, wide) {
    const {view} = this;
    const row = timebase.row(rank, number);
    const {y, height} = view.band(rank, number);
    this.strips.draw(pen, line, y, height);
    for (const i of wide) {
      const begin = view.x(row.begin[i]), end = view.x(row.end[i]);
      this.drawSpan(pen, timebase, number, row.ids[i], begin, end, y, height);
    }
  }

  drawSpan(pen, timebase, number, event, from, to, y, height) {
    const {view, run, theme} = this;
    const x = Math.max(from, view.left - 3), end = Math.min(to, view.width + 3);
    if (number === WAIT) {
      this.drawWait(pen, event, timebase.open.has(event), x, end, y, height);
      return;
    }
    const kind = run.kind(event);
    const fill = this.fillOf(event, kind);
    pen.fillStyle = fill;
    const width = Math.max(1, end - x - (to - from > 5 ? 1 : 0));
    if (height >= 8 && width >= 8) {
      pen.beginPath();
      pen.roundRect(x, y, width, height, 2.5);
      pen.fill();
    } else {
      pen.fillRect(x, y, width, height);
    }
    if (height >= 9 && !(kind === "collective" && number === RECV)) {
      const piece = run.piece(event);
      const text = piece >= 0 ? theme.colours.ink : theme.labelColour(kind);
      const colours = {text, under: fill};
      this.label(pen, spanLabel(run, event), colours, x, width, y + height / 2);
    }
  }

  /** Messages and sums in the colour of their piece, passes in that of their micro-batch. */
  fillOf(event, kind) {
    const {run, theme} = this;
    const piece = run.piece(event);
    if (piece >= 0) return theme.chunkColour(piece, run.pieces);
    if (kind !== "forward" && kind !== "backward") return theme.colours[kind];
    return theme.shade(theme.colours[kind], run.microBatch(event));
  }

  drawWait(pen, event, open, x, end, y, height) {
    const {theme, run} = this;
    pen.fillStyle = open ? theme.openHatch : theme.hatch;
    pen.fillRect(x, y, end - x, height);
    if (!open) return;
    pen.strokeStyle = theme.colours.open;
    pen.lineWidth = 1.5;
    pen.beginPath();  // no right edge: it never ended
    pen.moveTo(end, y);
    pen.lineTo(x, y);
    pen.lineTo(x, y + height);
    pen.lineTo(end, y + height);
    pen.stroke();
    if (height < 12) return;
    const colours = {text: theme.colours.open, under: theme.colours.paper};
    this.label(pen, openLabel(run, event), colours, x + 6, end - x - 12, y + height / 2);
  }

  /** Keeps the longest of the texts that fits, for drawLabels. */
  label(pen, texts, colours, x, width, y) {
    if (width < 12) return;
    for (const text of texts) {
      const needed = pen.measureText(text).width;
      if (needed > width - 6) continue;
      this.labels.push({text, colours, x: x + 4, width: needed, y});
      return;
    }
  }

  /** On a ground of the span's colour, which hides the marks behind it. */
  drawLabels(pen) {
    pen.font = LABEL_FONT;
    pen.textBaseline = "middle";
    for (const {text, colours, x, width, y} of this.labels) {
      pen.fillStyle = colours.under;
      pen.fillRect(x - 2, y - 5.5, width + 4, 11);
      pen.fillStyle = colours.text;
      pen.fillText(text, x, y + 0.5);
    }
  }
}
