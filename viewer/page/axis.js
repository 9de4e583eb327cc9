// The axis above the lanes, and the ranks' names and idle shares to their left.

class Axis {
  /** @param mostMemory bytes at the upper edge of the memory lanes */
  constructor(run, view, theme, mostMemory) {
    Object.assign(this, {run, view, theme, mostMemory});
  }

  draw(pen, timebase) {
    this.stuckIn = timebase.stuckIn;
    this.drawTimes(pen, timebase.finish);
    this.drawNames(pen);
  }

  /** The scale of the memory lanes, the same for all: their upper edge is the most that any rank
      held. */
  drawMemoryScale(pen, top) {
    const {view, theme} = this;
    const lane = view.memoryHeight();
    if (lane < 8 || this.mostMemory === 0) return;
    const bottom = top + view.lane - 1, upper = bottom - lane + 2;
    pen.fillStyle = theme.colours.faint;
    for (const y of [upper, bottom - 1]) pen.fillRect(view.left - 6, y, 5, 1);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const most = shortBytes(this.mostMemory);
    const text = [`memory 0 to ${most}`, `0 to ${most}`, `≤ ${most}`].find(
      each => pen.measureText(each).width < view.left - 12) || "";
    pen.fillText(text, view.left - 9 - pen.measureText(text).width, (upper + bottom) / 2);
  }

  /** @param finish times beyond it are not labelled */
  drawTimes(pen, finish) {
    const {view, theme} = this;
    pen.fillStyle = theme.colours.paper;
    pen.fillRect(0, 0, view.width, AXIS_HEIGHT);
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    const unit = step => Math.max(view.end * 0.999, step);
    const digitsFor = step => Math.max(4, Math.ceil(Math.log10(unit(step) / step)) + 2);
    // The closest ticks whose labels do not touch.
    let step = roundStep(view.secondsPerPixel * 40);
    for (const wide of [1.01, 2.01, 2.01, 2.01]) {
      const longest = formatTime(Math.ceil(view.end / step) * step, unit(step), digitsFor(step));
      if (pen.measureText(longest).width + 24 <= step / view.secondsPerPixel) break;
      step = roundStep(step * wide);
    }
    const digits = digitsFor(step);
    const last = Math.min(view.end, finish * 1.02);
    for (let k = Math.ceil(Math.max(0, view.begin) / step); k * step <= last; ++k) {
      const x = view.x(k * step);
      if (x < view.left - 1) continue;
      pen.fillStyle = theme.colours.line;
      pen.fillRect(x, AXIS_HEIGHT - 7, 1, 7);
      const text = formatTime(k * step, unit(step), digits);
      if (x + pen.measureText(text).width + 4 > view.width) continue;
      pen.fillStyle = theme.colours.faint;
      pen.fillText(text, x + 4, AXIS_HEIGHT / 2);
    }
    pen.fillStyle = theme.colours.line;
    pen.fillRect(0, AXIS_HEIGHT - 1, view.width, 1);
  }

  drawNames(pen) {
    const {view, theme, run} = this;
    pen.fillStyle = theme.colours.paper;
    pen.fillRect(0, AXIS_HEIGHT, view.left - 1, view.height);
    pen.fillStyle = theme.colours.line;
    pen.fillRect(view.left - 1, 0, 1, view.height);
    const wide = view.left > 100;
    const every = Math.ceil(15 / view.lane);  // names that do not fit are omitted
    for (let rank = view.firstRank(); rank <= view.lastRank(); ++rank) {
      if (rank % every !== 0) continue;
      const top = view.top(rank);
      const middle = top + Math.min(view.lane / 2, 12) + (view.lane > 40 ? 2 : 0);
      pen.save();
      pen.beginPath();
      pen.rect(0, AXIS_HEIGHT, view.left - 2, view.height);
      pen.clip();
      pen.fillStyle = theme.colours.ink;
      pen.font = `${view.lane >= 14 ? "600 12.5px" : "11px"} system-ui, 'DejaVu Sans', sans-serif`;
      pen.fillText(wide ? `rank ${rank}` : `${rank}`, 9, middle);
      this.drawIdle(pen, rank, top, middle, wide);
      pen.restore();
    }
    pen.fillStyle = theme.colours.paper;
    pen.fillRect(0, 0, view.left - 1, AXIS_HEIGHT - 1);
    pen.fillStyle = theme.colours.faint;
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    const idle = this.stuckIn.size > 0 ? "" : "idle";
    pen.fillText(idle, view.left - 10 - pen.measureText(idle).width, AXIS_HEIGHT / 2);
  }

  drawIdle(pen, rank, top, middle, wide) {
    const {view, theme} = this;
    const share = this.run.head.idle[rank];
    const isStuck = this.stuckIn.has(rank);
    const text = isStuck ? "stuck" : formatShare(share);
    pen.fillStyle = isStuck ? theme.colours.open : theme.colours.faint;
    pen.font = `${view.lane >= 14 ? 12 : 10}px system-ui, 'DejaVu Sans', sans-serif`;
    pen.fillText(text, view.left - 10 - pen.measureText(text).width, middle);
    if (view.lane < 40 || isStuck) return;
    const width = view.left - 20, y = middle + 13;
    pen.strokeStyle = theme.colours.faint;
    pen.lineWidth = 1;
    pen.strokeRect(9.5, y + 0.5, width, 6);
    pen.fillStyle = theme.hatch;
    pen.fillRect(10, y + 1, width * share, 5);
    if (view.lane >= 58) this.drawMemoryScale(pen, top);
  }
}
