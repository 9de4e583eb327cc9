// The wait-for picture of a deadlock: ranks on a circle, and the same as text.
//
// An arrow leads to each rank that could end a rank's wait.

const MOST_WAITS_DRAWN = 24, MOST_WAITS_TOLD = 200, WAITS_RADIUS = 110, RANK_RADIUS = 17;

function showWaits({cycle, waits}) {
  document.getElementById("waits").hidden = false;
  const words = document.getElementById("waits-words");
  for (const wait of waits.slice(0, MOST_WAITS_TOLD))
    words.append(element("li", {className: circleIf(cycle, wait.rank)}, waitInWords(wait)));
  if (endsAtReturned(cycle, waits))
    words.append(element("li", {}, `rank ${cycle[cycle.length - 1]} has returned`));
  const rest = waits.length - MOST_WAITS_TOLD;
  if (rest > 0) words.append(element("li", {}, `and ${formatCount(rest)} more`));
  drawWaits(document.getElementById("waits-picture"), cycle, waits);
}

/** Whether the last rank waits for one that has returned, which `cycle` then ends with. */
function endsAtReturned(cycle, waits) {
  return cycle.length > 0 && !waits.some(({rank}) => rank === cycle[cycle.length - 1]);
}

/** The class of a rank that is part of the cycle. */
function circleIf(cycle, rank) {
  return cycle.includes(rank) ? "circle" : "";
}

function waitInWords({rank, op, peers, bytes, file, line}) {
  const listed = `${peers.slice(0, 8).join(", ")}${peers.length > 8 ? ", …" : ""}`;
  const whom = peers.length === 1 ? `rank ${peers[0]}` : `ranks ${listed}`;
  const size = bytes > 0 ? ` (${shortBytes(bytes)})` : "";
  return `rank ${rank} waits in ${op}${size} for ${whom}, ${file}:${line}`;
}

/** The ranks of the cycle in its order, then the others. */
function drawWaits(picture, cycle, waits) {
  const others = waits.map(wait => wait.rank).filter(rank => !cycle.includes(rank));
  const ranks = [...cycle, ...others].slice(0, MOST_WAITS_DRAWN);
  const half = WAITS_RADIUS + RANK_RADIUS + 6;
  picture.setAttribute("viewBox", `${-half} ${-half} ${2 * half} ${2 * half}`);
  const returned = endsAtReturned(cycle, waits);
  const path = returned ? cycle : [...cycle, cycle[0]];
  const kind = returned ? "A chain that ends at a rank that has returned" : "A circle";
  const drawn = path.slice(0, MOST_WAITS_DRAWN).join(" waits for ");
  const more = path.length > MOST_WAITS_DRAWN ? " and so on" : "";
  picture.setAttribute("aria-label", `${kind}: rank ${drawn}${more}`);

  const place = new Map(ranks.map((rank, i) => {
    const angle = 2 * Math.PI * i / ranks.length - Math.PI / 2;
    const radius = ranks.length > 1 ? WAITS_RADIUS : 0;
    return [rank, {x: radius * Math.cos(angle), y: radius * Math.sin(angle)}];
  }));
  const follows = (rank, peer) => cycle.some((one, i) => one === rank && path[i + 1] === peer);
  for (const {rank, peers} of waits) {
    for (const peer of peers) {
      if (!place.has(rank) || !place.has(peer)) continue;
      const name = follows(rank, peer) ? "circle" : "";
      picture.append(...waitArrow(place.get(rank), place.get(peer), name));
    }
  }
  for (const [rank, {x, y}] of place) {
    const text = shape("text", {x, y, dy: ".35em"});
    text.textContent = rank;
    const name = returned && rank === cycle[cycle.length - 1] ? "returned" : circleIf(cycle, rank);
    picture.append(shape("circle", {cx: x, cy: y, r: RANK_RADIUS, class: name}), text);
  }
}

/** Bent to the right, so that two ranks that wait for each other have two arrows. */
function waitArrow(from, to, className) {
  if (from === to) {
    const {x, y} = from;
    const d = `M ${x - 12} ${y - 12} C ${x - 60} ${y - 90}, ${x + 60} ${y - 90}, ` +
      `${x + 13} ${y - 14}`;
    return [shape("path", {d, class: className}), arrowTip(x + 13, y - 14, 2.0, className)];
  }
  const bend = 0.16;
  const middle = {
    x: (from.x + to.x + (to.y - from.y) * 2 * bend) / 2,
    y: (from.y + to.y - (to.x - from.x) * 2 * bend) / 2,
  };
  const end = shorten(middle, to), start = shorten(middle, from);
  const angle = Math.atan2(end.y - middle.y, end.x - middle.x);
  const d = `M ${start.x} ${start.y} Q ${middle.x} ${middle.y} ${end.x} ${end.y}`;
  return [shape("path", {d, class: className}), arrowTip(end.x, end.y, angle, className)];
}

/** The point on the way from `from` to `to` where a rank's disc begins. */
function shorten(from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = (length - RANK_RADIUS - 2) / length;
  return {x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part};
}

function arrowTip(x, y, angle, className) {
  const degrees = angle * 180 / Math.PI;
  const transform = `translate(${x} ${y}) rotate(${degrees})`;
  return shape("path", {d: "M 0 0 L -9 -4.5 L -9 4.5 Z", transform, class: `tip ${className}`});
}

function shape(name, attributes) {
  const picture = document.getElementById("waits-picture");
  const made = document.createElementNS(picture.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
