#!/usr/bin/env bash
# Builds rankbox-compare with compilers alone, for machines without Bazel.
# usage: cli/perf/build.sh sim|mpi|nccl [PROGRAM]
#        cli/perf/build.sh --list sim|mpi|nccl     names the sources
#
# PROGRAM is rankbox-compare-BACKEND, here, unless named. Needs g++ 11 or newer (or CXX), and the headers
# of fmt, CLI11, nlohmann-json and toml++; sim and nccl need Boost.Context; mpi an MPI with mpicxx (or
# MPICXX); nccl CUDA 12 or newer and NCCL, in CUDA_HOME and NCCL_HOME, else /usr/local/cuda. CXXFLAGS
# and NVCCFLAGS are added; JOBS is how many compilers run at once.
set -euo pipefail

die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

list=no
[[ ${1-} != --list ]] || { list=yes; shift; }
case ${1-} in
  sim | mpi | nccl) backend=$1 ;;
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  *) die "usage: cli/perf/build.sh sim|mpi|nccl [PROGRAM]" ;;
esac
program=$(realpath -m "${2-rankbox-compare-$backend}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

# ---- What is compiled: these files, and all of these folders but tests and other programs ---------
# build_test compares this with what Bazel compiles.

files=(race/shared_value.cc clusters/clusters.cc
  cli/{child,output_file,threads_of,whole_number}.cc
  files/temporary_folder.cc
  cli/compare/{algorithms,buffers,cluster_table,lists,names}.cc
  cli/perf/{baseline,devices,host_device,jobs,main,measure,options,output}.cc
  cli/perf/{report_json,row,session,sizes,table,virtual_time}.cc
  "cli/perf/backend_$backend.cc")
# (The chapters from the 6th on are about training, which is not compared.)
folders=(comm collectives solutions/0[1-5]_*/)
case $backend in
  sim) folders+=(host sim) ;;
  mpi) folders+=(host mpi) ;;
  nccl) folders+=(sim gpu launch) ;;
esac
for folder in "${folders[@]}"; do
  for file in "${folder%/}"/*.cc "${folder%/}"/*.cu; do
    case $backend:$file in
      *'*'* | *_test.cc | *_test_main.cc | *_bench.cc | *_program.cc | *_processes.cc) ;;
      *:launch/rankbox_launch.cc) ;;
      nccl:sim/accumulate.cc | nccl:sim/backend.cc) ;; # ranks there are threads that share a GPU
      *) files+=("$file") ;;
    esac
  done
done
if [[ $list == yes ]]; then
  printf '%s\n' "${files[@]}"
  exit 0
fi

# ---- Compiling ------------------------------------------------------------------------------------

cxx=${CXX-g++}
flags=(-std=c++20 -O2 -I. "-DRANKBOX_BACKEND_${backend^^}" -DFMT_HEADER_ONLY)
libraries=(-pthread)
nvcc=nvcc
case $backend in
  sim) libraries+=(-lboost_context) ;;
  mpi)
    cxx=${MPICXX-mpicxx}
    flags+=(-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
    ;;
  nccl)
    cuda=${CUDA_HOME-/usr/local/cuda}
    nccl=${NCCL_HOME-$cuda}
    nvcc=$cuda/bin/nvcc
    [[ -x $nvcc ]] || die "no $nvcc: set CUDA_HOME to where the CUDA toolkit is"
    flags+=(-isystem "$cuda/include" -isystem "$nccl/include")
    libraries+=(-lboost_context -ldl)
    for folder in "$nccl/lib" "$nccl/lib64" "$cuda/lib64" "$cuda/lib"; do
      [[ ! -d $folder ]] || libraries+=("-L$folder" "-Wl,-rpath,$folder")
    done
    libraries+=(-lnccl -lcudart_static -lrt)
    ;;
esac
command -v "$cxx" >/dev/null || die "no $cxx here"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# The clusters become part of the program; the first one is the default.
clusters/embed_presets.sh clusters/presets/laptop.toml clusters/presets/[!l]*.toml \
  >"$objects/preset_files.cc"
files+=("$objects/preset_files.cc")

# One file: compile FILE FLAGS...
compile() {
  local file=$1 object
  shift
  object=$objects/$(tr / _ <<<"$file").o
  # shellcheck disable=SC2086  # one flag a word
  case $file in
    *.cu)
      "$nvcc" -ccbin "$cxx" -std=c++20 -O3 -I. -gencode arch=compute_80,code=sm_80 \
        -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 \
        ${NVCCFLAGS-} -c "$file" -o "$object"
      ;;
    *) "$cxx" "$@" ${CXXFLAGS-} -c "$file" -o "$object" ;;
  esac || exit 255 # which stops xargs
}
export -f compile
export objects cxx nvcc
printf '%s\0' "${files[@]}" |
  xargs -0 -P "${JOBS-$(nproc)}" -I{} bash -c 'compile "$@"' bash {} "${flags[@]}"
"$cxx" "$objects"/*.o "${libraries[@]}" -o "$program"
printf 'built %s\n' "$program"
