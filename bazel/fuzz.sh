#!/usr/bin/env bash
# Fuzzes the readers of what a learner's process writes: tests/fuzz. Needs clang and libFuzzer.
set -uo pipefail

usage() {
  cat <<'USAGE'
usage: bazel/fuzz.sh [SECONDS]

Builds the targets of tests/fuzz with clang, libFuzzer and the address and undefined-behaviour
sanitizers, and runs each for SECONDS (60 by default) from the kept inputs. A finding is kept in
.rankbox/fuzz and named: add its file to tests/fuzz/corpus with the fix. Exits with 1 on a finding,
with 77 where clang or its runtime is missing.
USAGE
}

case ${1-} in
  -h | --help) usage; exit 0 ;;
  *[!0-9]*) printf 'fuzz.sh: expected seconds, got %s (try --help)\n' "'$1'" >&2; exit 2 ;;
esac
seconds=${1:-60}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1

probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' >"$probe/probe.cc"
if ! clang++ -fsanitize=fuzzer,address,undefined "$probe/probe.cc" -o "$probe/probe" 2>/dev/null; then
  echo 'fuzz: clang++ with libFuzzer is missing: install clang and libclang-rt-14-dev'
  exit 77
fi

# For clang before 15. Bazel wants a header that no target names to be the compiler's own.
include=$PWD/.rankbox/fuzz/include
mkdir -p "$include"
cp bazel/clang_source_location.h "$include"
flags=(--config=fuzz --//bazel:batched "--repo_env=CPLUS_INCLUDE_PATH=$include"
  "--cxxopt=-isystem$include" --cxxopt=-include --cxxopt=clang_source_location.h)
bazel build "${flags[@]}" //tests/fuzz:texts_fuzzer //tests/fuzz:referee_fuzzer || exit 1
bin=$(bazel info "${flags[@]}" --ui_event_filters=-info,-warning bazel-bin 2>/dev/null)
status=0
for target in texts referee; do
  found=.rankbox/fuzz/$target
  mkdir -p "$found/inputs" "$found/findings"
  # New inputs go to the first folder; the kept ones stay as they are.
  "$bin/tests/fuzz/${target}_fuzzer" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=4096 \
    -timeout=30 -artifact_prefix="$found/findings/" "$found/inputs" "tests/fuzz/corpus/$target" \
    >"$found/log.txt" 2>&1
  code=$?
  runs=$(sed -n 's/^#\([0-9]*\).*DONE.*/\1/p' "$found/log.txt" | tail -n 1)
  if ((code == 0)); then printf 'fuzz: %s: %s runs, no finding\n' "$target" "${runs:-?}"; else
    status=1
    printf 'fuzz: %s: a finding, see %s/log.txt and %s/findings\n' "$target" "$found" "$found"
  fi
done
exit "$status"
