#!/usr/bin/env bash
# Runs clang-tidy on our .cc files with the checks of .clang-tidy; a finding is an error. A file is
# checked again only when it, one of our headers that it includes, or the rules changed since it
# last passed.
# usage: check_tidy.sh [FILE... | --changed LIST]     Exit 77: no suitable clang-tidy.
# --changed: only files that LIST names, and one for each header among them.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1
# shellcheck source=bazel/sources.sh
. bazel/sources.sh

tidy=$(clang_tool clang-tidy) || exit 77

cache=.rankbox/tidy
mkdir -p "$cache"

# The flags of a file depend on the backend that it belongs to. gpu/ is read with the emulated CUDA,
# which is on every machine.
common="-std=c++20 -I. -include bazel/clang_source_location.h -Wthread-safety"
mpi="$(pkg-config --cflags ompi-c 2>/dev/null | sed 's/-I/-isystem /g') -DOMPI_SKIP_MPICXX"
declare -A flags_of=(
  [mpi]="$common -DRANKBOX_BACKEND_MPI $mpi"
  [gpu]="$common -DRANKBOX_BACKEND_NCCL -isystem tests/gpu/emulation"
  [sim]="$common -DRANKBOX_BACKEND_SIM $mpi"
)
backend_of() {
  case $1 in
    mpi/* | *_mpi.cc | bench/mpi_*) echo mpi ;;
    gpu/* | tests/gpu/* | cli/gpu/*_program.cc | *_nccl.cc) echo gpu ;;
    *) echo sim ;;
  esac
}

changed=
if [[ ${1-} == --changed ]]; then
  changed=$2
  # The rules changed: all files.
  ! grep -q -x .clang-tidy "$changed" || changed=
  set --
fi

# Tests and exercises are left to the compiler's warnings: checking them, with all that doctest's
# macros expand to, would take longer than all other checks together. Name them to have them
# checked.
if (($# > 0)); then files=("$@"); else
  mapfile -t files < <(cpp_files '*.cc' |
    grep -v -e '^tests/' -e '^exercises/[0-9]' -e '_test\.cc$')
fi
((${#files[@]} > 0)) || exit 0

# Lines "KEY<tab>FILE<tab>LIBRARIES"; the key covers everything that the verdict on the file depends
# on. Files that need headers which this machine lacks (MPI, CUDA) are left out, and named on
# stderr.
keys=
for backend in "${!flags_of[@]}"; do
  its_files=()
  for file in "${files[@]}"; do
    [[ $(backend_of "$file") == "$backend" ]] && its_files+=("$file")
  done
  ((${#its_files[@]} > 0)) || continue
  keys+=$("$tidy" --version | cat - .clang-tidy bazel/tidy_keys.py |
    python3 bazel/tidy_keys.py "${flags_of[$backend]}" "$changed" "${its_files[@]}") || exit 1
  keys+=$'\n'
done

mapfile -t todo < <(while IFS=$'\t' read -r key file libraries; do
  [[ -n $key && ! -e $cache/$key ]] &&
    printf '%s\t%s\t%s\t%s\n' "$key" "$file" "$libraries" "${flags_of[$(backend_of "$file")]}"
done <<<"$keys")

status=0
if ((${#todo[@]} > 0)); then
  printf '%s\n' "${todo[@]}" | python3 bazel/run_tidy.py "$tidy" "$cache" || status=1
fi
looked_at=$(grep -c . <<<"$keys")
printf 'tidy: %d files checked, %d unchanged since they last passed\n' \
  "${#todo[@]}" "$((looked_at - ${#todo[@]}))"

# Keys of files as they no longer are (only when all files were asked for).
if (($# == 0)) && [[ -z $changed ]]; then
  for stale in "$cache"/*; do
    [[ -e $stale && $keys != *"${stale##*/}"* ]] && rm -f "$stale"
  done
fi
exit "$status"
