"""What PyTorch must share with ./rankbox train to have its losses: start, samples and their order.

A script of your own needs none of it: there, initial values and the order are PyTorch's.
"""

import json
import math
from collections import OrderedDict

import torch
from torch import nn
from torch.utils.data import Dataset, DistributedSampler

from rankbox_digits import digits
from rankbox_random import Random, shuffled


class Digits(Dataset):
    """Map-style: a length, and sample number i."""

    def __init__(self, samples):
        images, labels = digits(samples)
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class SameOrder(DistributedSampler):
    """A DistributedSampler whose epochs have Rankbox's order: rank r takes r, r + p, r + 2p, …

    The samples beyond a multiple of the ranks are left out, as with drop_last=True.
    """

    def __init__(self, dataset, seed, ranks=1, rank=0):
        super().__init__(dataset, num_replicas=ranks, rank=rank, seed=seed, drop_last=True)

    def __iter__(self):
        order = shuffled(len(self.dataset), self.seed, self.epoch)
        return iter(order[:self.total_size][self.rank::self.num_replicas])


def fill(parameter, bound, random):
    """Uniform in ±bound. As nn.Linear's default: element i is the i-th number drawn."""
    drawn = torch.from_numpy(random.uniforms(parameter.numel()))
    with torch.no_grad():
        parameter.copy_((-bound + 2 * bound * drawn).reshape(parameter.shape))


def fill_linear(layer, random):
    bound = 1 / math.sqrt(layer.in_features)
    fill(layer.weight, bound, random.stream("weight"))
    fill(layer.bias, bound, random.stream("bias"))


def mlp(seed):
    """784-512-256-10, with the values that Rankbox's model starts with."""
    model = nn.Sequential(OrderedDict(
        flatten=nn.Flatten(),
        fc1=nn.Linear(784, 512), relu1=nn.ReLU(),
        fc2=nn.Linear(512, 256), relu2=nn.ReLU(),
        fc3=nn.Linear(256, 10)))
    for name in ("fc1", "fc2", "fc3"):
        fill_linear(getattr(model, name), Random(seed).stream(name))
    return model


def add_options(parser, samples=256, epochs=3, batch=64, rate=0.05):
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=batch, help="samples a step, over all ranks")
    parser.add_argument("--learning-rate", type=float, default=rate)
    parser.add_argument("--seed", type=int, default=1, help="of initial values and order")
    parser.add_argument("--against", metavar="FILE", help="of ./rankbox train --json")


def losses_in(path):
    """Of ./rankbox train --json, one object for the run, or one object for each step."""
    with open(path, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    if "losses" in objects[0]:
        return objects[0]["losses"]
    return [step["loss"] for step in objects if "loss" in step]


def report(losses, against=None):
    """Prints the losses of all steps, beside those of a run of Rankbox; returns them."""
    if against is None:
        for step, loss in enumerate(losses, 1):
            print(f"step {step:2}  loss {loss:.5f}")
        return losses
    theirs = losses_in(against)
    if len(theirs) != len(losses):
        raise SystemExit(f"{against}: expected {len(losses)} steps, found {len(theirs)}")
    print("step  PyTorch  Rankbox")
    for step, (mine, other) in enumerate(zip(losses, theirs), 1):
        print(f"{step:4}  {mine:.5f}  {other:.5f}")
    largest = max(abs(mine - other) / other for mine, other in zip(losses, theirs))
    print(f"largest relative difference: {largest:.0e}")
    return losses
