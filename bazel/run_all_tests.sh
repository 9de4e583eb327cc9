#!/usr/bin/env bash
# The tests, as ./rankbox test and CI run them. The last line is the count.
set -uo pipefail

usage() {
  cat <<'USAGE'
usage: ./rankbox test [--fast | --all]

Runs what a change needs: the tests on threads; and of what the last 40 commits may have changed,
the contract of the backends with MPI processes and on emulated GPUs, the sandbox and the race demo
under the thread sanitizer, and bug patterns (clang-tidy); layout (clang-format). Of the long tables
(wrong programs, other styles, sealed checks, attacks, …) each commit runs a third. A failing stage
does not stop the others. The last line counts: test targets over all stages, one more for each
check. Exits with 1 when anything failed.

  --fast   only the first stage: the tests on threads, without long tables
  --all    everything: whole tables, notebooks, every test with MPI, on GPUs and under all
           sanitizers, clang-tidy for every file. CONTRIBUTING.md says what this adds
  --help   this text
USAGE
}

mistake() { printf 'rankbox test: %s (try --help)\n' "$1" >&2; exit 2; }

what=
while (($# > 0)); do
  case $1 in
    --fast | --all)
      [[ -z $what || $what == "$1" ]] || mistake "$1 and $what: choose one"
      what=$1
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

# Runs bazel test with flags and targets. --keep_going: one file that does not compile must not hide
# the results of all others.
bazel_stage() {
  local name=$1 started=$SECONDS status=0 events=$state/$1.json counts
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
  shift
  printf '=== %s: %s\n' "$name" "$*"
  "$@" </dev/null || status=$?
  case $status in
    0) tally "$name" "$((SECONDS - started))" 1 0 0 ;;
    77) tally "$name" "$((SECONDS - started))" 0 0 1 ;;
    *) tally "$name" "$((SECONDS - started))" 0 1 0 ;;
  esac
}

# Prints the files that the last 40 commits changed, and those that are not committed yet. With a
# pattern: but for those that were only moved, or in which all changed lines match it. Without git:
# nothing, and exit code 1.
changed_files() {
  local first
  first=$(git rev-list --max-count=40 HEAD 2>/dev/null | tail -n 1)
  [[ -n $first ]] || return 1
  # The oldest commit of a clone has no parent to compare with: all of its files count.
  git rev-parse --verify --quiet "$first^" >/dev/null && first=$first^ ||
    first=$(git hash-object -t tree /dev/null)
  if (($# > 0)); then
    git diff -M -U0 -I"$1" "$first" | sed -n -E 's#^(\+\+\+ b|--- a)/##p' | sort -u
  else
    git diff --name-only "$first"
  fi
  git ls-files --others --exclude-standard
}

# Runs bazel test with flags, up to --, and those of the targets after it that depend on what the
# last 40 commits changed. Without git: all of them.
affected_stage() {
  local name=$1 flags=() targets
  shift
  while [[ $1 != -- ]]; do
    flags+=("$1")
    shift
  done
  shift
  targets=$*
  if changed_files >"$state/changed.txt"; then
    targets=$(python3 bazel/affected.py "$state/changed.txt" "$@")
    [[ $targets != all ]] || targets=$*
  fi
  if [[ -z $targets ]]; then
    printf '=== %s: the last 40 commits changed nothing that it tests\n' "$name"
    tally "$name" 0 0 0 1
    return
  fi
  # shellcheck disable=SC2086  # targets have no spaces
  bazel_stage "$name" "${flags[@]}" $targets
}

# Bazel remembers which libraries were here when its server started.
bazel sync --only=system --only=cuda </dev/null >/dev/null 2>&1 || true
# Without a library, Bazel would skip what needs it. MPI alone may be missing.
libraries=$(bazel info output_base 2>/dev/null)/external/system/BUILD
missing=$(sed -n -e '/ mpi: /d' -e 's|^# Not found on this machine: ||p' "$libraries" | head -n 1)
[[ -z $missing ]] || { printf 'rankbox test: missing %s\n' "$missing" >&2; exit 1; }
# Many tests wait, for deadlines or for programs that they start: one more than there are cores.
waiting=(--jobs=$(($(nproc) + 1)) --local_cpu_resources=$(($(nproc) + 1)))
# Libraries, and the tests of a folder, as a few files each (bazel/batch.bzl).
batched=--//bazel:batched
together=("$batched" --//bazel:batched_tests "${waiting[@]}" --test_env=RANKBOX_REQUIRE_CONTAINER)

# Kernels that randomize more than 28 bits place memory where older thread sanitizers cannot follow
# ("unexpected memory mapping"): run those tests at fixed addresses.
tsan=(--config=tsan --build_tests_only)
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
if ((bits > 28)) && setarch --addr-no-randomize true 2>/dev/null; then
  tsan+=("--run_under=setarch --addr-no-randomize")
fi

# The stages that every change needs. `thorough` tests and two thirds of each `rotates` test wait
# for --all.
needed() {
  # Which third depends on the commit alone: a run can be repeated.
  local commit third
  commit=$(git rev-parse HEAD 2>/dev/null) || commit=0
  third=$((0x${commit:0:7} % 3))
  bazel_stage tests "${together[@]}" --test_tag_filters=-thorough,-rotates //...
  [[ $what != --fast ]] || return 0
  bazel_stage tables "${together[@]}" --test_env=RANKBOX_THIRD=$third --build_tests_only \
    --test_tag_filters=rotates //tests/...
  check_stage format bazel/check_format.sh

  # A finding seldom comes of a comment or a path.
  local changed=$state/changed.txt
  if changed_files '^ *(#include "|//)' >"$changed"; then
    check_stage tidy bazel/check_tidy.sh --changed "$changed"
  else
    check_stage tidy bazel/check_tidy.sh
  fi

  affected_stage mpi --config=mpi "${waiting[@]}" "$batched" --build_tests_only \
    "--test_env=RANKBOX_PROCESSES=1 3 8" --test_env=RANKBOX_THIRD=$third \
    --test_tag_filters=backend,-thorough \
    -- //tests/backends/... //tests/mpi/...
  affected_stage tsan "${tsan[@]}" "${waiting[@]}" --test_tag_filters=sanitize \
    -- //tests/sim/... //tests/backends/... //sim/... //judge/race/... //judge/interleave/... \
    //gpu/launch/...
  affected_stage emulated --config=emulated "${waiting[@]}" --build_tests_only \
    --test_tag_filters=backend,device,sanitize,-thorough \
    -- //tests/gpu/... //tests/backends/... //training/run:training_test //cli/gpu/...

  if ! changed_files >"$changed" ||
    grep -q -E '^(gpu|compute|tests/compute)/|\.cuh?$|^bazel/(cuda|defs)' "$changed"; then
    build_for_nccl --//bazel:one_kind_of_gpu
  fi
  test_on_gpus
}

# What nvcc compiles, and what includes the headers of CUDA and NCCL. The other sources of that
# backend are compiled for the emulated GPU.
build_for_nccl() {
  local targets
  if ! targets=$(bazel query 'kind(_cuda_objects, //...)' 2>/dev/null </dev/null) ||
    [[ -z $targets ]]; then
    check_stage nccl_build false
    return
  fi
  # shellcheck disable=SC2086  # targets have no spaces
  check_stage nccl_build bazel build "${ui[@]}" --config=nccl "$batched" "$@" //gpu/... $targets
}

test_on_gpus() {
  nvidia-smi --list-gpus >/dev/null 2>&1 || return 0
  bazel_stage nccl --config=nccl "${waiting[@]}" "$batched" --build_tests_only \
    --test_tag_filters=backend,device //...
}

everything() {
  # Each source by itself: a missing #include shows.
  check_stage unbatched bazel build "${ui[@]}" --keep_going //...
  bazel_stage tests "${together[@]}" //...
  check_stage format bazel/check_format.sh
  check_stage tidy bazel/check_tidy.sh

  # What a backend has of its own, and what every backend compiles: the course and its tests.
  # Where the library is not on this machine, its targets are skipped.
  bazel_stage mpi --config=mpi "${waiting[@]}" "$batched" --build_tests_only \
    --test_tag_filters=backend //...
  check_stage mpi_course bazel build "${ui[@]}" --config=mpi "$batched" \
    //exercises/... //solutions/...

  bazel_stage tsan "${tsan[@]}" --test_tag_filters=sanitize //...
  # Those with threads, and those with one thread, too.
  bazel_stage asan_ubsan --config=asan_ubsan --build_tests_only \
    --test_tag_filters=sanitize,sanitize_memory //...
  bazel_stage emulated --config=emulated "${waiting[@]}" --build_tests_only \
    --test_tag_filters=backend,device //...
  bazel_stage tsan_gpu --config=emulated "${waiting[@]}" "${tsan[@]}" \
    --test_tag_filters=sanitize //gpu/... //tests/gpu/... //tests/backends/...
  build_for_nccl //exercises/... //solutions/... //compute/... //parallel/... //training/...
  test_on_gpus
}

if [[ $what == --all ]]; then everything; else needed; fi

[[ ! -s $failures ]] || { printf '\n=== what failed, once more\n' && cat "$failures"; }
printf '\n'
printf '%s\n' "${summary[@]}"
printf 'total %d s\n' "$SECONDS"
if ((skipped > 0)); then
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
else
  printf '%d passed, %d failed\n' "$passed" "$failed"
fi
((failed == 0))
