"""What the pages of the project show: commands, blocks of output, tables, and markers for them.

A marker is a comment that a reader of the page does not see, on the lines before a block or a table
or after a paragraph: <!-- KIND: HOW -->. pages_test.py says which kinds there are.
"""

import dataclasses
import json
import pathlib
import re
import shlex

MARKER = re.compile(r"<!-- (.*?) -->", re.S)
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.M | re.S)
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:[\w.-]+ .*)??"  # variables; a launcher
                     r"(\./rankbox|rankbox-\w+-\w+)(?= |$)")


@dataclasses.dataclass
class Piece:
    """A block or a table, with what comes before it."""
    page: str
    line: int
    section: str  # the text from the last heading to here
    marker: str   # of the comment just before it; "" for none

    @property
    def place(self):
        return f"{self.page}:{self.line}"


@dataclasses.dataclass
class Block(Piece):
    language: str
    lines: list


@dataclasses.dataclass
class Table(Piece):
    header: list
    rows: list


@dataclasses.dataclass
class Command:
    place: str
    words: list  # without ./rankbox
    program: str


def text_of(path):
    """The text of a page; of a notebook, its cells of Markdown."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def pages(root):
    """{name: text} of all pages."""
    patterns = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "exercises/*/*.md",
                "notebooks/README.md", "notebooks/*.ipynb"]
    paths = [path for pattern in patterns for path in sorted(pathlib.Path(root).glob(pattern))]
    return {str(path.relative_to(root)): text_of(path) for path in paths}


def before(page, text, at):
    """The fields of a Piece that begins at `at`."""
    section = text[:at]
    section = section[max(section.rfind("\n#"), 0):]
    markers = list(MARKER.finditer(section))
    is_next = markers and not section[markers[-1].end():].strip()
    return {"page": page, "line": text[:at].count("\n") + 1, "section": section,
            "marker": " ".join(markers[-1].group(1).split()) if is_next else ""}


def blocks(page, text):
    for match in FENCE.finditer(text):
        indent = len(match.group(1))
        content = match.group(3)
        if match.group(2) in ("", "sh"):
            content = re.sub(r" *\\\n\s*", " ", content)  # a command of two lines
        lines = [line[indent:] for line in content.splitlines()]
        yield Block(**before(page, text, match.start()), language=match.group(2), lines=lines)


def cells_of(line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def tables(page, text):
    blank = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in re.finditer(r"(?:^ *\|.*\n)+", blank, re.M):
        lines = match.group().splitlines()
        if len(lines) > 1 and re.fullmatch(r"[ |:-]+", lines[1]):
            yield Table(**before(page, blank, match.start()), header=cells_of(lines[0]),
                        rows=[cells_of(line) for line in lines[2:]])


def plain(cell):
    """A cell's text without its marks."""
    return re.sub(r"\*\*|`", "", cell).strip()


def paragraphs(text):
    """Prose without code: each paragraph, item and row of a table as one line."""
    text = MARKER.sub("", FENCE.sub("", text))
    text = re.sub(r"`[^`]*`", "`", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-|*]|\d+\.) )", text):
        yield " ".join(paragraph.split())


def command_in(line, place):
    """The command of a line of a block or of code in prose; None if there is none."""
    match = COMMAND.match(line)
    if not match:
        return None
    # What follows two spaces, or "#", is a remark; what follows "|" or ">" is not ours.
    text = re.split(r"  +|\s#\s|[…]|\s[|>]", line[match.start(1):])[0].strip()
    words = shlex.split(text)
    return Command(place, words[1:], words[0])


def commands(page, text):
    """All commands of a page: in blocks, and as code in its prose."""
    for block in blocks(page, text):
        if block.language in ("cpp", "toml", "mermaid"):
            continue
        for line in block.lines:
            # Elsewhere such a word is output that names a command.
            if re.match(r"\$ |\./|rankbox-| *[A-Z_]+='?|mpirun|torchrun|srun| +rankbox-| +mpirun",
                        line):
                found = command_in(line.strip(), block.place)
                if found:
                    yield found
    prose = FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    for match in re.finditer(r"(?<!`)`([^`]+)`", prose):
        line = " ".join(match.group(1).replace("\\|", "|").split())
        found = command_in(line, f"{page}:{prose[:match.start()].count(chr(10)) + 1}")
        if found:
            yield found
