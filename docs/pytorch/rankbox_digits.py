"""Rankbox's embedded digits in Python: the same pixels as training/data/digits.h.

A digit is a few strokes whose points are jittered, moved by one affine map, smoothed, and drawn
with a round pen; then noise. Digit i depends on the seed and i alone.
"""

import numpy as np

from rankbox_random import Random

SIDE = 28  # pixels
MIDDLE = (SIDE - 1) / 2
SIZE = 19  # pixels of a digit
UNSTEADY = 0.05  # of the size: the jitter of points
NOISE = 0.10  # of full ink

# For each digit, ways to write it, separated by |; strokes, separated by /; points in percent.
WAYS_TO_WRITE = [
    # 0: round; narrow and closed at the side
    "50,3 18,12 10,50 18,88 50,97 82,88 90,50 82,12 45,3 | 70,12 35,5 22,50 32,92 62,94 78,50 "
    "66,8",
    # 1: a line; with an upstroke; with a foot
    "50,3 50,97 | 28,28 54,3 54,3 54,97 | 30,25 52,4 52,4 52,95 / 28,95 76,95",
    # 2: with a corner; with a loop
    "16,26 25,5 62,1 86,25 66,52 14,95 14,95 88,93 | 18,22 35,3 72,5 76,35 45,72 18,93 12,76 "
    "35,78 60,95 90,86",
    # 3: round; with a flat top
    "18,14 45,0 82,12 76,40 40,47 40,47 82,54 88,84 50,100 12,86 | 18,5 80,5 80,5 45,42 45,42 "
    "84,50 84,85 50,99 14,88",
    # 4: open; closed
    "30,5 16,58 16,58 86,56 / 66,28 60,97 | 66,97 68,3 68,3 12,66 12,66 90,66",
    # 5: in one stroke; with a separate bar
    "82,5 28,5 28,5 22,46 22,46 55,34 88,52 82,88 45,100 14,86 | 30,8 22,46 22,46 60,40 82,62 "
    "72,92 40,98 16,88 / 30,8 84,4",
    # 6: bent; straight
    "72,4 38,20 12,62 24,96 66,99 84,72 62,48 32,56 18,76 | 55,3 20,60 25,94 62,96 78,70 55,54 "
    "22,70",
    # 7: plain; with a bar; with a hook
    "14,6 86,6 86,6 56,50 42,97 | 14,6 86,6 86,6 42,97 / 32,52 78,50 | 16,20 16,7 16,7 82,6 "
    "82,6 48,97",
    # 8: in one stroke; two rings
    "80,12 50,0 16,12 24,40 76,58 88,86 50,100 12,86 24,58 76,40 82,14 | 50,2 22,10 22,40 50,48 "
    "78,40 78,10 46,2 / 50,48 14,58 14,92 50,99 86,92 86,58 46,48",
    # 9: with a straight back; with a bent one
    "80,26 62,2 24,6 16,34 42,54 72,42 80,20 80,20 72,97 | 78,30 66,4 26,4 18,36 46,52 78,32 "
    "84,60 66,94 28,94",
]
STROKES = [[[[tuple(int(number) / 100 for number in point.split(","))
              for point in stroke.split()] for stroke in way.split("/")]
            for way in ways.split("|")] for ways in WAYS_TO_WRITE]


def smoothed(stroke):
    """Cuts every corner at a quarter, and leaves the ends."""
    a, b = stroke[:-1], stroke[1:]
    cut = np.stack([.75 * a + .25 * b, .25 * a + .75 * b], axis=1).reshape(-1, 2)
    return np.concatenate([stroke[:1], cut, stroke[-1:]])


def covered(stroke, radius):
    """The ink of a stroke, pixel by pixel: the most that any of its lines leaves there."""
    lines = stroke[:-1, None, None, :]
    d = (stroke[1:] - stroke[:-1])[:, None, None, :]
    rows, columns = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    x, y = columns - lines[..., 0], rows - lines[..., 1]
    length = d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]
    along = np.divide(x * d[..., 0] + y * d[..., 1], length, out=np.zeros_like(x),
                      where=length != 0)
    at = np.clip(along, 0.0, 1.0)
    x, y = x - at * d[..., 0], y - at * d[..., 1]
    return np.clip(radius + .5 - np.sqrt(x * x + y * y), 0.0, 1.0).max(axis=0)


def draw(digit, random):
    way = STROKES[digit][random.below(len(STROKES[digit]))]
    bounds = [(.65, 1.15), (-.45, .35), (-.2, .2), (.75, 1.15), (-2.5, 2.5), (-2.5, 2.5)]
    xx, xy, yx, yy, to_x, to_y = [random.uniform(low, high) for low, high in bounds]
    radius = random.uniform(.5, 1.5)
    ink = np.zeros((SIDE, SIDE))
    for stroke in way:
        points = []
        for x, y in stroke:
            x += random.uniform(-UNSTEADY, UNSTEADY)
            y += random.uniform(-UNSTEADY, UNSTEADY)
            u, v = SIZE * (x - .5), SIZE * (y - .5)
            points.append((MIDDLE + to_x + xx * u + xy * v, MIDDLE + to_y + yx * u + yy * v))
        ink = np.maximum(ink, covered(smoothed(smoothed(np.array(points))), radius))
    strength = random.uniform(.6, 1)
    noise = np.full(SIDE * SIDE, -6.0)  # about normal: the sum of twelve uniform numbers
    for twelfth in random.uniforms(12 * SIDE * SIDE).reshape(-1, 12).T:
        noise += twelfth
    ink = strength * ink + NOISE * noise.reshape(SIDE, SIDE)
    return np.floor(np.clip(ink, 0.0, 1.0) * 255 + .5).astype(np.uint8)


def digits(count, part="train", seed=1):
    """Returns images [count, 28, 28] in 0 … 1 (float32), and labels [count]."""
    random = Random(Random(seed).stream(part).at(0))
    images = np.empty((count, SIDE, SIDE), np.uint8)
    labels = np.empty(count, np.int64)
    for i in range(count):
        of_digit = random.stream(i)
        labels[i] = of_digit.below(10)
        images[i] = draw(labels[i], of_digit)
    return images.astype(np.float32) / np.float32(255), labels
