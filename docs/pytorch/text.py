"""Classifies texts: tokenizer, truncation, dynamic padding, evaluation, fine-tuning.

    python3 docs/pytorch/text.py --ranks 2
    python3 docs/pytorch/text.py --save text.pt
    python3 docs/pytorch/text.py --start text.pt --freeze
"""

import re
from collections import Counter

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from ddp import mean_over_ranks, parse, start
from rankbox_same import SameOrder
from rankbox_sentences import sentences
from transformer import TextClassifier

PADDING, UNKNOWN, START = 0, 1, 2
LONGEST = 32  # tokens


class Tokenizer:
    """Words to numbers from 3 on, the most frequent first; made of the training texts alone."""

    def __init__(self, texts):
        counts = Counter(word for text in texts for word in self.words(text))
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        self.numbers = {word: i + 3 for i, word in enumerate(ordered)}

    def __len__(self):
        return len(self.numbers) + 3

    @staticmethod
    def words(text):
        return re.findall(r"[a-z0-9']+|\S", text.lower())

    def __call__(self, text, longest=LONGEST):
        numbers = [START] + [self.numbers.get(word, UNKNOWN) for word in self.words(text)]
        return numbers[:longest]  # truncation


def collate(batch):
    """Pads the texts of a batch to its longest one: dynamic padding."""
    tokens, labels, samples = zip(*batch)
    lengths = torch.tensor([len(text) for text in tokens])
    padded = torch.full((len(tokens), int(lengths.max())), PADDING)
    for row, text in zip(padded, tokens):
        row[:len(text)] = torch.tensor(text)
    return padded, lengths, torch.tensor(labels), samples


def collate_to_longest(batch):
    """Pads every text to LONGEST: as right, and more to compute."""
    padded, *rest = collate(batch)
    full = torch.full((len(padded), LONGEST), PADDING)
    full[:, :padded.shape[1]] = padded
    return (full, *rest)


def metrics(model, loader, device):
    """Loss, accuracy and F1 of class 1, exact over ranks: all are made of sums."""
    model.eval()  # no dropout; batch norm would use its running statistics
    sums = torch.zeros(6, dtype=torch.float64)
    with torch.inference_mode():  # autograd records nothing
        for tokens, lengths, labels, _ in loader:
            logits = model(tokens.to(device), lengths.to(device)).cpu()
            said, is_right = logits.argmax(dim=1), logits.argmax(dim=1) == labels
            sums += torch.tensor([
                cross_entropy(logits, labels, reduction="sum"), len(labels), is_right.sum(),
                ((said == 1) & is_right).sum(), ((said == 1) & ~is_right).sum(),
                ((said == 0) & ~is_right).sum()], dtype=torch.float64)
    model.train()
    sums = sums.to(device)
    dist.all_reduce(sums)
    loss, count, right, true_positive, false_positive, false_negative = sums.tolist()
    f1 = 2 * true_positive / (2 * true_positive + false_positive + false_negative)
    return loss / count, right / count, f1


def train(options, device):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    texts, held_back = sentences(options.samples), sentences(1000, part="test")
    tokenizer = Tokenizer(text for text, _ in texts)
    dataset = [(tokenizer(text), label, i) for i, (text, label) in enumerate(texts)]
    test = [(tokenizer(text), label, i) for i, (text, label) in enumerate(held_back)][rank::ranks]
    sampler = SameOrder(dataset, options.seed, ranks, rank)
    padded = collate_to_longest if options.pad_to_longest else collate
    loader = DataLoader(dataset, batch_size=options.batch // ranks, sampler=sampler,
                        drop_last=True, collate_fn=padded)
    test_loader = DataLoader(test, batch_size=64, collate_fn=padded)

    model = TextClassifier(len(tokenizer), LONGEST, options.seed).to(device)
    if options.start:  # fine-tuning: somebody's parameters instead of random ones
        model.load_state_dict(torch.load(options.start, map_location=device))
    if options.freeze:  # learn the head alone; before DDP looks for parameters with gradients
        model.requires_grad_(False)
        model.head.requires_grad_(True)
    replica = DistributedDataParallel(model)
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad),
                                 lr=options.learning_rate)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for tokens, lengths, labels, samples in loader:
            optimizer.zero_grad()
            logits = replica(tokens.to(device), lengths.to(device), len(losses), samples)
            loss = cross_entropy(logits, labels.to(device))
            loss.backward()
            optimizer.step()
            losses.append(mean_over_ranks(loss))
        test_loss, accuracy, f1 = metrics(model, test_loader, device)  # all ranks: it has sums
        if rank == 0:
            print(f"epoch {epoch + 1}: test loss {test_loss:.5f}, accuracy {accuracy:.2%}, "
                  f"F1 {f1:.4f}")
    if options.save and rank == 0:
        torch.save(model.state_dict(), options.save)
    return losses


def main(arguments=None):
    options = parse(__doc__.splitlines()[0], arguments, [
        ("--save", {"metavar": "FILE", "help": "parameters, at the end"}),
        ("--start", {"metavar": "FILE", "help": "parameters to start from: fine-tuning"}),
        ("--freeze", {"action": "store_true", "help": "learn the last layer alone"}),
        ("--pad-to-longest", {"action": "store_true", "help": "no dynamic padding"}),
    ], samples=512, epochs=1, batch=32, rate=0.002)
    start(train, options)


if __name__ == "__main__":
    main()
