"""Model parallelism in one process: layers on two devices, and micro-batches of a split size.

    python3 docs/pytorch/two_devices.py --devices cuda:0 cuda:1
"""

import argparse

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from rankbox_same import Digits, SameOrder, add_options, mlp, report


class TwoDevices(nn.Module):
    def __init__(self, layers, devices, split_size):
        super().__init__()
        self.devices, self.split_size = devices, split_size
        self.first = layers[:3].to(devices[0])
        self.second = layers[3:].to(devices[1])

    def forward(self, x):
        # CUDA calls return when their work is enqueued. So while `second` works on a micro-batch,
        # `first` gets the next one, on the other GPU.
        outputs, between = [], None
        for micro_batch in x.to(self.devices[0]).split(self.split_size):
            if between is not None:
                outputs.append(self.second(between))
            between = self.first(micro_batch).to(self.devices[1])
        outputs.append(self.second(between))
        return torch.cat(outputs)


def train(options):
    dataset = Digits(options.samples)
    sampler = SameOrder(dataset, options.seed)
    loader = DataLoader(dataset, batch_size=options.batch, sampler=sampler, drop_last=True)
    devices = [torch.device(name) for name in options.devices]
    model = TwoDevices(mlp(options.seed), devices, options.split_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = cross_entropy(model(images), labels.to(devices[1]))
            loss.backward()  # autograd takes the gradients back through .to()
            optimizer.step()
            losses.append(loss.item())
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--devices", nargs=2, default=["cpu", "cpu"])
    parser.add_argument("--split-size", type=int, default=16, help="samples of a micro-batch")
    options = parser.parse_args(arguments)
    return report(train(options), options.against)


if __name__ == "__main__":
    main()
