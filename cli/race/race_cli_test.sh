#!/bin/sh
# `rankbox race` on the command line.
#
# Bad options print one line and set the status. Ctrl-C ends the program. Output to a file has no
# color.
#
# Usage: race_cli_test.sh RANKBOX
set -u
rankbox=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "FAIL: $1" >&2
  sed 's/^/  | /' "$folder/out" "$folder/err" >&2
  exit 1
}

# refuses ARGUMENTS...: expects one line on stderr that names the last argument, nothing on stdout,
# and a status that is not 0.
refuses() {
  "$rankbox" race "$@" >"$folder/out" 2>"$folder/err" && fail "$*: expected a status that is not 0"
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "$*: expected one line on stderr"
  [ -s "$folder/out" ] && fail "$*: expected nothing on stdout"
  for last in "$@"; do :; done
  grep -q -e "$last" "$folder/err" || fail "$*: the line does not name $last"
}

refuses --threads 0
refuses --threads 3
refuses --threads -2
refuses --threads 1000000
refuses --threads 99999999999999999999
refuses --threads two
refuses --repeats -1
refuses --repeats 1.5
refuses --amount 0
refuses --amount 1000
refuses --delay -1
refuses --delay 1000001
refuses --runs 0
# Delays of minutes to days.
refuses --delay 1000000
refuses --repeats 1000000000 --runs 100000 --threads 512 --delay 1
refuses --repeats 301 --runs 100 --threads 2 --delay 1000000
grep -q -e "--repeats 301, --runs 100 and --threads 2: .* 61 s" "$folder/err" ||
  fail "delays of 61 seconds: the line does not name the values"
refuses --unknown
refuses stray

"$rankbox" race --threads 4 --repeats 1000 --runs 3 >"$folder/out" 2>"$folder/err" ||
  fail "a short demo: status $?"
[ -s "$folder/err" ] && fail "a short demo: expected nothing on stderr"
grep -q "How an update gets lost" "$folder/out" || fail "a short demo: the interleaving is missing"
grep -q "$(printf '\033')" "$folder/out" && fail "a file is not a terminal: expected no color"

"$rankbox" race --repeats 100 --amount 5 --delay 1000 --runs 3 >"$folder/out" 2>"$folder/err" ||
  fail "an amount and a delay: status $?"
grep -q "value + 5" "$folder/out" || fail "an amount and a delay: the amount is missing"
grep -q "1,000 ns" "$folder/out" || fail "an amount and a delay: the delay is missing"

# A machine without memory for the stacks of that many threads.
(ulimit -v 400000 && exec "$rankbox" race --threads 512 --runs 1) >"$folder/out" 2>"$folder/err" &&
  fail "too many threads for this machine: expected a status that is not 0"
grep -q "cannot start 512 threads" "$folder/err" || fail "too many threads: expected that error"
[ "$(wc -l <"$folder/err")" -eq 1 ] || fail "too many threads: expected one line on stderr"
[ -s "$folder/out" ] && fail "too many threads: expected nothing on stdout"

# Ctrl-C during a run of minutes. (env: test runners start tests with SIGINT ignored.)
env --default-signal=INT timeout --preserve-status -s INT 0.5 \
  "$rankbox" race --repeats 1000000000 --runs 100000 >"$folder/out" 2>"$folder/err"
status=$?
[ "$status" -eq 130 ] || fail "Ctrl-C: status $status, expected 130, that of an interrupted process"
[ -s "$folder/err" ] && fail "Ctrl-C: expected nothing on stderr"
echo "PASS"
