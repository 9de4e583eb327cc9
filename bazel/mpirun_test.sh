#!/usr/bin/env bash
# usage: mpirun_test.sh "PROCESSES..." PROGRAM [ARGUMENT...]
#
# Runs a test program under mpirun, once with each number of processes. Fails if a run fails, takes
# too long, or leaves a process behind.
set -uo pipefail

read -ra numbers <<<"$1"
# RANKBOX_PROCESSES leaves only some of them; a test that has none of those keeps its own.
wanted=()
for number in "${numbers[@]}"; do
  [[ " ${RANKBOX_PROCESSES-} " == *" $number "* ]] && wanted+=("$number")
done
((${#wanted[@]} == 0)) || numbers=("${wanted[@]}")
program=$2
shift 2
arguments=("$@")
[[ $program == /* ]] || program=$PWD/$program
limit=${RANKBOX_MPI_TEST_SECONDS:-120}

# For Open MPI, which would refuse machines with few cores, and root. Others ignore these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# It warns for every process where containers forbid reading each other's memory.
export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism-none}
# Its session folders have long names, and a socket's name must be short.
TMPDIR=$(mktemp -d /tmp/rankbox_mpi.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# Each run would replace the report of those before it. Bazel makes one of the log.
unset XML_OUTPUT_FILE

command -v mpirun >/dev/null || {
  echo "mpirun is not installed: apt-get install openmpi-bin" >&2
  exit 1
}

left_behind() { pgrep -f "^$program" | grep -vx "$$"; }

run() {
  timeout --kill-after=5 "$limit" mpirun -n "$1" "$program" "${arguments[@]}" </dev/null 2>&1 |
    tee "$TMPDIR/output"
  status=${PIPESTATUS[0]}
}

# Once in a thousand runs, Open MPI 4's mpirun reports a process that ended normally as one that
# exited without MPI_Finalize (open-mpi/ompi, issues 7833 and 9389). If the test itself passed and
# no process crashed, try again: a process that really does so fails the second time, too.
may_have_lost_track() {
  ((status == 1)) && grep -q 'exiting improperly' "$TMPDIR/output" &&
    grep -q 'SUCCESS!' "$TMPDIR/output"
}

failed=0
for processes in "${numbers[@]}"; do
  echo "== mpirun -n $processes"
  run "$processes"
  if may_have_lost_track; then
    echo "== mpirun -n $processes: again, since mpirun may have lost track of a process"
    run "$processes"
  fi
  if ((status == 124 || status == 137)); then echo "not done after $limit s" >&2; fi
  if ((status != 0)); then
    echo "== mpirun -n $processes: exit code $status" >&2
    failed=1
  fi
  for _ in {1..300}; do
    [[ -n $(left_behind) ]] || continue 2
    sleep 0.2
  done
  echo "== mpirun -n $processes left processes behind: $(left_behind | tr '\n' ' ')" >&2
  left_behind | xargs -r kill -9
  failed=1
done
exit "$failed"
