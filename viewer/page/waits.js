// Who waits for whom in a deadlock: ranks on a circle with an arrow to each rank that could end
// their wait, and the same in words.

const MOST_WAITS_DRAWN = 24, MOST_WAITS_TOLD = 200, WAITS_RADIUS = 110, RANK_RADIUS = 17;

function showWaits({cycle, waits}) {
  document.getElementById("waits").hidden = false;
  const words = document.getElementById("waits-words");
  for (const wait of waits.slice(0, MOST_WAITS_TOLD))
    words.append(element("li", {className: cycle.includes(wait.rank) ? "circle" : ""}, waitInWords(wait)));
  const rest = waits.length - MOST_WAITS_TOLD;
  if (rest > 0) words.append(element("li", {}, `and ${formatCount(rest)} more`));
  drawWaits(document.getElementById("waits-picture"), cycle, waits);
}

function waitInWords({rank, op, peers, bytes, file, line}) {
  const whom = peers.length === 1 ? `rank ${peers[0]}` : `ranks ${peers.slice(0, 8).join(", ")}${peers.length > 8 ? ", …" : ""}`;
  return `rank ${rank} waits in ${op}${bytes > 0 ? ` (${shortBytes(bytes)})` : ""} for ${whom}, ${file}:${line}`;
}

/** The ranks of the cycle in its order, then the others. */
function drawWaits(picture, cycle, waits) {
  const others = waits.map(wait => wait.rank).filter(rank => !cycle.includes(rank));
  const ranks = [...cycle, ...others].slice(0, MOST_WAITS_DRAWN);
  const half = WAITS_RADIUS + RANK_RADIUS + 6;
  picture.setAttribute("viewBox", `${-half} ${-half} ${2 * half} ${2 * half}`);
  const returned = cycle.length > 0 && !waits.some(wait => wait.rank === cycle[cycle.length - 1]);
  const path = returned ? cycle : [...cycle, cycle[0]];
  picture.setAttribute("aria-label", `${returned ? "A chain that ends at a rank that has returned" : "A circle"}: ` +
    `rank ${path.slice(0, MOST_WAITS_DRAWN).join(" waits for ")}${path.length > MOST_WAITS_DRAWN ? " and so on" : ""}`);

  const place = new Map(ranks.map((rank, i) => {
    const angle = 2 * Math.PI * i / ranks.length - Math.PI / 2;
    const radius = ranks.length > 1 ? WAITS_RADIUS : 0;
    return [rank, {x: radius * Math.cos(angle), y: radius * Math.sin(angle)}];
  }));
  const follows = (rank, peer) => cycle.some((one, i) => one === rank && path[i + 1] === peer);
  for (const {rank, peers} of waits) {
    for (const peer of peers) {
      if (place.has(rank) && place.has(peer))
        picture.append(...waitArrow(place.get(rank), place.get(peer), follows(rank, peer) ? "circle" : ""));
    }
  }
  for (const [rank, {x, y}] of place) {
    const text = shape("text", {x, y, dy: ".35em"});
    text.textContent = rank;
    picture.append(shape("circle", {cx: x, cy: y, r: RANK_RADIUS, class: cycle.includes(rank) ? "circle" : ""}), text);
  }
}

/** Bent to the right, so that two ranks that wait for each other have two arrows. */
function waitArrow(from, to, className) {
  if (from === to) {
    const loop = `M ${from.x - 12} ${from.y - 12} C ${from.x - 60} ${from.y - 90}, ${from.x + 60} ${from.y - 90}, ${from.x + 13} ${from.y - 14}`;
    return [shape("path", {d: loop, class: className}), arrowTip(from.x + 13, from.y - 14, 2.0, className)];
  }
  const bend = 0.16;
  const middle = {x: (from.x + to.x + (to.y - from.y) * 2 * bend) / 2, y: (from.y + to.y - (to.x - from.x) * 2 * bend) / 2};
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
  return shape("path", {d: "M 0 0 L -9 -4.5 L -9 4.5 Z", transform: `translate(${x} ${y}) rotate(${degrees})`, class: `tip ${className}`});
}

function shape(name, attributes) {
  const made = document.createElementNS(document.getElementById("waits-picture").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
