#!/usr/bin/env bash
# usage: packages_change_test.sh SCRIPT
#
# MPI that is installed after the first build is found by the next one, with the same Bazel server.
# Runs in a small workspace with this project's `rankbox`, rules and flags, where MPI is hidden from
# pkg-config at first, and where the program to build is a few lines.
set -euo pipefail

fail() { echo "FAILED: $*" >&2; exit 1; }

found=''
for module in ompi-c mpi-c mpich; do
  ! pkg-config --exists "$module" || found=$module
done
if [[ -z $found ]]; then
  echo "skipped: MPI is not on this machine"
  exit 0
fi

# ---- A workspace, and what pkg-config knows ---------------------------------------------------
work=$TEST_TMPDIR/work packages=$TEST_TMPDIR/packages
root=$(dirname "$(readlink -f "$1")")
mkdir -p "$work/cli/run" "$packages"
cp -r "$root/bazel" "$root/rankbox" "$work"
sed '/course/d' "$root/WORKSPACE" >"$work/WORKSPACE" # there are no exercises
touch "$work/BUILD.bazel"
cat >"$work/cli/run/BUILD.bazel" <<'BUILD'
cc_binary(
    name = "rankbox-run-mpi",
    srcs = ["main.cc"],
    deps = ["@system//:mpi"],
)

alias(
    name = "rankbox-run",
    actual = ":rankbox-run-mpi",
)
BUILD
cat >"$work/cli/run/main.cc" <<'MAIN'
#include <mpi.h>

int main() { return MPI_SUCCESS; }
MAIN
{
  echo "startup --output_user_root=$TEST_TMPDIR/bazel --max_idle_secs=60"
  cat "$root/.bazelrc"
  echo "build --jobs=1"
} >"$work/.bazelrc"

IFS=: read -ra folders <<<"$(pkg-config --variable pc_path pkg-config)"
for folder in "${folders[@]}"; do
  for file in "$folder"/*.pc; do
    [[ ! -e $file || $file == */ompi* || $file == */mpi* ]] || ln -sf "$file" "$packages/"
  done
done
export PKG_CONFIG_LIBDIR=$packages RANKBOX_NO_INSTALL=1 HOME=$TEST_TMPDIR
cd "$work"
trap 'bazel shutdown >/dev/null 2>&1 || true; chmod -R u+w "$TEST_TMPDIR/bazel" || true' EXIT

build() { ./rankbox --build-program run mpi 2>&1; }
server() { bazel info server_pid 2>/dev/null; }

# ---- Without MPI: one line that says what to install --------------------------------------------
! output=$(build) || fail "it builds without MPI"
echo "$output"
[[ $output == *"apt-get install libopenmpi-dev"* ]] || fail "it does not say what to install"
[[ $output != *incompatible* ]] || fail "it mentions Bazel's constraints"
before=$(server)

# ---- MPI comes ---------------------------------------------------------------------------------
for folder in "${folders[@]}"; do
  for file in "$folder"/ompi*.pc "$folder"/mpi*.pc; do
    [[ ! -e $file ]] || ln -sf "$file" "$packages/"
  done
done
output=$(build) || fail "MPI is there and does not build: $output"
echo "$output"
[[ -x .rankbox/bin/rankbox-run-mpi ]] || fail "there is no program"
[[ $(server) == "$before" ]] || fail "another server: the test shows nothing"

# ---- Another look rebuilds nothing -------------------------------------------------------------
rm .rankbox/rankbox-run-mpi.inputs
log=$(bazel sync --only=system --only=cuda 2>&1) || fail "$log"
log=$(bazel build --config=mpi //cli/run:rankbox-run 2>&1) || fail "$log"
[[ $log == *"1 process: 1 internal"* ]] || fail "another look rebuilds: $log"

# ---- GPUs: one line says what is missing, before anything is built ------------------------------
output=$(CUDA_HOME=/nonexistent ./rankbox --build-program run nccl --bundle 2>&1) &&
  fail "no toolkit: $output"
[[ $output == *"no CUDA toolkit"*"set CUDA_HOME"* ]] ||
  fail "it does not mention the toolkit: $output"
if [[ $(PATH=$PATH:/sbin ldconfig -p) != *libcuda.so.1* ]]; then
  output=$(./rankbox --build-program run nccl 2>&1) && fail "no driver: $output"
  [[ $output == "rankbox: no NVIDIA driver here"* && $output != *$'\n'* ]] ||
    fail "it does not mention the driver: $output"
fi
echo passed
