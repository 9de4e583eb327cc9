"""Counts the test targets of one `bazel test` run: prints "PASSED FAILED SKIPPED".

usage: count_tests.py BUILD_EVENTS.json BAZEL_EXIT_CODE

Bazel's build events are read, not its terminal output: a test's log may contain anything.
"""

import json
import sys


def main(path, exit_code):
    tests = {}  # label -> None (no result yet), "passed", "failed" or "skipped"
    try:
        with open(path, encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError):
        events = []

    left_out = set()  # tags: --test_tag_filters=-slow
    for event in events:
        for option in event.get("optionsParsed", {}).get("explicitCmdLine", []):
            if option.startswith("--test_tag_filters="):
                filters = option.partition("=")[2].split(",")
                left_out.update(tag[1:] for tag in filters if tag.startswith("-"))
        identity = event.get("id", {})
        if "targetConfigured" in identity:
            # Only test targets have a size.
            configured = event.get("configured", {})
            if "testSize" in configured and not left_out.intersection(configured.get("tag", [])):
                tests.setdefault(identity["targetConfigured"]["label"], None)
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            if event.get("aborted", {}).get("reason") == "SKIPPED" and label in tests:
                tests[label] = "skipped"
        elif "testSummary" in identity:
            status = event.get("testSummary", {}).get("overallStatus")
            label = identity["testSummary"]["label"]
            tests[label] = "passed" if status in ("PASSED", "FLAKY") else "failed"

    # A test without a summary was not built, or Bazel stopped before it ran.
    outcomes = [outcome or "failed" for outcome in tests.values()]
    failed = outcomes.count("failed")

    # Something else broke: a library without tests, a BUILD file. 4 says "no tests here".
    if exit_code not in (0, 4) and failed == 0:
        failed = 1
    print(outcomes.count("passed"), failed, outcomes.count("skipped"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
