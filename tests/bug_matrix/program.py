"""A program of the bug matrix with its twin, and the calls that programs are made of."""

from dataclasses import dataclass


@dataclass
class Program:
    """The twin has the shape of the wrong program, so it may keep a condition that always holds."""

    kind: str  # the class of the mistake
    operation: str  # the call that is wrong
    name: str
    # "call": the error stands at A. "disagreement": at A, the rank that differs from the others (of
    # two: A or B), and its text names B too. "pair": the same between two ranks of any world.
    # "circle": at one of A and B, and its text names all of them. "touch": at A or at B, the
    # operation in flight, which the text names.
    rule: str
    wrong: str
    right: str  # the correct twin
    worlds: tuple = ()  # (): all
    hidden: bool = False  # by unbounded buffers


# The collectives and their arguments, in terms of Data.
COLLECTIVES = {
    "barrier": "",
    "broadcast": "d.x, 0",
    "reduce": "d.x, 0",
    "all_reduce": "d.x",
    "gather": "d.x, d.xs, 0",
    "all_gather": "d.x, d.xs",
    "scatter": "d.xs, d.x, 0",
    "reduce_scatter": "d.xs, d.x",
    "all_to_all": "d.xs, d.ys",
    "split": "0",
}
WITH_DATA = [name for name in COLLECTIVES if name not in ("barrier", "split")]
ROOTED = ["broadcast", "reduce", "gather", "scatter"]
REDUCING = ["reduce", "all_reduce", "reduce_scatter"]
MESSAGES = ["send", "recv", "isend", "irecv", "sendrecv"]
# Blocking and asynchronous. split has no asynchronous form.
ALL_COLLECTIVES = list(COLLECTIVES) + [name + "_async" for name in COLLECTIVES if name != "split"]


def call(name, arguments=None, comm="dist"):
    """A statement that calls a collective, and waits for its asynchronous form."""
    if arguments is None:
        arguments = COLLECTIVES[name.removesuffix("_async")]
    if name.endswith("_async"):
        return f"{comm}.wait({comm}.{name}({arguments}));"
    return ("(void)" if name == "split" else "") + f"{comm}.{name}({arguments});"


def message(name, peer, comm="dist", out="d.x", into="d.y"):
    """A statement that sends to the peer, receives from it, or both, and waits."""
    if name == "sendrecv":
        return f"{comm}.sendrecv({out}, {peer}, {into}, {peer});"
    slice_of = out if name in ("send", "isend") else into
    if name in ("isend", "irecv"):
        return f"{comm}.wait({comm}.{name}({slice_of}, {peer}));"
    return f"{comm}.{name}({slice_of}, {peer});"


# The call that meets each of the messages.
ANSWER = {"send": "recv", "recv": "send", "isend": "irecv", "irecv": "isend",
          "sendrecv": "sendrecv"}
