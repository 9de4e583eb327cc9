"""Mixed precision with autocast: bfloat16 on a CPU, float16 with a GradScaler on a GPU.

    python3 docs/pytorch/mixed_precision.py
"""

import argparse

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from rankbox_same import Digits, SameOrder, add_options, mlp, report


def grad_scaler(enabled):
    """torch.amp.GradScaler from PyTorch 2.3 on; before, it was CUDA's."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cuda", enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled)


def train(options):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    narrow = torch.float16 if device.type == "cuda" else torch.bfloat16
    dataset = Digits(options.samples)
    sampler = SameOrder(dataset, options.seed)
    loader = DataLoader(dataset, batch_size=options.batch, sampler=sampler, drop_last=True)
    model = mlp(options.seed).to(device)  # stays float32: its weights are the masters
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)
    scaler = grad_scaler(enabled=narrow == torch.float16)  # bfloat16 has float32's range

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            with torch.autocast(device.type, dtype=narrow):  # forward and loss, not backward
                logits = model(images)
                loss = cross_entropy(logits, labels)
            scaler.scale(loss).backward()
            # To clip: scaler.unscale_(optimizer) first.
            scaler.step(optimizer)  # skips the step if a gradient is infinite or not a number
            scaler.update()
            losses.append(loss.item())
    weight = model.fc1.weight
    print(f"weights {weight.dtype}, gradients {weight.grad.dtype}, logits {logits.dtype}, "
          f"loss {loss.dtype}".replace("torch.", ""))
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    options = parser.parse_args(arguments)
    return report(train(options), options.against)


if __name__ == "__main__":
    main()
