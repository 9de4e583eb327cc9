// Marks over the lanes: messages, the critical path, the selected event, the time of the step.

const MOST_ARROWS = 700;

class Marks {
  constructor(run, view, theme) {
    Object.assign(this, {run, view, theme});
  }

  /** False if too many are in view to tell them apart. */
  drawArrows(pen, timebase) {
    const {view, run} = this;
    let count = 0;
    const stretches = [];
    for (let rank = 0; rank < run.ranks; ++rank) {
      const row = timebase.row(rank, RECV);
      const low = firstAbove(row.end, view.begin), high = firstAbove(row.begin, view.end, low);
      count += high - low;
      if (count > MOST_ARROWS) return false;
      stretches.push([row, low, high]);
    }
    pen.strokeStyle = pen.fillStyle = this.theme.colours.arrow;
    pen.lineWidth = 1.2;
    pen.globalAlpha = Math.min(0.8, Math.max(0.3, 60 / (count + 1)));
    for (const [row, low, high] of stretches) {
      for (let i = low; i < high; ++i) this.drawArrow(pen, timebase, row.ids[i]);
    }
    pen.globalAlpha = 1;
    return true;
  }

  drawArrow(pen, timebase, recv) {
    const {view, run} = this;
    const send = run.link(recv);
    if (send < 0 || run.kind(recv) !== "recv") return;
    if (timebase.open.has(recv) || timebase.open.has(send)) return;
    const [from, to] = this.edges(
      view.band(run.rankOf(send), SEND), view.band(run.rankOf(recv), RECV));
    const margin = view.lane * 2;
    if (Math.max(from, to) < -margin || Math.min(from, to) > view.height + margin) return;
    const x0 = view.x(timebase.begin[send]);
    const x1 = view.x(Math.max(timebase.end[recv], timebase.begin[send]));
    pen.beginPath();
    pen.moveTo(x0, from);
    pen.lineTo(x1, to);
    pen.stroke();
    const angle = Math.atan2(to - from, x1 - x0), size = view.lane >= 24 ? 7 : 4;
    pen.beginPath();
    pen.moveTo(x1, to);
    for (const turn of [-0.42, 0.42]) {
      pen.lineTo(x1 - size * Math.cos(angle + turn), to - size * Math.sin(angle + turn));
    }
    pen.fill();
  }

  /** Between the facing edges of two bands, so that labels stay legible. */
  edges(from, to) {
    const down = to.y > from.y;
    return [from.y + (down ? from.height : 0), to.y + (down ? 0 : to.height)];
  }

  middle(event, row) {
    const {y, height} = this.view.band(this.run.rankOf(event), row);
    return y + height / 2;
  }

  rowOf(event) {
    const kind = this.run.kind(event);
    return kind === "collective" ? SEND : ROW_OF_KIND[kind];
  }

  /** Only in virtual time, for which it is computed. */
  drawPath(pen, timebase) {
    const {view, run} = this;
    const path = run.column.path;
    if (timebase.clock !== "virtual" || path.length === 0) return;
    if (!this.pathEnds) this.pathEnds = Float64Array.from(path, event => timebase.end[event]);
    // Rectangles, because stroking one long line takes ten times as long.
    pen.strokeStyle = pen.fillStyle = this.theme.colours.path;
    pen.lineWidth = view.lane >= 24 ? 2.5 : 1.5;
    pen.lineJoin = "round";
    let i = firstAbove(this.pathEnds, view.begin);
    let last = i > 0 ? this.middle(path[i - 1], this.rowOf(path[i - 1])) : null;
    while (i < path.length && timebase.begin[path[i]] < view.end) {
      const event = path[i];
      const row = this.rowOf(event);
      const x = Math.max(view.x(timebase.begin[event]), view.left - 4);
      const end = Math.min(view.x(timebase.end[event]), view.width + 4);
      const y = this.middle(event, row);
      const enters = this.hasArrow(timebase, event) ? this.middle(run.link(event), SEND) : y;
      // A shared mark for many events is translucent.
      const isWide = end - x >= 4;
      const width = isWide ? pen.lineWidth : 1;
      pen.globalAlpha = isWide ? 1 : 0.55;
      if (last !== null && last !== enters)
        pen.fillRect(x - width / 2, Math.min(last, enters), width, Math.abs(last - enters));
      if (isWide) {
        const band = view.band(run.rankOf(event), row);
        if (!this.hasArrow(timebase, event))
          pen.strokeRect(x + 0.5, band.y, end - x - 2, band.height);
        ++i;
      } else {
        pen.fillRect(x, y - 1, 2, 2);
        i = Math.max(i + 1, firstAbove(this.pathEnds, view.time(x + 2), i));
      }
      if (isWide) this.followArrow(pen, timebase, event, y);
      last = y;
    }
    pen.globalAlpha = 1;
  }

  /** Whether the path goes on at the receiver of a message: from the sender's own event. Where it
      goes on at the sender, it stays in that rank's lane. */
  hasArrow(timebase, event) {
    const {run} = this;
    const send = run.link(event);
    if (send < 0 || run.kind(event) !== "recv" || timebase.open.has(send)) return false;
    return timebase.begin[event] === timebase.begin[send];
  }

  /** A message takes the path to its receiver. */
  followArrow(pen, timebase, recv, y) {
    if (!this.hasArrow(timebase, recv)) return;
    const {view, run} = this;
    pen.beginPath();
    pen.moveTo(view.x(timebase.begin[recv]), this.middle(run.link(recv), SEND));
    pen.lineTo(view.x(timebase.end[recv]), y);
    pen.stroke();
  }

  drawChosen(pen, timebase, event) {
    const {view, run, theme} = this;
    const rank = run.rankOf(event);
    const whole = timebase.open.has(event) || run.kind(event) === "wait" ||
      run.kind(event) === "collective";
    const {y, height} = view.band(rank, whole ? WAIT : this.rowOf(event));
    const x = view.x(timebase.begin[event]), end = view.x(timebase.end[event]);
    pen.strokeStyle = theme.colours.ink;
    pen.lineWidth = 2;
    pen.setLineDash([5, 3]);
    const left = Math.max(x - 2.5, view.left - 6), right = Math.min(end + 2.5, view.width + 6);
    pen.strokeRect(left, y - 2.5, Math.max(5, right - left), height + 5);
    pen.setLineDash([]);
    const link = run.link(event);
    if (link < 0 || run.kind(event) === "wait") return;
    pen.strokeStyle = pen.fillStyle = theme.colours.ink;
    this.drawArrow(pen, timebase, run.kind(event) === "recv" ? event : link);
  }

  drawNow(pen, seconds) {
    const {view, theme} = this;
    const x = view.x(seconds);
    if (x < view.left || x > view.width) return;
    pen.fillStyle = theme.colours.focus;
    pen.fillRect(x - 1, 0, 2, view.height);
  }
}
