// Events in words: on spans, in the tooltip, beside the picture, and for screen readers.

/** Labels for a span, the longest first. */
function spanLabel(run, event) {
  const kind = run.kind(event), peer = run.peer(event);
  const size = shortBytes(run.column.bytes[event]);
  const piece = run.label(event), before = piece ? `${piece} ` : "";
  const shortest = piece ? [piece] : [];
  switch (kind) {
    case "send":
      return [`${before}→ ${peer}  ${size}`, `${before}→ ${peer}`, ...shortest, `→${peer}`];
    case "recv":
      return [`${before}← ${peer}  ${size}`, `${before}← ${peer}`, ...shortest, `←${peer}`];
    case "reduce":
      return [`+ ${before}${size}`, `+ ${piece}`.trim(), "+"];
    case "forward":
    case "backward": {  // "F3": the colour says that it computes
      const name = run.name(event).replace("compute ", "");
      return [name, name.slice(0, 1)];
    }
    case "compute":
      return [run.name(event), run.name(event).replace("compute ", ""), "ƒ"];
    default:
      return [run.name(event)];
  }
}

/** "recv from rank 3" */
function headline(run, event) {
  const kind = run.kind(event), name = run.name(event), peer = run.peer(event);
  const start = run.has(event, ASYNC) ? `i${name}` : name;
  if (kind === "send") return `${start} to rank ${peer}`;
  if (kind === "recv") return `${start} from rank ${peer}`;
  if (kind === "reduce") return `reduce, ${run.head.ops[run.column.op[event]]}`;
  if (kind === "wait") {
    return run.link(event) >= 0 ? `wait for ${headline(run, run.link(event))}` : "wait";
  }
  if (kind === "collective") {
    const root = peer < 0 ? "" : `, root ${peer}`;
    return `${name}${run.has(event, ASYNC) ? "_async" : ""}${root}`;
  }
  return name;
}

/** The same for events that never ended. */
function openLabel(run, event) {
  return [`${headline(run, event)}: never ended`, headline(run, event), "never ended", "?"];
}

function placeText(place) {
  return place ? `${place.file}:${place.line}` : "";
}

function timesText(timebase, event) {
  const end = timebase.open.has(event) ? -1 : timebase.end[event];
  return betweenText(timebase.begin[event], end, timebase.finish);
}

/** Without a timebase of the wall clock, which takes a while to compute. */
function wallText(run, event) {
  const begin = run.column.wallBegin[event] * 1e-9, end = run.column.wallEnd[event] * 1e-9;
  return betweenText(begin, run.has(event, DONE) ? end : -1, end);
}

/** @param end -1: never. @param unit a time in whose unit both are written */
function betweenText(begin, end, unit) {
  if (end < 0) return `from ${formatTime(begin, unit, 6)}, never ended`;
  const length = formatTime(end - begin);
  return `${formatTime(begin, unit, 6)} to ${formatTime(end, unit, 6)} (${length})`;
}

function hasBytes(run, event) {
  return !["compute", "forward", "backward", "wait"].includes(run.kind(event));
}

/** [[term, text, whether it is code]] */
function factsOf(run, virtual, event) {
  const {head, column} = run;
  const rank = run.rankOf(event);
  const facts = [["What", headline(run, event)], ["Rank", `${rank}`]];
  const count = formatCount(run.end(rank) - run.first(rank));
  facts.push(["Number", `${event - run.first(rank) + 1} of ${count} of this rank`]);
  if (hasBytes(run, event)) {
    const dtype = head.dtypes[column.dtype[event]];
    facts.push(["Bytes", `${formatBytes(column.bytes[event])}, ${dtype}`]);
  }
  if (run.label(event)) facts.push(["Piece", run.label(event)]);
  facts.push(["Virtual time", timesText(virtual, event)]);
  const waited = virtual.waited(event);
  if (waited > 0 && run.kind(event) !== "wait" && !run.has(event, ASYNC))
    facts.push(["Waited", `${formatTime(waited)} before it`]);
  facts.push(["Wall clock", wallText(run, event)]);
  if (run.hasMemory) facts.push(["Memory held", formatBytes(column.memory[event])]);
  if (column.group && column.group[event] > 0) {
    facts.push(["Group", `ranks ${head.groups[column.group[event]].join(", ")}`]);
  }
  if (run.has(event, BUFFERED)) facts.push(["Buffered", "returned before its receive"]);
  if (run.has(event, CRITICAL))
    facts.push(["Critical path", "yes: its events add up to the run's time"]);
  const place = run.place(event);
  if (place) facts.push(["Source", placeText(place)]);
  if (place && place.text) facts.push(["", place.text.trim(), true]);
  const values = run.values(event);
  if (values) facts.push(["Buffer after", formatValues(values, run.elements(event)), true]);
  return facts;
}

/** One sentence for the live region. */
function sentenceOf(run, timebase, event) {
  const rank = run.rankOf(event);
  const parts = [`rank ${rank}, event ${event - run.first(rank) + 1}: ${headline(run, event)}`];
  if (hasBytes(run, event)) parts.push(`${formatCount(run.column.bytes[event])} bytes`);
  parts.push(timesText(timebase, event));
  const waited = timebase.waited(event);
  if (waited > 0 && run.kind(event) !== "wait") parts.push(`waited ${formatTime(waited)}`);
  const place = run.place(event);
  if (place) parts.push(`${place.file} line ${place.line}`);
  if (run.has(event, CRITICAL)) parts.push("on the critical path");
  const values = run.values(event);
  if (values) parts.push(`buffer ${formatValues(values, run.elements(event))}`);
  return parts.join(", ");
}
