#!/usr/bin/env bash
# Open MPI's launcher: its ranks find each other without any manually set variable, and a rank that
# dies ends the job. Skipped without mpirun.
# usage: mpirun_test.sh RANK_PROGRAM
set -euo pipefail
program=$PWD/$1
command -v mpirun >/dev/null || { echo "SKIPPED: mpirun is not installed"; exit 0; }
fail() { echo "FAILED: $*"; exit 1; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# The paths of its session folders must be short.
TMPDIR=$(mktemp -d /tmp/rankbox_mpi.XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# usage: launch MODE; another program, such as a copy of this test, may hold the port.
launch() {
  for _ in 1 2 3 4 5; do
    RANKBOX_PORT=$(shuf -i 20000-29999 -n 1) timeout --foreground --kill-after=5 60 \
      mpirun -n 3 "$program" "$1" >"$TMPDIR/output" 2>&1 && status=0 || status=$?
    grep -q 'cannot listen' "$TMPDIR/output" || break
  done
  cat "$TMPDIR/output"
}

launch sum
[[ $(<"$TMPDIR/output") == "sum 3" ]] || fail "three ranks did not find each other"
launch die
((status != 0)) || fail "mpirun exits with 0 although rank 1 died"
grep -q "signal 9" "$TMPDIR/output" || fail "mpirun does not report the death of rank 1"
for _ in {1..300}; do
  left=$(pgrep -a -f "^$program die") || exit 0
  sleep 0.2  # the kernel ends killed processes with a delay
done
fail "processes are left: $left"
