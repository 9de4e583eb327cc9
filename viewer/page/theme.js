// Light or dark: the system's preference, until the user presses the button. The canvas reads its
// colours from the style sheet.

class Theme {
  constructor(changed) {
    this.button = document.getElementById("theme");
    const preference = matchMedia("(prefers-color-scheme: dark)");
    this.set(preference.matches);
    preference.addEventListener("change", () => { this.set(preference.matches); changed(); });
    this.button.addEventListener("click", () => { this.set(!this.dark); changed(); });
  }

  set(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.button.setAttribute("aria-pressed", String(dark));
    const style = getComputedStyle(document.documentElement);
    this.colours = {};
    for (const name of ["paper", "raised", "line", "ink", "faint", "focus", "lane", "send", "recv",
      "reduce", "compute", "forward", "backward", "collective", "wait", "open",
      "path", "memory", "arrow", "complete",
      "on-dark", "on-light"]) {
      this.colours[name] = style.getPropertyValue("--" + name).trim();
    }
    this.hatch = hatch(this.colours.wait);
    this.openHatch = hatch(this.colours.open);
  }

  /** Returns the colour of what that rank contributed. */
  rankColour(rank, ranks) {
    const hue = Math.round(215 + 360 * rank / Math.max(ranks, 4)) % 360;
    return `hsl(${hue} ${this.dark ? "62% 68%" : "58% 40%"})`;
  }

  /** Returns the colour of a piece in the timeline: from violet to yellow, and paler than any rank's,
      so that no piece looks like a rank. Labels on it are in `ink`. */
  chunkColour(piece, pieces) {
    const part = pieces > 1 ? piece / (pieces - 1) : 0;
    return `hsl(${Math.round(275 - 215 * part)} ${this.dark ? "32% 30%" : "62% 80%"})`;
  }

  /** Returns the colour, fainter for some micro-batches, so that neighbours differ. */
  shade(colour, number) {
    const share = [100, 74, 87, 64][number % 4];
    return share === 100 ? colour :
      `color-mix(in srgb, ${colour} ${share}%, ${this.colours.paper})`;
  }

  /** Of a label on a span of that kind. */
  labelColour(kind) { return this.colours[kind === "reduce" ? "on-light" : "on-dark"]; }
}

/** Diagonal lines, so that waiting differs from work without colour. */
function hatch(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  for (const shift of [-8, 0, 8]) {
    pen.moveTo(shift, 8);
    pen.lineTo(shift + 8, 0);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}
