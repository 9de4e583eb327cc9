"""Tensors that are touched while an operation that was started uses them.

A finding stands at the line that touches the tensor, or at the operation; its text names the
operation. A plain access to memory is no call, so a sandbox cannot know its line.
"""

from program import COLLECTIVES, WITH_DATA, Program

WRITES = {
    "a store": "{t}.data()[0] = 7.0f;",
    "accumulate": "accumulate({t}, spare, ReduceOp::SUM);",
    "copy": "copy({t}, spare);",
    "a scaling": "{t} *= 2.0f;",
    "another tensor": "{t} = spare;",
}
READS = {
    "a load": "value += {t}.data()[0];",
    "accumulate": "accumulate(spare, {t}, ReduceOp::SUM);",
    "copy": "copy(spare, {t});",
    "to_host": "value += to_host({t})[0];",
}
SPARE = "Tensor spare = full({size}, 9.0f);\nfloat value = 0.0f;"
LARGE = "d.p * Data::kElements"


def program(operation, how, before, start, touch, after, also=""):
    """`touch` comes between the start of the operation and the wait; in the twin, after it."""
    wrong = (f"{before}\nconst Request started = {start}; //B\n{also}\n{touch} //A\n"
             f"dist.wait(started); //C\n{after}")
    right = (f"{before}\nconst Request started = {start};\n{also}\ndist.wait(started);\n"
             f"{touch}\n{after}")
    return Program("buffer in flight", operation, f"{operation} and {how}", "touch", wrong, right)


def of_messages():
    """Rank 0 is at fault, in an exchange with rank 1. The barrier orders accesses to memory."""
    spare = SPARE.format(size="Data::kElements")
    for name, other in (("isend", "dist.recv(d.y, 0);"), ("irecv", "dist.send(d.x, 0);")):
        tensor = "d.x" if name == "isend" else "d.y"
        touches = {f"a write by {key}": text for key, text in WRITES.items()}
        touches["a recv"] = "dist.recv({t}, 1);"
        if name == "irecv":
            touches |= {f"a read by {key}": text for key, text in READS.items()}
            touches["a send"] = "dist.send({t}, 1);"
        for how, touch in touches.items():
            before = f"if (d.r == 1) {{\n  {other}\n  dist.barrier();\n  %s\n  return;\n}}\n"
            rest = {"a recv": "dist.send(d.x, 0);",
                    "a send": "dist.recv(d.y, 0);"}.get(how, "")
            before = before % rest + f"if (d.r > 1) return dist.barrier();\n{spare}"
            yield program(name, how, before, f"dist.{name}({tensor}, 1)",
                          touch.format(t=tensor), "(void)value;", "dist.barrier();")


def of_collectives():
    """Every rank touches its tensor."""
    for name in WITH_DATA:
        tensors = COLLECTIVES[name].removesuffix(", 0").split(", ")
        start = f"dist.{name}_async({COLLECTIVES[name]})"
        for position, tensor in enumerate(tensors):
            is_read_only = position == 0 and len(tensors) == 2
            touches = {f"a write by {key}": text for key, text in WRITES.items()}
            if not is_read_only:
                touches |= {f"a read by {key}": text for key, text in READS.items()}
            if name != "scatter" or tensor == "d.x":  # no rank would write to it
                touches["a broadcast of it"] = "dist.broadcast({t}, 0);"
            spare = SPARE.format(size="Data::kElements" if tensor == "d.x" else LARGE)
            # Where only the root uses the tensor, only the root is at fault.
            only = {"gather": "d.xs", "scatter": "d.xs"}.get(name)
            for how, touch in touches.items():
                text = touch.format(t=tensor)
                if (only == tensor or name == "reduce") and "broadcast" not in text:
                    text = f"if (d.r == 0) {text}"
                yield program(name + "_async", f"{how} of {tensor}", spare, start, text,
                              "(void)value;")


def programs():
    return [*of_messages(), *of_collectives()]
