#!/usr/bin/env bash
# cli/perf/build.sh compiles what Bazel does, for every backend.
# usage: build_test.sh BUILD_SH SOURCES     SOURCES: labels of all that the programs' parts are made of
set -euo pipefail
build=$1 sources=$2

# All backends' sources, as paths, without what build.sh has no need of: libraries whose code Bazel
# compiles into the program, and GPUs that are emulated.
sed -n -e 's|^//\([^:]*\):|\1/|' -e '/\.c[cu]$/p' "$sources" |
  grep -v -e '^cli/perf/fmt_inside.cc$' -e '^cli/perf/toml_inside.cc$' -e '^gpu/emulation/' \
    >"$TEST_TMPDIR/all"
echo cli/perf/main.cc >>"$TEST_TMPDIR/all"

of_others() {
  case $1 in
    sim) printf '%s\n' '^mpi/' '^gpu/' '^launch/' _mpi.cc _nccl.cc ;;
    mpi) printf '%s\n' '^sim/' '^gpu/' '^launch/' _sim.cc _nccl.cc ;;
    nccl) printf '%s\n' '^mpi/' '^host/' '^sim/accumulate.cc' '^sim/backend.cc' _sim.cc _mpi.cc ;;
  esac
}

failed=0
for backend in sim mpi nccl; do
  of_others "$backend" >"$TEST_TMPDIR/others"
  grep -v -f "$TEST_TMPDIR/others" "$TEST_TMPDIR/all" | sort -u >"$TEST_TMPDIR/bazel"
  "$build" --list "$backend" | sort -u >"$TEST_TMPDIR/script"
  if ! diff "$TEST_TMPDIR/bazel" "$TEST_TMPDIR/script"; then
    echo "$backend: < only Bazel compiles it, > only build.sh" >&2
    failed=1
  fi
  [[ $(wc -l <"$TEST_TMPDIR/script") -gt 60 ]] || { echo "$backend: too few files" >&2; failed=1; }
done
exit "$failed"
