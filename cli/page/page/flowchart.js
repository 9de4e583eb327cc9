// Draws the flowcharts of the chapters: the part of Mermaid's language that they use.
//
//   flowchart LR                       or TD: from left to right, or from the top down
//   a["label"] --> b                   a name alone is its label; in doubled braces: an operation
//   a & b -- "note" --> c --> d
//   subgraph name ["title"] … end      a frame

const CHARACTER = 7.2, LINE = 17, LONGEST = 22;  // pixels, pixels, characters of a line
const BETWEEN = 22, BESIDE = 56;                 // pixels between boxes of a layer, and of two
const FRAME = 36, BACK = 34;                     // pixels of a frame's title, and below for circles

/** {down, nodes: Map id -> {label, round, frame}, edges: [{from, to, note}], frames: [title]} */
function parseFlowchart(text) {
  const chart = {down: /^\s*flowchart\s+T/.test(text), nodes: new Map(), edges: [], frames: []};
  let frame = -1;
  const nodeOf = (written) => {
    const [, id, shape, label] = written.trim().match(/^(\w+)(\[|\{\{)?"?(.*?)"?(?:\]|\}\})?$/);
    if (!shape && label) throw new Error(`not read: ${written}`);
    const known = chart.nodes.get(id);
    if (known && shape) known.label = label;
    if (known && frame >= 0) known.frame = frame;
    const round = Boolean(shape) && shape !== "[";
    if (!known) chart.nodes.set(id, {label: shape ? label : id, round, frame});
    return id;
  };
  for (const line of text.split("\n").slice(1).map((each) => each.trim()).filter(Boolean)) {
    const [, name, title] = line.match(/^subgraph\s+(\w+)(?:\s*\["(.*)"\])?$/) || [];
    if (name) frame = chart.frames.push(title || name) - 1;
    if (line === "end") frame = -1;
    if (name || line === "end") continue;
    const parts = line.split(/\s+--(?:\s+"?(.*?)"?\s+--)?>\s+/);
    const groups = parts.filter((_, i) => i % 2 === 0)
      .map((group) => group.split(" & ").map(nodeOf));
    for (let i = 0; i + 1 < groups.length; ++i) {
      let note = parts[2 * i + 1] || "";  // of several arrows, beside the first
      for (const from of groups[i]) {
        for (const to of groups[i + 1]) {
          chart.edges.push({from, to, note});
          note = "";
        }
      }
    }
  }
  return chart;
}

function wrapLabel(label) {
  const lines = [""];
  for (const word of label.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > LONGEST) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

/** Sets each node's layer: one more than the highest of those before it. An edge that closes a
 * circle is marked `back`, and counts for nothing. */
function findLayers({nodes, edges}) {
  const visited = new Set(), open = new Set();
  const visit = (id) => {
    visited.add(id);
    open.add(id);
    for (const edge of edges.filter(({from}) => from === id)) {
      edge.back = open.has(edge.to);
      if (!visited.has(edge.to)) visit(edge.to);
    }
    open.delete(id);
  };
  for (const [id, node] of nodes) {
    node.layer = 0;
    if (!visited.has(id)) visit(id);
  }
  for (let pass = 0; pass < nodes.size; ++pass) {
    for (const {from, to, back} of edges)
      if (!back) nodes.get(to).layer = Math.max(nodes.get(to).layer, nodes.get(from).layer + 1);
  }
}

/** Sets the place of each node: `along` the direction of the chart, and `across`. */
function place(chart) {
  const nodes = [...chart.nodes.values()];
  for (const node of nodes) {
    node.lines = wrapLabel(node.label);
    node.width = Math.max(...node.lines.map((line) => line.length)) * CHARACTER + 24;
    node.height = node.lines.length * LINE + 14;
  }
  const thickness = (node) => chart.down ? node.height : node.width;
  const extent = (node) => chart.down ? node.width : node.height;
  const note = Math.max(0, ...chart.edges.map((edge) => edge.note.length));
  const gap = chart.down ? BESIDE : Math.max(BESIDE, note * CHARACTER * 0.9 + 20);
  const layers = [];
  for (const node of nodes) (layers[node.layer] = layers[node.layer] || []).push(node);
  const before = (layer, i) =>  // the space before a node: more between two frames
    i === 0 ? 0 : BETWEEN + (layer[i].frame !== layer[i - 1].frame ? FRAME : 0);
  const widthOf = (layer) =>
    layer.reduce((sum, node, i) => sum + before(layer, i) + extent(node), 0);
  const widest = Math.max(...layers.map(widthOf));
  let along = 0;
  for (const layer of layers) {
    const thickest = Math.max(...layer.map(thickness));
    let free = (widest - widthOf(layer)) / 2;
    for (const [i, node] of layer.entries()) {
      free += before(layer, i);
      node.along = along + thickest / 2;
      node.across = free + extent(node) / 2;
      free += extent(node);
    }
    along += thickest + gap;
    const [only] = layer;
    const sources = chart.edges.filter(({to, back}) => chart.nodes.get(to) === only && !back)
      .map(({from}) => chart.nodes.get(from).across);
    if (layer.length === 1 && sources.length > 0)
      only.across = sources.reduce((sum, each) => sum + each, 0) / sources.length;
  }
  for (const node of nodes) {
    node.x = chart.down ? node.across : node.along;
    node.y = chart.down ? node.along : node.across;
  }
}

function shapeOf(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function drawNode({x, y, width, height, lines, round}) {
  const group = shapeOf("g", {});
  group.append(shapeOf("rect", {class: "box", x: x - width / 2, y: y - height / 2, width, height,
    rx: round ? height / 2 : 6}));
  lines.forEach((line, i) => group.append(shapeOf("text",
    {x, y: y + (i - (lines.length - 1) / 2) * LINE, dy: ".35em"}, line)));
  return group;
}

/** From border to border; an edge back goes round below. */
function drawEdge(a, b, {note, back}, down) {
  const half = (node) => down ? node.height / 2 : node.width / 2;
  let d, tip, middle;
  if (back) {
    const low = Math.max(a.y + a.height / 2, b.y + b.height / 2) + BACK;
    const from = a.y + a.height / 2, to = b.y + b.height / 2;
    d = `M ${a.x} ${from} C ${a.x} ${low}, ${b.x} ${low}, ${b.x} ${to + 7}`;
    tip = `translate(${b.x} ${to}) rotate(-90)`;
    middle = {x: (a.x + b.x) / 2, y: low - 9};
  } else if (down) {
    const from = a.y + half(a), to = b.y - half(b), bend = (from + to) / 2;
    d = `M ${a.x} ${from} C ${a.x} ${bend}, ${b.x} ${bend}, ${b.x} ${to - 7}`;
    tip = `translate(${b.x} ${to}) rotate(90)`;
    middle = {x: (a.x + b.x) / 2, y: bend};
  } else {
    const from = a.x + half(a), to = b.x - half(b), bend = (from + to) / 2;
    d = `M ${from} ${a.y} C ${bend} ${a.y}, ${bend} ${b.y}, ${to - 7} ${b.y}`;
    tip = `translate(${to} ${b.y})`;
    middle = {x: bend, y: (a.y + b.y) / 2};
  }
  const parts = [shapeOf("path", {class: "edge", d}),
    shapeOf("path", {class: "tip", d: "M 0 0 L -9 -4.5 L -9 4.5 Z", transform: tip})];
  if (note) parts.push(shapeOf("text", {class: "note", ...middle, dy: "-.35em"}, note));
  return parts;
}

function drawFrame(title, nodes) {
  const left = Math.min(...nodes.map(({x, width}) => x - width / 2)) - 12;
  const right = Math.max(...nodes.map(({x, width}) => x + width / 2)) + 12;
  const top = Math.min(...nodes.map(({y, height}) => y - height / 2)) - 26;
  const bottom = Math.max(...nodes.map(({y, height}) => y + height / 2)) + 10;
  return [shapeOf("rect", {class: "frame", x: left, y: top, width: right - left,
    height: bottom - top, rx: 8}),
  shapeOf("text", {class: "note", x: (left + right) / 2, y: top + 14}, title)];
}

/** "a → b; b → c (note)", for those who do not see it. */
function inWords({nodes, edges}) {
  const label = (id) => nodes.get(id).label;
  return "Flowchart: " + edges.map(({from, to, note}) =>
    `${label(from)} → ${label(to)}${note ? ` (${note})` : ""}`).join("; ");
}

/** A figure; null if it is no flowchart. */
function flowchart(text) {
  if (!/^\s*flowchart\b/.test(text)) return null;
  const chart = parseFlowchart(text);
  findLayers(chart);
  place(chart);
  const svg = shapeOf("svg", {role: "img", "aria-label": inWords(chart)});
  const all = [...chart.nodes.values()];
  chart.frames.forEach((title, i) => svg.append(
    ...drawFrame(title, all.filter(({frame}) => frame === i))));
  for (const edge of chart.edges)
    svg.append(...drawEdge(chart.nodes.get(edge.from), chart.nodes.get(edge.to), edge, chart.down));
  svg.append(...all.map(drawNode));
  const margin = 30;
  const width = Math.max(...all.map((node) => node.x + node.width / 2)) + 2 * margin;
  const height = Math.max(...all.map((node) => node.y + node.height / 2)) +
    2 * margin + (chart.edges.some(({back}) => back) ? BACK : 0);
  svg.setAttribute("viewBox", `${-margin} ${-margin} ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  return make("figure", {tabindex: "0"}, svg);
}
