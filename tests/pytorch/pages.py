"""Commands and their outputs in Markdown pages, and the comparison of an output with a page's."""

import re

# Of two losses of float32 that follow from the same numbers: see docs/pytorch/README.md.
TOLERANCE = 1e-5
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def blocks(page):
    """(language, text) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)


def commands(page):
    """(command, the lines that the page shows below it), of blocks with lines that begin with $."""
    for language, text in blocks(page):
        if language:
            continue
        shown = None
        for line in re.sub(r"\\\n *", "", text).splitlines():
            if line.startswith("$ "):
                if shown is not None:
                    yield command, shown
                command, shown = line[2:], []
            elif shown is not None:
                shown.append(line)
        if shown is not None:
            yield command, shown


def same_line(shown, printed):
    """Equal, but for the last digits of numbers; a difference itself may be any small one."""
    start = "largest relative difference: "
    if shown.startswith(start):
        bound = max(TOLERANCE, 10 * float(shown[len(start):]))
        return printed.startswith(start) and float(printed[len(start):]) <= bound
    mine, theirs = NUMBER.findall(shown), NUMBER.findall(printed)
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed) or len(mine) != len(theirs):
        return False
    return all(abs(float(a) - float(b)) <= 2e-5 * max(1, abs(float(a)))
               for a, b in zip(mine, theirs))


def same_output(shown, printed):
    """Whether the lines of a page are those of an output; … stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(same_output(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and same_output(shown[1:], printed[1:])
