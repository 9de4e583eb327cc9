"""What browser_test.py asks the page, in JavaScript."""

# The position of an event on the canvas, in CSS pixels from its top left corner.
POINT_OF = """
    const {run, view, timebase, marks} = rankbox, event = arguments[0];
    const row = timebase.open.has(event) ? 3 : marks.rowOf(event);
    const band = view.band(run.rankOf(event), row);
    const x = view.x((timebase.begin[event] + timebase.end[event]) / 2);
    return [Math.round(x), Math.round(band.y + band.height / 2)];"""

# The first event with that name on that rank.
FIND = """
    const {run} = rankbox, [rank, name] = arguments;
    for (let i = run.first(rank); i < run.end(rank); ++i) if (run.name(i) === name) return i;
    return -1;"""

# How many elements of the dtype with that number fit in 8 bytes.
ELEMENTS_IN_EIGHT_BYTES = """
    const {column} = rankbox.run;
    column.dtype[0] = arguments[0];
    column.bytes[0] = 8;
    return rankbox.run.elements(0);"""

# [[text, a number that changes with the pixels behind it]] of each label in the picture.
LABELS = """
    const {canvas, ratio, lanes} = rankbox, pen = canvas.getContext("2d");
    return lanes.labels.map(({text, x, width, y}) => {
      const {data} = pen.getImageData(x * ratio, (y - 4) * ratio, width * ratio, 8 * ratio);
      return [text, data.reduce((sum, value) => (sum * 31 + value) % 1000003, 7)];
    });"""

# The colours of the forward and of the backward passes in the picture.
COLOURS_OF_PASSES = """
    const {labels} = rankbox.lanes;
    return ["F0", "B0"].map(name =>
      [...new Set(labels.filter(({text}) => text.endsWith(name)).map(({colours}) => colours.under))]);
"""

# The left and the right edges of the times above the lanes, in order.
AXIS_LABELS = """
    const {timebase, axis, canvas} = rankbox, edges = [], real = canvas.getContext("2d");
    const pen = {
      fillRect() {},
      measureText: (text) => { real.font = pen.font; return real.measureText(text); },
      fillText: (text, x) => edges.push(x, x + pen.measureText(text).width),
    };
    axis.drawTimes(pen, timebase.finish);
    return edges;"""

# Where the critical path begins, then its lines: [y, y] of those up and down, [x, y, x, y] of those
# along messages.
PATH = """
    const {marks, timebase, run} = rankbox, first = run.column.path[0];
    const lines = [marks.middle(first, marks.rowOf(first))];
    let from;
    const pen = {
      beginPath() {}, strokeRect() {}, stroke() {},
      fillRect: (x, y, width, height) => height === 2 || lines.push([y, y + height]),  // 2: a dot
      moveTo: (x, y) => { from = [x, y]; },
      lineTo: (x, y) => lines.push([...from, x, y]),
    };
    marks.drawPath(pen, timebase);
    return lines;"""

# The lightness of all pieces' colours in the timeline, and of all ranks', in per cent.
LIGHTNESS = """
    const {theme} = rankbox;
    return ["chunkColour", "rankColour"].map(name => [0, 1, 2, 3].map(
      i => Number(/(\\d+)%\\)/.exec(theme[name](i, 4))[1])));
"""

NUMBER_OF_COLOURS = """
    const {canvas} = rankbox, seen = new Set();
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (const pixel of new Uint32Array(data.buffer)) seen.add(pixel);
    return seen.size;"""

# Milliseconds of the eighth fastest of 30 frames, with that part of the run in view.
TIME_OF_A_FRAME = """
    const {view} = rankbox, frames = [], part = arguments[0];
    view.show(view.length * 0.4, view.length * (0.4 + part));
    for (let i = 0; i < 30; ++i) {
      const start = performance.now();
      view.pan(i < 15 ? 9 : -9);
      rankbox.draw();
      // The read ends when the drawing is done.
      rankbox.canvas.getContext("2d").getImageData(0, 0, 1, 1);
      frames.push(performance.now() - start);
    }
    return frames.sort((a, b) => a - b)[7];"""
