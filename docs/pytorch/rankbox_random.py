"""Rankbox's random numbers in Python: the same bits as training/random.h.

The n-th number is a function of the key and n, so a whole array of them is one expression.
"""

import numpy as np

BITS = 0xFFFFFFFFFFFFFFFF


def _mix(z):
    """Of one number, as a Python integer."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def _mix_all(z):
    """The same of an array of uint64, whose products drop the upper bits as in C++."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _uniform_at(keys, numbers):
    bits = _mix_all(keys + (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Random:
    """random.stream("fc1") is independent of `random`; uniform() and below() draw the next."""

    def __init__(self, seed):
        self.key = _mix(seed & BITS)
        self.count = 0

    def stream(self, name):
        if isinstance(name, str):
            digest = 0xCBF29CE484222325  # FNV-1a
            for letter in name.encode():
                digest = ((digest ^ letter) * 0x100000001B3) & BITS
            name = digest
        return Random(self.key ^ _mix(~name & BITS))

    def at(self, n):
        return _mix((self.key + (n + 1) * 0x9E3779B97F4A7C15) & BITS)

    def next(self):
        self.count += 1
        return self.at(self.count - 1)

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * ((self.next() >> 11) * 2.0**-53)

    def uniforms(self, count):
        """The next `count` results of uniform(), as an array."""
        numbers = np.arange(self.count, self.count + count, dtype=np.uint64)
        self.count += count
        return _uniform_at(np.uint64(self.key), numbers)

    def below(self, n):
        bits = self.next()
        while bits < (1 << 64) % n:
            bits = self.next()
        return bits % n

    def chance(self, probability):
        return self.uniform() < probability

    def uniform_of_streams(self, streams, count):
        """Row i: the first `count` numbers of self.stream(streams[i])."""
        names = ~np.asarray(streams, dtype=np.uint64)
        keys = _mix_all(np.uint64(self.key) ^ _mix_all(names))
        return _uniform_at(keys[:, None], np.arange(count, dtype=np.uint64))


def shuffled(samples, seed, epoch):
    """The order of an epoch: Fisher and Yates, from the back."""
    random = Random(seed).stream(epoch)
    order = list(range(samples))
    for i in range(samples - 1, 0, -1):
        j = random.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order
