#!/usr/bin/env bash
# All tests, as ./rankbox test and CI run them. The last line is the count.
set -uo pipefail

usage() {
  cat <<'USAGE'
usage: ./rankbox test [--fast] [--within MINUTES]

Runs every test; those of the backends again with MPI processes, with NCCL (without a GPU, only what
nvcc compiles is built) and on an emulated GPU; those tagged `sanitize` again under the thread,
address and undefined-behaviour sanitizers. Checks layout (clang-format) and bug patterns
(clang-tidy). A failing stage does not stop the others. The last line counts: test targets over all
stages, one more for each check. Exits with 1 when anything failed.

  --fast             only the first stage: bazel test --//bazel:batched_tests //...
  --within MINUTES   skips stages that would probably end after so many minutes, estimated from
                     those that have run; the first always runs. Skipped stages are named at the
                     end.
  --help             this text
USAGE
}

mistake() { printf 'rankbox test: %s (try --help)\n' "$1" >&2; exit 2; }

fast=no
within=0
while (($# > 0)); do
  case $1 in
    --fast) fast=yes ;;
    --within)
      [[ ${2-} =~ ^[1-9][0-9]{0,3}$ ]] || mistake "--within: expected minutes, got '${2-}'"
      within=$2
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) mistake "unknown argument $1" ;;
  esac
  shift
done

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1
state=.rankbox/test
mkdir -p "$state"

ui=("--ui_event_filters=-info,-debug" --show_result=0 --noshow_progress)
[[ -t 1 && -z ${NO_COLOR-} ]] || ui+=(--color=no --curses=no)

passed=0 failed=0 skipped=0
summary=()
failures=$state/failures.txt
: >"$failures"

interrupted() { printf '\nrankbox test: interrupted\n' >&2; exit 130; }
trap interrupted INT TERM

# Adds one stage's counts: name, seconds, passed, failed, skipped.
tally() {
  passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
  summary+=("$(printf '%-12s %3d passed, %d failed, %d skipped  %4d s' "$1" "$3" "$4" "$5" "$2")")
  printf -- '--- %s: %d passed, %d failed, %d skipped (%d s)\n' "$1" "$3" "$4" "$5" "$2"
}

# About what stages take, in seconds, on two cores of an AMD EPYC (Zen 3) in November 2026; tests,
# asan_ubsan, tsan_gpu and nccl are estimates. fits() scales them by the time so far.
declare -A usual=([tests]=2600 [format]=10 [tidy]=450 [mpi]=500 [mpi_course]=40 [tsan]=330
  [asan_ubsan]=600 [nccl_build]=185 [emulated]=700 [tsan_gpu]=120 [nccl]=85)
usual_so_far=0
out_of_time=()

# Returns whether the stage will probably end within the limit. Records it as skipped if not.
fits() {
  local this=${usual[$1]}
  if ((within > 0 && usual_so_far > 0 &&
       SECONDS + SECONDS * this / usual_so_far > within * 60)); then
    out_of_time+=("$1")
    skipped=$((skipped + 1))
    printf -- '--- %s: skipped, because it would end after %d minutes\n' "$1" "$within"
    return 1
  fi
  usual_so_far=$((usual_so_far + this))
}

# Runs bazel test with flags and targets. --keep_going: one file that does not compile must not hide
# the results of all others.
bazel_stage() {
  local name=$1 started=$SECONDS status=0 events=$state/$1.json counts
  fits "$name" || return 0
  shift
  printf '=== %s: bazel test %s\n' "$name" "$*"
  rm -f "$events"
  bazel test "${ui[@]}" --keep_going --build_event_json_file="$events" "$@" </dev/null || status=$?
  ((status != 8)) || interrupted
  counts=$(python3 bazel/count_tests.py "$events" "$status") || counts="0 1 0"
  ((status == 0)) || python3 bazel/show_failures.py "$events" | tee -a "$failures"
  # shellcheck disable=SC2086  # three numbers
  tally "$name" "$((SECONDS - started))" $counts
}

# Runs one check; exit code 77 says that it does not apply on this machine.
check_stage() {
  local name=$1 started=$SECONDS status=0
  fits "$name" || return 0
  shift
  printf '=== %s: %s\n' "$name" "$*"
  "$@" </dev/null || status=$?
  case $status in
    0) tally "$name" "$((SECONDS - started))" 1 0 0 ;;
    77) tally "$name" "$((SECONDS - started))" 0 0 1 ;;
    *) tally "$name" "$((SECONDS - started))" 0 1 0 ;;
  esac
}

# Bazel remembers which libraries were here when its server started.
bazel sync --only=system --only=cuda </dev/null >/dev/null 2>&1 || true
# Many tests wait, for deadlines or for programs that they start: one more than there are cores.
waiting=(--jobs=$(($(nproc) + 1)) --local_cpu_resources=$(($(nproc) + 1)))
bazel_stage tests --//bazel:batched_tests "${waiting[@]}" //...
if [[ $fast == no ]]; then
  check_stage format bazel/check_format.sh
  check_stage tidy bazel/check_tidy.sh

  # What a backend has of its own, and what every backend compiles: the course and its tests.
  # Only the first stage compiles each source of a library separately.
  batched=--//bazel:batched
  of_ranks=("$batched" --build_tests_only --test_tag_filters=backend)
  # shellcheck disable=SC2054  # the comma is the flag's
  of_devices=("$batched" --build_tests_only --test_tag_filters=backend,device)
  # Where the library is not on this machine, its targets are skipped.
  bazel_stage mpi --config=mpi "${waiting[@]}" "${of_ranks[@]}" //...
  check_stage mpi_course bazel build "${ui[@]}" --config=mpi "$batched" \
    //exercises/... //solutions/...

  # Kernels that randomize more than 28 bits place memory where older thread sanitizers
  # cannot follow ("unexpected memory mapping"): run those tests at fixed addresses.
  tsan=(--config=tsan)
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
  if ((bits > 28)) && setarch --addr-no-randomize true 2>/dev/null; then
    tsan+=("--run_under=setarch --addr-no-randomize")
  fi
  # Those with threads, and for the other sanitizers those with one thread, too.
  threads=(--build_tests_only --test_tag_filters=sanitize)
  # shellcheck disable=SC2054
  memory=(--build_tests_only --test_tag_filters=sanitize,sanitize_memory)
  bazel_stage tsan "${tsan[@]}" "${threads[@]}" //...
  bazel_stage asan_ubsan --config=asan_ubsan "${memory[@]}" //...
  check_stage nccl_build bazel build "${ui[@]}" --config=nccl "$batched" \
    //exercises/... //solutions/... //compute/... //parallel/... //training/... //gpu/...
  bazel_stage emulated --config=emulated "${waiting[@]}" "${of_devices[@]}" //...
  bazel_stage tsan_gpu --config=emulated "${waiting[@]}" "${tsan[@]}" "${threads[@]}" \
    //gpu/... //tests/gpu/...

  # Without a GPU every test is skipped: two are linked, and what nvcc compiles is built. The other
  # sources are compiled, and all tests run, on the emulated GPU.
  nccl=(//tests/compute:all)
  nvidia-smi --list-gpus >/dev/null 2>&1 && nccl=(//...)
  bazel_stage nccl --config=nccl "${waiting[@]}" "${of_devices[@]}" "${nccl[@]}"
fi

[[ ! -s $failures ]] || { printf '\n=== what failed, once more\n' && cat "$failures"; }
printf '\n'
printf '%s\n' "${summary[@]}"
((${#out_of_time[@]} == 0)) ||
  printf 'skipped, because they would end after %d minutes: %s\n' "$within" \
    "${out_of_time[*]}"
printf 'total %d s\n' "$SECONDS"
if ((skipped > 0)); then
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
else
  printf '%d passed, %d failed\n' "$passed" "$failed"
fi
((failed == 0))
