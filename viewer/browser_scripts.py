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

# [[text, its left, its right]] of the times above the lanes.
AXIS_LABELS = """
    const {timebase, axis, canvas} = rankbox, texts = [], real = canvas.getContext("2d");
    const pen = {
      fillRect() {},
      measureText: (text) => { real.font = pen.font; return real.measureText(text); },
      fillText: (text, x) => texts.push([text, x, x + pen.measureText(text).width]),
    };
    axis.drawTimes(pen, timebase.finish);
    return texts;"""
