#!/usr/bin/env python3
"""Fits a cluster to your measurements: `rankbox fit` starts this.

usage: fit_report.py LOG... [--out my.toml] [--json] [--plot F.png] [--name N] [--ranks-per-node N]

Reads nccl-tests' text or JSON (-J), or the JSON of `rankbox compare --backend nccl` (fit_logs.py),
names what is strange in them (fit_findings.py), and writes a cluster for --cluster
(fit_cluster.py). Exits with 0 if something was fitted, 1 if nothing is left to fit, 2 after a
mistake.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import fit_logs  # noqa: E402
from fit_cluster import Cluster, Group  # noqa: E402
from fit_findings import Finding, look_at, size_text  # noqa: E402

HERE = pathlib.Path(__file__).absolute().parent
PICTURES = (".svg", ".png", ".pdf")


class Mistake(Exception):
    """A user's mistake, in one line."""


def read_all(paths, ranks_per_node):
    """Returns (tables that can be fitted, findings)."""
    tables, findings = [], []
    for path in paths:
        for table in fit_logs.read(path):
            found = look_at(table, ranks_per_node)
            findings += found
            if any(finding.is_left_out for finding in found):
                continue
            if any(not row.left_out for row in table.rows):
                tables.append(table)
            else:
                findings.append(Finding("empty", path, 0, "no row is left to fit", True))
    return tables, findings


def groups_of(tables):
    """One for each collective, ranks and nodes; several logs of the same are fitted together."""
    groups = {}
    for table in tables:
        key = table.collective, table.ranks, table.nodes
        group = groups.setdefault(key, Group(*key, [], []))
        if table.file not in group.files:
            group.files.append(table.file)
        group.rows = sorted(group.rows + table.rows, key=lambda row: row.bytes)
    return sorted(groups.values(), key=lambda group: (group.nodes, group.ranks, group.collective))


def what_is_missing(groups, cluster):
    """Findings about what the logs do not say, and a guess or an estimate stands for."""
    findings = []
    files = ", ".join(sorted({file for group in groups for file in group.files}))
    collectives = {group.collective for group in groups}
    if cluster.ranks_per_node > 1 and not any(group.nodes == 1 for group in groups):
        findings.append(Finding(
            "no-one-node", files, cluster.within_GB_s,
            f"no log is of one node: links inside carry at least {cluster.within_GB_s:g} GB/s. "
            "Add a log of one node"))
    elif collectives == {"all_reduce"}:
        findings.append(Finding(
            "only-all-reduce", files, cluster.within_GB_s,
            f"all logs are all-reduces: links of {cluster.within_GB_s:g} GB/s are those of a ring, "
            "too many where a switch adds. Add a log of all_gather_perf or sendrecv_perf"))
    if not cluster.gpu:
        findings.append(Finding(
            "no-gpu", files, cluster.reduction_GB_s,
            f"the logs name no GPU: reduction_GB_s = {cluster.reduction_GB_s} is a guess; set it "
            "to a third of the memory's bandwidth"))
    for group in groups:
        if len({row.bytes for row in group.fitted_rows()}) < 3:
            findings.append(Finding(
                "few-sizes", group.files[0], len(group.fitted_rows()),
                f"{group.collective} has {len(group.fitted_rows())} sizes: latency and bandwidth "
                "are not told apart. Measure -b 8 -e 8G -f 2"))
    return findings


def rows_of(group, cluster):
    """The rows of a report: measured, fitted, relative error."""
    rows = []
    for row in group.rows:
        fitted = cluster.microseconds(group.collective, group.ranks, group.nodes, row.bytes)
        rows.append({"bytes": row.bytes, "us": row.us, "fitted_us": fitted,
                     "error": fitted / row.us - 1, "left_out": row.left_out or None})
    return rows


def to_json(groups, findings, cluster, out):
    report = {"version": 1, "cluster": None, "toml": None, "out": out or None, "tables": [],
              "findings": [{"kind": each.kind, "file": each.file, "value": each.value,
                            "text": each.text, "left_out": each.is_left_out}
                           for each in findings]}
    if cluster is None:
        return report
    report["toml"] = cluster.toml()
    report["cluster"] = {
        "name": cluster.name, "ranks_per_node": cluster.ranks_per_node,
        "within_node": {"alpha_us": cluster.within_us, "bandwidth_GB_s": cluster.within_GB_s,
                        "switch_GB_s": cluster.switch_GB_s},
        "between_nodes": {"alpha_us": cluster.between_us, "bandwidth_GB_s": cluster.between_GB_s}
                         if cluster.has_network else None,
        "call_us": cluster.call, "reduction_GB_s": cluster.reduction_GB_s}
    for group in groups:
        rows = rows_of(group, cluster)
        errors = [abs(row["error"]) for row in rows if not row["left_out"]]
        report["tables"].append({
            "collective": group.collective, "ranks": group.ranks, "nodes": group.nodes,
            "files": group.files, "fitted": group.is_fitted,
            "median_error": statistics.median(errors), "worst_error": max(errors), "rows": rows})
    return report


def to_text(report):
    lines = []
    for table in report["tables"]:
        nodes = "one node" if table["nodes"] == 1 else f"{table['nodes']} nodes"
        how = "fitted" if table["fitted"] else "predicted, not fitted"
        lines += [f"{table['collective']}, {table['ranks']} ranks on {nodes} "
                  f"({', '.join(table['files'])}): {how}, median error "
                  f"{table['median_error']:.1%}, worst {table['worst_error']:.1%}",
                  f"{'size':>12}{'measured':>14}{'fit':>14}{'error':>9}"]
        for row in table["rows"]:
            note = f"  {row['left_out']}, not fitted" if row["left_out"] else ""
            lines.append(f"{size_text(row['bytes']):>12}{row['us']:>11.2f} us"
                         f"{row['fitted_us']:>11.2f} us{row['error']:>+9.1%}{note}")
        lines.append("")
    lines += [f"note: {each['file']}: {each['text']}" for each in report["findings"]]
    cluster = report["cluster"]
    if cluster:
        for key, what in (("within_node", "inside a node"), ("between_nodes", "between nodes")):
            if link := cluster[key]:
                lines.append(f"{what}: {link['bandwidth_GB_s']:g} GB/s, a message starts in "
                             f"{cluster['call_us'] + link['alpha_us']:.3g} us")
    return "\n".join(lines)


def plot(report, path):
    """Draws the report. python3 may lack matplotlib where the distribution's has it."""
    for program in (sys.executable, "/usr/bin/python3"):
        looked = subprocess.run([program, "-c", "import matplotlib"], capture_output=True,
                                check=False)
        if looked.returncode == 0:
            break
    else:
        raise Mistake("--plot: no python3 with matplotlib here. Run: "
                      "sudo apt-get install python3-matplotlib")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "report.json")
        source.write_text(json.dumps(report), encoding="utf-8")
        drawn = subprocess.run([program, HERE / "fit_plot.py", source, path], capture_output=True,
                               text=True, check=False)
    if drawn.returncode:
        raise Mistake(f"--plot {path}: {(drawn.stderr.strip() or 'failed').splitlines()[-1]}")


def parse(words):
    parser = argparse.ArgumentParser(prog="./rankbox fit", description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="+", metavar="LOG")
    parser.add_argument("--out", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", default="")
    parser.add_argument("--name", default="")
    parser.add_argument("--ranks-per-node", type=int, default=0)
    arguments = parser.parse_args(words)
    if arguments.ranks_per_node < 0:
        raise Mistake("--ranks-per-node should be 1 or more")
    if arguments.plot and not arguments.plot.endswith(PICTURES):
        raise Mistake(f"--plot {arguments.plot}: the name should end in .svg, .png or .pdf")
    if arguments.out and not arguments.out.endswith(".toml"):
        raise Mistake(f"--out {arguments.out}: the name should end in .toml, or --cluster takes it "
                      "for a name")
    if not arguments.name:
        arguments.name = pathlib.Path(arguments.out).stem or "mine"
    if not re.fullmatch(r"[\w.-]+", arguments.name):
        raise Mistake(f"--name {arguments.name}: letters, digits, dots, _ and - only")
    return arguments


def run(arguments):
    tables, findings = read_all(arguments.logs, arguments.ranks_per_node)
    groups = groups_of(tables)
    cluster = None
    if groups:
        per_node = arguments.ranks_per_node or max(-(-group.ranks // group.nodes)
                                                   for group in groups)
        gpu = next((name for table in tables for _, _, name in table.devices if name), "")
        cluster = Cluster(arguments.name, groups, per_node, gpu)
        findings += what_is_missing(groups, cluster)
    report = to_json(groups, findings, cluster, arguments.out)
    if arguments.out and cluster:
        pathlib.Path(arguments.out).write_text(cluster.toml(), encoding="utf-8")
    if arguments.plot and cluster:
        plot(report, arguments.plot)
    if arguments.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print(to_text(report))
        if cluster and arguments.out:
            print(f"wrote {arguments.out}: ./rankbox compare --virtual --ranks "
                  f"{max(group.ranks for group in groups)} --cluster {arguments.out}")
        elif cluster:
            print("\n" + cluster.toml(), end="")
    if cluster is None:
        print("rankbox: nothing is left to fit: see the notes", file=sys.stderr)
    return 0 if cluster else 1


def main():
    try:
        return run(parse(sys.argv[1:]))
    except (Mistake, fit_logs.NoLog) as error:
        print(f"rankbox: {error}", file=sys.stderr)
    except OSError as error:
        print(f"rankbox: {error.filename}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
