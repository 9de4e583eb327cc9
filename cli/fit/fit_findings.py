"""What is wrong with a log, or strange: one line each, with the value and what to do.

A finding may leave rows out of the fit, or a whole table. Ranks and nodes that the header does not
have are inferred here from busbw / algbw.
"""

import dataclasses
import math
import pathlib
import statistics

from fit_logs import COLLECTIVES, NoLog, OTHERS

# A fall to this share of the best bus bandwidth, without a recovery beyond the second share.
CLIFF, RECOVERED = 0.5, 0.7
# A row that takes this much longer than the next larger size.
SPIKE = 1.5
# In the column `error` of older versions, rounding stays below.
ROUNDING = 1e-2


@dataclasses.dataclass
class Finding:
    kind: str
    file: str
    value: object
    text: str  # what was found, and what to do
    is_left_out: bool = False  # the whole table

    def line(self):
        return f"{self.file}: {self.text}"


def size_text(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


# ---- Which collective, how many ranks ------------------------------------------------------------

def factor_of(table):
    """busbw / algbw, by the rows with the most digits, and how far off it may be; or (0, 0)."""
    rows = sorted((row for row in table.rows if row.algbw > 0 and row.busbw > 0),
                  key=lambda row: row.algbw)[-5:]
    if not rows:
        return 0.0, 0.0
    error = max(0.006 / row.algbw + 0.006 / row.busbw for row in rows)
    return statistics.median(row.busbw / row.algbw for row in rows), 2 * max(error, 1e-6)


def expected_factor(collective, ranks):
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return 1.0 if collective in ("broadcast", "reduce", "sendrecv") else (ranks - 1) / ranks


def ranks_by_factor(collective, factor, tolerance):
    """All numbers of ranks with that factor, as far as its digits tell."""
    return [ranks for ranks in range(2, 20001)
            if abs(expected_factor(collective, ranks) - factor) <= tolerance * factor]


def collective_by_factor(table, factor, tolerance):
    """The collective of a table without a program's name, or "" where several are possible.

    The file's name decides, unless the factor contradicts it: one_reduce.log may be an all-reduce.
    """
    in_name = [name for name in COLLECTIVES if name in pathlib.PurePath(table.file).name]
    if in_name:
        named = COLLECTIVES[max(in_name, key=len)]
        expected = expected_factor(named, table.ranks) if table.ranks > 1 else 0
        if not factor or not expected or abs(expected - factor) <= max(tolerance * factor, 1e-2):
            return named
    near = lambda value: value and abs(value - factor) <= max(tolerance * factor, 1e-3)
    is_sum = "sum" in table.operations
    share = (table.ranks - 1) / table.ranks if table.ranks > 1 else 0
    if factor > 1 + 1e-2 or (table.ranks == 2 and near(1.0) and is_sum):
        return "all_reduce"
    if near(share) or (not table.ranks and 0 < factor < 1 - 1e-3):
        if is_sum:
            return "reduce_scatter"
        return "" if "none" in table.operations else "all_to_all"
    return ""


def identify(table, ranks_per_node):
    """Sets collective, ranks and nodes. Returns findings. Raises NoLog where it would guess."""
    if table.collective in OTHERS:
        return [Finding("collective", table.file, table.collective,
                        f"{table.collective}_perf has no native collective here: left out", True)]
    factor, tolerance = factor_of(table)
    if not table.collective:
        table.collective = collective_by_factor(table, factor, tolerance)
        if not table.collective:
            raise NoLog(f"{table.file} does not name its collective, and busbw / algbw = "
                        f"{factor:.4g} fits several: put the program's name into the file's "
                        "name, as in all_gather.log")
    table.collective = COLLECTIVES.get(table.collective, table.collective)
    findings = []
    if not table.ranks and factor:
        found = ranks_by_factor(table.collective, factor, tolerance)
        if table.collective in ("broadcast", "reduce", "sendrecv") or len(found) != 1:
            raise NoLog(f"{table.file} lost its lines \"# Rank 0 ... on host\", and busbw / algbw ="
                        f" {factor:.5g} is of " + (
                            f"{found[0]} to {found[-1]} ranks" if found else "no number of ranks") +
                        ": add those lines")
        table.ranks = found[0]
        findings.append(Finding("ranks", table.file, table.ranks,
                                f"{table.ranks} ranks, from busbw / algbw = {factor:.4f}: the log "
                                "has no lines of ranks"))
    elif table.ranks > 1 and factor:
        expected = expected_factor(table.collective, table.ranks)
        if abs(expected - factor) > max(2 * tolerance * factor, 5e-3) and table.runs == 1:
            findings.append(Finding(
                "factor", table.file, factor,
                f"busbw / algbw is {factor:.4f}, and {expected:.4f} for {table.collective} of "
                f"{table.ranks} ranks: not of one run, left out", True))
    if not table.ranks:
        raise NoLog(f"{table.file} has neither lines of ranks nor bandwidths: add its header")
    find_nodes(table, ranks_per_node)
    return findings


def find_nodes(table, ranks_per_node):
    hosts = [host for _, host, _ in table.devices if host]
    if table.ranks == 1 or table.runs > 1:
        table.nodes = 1
    elif ranks_per_node:
        table.nodes = math.ceil(table.ranks / ranks_per_node)
    elif len(hosts) == table.ranks:
        table.nodes = len(set(hosts))
    elif len(set(hosts)) == 1 and table.ranks <= 2 * len(hosts):
        table.nodes = 1
    else:
        raise NoLog(f"{table.file} has {table.ranks} ranks, and does not name their hosts: "
                    "say --ranks-per-node N")


# ---- What is strange -----------------------------------------------------------------------------

def one_rank(table):
    """Runs of one rank each measure no link."""
    if table.runs > 1:
        each = "one rank" if table.ranks == 1 else f"{table.ranks} ranks"
        return [Finding("no-mpi", table.file, table.runs,
                        f"{table.runs} lines \"Rank 0\": {table.runs} runs of {each} each, not one "
                        "run. Was nccl-tests built without MPI? Build it with make MPI=1; left out",
                        True)]
    if table.is_shared:
        return [Finding("shared-gpu", table.file, table.ranks,
                        f"{table.ranks} ranks share GPUs: their messages are copies within one, and"
                        " no link is measured. Give each rank a GPU; left out", True)]
    if table.ranks == 1:
        return [Finding("one-rank", table.file, 0.0,
                        "one rank, bus bandwidth 0: one GPU alone moves nothing over a link. "
                        "Measure two or more (-g 2, or mpirun with MPI=1); left out", True)]
    return []


def wrong_results(table):
    least = ROUNDING if table.wrong_column == "error" else 0.5
    wrong = [row for row in table.rows if row.wrong >= least]
    if wrong:
        where = f"{len(wrong)} sizes from {size_text(wrong[0].bytes)} up have {table.wrong_column} "
        value = max(row.wrong for row in wrong)
        if table.footer == "OK":
            return [Finding("contradiction", table.file, value,
                            f"{where}up to {value:.3g}, beside a footer that says 0 OK: one of them"
                            " is wrong. Run it again with -c 1 and a current nccl-tests")]
        return [Finding("wrong", table.file, value,
                        f"{where}up to {value:.3g}: results are wrong, so times may be, too. "
                        "Find out why before you trust the fit")]
    if table.footer == "FAILED":
        return [Finding("contradiction", table.file, 0,
                        f"the footer says FAILED, beside a column {table.wrong_column} of zeros: "
                        "one of them is wrong. Run it again with -c 1")]
    return []


def cliff(table):
    """A fall of the bus bandwidth that larger sizes do not leave."""
    rows = [row for row in table.rows if not row.left_out]
    best, at = 0.0, None
    for i, row in enumerate(rows):
        after = max(each.busbw for each in rows[i:])
        if best > 0 and row.busbw < CLIFF * best and after < RECOVERED * best:
            for each in rows[i:]:
                each.left_out = "cliff"
            return [Finding(
                "cliff", table.file, {"bytes": row.bytes, "before": best, "after": row.busbw},
                f"{table.collective} falls from {best:.4g} GB/s at {size_text(at)} to "
                f"{row.busbw:.4g} at {size_text(row.bytes)}, and stays there: {len(rows) - i} "
                "sizes not fitted. Look for another algorithm there (NCCL_DEBUG_SUBSYS=TUNING), a "
                "lost adapter (NCCL_IB_HCA) or GPU Direct (NCCL_NET_GDR_LEVEL)")]
        if row.busbw > best:
            best, at = row.busbw, row.bytes
    return []


def spikes(table):
    """Single rows that are much slower than larger sizes."""
    rows = [row for row in table.rows if not row.left_out]
    found = []
    for i, row in enumerate(rows):
        later = [each.us for each in rows[i + 1:] if each.bytes > row.bytes]
        if later and row.us > SPIKE * min(later):
            row.left_out = "spike"
            found.append(row)
    if not found:
        return []
    worst = max(found, key=lambda row: row.us)
    return [Finding("spike", table.file, [row.bytes for row in found],
                    f"{len(found)} sizes take longer than larger ones (the worst is "
                    f"{size_text(worst.bytes)}, {worst.us:.4g} us): not fitted. A warm-up was "
                    "missing or the machine busy: more -w and -n")]


def unreadable(table):
    if not table.unreadable:
        return []
    return [Finding("cut", table.file, table.unreadable,
                    f"{table.unreadable} rows lack columns: left out. Did the run end early, or "
                    "do two processes write at once?")]


def units(table):
    """Named where they are not nccl-tests' own."""
    unit = next((unit for unit in table.units[3:4]), "GB/s")
    if unit == "GB/s":
        return []
    return [Finding("units", table.file, unit,
                    f"bandwidths are in {unit}, as the header says: converted to GB/s")]


def look_at(table, ranks_per_node):
    """Identifies a table, and returns all findings. Marks rows that are not to be fitted."""
    findings = identify(table, ranks_per_node)
    findings += one_rank(table)
    if any(finding.is_left_out for finding in findings):
        return findings
    return [*findings, *units(table), *wrong_results(table), *unreadable(table), *spikes(table),
            *cliff(table)]
