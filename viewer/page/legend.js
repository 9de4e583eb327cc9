// The meaning of colours and patterns, drawn as in the picture.

const LEGEND = [
  ["send", "send, upper row"], ["recv", "receive, middle row"], ["reduce", "reduce, lower row"],
  ["compute", "compute, lower row"], ["forward", "forward pass, lower row"],
  ["backward", "backward pass, lower row"], ["collective", "native collective"],
  ["wait", "waiting"],
  ["open", "never ended"],
  ["path", "critical path: each of its events begins when the one before it ends. It crosses to " +
    "another rank along a message, or straight where that rank was waited for"],
  ["arrow", "message"],
  ["memory", "memory held"],
];

/** @param most bytes of memory that a rank held */
function drawLegend(run, theme, hasOpen, most) {
  const kinds = new Set(run.kinds);
  const needed = {
    open: hasOpen, path: run.column.path.length > 0, memory: run.hasMemory, wait: true,
    arrow: kinds.has("send"),
  };
  const list = document.getElementById("legend");
  list.replaceChildren();
  for (const [sign, text] of LEGEND) {
    if (!(sign in needed ? needed[sign] : kinds.has(sign))) continue;
    const swatch = element("canvas", {width: 68, height: 32});
    swatch.setAttribute("aria-hidden", "true");
    drawSign(swatch.getContext("2d"), sign, theme);
    const scale = sign === "memory" ? `, up to ${shortBytes(most)}` : "";
    list.append(element("li", {}, swatch, text + scale));
  }
  if (run.namesPieces) list.append(element("li", {}, labelsInWords(run)));
}

/** What the labels of messages and sums name. */
function labelsInWords(run) {
  const first = letter => run.head.held.labels.find(label => label.startsWith(letter));
  const parts = [];
  const piece = first("c"), whole = first("r");
  if (piece) parts.push(`${piece} → 1: piece ${piece.slice(1)} of a buffer goes to rank 1`);
  if (whole) parts.push(`${whole} → 1: what rank ${whole.slice(1)} had at the start goes to rank 1`);
  return parts.join("; ");
}

function drawSign(pen, sign, theme) {
  pen.scale(2, 2);
  pen.lineWidth = 2.5;
  pen.strokeStyle = pen.fillStyle = theme.colours[sign];
  pen.beginPath();
  switch (sign) {
    case "wait":
      pen.fillStyle = theme.hatch;
      pen.fillRect(0, 0, 34, 16);
      break;
    case "open":
      pen.fillStyle = theme.openHatch;
      pen.fillRect(1, 1, 33, 14);
      pen.lineWidth = 1.5;
      pen.moveTo(34, 1);
      pen.lineTo(1, 1);
      pen.lineTo(1, 15);
      pen.lineTo(34, 15);
      pen.stroke();
      break;
    case "path":
      pen.roundRect(1.5, 2, 31, 12, 2.5);
      pen.stroke();
      break;
    case "arrow":
      pen.lineWidth = 1.2;
      pen.moveTo(1, 2);
      pen.lineTo(31, 13);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(33, 14);
      pen.lineTo(25, 14);
      pen.lineTo(28, 8);
      pen.fill();
      break;
    case "memory":
      pen.globalAlpha = 0.55;
      pen.fillRect(0, 10, 34, 6);
      pen.fillRect(10, 4, 14, 6);
      break;
    default:
      pen.roundRect(0, 2, 34, 12, 2.5);
      pen.fill();
  }
}

/** Whose contribution a colour is. */
function drawHeldLegend(run, theme) {
  if (!run.head.held) return;
  const list = document.getElementById("held-legend");
  const entry = (colour, text) => {
    const swatch = element("span");
    swatch.style.background = colour;
    swatch.setAttribute("aria-hidden", "true");
    return element("li", {}, swatch, text);
  };
  const entries = [];
  const shown = Math.min(run.ranks, 8);
  for (let rank = 0; rank < shown; ++rank)
    entries.push(entry(theme.rankColour(rank, run.ranks), `from rank ${rank}`));
  if (shown < run.ranks) entries.push(element("li", {}, `… rank ${run.ranks - 1}`));
  const {contents} = run.head.held;
  if (contents.some(({from}) => from.length === run.ranks && run.ranks > 1))
    entries.push(entry(theme.colours.complete, "from all ranks"));
  if (contents.some(({from}) => from.some(([, times]) => times > 1)))
    entries.push(entry(theme.colours.open, "red frame: added more than once"));
  list.replaceChildren(...entries);
}
