// Formatting of numbers.

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

function unitFor(seconds) {
  return UNITS.find(([size]) => seconds >= size * 0.99999) || UNITS[3];
}

/** "12.3 µs", in its own unit, or in that of a larger time it is compared with. */
function formatTime(seconds, scale = seconds, digits = 4) {
  if (seconds === 0) return "0";
  const [size, unit] = unitFor(Math.abs(scale));
  return `${Number((seconds / size).toPrecision(digits))} ${unit}`;
}

function formatCount(number) {
  return number.toLocaleString("en-US");
}

/** "4,096 B (4 KiB)" */
function formatBytes(bytes) {
  const exact = `${formatCount(bytes)} B`;
  const short = shortBytes(bytes);
  return short.endsWith(" B") ? exact : `${exact} (${short})`;
}

/** "4 KiB", and exactly what has few digits: "4000 B" */
function shortBytes(bytes) {
  if (bytes < 10000 && bytes % 1024 !== 0) return `${bytes} B`;
  let unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return `${Number(bytes.toPrecision(3))} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

function formatShare(share) {
  return `${Math.round(share * 100)} %`;
}

/** "1, 2, 3 … of 1,024" */
function formatValues(values, elements) {
  const shown = Array.from(values, value => String(Number(value.toPrecision(6)))).join(", ");
  if (values.length === elements) return `[${shown}]`;
  return `[${shown}, …] first ${values.length} of ${formatCount(elements)}`;
}

/** 1, 2 or 5 times a power of ten, at least `least`. */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find(step => step * power >= least * 0.999) * power;
}
