// Mouse and touch on the canvas: drag to pan, wheel or pinch to zoom, hover to read, click to
// select.

const CLICK = 4;  // pixels that a click may move

class Pointer {
  constructor(app) {
    this.app = app;
    this.canvas = app.canvas;
    this.down = new Map();  // pointer id -> where it is
    this.moved = 0;
    const on = (name, handler, options) =>
      this.canvas.addEventListener(name, handler.bind(this), options);
    on("pointerdown", this.press);
    on("pointermove", this.move);
    on("pointerup", this.release);
    on("pointercancel", this.cancel);
    on("pointerleave", () => this.app.hover(-1));
    on("wheel", this.wheel, {passive: false});
    on("dblclick", event => this.app.zoomAt(0.4, this.at(event).x));
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  press(event) {
    if (event.button !== 0) return;
    if (this.down.size === 0) this.moved = 0;
    this.down.set(event.pointerId, this.at(event));
    this.canvas.setPointerCapture(event.pointerId);
    this.app.stopGliding();
  }

  move(event) {
    const to = this.at(event);
    const from = this.down.get(event.pointerId);
    if (!from) {
      const {run, view, timebase} = this.app;
      this.app.hover(eventAt(run, view, timebase, to.x, to.y), to);
      return;
    }
    this.moved += Math.hypot(to.x - from.x, to.y - from.y);
    if (this.down.size === 2) this.pinch(event.pointerId, from, to);
    this.down.set(event.pointerId, to);
    if (this.moved < CLICK) return;
    const {view} = this.app;
    this.canvas.classList.add("pans");
    this.app.hover(-1);
    view.pan((from.x - to.x) / this.down.size);
    view.scrollTo(view.scroll + (from.y - to.y) / this.down.size);
    this.app.redraw();
  }

  /** The distance between the fingers sets the zoom, their midpoint its center. */
  pinch(id, from, to) {
    const other = [...this.down].find(([key]) => key !== id)[1];
    const before = Math.max(20, Math.abs(from.x - other.x));
    const after = Math.max(20, Math.abs(to.x - other.x));
    this.app.view.zoom(before / after, (to.x + other.x) / 2);
  }

  release(event) {
    const was = this.down.get(event.pointerId);
    this.cancel(event);
    if (!was || this.moved >= CLICK || this.down.size > 0) return;
    const {run, view, timebase} = this.app;
    const {x, y} = this.at(event);
    const chosen = eventAt(run, view, timebase, x, y);
    this.app.choose(chosen, {reveal: false});
    if (chosen >= 0) document.getElementById("event").open = true;
  }

  cancel(event) {
    this.down.delete(event.pointerId);
    if (this.down.size === 0) this.canvas.classList.remove("pans");
  }

  wheel(event) {
    const {app} = this;
    const pixels = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;  // lines, pages
    const dx = event.deltaX * pixels, dy = event.deltaY * pixels;
    event.preventDefault();
    app.stopGliding();
    app.hover(-1);
    if (event.shiftKey) {
      app.view.scrollTo(app.view.scroll + dy + dx);
    } else if (Math.abs(dx) > Math.abs(dy)) {
      app.view.pan(dx);
    } else {
      const factor = Math.exp(Math.max(-120, Math.min(120, dy)) * 0.004);
      app.view.zoom(factor, Math.max(app.view.left, this.at(event).x));
    }
    app.redraw();
  }
}
