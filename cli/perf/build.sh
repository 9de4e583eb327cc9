#!/usr/bin/env bash
# Builds rankbox-compare with a compiler alone, for machines without Bazel.
# usage: cli/perf/build.sh sim|mpi|nccl [PROGRAM]
#
# PROGRAM is rankbox-compare-BACKEND, here, unless named. Needs g++ 11 or newer (or CXX), and the headers
# of fmt, CLI11, nlohmann-json and toml++; sim and nccl need Boost.Context, mpi an MPI with mpicxx (or
# MPICXX), nccl the CUDA toolkit and NCCL (CUDA_HOME, NCCL_HOME, else the usual places). CXXFLAGS and
# NVCCFLAGS are added; JOBS is how many compilers run at once.
set -euo pipefail

die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

case ${1-} in
  sim | mpi | nccl) backend=$1 ;;
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  *) die "usage: cli/perf/build.sh sim|mpi|nccl [PROGRAM]" ;;
esac
program=$(realpath -m "${2-rankbox-compare-$backend}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# What is compiled: all sources of these folders but tests and programs of their own.
folders=(comm collectives solutions/*/)
files=(race/shared_value.cc clusters/clusters.cc
  cli/{child,output_file,threads_of,whole_number}.cc
  cli/compare/{algorithms,buffers,cluster_table,lists,names}.cc
  cli/perf/{baseline,devices,host_device,jobs,main,measure,options,output}.cc
  cli/perf/{report_json,row,session,sizes,table,virtual_time}.cc
  "cli/perf/backend_$backend.cc")
compiler=${CXX-g++}
flags=(-std=c++20 -O2 -I. "-DRANKBOX_BACKEND_${backend^^}" -DFMT_HEADER_ONLY)
libraries=(-pthread)
case $backend in
  sim)
    folders+=(host sim)
    libraries+=(-lboost_context)
    ;;
  mpi)
    folders+=(host mpi)
    compiler=${MPICXX-mpicxx}
    flags+=(-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
    ;;
  nccl) die "nccl: not yet" ;;
esac
command -v "$compiler" >/dev/null || die "no $compiler here"
for folder in "${folders[@]}"; do
  for file in "${folder%/}"/*.cc; do
    case $file in
      *_test.cc | *_test_main.cc | *_bench.cc) ;;
      *) files+=("$file") ;;
    esac
  done
done

# The clusters become part of the program; the first one is the default.
clusters/embed_presets.sh clusters/presets/laptop.toml clusters/presets/[!l]*.toml \
  >"$objects/preset_files.cc"
files+=("$objects/preset_files.cc")

# A compiler for each file, some at a time; xargs stops at the first that fails.
export objects compiler
# shellcheck disable=SC2086  # CXXFLAGS is one flag a word
printf '%s\0' "${files[@]}" | xargs -0 -P "${JOBS-$(nproc)}" -I{} sh -c '
  file=$1
  shift
  "$compiler" "$@" -c "$file" -o "$objects/$(printf %s "$file" | tr / _).o" || exit 255
' sh {} "${flags[@]}" ${CXXFLAGS-}
"$compiler" "$objects"/*.o "${libraries[@]}" -o "$program"
printf 'built %s\n' "$program"
