// The memory lane of each rank: the tensor bytes that it held before each event.

class MemoryLane {
  constructor(run, view, theme) {
    Object.assign(this, {run, view, theme});
    this.most = run.column.memory.reduce((most, bytes) => Math.max(most, bytes), 0);
    this.picture = new Pixels();
  }

  draw(pen, timebase) {
    const {view, picture} = this;
    const height = view.memoryHeight() - 2;
    if (height <= 0 || this.most === 0) return;
    const first = view.firstRank(), last = view.lastRank();
    picture.begin(Math.ceil(view.plotWidth), height * (last - first + 1));
    this.fill = pixelOf(this.theme.colours.memory, 130);
    this.edge = pixelOf(this.theme.colours.memory, 255);
    for (let rank = first; rank <= last; ++rank)
      this.paint(timebase, rank, (rank - first) * height, height);
    picture.end();
    for (let rank = first; rank <= last; ++rank) {
      const top = view.top(rank) + view.lane - 1 - height;
      picture.draw(pen, (rank - first) * height, height, view.left, top, height);
    }
  }

  paint(timebase, rank, top, height) {
    const {view, run} = this;
    const first = run.first(rank), end = run.end(rank);
    const arrival = timebase.arrival.subarray(first, end);
    const memory = run.column.memory.subarray(first, end);
    const until = Math.min(this.picture.width, Math.round(view.x(timebase.length) - view.left));
    let i = firstAbove(arrival, view.begin);
    let held = i > 0 ? memory[i - 1] : 0;
    let x = Math.max(0, Math.round(view.x(0) - view.left));
    while (x < until) {
      const at = i < arrival.length ?
        Math.floor((arrival[i] - view.begin) / view.secondsPerPixel) : until;
      for (const stop = Math.min(until, at); x < stop; ++x) this.column(x, top, height, held);
      if (x >= until) break;
      const pixelEnd = view.begin + (x + 1) * view.secondsPerPixel;
      const next = Math.max(i + 1, firstAbove(arrival, pixelEnd, i));
      let most = 0;  // of all that share the pixel
      for (; i < next; ++i) most = Math.max(most, memory[i]);
      this.column(x++, top, height, most);
      held = memory[next - 1];
    }
  }

  column(x, top, height, bytes) {
    if (bytes === 0) return;
    const {data, width} = this.picture;
    const high = Math.max(1, Math.round(bytes / this.most * height));
    let at = (top + height - high) * width + x;
    data[at] = this.edge;
    for (let k = 1; k < high; ++k) data[at += width] = this.fill;
  }
}
