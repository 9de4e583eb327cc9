"""Shows what the failed tests of one `bazel test` run printed, the end of each.

usage: show_failures.py BUILD_EVENTS.json

A CI log needs them: the files that Bazel names are deleted with the machine.
"""

import json
import sys
import urllib.parse

LINES = 60  # of each log: doctest's failures stand at the end


def main(path):
    try:
        with open(path, encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError):
        return
    for event in events:
        summary = event.get("testSummary", {})
        if summary.get("overallStatus", "PASSED") in ("PASSED", "FLAKY"):
            continue
        print(f'!!! {event["id"]["testSummary"]["label"]}: {summary["overallStatus"]}')
        for log in summary.get("failed", []):
            show(urllib.parse.unquote(urllib.parse.urlparse(log.get("uri", "")).path))


def show(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
    except OSError as error:
        lines = [str(error)]
    if len(lines) > LINES:
        print(f"    … {len(lines) - LINES} lines before")
    for line in lines[-LINES:]:
        print("    " + line)


if __name__ == "__main__":
    main(sys.argv[1])
