"""Trains an MLP in one process: what all other scripts here start from.

    python3 docs/pytorch/single.py
"""

import argparse

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from rankbox_same import Digits, SameOrder, add_options, mlp, report


def train(options):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = Digits(options.samples)
    # In a script of your own: no sampler, and shuffle=True.
    sampler = SameOrder(dataset, options.seed)
    loader = DataLoader(dataset, batch_size=options.batch, sampler=sampler, drop_last=True,
                        pin_memory=device.type == "cuda")
    model = mlp(options.seed).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            optimizer.zero_grad()
            loss = cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    options = parser.parse_args(arguments)
    return report(train(options), options.against)


if __name__ == "__main__":
    main()
