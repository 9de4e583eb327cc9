// Pictures drawn pixel by pixel, which is faster than canvas calls for many small spans.

class Pixels {
  constructor() {
    this.canvas = document.createElement("canvas");
  }

  /** Empties the picture, which now has this size. */
  begin(width, height) {
    if (this.width !== width || this.height !== height) {
      this.width = this.canvas.width = width;
      this.height = this.canvas.height = height;
      this.pen = this.canvas.getContext("2d", {willReadFrequently: true});
      this.image = this.pen.createImageData(width, height);
      this.data = new Uint32Array(this.image.data.buffer);  // [y * width + x]
    }
    this.data.fill(0);
  }

  end() { this.pen.putImageData(this.image, 0, 0); }

  /** Draws `lines` lines from `line` on, stretched to a height. */
  draw(pen, line, lines, x, y, height) {
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.canvas, 0, line, this.width, lines, x, y, this.width, height);
  }
}

/** A pixel of that colour, "#rrggbb". @param alpha 0 to 255 */
function pixelOf(colour, alpha) {
  const value = parseInt(colour.slice(1), 16);
  return ((value & 255) << 16 | (value & 0xff00) | value >> 16 | alpha << 24) >>> 0;
}
