"""Gradient accumulation: several micro-batches, one exchange of gradients, one optimizer step.

    python3 docs/pytorch/accumulate.py --ranks 2 --accumulate 4
"""

from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from ddp import mean_over_ranks, parse, start
from rankbox_same import Digits, SameOrder, mlp


def train(options, device):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    dataset = Digits(options.samples)
    sampler = SameOrder(dataset, options.seed, ranks, rank)
    loader = DataLoader(dataset, batch_size=options.batch // ranks, sampler=sampler,
                        drop_last=True)
    model = DistributedDataParallel(mlp(options.seed).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)

    exchanges = 0

    def counted(_, bucket):
        nonlocal exchanges
        exchanges += 1
        return allreduce_hook(None, bucket)

    model.register_comm_hook(None, counted)  # to see that no_sync() works; training needs no hook

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            micro_batches = list(zip(images.chunk(options.accumulate),
                                     labels.chunk(options.accumulate)))
            optimizer.zero_grad()
            total = torch.zeros((), device=device)
            for i, (x, y) in enumerate(micro_batches):
                is_last = i + 1 == len(micro_batches)
                # DDP decides in forward whether backward will exchange: both belong inside.
                with nullcontext() if is_last else model.no_sync():
                    # Divided by the number of micro-batches: gradients add up, not average.
                    loss = cross_entropy(model(x.to(device)), y.to(device)) / len(micro_batches)
                    loss.backward()
                total += loss.detach()
            optimizer.step()
            losses.append(mean_over_ranks(total))
    if rank == 0:
        print(f"{len(losses)} steps of {len(micro_batches)} micro-batches, "
              f"{exchanges} exchanges of gradients")
    return losses


def main(arguments=None):
    micro = ("--accumulate", {"type": int, "default": 4, "help": "micro-batches a step"})
    start(train, parse(__doc__.splitlines()[0], arguments, [micro]))


if __name__ == "__main__":
    main()
