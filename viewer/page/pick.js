// Finds the event under the pointer.

const REACH = 5;  // pixels by which the pointer may miss a narrow span

/** The event at that point of the canvas; -1 if there is none. */
function eventAt(run, view, timebase, x, y) {
  const rank = view.rankAt(y);
  if (y < AXIS_HEIGHT || x < view.left || rank < 0 || rank >= run.ranks) return -1;
  const inRow = [SEND, RECV, WORK].find(row => {
    const band = view.band(rank, row);
    return y >= band.y && y < band.y + band.height + 1;
  });
  // The rows of low lanes are hard to hit: accept any row, the nearest first.
  const rows = inRow === undefined || view.lane >= 30 ? [inRow] : [inRow, SEND, RECV, WORK];
  for (const row of rows) {
    if (row === undefined) continue;
    const event = eventIn(timebase.row(rank, row), view, x);
    if (event >= 0) return event;
  }
  return inRow === undefined ? -1 : eventIn(timebase.row(rank, WAIT), view, x);
}

function eventIn(row, view, x) {
  const at = view.time(x);
  const i = firstAbove(row.end, at);
  if (i < row.ids.length && row.begin[i] <= at) return row.ids[i];
  const reach = REACH * view.secondsPerPixel;
  let nearest = -1, least = reach;
  for (const k of [i - 1, i]) {
    if (k < 0 || k >= row.ids.length) continue;
    const off = k < i ? at - row.end[k] : row.begin[k] - at;
    if (off <= least) {
      least = off;
      nearest = row.ids[k];
    }
  }
  return nearest;
}
