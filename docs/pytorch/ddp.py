"""Trains the MLP of single.py on several processes with DistributedDataParallel.

    python3 docs/pytorch/ddp.py --ranks 2                    mp.spawn starts the processes
    torchrun --nproc_per_node 2 docs/pytorch/ddp.py          torchrun does
"""

import argparse
import contextlib
import os
import random
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from rankbox_same import Digits, SameOrder, add_options, mlp, report


def free_port():
    """Below those that the system gives to connections, so that none of them takes it meanwhile."""
    while True:
        port = random.randrange(20000, 30000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return str(port)


def join(rank, train, options):
    """The life of one process: it joins the group, trains and leaves. Rank 0 reports."""
    if rank is not None:  # mp.spawn has passed it; torchrun sets all of these
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(options.ranks))
    local_rank = int(os.environ["LOCAL_RANK"])
    ranks_here = int(os.environ.get("LOCAL_WORLD_SIZE", options.ranks))
    on_gpus = torch.cuda.device_count() >= ranks_here  # one each, or all on the CPU
    if on_gpus:
        torch.cuda.set_device(local_rank)  # before the first use of CUDA
    else:
        torch.set_num_threads(1)  # ranks share this machine's cores
    dist.init_process_group("nccl" if on_gpus else "gloo")
    losses = train(options, torch.device("cuda", local_rank) if on_gpus else torch.device("cpu"))
    if dist.get_rank() == 0:
        report(losses, options.against)
    dist.destroy_process_group()


def start(train, options):
    """Runs train(options, device) on all ranks, in processes of torchrun's or of mp.spawn's."""
    if "RANK" in os.environ:
        join(None, train, options)
        return
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port())
    mp.spawn(join, args=(train, options), nprocs=options.ranks)


def mean_over_ranks(loss):
    """The mean of equal shares' means. Every rank must call it."""
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def train(options, device):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    dataset = Digits(options.samples)
    sampler = SameOrder(dataset, options.seed, ranks, rank)
    loader = DataLoader(dataset, batch_size=options.batch // ranks, sampler=sampler,
                        drop_last=True, pin_memory=device.type == "cuda")
    model = DistributedDataParallel(mlp(options.seed).to(device),
                                    device_ids=[device.index] if device.index is not None else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            optimizer.zero_grad()
            loss = cross_entropy(model(images), labels)
            loss.backward()  # averages the gradients, bucket by bucket
            optimizer.step()
            losses.append(mean_over_ranks(loss))
    if options.save and rank == 0:
        torch.save(model.module.state_dict(), options.save)  # .module: without DDP's prefix
    return losses


def parse(description, arguments=None, extra=(), **defaults):
    parser = argparse.ArgumentParser(description=description)
    add_options(parser, **defaults)
    parser.add_argument("--ranks", type=int, default=2, help="processes that mp.spawn starts")
    for name, settings in extra:
        parser.add_argument(name, **settings)
    return parser.parse_args(arguments)


def main(arguments=None):
    start(train, parse(__doc__.splitlines()[0], arguments, [("--save", {"metavar": "FILE"})]))


if __name__ == "__main__":
    main()
