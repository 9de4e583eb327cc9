"""Readers of measurements: nccl-tests' text and JSON, and the JSON of `rankbox compare`.

A log may be as people have them: a launcher's prefix on every line, NCCL's own lines inside the
table, columns that are missing, several tables in one file. A unit is read from the header, and
never guessed.
"""

import dataclasses
import json
import re

# nccl-tests' programs, and our names of their collectives. Others cannot be fitted.
COLLECTIVES = {"all_reduce": "all_reduce", "all_gather": "all_gather", "alltoall": "all_to_all",
               "reduce_scatter": "reduce_scatter", "broadcast": "broadcast", "reduce": "reduce",
               "gather": "gather", "scatter": "scatter", "sendrecv": "sendrecv"}
OTHERS = ("hypercube", "alltoallv")

PROGRAM = re.compile(rf"\b({'|'.join([*OTHERS, *COLLECTIVES])})_perf")
RANK = re.compile(r"Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+(\d+)\s+on\s+(\S+)\s+device\s+\d+\s+"
                  r"\[[^\]]*\]\s*(.*)")
PREFIXES = [re.compile(r"^\s*\[\d+(?:,\d+)?\](?:<std\w+>:?)?"),
            re.compile(r"^\s*\d+:(?=\s|#)"),
            re.compile(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s")]
NCCL_LINE = re.compile(r"(?:\[\d+(?:,\d+)?\](?:<std\w+>:?)?\s*)?[\w.-]+:\d+:\d+\s+"
                       r"(?:\[\d+\]\s+)?NCCL\s.*$")
GLUED = re.compile(r"\[\d+(?:,\d+)?\](?:<std\w+>:?)?")
TYPE = re.compile(r"u?int\d*|char|half|float|double|b?float\d\w*|bf16|fp?\d\w*")
OPERATION = re.compile(r"sum|prod|max|min|avg|mulsum|none|all")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")

MICROSECONDS = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
GB_S = {"GB/s": 1.0, "Gb/s": 0.125, "Gbps": 0.125, "Gbit/s": 0.125, "MB/s": 1e-3,
        "GiB/s": 1.073741824}


class NoLog(Exception):
    """The file is no measurement, or cannot be read without guessing. One line says why."""


@dataclasses.dataclass
class Row:
    bytes: int    # as nccl-tests count them: all ranks' parts
    us: float
    algbw: float  # GB/s
    busbw: float
    wrong: float = 0.0
    left_out: str = ""  # why the row is not fitted


@dataclasses.dataclass
class Table:
    """One run of one collective. Fields that the log does not have are empty, 0 or None."""
    file: str
    collective: str = ""
    operations: set = dataclasses.field(default_factory=set)
    ranks: int = 0
    nodes: int = 0
    runs: int = 1                  # independent ones in one output; more than 1: built without MPI
    devices: list = dataclasses.field(default_factory=list)  # (rank, host, name)
    columns: list = dataclasses.field(default_factory=list)
    units: list = dataclasses.field(default_factory=list)
    tokens: list = dataclasses.field(default_factory=list)
    rows: list = dataclasses.field(default_factory=list)
    footer: str = ""               # "OK", "FAILED"
    unreadable: int = 0            # rows without all their columns
    is_shared: bool = False        # ranks on one GPU, whose messages are copies within it

    @property
    def wrong_column(self):
        return "error" if "error" in self.columns else "#wrong"


def read(path):
    """Returns the tables of a file. Raises NoLog, or OSError."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.strip():
        raise NoLog(f"{path} is empty")
    if b"\0" in data:
        raise NoLog(f"{path} is a binary file, not a log: it begins with 0x{data[:4].hex()}")
    text = data.decode("utf-8", "replace")
    if text.lstrip()[:1] == "{":
        return read_json(path, text)
    return read_text(path, text)


# ---- Text ----------------------------------------------------------------------------------------

def without_prefix(line):
    line = NCCL_LINE.sub("", line)
    for prefix in PREFIXES:
        line = prefix.sub("", line, count=1)
    return line


def read_text(path, text):
    tables, devices, program, ranks_of_nccl = [], [], "", 0
    table = None
    for line in text.splitlines():
        if found := re.search(r"NCCL.*\bnranks (\d+)", line):
            ranks_of_nccl = int(found[1])
        line = without_prefix(line)
        if found := RANK.search(line):
            if table is not None and table.tokens:
                devices, table = [], None
            devices.append((int(found[1]), found[3], found[4].strip()))
            continue
        line = GLUED.sub(" ", line)
        if found := PROGRAM.search(line):
            program = found[1]
        elif re.search(r"\bsize\b.*\bbusbw\b", line):
            table = Table(path, program, devices=devices)
            # A second process prints its header into the same table.
            table.columns = [word for word in line.split() if word != "#"]
            tables.append(table)
        elif table is not None and re.match(r"\s*#?\s*(\(B\)|\(\S*B\)\s+\(elements\))", line):
            table.units = re.findall(r"\(([^)\s]*)\)", line)
        elif found := re.search(r"Out of bounds values\s*:\s*\d+\s+(OK|FAILED)", line):
            for each in tables[-1:]:
                each.footer = found[1]
        elif table is not None and not line.lstrip().startswith("#"):
            words = TIMESTAMP.sub(" ", line).split()
            if words and all(is_of_a_row(word) for word in words):
                table.tokens += words
    tables = [each for each in tables if each.tokens]
    if not tables:
        raise NoLog(f"{path} has no table of nccl-tests: {what_else(text)}")
    for each in tables:
        finish(each, ranks_of_nccl)
    return tables


def is_of_a_row(word):
    return bool(NUMBER.fullmatch(word) or TYPE.fullmatch(word) or OPERATION.fullmatch(word) or
                word in ("N/A", "inf", "nan"))


def what_else(text):
    """What a text without a table is, in a few words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(re.search(r"\bsize\b.*\bbusbw\b", line) for line in lines):
        return "a header without rows; its last line is " + quoted(lines[-1])
    if any(PROGRAM.search(line) for line in lines):
        return "the program started, and its last line is " + quoted(lines[-1])
    if any(re.match(r"\d+ +\d+ +[a-z]\w* ", without_prefix(line).strip()) for line in lines):
        return "rows without a header; add its two lines, with the columns and their units"
    if any("," in line and NUMBER.fullmatch(line.split(",")[0]) for line in lines[:5]):
        return "it seems to be CSV; its first line is " + quoted(lines[0])
    return "its first line is " + quoted(lines[0])


def quoted(line):
    return '"' + (line if len(line) <= 60 else line[:57] + "...") + '"'


def finish(table, ranks_of_nccl):
    """Sets ranks and rows from what was collected."""
    numbers = [rank for rank, _, _ in table.devices]
    table.runs = max(1, numbers.count(0))
    table.ranks = max(numbers) + 1 if numbers else ranks_of_nccl
    columns = [name for name in table.columns if name != "timestamp"]
    start = next(i for i, name in enumerate(columns) if name in ("time", "cputime"))
    values = columns[start:]
    scales = scales_of(table, values)
    for size, words in rows_of(table.tokens):
        while words and not NUMBER.fullmatch(words[0]) and words[0] not in ("N/A", "nan", "inf"):
            table.operations.add(words.pop(0))
        row = row_of(size, words, values, scales)
        if row is None:
            table.unreadable += 1
        elif row.bytes > 0 and row.us > 0:
            table.rows.append(row)
    table.rows.sort(key=lambda row: row.bytes)
    check_units(table)


def rows_of(tokens):
    """Yields (bytes, the words behind the type). A row may have been printed in pieces."""
    starts = [i for i in range(len(tokens) - 2)
              if tokens[i].isdigit() and tokens[i + 1].isdigit() and TYPE.fullmatch(tokens[i + 2])]
    for start, end in zip(starts, [*starts[1:], len(tokens)]):
        yield int(tokens[start]), tokens[start + 3:end]


def scales_of(table, values):
    """The factor of each column to µs or GB/s, from the header's line of units."""
    if not table.units:
        raise NoLog(f"{table.file} has no line of units, such as (B) (elements) (us) (GB/s): "
                    "add the header's second line, since units are not guessed")
    if table.units[0] != "B":
        raise NoLog(f"{table.file} has sizes in ({table.units[0]}): only (B) is known")
    with_unit = [i for i, name in enumerate(values) if name not in ("#wrong", "error")]
    units = [unit for unit in table.units[1:] if unit != "elements"]
    if len(units) != len(with_unit):
        raise NoLog(f"{table.file} has {len(with_unit)} columns with a unit, but {len(units)} "
                    "units")
    scales = [1.0] * len(values)
    for i, unit in zip(with_unit, units):
        known = GB_S if values[i] in ("algbw", "busbw") else {**MICROSECONDS, "%": 1.0}
        if unit not in known:
            raise NoLog(f"{table.file} has {values[i]} in ({unit}): "
                        f"choose from {', '.join(known)}")
        scales[i] = known[unit]
    return scales


def row_of(size, words, values, scales):
    """The in-place half of a row, or else its only half; None if columns are missing."""
    half = values.index(values[0], 1) if values.count(values[0]) > 1 else len(values)
    for begin, end in ((half, len(values)), (0, half)):
        if begin == end:
            continue
        tail = words[-len(values):] if len(words) >= len(values) else words[-half:] + [""] * (
            len(values) - half)
        if len(words) < half or tail[begin] in ("", "N/A"):
            continue
        cells = {name: (word, scale) for name, word, scale in
                 zip(values[begin:end], tail[begin:end], scales[begin:end])}
        number = lambda name: float(cells[name][0]) * cells[name][1]
        wrong = cells.get("#wrong", cells.get("error", ("0", 1)))[0]
        try:
            return Row(size, number(values[0]), number("algbw"), number("busbw"),
                       0.0 if wrong in ("N/A", "") else float(wrong))
        except (KeyError, ValueError):
            return None
    return None


def check_units(table):
    """Raises NoLog where algbw is not size / time: then a unit of the header is wrong."""
    ratios = [row.algbw * row.us * 1e3 / row.bytes for row in table.rows if row.algbw >= 1]
    off = [ratio for ratio in ratios if not 0.9 < ratio < 1.1]
    if len(off) > len(ratios) / 2:
        raise NoLog(f"{table.file}: algbw is {sorted(off)[len(off) // 2]:.3g} times size / time; "
                    f"the header's units ({', '.join(table.units[2:4])}) contradict its columns")


# ---- JSON ----------------------------------------------------------------------------------------

def read_json(path, text):
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise NoLog(f"{path} is JSON that ends or breaks in line {error.lineno}: "
                    "did the run end early?") from error
    results = content.get("results")
    if isinstance(results, list) and results and "time_us" in results[0]:
        return read_comparison(path, content)
    if isinstance(results, list) and results and "size" in results[0]:
        return [read_nccl_json(path, content)]
    raise NoLog(f"{path} is JSON without measurements: it has " +
                (", ".join(list(content)[:6]) or "no fields"))


def read_nccl_json(path, content):
    """What nccl-tests' -J writes: µs and GB/s."""
    program = PROGRAM.search(" ".join(content.get("args", [])))
    devices = content.get("config", {}).get("devices") or content.get("devices") or []
    table = Table(path, program[1] if program else "", columns=["#wrong"])
    table.devices = [(each["rank"], each["hostname"], each.get("device_info", ""))
                     for each in devices]
    numbers = [rank for rank, _, _ in table.devices]
    table.ranks = max(numbers) + 1 if numbers else 0
    table.runs = max(1, numbers.count(0))
    for result in content["results"]:
        half = result.get("in_place") or result.get("out_of_place")
        if not half or "time" not in half:
            table.unreadable += 1
            continue
        table.operations.add(result.get("redop") or "none")
        row = Row(int(result["size"]), half["time"], half["alg_bw"], half["bus_bw"],
                  half.get("nwrong") or 0)
        if row.bytes > 0 and row.us > 0:
            table.rows.append(row)
    bounds = content.get("out_of_bounds") or {}
    table.footer = {True: "OK", False: "FAILED"}.get(bounds.get("okay"), "")
    table.units = ["B", "elements", "us", "GB/s", "GB/s"]
    check_units(table)
    return table


def read_comparison(path, content):
    """The native rows of `rankbox compare --json`."""
    if content.get("virtual"):
        raise NoLog(f"{path} is of --virtual: computed for the cluster "
                    f"{content.get('cluster', {}).get('name')}, not measured")
    tables = {}
    for row in content["results"]:
        if row["whose"] != "native" or not row["time_us"] or not row["bytes"]:
            continue
        key = row["collective"], row["ranks"]
        table = tables.setdefault(key, Table(path, row["collective"], ranks=row["ranks"],
                                             columns=["#wrong"], footer="OK"))
        # nccl-tests' size: the bandwidth is of all ranks' parts.
        us, algbw = row["time_us"]["median"], row["algbw_gbps"]
        table.rows.append(Row(round(algbw * us * 1e3), us, algbw, row["busbw_gbps"],
                              row["wrong"] or 0))
        if row["wrong"]:
            table.footer = "FAILED"
        used = (content.get("devices") or [])[:row["ranks"]]
        table.devices = [(i, each["host"], each["name"]) for i, each in enumerate(used)]
        buses = [(each["host"], each["bus"]) for each in used if each["bus"]]
        table.is_shared = len(set(buses)) < len(buses)
    if not tables:
        raise NoLog(f"{path} has no native row with a time")
    for table in tables.values():
        table.rows.sort(key=lambda row: row.bytes)
    return list(tables.values())
