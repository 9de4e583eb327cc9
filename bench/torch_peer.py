#!/usr/bin/env python3
"""The peer of training_bench: the same models, batches and optimizer in PyTorch, on one thread.

usage: torch_peer.py mlp|conv_net [DEVICE]     prints the seconds that training takes for each sample

DEVICE is cpu or cuda, which has the peer of `train --backend nccl`: float32, without TF32.
"""

import os
import statistics
import sys
import time

# set_num_threads() below does not reach OpenBLAS, which reads this when it is loaded: without it
# PyTorch's products take all cores.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn

BATCH = 64
SAMPLES = 4096
BLOCK_SECONDS, WARM_UP_SECONDS, BLOCKS = 5e-3, 20e-3, 21  # the values of bench/measure.h

MODELS = {
    "mlp": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
        nn.Linear(256, 10)),
    "conv_net": lambda: nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(7 * 7 * 32, 10)),
}


def main(name, device="cpu"):
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # products of matrices have none by default
    model = MODELS[name]().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    images = torch.rand(SAMPLES, 1, 28, 28).to(device)
    labels = torch.randint(10, (SAMPLES,)).to(device)
    batches = torch.randperm(SAMPLES).to(device).split(BATCH)

    def block(steps):
        begin = time.perf_counter()
        for step in range(steps):
            picked = batches[step % len(batches)]
            optimizer.zero_grad()
            loss_of(model(images[picked]), labels[picked]).backward()
            optimizer.step()
        if device != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    steps, spent, last = 1, 0.0, 0.0
    while last < BLOCK_SECONDS or spent < WARM_UP_SECONDS:
        last = block(steps)
        spent += last
        if last < BLOCK_SECONDS:
            steps *= 2
    print(statistics.median(block(steps) / steps for _ in range(BLOCKS)) / BATCH)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in MODELS:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
