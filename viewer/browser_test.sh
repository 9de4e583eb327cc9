#!/usr/bin/env bash
# Runs a test of pages if Chromium, its driver and Selenium are installed (bazel/packages_test.txt).
# Otherwise prints that and passes.
#
# Usage: browser_test.sh TEST.PY PROGRAM_THAT_WRITES_PAGES [TEST…]
set -uo pipefail

skip() { printf 'skipped: %s\n' "$*"; exit 0; }

for program in chromium chromedriver; do
  command -v "$program" >/dev/null || skip "no $program here"
done
# The first python3 in PATH may lack the packages.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import selenium' 2>/dev/null; then
    test=$1 SAMPLE_PAGE=$(readlink -f "$2")
    export SAMPLE_PAGE
    shift 2
    exec "$python" "$test" "$@"
  fi
done
skip 'no python3 with selenium here'
