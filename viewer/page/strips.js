// Spans too narrow to be drawn one by one: each pixel of a row is as dark as the row is busy there.
//
// Every row is a strip one pixel high, and all strips form one picture. Drawing a row stretches its
// strip to its height. A pixel costs two searches, for any number of events.

const WIDE = 7;  // pixels; from this width on a span is drawn individually
const MOST_PIXELS = 40000;  // beyond that, neighbours share pixels, to keep frames fast

class Strips {
  constructor(run, view, theme) {
    Object.assign(this, {run, view, theme});
    this.picture = new Pixels();
  }

  /** Makes room for this many rows. */
  begin(rows) {
    const width = Math.ceil(this.view.plotWidth);
    this.step = Math.max(1, Math.ceil(rows * width / MOST_PIXELS));
    this.picture.begin(width, rows);
    if (this.colours === this.theme.colours) return;
    this.colours = this.theme.colours;
    this.pixelOfWhat = this.run.kinds.map(kind => pixelOf(this.colours[kind], 0));
    this.pixelOfWait = pixelOf(this.colours.wait, 0);
  }

  /** Paints the narrow spans of a row, and returns the wide ones as indices into it. */
  paint(row, line, isWait) {
    const {view, step, pixelOfWhat, pixelOfWait} = this;
    const {width, data} = this.picture;
    const {what} = this.run.column;
    const {begin, end, busy, ids} = row;
    const perPixel = view.secondsPerPixel, from = view.begin;
    const wide = [];
    let i = firstAbove(end, from);
    let x = 0;
    while (i < ids.length && begin[i] < view.end) {
      if (end[i] - begin[i] >= WIDE * perPixel) {
        wide.push(i++);
        continue;
      }
      x = Math.max(x, Math.floor((begin[i] - from) / perPixel / step) * step);
      if (x >= width) break;
      const left = from + x * perPixel, right = left + step * perPixel;
      const next = firstAbove(end, right, i);
      const before = busy[i] + Math.max(0, left - begin[i]);
      const after = busy[next] + (next < ids.length ? Math.max(0, right - begin[next]) : 0);
      let share = Math.min(1, (after - before) / (right - left));
      // A gap between neighbours that are wide enough for one.
      if (next > i && end[i] - begin[i] >= 3 * step * perPixel) share *= 0.5;
      const stop = Math.min(width, x + step);
      if (share > 0) {
        const alpha = isWait ? 36 + 117 * share : 60 + 195 * share;
        const pixel = ((isWait ? pixelOfWait : pixelOfWhat[what[ids[i]]]) | alpha << 24) >>> 0;
        for (; x < stop; ++x) data[line * width + x] = pixel;
      }
      x = stop;
      i = next;
    }
    return wide;
  }

  end() { this.picture.end(); }

  draw(pen, line, y, height) { this.picture.draw(pen, line, 1, this.view.left, y, height); }
}
