#!/usr/bin/env bash
# Failures of a test program: a test case without a check, a filter that matches nothing, a GPU that
# is required but missing. And the cases of a run that takes a third of them.
#
# Usage: run_tests_test.sh RUN_TESTS_EXAMPLE
set -uo pipefail

example=$1
failed=0

# expect EXIT_CODE [NAME=VALUE…] ARGUMENT…
expect() {
  local expected=$1 status=0
  shift
  env "$@" >"$TEST_TMPDIR/output" 2>&1 || status=$?
  ((status == expected)) && return
  printf 'expected exit code %d, got %d: %s\n' "$expected" "$status" "$*" >&2
  cat "$TEST_TMPDIR/output" >&2
  failed=1
}

expect 0 "$example" --test-case='checks something'
expect 0 "$example" --test-case='does not apply'
expect 1 "$example" --test-case='loops over an empty table'
expect 1 "$example" --test-case='no such test case'
expect 1 "$example" --test-case='has rows*'
expect 0 "$example" --row=right
expect 1 "$example" --row=wrong
expect 1 "$example" --row='no such row'
expect 0 TESTBRIDGE_TEST_ONLY='r*t' "$example"
expect 1 TESTBRIDGE_TEST_ONLY='w*g' "$example"
expect 1 XML_OUTPUT_FILE="$TEST_TMPDIR/test.xml" "$example" --row=wrong
expect 0 python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' \
  "$TEST_TMPDIR/test.xml"
# Of four test cases, the third one alone.
expect 0 RANKBOX_CASES_ROTATE=1 RANKBOX_THIRD=2 "$example"
expect 1 RANKBOX_CASES_ROTATE=1 RANKBOX_THIRD=1 "$example"
expect 1 RANKBOX_THIRD=2 "$example"
expect 0 "$example" skip
expect 1 RANKBOX_REQUIRE_GPU=1 "$example" skip
exit "$failed"
