// Keys on the canvas. Tab is not handled: it leaves the picture.

class Keyboard {
  constructor(app) {
    this.app = app;
    app.canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.press(event.key, event.shiftKey)) event.preventDefault();
    });
  }

  /** Whether the key was handled. */
  press(key, shift) {
    const {app} = this;
    if (shift && key.startsWith("Arrow")) {
      this.walk(key);
      return true;
    }
    const moves = {
      ArrowLeft: () => this.move(view => view.pan(-view.plotWidth / 8)),
      ArrowRight: () => this.move(view => view.pan(view.plotWidth / 8)),
      ArrowUp: () => this.move(view => view.scrollTo(view.scroll - view.lane)),
      ArrowDown: () => this.move(view => view.scrollTo(view.scroll + view.lane)),
      PageUp: () => this.move(view => view.scrollTo(view.scroll - view.height * 0.8)),
      PageDown: () => this.move(view => view.scrollTo(view.scroll + view.height * 0.8)),
      Home: () => this.move(view => view.show(0, view.end - view.begin)),
      End: () => this.move(view => view.show(view.length - (view.end - view.begin), view.length)),
      "+": () => app.zoomAt(0.6),
      "=": () => app.zoomAt(0.6),
      "-": () => app.zoomAt(1 / 0.6),
      _: () => app.zoomAt(1 / 0.6),
      0: () => app.fit(),
      n: () => app.steps.move(1),
      p: () => app.steps.move(-1),
      l: () => app.chooseLink(),
      Escape: () => app.choose(-1),
    };
    const move = moves[key] || moves[key.toLowerCase()];
    if (move) move();
    return Boolean(move);
  }

  move(change) {
    this.app.stopGliding();
    change(this.app.view);
    this.app.redraw();
  }

  /** From event to event: along a rank, or to a neighbour's event at that time. */
  walk(key) {
    const {app} = this;
    const {run, timebase, chosen} = app;
    if (chosen < 0) {
      app.choose(app.firstInSight());
    } else if (key === "ArrowLeft" || key === "ArrowRight") {
      app.chooseBeside(key === "ArrowRight" ? 1 : -1);
    } else {
      const rank = run.rankOf(chosen) + (key === "ArrowDown" ? 1 : -1);
      if (rank < 0 || rank >= run.ranks || run.first(rank) === run.end(rank)) return;
      const arrivals = timebase.arrival.subarray(run.first(rank), run.end(rank));
      const at = firstAbove(arrivals, timebase.arrival[chosen]);
      app.choose(run.first(rank) + Math.max(0, at - 1));
    }
  }
}
