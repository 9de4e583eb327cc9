"""The text classifier of ./rankbox train --model transformer, with the values that it starts with.

A block is x + attention(norm(x)), then x + feed_forward(norm(x)). Dropout is keyed by step, sample
and element, as Rankbox's is; in a model of your own it is nn.Dropout.
"""

import math

import torch
from torch import nn
from torch.nn.functional import gelu

from rankbox_random import Random
from rankbox_same import fill, fill_linear

WIDTH, HEADS, HIDDEN, BLOCKS, DROPOUT = 64, 4, 128, 2, 0.1


class Dropout(nn.Module):
    """Loses the same elements on any number of ranks, and with any padding."""

    def __init__(self, random):
        super().__init__()
        self.random = random

    def forward(self, x, step, samples):
        if not self.training:
            return x
        numbers = self.random.stream(step).uniform_of_streams(samples, x[0].numel())
        kept = torch.from_numpy(numbers >= DROPOUT).reshape(x.shape).to(x.device)
        return x * kept / (1 - DROPOUT)


class Attention(nn.Module):
    def __init__(self, random):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        fill_linear(self.qkv, random.stream("qkv"))
        fill_linear(self.out, random.stream("out"))

    def forward(self, x, is_padding):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, HEADS, 3, -1).permute(3, 0, 2, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        # A padded position gets the weight 0: so it does not matter how many there are.
        scores = scores.masked_fill(is_padding[:, None, None, :], -math.inf)
        y = scores.softmax(dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self, random):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention(random)
        self.fc1, self.fc2 = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        fill_linear(self.fc1, random.stream("fc1"))
        fill_linear(self.fc2, random.stream("fc2"))
        self.dropout1 = Dropout(random.stream("dropout1"))
        self.dropout2 = Dropout(random.stream("dropout2"))

    def forward(self, x, is_padding, step, samples):
        x = x + self.dropout1(self.attention(self.norm1(x), is_padding), step, samples)
        hidden = gelu(self.fc1(self.norm2(x)))
        return x + self.dropout2(self.fc2(hidden), step, samples)


class TextClassifier(nn.Module):
    def __init__(self, words, longest, seed, classes=2):
        super().__init__()
        random = Random(seed)
        self.table = nn.Embedding(words, WIDTH)
        self.positions = nn.Parameter(torch.empty(longest, WIDTH))
        bound = 0.02 * math.sqrt(3)
        fill(self.table.weight, bound, random.stream("embedding").stream("table"))
        fill(self.positions, bound, random.stream("embedding").stream("positions"))
        self.blocks = nn.ModuleList(Block(random.stream(f"block{i + 1}")) for i in range(BLOCKS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, classes)
        fill_linear(self.head, random.stream("head"))

    def forward(self, tokens, lengths, step=0, samples=None):
        length = tokens.shape[1]
        is_padding = torch.arange(length, device=tokens.device) >= lengths[:, None]
        x = self.table(tokens) + self.positions[:length]
        for block in self.blocks:
            x = block(x, is_padding, step, samples)
        return self.head(self.norm(x)[:, 0])  # the first token stands for the whole text
