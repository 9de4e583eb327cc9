"""A run as a picture: two lanes for each rank over virtual time, as SVG.

Its data are the trace events of `rankbox show --trace` and, of a run that hangs, who waits for
whom. The page of `--html` shows more; this is small enough to be kept in a notebook.
"""

import html
import math

# The Okabe-Ito palette, which colour-blind readers can distinguish.
COLOURS = {"send": "#0072B2", "recv": "#56B4E9", "reduce": "#E69F00", "collective": "#CC79A7",
           "compute": "#9BC1A5", "backward": "#F0E0A0", "hangs": "#D55E00"}
LABELS = {"send": "→{}", "recv": "←{}", "reduce": "+"}
LEFT, WIDTH, LANE, GAP = 64, 860, 15, 9  # pixels
TINY = 1.5  # the least width of a bar


def bars_of(trace):
    """(rank, lane, begin, end, category, label, tooltip) of each event; waits are blanks."""
    events = [event for event in trace["traceEvents"] if event.get("pid") == 1]
    names = {event["tid"]: event["args"]["name"].split() for event in events
             if event["name"] == "thread_name"}
    bars = []
    for event in events:
        if event["ph"] != "X" or event["name"] == "wait":
            continue
        name, category, more = event["name"], event["cat"], event["args"]
        if category == "compute" and name[:1] == "B" and name[1:2].isdigit():
            category = "backward"  # of a micro-batch
        words = names[event["tid"]]
        lane = 0 if category == "send" or words[-1] == "sends" else 1
        label = LABELS.get(category, name).format(more.get("peer", ""))
        tooltip = ", ".join(filter(None, [
            f"rank {words[1]}: {name}" + (f" {label}" if "peer" in more else ""),
            f"{more['bytes']} B" if "bytes" in more else "",
            f"{event['ts']:.4g} to {event['ts'] + event['dur']:.4g} µs", more.get("place", "")]))
        bars.append((int(words[1]), lane, event["ts"], event["ts"] + event["dur"], category, label,
                     tooltip))
    return bars, 1 + max(int(words[1]) for words in names.values())


def ticks_to(end):
    """Round numbers from 0 to the end: three to seven."""
    if end <= 0:
        return [0]
    power = 10 ** math.floor(math.log10(end))
    step = next(power * factor for factor in (5, 2, 1, 0.5, 0.2) if end / (power * factor) >= 2)
    return [step * i for i in range(int(end / step + 1e-9) + 1)]


def time_text(microseconds):
    if microseconds >= 1000:
        return f"{microseconds / 1000:g} ms"
    return f"{microseconds:.4g} µs" if microseconds >= 1 or not microseconds else \
        f"{microseconds * 1000:.4g} ns"


def text(x, y, words, anchor="start", colour="#222", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour}">{html.escape(words)}</text>')


def bar(x, y, width, colour, label, tooltip):
    width = max(width - 0.5, TINY)
    parts = [f'<g><title>{html.escape(tooltip)}</title><rect x="{x:.1f}" y="{y:.1f}" '
             f'width="{width:.1f}" height="{LANE - 2}" rx="2" fill="{colour}"/>']
    if 6.5 * len(label) + 2 < width:
        light = colour in (COLOURS["send"], COLOURS["hangs"])
        parts.append(text(x + width / 2, y + LANE - 5, label, "middle",
                          "#fff" if light else "#000", 10))
    return "".join(parts) + "</g>"


def draw(trace, title, caption=(), hangs=()):
    """The SVG of a run.

    @param caption lines below the picture
    @param hangs (rank, "send" or another call, peer) of each rank that waits for ever
    """
    bars, ranks = bars_of(trace)
    end = max((stop for _, _, _, stop, *_ in bars), default=0)
    open_end = 1.15 * end if hangs else end
    scale = WIDTH / (open_end or 1)
    top = 24
    height = top + ranks * (2 * LANE + GAP)
    parts = [text(0, 13, title, size=13)]
    for tick in ticks_to(end):
        x = LEFT + tick * scale
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height}" stroke="#ddd"/>')
        parts.append(text(x, height + 12, time_text(tick), "middle", "#555"))
    for rank in range(ranks):
        y = top + rank * (2 * LANE + GAP)
        parts.append(text(0, y + LANE - 3, f"rank {rank}"))
        parts.append(text(LEFT - 6, y + LANE - 4, "out", "end", "#555", 9))
        parts.append(text(LEFT - 6, y + 2 * LANE - 4, "in", "end", "#555", 9))
    for rank, lane, begin, stop, category, label, tooltip in bars:
        y = top + rank * (2 * LANE + GAP) + lane * LANE
        parts.append(bar(LEFT + begin * scale, y, (stop - begin) * scale,
                         COLOURS.get(category, "#999"), label, tooltip))
    for rank, call, peer in hangs:
        lane = 0 if call == "send" else 1
        begin = max((stop for of, _, _, stop, *_ in bars if of == rank), default=0) * scale
        words = f"{call}: waits for rank {peer}, for ever"
        parts.append(bar(LEFT + begin, top + rank * (2 * LANE + GAP) + lane * LANE, WIDTH - begin,
                         COLOURS["hangs"], words, f"rank {rank} {words}"))
    for number, line in enumerate(caption):
        parts.append(text(LEFT, height + 30 + 15 * number, line, colour="#555"))
    total = height + 22 + 15 * len(caption)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{total}" '
            f'viewBox="0 0 {LEFT + WIDTH + 30} {total}" font-family="sans-serif" role="img" '
            f'aria-label="{html.escape(title)}"><rect width="100%" height="100%" fill="#fff"/>'
            + "".join(parts) + "</svg>")
