"""Ranks that call different things, or in different communicators."""

import re
from dataclasses import replace
from itertools import combinations

from program import ALL_COLLECTIVES, ANSWER, COLLECTIVES, MESSAGES, Program, call, message

TEAM = "Comm team = dist.split(0, -d.r); //C"  # all ranks, in reverse
PAIRS = list(combinations(COLLECTIVES, 2))


def has_async(*names):
    return "split" not in names


def fork(odd, one, others, before="", after=""):
    """Rank `odd` does one thing, and all others do another."""
    return f"{before}\nif (d.r == {odd}) {{\n  {one}\n}} else {{\n  {others}\n}}\n{after}".strip()


def in_half(text):
    """The same, with tensors of the half's size."""
    split, rest = text.strip().split("\n", 1)
    return f"{split}\nData h(half);\n" + re.sub(r"\bd\.(?!r ==)", "h.", rest)


def pair(first, second, odd, comm="dist", before="", worlds=()):
    """Rank `odd` calls the second collective where the others call the first."""
    one, others = call(second, comm=comm), call(first, comm=comm)
    where = " in a split" if before else ""
    return Program(
        "call mismatch", second, f"{first} against {second}{where}", "disagreement",
        fork(odd, one + " //A", others + " //B", before),
        fork(odd, others, others, before, one), worlds)


def different_collectives():
    for first, second in PAIRS:
        yield pair(first, second, "d.p - 1")
        yield pair(first, second, "0", "team", TEAM)
        if has_async(second):
            yield pair(first, second + "_async", "1")
        if has_async(first, second):
            yield pair(first + "_async", second + "_async", "0")
        yield Program(
            "call mismatch", second, f"{first} and {second} in another order", "disagreement",
            fork("1", f"{call(second)} //A\n  {call(first)}",
                 f"{call(first)} //B\n  {call(second)}"),
            fork("1", f"{call(first)}\n  {call(second)}", f"{call(first)}\n  {call(second)}"))
    for first, second in zip(list(COLLECTIVES), list(COLLECTIVES)[1:]):
        half = pair(first, second, "4", "half", "Comm half = dist.split(dist.rank() % 2); //C",
                    (8,))
        yield replace(half, wrong=in_half(half.wrong), right=in_half(half.right),
                      name=f"{first} against {second} in a half")
        yield Program(
            "call mismatch", first, f"{first} is missing before {second}", "disagreement",
            f"if (d.r != 0) {call(first)} //B\n{call(second)} //A",
            f"if (d.r >= 0) {call(first)}\n{call(second)}")


def missing_collectives():
    for name in ALL_COLLECTIVES:
        yield Program("call mismatch", name, f"{name} is missing on the last rank", "call",
                      f"if (d.r != d.p - 1) {call(name)} //A", f"if (d.r < d.p) {call(name)}")
    for name in COLLECTIVES:
        yield Program(
            "call mismatch", name, f"the first of two {name} is missing", "circle",
            f"if (d.r != d.p - 1) {call(name)} //A\n{call(name)} //B",
            f"if (d.r < d.p) {call(name)}\n{call(name)}")


def collectives_against_messages():
    for name in ALL_COLLECTIVES:
        for other in MESSAGES:
            yield Program(
                "call mismatch", name, f"{name} against {other}", "circle",
                fork("d.p - 1", message(other, "0") + " //A", call(name) + " //B"),
                f"if (d.r == d.p - 1) {message(other, '0')}\n"
                f"if (d.r == 0) {message(ANSWER[other], 'd.p - 1')}\n{call(name)}")
    for name in ALL_COLLECTIVES:
        yield Program(
            "call mismatch", "send", f"send before {name}, and recv after it", "circle",
            f"if (d.r == 0) {message('send', '1')} //A\n{call(name)} //B\n"
            f"if (d.r == 1) {message('recv', '0')}",
            f"if (d.r == 0) {message('send', '1')}\nif (d.r == 1) {message('recv', '0')}\n"
            f"{call(name)}", hidden=True)


def unmatched_messages():
    for name in MESSAGES:
        mine, theirs = message(name, "1"), message(ANSWER[name], "0")
        exchange = f"if (d.r == 0) {mine}\nif (d.r == 1) {theirs}"
        yield Program("call mismatch", name, f"{name} that no call meets", "call",
                      f"if (d.r == 0) {mine} //A", exchange)
        yield Program("call mismatch", name, f"one {name} too many", "call",
                      f"{exchange}\nif (d.r == 0) {mine} //A", f"{exchange}\n{exchange}")
        yield Program("call mismatch", name, f"{name} that no call meets, in a split", "call",
                      f"{TEAM}\nif (d.r == 0) {message(name, 'd.p - 2', 'team')} //A",
                      f"{TEAM}\nif (d.r == 0) {message(name, 'd.p - 2', 'team')}\n"
                      f"if (d.r == 1) {message(ANSWER[name], 'd.p - 1', 'team')}")
        yield Program("call mismatch", name, f"{name} with the wrong rank", "circle",
                      f"if (d.r == 0) {message(name, '2')} //A\nif (d.r == 1) {theirs} //B",
                      f"if (d.r == 0) {message(name, '2')}\n"
                      f"if (d.r == 2) {message(ANSWER[name], '0')}", (3, 4, 8))


def different_communicators():
    for name in MESSAGES:
        for mine, theirs in (("dist", "team"), ("team", "dist")):
            peers = {"dist": ("1", "0"), "team": ("d.p - 2", "d.p - 1")}
            def exchange(a, b, marks=("", ""), name=name, peers=peers):
                return (f"{TEAM}\nif (d.r == 0) {message(name, peers[a][0], a)}{marks[0]}\n"
                        f"if (d.r == 1) {message(ANSWER[name], peers[b][1], b)}{marks[1]}")
            yield Program("communicator mismatch", name, f"{name} in {mine} against {theirs}",
                          "circle", exchange(mine, theirs, (" //A", " //B")),
                          exchange(mine, mine))
    for name in ALL_COLLECTIVES:
        yield Program("communicator mismatch", name, f"{name} in the world and in a split",
                      "circle",
                      fork("d.p - 1", call(name, comm="team") + " //A", call(name) + " //B", TEAM),
                      fork("d.p - 1", call(name, comm="team"), call(name, comm="team"), TEAM))


def null_communicators():
    for name in MESSAGES:
        mine = f"if (d.r == 1) {message(name, '0', 'part')}"
        yield Program("null communicator", name, f"{name} in a communicator without this rank",
                      "call", f"Comm part = dist.split(d.r == 1 ? -1 : 0);\n{mine} //A",
                      f"Comm part = dist.split(d.r > 1 ? -1 : 0);\n{mine}\n"
                      f"if (d.r == 0) {message(ANSWER[name], '1', 'part')}")
    for name in ALL_COLLECTIVES:
        body = f"if (d.r %s 0) {call(name, comm='part')}%s"
        yield Program("null communicator", name, f"{name} in a communicator without this rank",
                      "call",
                      f"Comm part = dist.split(d.r == 0 ? -1 : 0);\n{body % ('==', ' //A')}",
                      f"Comm part = dist.split(0);\n{body % ('>=', '')}")


def programs():
    return [program for family in (different_collectives, missing_collectives,
                                   collectives_against_messages, unmatched_messages,
                                   different_communicators, null_communicators)
            for program in family()]
