"""Model parallelism on two processes: each has half of the layers, and they exchange activations.

    python3 docs/pytorch/pipeline.py
"""

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from ddp import parse, start
from rankbox_same import Digits, SameOrder, mlp

WIDTH = 512  # of the activations between the two stages


def first_stage(stage, images, sizes):
    """All forward passes, then all backward passes: the schedule of GPipe."""
    outputs = []
    for x in images.split(sizes):
        outputs.append(stage(x))
        dist.send(outputs[-1].detach(), dst=1)
    for y in outputs:
        gradient = torch.empty_like(y)
        dist.recv(gradient, src=1)
        y.backward(gradient)


def second_stage(stage, labels, sizes, device):
    """Returns the loss of the whole batch."""
    received, losses = [], []
    for y in labels.split(sizes):
        x = torch.empty(len(y), WIDTH, device=device)
        dist.recv(x, src=0)
        received.append(x.requires_grad_())
        # The sum over the micro-batch, divided by the batch: the parts add up to the mean.
        losses.append(cross_entropy(stage(x), y, reduction="sum") / len(labels))
    for x, loss in zip(received, losses):
        loss.backward()
        dist.send(x.grad, dst=0)
    return torch.stack(losses).sum().detach()


def train(options, device):
    rank = dist.get_rank()
    dataset = Digits(options.samples)
    # Both stages see every sample: one its image, the other its label.
    sampler = SameOrder(dataset, options.seed)
    loader = DataLoader(dataset, batch_size=options.batch, sampler=sampler, drop_last=True)
    layers = mlp(options.seed)
    stage = (layers[:3] if rank == 0 else layers[3:]).to(device)
    optimizer = torch.optim.SGD(stage.parameters(), lr=options.learning_rate, momentum=0.9)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = torch.zeros((), device=device)
            if rank == 0:
                first_stage(stage, images.to(device), options.split_size)
            else:
                loss = second_stage(stage, labels.to(device), options.split_size, device)
            optimizer.step()
            dist.broadcast(loss, src=1)  # rank 0 reports
            losses.append(loss.item())
    return losses


def main(arguments=None):
    size = ("--split-size", {"type": int, "default": 16, "help": "samples of a micro-batch"})
    options = parse(__doc__.splitlines()[0], arguments, [size])
    if options.ranks != 2:
        raise SystemExit("pipeline.py: the model is cut in two: give --ranks 2")
    start(train, options)


if __name__ == "__main__":
    main()
