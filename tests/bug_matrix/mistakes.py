"""Arguments that are wrong or differ, buffers in flight, waits that are missing, and deadlocks."""

from itertools import combinations, permutations

from mistakes_of_calls import TEAM, fork
from program import (ANSWER, COLLECTIVES, MESSAGES, REDUCING, ROOTED, WITH_DATA,
                     Program, call, message)

TYPES = {"float32": "float", "float64": "double", "int32": "std::int32_t", "int64": "std::int64_t",
         "float16": "Float16"}
OPERATORS = ["SUM", "PRODUCT", "MAX", "MIN", "AVG"]


def with_async(names):
    return [name + form for name in names for form in ("", "_async")]


def arguments_of(name, **changed):
    """The arguments of a collective, with another root or other tensors."""
    arguments = COLLECTIVES[name.removesuffix("_async")]
    for old, new in changed.items():
        arguments = (arguments[:-1] + new if old == "root" else
                     ", ".join(new if part == "d." + old else part
                               for part in arguments.split(", ")))
    return arguments


def bad_roots():
    for name in with_async(ROOTED):
        right = call(name, arguments_of(name, root="d.p - 1"))
        for root in ("-1", "d.p"):
            wrong = call(name, arguments_of(name, root=root))
            yield Program("bad root", name, f"{name} with root {root}", "call",
                          f"{wrong} //A", right)
            yield Program("bad root", name, f"{name} with root {root} on one rank", "call",
                          fork("d.p - 1", wrong + " //A", right), fork("d.p - 1", right, right))
        for comm, before in (("dist", ""), ("team", TEAM)):
            one, others = (call(name, arguments_of(name, root=root), comm) for root in "10")
            yield Program("root mismatch", name, f"{name} with two roots in {comm}", "disagreement",
                          fork("1", one + " //A", others + " //B", before),
                          fork("1", one, one, before))


def bad_peers():
    for name in MESSAGES:
        for peer in ("-1", "d.p"):
            yield Program("bad peer", name, f"{name} with rank {peer}", "call",
                          f"if (d.r == 0) {message(name, peer)} //A\n"
                          f"if (d.r == 1) {message(ANSWER[name], '0')}",
                          f"if (d.r == 0) {message(name, '1')}\n"
                          f"if (d.r == 1) {message(ANSWER[name], '0')}")
    for peers in ("-1, d.y, 1", "1, d.y, -1", "d.p, d.y, 1", "1, d.y, d.p"):
        yield Program("bad peer", "sendrecv", f"sendrecv with {peers}", "call",
                      f"if (d.r == 0) dist.sendrecv(d.x, {peers}); //A\n"
                      f"if (d.r == 1) {message('sendrecv', '0')}",
                      f"if (d.r == 0) {message('sendrecv', '1')}\n"
                      f"if (d.r == 1) {message('sendrecv', '0')}")
    for name in MESSAGES[:4]:
        for comm, before in (("dist", ""), ("team", TEAM)):
            mine = f"{comm}.rank()"
            yield Program("bad peer", name, f"{name} with itself in {comm}", "call",
                          f"{before}\nif (d.r == d.p - 1) {message(name, mine, comm)} //A",
                          f"{before}\nconst Request other = {comm}.i{ANSWER[name].lstrip('i')}"
                          f"({'d.y' if 'recv' in ANSWER[name] else 'd.x'}, {mine});\n"
                          f"{message(name, mine, comm)}\n{comm}.wait(other);")


def typed(dtype, name="t", elements="Data::kElements"):
    return f"TensorOf<{TYPES[dtype]}> {name} = zeros<{TYPES[dtype]}>({elements});"


def different_types():
    for one, other in permutations(TYPES, 2):
        for name in MESSAGES:
            def exchange(mine, marks, one=one, name=name):
                exchanged = {"out": "t", "into": "t"}
                theirs = dict(exchanged, into="u") if name == "sendrecv" else exchanged
                if name == "sendrecv":
                    exchanged = {"out": "t", "into": "u"}
                blocks = [f"if (d.r == {r}) {{\n  {typed(dtype)}\n"
                          f"  {typed(into, 'u') if name == 'sendrecv' else ''}\n  {text} {mark}\n}}"
                          for r, dtype, into, text, mark in (
                              (0, mine, one, message(name, "1", **exchanged), marks[0]),
                              (1, one, one, message(ANSWER[name], "0", **theirs), marks[1]))]
                return "\n".join(blocks)
            yield Program("datatype mismatch", name, f"{name} of {other} against {one}", "pair",
                          exchange(other, ("//A", "//B")), exchange(one, ("", "")))
    for name in with_async(WITH_DATA):
        for dtype in ("float64", "int32"):
            tensors = "\n".join(typed(dtype, t, n) for t, n in (
                ("x", "Data::kElements"), ("xs", "d.p * Data::kElements"),
                ("ys", "d.p * Data::kElements")))
            one = call(name, arguments_of(name, x="x", xs="xs", ys="ys"))
            yield Program("datatype mismatch", name, f"{name} of {dtype} on one rank",
                          "disagreement", fork("0", one + " //A", call(name) + " //B", tensors),
                          fork("0", one, one, tensors))


def different_operators():
    for name in with_async(REDUCING):
        for one, other in combinations(OPERATORS, 2):
            mine, theirs = (call(name, f"{arguments_of(name)}, ReduceOp::{op}")
                            for op in (one, other))
            yield Program("operator mismatch", name, f"{name} of {one} against {other}",
                          "disagreement", fork("d.p - 1", theirs + " //A", mine + " //B"),
                          fork("d.p - 1", theirs, theirs))


def missing_waits():
    for name in ("isend", "irecv"):
        start = f"dist.{name}({'d.x' if name == 'isend' else 'd.y'}, 1)"
        rest = f"if (d.r == 1) {message(ANSWER[name], '0')}"
        for how, wrong in (
                ("dropped", f"(void){start}; //A"),
                ("kept", f"const Request kept = {start}; //A\n  dist.synchronize();"),
                ("second", f"dist.wait({start});\n  const Request kept = {start}; //A")):
            twice = f"\n{rest}" if how == "second" else ""
            yield Program("missing wait", name, f"{name} whose request is {how}", "call",
                          f"if (d.r == 0) {{\n  {wrong}\n}}\n{rest}{twice}",
                          f"if (d.r == 0) {{\n  const Request kept = {start};\n"
                          f"  dist.synchronize();\n  dist.wait(kept);\n}}\n{rest}")
    for name in COLLECTIVES:
        if name == "split":
            continue
        start = f"dist.{name}_async({COLLECTIVES[name]})"
        for where, condition in (("every rank", "d.r >= 0"), ("one rank", "d.r == d.p - 1")):
            yield Program("missing wait", name + "_async",
                          f"{name}_async, not waited for on {where}", "call",
                          f"const Request kept = {start}; //A\n"
                          f"if (!({condition})) dist.wait(kept);",
                          f"const Request kept = {start};\ndist.synchronize();\ndist.wait(kept);")


def deadlocks():
    ring = {
        "all send first": ("{send}\n{recv}", True),
        "all receive first": ("{recv}\n{send}", False),
        "all wait for their isend": ("{isend}\n{recv}", True),
        "all wait for their irecv": ("{irecv}\n{send}", False),
        "all wait for their isend before irecv": ("{isend}\n{irecv}", True),
    }
    calls = {name: message(name, "d.next" if "send" in name else "d.prev") for name in MESSAGES}
    right = "if (d.r == 0) {recv}\n{send}\nif (d.r != 0) {recv}".format(**calls)
    for name, (body, hidden) in ring.items():
        text = body.format(**calls).replace("\n", " //A\n", 1)
        operation = body[1:body.index("}")]
        yield Program("deadlock", operation, f"{name}, in a circle of all", "circle", text, right,
                      (2, 3, 4, 5, 6, 7, 8), hidden)
        pair = {key: message(key, "1 - d.r") for key in MESSAGES}
        text = body.format(**pair).replace("\n", " //A\n  ", 1)
        yield Program("deadlock", operation, f"{name}, in a pair", "circle",
                      f"if (d.r < 2) {{\n  {text}\n}}\ndist.barrier();",
                      f"if (d.r < 2) {message('sendrecv', '1 - d.r')}\ndist.barrier();",
                      (), hidden)
        team = {key: message(key, "(team.rank() + 1) % d.p" if "send" in key
                             else "(team.rank() + d.p - 1) % d.p", "team") for key in MESSAGES}
        text = body.format(**team).replace("\n", " //A\n", 1)
        yield Program("deadlock", operation, f"{name}, in a circle in a split", "circle",
                      f"{TEAM}\n{text}",
                      f"{TEAM}\nteam.sendrecv(d.x, (team.rank() + 1) % d.p, d.y, "
                      f"(team.rank() + d.p - 1) % d.p);", (3, 4, 5, 6, 7, 8), hidden)
    yield Program("deadlock", "sendrecv", "sendrecv with the next rank only", "circle",
                  "dist.sendrecv(d.x, d.next, d.y, d.next); //A",
                  "dist.sendrecv(d.x, d.next, d.y, d.prev);", (3, 4, 5, 6, 7, 8))
    yield Program("deadlock", "send", "two sends that cross a third rank's", "circle",
                  "if (d.r == 0) dist.send(d.x, 1); //A\nif (d.r == 1) dist.send(d.x, 2); //A\n"
                  "if (d.r == 2) dist.send(d.x, 0); //A\n"
                  "if (d.r < 3) dist.recv(d.y, (d.r + 2) % 3);",
                  "if (d.r == 0) dist.send(d.x, 1);\nif (d.r < 3) dist.recv(d.y, (d.r + 2) % 3);\n"
                  "if (d.r == 1) dist.send(d.x, 2);\nif (d.r == 2) dist.send(d.x, 0);", (3, 4, 8),
                  True)


def programs():
    return [program for family in (bad_roots, bad_peers, different_types, different_operators,
                                   missing_waits, deadlocks)
            for program in family()]
